"""Reductions of segments: of those elements of an array that bear the same number."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np

from gnomon import device_put, lax
from gnomon.core import dtypes
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.numpy._indexing.at import IndexUpdateRef
from gnomon.numpy._values import concrete, one_array

__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]


def _zero(dtype: Any) -> Any:
  return 0


def _one(dtype: Any) -> Any:
  return 1


def _least(dtype: Any) -> Any:
  """What no element of a dtype is less than."""
  if dtype == np.bool_:
    return False
  if dtypes.issubdtype(dtype, np.integer):
    return dtypes.iinfo(dtype).min
  return _infinity(dtype, -np.inf)


def _greatest(dtype: Any) -> Any:
  """What no element of a dtype is greater than."""
  if dtype == np.bool_:
    return True
  if dtypes.issubdtype(dtype, np.integer):
    return dtypes.iinfo(dtype).max
  return _infinity(dtype, np.inf)


def _infinity(dtype: Any, value: float) -> Any:
  """An infinity, or the last number before it of a dtype that has none."""
  found = np.asarray(value).astype(dtype)
  if not np.isinf(found):
    return (dtypes.finfo(dtype).min if value < 0 else dtypes.finfo(dtype).max)
  return found[()]


# By the method of `x.at[...]`: the reduction of buckets, and what it leaves unchanged.
_KINDS: dict[str, tuple[Callable[..., Any], Callable[[Any], Any]]] = {
    "add": (lax.reduce_sum, _zero), "multiply": (lax.reduce_prod, _one),
    "max": (lax.reduce_max, _least), "min": (lax.reduce_min, _greatest)}


def _checked(
    name: str, op: str, data: Any, segment_ids: Any, num_segments: Any, bucket_size: Any,
) -> tuple[Any, Any, int, int | None]:
  """The arguments as arrays and integers."""
  data = one_array(name, data)
  numbers = one_array(name, segment_ids)
  dtype = typeof(data).dtype
  if op in ("add", "multiply") and dtype == np.bool_:
    raise TypeError(
        f"{name} does not accept booleans: convert them to numbers, data.astype(int)")
  if not dtypes.issubdtype(typeof(numbers).dtype, np.integer):
    raise TypeError(
        f"{name} needs integers as segment_ids, got dtype {typeof(numbers).dtype}")
  if num_segments is None:
    known = concrete(
        name, "segment_ids", numbers,
        "Give the number of segments, num_segments, which must not be traced.")
    if not known.size:
      raise ValueError(
          f"{name}: segment_ids is empty, so that it does not tell the number of "
          "segments: give num_segments")
    num_segments = int(known.max()) + 1
  n = index(num_segments)
  if n < 0:
    raise ValueError(f"{name}: num_segments must be non-negative, got {n}")
  if bucket_size is not None:
    bucket_size = index(bucket_size)
    if bucket_size < 1:
      raise ValueError(f"{name}: bucket_size must be positive, got {bucket_size}")
  return data, numbers, n, bucket_size


@compiled(static=("op", "n", "is_sorted", "unique", "bucket_size", "mode"))
def _reduced(
    data: Any, numbers: Any, op: str, n: int, is_sorted: bool, unique: bool,
    bucket_size: int | None, mode: Any) -> Any:
  aval = typeof(data)
  reduction, neutral = _KINDS[op]
  rest = aval.shape[1:]
  size = aval.shape[0] if aval.shape else 1
  if not n:  # no place is within an empty axis
    return lax.full((0, *rest), 0, aval.dtype)
  place: Any = numbers
  if bucket_size is not None:
    at = lax.div(lax.iota(np.dtype(np.int32), size), np.int32(bucket_size))
    place = (at, numbers)
    rest = (n, *rest)
    n = -(-size // bucket_size)
  start = lax.full((n, *rest), neutral(aval.dtype), aval.dtype)
  out = getattr(IndexUpdateRef(start, place), op)(
      data, indices_are_sorted=is_sorted, unique_indices=unique, mode=mode,
      wrap_negative_indices=False)
  return out if bucket_size is None else reduction(out, (0,))


_TEXT = """{what}

  Rows whose number is negative, or not less than `num_segments`, are left out.

  Args:
    data: array; {rows}.
    segment_ids: integers, one for each row along the first axis of `data`: which segment
      it belongs to. They need not be sorted.
    num_segments: how many segments there are; by default one more than the largest
      number. It decides the shape of the result, so that it must be given under `jit`.
    indices_are_sorted: a promise that `segment_ids` does not decrease.
    unique_indices: a promise that no number occurs twice.
    bucket_size: reduces so many rows at a time, and then the partial results: what is
      made of many rows comes out more exactly, and takes more memory.
    mode: what becomes of numbers out of range: `"drop"` (the default), `"clip"` to the
      nearest segment, or `"promise_in_bounds"`, which assures that there are none.
    out_sharding: how the result is laid out over devices.

  Returns:
    An array of shape `(num_segments, *data.shape[1:])` and the dtype of `data`. A segment
    without rows holds {empty}.

  >>> import gnomon.numpy as gnp
  >>> from gnomon.ops import {name}
  >>> {name}(gnp.array([1, 2, 3, 4]), gnp.array([0, 1, 1, 0])).tolist()
  {result}

  Raises:
    TypeError: `data` is no array; `segment_ids` holds no integers.
    ValueError: the shapes do not fit together; `num_segments` is negative.
    ConcretizationTypeError: `segment_ids` is traced, and `num_segments` is not given.
  """


def _segment(
    name: str, op: str, what: str, rows: str, empty: str, result: str) -> Any:
  def reduce(
      data: Any, segment_ids: Any, num_segments: int | None = None,
      indices_are_sorted: bool = False, unique_indices: bool = False,
      bucket_size: int | None = None, mode: Any = None, out_sharding: Any = None) -> Any:
    data, numbers, n, bucket_size = _checked(
        name, op, data, segment_ids, num_segments, bucket_size)
    out = _reduced(
        data, numbers, op, n, bool(indices_are_sorted), bool(unique_indices), bucket_size,
        mode)
    return out if out_sharding is None else device_put(out, out_sharding)

  reduce.__name__ = reduce.__qualname__ = name
  reduce.__doc__ = _TEXT.format(
      what=what, rows=rows, name=name, empty=empty, result=result)
  return reduce


segment_sum: Callable[..., Any] = _segment(
    "segment_sum", "add", "Sums of the rows of each segment.", "its rows are added, "
    "elementwise; no booleans", "0", "[5, 5]")
segment_prod: Callable[..., Any] = _segment(
    "segment_prod", "multiply", "Products of the rows of each segment.", "its rows are "
    "multiplied, elementwise; no booleans", "1", "[4, 6]")
segment_max: Callable[..., Any] = _segment(
    "segment_max", "max", "The largest elements of the rows of each segment.",
    "its rows are compared elementwise", "the least value of the dtype, -inf for floats",
    "[4, 3]")
segment_min: Callable[..., Any] = _segment(
    "segment_min", "min", "The smallest elements of the rows of each segment.",
    "its rows are compared elementwise",
    "the greatest value of the dtype, inf for floats", "[1, 2]")
