"""The runtime's exception, and one form for its failures."""

from __future__ import annotations

import re
from typing import Any

from gnomon.runtime.jaxlib.native import _jax

JaxRuntimeError: Any = _jax.JaxRuntimeError
"""Raised for a failed compilation or execution; has `error_code_string`."""

# The codes of absl::Status by name; a status turned into text begins with its name.
_CODES = {
    "CANCELLED": 1, "UNKNOWN": 2, "INVALID_ARGUMENT": 3, "DEADLINE_EXCEEDED": 4,
    "NOT_FOUND": 5, "ALREADY_EXISTS": 6, "PERMISSION_DENIED": 7,
    "RESOURCE_EXHAUSTED": 8, "FAILED_PRECONDITION": 9, "ABORTED": 10,
    "OUT_OF_RANGE": 11, "UNIMPLEMENTED": 12, "INTERNAL": 13, "UNAVAILABLE": 14,
    "DATA_LOSS": 15, "UNAUTHENTICATED": 16,
}
_STATUS = re.compile(rf"({'|'.join(_CODES)}): ")


def normalise(error: BaseException) -> BaseException:
  """The same failure as a `JaxRuntimeError`, if the C++ fast path raised it otherwise.

  The fast path reports a failed execution as `ValueError`; every other path raises
  `JaxRuntimeError`. An error that is not a runtime status is returned as it is.
  """
  if type(error) is not ValueError:
    return error
  match = _STATUS.match(str(error))
  if match is None:
    return error
  same: BaseException = JaxRuntimeError(str(error), _CODES[match[1]])
  return same.with_traceback(error.__traceback__)
