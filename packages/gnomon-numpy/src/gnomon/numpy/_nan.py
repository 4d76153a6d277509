"""Reductions of the elements that are not nan."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core.structural import convert, select_n
from gnomon.core.types import typeof
from gnomon.numpy import _reductions
from gnomon.numpy._compiled import compiled
from gnomon.numpy._cumulative import cumprod, cumsum
from gnomon.numpy._reductions import (
  Axis,
  bottom,
  common_inexact,
  finish,
  masked_sum,
  prepare,
  wide,
)
from gnomon.numpy._values import (
  asked_dtype,
  choose,
  is_kind,
  is_nan,
  mask_of,
  one_array,
  scalar,
)
from gnomon.numpy._variance import present

_SHAPE = ("axis", "keepdims")
_DTYPE = (*_SHAPE, "dtype")


def _without_nan(name: str, a: Any, value: Any) -> Any:
  """An array with its nans replaced by a value."""
  x = one_array(name, a)
  if not is_kind(x, np.inexact):
    return x
  return choose(lax.eq(x, x), x, scalar(value, typeof(x).dtype))


def _mask(name: str, x: Any, where: Any) -> Any:
  return None if where is None else mask_of(name, where, typeof(x).shape)


@compiled(static=_DTYPE)
def nansum(
    a: Any, axis: Axis = None, dtype: Any = None, out: None = None,
    keepdims: bool = False,
    initial: Any = None, where: Any = None) -> Any:
  """Sum of the elements along axes that are not nan. See `sum`.

  >>> import gnomon.numpy as gnp
  >>> gnp.nansum(gnp.array([1.0, gnp.nan, 3.0])).item()
  4.0

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: an axis is out of range or repeated, or the mask is not boolean.
  """
  x = _without_nan("nansum", a, 0)
  where = _mask("nansum", x, where)
  return _reductions.sum(x, axis, dtype, out, keepdims, initial, where)


@compiled(static=_DTYPE)
def nanprod(
    a: Any, axis: Axis = None, dtype: Any = None, out: None = None,
    keepdims: bool = False,
    initial: Any = None, where: Any = None) -> Any:
  """Product of the elements along axes that are not nan. See `prod`.

  >>> import gnomon.numpy as gnp
  >>> gnp.nanprod(gnp.array([2.0, gnp.nan, 3.0])).item()
  6.0

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: an axis is out of range or repeated, or the mask is not boolean.
  """
  x = _without_nan("nanprod", a, 1)
  where = _mask("nanprod", x, where)
  return _reductions.prod(x, axis, dtype, out, keepdims, initial, where)


def _nan_extreme(
    find: Any, a: Any, axis: Axis, out: Any, keepdims: bool, initial: Any, where: Any,
    name: str) -> Any:
  x, axes = prepare(name, a, axis, out)
  where = _mask(name, x, where)
  if not is_kind(x, np.inexact):
    return find(x, axis, None, keepdims, initial, where)
  filled = _without_nan(name, x, bottom(typeof(x).dtype, highest=name == "nanmin"))
  best = find(filled, axis, None, keepdims, initial, where)
  if initial is not None:
    return best
  none = finish(lax.reduce_and(is_nan(x), axes), typeof(x).shape, axes, np.dtype(bool),
                keepdims)
  nans = lax.full(typeof(best).shape, np.nan, typeof(best).dtype)
  return select_n(none, best, nans)


@compiled(static=_SHAPE)
def nanmax(
    a: Any, axis: Axis = None, out: None = None, keepdims: bool = False,
    initial: Any = None,
    where: Any = None) -> Any:
  """Largest element along axes that is not nan; nan if all are. See `max`.

  >>> import gnomon.numpy as gnp
  >>> gnp.nanmax(gnp.array([1.0, gnp.nan, 3.0])).item()
  3.0

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: there is nothing to reduce, an axis is out of range or repeated.
  """
  return _nan_extreme(
      _reductions.max, a, axis, out, keepdims, initial, where, "nanmax")


@compiled(static=_SHAPE)
def nanmin(
    a: Any, axis: Axis = None, out: None = None, keepdims: bool = False,
    initial: Any = None,
    where: Any = None) -> Any:
  """Smallest element along axes that is not nan; nan if all are. See `min`.

  >>> import gnomon.numpy as gnp
  >>> gnp.nanmin(gnp.array([1.0, gnp.nan, 3.0])).item()
  1.0

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: there is nothing to reduce, an axis is out of range or repeated.
  """
  return _nan_extreme(
      _reductions.min, a, axis, out, keepdims, initial, where, "nanmin")


@compiled(static=_DTYPE)
def nanmean(
    a: Any, axis: Axis = None, dtype: Any = None, out: None = None,
    keepdims: bool = False,
    where: Any = None) -> Any:
  """Mean of the elements along axes that are not nan. See `mean`.

  >>> import gnomon.numpy as gnp
  >>> gnp.nanmean(gnp.array([1.0, gnp.nan, 3.0])).item()
  2.0

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: an axis is out of range or repeated, or the mask is not boolean.
  """
  x, axes = prepare("nanmean", a, axis, out)
  shape = typeof(x).shape
  if not is_kind(x, np.inexact):
    return _reductions.mean(x, axis, dtype, None, keepdims, where=where)
  dtype = typeof(x).dtype if dtype is None else asked_dtype(dtype, "nanmean")
  work = wide(common_inexact(typeof(x).dtype, dtype))
  x, numbers = present("nanmean", x, where)
  total, count = masked_sum("nanmean", convert(x, work), axes, numbers)
  return finish(lax.div(total, count), shape, axes, dtype, keepdims)


@compiled(static=("axis", "dtype"))
def nancumsum(a: Any, axis: int | None = None, dtype: Any = None,
    out: None = None) -> Any:
  """Sums of all elements up to each one, nan counting as 0. See `cumsum`.

  >>> import gnomon.numpy as gnp
  >>> gnp.nancumsum(gnp.array([1.0, gnp.nan, 3.0])).tolist()
  [1.0, 1.0, 4.0]

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: the axis is out of range.
  """
  return cumsum(_without_nan("nancumsum", a, 0), axis, dtype, out)


@compiled(static=("axis", "dtype"))
def nancumprod(a: Any, axis: int | None = None, dtype: Any = None,
    out: None = None) -> Any:
  """Products of all elements up to each one, nan counting as 1. See `cumprod`.

  >>> import gnomon.numpy as gnp
  >>> gnp.nancumprod(gnp.array([2.0, gnp.nan, 3.0])).tolist()
  [2.0, 2.0, 6.0]

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: the axis is out of range.
  """
  return cumprod(_without_nan("nancumprod", a, 1), axis, dtype, out)
