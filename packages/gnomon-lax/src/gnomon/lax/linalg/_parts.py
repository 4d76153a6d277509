"""Parts of matrices: their first or last rows and columns."""

from __future__ import annotations

from typing import Any

from gnomon.core.types import typeof
from gnomon.lax._slicing import slice_in_dim


def top_rows(x: Any, k: int) -> Any:
  """The first k rows of each matrix."""
  return _part(x, 0, k, -2)


def bottom_rows(x: Any, k: int) -> Any:
  """All rows but the first k."""
  return _part(x, k, typeof(x).shape[-2], -2)


def left_columns(x: Any, k: int) -> Any:
  """The first k columns of each matrix."""
  return _part(x, 0, k, -1)


def right_columns(x: Any, k: int) -> Any:
  """All columns but the first k."""
  return _part(x, k, typeof(x).shape[-1], -1)


def _part(x: Any, start: int, end: int, axis: int) -> Any:
  aval = typeof(x)
  if start == 0 and end == aval.shape[axis]:
    return x
  return slice_in_dim(x, start, end, axis=aval.ndim + axis)
