"""The universal functions of NumPy that have methods, with their short ways."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.numpy import _arithmetic, _bitwise, _comparison, _exponents
from gnomon.numpy._promotion import canonical_axes, canonical_axis
from gnomon.numpy._ufunc import ufunc

_numpy: Any = sys.modules["gnomon.numpy"]  # complete by the time that a method is called


def _cumulative_by_name(name: str) -> Callable[..., Any]:
  """An accumulation of `gnomon.numpy`; a scalar counts as an array of one element."""
  def accumulation(a: Any, *, axis: int, dtype: Any) -> Any:
    return getattr(_numpy, name)(_numpy.atleast_1d(a), axis=axis, dtype=dtype)

  return accumulation


def _by_name(name: str) -> Callable[..., Any]:
  """A reduction of `gnomon.numpy`, looked up when it is called."""
  def reduction(a: Any, **kwargs: Any) -> Any:
    return getattr(_numpy, name)(a, **kwargs)

  return reduction


def _truth(name: str) -> Callable[..., Any]:
  """The reduction of truth values by `all` or `any`."""
  def reduction(
      a: Any, *, axis: Any, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    found = getattr(_numpy, name)(a, axis=axis, keepdims=keepdims, where=where)
    if initial is not None:
      combine = _bitwise.logical_and if name == "all" else _bitwise.logical_or
      found = combine(initial, found)
    return found if dtype is None else found.astype(dtype)

  return reduction


def _largest(name: str) -> Callable[..., Any]:
  """The reduction by `max` or `min`."""
  def reduction(a: Any, *, dtype: Any, **kwargs: Any) -> Any:
    if dtype is not None:
      a = _numpy.asarray(a).astype(dtype)
    return getattr(_numpy, name)(a, **kwargs)

  return reduction


def _bits(fun: Callable[..., Any], whole: Callable[..., Any], identity: int) -> Any:
  """The reduction of integers by one of lax."""
  def reduction(
      a: Any, *, axis: Any, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    a = _numpy.asarray(a, dtype=dtype)
    if fun is _bitwise.logical_xor:
      a = a.astype(bool)
    neutral = a.dtype.type(True if a.dtype == np.bool_ and identity else identity)
    if where is not None:
      a = _numpy.where(where, a, neutral)
    axes = canonical_axes(axis, a.ndim, "reduce")
    found = whole(a, axes)
    if initial is not None:
      found = fun(_numpy.asarray(initial, dtype=a.dtype), found)
    return _numpy.expand_dims(found, axes) if keepdims else found

  return reduction


def _cumulative(fun: Callable[..., Any]) -> Callable[..., Any]:
  """The accumulation by one of lax."""
  def accumulation(a: Any, *, axis: int, dtype: Any) -> Any:
    a = _numpy.atleast_1d(_numpy.asarray(a, dtype=dtype))
    return fun(a, axis=canonical_axis(axis, a.ndim, "accumulate"))

  return accumulation


def _scatter(method: str) -> Callable[..., Any]:
  """`at` by a method of `a.at[indices]`."""
  def at(a: Any, indices: Any, b: Any) -> Any:
    return getattr(a.at[indices], method)(b)

  return at


add = ufunc(
    _arithmetic.add, 2, 1, call=_arithmetic.add, identity=0, reduce=_by_name("sum"),
    accumulate=_cumulative_by_name("cumsum"), at=_scatter("add"))
subtract = ufunc(
    _arithmetic.subtract, 2, 1, call=_arithmetic.subtract, at=_scatter("subtract"))
multiply = ufunc(
    _arithmetic.multiply, 2, 1, call=_arithmetic.multiply, identity=1,
    reduce=_by_name("prod"), accumulate=_cumulative_by_name("cumprod"),
    at=_scatter("multiply"))
negative = ufunc(_arithmetic.negative, 1, 1, call=_arithmetic.negative)
bitwise_and = ufunc(
    _bitwise.bitwise_and, 2, 1, call=_bitwise.bitwise_and, identity=-1,
    reduce=_bits(_bitwise.bitwise_and, lax.reduce_and, -1))
bitwise_or = ufunc(
    _bitwise.bitwise_or, 2, 1, call=_bitwise.bitwise_or, identity=0,
    reduce=_bits(_bitwise.bitwise_or, lax.reduce_or, 0))
bitwise_xor = ufunc(
    _bitwise.bitwise_xor, 2, 1, call=_bitwise.bitwise_xor, identity=0,
    reduce=_bits(_bitwise.bitwise_xor, lax.reduce_xor, 0))
logical_and = ufunc(
    _bitwise.logical_and, 2, 1, call=_bitwise.logical_and, identity=True,
    reduce=_truth("all"))
logical_or = ufunc(
    _bitwise.logical_or, 2, 1, call=_bitwise.logical_or, identity=False,
    reduce=_truth("any"))
logical_xor = ufunc(
    _bitwise.logical_xor, 2, 1, call=_bitwise.logical_xor, identity=False,
    reduce=_bits(_bitwise.logical_xor, lax.reduce_xor, 0))
logaddexp = ufunc(
    _exponents.logaddexp, 2, 1, call=_exponents.logaddexp, identity=-np.inf)
logaddexp2 = ufunc(
    _exponents.logaddexp2, 2, 1, call=_exponents.logaddexp2, identity=-np.inf)
maximum = ufunc(
    _comparison.maximum, 2, 1, call=_comparison.maximum, reduce=_largest("max"),
    accumulate=_cumulative(lax.cummax), at=_scatter("max"))
minimum = ufunc(
    _comparison.minimum, 2, 1, call=_comparison.minimum, reduce=_largest("min"),
    accumulate=_cumulative(lax.cummin), at=_scatter("min"))
