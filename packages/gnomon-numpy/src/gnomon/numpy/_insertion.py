"""Elements put in and taken out: `insert`, `delete`, `trim_zeros`."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core.structural import broadcast_in_dim, convert, select_n
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled, freeze
from gnomon.numpy._promotion import canonical_axes, canonical_axis, check_arraylike
from gnomon.numpy._values import (
  concrete,
  flat_unless,
  is_concrete,
  is_kind,
  one_array,
  promise_index,
  scalar,
  spread,
  take_rows,
)


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
  """An array with values inserted before given indices.

  Args:
    arr: an array or number.
    obj: before which indices of `arr`: an integer, a slice, or a sequence or array of
      integers; negative ones count from the end. They may be traced.
    values: what is inserted; broadcast to as many as there are indices.
    axis: along which; None flattens the array first.

  >>> import gnomon.numpy as gnp
  >>> gnp.insert(gnp.arange(3), 1, 9).tolist()
  [0, 9, 1, 2]

  Raises:
    TypeError: `arr` or `values` is no array and no number.
    ValueError: the axis is out of range, or the values do not fit.
    IndexError: an index whose value is known is out of range.
  """
  check_arraylike("insert", arr, 0 if isinstance(obj, slice) else np.asarray(
      freeze(obj)) if isinstance(obj, (list, tuple)) else obj, values)
  axis = None if axis is None else index(axis)
  n = typeof(arr).size if axis is None else typeof(arr).shape[
      canonical_axis(axis, typeof(arr).ndim, "insert")]
  if isinstance(obj, slice):
    at: Any = np.arange(*obj.indices(n))
  elif not is_concrete(obj):
    return _insert_traced(arr, obj, values, axis)
  else:
    at = concrete("insert", "obj", freeze(obj), "")
    at = np.flatnonzero(at) if at.dtype == np.bool_ and at.ndim else at
  if at.size and ((at < -n) | (at > n)).any():
    raise IndexError(
        f"insert: an index is out of bounds for axis {axis} with size {n}: {obj!r}")
  at = at.astype(np.int64)
  where = np.where(at < 0, at + n, at)
  # Values sort before the element of the same index; in their own order among each other.
  keys = np.concatenate([where.reshape(-1), np.arange(n)])
  rows = np.argsort(keys, kind="stable").astype(promise_index(keys.size))
  return _insert_rows(arr, values, rows, axis, where.ndim == 0, where.size)


@compiled(static=("axis", "single", "count"))
def _insert_rows(
    arr: Any, values: Any, rows: Any, axis: int | None, single: bool, count: int) -> Any:
  x, values, axis = _insertion(arr, values, axis, single, count)
  return take_rows(lax.concatenate([values, x], axis), rows, axis, unique=True)


@compiled(static=("axis",))
def _insert_traced(arr: Any, obj: Any, values: Any, axis: int | None) -> Any:
  at = one_array("insert", obj)
  if not is_kind(at, np.integer) or typeof(at).ndim > 1:
    raise TypeError(
        "insert: traced indices must be an integer or a vector of them, got "
        f"{typeof(at)}")
  single = not typeof(at).ndim
  at = lax.reshape(at, (typeof(at).size,))
  count = typeof(at).shape[0]
  x, values, axis = _insertion(arr, values, axis, single, count)
  n = typeof(x).shape[axis]
  dtype = promise_index(n)
  at = lax.convert_element_type(at, dtype)
  at = select_n(lax.lt(at, scalar(0, dtype)), at, lax.add(at, scalar(n, dtype)))
  at = lax.clamp(scalar(0, dtype), at, scalar(n, dtype))
  keys = lax.concatenate([at, lax.iota(dtype, n)], 0)
  rows = lax.sort((keys, lax.iota(dtype, n + count)), num_keys=1)[1]
  return take_rows(lax.concatenate([values, x], axis), rows, axis, unique=True)


def _insertion(
    arr: Any, values: Any, axis: int | None, single: bool, count: int) -> Any:
  """The array, the values as parts to concatenate with it, and the axis."""
  x, d = flat_unless("insert", one_array("insert", arr), axis)
  aval = typeof(x)
  values = convert(one_array("insert", values), aval.dtype, aval.weak_type)
  shape = (*aval.shape[:d], count, *aval.shape[d + 1:])
  if single:
    # One index and many values: they all go there, and the axis comes first in `values`.
    values = lax.broadcast_to_rank(values, aval.ndim)
    order = (*range(1, d + 1), 0, *range(d + 1, aval.ndim))
    values = lax.transpose(values, order)
    if typeof(values).shape[d] != 1:
      raise ValueError(
          f"insert: for one index along axis {d} give the values of one part, got "
          f"{typeof(values).shape[d]} parts; for several give as many indices: obj=[i, "
          "i]")
  return x, spread("insert", values, shape), d


def delete(
    arr: Any, obj: Any, axis: int | None = None, *,
    assume_unique_indices: bool = False) -> Any:
  """An array without the parts at given indices.

  Args:
    arr: an array or number.
    obj: which: an integer, a slice, a sequence or array of integers, or a boolean mask;
      negative indices count from the end. An integer may be traced.
    axis: along which; None flattens the array first.
    assume_unique_indices: a promise that integers in a vector are all different (as
      indices from 0 to the size): it may be traced then.

  >>> import gnomon.numpy as gnp
  >>> gnp.delete(gnp.arange(4), 1).tolist()
  [0, 2, 3]

  Raises:
    TypeError: `arr` is no array and no number.
    ConcretizationTypeError: indices are traced, and might repeat.
    ValueError: a mask has another length.
  """
  check_arraylike("delete", arr)
  axis = None if axis is None else index(axis)
  d = 0 if axis is None else canonical_axis(axis, typeof(arr).ndim, "delete")
  n = typeof(arr).size if axis is None else typeof(arr).shape[d]
  if not isinstance(obj, (slice, list, tuple)) and not is_concrete(obj):
    aval = typeof(obj)
    if aval.ndim == 0 and aval.dtype != np.bool_:
      return _delete_one(arr, obj, axis)
    if assume_unique_indices and aval.dtype != np.bool_:
      return _delete_unique(arr, obj, axis)
  if isinstance(obj, slice):
    return _delete_rows(arr, _left(np.arange(n)[obj], n), axis)
  at = concrete(
      "delete", "obj", freeze(obj), "Promise that the indices are different, with "
      "assume_unique_indices=True, to have them traced")
  if at.dtype == np.bool_:
    if at.shape != (n,):
      raise ValueError(
          f"delete: a boolean mask must have one entry for each of the {n} parts, got "
          f"the shape {at.shape}")
    return _delete_rows(arr, np.flatnonzero(~at).astype(promise_index(n)), axis)
  if at.size and at.dtype.kind not in "iu":
    raise IndexError(f"delete: indices must be integers or booleans, got {at.dtype}")
  at = at.astype(np.int64).reshape(-1)
  return _delete_rows(arr, _left(np.where(at < 0, at + n, at), n), axis)


def _left(gone: Any, n: int) -> Any:
  """The numbers below `n` that are not gone; those out of range are ignored."""
  keep = np.ones(n, bool)
  keep[gone[(gone >= 0) & (gone < n)]] = False
  return np.flatnonzero(keep).astype(promise_index(n))


@compiled(static=("axis",))
def _delete_rows(arr: Any, rows: Any, axis: int | None) -> Any:
  x, axis = flat_unless("delete", one_array("delete", arr), axis)
  return take_rows(x, rows, axis, sorted_=True, unique=True)


@compiled(static=("axis",))
def _delete_one(arr: Any, obj: Any, axis: int | None) -> Any:
  x, axis = flat_unless("delete", one_array("delete", arr), axis)
  n = typeof(x).shape[axis]
  dtype = promise_index(n)
  at = lax.convert_element_type(one_array("delete", obj), dtype)
  at = select_n(lax.lt(at, scalar(0, dtype)), at, lax.add(at, scalar(n, dtype)))
  rows = lax.iota(dtype, max(n - 1, 0))
  after = lax.convert_element_type(lax.ge(rows, at), dtype)
  return take_rows(x, lax.add(rows, after), axis, sorted_=True, unique=True)


@compiled(static=("axis",))
def _delete_unique(arr: Any, obj: Any, axis: int | None) -> Any:
  x, axis = flat_unless("delete", one_array("delete", arr), axis)
  n = typeof(x).shape[axis]
  dtype = promise_index(n)
  at = lax.convert_element_type(one_array("delete", obj), dtype)
  at = lax.reshape(at, (typeof(at).size,))
  at = select_n(lax.lt(at, scalar(0, dtype)), at, lax.add(at, scalar(n, dtype)))
  count = typeof(at).size
  # The parts that go are sorted to the end.
  numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
  gone = lax.scatter(
      lax.full((n,), 0, np.int32), broadcast_in_dim(at, (count, 1), (0,)),
      lax.full((count,), 1, np.int32), numbers, mode="drop")
  rows = lax.sort((gone, lax.iota(dtype, n)), num_keys=1)[1]
  rows = lax.slice_in_dim(rows, 0, max(n - count, 0))
  return take_rows(x, rows, axis, sorted_=True, unique=True)


def trim_zeros(
    filt: Any, trim: str = "fb", axis: int | Sequence[int] | None = None) -> Any:
  """Cuts off leading and trailing zeros. Not under `jit`: the values decide the shape.

  Args:
    filt: an array; along each axis, parts that are all zero are cut off.
    trim: "f" for the front, "b" for the back, "fb" for both.
    axis: along which axes; None for all.

  >>> import gnomon.numpy as gnp
  >>> gnp.trim_zeros(gnp.array([0, 0, 1, 0, 2, 0])).tolist()
  [1, 0, 2]

  Raises:
    ConcretizationTypeError: the array is traced.
    ValueError: `trim` has other letters, or an axis is out of range.
  """
  check_arraylike("trim_zeros", filt)
  if set(trim.lower()) - set("fb"):
    raise ValueError(f"trim_zeros: trim may hold the letters 'f' and 'b', got {trim!r}")
  values = concrete("trim_zeros", "filt", filt, "Trim before the traced function")
  x = one_array("trim_zeros", filt)
  shape = typeof(x).shape
  start, limit = [0] * len(shape), list(shape)
  for d in canonical_axes(freeze(axis), len(shape), "trim_zeros"):
    others = tuple([e for e in range(len(shape)) if e != d])
    full = np.flatnonzero((values != 0).any(axis=others))
    if not full.size:
      limit[d] = 0
      continue
    start[d] = int(full[0]) if "f" in trim.lower() else 0
    limit[d] = int(full[-1]) + 1 if "b" in trim.lower() else shape[d]
  return lax.slice(x, start, limit)
