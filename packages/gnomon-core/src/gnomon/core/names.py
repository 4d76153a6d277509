"""Small names that libraries import from `gnomon.core`."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from gnomon.core.trace import EVAL, get_current
from gnomon.core.types import typeof, typeof_handlers

Value = Any
ParamDict = dict[str, Any]

# How the type of a value is found, by its Python type: `f(value) -> type`. Libraries add
# types of their own.
pytype_aval_mappings = typeof_handlers
aval_mapping_handlers = typeof_handlers


def get_aval(x: Any) -> Any:
  """The type of a value: the older name of `gnomon.typeof`."""
  return typeof(x)


def trace_state_clean() -> bool:
  """Whether operations are evaluated, and no transformation is in force."""
  return get_current() is EVAL


def is_constant_dim(d: Any) -> bool:
  """Whether a size is a number; all are."""
  try:
    operator.index(d)
  except TypeError:
    return False
  return True


def is_constant_shape(s: Sequence[Any]) -> bool:
  """Whether all sizes of a shape are numbers."""
  return all(map(is_constant_dim, s))


def max_dim(d1: int, d2: int) -> int:
  """The larger of two sizes.

  >>> from gnomon import core
  >>> core.max_dim(2, 3), core.min_dim(2, 3)
  (3, 2)
  """
  return max(d1, d2)


def min_dim(d1: int, d2: int) -> int:
  """The smaller of two sizes."""
  return min(d1, d2)
