"""Sums, products, extremes, means along axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon import lax, numpy_dtype_promotion
from gnomon.core import dtypes
from gnomon.core.structural import broadcast_in_dim, convert, reduce_sum
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import (
  canonical_axes,
  check_arraylike,
  promote_dtypes_inexact,
)
from gnomon.numpy._values import (
  array_of,
  asked_dtype,
  choose,
  is_kind,
  keep_axes,
  mask_of,
  one_array,
  refuse_out,
  scalar,
  typed,
)

Axis = int | Sequence[int] | None
_SHAPE = ("axis", "keepdims")
_DTYPE = (*_SHAPE, "dtype")
_HALVES = (np.dtype(np.float16), np.dtype(dtypes.bfloat16))

# ---- how all of them go


def prepare(name: str, a: Any, axis: Axis, out: Any) -> tuple[Any, tuple[int, ...]]:
  """The operand as an array, and the axes counted from the front."""
  refuse_out(name, out)
  x = one_array(name, a)
  return x, canonical_axes(axis, typeof(x).ndim, name)


def wide(dtype: Any) -> Any:
  """The dtype in which numbers of `dtype` are summed: of half precision, float32."""
  return np.dtype(np.float32) if dtype in _HALVES else dtype


def sum_dtype(x: Any, dtype: Any, promote_integers: bool) -> Any:
  """The dtype of a sum or product."""
  if dtype is not None:
    return dtype
  own = typeof(x).dtype
  if own == np.bool_:
    return dtypes.default_int_dtype()
  if promote_integers and dtypes.issubdtype(own, np.integer):
    if dtypes.issubdtype(own, np.unsignedinteger):
      return dtypes.default_uint_dtype()
    return dtypes.default_int_dtype()
  return own


def finish(x: Any, old: Any, axes: tuple[int, ...], dtype: Any, keepdims: bool) -> Any:
  """Puts the axes back if wanted; the result has a dtype that is not weak."""
  out = convert(x, dtype)
  return keep_axes(out, old, axes) if keepdims else out


def _start(x: Any, initial: Any, dtype: Any, combine: Callable[..., Any],
    name: str) -> Any:
  """Takes the argument `initial` into a reduction."""
  if initial is None:
    return x
  start = typed(name, initial, dtype)
  if typeof(start).ndim:
    raise ValueError(
        f"{name}: initial value must be a scalar. Got array of shape "
        f"{typeof(start).shape}")
  return combine(start, x)


def _accumulate(
    name: str, a: Any, axis: Axis, dtype: Any, out: Any, keepdims: bool, initial: Any,
    where: Any, promote_integers: bool) -> Any:
  """Sums and products."""
  x, axes = prepare(name, a, axis, out)
  shape = typeof(x).shape
  asked = asked_dtype(dtype, name)
  dtype = sum_dtype(x, asked, promote_integers)
  total = name == "sum"
  if dtype == np.bool_:
    reduction = lax.reduce_or if total else lax.reduce_and
    combine = lax.bitwise_or if total else lax.bitwise_and
  else:
    reduction = reduce_sum if total else lax.reduce_prod
    combine = lax.add if total else lax.mul
  work = dtype if asked is not None else wide(dtype)
  x = convert(x, work)
  if where is not None:
    x = choose(mask_of(name, where, shape), x, scalar(0 if total else 1, work))
  x = reduction(x, axes)
  return finish(_start(x, initial, work, combine, name), shape, axes, dtype, keepdims)


@compiled(static=(*_DTYPE, "promote_integers"))
def sum(
    a: Any, axis: Axis = None, dtype: Any = None, out: None = None,
    keepdims: bool = False,
    initial: Any = None, where: Any = None, promote_integers: bool = True) -> Any:
  """Sum of elements along axes.

  Args:
    a: an array or number.
    axis: an axis or several; None for all.
    dtype: the dtype of the sum; by default that of `a`, of integers and booleans int32 or
      uint32 (64 bits with x64). Half precision is summed in float32.
    out: not supported.
    keepdims: whether summed axes stay, with size 1.
    initial: a number to start from.
    where: a boolean mask, broadcast to `a`: which elements to take.
    promote_integers: False lets small integers keep their dtype.

  >>> import gnomon.numpy as gnp
  >>> gnp.sum(gnp.ones((2, 3)), axis=1).tolist()
  [3.0, 3.0]

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: an axis is out of range or repeated, or the mask is not boolean.
    NotImplementedError: `out` is given.
  """
  return _accumulate(
      "sum", a, axis, dtype, out, keepdims, initial, where, promote_integers)


@compiled(static=(*_DTYPE, "promote_integers"))
def prod(
    a: Any, axis: Axis = None, dtype: Any = None, out: None = None,
    keepdims: bool = False,
    initial: Any = None, where: Any = None, promote_integers: bool = True) -> Any:
  """Product of elements along axes.

  Args:
    a: an array or number.
    axis: an axis or several; None for all.
    dtype: the dtype of the product; by default that of `a`, of integers and booleans
      int32 or uint32 (64 bits with x64).
    out: not supported.
    keepdims: whether reduced axes stay, with size 1.
    initial: a number to start from.
    where: a boolean mask, broadcast to `a`: which elements to take.
    promote_integers: False lets small integers keep their dtype.

  >>> import gnomon.numpy as gnp
  >>> gnp.prod(gnp.array([2, 3, 4])).item()
  24

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: an axis is out of range or repeated, or the mask is not boolean.
    NotImplementedError: `out` is given.
  """
  return _accumulate(
      "prod", a, axis, dtype, out, keepdims, initial, where, promote_integers)


# ---- extremes


def bottom(dtype: Any, *, highest: bool) -> Any:
  """What no maximum (or, with `highest`, no minimum) of a dtype can be beaten by."""
  if dtype == np.bool_:
    return np.bool_(highest)
  if dtypes.issubdtype(dtype, np.integer):
    info = dtypes.iinfo(dtype)
    return scalar(info.max if highest else info.min, dtype)
  return scalar(np.inf if highest else -np.inf, dtype)


def _extreme(
    name: str, a: Any, axis: Axis, out: Any, keepdims: bool, initial: Any,
    where: Any) -> Any:
  x, axes = prepare(name, a, axis, out)
  aval = typeof(x)
  low = name in ("min", "amin")
  empty = any_zero(aval.shape, axes)
  if initial is None and (empty or where is not None):
    if where is not None:
      raise ValueError(
          f"{name} does not have an identity: with a mask (where), give the argument "
          "initial")
    raise ValueError(
        f"{name}: zero-size array to reduction operation {name} which has no identity: "
        f"the shape is {aval.shape}; give the argument initial")
  if where is not None:
    x = choose(mask_of(name, where, aval.shape), x, bottom(aval.dtype, highest=low))
  if empty:
    kept = tuple([n for d, n in enumerate(aval.shape) if d not in axes])
    x = lax.full(kept, bottom(aval.dtype, highest=low), aval.dtype)
  else:
    x = lax.reduce_min(x, axes) if low else lax.reduce_max(x, axes)
  x = _start(x, initial, aval.dtype, lax.min if low else lax.max, name)
  return finish(x, aval.shape, axes, aval.dtype, keepdims)


def any_zero(shape: tuple[int, ...], axes: Sequence[int]) -> bool:
  """Whether there is nothing to reduce along the axes."""
  return 0 in [shape[d] for d in axes]


@compiled(static=_SHAPE)
def max(
    a: Any, axis: Axis = None, out: None = None, keepdims: bool = False,
    initial: Any = None,
    where: Any = None) -> Any:
  """Largest element along axes; nan if there is one.

  Args:
    a: an array or number; complex numbers are ordered by their real parts first.
    axis: an axis or several; None for all.
    out: not supported.
    keepdims: whether reduced axes stay, with size 1.
    initial: a number that the result is not below; needed with `where`, or for an empty
      array.
    where: a boolean mask, broadcast to `a`: which elements to take.

  >>> import gnomon.numpy as gnp
  >>> gnp.max(gnp.array([[1, 5], [7, 2]]), axis=0).tolist()
  [7, 5]

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: there is nothing to reduce, an axis is out of range or repeated.
    NotImplementedError: `out` is given.
  """
  return _extreme("max", a, axis, out, keepdims, initial, where)


@compiled(static=_SHAPE)
def min(
    a: Any, axis: Axis = None, out: None = None, keepdims: bool = False,
    initial: Any = None,
    where: Any = None) -> Any:
  """Smallest element along axes; nan if there is one.

  Args:
    a: an array or number; complex numbers are ordered by their real parts first.
    axis: an axis or several; None for all.
    out: not supported.
    keepdims: whether reduced axes stay, with size 1.
    initial: a number that the result is not above; needed with `where`, or for an empty
      array.
    where: a boolean mask, broadcast to `a`: which elements to take.

  >>> import gnomon.numpy as gnp
  >>> gnp.min(gnp.array([[1, 5], [7, 2]]), axis=0).tolist()
  [1, 2]

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: there is nothing to reduce, an axis is out of range or repeated.
    NotImplementedError: `out` is given.
  """
  return _extreme("min", a, axis, out, keepdims, initial, where)


amax = max
amin = min


@compiled(static=_SHAPE)
def ptp(a: Any, axis: Axis = None, out: None = None, keepdims: bool = False) -> Any:
  """Largest element less the smallest one, along axes.

  Args:
    a: an array or number, not boolean.
    axis: an axis or several; None for all.
    out: not supported.
    keepdims: whether reduced axes stay, with size 1.

  >>> import gnomon.numpy as gnp
  >>> gnp.ptp(gnp.array([3, 9, 4])).item()
  6

  Raises:
    TypeError: `a` is boolean, or no array and no number.
    ValueError: there is nothing to reduce, an axis is out of range or repeated.
  """
  x, _ = prepare("ptp", a, axis, out)
  if is_kind(x, np.bool_):
    raise TypeError("ptp does not accept booleans: convert them to numbers")
  high = _extreme("max", x, axis, None, keepdims, None, None)
  return lax.sub(high, _extreme("min", x, axis, None, keepdims, None, None))


# ---- logic


def _logic(
    name: str, a: Any, axis: Axis, out: Any, keepdims: bool, where: Any) -> Any:
  x, axes = prepare(name, a, axis, out)
  shape = typeof(x).shape
  x = convert(x, np.dtype(bool))
  if where is not None:
    x = choose(mask_of(name, where, shape), x, np.bool_(name == "all"))
  x = lax.reduce_and(x, axes) if name == "all" else lax.reduce_or(x, axes)
  return finish(x, shape, axes, np.dtype(bool), keepdims)


@compiled(static=_SHAPE)
def all(
    a: Any, axis: Axis = None, out: None = None, keepdims: bool = False, *,
    where: Any = None) -> Any:
  """Whether all elements along axes are true (not zero).

  Args:
    a: an array or number.
    axis: an axis or several; None for all.
    out: not supported.
    keepdims: whether reduced axes stay, with size 1.
    where: a boolean mask, broadcast to `a`: which elements to take.

  >>> import gnomon.numpy as gnp
  >>> gnp.all(gnp.array([[True, False], [True, True]]), axis=1).tolist()
  [False, True]

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: an axis is out of range or repeated.
  """
  return _logic("all", a, axis, out, keepdims, where)


@compiled(static=_SHAPE)
def any(
    a: Any, axis: Axis = None, out: None = None, keepdims: bool = False, *,
    where: Any = None) -> Any:
  """Whether an element along axes is true (not zero).

  Args:
    a: an array or number.
    axis: an axis or several; None for all.
    out: not supported.
    keepdims: whether reduced axes stay, with size 1.
    where: a boolean mask, broadcast to `a`: which elements to take.

  >>> import gnomon.numpy as gnp
  >>> gnp.any(gnp.array([[True, False], [False, False]]), axis=1).tolist()
  [True, False]

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: an axis is out of range or repeated.
  """
  return _logic("any", a, axis, out, keepdims, where)


@compiled(static=("axis", "keepdims"))
def count_nonzero(a: Any, axis: Axis = None, keepdims: bool = False) -> Any:
  """How many elements along axes are not zero.

  Args:
    a: an array or number.
    axis: an axis or several; None for all.
    keepdims: whether reduced axes stay, with size 1.

  >>> import gnomon.numpy as gnp
  >>> gnp.count_nonzero(gnp.array([3, 0, 4])).item()
  2

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: an axis is out of range or repeated.
  """
  x, axes = prepare("count_nonzero", a, axis, None)
  aval, dtype = typeof(x), dtypes.default_int_dtype()
  if aval.dtype != np.bool_:
    x = lax.ne(x, scalar(0, aval.dtype))
  return finish(reduce_sum(convert(x, dtype), axes), aval.shape, axes, dtype, keepdims)


# ---- means


def mean_dtypes(x: Any, dtype: Any) -> tuple[Any, Any]:
  """The dtype of a mean, and that in which it is computed."""
  if dtype is None:
    dtype = dtypes.to_inexact_dtype(typeof(x).dtype)
    return dtype, wide(dtype)
  # A dtype that is asked for is also the one to add in.
  return dtype, dtype if dtypes.issubdtype(dtype, np.inexact) else wide(typeof(x).dtype)


def common_inexact(own: Any, asked: Any) -> Any:
  """The inexact dtype in which to compute what was asked for in some dtype."""
  with numpy_dtype_promotion("standard"):  # asking for a dtype is explicit enough
    return dtypes.to_inexact_dtype(dtypes.promote_types(own, asked))


def elements(shape: tuple[int, ...], axes: Sequence[int]) -> int:
  """How many elements are reduced to one."""
  n = 1
  for d in axes:
    n *= shape[d]
  return n


@compiled(static=_DTYPE)
def mean(
    a: Any, axis: Axis = None, dtype: Any = None, out: None = None,
    keepdims: bool = False,
    *, where: Any = None) -> Any:
  """Arithmetic mean along axes; nan of no elements.

  Args:
    a: an array or number.
    axis: an axis or several; None for all.
    dtype: the dtype of the mean; by default that of `a`, or a float. Half precision is
      summed in float32.
    out: not supported.
    keepdims: whether reduced axes stay, with size 1.
    where: a boolean mask, broadcast to `a`: which elements to take.

  >>> import gnomon.numpy as gnp
  >>> gnp.mean(gnp.array([[1, 2], [3, 6]]), axis=0).tolist()
  [2.0, 4.0]

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: an axis is out of range or repeated, or the mask is not boolean.
  """
  x, axes = prepare("mean", a, axis, out)
  shape = typeof(x).shape
  dtype, work = mean_dtypes(x, asked_dtype(dtype, "mean"))
  work = work if dtypes.issubdtype(work,
      np.inexact) else wide(dtypes.to_inexact_dtype(work))
  total, count = masked_sum("mean", convert(x, work), axes, where)
  return finish(lax.div(total, count), shape, axes, dtype, keepdims)


def masked_sum(name: str, x: Any, axes: tuple[int, ...], where: Any) -> tuple[Any, Any]:
  """A sum along axes, and of how many elements, in the same dtype."""
  aval = typeof(x)
  if where is None:
    return reduce_sum(x, axes), scalar(elements(aval.shape, axes), aval.dtype)
  mask = mask_of(name, where, aval.shape)
  count = reduce_sum(convert(mask, np.dtype(np.int32)), axes)
  return reduce_sum(choose(mask, x, scalar(0, aval.dtype)), axes), convert(count,
      aval.dtype)


@compiled(static=("axis", "returned", "keepdims"))
def average(
    a: Any, axis: Axis = None, weights: Any = None, returned: bool = False,
    keepdims: bool = False) -> Any:
  """Weighted mean along axes.

  Args:
    a: an array or number.
    axis: an axis or several; None for all.
    weights: of the shape of `a`, or of its sizes along the axes; None for a plain mean.
    returned: whether to give the sum of weights too.
    keepdims: whether reduced axes stay, with size 1.

  >>> import gnomon.numpy as gnp
  >>> gnp.average(gnp.array([1.0, 2.0]), weights=gnp.array([3.0, 1.0])).item()
  1.25

  Raises:
    TypeError: an argument is no array and no number, or `weights` have another shape and
      there is no axis.
    ValueError: an axis is out of range, or the weights do not fit.
  """
  if weights is None:
    x, axes = prepare("average", a, axis, None)
    out = mean(x, axis, keepdims=keepdims)
    if not returned:
      return out
    return out, lax.full_like(out, elements(typeof(x).shape, axes))
  check_arraylike("average", a, weights)
  x, w = [array_of(v) for v in promote_dtypes_inexact(array_of(a), array_of(weights))]
  shape = typeof(x).shape
  axes = canonical_axes(axis, len(shape), "average")
  w = _weights(w, shape, axes, axis)
  dtype = typeof(x).dtype
  work = wide(dtype)
  total = reduce_sum(convert(w, work), axes)
  out = lax.div(reduce_sum(convert(lax.mul(x, w), work), axes), total)
  out = finish(out, shape, axes, dtype, keepdims)
  if not returned:
    return out
  total = finish(total, shape, axes, dtype, keepdims)
  return out, broadcast_in_dim(total, typeof(out).shape, tuple(range(typeof(out).ndim)))


def _weights(w: Any, shape: tuple[int, ...], axes: tuple[int, ...], axis: Axis) -> Any:
  """Weights as an array that broadcasts to the data."""
  given = typeof(w).shape
  if given == shape:
    return w
  if axis is None:
    raise TypeError(
        f"average: weights of another shape, {given} for {shape}, need the argument axis")
  if given != tuple([shape[d] for d in axes]):
    raise ValueError(
        f"average: weights must have the shape of a, {shape}, or its sizes along axis "
        f"{axis}, {tuple([shape[d] for d in axes])}; got {given}")
  order = sorted(range(len(axes)), key=lambda i: axes[i])
  w = lax.transpose(w, order)
  sizes = tuple([n if d in axes else 1 for d, n in enumerate(shape)])
  return lax.reshape(w, sizes)
