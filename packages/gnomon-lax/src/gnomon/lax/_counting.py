"""Sorting of numbers of few bits by counting each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gnomon.core.derive import move
from gnomon.core.structural import full, reshape
from gnomon.core.types import typeof
from gnomon.lax import _order
from gnomon.lax._arithmetic import add, mul, sub
from gnomon.lax._creation import broadcasted_iota
from gnomon.lax._cumulative import cumsum
from gnomon.lax._indexing import GatherScatterMode, ScatterDimensionNumbers
from gnomon.lax._scatter import scatter_add
from gnomon.lax._slicing import slice_in_dim

_INT32 = np.dtype(np.int32)


def sort_by_counting(x: Any, *, dimension: int) -> list[Any]:
  """Sorts integers of 8 or 16 bits.

  How many there are of each number, added up, is where the next one begins; marks at
  these places, added up, are the numbers in order.
  """
  aval = typeof(x)
  least, kinds = int(np.iinfo(aval.dtype).min), 256 ** aval.dtype.itemsize
  last = aval.ndim - 1
  moved = move(x, dimension, last)
  shape = typeof(moved).shape
  rows, n = math.prod(shape[:last]), shape[last]
  numbers = sub(_order.to(reshape(moved, (rows, n)), _INT32), np.int32(least))
  counts = _added(numbers, kinds)
  ends = slice_in_dim(cumsum(counts, 1), 0, kinds - 1, axis=1)
  marks = _added(ends, n + 1)
  numbers = cumsum(slice_in_dim(marks, 0, n, axis=1), 1)
  out = _order.to(add(numbers, np.int32(least)), aval.dtype)
  return [move(reshape(out, shape), last, dimension)]


def _added(places: Any, size: int) -> Any:
  """For each row, how many of its elements say each place below `size`."""
  rows, n = typeof(places).shape
  if rows > 1:
    row = broadcasted_iota(_INT32, (rows, n), 0)
    places = add(places, mul(row, np.int32(size)))
  counts = scatter_add(
      full((rows * size,), 0, _INT32), reshape(places, (rows * n, 1)),
      full((rows * n,), 1, _INT32), ScatterDimensionNumbers((), (0,), (0,)),
      mode=GatherScatterMode.PROMISE_IN_BOUNDS)
  return reshape(counts, (rows, size))
