"""Variances and standard deviations along axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.structural import convert
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.numpy._reductions import (
  Axis,
  common_inexact,
  finish,
  masked_sum,
  prepare,
  wide,
)
from gnomon.numpy._values import (
  array_of,
  asked_dtype,
  choose,
  is_kind,
  keep_axes,
  mask_of,
  scalar,
  spread,
)

_STATIC = ("axis", "dtype", "ddof", "keepdims", "correction")


def _freedom(name: str, ddof: Any, correction: Any) -> Any:
  """What is taken off the count: `ddof`, or its other name `correction`."""
  if correction is None:
    return ddof
  if not isinstance(ddof, int) or ddof != 0:
    raise ValueError(f"{name}: give one of ddof and correction, they mean the same")
  return correction


def _result_dtypes(name: str, x: Any, dtype: Any) -> tuple[Any, Any]:
  """The dtype of a variance, and that in which it is computed."""
  own = typeof(x).dtype
  if dtype is None:
    work = dtypes.to_inexact_dtype(own)
    return np.finfo(work).dtype if work.kind == "c" else work, wide(work)
  if not dtypes.issubdtype(dtype, np.complexfloating) and is_kind(x, np.complexfloating):
    raise ValueError(
        f"{name}: the dtype {dtype} cannot hold the deviations of complex numbers; ask "
        "for a complex dtype, or none")
  return dtype, wide(common_inexact(own, dtype))


def variance(
    name: str, a: Any, axis: Axis, dtype: Any, out: Any, ddof: Any, keepdims: bool,
    where: Any, mean: Any, *, root: bool = False) -> Any:
  """The mean of squared distances from the mean, or its square root."""
  x, axes = prepare(name, a, axis, out)
  shape = typeof(x).shape
  dtype, work = _result_dtypes(name, x, asked_dtype(dtype, name))
  if root and not dtypes.issubdtype(dtype, np.inexact):
    raise ValueError(
        f"{name}: the dtype must be floating-point or complex to take a root in, got "
        f"{dtype}")
  x = convert(x, work)
  mask = None if where is None else mask_of(name, where, shape)
  if mean is None:
    total, count = masked_sum(name, x, axes, mask)
    # The axes come back first, so that one division of few numbers does.
    count = keep_axes(count, shape, axes) if mask is not None else count
    center = lax.div(keep_axes(total, shape, axes), count)
  else:
    center = convert(array_of(mean), work)
  off = lax.sub(x, spread(name, center, shape))
  if is_kind(off, np.complexfloating):
    squares = lax.real(lax.mul(off, lax.conj(off)))
  else:
    squares = lax.square(off)
  total, count = masked_sum(name, squares, axes, mask)
  out = _divided(total, count, ddof)
  if root:  # before it is narrowed: of halves, the variance overflows sooner
    out = lax.sqrt(out)
  return finish(out, shape, axes, dtype, keepdims)


def _divided(total: Any, count: Any, ddof: Any) -> Any:
  """The sum over its degrees of freedom; nan where there are none."""
  aval = typeof(total)
  if isinstance(ddof, (int, float, np.number)) and isinstance(count, np.generic):
    left: Any = scalar(count.item() - ddof, aval.dtype)
    if left > 0:
      return lax.div(total, left)
    return lax.full(aval.shape, np.nan, aval.dtype)
  left = lax.sub(count, convert(array_of(ddof), aval.dtype))
  enough = lax.gt(left, scalar(0, aval.dtype))
  return choose(enough, lax.div(total, left), scalar(np.nan, aval.dtype))


@compiled(static=_STATIC)
def var(
    a: Any, axis: Axis = None, dtype: Any = None, out: None = None, ddof: int = 0,
    keepdims: bool = False, *, where: Any = None, mean: Any = None,
    correction: Any = None) -> Any:
  """Variance along axes: the mean of squared distances from the mean.

  Args:
    a: an array or number; of complex numbers the squared moduli are taken.
    axis: an axis or several; None for all.
    dtype: the dtype to compute in; by default that of `a`, or a float.
    out: not supported.
    ddof: what is taken off the number of elements before dividing by it.
    keepdims: whether reduced axes stay, with size 1.
    where: a boolean mask, broadcast to `a`: which elements to take.
    mean: the means, if they are known, with axes kept.
    correction: another name of `ddof`.

  >>> import gnomon.numpy as gnp
  >>> gnp.var(gnp.array([1.0, 3.0])).item()
  1.0

  Returns:
    The variance; nan where `ddof` leaves no elements.

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: an axis is out of range or repeated, the mask is not boolean, both `ddof`
      and `correction` are given, or the dtype is real and `a` is complex.
  """
  return variance(
      "var", a, axis, dtype, out, _freedom("var", ddof, correction), keepdims, where,
      mean)


@compiled(static=_STATIC)
def std(
    a: Any, axis: Axis = None, dtype: Any = None, out: None = None, ddof: int = 0,
    keepdims: bool = False, *, where: Any = None, mean: Any = None,
    correction: Any = None) -> Any:
  """Standard deviation along axes: the root of the variance.

  Args:
    a: an array or number.
    axis: an axis or several; None for all.
    dtype: the dtype to compute in; by default that of `a`, or a float.
    out: not supported.
    ddof: what is taken off the number of elements before dividing by it.
    keepdims: whether reduced axes stay, with size 1.
    where: a boolean mask, broadcast to `a`: which elements to take.
    mean: the means, if they are known, with axes kept.
    correction: another name of `ddof`.

  >>> import gnomon.numpy as gnp
  >>> gnp.std(gnp.array([1.0, 3.0])).item()
  1.0

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: as `var` does.
  """
  return variance(
      "std", a, axis, dtype, out, _freedom("std", ddof, correction), keepdims, where,
      mean, root=True)


@compiled(static=("axis", "dtype", "ddof", "keepdims"))
def nanvar(
    a: Any, axis: Axis = None, dtype: Any = None, out: None = None, ddof: int = 0,
    keepdims: bool = False, where: Any = None, mean: Any = None) -> Any:
  """Variance along axes of the elements that are not nan. See `var`.

  >>> import gnomon.numpy as gnp
  >>> gnp.nanvar(gnp.array([1.0, gnp.nan, 3.0])).item()
  1.0

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: as `var` does.
  """
  x, where = present("nanvar", a, where)
  return variance("nanvar", x, axis, dtype, out, ddof, keepdims, where, mean)


@compiled(static=("axis", "dtype", "ddof", "keepdims"))
def nanstd(
    a: Any, axis: Axis = None, dtype: Any = None, out: None = None, ddof: int = 0,
    keepdims: bool = False, where: Any = None, mean: Any = None) -> Any:
  """Standard deviation along axes of the elements that are not nan. See `std`.

  >>> import gnomon.numpy as gnp
  >>> gnp.nanstd(gnp.array([1.0, gnp.nan, 3.0])).item()
  1.0

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: as `var` does.
  """
  x, where = present("nanstd", a, where)
  return variance(
      "nanstd", x, axis, dtype, out, ddof, keepdims, where, mean, root=True)


def present(name: str, a: Any, where: Any) -> tuple[Any, Any]:
  """An array, nan in it replaced by 0, and the mask of its numbers within a mask."""
  x, _ = prepare(name, a, None, None)
  if where is not None:
    where = mask_of(name, where, typeof(x).shape)
  if not is_kind(x, np.inexact):
    return x, where
  numbers = lax.eq(x, x)
  x = choose(numbers, x, scalar(0, typeof(x).dtype))
  return x, numbers if where is None else lax.bitwise_and(numbers, where)
