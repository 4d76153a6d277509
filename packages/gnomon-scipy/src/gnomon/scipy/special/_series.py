"""Chebyshev series; `tools/fit_special.py` makes their coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core.types import typeof

_NEEDED = {"float32": 5e-9, "bfloat16": 1e-4, "float16": 1e-5}


def chebyshev(s: Any, coefficients: Sequence[float]) -> Any:
  """The series at `s` between -1 and 1, by Clenshaw's recurrence.

  Coefficients that are below the precision of `s` at the end are left out.
  """
  dtype = typeof(s).dtype
  least = _NEEDED.get(dtype.name, 0.0)
  n = max(i for i, c in enumerate(coefficients) if abs(c) >= least) + 1
  constants = [np.asarray(c, dtype)[()] for c in coefficients[:n]]
  two = s + s
  last, value = constants[-1], constants[-2] + two * constants[-1]
  for c in constants[-3:0:-1]:
    last, value = value, two * value - last + c
  return s * value - last + constants[0]
