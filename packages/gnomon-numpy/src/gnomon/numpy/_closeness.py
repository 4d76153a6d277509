"""Whether arrays are equal, or close to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.structural import convert
from gnomon.core.types import typeof
from gnomon.numpy import _promotion
from gnomon.numpy._compiled import compiled
from gnomon.numpy._conversion import asarray
from gnomon.numpy._promotion import promote_args, promote_dtypes
from gnomon.numpy._values import array_of, is_kind, is_nan, spread, typed


@compiled(static=("equal_nan",))
def isclose(
    a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
  """Whether elements differ by no more than `atol + rtol * abs(b)`.

  Infinities are close to themselves only.

  Args:
    a: an array or number; shapes are broadcast.
    b: the same.
    rtol: the tolerance relative to `b`.
    atol: the absolute tolerance.
    equal_nan: whether nan is close to nan.

  >>> import gnomon.numpy as gnp
  >>> gnp.isclose(gnp.array([1.0, 2.0]), gnp.array([1.0, 2.1])).tolist()
  [True, False]

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  return _close("isclose", a, b, rtol, atol, equal_nan)


def _close(name: str, a: Any, b: Any, rtol: Any, atol: Any, equal_nan: bool) -> Any:
  x, y = [array_of(z) for z in promote_args(name, a, b)]
  shape = _promotion.broadcast_shapes(name, typeof(x).shape, typeof(y).shape)
  x, y = spread(name, x, shape), spread(name, y, shape)
  if is_kind(x, np.bool_) or not isinstance(typeof(x).dtype, np.dtype):  # random keys
    return lax.eq(x, y)
  if is_kind(x, np.integer):
    return _close_integers(name, x, y, rtol, atol)
  own = typeof(x).dtype
  real = np.finfo(own).dtype if is_kind(x, np.complexfloating) else own
  rtol, atol = _tolerance(name, rtol, real, shape), _tolerance(name, atol, real, shape)
  near = lax.le(lax.abs(lax.sub(x, y)), lax.add(atol, lax.mul(rtol, lax.abs(y))))
  if real != own:
    finite = lax.bitwise_and(lax.is_finite(lax.real(y)), lax.is_finite(lax.imag(y)))
  else:
    finite = lax.is_finite(y)
  out = lax.bitwise_or(lax.eq(x, y), lax.bitwise_and(finite, near))
  if equal_nan:
    out = lax.bitwise_or(out, lax.bitwise_and(is_nan(x), is_nan(y)))
  return out


def _tolerance(name: str, value: Any, dtype: Any, shape: tuple[int, ...]) -> Any:
  out = typed(name, value, dtype)
  return out if not typeof(out).ndim else spread(name, out, shape)


def _close_integers(name: str, x: Any, y: Any, rtol: Any, atol: Any) -> Any:
  """Integers may differ by more than their dtype holds: they are compared unsigned."""
  aval = typeof(x)
  bits = dtypes.itemsize_bits(aval.dtype)
  unsigned = np.dtype(f"uint{max(bits, 8)}")
  high, low = convert(lax.max(x, y), unsigned), convert(lax.min(x, y), unsigned)
  real = dtypes.default_float_dtype()
  rtol = _tolerance(name, rtol, real, aval.shape)
  atol = _tolerance(name, atol, real, aval.shape)
  gap = convert(lax.sub(high, low), real)
  size = lax.abs(convert(y, real))
  near = lax.le(gap, lax.add(atol, lax.mul(rtol, size)))
  return lax.bitwise_or(lax.eq(x, y), near)


@compiled(static=("equal_nan",))
def allclose(
    a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
  """Whether all elements differ by no more than `atol + rtol * abs(b)`. See `isclose`.

  Args:
    a: an array or number; shapes are broadcast.
    b: the same.
    rtol: the tolerance relative to `b`.
    atol: the absolute tolerance.
    equal_nan: whether nan is close to nan.

  >>> import gnomon.numpy as gnp
  >>> bool(gnp.allclose(gnp.array([1.0, 2.0]), gnp.array([1.0, 2.1])))
  False

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  out = _close("allclose", a, b, rtol, atol, equal_nan)
  return lax.reduce_and(out, tuple(range(typeof(out).ndim)))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
  """Whether two arrays have one shape and equal elements.

  Args:
    a1: an array, a number, or nested sequences of numbers.
    a2: the same.
    equal_nan: whether nan equals nan.

  >>> import gnomon.numpy as gnp
  >>> bool(gnp.array_equal(gnp.arange(2), [0, 1]))
  True

  Returns:
    A boolean; False for what is no array.
  """
  return _array_equal(a1, a2, equal_nan, broadcast=False)


def array_equiv(a1: Any, a2: Any) -> Any:
  """Whether two arrays, broadcast together, have equal elements.

  Args:
    a1: an array, a number, or nested sequences of numbers.
    a2: the same.

  >>> import gnomon.numpy as gnp
  >>> bool(gnp.array_equiv(gnp.ones((2, 2)), 1))
  True

  Returns:
    A boolean; False where shapes do not broadcast, and for what is no array.
  """
  return _array_equal(a1, a2, equal_nan=False, broadcast=True)


def _array_equal(a1: Any, a2: Any, equal_nan: bool, *, broadcast: bool) -> Any:
  try:
    x, y = asarray(a1), asarray(a2)
  except (TypeError, ValueError):
    return array_of(np.bool_(False))
  return _equal(x, y, equal_nan, broadcast)


@compiled(static=("equal_nan", "broadcast"))
def _equal(x: Any, y: Any, equal_nan: bool, broadcast: bool) -> Any:
  shapes = (typeof(x).shape, typeof(y).shape)
  if broadcast:
    try:
      shape = _promotion.broadcast_shapes("array_equiv", *shapes)
    except ValueError:
      return array_of(np.bool_(False))
    x, y = (spread("array_equiv", z, shape) for z in (x, y))
  elif shapes[0] != shapes[1]:
    return array_of(np.bool_(False))
  x, y = [array_of(z) for z in promote_dtypes(x, y)]
  out = lax.eq(x, y)
  if equal_nan and is_kind(x, np.inexact):
    out = lax.bitwise_or(out, lax.bitwise_and(is_nan(x), is_nan(y)))
  return lax.reduce_and(out, tuple(range(typeof(out).ndim)))


