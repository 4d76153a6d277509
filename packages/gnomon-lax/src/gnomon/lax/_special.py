"""Elementwise primitives: error functions, the gamma function, Bessel functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.stage import trace_to_closed
from gnomon.core.structural import convert, full, select_n
from gnomon.core.types import ShapedArray, typeof
from gnomon.lax._arithmetic import add, div, mul, neg, square, sub
from gnomon.lax._comparison import eq, le
from gnomon.lax._complex import abs, sign
from gnomon.lax._exponential import exp
from gnomon.lax._families import FLOAT, binary, operands, unary
from gnomon.lax._power import rsqrt
from gnomon.lax._strong import times


def erf(x: Any) -> Any:
  r"""Error function, elementwise: :math:`\frac{2}{\sqrt\pi} \int_0^x e^{-t^2} dt`.

  Args:
    x: floating-point array.

  >>> from gnomon import lax
  >>> float(lax.erf(0.0))
  0.0

  Raises:
    TypeError: `x` is not floating-point.
  """
  return erf_p.apply(x)[0]


def _bell(x: Any, scale: float) -> Any:
  return mul(exp(neg(square(x))), scale)


erf_p = unary(
    "erf", FLOAT, "chlo.erf",
    lambda t, ans, x: times(t, _bell(x, 2 / math.sqrt(math.pi))))


def erfc(x: Any) -> Any:
  r"""Complement of the error function, elementwise: :math:`1 - \mathrm{erf}(x)`.

  It is exact where the error function is close to 1.

  Args:
    x: floating-point array.

  >>> from gnomon import lax
  >>> float(lax.erfc(0.0))
  1.0

  Raises:
    TypeError: `x` is not floating-point.
  """
  return erfc_p.apply(x)[0]


erfc_p = unary(
    "erfc", FLOAT, "chlo.erfc",
    lambda t, ans, x: times(t, _bell(x, -2 / math.sqrt(math.pi))))


def erf_inv(x: Any) -> Any:
  """Inverse of the error function, elementwise; nan outside of [-1, 1].

  Args:
    x: floating-point array.

  >>> from gnomon import lax
  >>> float(lax.erf_inv(0.0))
  0.0

  Raises:
    TypeError: `x` is not floating-point.
  """
  return erf_inv_p.apply(x)[0]


erf_inv_p = unary(
    "erf_inv", FLOAT, "chlo.erf_inv",
    lambda t, ans, x: times(t, mul(exp(square(ans)), math.sqrt(math.pi) / 2)))


def lgamma(x: Any) -> Any:
  r"""Logarithm of the modulus of the gamma function, elementwise.

  It is inf at the poles: zero and the negative integers.

  Args:
    x: floating-point array.

  >>> from gnomon import lax
  >>> round(float(lax.lgamma(3.0)), 4)
  0.6931

  Raises:
    TypeError: `x` is not floating-point.
  """
  return lgamma_p.apply(x)[0]


lgamma_p = unary("lgamma", FLOAT, "chlo.lgamma", lambda t, ans, x: times(t, digamma(x)))


def digamma(x: Any) -> Any:
  r"""Derivative of `lgamma`, elementwise; nan at its poles.

  Args:
    x: floating-point array.

  >>> from gnomon import lax
  >>> round(float(lax.digamma(1.0)), 4)
  -0.5772

  Raises:
    TypeError: `x` is not floating-point.
  """
  return digamma_p.apply(x)[0]


digamma_p = unary(
    "digamma", FLOAT, "chlo.digamma", lambda t, ans, x: times(t, polygamma(1.0, x)))


def polygamma(m: Any, x: Any) -> Any:
  r"""Derivative of order `m` of `digamma`, elementwise.

  Args:
    m: floating-point array of integers that are not negative (nan elsewhere).
    x: array of the same dtype and of the same shape, or a scalar.

  >>> from gnomon import lax
  >>> round(float(lax.polygamma(1.0, 1.0)), 4)
  1.6449

  Raises:
    TypeError: dtypes differ or are not floating-point, or shapes differ.
    ValueError: it is differentiated with respect to `m`.
  """
  return polygamma_p.apply(*operands(m, x))[0]


def no_derivative_in(name: str, of: str) -> Callable[..., Any]:
  def fail(*_: Any) -> Any:
    raise ValueError(
        f"{name} has no derivative with respect to {of}; if none is needed there, wrap "
        "that argument in lax.stop_gradient")
  return fail


polygamma_p = binary(
    "polygamma", FLOAT, "chlo.polygamma", no_derivative_in("polygamma", "its order m"),
    lambda t, ans, m, x: times(t, polygamma(add(m, 1.0), x)))


def zeta(x: Any, q: Any) -> Any:
  r"""Hurwitz's zeta function, elementwise: :math:`\sum_{k=0}^\infty (k + q)^{-x}`.

  Args:
    x: floating-point array: the exponent, above 1 (inf at 1, nan below).
    q: array of the same dtype and of the same shape, or a scalar.

  >>> from gnomon import lax
  >>> round(float(lax.zeta(2.0, 1.0)), 4)
  1.6449

  Raises:
    TypeError: dtypes differ or are not floating-point, or shapes differ.
    ValueError: it is differentiated with respect to `x`.
  """
  return zeta_p.apply(*operands(x, q))[0]


zeta_p = binary(
    "zeta", FLOAT, "chlo.zeta", no_derivative_in("zeta", "its exponent x"),
    lambda t, ans, x, q: times(t, mul(neg(x), zeta(add(x, 1.0), q))))


def composed(f: Callable[..., Any]) -> Callable[..., Any]:
  """A lowering that emits a function of arrays of one shape, at least in float32."""
  @lru_cache(maxsize=256)
  def program(shape: tuple[int, ...], dtype: Any, n: int) -> Any:
    work = dtype if dtype.itemsize >= 4 else np.dtype("float32")

    def widened(*xs: Any) -> list[Any]:
      return [convert(f(*[convert(x, work) for x in xs]), dtype)]

    return trace_to_closed(widened, [ShapedArray(shape, dtype)] * n)

  def emit(ctx: Any, *values: Any) -> Any:
    out = ctx.avals_out[0]
    return ctx.inline(program(out.shape, out.dtype, len(values)), values)[0]

  return emit


def bessel_i0e(x: Any) -> Any:
  r"""Scaled modified Bessel function of order 0, elementwise: :math:`e^{-|x|} I_0(x)`.

  Args:
    x: floating-point array.

  >>> from gnomon import lax
  >>> round(float(lax.bessel_i0e(0.0)), 5)
  1.0

  Raises:
    TypeError: `x` is not floating-point.
  """
  return bessel_i0e_p.apply(x)[0]


# Chebyshev coefficients, computed with 40 digits, of e^-x I0(x) in x / 4 - 1 for x <= 8,
# and of sqrt(x) e^-x I0(x) in 16 / x - 1 above.
_I0E_BELOW = (
    0.33839763720473804, -0.3046826723431984, 0.17162090152220878, -0.094901097048047644,
    0.049305284239670708, -0.023737414805899469, 0.010546460394594998,
    -0.0043243099950505759, 0.0016394756169413358, -0.00057637557453858237,
    0.00018850288509584166, -5.7541950100821037e-5, 1.6448448070728897e-5,
    -4.4167383584587506e-6, 1.1173875391201037e-6, -2.6707938539406117e-7,
    6.0469950225419189e-8, -1.300025009986248e-8, 2.6598237246823867e-9,
    -5.1897956016352629e-10, 9.6758090353732369e-11, -1.7268262914415557e-11,
    2.9550526631296398e-12, -4.8564467831119295e-13, 7.6761854986049356e-14,
    -1.1685332877993452e-14, 1.715391285555133e-15, -2.4312798465479547e-16,
    3.3307945188222381e-17, -4.4153416464793394e-18)
_I0E_ABOVE = (
    0.40224520550705442, 0.0033691164782556941, 6.889758346916824e-5,
    2.8913705208347565e-6, 2.0489185894690637e-7, 2.2666689904981781e-8,
    3.3962320257083863e-9, 4.9406023882249696e-10, 1.1889147107846438e-11,
    -3.1499165279632414e-11, -1.3215811840447713e-11, -1.7941785315068061e-12,
    7.1801244513836662e-13, 3.8527783827421427e-13, 1.5400862175214098e-14,
    -4.1505693472872221e-14, -9.5548466988283076e-15, 3.8116806693526224e-15,
    1.7725601330565264e-15, -3.4254856196772191e-16, -2.8276239805165835e-16,
    3.4612228676974611e-17, 4.46562142029676e-17, -4.8305044859441821e-18,
    -7.233180487874754e-18)


def _chebyshev(y: Any, coefficients: tuple[float, ...]) -> Any:
  """The sum of `c_k T_k(y)` by Clenshaw's recurrence, of those that the dtype can see."""
  dtype = typeof(y).dtype
  least = float(dtypes.finfo(dtype).eps) / 64
  kept = [c for c in coefficients if math.fabs(c) > least]
  twice = mul(y, 2.0)
  now = before = full(typeof(y).shape, 0, dtype)
  for c in reversed(kept[1:]):
    now, before = add(sub(mul(twice, now), before), c), now
  return add(sub(mul(y, now), before), kept[0])


def _i0e(x: Any) -> Any:
  x = abs(x)
  small = le(x, 8.0)
  eight = full(typeof(x).shape, 8, typeof(x).dtype)
  below = _chebyshev(sub(mul(x, 0.25), 1.0), _I0E_BELOW)
  large = select_n(small, x, eight)
  above = mul(_chebyshev(sub(div(16.0, large), 1.0), _I0E_ABOVE), rsqrt(large))
  return select_n(small, above, below)


bessel_i0e_p = unary(
    "bessel_i0e", FLOAT, composed(_i0e),
    lambda t, ans, x: times(t, sub(bessel_i1e(x), mul(sign(x), ans))))


def bessel_i1e(x: Any) -> Any:
  r"""Scaled modified Bessel function of order 1, elementwise: :math:`e^{-|x|} I_1(x)`.

  Args:
    x: floating-point array.

  >>> from gnomon import lax
  >>> float(lax.bessel_i1e(0.0))
  0.0

  Raises:
    TypeError: `x` is not floating-point.
  """
  return bessel_i1e_p.apply(x)[0]


def _i1e_derivative(t: Any, ans: Any, x: Any) -> Any:
  """`i0e - i1e (sign x + 1 / x)`, which is a half at zero."""
  aval = typeof(x)
  at_zero = eq(x, 0.0)
  safe = select_n(at_zero, x, full(aval.shape, 1, aval.dtype))
  slope = sub(bessel_i0e(x), mul(ans, add(sign(x), div(1.0, safe))))
  return times(t, select_n(at_zero, slope, full(aval.shape, 0.5, aval.dtype)))


bessel_i1e_p = unary("bessel_i1e", FLOAT, "chlo.bessel_i1e", _i1e_derivative)
