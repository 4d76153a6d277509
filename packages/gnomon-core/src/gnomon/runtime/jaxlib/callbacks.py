"""Python functions that compiled programs call: how the runtime finds and calls them."""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Callable
from typing import Any

TARGET = "xla_ffi_python_cpu_callback"
"""The custom call that calls a program's Python function.

Its attribute `index` chooses among those that the program was compiled with.
"""

HostFunction = Callable[..., tuple[Any, ...]]

# The runtime keeps the text of an exception and drops the object. So the text is a number
# under which the object is found again where the failed execution is noticed.
_MARK = "gnomon-callback-failure"
_FOUND = re.compile(rf"{_MARK}-(\d+)")
_KEPT = 64  # of failures that nobody asked for: a program may fail in several functions
_failures: dict[int, BaseException] = {}
_numbers = itertools.count()
_inside = threading.local()


class _Failure(Exception):
  """What the runtime sees of an exception in a Python function."""


def remembering(function: HostFunction) -> HostFunction:
  """A function whose exceptions `failure_of` finds again."""
  def call(*args: Any) -> tuple[Any, ...]:
    _inside.depth = getattr(_inside, "depth", 0) + 1
    try:
      return function(*args)
    except BaseException as e:  # noqa: BLE001 -- raised again where it can be caught
      number = next(_numbers)
      _failures[number] = e
      while len(_failures) > _KEPT:
        _failures.pop(next(iter(_failures)), None)
      raise _Failure(f"{_MARK}-{number}") from None
    finally:
      _inside.depth -= 1

  return call


def failure_of(error: BaseException) -> BaseException | None:
  """The exception in a Python function that made an execution fail, if one did."""
  found = _FOUND.search(str(error))
  return None if found is None else _failures.pop(int(found[1]), None)


def is_inside() -> bool:
  """Whether this thread is in a function that a compiled program called."""
  return getattr(_inside, "depth", 0) > 0
