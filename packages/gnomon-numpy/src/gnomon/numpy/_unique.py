"""Distinct elements of arrays.

Everything is read off one sorted order: equal elements stand in runs, and where runs
begin is a mask. How many runs there are decides the shapes of results. It is counted here
and now, unless the argument `size` says how many results to make room for.
"""

from __future__ import annotations

from operator import index
from typing import Any, NamedTuple

import numpy as np

from gnomon import ensure_compile_time_eval, lax
from gnomon.core import dtypes
from gnomon.core.structural import broadcast_in_dim, convert, reduce_sum, select_n
from gnomon.core.trace import Tracer
from gnomon.core.types import typeof
from gnomon.lax import unstack_p
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import canonical_axis, check_arraylike
from gnomon.numpy._values import (
  choose,
  is_concrete,
  is_kind,
  is_nan,
  one_array,
  scalar,
  spread,
  take_rows,
)

# ---- sorted orders and runs


def known(name: str, *args: Any) -> list[Any]:
  """The values of arguments that decide the shape of a result.

  Raises:
    ConcretizationTypeError: one is traced.
  """
  out = []
  for x in args:
    if not is_concrete(x):
      from gnomon.errors import ConcretizationTypeError
      raise ConcretizationTypeError(
          x,
          f"{name} gives as many elements as there are distinct ones. Give the argument "
          "size, for how many to make room, to have its arguments traced")
    out.append(x.concrete() if isinstance(x, Tracer) else x)
  return out


def size_of(name: str, size: Any) -> int:
  """The argument `size`, checked."""
  out = index(size)
  if out < 0:
    raise ValueError(f"{name}: size must not be negative, got {out}")
  return out


def sorted_runs(x: Any, equal_nan: bool) -> tuple[Any, Any]:
  """The order that sorts rows (or elements), and where in it runs of equal ones begin."""
  n = typeof(x).shape[0]
  places = lax.iota(np.int32, n)
  columns = [x] if typeof(x).ndim == 1 else list(
      unstack_p.apply(x, axis=1)) if typeof(x).shape[1] else []
  if not columns or not n:
    return places, lax.eq(places, scalar(0, np.int32))
  *columns, order = lax.sort((*columns, places), num_keys=len(columns))
  fresh = _differs(columns[0], equal_nan)
  for c in columns[1:]:
    fresh = lax.bitwise_or(fresh, _differs(c, equal_nan))
  first = lax.full((1,), True, np.bool_)
  return order, lax.concatenate([first, fresh], 0)


def _differs(x: Any, equal_nan: bool) -> Any:
  """Whether each element but the first differs from the one before."""
  n = typeof(x).shape[0]
  after, before = lax.slice_in_dim(x, 1, n), lax.slice_in_dim(x, 0, n - 1)
  out = lax.ne(after, before)
  if equal_nan and is_kind(x, np.inexact):
    both = lax.bitwise_and(is_nan(after), is_nan(before))
    out = lax.bitwise_and(out, lax.bitwise_not(both))
  return out


def running_count(mask: Any) -> Any:
  return lax.cumsum(convert(mask, np.dtype(np.int32)), axis=0)


def places(mask: Any, size: int) -> Any:
  """The first `size` indices where a mask holds; its length where there are no more."""
  n = typeof(mask).shape[0]
  empty = lax.full((size,), n, np.int32)
  if not size or not n:
    return empty
  out = scalar(size, np.int32)
  rank = choose(mask, lax.sub(running_count(mask), scalar(1, np.int32)), out)
  return scatter(empty, rank, lax.iota(np.int32, n))


def scatter(x: Any, at: Any, values: Any) -> Any:
  """Writes values to different places; those out of range are dropped."""
  numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
  n = typeof(at).shape[0]
  return lax.scatter(x, broadcast_in_dim(at, (n, 1), (0,)), values, numbers, mode="drop")


def within(at: Any, n: int) -> Any:
  return lax.min(at, scalar(n - 1, np.int32))


def as_index(x: Any) -> Any:
  return convert(x, dtypes.default_int_dtype())


def filled(rows: Any, is_row: Any, fill_value: Any, default: Any) -> Any:
  """Replaces the rows that are none by a value, or by a default row."""
  aval = typeof(rows)
  if fill_value is None:
    fill = default
  else:
    fill = convert(one_array("fill_value", fill_value), aval.dtype)
    fill = spread("fill_value", fill, aval.shape[1:])
  fill = broadcast_in_dim(fill, aval.shape, tuple(range(1, aval.ndim)))
  mask = broadcast_in_dim(is_row, aval.shape, (0,))
  return select_n(mask, fill, rows)


# ---- unique


class _UniqueAllResult(NamedTuple):
  values: Any
  indices: Any
  inverse_indices: Any
  counts: Any


class _UniqueCountsResult(NamedTuple):
  values: Any
  counts: Any


class _UniqueInverseResult(NamedTuple):
  values: Any
  inverse_indices: Any



def _rows(x: Any, axis: int | None) -> Any:
  """The elements in a vector, or the parts along an axis as the rows of a matrix."""
  x = one_array("unique", x)
  aval = typeof(x)
  if axis is None:
    return lax.reshape(x, (aval.size,))
  d = canonical_axis(axis, aval.ndim, "unique")
  x = lax.transpose(x, (d, *[e for e in range(aval.ndim) if e != d]))
  n = aval.shape[d]
  return lax.reshape(x, (n, int(np.prod(typeof(x).shape[1:], dtype=object))))


@compiled(static=("axis", "equal_nan"))
def _unique_order(ar: Any, axis: int | None, equal_nan: bool) -> tuple[Any, Any, Any]:
  order, begins = sorted_runs(lax.stop_gradient(_rows(ar, axis)), equal_nan)
  return order, begins, reduce_sum(convert(begins, np.dtype(np.int32)), (0,))


@compiled(static=("axis", "size", "wanted"))
def _unique_parts(
    ar: Any, order: Any, begins: Any, fill_value: Any, axis: int | None, size: int,
    wanted: tuple[bool, bool, bool]) -> tuple[Any, ...]:
  """Values, and what else is wanted: first indices, inverses, counts."""
  x = _rows(ar, axis)
  n = typeof(x).shape[0]
  if not n:
    return _unique_of_none(x, ar, fill_value, axis, size, wanted)
  starts = places(begins, size + 1)
  ends = lax.slice_in_dim(starts, 1, size + 1)
  starts = lax.slice_in_dim(starts, 0, size)
  is_run = lax.lt(starts, scalar(n, np.int32))
  chosen = take_rows(order, within(starts, n), 0)
  first = lax.index_in_dim(order, 0, keepdims=False)
  values = _shaped(take_rows(x, chosen, 0), ar, axis)
  least = _shaped(take_rows(x, lax.reshape(first, (1,)), 0), ar, axis)
  values = filled(values, is_run, fill_value, lax.squeeze(least, (0,)))
  out = [_axis_back(values, axis)]
  if wanted[0]:
    out.append(as_index(choose(is_run, chosen, first)))
  if wanted[1]:
    run = lax.sub(running_count(begins), scalar(1, np.int32))
    inverse = as_index(scatter(lax.full((n,), 0, np.int32), order, run))
    out.append(lax.reshape(inverse, typeof(ar).shape) if axis is None else inverse)
  if wanted[2]:
    out.append(as_index(lax.sub(ends, starts)))
  return tuple(out)


def _unique_of_none(
    x: Any, ar: Any, fill_value: Any, axis: int | None, size: int,
    wanted: tuple[bool, bool, bool]) -> tuple[Any, ...]:
  if size and fill_value is None:
    raise ValueError(
        f"unique: there are no elements to fill a result of size {size} with: give the "
        "argument fill_value")
  rows = _shaped(lax.full((size, *typeof(x).shape[1:]), 0, typeof(x).dtype), ar, axis)
  if size:
    rows = filled(rows, lax.full((size,), False, np.bool_), fill_value, None)
  none = as_index(lax.full((0,), 0, np.int32))
  zeros = as_index(lax.full((size,), 0, np.int32))
  inverse = lax.reshape(none, typeof(ar).shape) if axis is None else none
  extra = [x for x, yes in zip((zeros, inverse, zeros), wanted) if yes]
  return (_axis_back(rows, axis), *extra)


def _shaped(rows: Any, ar: Any, axis: int | None) -> Any:
  """Rows of a matrix as the parts that they were."""
  if axis is None:
    return rows
  shape = typeof(ar).shape
  d = canonical_axis(axis, len(shape), "unique")
  return lax.reshape(rows, (typeof(rows).shape[0], *shape[:d], *shape[d + 1:]))


def _axis_back(parts: Any, axis: int | None) -> Any:
  if axis is None:
    return parts
  n = typeof(parts).ndim
  d = canonical_axis(axis, n, "unique")
  return lax.transpose(parts, (*range(1, d + 1), 0, *range(d + 1, n)))


def _unique(
    name: str, ar: Any, wanted: tuple[bool, bool, bool], axis: Any, equal_nan: bool,
    size: Any, fill_value: Any) -> tuple[Any, ...]:
  check_arraylike(name, ar)
  axis = None if axis is None else canonical_axis(index(axis), typeof(ar).ndim, name)
  if size is None:
    (value,) = known(name, ar)
    with ensure_compile_time_eval():
      order, begins, total = _unique_order(value, axis, equal_nan)
      size = int(total)
  else:
    size = size_of(name, size)
    order, begins, _ = _unique_order(ar, axis, equal_nan)
  return _unique_parts(ar, order, begins, fill_value, axis, size, wanted)


def unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False,
    return_counts: bool = False, axis: int | None = None, *, equal_nan: bool = True,
    size: int | None = None, fill_value: Any = None, sorted: bool = True) -> Any:
  """The distinct elements of an array, in increasing order.

  Args:
    ar: an array or number.
    return_index: whether to give for each the index of its first occurrence.
    return_inverse: whether to give for each element of `ar` its index in the result.
    return_counts: whether to give how often each occurs.
    axis: along which to compare parts of the array; None for elements.
    equal_nan: whether all nans are one.
    size: how many to make room for; lets `ar` be traced. More are cut off.
    fill_value: what fills that room where there are fewer; by default the least one.
    sorted: accepted; the result is always sorted.

  >>> import gnomon.numpy as gnp
  >>> gnp.unique(gnp.array([3, 1, 3])).tolist()
  [1, 3]

  Returns:
    The array, or a tuple of it and what else is asked for.

  Raises:
    ConcretizationTypeError: `ar` is traced, without `size`.
    TypeError: `ar` is no array and no number.
    ValueError: the axis is out of range, or `size` is negative.
  """
  wanted = (bool(return_index), bool(return_inverse), bool(return_counts))
  out = _unique("unique", ar, wanted, axis, equal_nan, size, fill_value)
  return out if any(wanted) else out[0]


def unique_all(
    x: Any, /, *, size: int | None = None, fill_value: Any = None) -> _UniqueAllResult:
  """Distinct elements, first indices, inverse indices and counts; nans are all distinct.

  >>> import gnomon.numpy as gnp
  >>> gnp.unique_all(gnp.array([3, 1, 3])).counts.tolist()
  [1, 2]

  Raises:
    ConcretizationTypeError, TypeError, ValueError: as `unique` does.
  """
  return _UniqueAllResult(*_unique(
      "unique_all", x, (True, True, True), None, False, size, fill_value))


def unique_counts(
    x: Any, /, *, size: int | None = None, fill_value: Any = None) -> _UniqueCountsResult:
  """Distinct elements, and how often each occurs; nans are all distinct.

  >>> import gnomon.numpy as gnp
  >>> gnp.unique_counts(gnp.array([3, 1, 3])).counts.tolist()
  [1, 2]

  Raises:
    ConcretizationTypeError, TypeError, ValueError: as `unique` does.
  """
  return _UniqueCountsResult(*_unique(
      "unique_counts", x, (False, False, True), None, False, size, fill_value))


def unique_inverse(
    x: Any, /, *, size: int | None = None,
    fill_value: Any = None) -> _UniqueInverseResult:
  """Distinct elements, and for each element its index among them; nans are all distinct.

  >>> import gnomon.numpy as gnp
  >>> gnp.unique_inverse(gnp.array([3, 1, 3])).inverse_indices.tolist()
  [1, 0, 1]

  Raises:
    ConcretizationTypeError, TypeError, ValueError: as `unique` does.
  """
  return _UniqueInverseResult(*_unique(
      "unique_inverse", x, (False, True, False), None, False, size, fill_value))


def unique_values(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> Any:
  """Distinct elements in increasing order; nans are all distinct.

  >>> import gnomon.numpy as gnp
  >>> gnp.unique_values(gnp.array([3, 1, 3])).tolist()
  [1, 3]

  Raises:
    ConcretizationTypeError, TypeError, ValueError: as `unique` does.
  """
  return _unique(
      "unique_values", x, (False, False, False), None, False, size, fill_value)[0]
