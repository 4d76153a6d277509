"""Arrays as sets: what two of them have in common, and what not."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon import ensure_compile_time_eval, lax
from gnomon.core.structural import broadcast_in_dim, convert, reduce_sum, select_n
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import check_arraylike, promote_dtypes
from gnomon.numpy._searching import search
from gnomon.numpy._unique import (
  as_index,
  filled,
  known,
  places,
  running_count,
  size_of,
  sorted_runs,
  within,
)
from gnomon.numpy._values import array_of, arrays_of, choose, one_array, scalar, take_rows


@compiled(static=("rule",))
def _pair_runs(ar1: Any, ar2: Any, rule: str) -> tuple[Any, ...]:
  """Runs of two arrays in one sorted order, and which of them a set operation keeps.

  Gives the elements of both, their order, the mask of kept beginnings, how many elements
  of the first array stand in the run of each, and how many beginnings are kept.
  """
  x, y = _flat(ar1), _flat(ar2)
  x, y = [array_of(z) for z in promote_dtypes(x, y)]
  n = typeof(x).shape[0]
  both = lax.concatenate([x, y], 0)
  order, begins = sorted_runs(lax.stop_gradient(both), rule == "or")
  mine = convert(lax.lt(order, scalar(n, np.int32)), np.dtype(np.int32))
  total = typeof(both).shape[0]
  run = lax.sub(running_count(begins), scalar(1, np.int32))
  in_x, in_all = (_sum_by(run, amount, total) for amount in (
      mine, lax.full((total,), 1, np.int32)))
  in_x, in_all = take_rows(in_x, run, 0), take_rows(in_all, run, 0)
  zero = scalar(0, np.int32)
  has_x, has_y = lax.gt(in_x, zero), lax.gt(lax.sub(in_all, in_x), zero)
  if rule != "or":
    keep = lax.bitwise_and(has_x, has_y) if rule == "and" else lax.bitwise_xor(has_x,
        has_y)
    if rule == "minus":
      keep = lax.bitwise_and(keep, has_x)
    begins = lax.bitwise_and(begins, keep)
  kept = reduce_sum(convert(begins, np.dtype(np.int32)), (0,))
  return both, order, begins, in_x, kept


def _flat(x: Any) -> Any:
  x = array_of(x)
  return lax.reshape(x, (typeof(x).size,))


def _sum_by(group: Any, amounts: Any, size: int) -> Any:
  numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
  zeros = lax.full((size,), 0, typeof(amounts).dtype)
  return lax.scatter_add(
      zeros, broadcast_in_dim(group, (typeof(group).shape[0], 1), (0,)), amounts, numbers,
      indices_are_sorted=True, mode="drop")


@compiled(static=("size", "zeros"))
def _pick_runs(
    both: Any, order: Any, begins: Any, in_x: Any, fill_value: Any, n: int, size: int,
    zeros: bool) -> tuple[Any, Any, Any]:
  """The kept elements, and their first indices in the two arrays."""
  total = typeof(both).shape[0]
  if not total:
    value = 0 if fill_value is None else fill_value
    out = lax.full((size,), convert(one_array("fill_value", value), typeof(both).dtype))
    none = as_index(lax.full((size,), 0, np.int32))
    return out, none, none
  starts = places(begins, size)
  is_run = lax.lt(starts, scalar(total, np.int32))
  starts = within(starts, total)
  first = take_rows(order, starts, 0)
  values = take_rows(both, first, 0)
  second = take_rows(order, within(lax.add(starts, take_rows(in_x, starts, 0)), total),
      0)
  if size:
    zero = scalar(0, typeof(both).dtype)
    least = choose(lax.index_in_dim(is_run, 0, keepdims=False), lax.index_in_dim(
        values, 0, keepdims=False), zero)
    values = filled(values, is_run, fill_value, array_of(zero) if zeros else least)
  count = lax.full((size,), lax.convert_element_type(n, np.int32))
  at_x = select_n(is_run, count, first)
  rest = lax.sub(lax.full((size,), total, np.int32), count)
  at_y = select_n(is_run, rest, lax.sub(second, count))
  return values, as_index(at_x), as_index(at_y)


def _set_operation(
    name: str, rule: str, ar1: Any, ar2: Any, size: Any, fill_value: Any, *,
    zeros: bool = False) -> tuple[Any, Any, Any]:
  check_arraylike(name, ar1, ar2)
  if size is None:
    x, y = known(name, ar1, ar2)
    with ensure_compile_time_eval():
      _, order, begins, in_x, kept = _pair_runs(x, y, rule)
      size = int(kept)
    both = _both(ar1, ar2)
  else:
    size = size_of(name, size)
    both, order, begins, in_x, _ = _pair_runs(ar1, ar2, rule)
  return _pick_runs(
      both, order, begins, in_x, fill_value, typeof(ar1).size, size, zeros)


@compiled()
def _both(ar1: Any, ar2: Any) -> Any:
  parts = promote_dtypes(_flat(ar1), _flat(ar2))
  return lax.concatenate([array_of(x) for x in parts], 0)


def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False, *,
    size: int | None = None, fill_value: Any = None) -> Any:
  """The distinct elements that two arrays have in common, in increasing order.

  Args:
    ar1: an array, flattened.
    ar2: the same.
    assume_unique: accepted; the result does not depend on it.
    return_indices: whether to give their first indices in both arrays too.
    size: how many to make room for; lets the arrays be traced.
    fill_value: what fills that room where there are fewer; by default the least one.

  >>> import gnomon.numpy as gnp
  >>> gnp.intersect1d(gnp.array([3, 1, 2]), gnp.array([2, 3, 4])).tolist()
  [2, 3]

  Raises:
    ConcretizationTypeError: an array is traced, without `size`.
    TypeError: an argument is no array and no number.
  """
  out = _set_operation("intersect1d", "and", ar1, ar2, size, fill_value)
  return out if return_indices else out[0]


def union1d(
    ar1: Any, ar2: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
  """The distinct elements of two arrays, in increasing order.

  Args:
    ar1: an array, flattened.
    ar2: the same.
    size: how many to make room for; lets the arrays be traced.
    fill_value: what fills that room where there are fewer; by default the least one.

  >>> import gnomon.numpy as gnp
  >>> gnp.union1d(gnp.array([3, 1]), gnp.array([2, 3])).tolist()
  [1, 2, 3]

  Raises:
    ConcretizationTypeError: an array is traced, without `size`.
    TypeError: an argument is no array and no number.
  """
  return _set_operation("union1d", "or", ar1, ar2, size, fill_value)[0]


def setxor1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, *, size: int | None = None,
    fill_value: Any = None) -> Any:
  """The distinct elements that are in one of two arrays only, in increasing order.

  Args:
    ar1: an array, flattened.
    ar2: the same.
    assume_unique: accepted; the result does not depend on it.
    size: how many to make room for; lets the arrays be traced.
    fill_value: what fills that room where there are fewer; by default the least one.

  >>> import gnomon.numpy as gnp
  >>> gnp.setxor1d(gnp.array([3, 1]), gnp.array([2, 3])).tolist()
  [1, 2]

  Raises:
    ConcretizationTypeError: an array is traced, without `size`.
    TypeError: an argument is no array and no number.
  """
  return _set_operation("setxor1d", "xor", ar1, ar2, size, fill_value)[0]


def setdiff1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, *, size: int | None = None,
    fill_value: Any = None) -> Any:
  """The distinct elements of one array that are not in another, in increasing order.

  Args:
    ar1: an array, flattened.
    ar2: the same.
    assume_unique: True keeps the elements of `ar1` in their order, repeated ones too.
    size: how many to make room for; lets the arrays be traced.
    fill_value: what fills that room where there are fewer; by default 0.

  >>> import gnomon.numpy as gnp
  >>> gnp.setdiff1d(gnp.array([3, 1, 2]), gnp.array([2])).tolist()
  [1, 3]

  Raises:
    ConcretizationTypeError: an array is traced, without `size`.
    TypeError: an argument is no array and no number.
  """
  if not assume_unique:
    values = _set_operation(
        "setdiff1d", "minus", ar1, ar2, size, fill_value, zeros=True)[0]
    return convert(values, typeof(ar1).dtype, typeof(ar1).weak_type)
  check_arraylike("setdiff1d", ar1, ar2)
  if size is None:
    x, y = known("setdiff1d", ar1, ar2)
    with ensure_compile_time_eval():
      size = int(isin(x, y, invert=True).sum())
  return _kept(ar1, isin(ar1, ar2, invert=True), fill_value, size_of("setdiff1d", size))


@compiled(static=("size",))
def _kept(ar: Any, mask: Any, fill_value: Any, size: int) -> Any:
  x, mask = _flat(ar), _flat(mask)
  n = typeof(x).shape[0]
  at = places(mask, size)
  if not n:
    return lax.full((size,), 0 if fill_value is None else fill_value, typeof(x).dtype)
  return filled(take_rows(x, within(at, n), 0), lax.lt(at, scalar(n, np.int32)),
                 fill_value, array_of(scalar(0, typeof(x).dtype)))


# ---- membership


def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False,
    *,
    method: str = "auto") -> Any:
  """Whether each element is among others.

  Args:
    element: an array or number.
    test_elements: an array or number, flattened.
    assume_unique: accepted; the result does not depend on it.
    invert: whether to say instead that it is not among them.
    method: `"compare_all"` (each with each), `"binary_search"` or `"sort"` (in the
      others, sorted), or `"auto"`.

  >>> import gnomon.numpy as gnp
  >>> gnp.isin(gnp.array([1, 2, 3]), gnp.array([3, 1])).tolist()
  [True, False, True]

  Returns:
    Booleans of the shape of `element`; nan is among nothing.

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the method is unknown.
  """
  check_arraylike("isin", element, test_elements)
  if method not in ("auto", "compare_all", "binary_search", "sort"):
    raise ValueError(
        f"isin: method={method!r} is not implemented; options are 'compare_all', "
        "'binary_search', 'sort', and 'auto'")
  return _isin(element, test_elements, bool(invert), method)


@compiled(static=("invert", "method"))
def _isin(element: Any, test_elements: Any, invert: bool, method: str) -> Any:
  x, tests = arrays_of("isin", element, test_elements)
  shape = typeof(x).shape
  x, tests = [array_of(z) for z in promote_dtypes(_flat(x), _flat(tests))]
  n, m = typeof(x).shape[0], typeof(tests).shape[0]
  if not n or not m:
    return lax.full(shape, invert, np.bool_)
  if method == "compare_all" or (method == "auto" and m <= 16):
    same = lax.eq(broadcast_in_dim(x, (n, m), (0,)), broadcast_in_dim(tests, (n, m),
        (1,)))
    found = lax.reduce_or(same, (1,))
  else:
    ordered = lax.sort(lax.stop_gradient(tests))
    at = search(ordered, lax.stop_gradient(x), "left",
        "sort" if method == "sort" else "scan")
    found = lax.eq(take_rows(ordered, lax.min(at, scalar(m - 1, typeof(at).dtype)), 0), x)
  found = lax.reshape(found, shape)
  return lax.bitwise_not(found) if invert else found
