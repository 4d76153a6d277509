"""Elements in order, and where the extreme ones stand."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.structural import convert
from gnomon.core.types import typeof
from gnomon.lax import unstack_p
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import canonical_axis
from gnomon.numpy._reductions import any_zero, bottom
from gnomon.numpy._values import (
  array_of,
  arrays_of,
  asked_dtype,
  choose,
  flat_unless,
  is_kind,
  is_nan,
  keep_axes,
  one_array,
  refuse_out,
  scalar,
)

_ORDER = ("axis", "kind", "order", "stable", "descending")


def _refuse_kinds(name: str, kind: Any, order: Any) -> None:
  if kind is not None:
    raise TypeError(
        f"{name} does not support the argument 'kind', got {kind!r}: stable=True or "
        "stable=False say what matters")
  if order is not None:
    raise TypeError(
        f"{name} does not support the argument 'order', got {order!r}: arrays have no "
        "fields")


def _ordered(name: str, a: Any, axis: int | None) -> tuple[Any, int]:
  """The array to sort and its axis."""
  return flat_unless(name, one_array(name, a), axis)


@compiled(static=_ORDER)
def sort(
    a: Any, axis: int | None = -1, *, kind: None = None, order: None = None,
    stable: bool = True, descending: bool = False) -> Any:
  """Elements in increasing order along an axis; nans come last.

  Args:
    a: an array; complex numbers are ordered by their real parts first.
    axis: along which; None flattens the array first.
    kind: not supported.
    order: the same.
    stable: whether equal elements keep their order.
    descending: whether to order from the largest to the smallest; nans come first then.

  >>> import gnomon.numpy as gnp
  >>> gnp.sort(gnp.array([3, 1, 2])).tolist()
  [1, 2, 3]

  Raises:
    TypeError: `a` is no array and no number, or `kind` or `order` is given.
    ValueError: the axis is out of range.
  """
  _refuse_kinds("sort", kind, order)
  x, axis = _ordered("sort", a, axis)
  out = lax.sort(x, dimension=axis, is_stable=stable)
  return lax.rev(out, (axis,)) if descending else out


@compiled(static=(*_ORDER, "dtype"))
def argsort(
    a: Any, axis: int | None = -1, *, kind: None = None, order: None = None,
    stable: bool = True, descending: bool = False, dtype: Any = None) -> Any:
  """The indices that would sort an array along an axis.

  Args:
    a: an array; complex numbers are ordered by their real parts first.
    axis: along which; None flattens the array first.
    kind: not supported.
    order: the same.
    stable: whether equal elements keep their order.
    descending: whether to order from the largest to the smallest; nans come first then.
    dtype: the dtype of the indices; by default int32 (int64 with x64).

  >>> import gnomon.numpy as gnp
  >>> gnp.argsort(gnp.array([3, 1, 2])).tolist()
  [1, 2, 0]

  Raises:
    TypeError: `a` is no array and no number, or `kind` or `order` is given.
    ValueError: the axis is out of range.
  """
  _refuse_kinds("argsort", kind, order)
  x, axis = _ordered("argsort", a, axis)
  wanted = asked_dtype(dtype, "argsort") or dtypes.default_int_dtype()
  return _argsort(x, axis, stable, descending, wanted)


def _argsort(x: Any, axis: int, stable: bool, descending: bool, dtype: Any) -> Any:
  places = lax.broadcasted_iota(dtype, typeof(x).shape, axis)
  if descending:
    x, places = lax.rev(x, (axis,)), lax.rev(places, (axis,))
  out = lax.sort((x, places), dimension=axis, is_stable=stable)[1]
  return lax.rev(out, (axis,)) if descending else out


@compiled(static=("axis",))
def lexsort(keys: Any, axis: int = -1) -> Any:
  """The indices that sort by several keys, the last one first.

  Args:
    keys: a sequence of arrays of one shape, or an array of them.
    axis: along which to sort them.

  >>> import gnomon.numpy as gnp
  >>> gnp.lexsort((gnp.array([2, 1, 0]), gnp.array([1, 0, 1]))).tolist()
  [1, 2, 0]

  Raises:
    TypeError: there is no key, or a key is no array.
    ValueError: the shapes differ, or the axis is out of range.
  """
  if isinstance(keys, (list, tuple)):
    xs = arrays_of("lexsort", *keys)
  else:
    whole = one_array("lexsort", keys)
    if not typeof(whole).ndim:
      raise TypeError("lexsort needs a sequence of keys, got a 0-d array")
    xs = list(unstack_p.apply(whole, axis=0)) if typeof(whole).shape[0] else []
  if not xs:
    raise TypeError("lexsort needs at least one key")
  shapes = [typeof(x).shape for x in xs]
  if any(s != shapes[0] for s in shapes):
    raise ValueError(
        f"lexsort needs keys of one shape, got {', '.join(map(str, shapes))}")
  dtype = dtypes.default_int_dtype()
  if not shapes[0]:
    return scalar_array(0, dtype)
  axis = canonical_axis(axis, len(shapes[0]), "lexsort")
  places = lax.broadcasted_iota(dtype, shapes[0], axis)
  return lax.sort((*reversed(xs), places), dimension=axis, num_keys=len(xs))[-1]


def scalar_array(value: Any, dtype: Any) -> Any:
  """A 0-d array."""
  return array_of(scalar(value, dtype))


@compiled()
def sort_complex(a: Any) -> Any:
  """Elements as complex numbers, in order along the last axis.

  Args:
    a: an array; ordered by real parts, then by imaginary ones.

  >>> import gnomon.numpy as gnp
  >>> gnp.sort_complex(gnp.array([2 + 1j, 1, 2 - 1j])).tolist()
  [(1+0j), (2-1j), (2+1j)]

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: `a` is a scalar.
  """
  x, axis = _ordered("sort_complex", a, -1)
  return convert(
      lax.sort(x, dimension=axis), dtypes.to_complex_dtype(typeof(x).dtype))


# ---- partitions


def _part(name: str, a: Any, kth: int, axis: int) -> tuple[Any, int]:
  x, axis = _ordered(name, a, axis)
  canonical_axis(index(kth), typeof(x).shape[axis], f"{name}: kth")
  return x, axis


@compiled(static=("kth", "axis"))
def partition(a: Any, kth: int, axis: int = -1) -> Any:
  """Elements such that number `kth` stands where sorting would put it.

  Smaller ones stand before it, larger ones after it, in any order.

  Args:
    a: an array.
    kth: an index along the axis.
    axis: along which.

  >>> import gnomon.numpy as gnp
  >>> gnp.partition(gnp.array([3, 1, 2]), 1)[1].item()
  2

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: the axis or `kth` is out of range.
  """
  x, axis = _part("partition", a, kth, axis)
  return lax.sort(x, dimension=axis)


@compiled(static=("kth", "axis"))
def argpartition(a: Any, kth: int, axis: int = -1) -> Any:
  """The indices that would partition an array. See `partition`.

  Args:
    a: an array.
    kth: an index along the axis.
    axis: along which.

  >>> import gnomon.numpy as gnp
  >>> gnp.argpartition(gnp.array([3, 1, 2]), 1)[1].item()
  2

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: the axis or `kth` is out of range.
  """
  x, axis = _part("argpartition", a, kth, axis)
  return _argsort(x, axis, True, False, dtypes.default_int_dtype())


# ---- where extremes stand


def _first(name: str, a: Any, axis: int | None, out: Any, keepdims: Any) -> Any:
  refuse_out(name, out)
  whole = one_array(name, a)
  x, d = flat_unless(name, whole, axis)
  aval = typeof(x)
  if any_zero(aval.shape, (d,)):
    raise ValueError(
        f"attempt to get {name} of an empty sequence: the shape is {typeof(whole).shape}")
  dtype = dtypes.default_int_dtype()
  low = "min" in name
  if is_kind(x, np.complexfloating):
    best = (lax.reduce_min if low else lax.reduce_max)(x, (d,))
    best = lax.broadcast_in_dim(
        best, aval.shape, tuple([e for e in range(aval.ndim) if e != d]))
    # A nan is the first extreme, wherever there is one.
    nan = convert(is_nan(x), np.dtype(np.int8))
    x, low = lax.add(convert(lax.eq(x, best), np.dtype(np.int8)),
        lax.add(nan, nan)), False
  out = (lax.argmin if low else lax.argmax)(x, d, dtype)
  return _with_dims(out, typeof(whole).shape, axis, d, keepdims)


def _with_dims(
    out: Any, shape: tuple[int, ...], axis: int | None, d: int, keepdims: Any) -> Any:
  if not keepdims:
    return out
  return keep_axes(out, shape, tuple(range(len(shape))) if axis is None else (d,))


@compiled(static=("axis", "keepdims"))
def argmax(a: Any, axis: int | None = None, out: None = None,
    keepdims: Any = None) -> Any:
  """The index of the largest element along an axis, of the first of equal ones.

  A nan counts as the largest.

  Args:
    a: an array.
    axis: along which; None for the index into the flattened array.
    out: not supported.
    keepdims: whether the axis stays, with size 1.

  >>> import gnomon.numpy as gnp
  >>> gnp.argmax(gnp.array([1, 7, 7])).item()
  1

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: there are no elements, or the axis is out of range.
  """
  return _first("argmax", a, axis, out, keepdims)


@compiled(static=("axis", "keepdims"))
def argmin(a: Any, axis: int | None = None, out: None = None,
    keepdims: Any = None) -> Any:
  """The index of the smallest element along an axis, of the first of equal ones.

  A nan counts as the smallest.

  Args:
    a: an array.
    axis: along which; None for the index into the flattened array.
    out: not supported.
    keepdims: whether the axis stays, with size 1.

  >>> import gnomon.numpy as gnp
  >>> gnp.argmin(gnp.array([4, 1, 1])).item()
  1

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: there are no elements, or the axis is out of range.
  """
  return _first("argmin", a, axis, out, keepdims)


def _nan_first(name: str, a: Any, axis: int | None, out: Any, keepdims: Any) -> Any:
  refuse_out(name, out)
  whole = one_array(name, a)
  plain = name.removeprefix("nan")
  if not is_kind(whole, np.inexact):
    return _first(plain, whole, axis, None, keepdims)
  x, d = flat_unless(name, whole, axis)
  worst = bottom(typeof(x).dtype, highest=plain == "argmin")
  nan = is_nan(x)
  at = _first(plain, choose(lax.bitwise_not(nan), x, worst), d, None, None)
  none = lax.reduce_and(nan, (d,))
  at = choose(lax.bitwise_not(none), at, scalar(-1, typeof(at).dtype))
  return _with_dims(at, typeof(whole).shape, axis, d, keepdims)


@compiled(static=("axis", "keepdims"))
def nanargmax(
    a: Any, axis: int | None = None, out: None = None, keepdims: Any = None) -> Any:
  """The index of the largest element that is not nan; -1 if all are. See `argmax`.

  >>> import gnomon.numpy as gnp
  >>> gnp.nanargmax(gnp.array([1.0, gnp.nan, 3.0])).item()
  2

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: there are no elements, or the axis is out of range.
  """
  return _nan_first("nanargmax", a, axis, out, keepdims)


@compiled(static=("axis", "keepdims"))
def nanargmin(
    a: Any, axis: int | None = None, out: None = None, keepdims: Any = None) -> Any:
  """The index of the smallest element that is not nan; -1 if all are. See `argmin`.

  >>> import gnomon.numpy as gnp
  >>> gnp.nanargmin(gnp.array([gnp.nan, 2.0, 1.0])).item()
  2

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: there are no elements, or the axis is out of range.
  """
  return _nan_first("nanargmin", a, axis, out, keepdims)
