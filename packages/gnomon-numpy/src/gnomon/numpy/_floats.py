"""Elementwise functions of NumPy: the parts and the special values of floats."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon import custom_jvp, lax
from gnomon.core import dtypes
from gnomon.core.structural import select_n
from gnomon.core.types import typeof
from gnomon.numpy._arithmetic import refuse_complex, same_shape
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import (
  as_type,
  broadcast_shapes,
  check_arraylike,
  promote_args,
  promote_args_inexact,
  promote_shapes,
  weak_if_all_are,
)
from gnomon.numpy._rounding import refuse_out, trunc
from gnomon.numpy._values import is_kind, spread

# ---- tests -------------------------------------------------------------------------


@compiled()
def isnan(x: Any, /) -> Any:
  """Whether elements are nan; of complex numbers, either part.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.isnan(gnp.nan).item()
  True

  Raises:
    TypeError: `x` is no array and no number.
  """
  (x,) = promote_args("isnan", x)
  return lax.ne(x, x)


@compiled()
def isinf(x: Any, /) -> Any:
  """Whether elements are infinite; of complex numbers, either part.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.isinf(-gnp.inf).item()
  True

  Raises:
    TypeError: `x` is no array and no number.
  """
  (x,) = promote_args("isinf", x)
  if is_kind(x, np.complexfloating):
    return lax.bitwise_or(_is_infinite(lax.real(x)), _is_infinite(lax.imag(x)))
  if is_kind(x, np.floating):
    return _is_infinite(x)
  return lax.full_like(x, False, np.bool_)


def _is_infinite(x: Any) -> Any:
  if not dtypes.supports_inf(typeof(x).dtype):
    return lax.full_like(x, False, np.bool_)
  return lax.eq(lax.abs(x), float("inf"))


@compiled()
def isfinite(x: Any, /) -> Any:
  """Whether elements are neither infinite nor nan; of complex numbers, both parts.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.isfinite(gnp.inf).item()
  False

  Raises:
    TypeError: `x` is no array and no number.
  """
  (x,) = promote_args("isfinite", x)
  if is_kind(x, np.complexfloating):
    return lax.bitwise_and(lax.is_finite(lax.real(x)), lax.is_finite(lax.imag(x)))
  if is_kind(x, np.floating):
    return lax.is_finite(x)
  return lax.full_like(x, True, np.bool_)


@compiled(static=("out",))
def isposinf(x: Any, /, out: None = None) -> Any:
  """Whether elements are plus infinity.

  Args:
    x: array or number, not complex.
    out: not supported.

  >>> import gnomon.numpy as gnp
  >>> gnp.isposinf(-gnp.inf).item()
  False

  Raises:
    TypeError: `x` is no array and no number.
    ValueError: `x` is complex.
    NotImplementedError: `out` is given.
  """
  return _is_infinity("isposinf", x, float("inf"), out)


@compiled(static=("out",))
def isneginf(x: Any, /, out: None = None) -> Any:
  """Whether elements are minus infinity.

  Args:
    x: array or number, not complex.
    out: not supported.

  >>> import gnomon.numpy as gnp
  >>> gnp.isneginf(-gnp.inf).item()
  True

  Raises:
    TypeError: `x` is no array and no number.
    ValueError: `x` is complex.
    NotImplementedError: `out` is given.
  """
  return _is_infinity("isneginf", x, -float("inf"), out)


def _is_infinity(name: str, x: Any, infinity: float, out: None) -> Any:
  refuse_out(name, out)
  (x,) = promote_args(name, x)
  refuse_complex(name, x, error=ValueError)
  if is_kind(x, np.floating) and dtypes.supports_inf(typeof(x).dtype):
    return lax.eq(x, infinity)
  return lax.full_like(x, False, np.bool_)


@compiled()
def signbit(x: Any, /) -> Any:
  """Whether the sign bit is set: of negative numbers, of -0.0, of some nan.

  Args:
    x: array or number, not complex.

  >>> import gnomon.numpy as gnp
  >>> gnp.signbit(-0.0).item()
  True

  Raises:
    TypeError: `x` is no array and no number.
    ValueError: `x` is complex.
  """
  (x,) = promote_args("signbit", x)
  refuse_complex("signbit", x, error=ValueError)
  if is_kind(x, np.floating):
    x = _bits(x)
  if is_kind(x, np.signedinteger):
    return lax.lt(x, 0)
  return lax.full_like(x, False, np.bool_)


def _bits(x: Any) -> Any:
  """The bits of floats as a signed integer of their size."""
  bits = dtypes.itemsize_bits(typeof(x).dtype)
  return lax.bitcast_convert_type(x, np.dtype(f"int{bits}"))


# ---- parts -------------------------------------------------------------------------


@compiled()
def copysign(x1: Any, x2: Any, /) -> Any:
  """The absolute value of `x1` with the sign of `x2`, elementwise, in floating point.

  Args:
    x1: array or number, not complex.
    x2: array or number, not complex; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.copysign(3, -0.0).item()
  -3.0

  Raises:
    TypeError: an argument is complex, or no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  x1, x2 = promote_args_inexact("copysign", x1, x2)
  refuse_complex("copysign", x1, x2)
  x1, x2 = same_shape(x1, x2)
  size = lax.abs(x1)
  return select_n(signbit(x2), size, lax.neg(size))


@compiled()
def nextafter(x: Any, y: Any, /) -> Any:
  """The next number after `x` in the direction of `y`, elementwise.

  Args:
    x: array or number, not complex.
    y: array or number, not complex; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.nextafter(gnp.float32(1), 2).item() == 1 + 2 ** -23
  True

  Raises:
    TypeError: an argument is complex, or no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  return lax.nextafter(*promote_args_inexact("nextafter", x, y))


@compiled()
def spacing(x: Any, /) -> Any:
  """The distance to the next number away from zero, with the sign of `x`, elementwise.

  Args:
    x: array or number, not complex.

  >>> import gnomon.numpy as gnp
  >>> gnp.spacing(gnp.float32(1)).item() == 2 ** -23
  True

  Raises:
    TypeError: `x` is no array and no number.
    ValueError: `x` is complex.
  """
  (x,) = promote_args_inexact("spacing", x)
  refuse_complex("spacing", x, error=ValueError)
  dtype = typeof(x).dtype
  digits = dtypes.finfo(dtype).nmant
  bits = _bits(x)
  # Made of bits: differences of numbers near zero would be flushed to zero.
  exponent = lax.bitwise_and(
      lax.shift_right_logical(bits, digits), _exponent_mask(dtype))
  normal = lax.shift_left(lax.max(lax.sub(exponent, digits), 0), digits)
  tiny = lax.shift_left(
      lax.full_like(bits, 1), lax.clamp(0, lax.sub(exponent, 1), digits))
  size = lax.bitcast_convert_type(
      select_n(lax.gt(exponent, digits), tiny, normal), dtype)
  size = select_n(lax.lt(bits, 0), size, lax.neg(size))
  return select_n(lax.is_finite(x), lax.full_like(x, float("nan")), size)


def _exponent_mask(dtype: Any) -> int:
  info = dtypes.finfo(dtype)
  return int((1 << (info.bits - info.nmant - 1)) - 1)


@compiled()
def ldexp(x1: Any, x2: Any, /) -> Any:
  """Product of `x1` with 2 to the power `x2`, elementwise.

  Args:
    x1: array or number, not complex.
    x2: array of integers, or an integer; shapes are broadcast.

  >>> import gnomon.numpy as gnp
  >>> gnp.ldexp(0.75, 3).item()
  6.0

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: `x1` is complex, `x2` is not integer, or the shapes cannot be broadcast.
  """
  check_arraylike("ldexp", x1, x2)
  if is_kind(x1, np.complexfloating) or not (
      is_kind(x2, np.integer) or is_kind(x2, np.bool_)):
    raise ValueError(
        f"ldexp multiplies real numbers by a power of two with an integer exponent; got "
        f"dtypes {typeof(x1).dtype} and {typeof(x2).dtype}")
  (x1,) = promote_args_inexact("ldexp", x1)
  x1 = as_type(x1, typeof(x1).dtype, False)
  x2 = as_type(x2, np.dtype(np.int32), False)
  return _scale(*same_shape(*promote_shapes("ldexp", x1, x2)))


def _scale(x: Any, n: Any) -> Any:
  """X 2^n, in three steps: one power of two of every exponent there is has no float."""
  dtype = typeof(x).dtype
  info = dtypes.finfo(dtype)
  bias = info.maxexp - 1
  n = lax.clamp(3 - 3 * bias, n, 3 * bias)
  n = lax.convert_element_type(n, np.dtype(f"int{dtypes.itemsize_bits(dtype)}"))
  third = lax.div(n, 3)
  for part in (third, third, lax.sub(n, lax.mul(third, 2))):
    bits = lax.shift_left(lax.add(part, bias), int(info.nmant))
    x = lax.mul(x, lax.bitcast_convert_type(bits, dtype))
  return x


@compiled()
def frexp(x: Any, /) -> Any:
  """The mantissa in [0.5, 1) and the exponent of 2, elementwise, as a pair.

  Args:
    x: array or number, not complex. Zeros, infinities and nan have the exponent 0.

  >>> import gnomon.numpy as gnp
  >>> [part.item() for part in gnp.frexp(6.0)]
  [0.75, 3]

  Raises:
    TypeError: `x` is complex, or no array and no number.
  """
  (x,) = promote_args_inexact("frexp", x)
  refuse_complex("frexp", x)
  dtype = typeof(x).dtype
  x = as_type(x, dtype, False)
  info = dtypes.finfo(dtype)
  size = lax.bitwise_and(_bits(x), int(np.iinfo(f"int{info.bits}").max))
  stored = lax.convert_element_type(lax.shift_right_logical(size, info.nmant), np.int32)
  leading = lax.convert_element_type(lax.clz(size), np.int32)
  subnormal = lax.sub(info.bits - info.nmant, leading)
  exponent = select_n(lax.eq(stored, 0), stored, subnormal)
  exponent = lax.sub(exponent, info.maxexp - 2)
  plain = lax.bitwise_and(lax.ne(size, 0), lax.is_finite(x))
  exponent = select_n(plain, lax.full_like(exponent, 0), exponent)
  return _scale(x, lax.neg(exponent)), exponent


@compiled(static=("out",))
def modf(x: Any, /, out: None = None) -> Any:
  """The part after the point and the integer before it, elementwise, as a pair.

  Args:
    x: array or number, not complex. Both parts have its sign.
    out: not supported.

  >>> import gnomon.numpy as gnp
  >>> [part.item() for part in gnp.modf(-1.5)]
  [-0.5, -1.0]

  Raises:
    TypeError: `x` is complex, or no array and no number.
    NotImplementedError: `out` is given.
  """
  refuse_out("modf", out)
  (x,) = promote_args_inexact("modf", x)
  refuse_complex("modf", x)
  whole = trunc(x)
  part = select_n(lax.is_finite(x), lax.full_like(x, 0), lax.sub(x, whole))
  part = select_n(lax.ne(x, x), part, x)
  return copysign(part, x), whole


# ---- values ------------------------------------------------------------------------


@compiled()
def heaviside(x1: Any, x2: Any, /) -> Any:
  """0 below zero, 1 above it, and `x2` at zero, elementwise; nan stays nan.

  Args:
    x1: array or number, not complex.
    x2: array or number, not complex; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> [gnp.heaviside(x, 0.5).item() for x in (-2, 0, 2)]
  [0.0, 0.5, 1.0]

  Raises:
    TypeError: an argument is complex, or no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  x1, x2 = weak_if_all_are((x1,), *promote_args_inexact("heaviside", x1, x2))
  refuse_complex("heaviside", x1, x2)
  x1, x2 = same_shape(x1, x2)
  step = as_type(lax.gt(x1, 0.0), typeof(x1).dtype, typeof(x1).weak_type)
  value = select_n(lax.eq(x1, 0.0), step, x2)
  return select_n(lax.ne(x1, x1), value, x1)


@compiled()
def hypot(x1: Any, x2: Any, /) -> Any:
  """The length of the hypotenuse, sqrt(x1**2 + x2**2), elementwise, without overflow.

  Infinite if either is infinite, even if the other is nan.

  Args:
    x1: array or number, not complex.
    x2: array or number, not complex; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.hypot(3, 4).item()
  5.0

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: an argument is complex, or the shapes cannot be broadcast.
  """
  sides = weak_if_all_are((x1, x2), *promote_args_inexact("hypot", x1, x2))
  if is_kind(sides[0], np.complexfloating):
    raise ValueError(
        "jnp.hypot is not well defined for complex-valued inputs: take moduli first, "
        "abs(x)")
  return _hypot(*same_shape(*sides))


@custom_jvp
def _hypot(x: Any, y: Any) -> Any:
  x, y = lax.abs(x), lax.abs(y)
  larger, smaller = lax.max(x, y), lax.min(x, y)
  ratio = lax.div(smaller, select_n(lax.eq(larger, 0.0), larger, lax.full_like(x, 1)))
  length = lax.mul(larger, lax.sqrt(lax.add(lax.square(ratio), 1.0)))
  infinity = lax.full_like(x, float("inf"))
  infinite = lax.bitwise_or(lax.eq(x, infinity), lax.eq(y, infinity))
  return select_n(infinite, length, infinity)


@_hypot.defjvp
def _(primals: Any, tangents: Any) -> Any:
  (x, y), (tx, ty) = primals, tangents
  length = _hypot(x, y)
  return length, lax.add(
      lax.mul(tx, _cosine(x, length)), lax.mul(ty, _cosine(y, length)))


def _cosine(side: Any, length: Any) -> Any:
  """How fast a hypotenuse grows with a side; from nothing not at all."""
  empty = lax.eq(length, 0.0)
  ratio = lax.div(side, select_n(empty, length, lax.full_like(length, 1)))
  return select_n(lax.eq(lax.abs(side), float("inf")), ratio, lax.sign(side))


@compiled(static=("copy",))
def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None,
               neginf: Any = None) -> Any:
  """Replaces nan and infinities by numbers; of complex numbers, in each part.

  Args:
    x: array or number.
    copy: no effect: arrays are immutable.
    nan: what to put for nan.
    posinf: what to put for infinity; None: the largest number of the dtype.
    neginf: what to put for minus infinity; None: the smallest number of the dtype.

  >>> import gnomon.numpy as gnp
  >>> gnp.nan_to_num(gnp.array([gnp.nan, gnp.inf, 1.0]), posinf=9.0).tolist()
  [0.0, 9.0, 1.0]

  Raises:
    TypeError: `x` is no array and no number.
  """
  del copy
  (x,) = promote_args("nan_to_num", x)
  if is_kind(x, np.complexfloating):
    return lax.complex(*(
        _finite(part, nan, posinf, neginf) for part in (lax.real(x), lax.imag(x))))
  if not is_kind(x, np.floating):
    return x
  return _finite(x, nan, posinf, neginf)


def _finite(x: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
  aval = typeof(x)
  info = dtypes.finfo(aval.dtype)

  def put(where: Any, value: Any, x: Any) -> Any:
    value = as_type(value, aval.dtype, False)
    x = as_type(x, aval.dtype, False)
    parts = (where, x, value)
    shape = broadcast_shapes("nan_to_num", *[typeof(a).shape for a in parts])
    return select_n(*[spread("nan_to_num", a, shape) for a in parts])

  infinite = dtypes.supports_inf(aval.dtype)
  result = put(lax.ne(x, x), nan, x)
  if infinite:
    high = info.max if posinf is None else posinf
    low = info.min if neginf is None else neginf
    result = put(lax.eq(x, float("inf")), high, result)
    result = put(lax.eq(x, -float("inf")), low, result)
  return result


@compiled()
def i0(x: Any) -> Any:
  """The modified Bessel function of the first kind and order zero, elementwise.

  Args:
    x: array or number, not complex.

  >>> import gnomon.numpy as gnp
  >>> round(gnp.i0(1).item(), 4)
  1.2661

  Raises:
    TypeError: `x` is no array and no number.
    ValueError: `x` is complex.
  """
  (x,) = promote_args_inexact("i0", x)
  refuse_complex("i0", x, error=ValueError)
  return _i0(x)


@custom_jvp
def _i0(x: Any) -> Any:
  x = lax.abs(x)
  return lax.mul(lax.exp(x), lax.bessel_i0e(x))


@_i0.defjvp
def _(primals: Any, tangents: Any) -> Any:
  (x,), (t,) = primals, tangents
  return _i0(x), lax.mul(t, lax.mul(lax.exp(lax.abs(x)), lax.bessel_i1e(x)))
