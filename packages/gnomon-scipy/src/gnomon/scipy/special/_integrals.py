"""Dawson's integral, the integrals of sine and cosine, and the dilogarithm."""

from __future__ import annotations

import math
from typing import Any

import gnomon.numpy as gnp
from gnomon import custom_jvp
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.scipy.special import _tables as tables
from gnomon.scipy.special._series import beside_zero, fitted, real_operands

# ---- Dawson's integral


def _dawsn_far(x: Any) -> Any:
  """x**2 (2 x F(x) - 1) for x of 5 or more, nearly a half."""
  inverse = 5 / gnp.maximum(x, 5)
  return fitted(inverse * inverse, 0.0, 1.0, tables.DAWSN_FAR)


@custom_jvp
def _dawsn(x: Any) -> Any:
  size = gnp.abs(x)
  square = gnp.minimum(size, 2) ** 2
  near = x * (fitted(square, 0.0, 4.0, tables.DAWSN_NEAR) / (1 + 2 * square))
  middle = fitted(size, 2.0, 5.0, tables.DAWSN_MIDDLE)
  inverse = 1 / gnp.maximum(size, 5)
  far = 0.5 + 0.5 * _dawsn_far(size) * inverse * inverse
  return gnp.where(size < 2, near, gnp.where(size < 5, middle, far) / x)


def _dawsn_slope(ans: Any, x: Any) -> Any:
  size = gnp.abs(x)
  inverse = 1 / gnp.maximum(size, 5)
  near = gnp.where(size < 5, x, 0)
  return gnp.where(
      size < 5, 1 - 2 * near * ans, -_dawsn_far(size) * inverse * inverse)


_dawsn.defjvps(lambda t, ans, x: t * _dawsn_slope(ans, x))


@compiled()
def dawsn(x: Any) -> Any:
  r"""Dawson's integral, :math:`e^{-x^2} \int_0^x e^{t^2} dt`, elementwise.

  Args:
    x: array or number, not complex.

  >>> from gnomon.scipy import special
  >>> round(special.dawsn(1.0).item(), 5)
  0.53808

  Raises:
    TypeError: `x` is no array and no number.
    ValueError: `x` is complex.
  """
  (x,), narrow = real_operands("dawsn", x)
  return narrow(_dawsn(x))


# ---- the sine and the cosine integral

_ZERO = (0.6165054856207163, -4.209920321433186e-17)  # of Ci, and what the double leaves


def _trigonometric_rest(x: Any) -> tuple[Any, Any]:
  """F and g of the integrals, for x of 4 or more."""
  large = gnp.clip(x, 4, float(gnp.finfo(typeof(x).dtype).max))
  v = (9 / gnp.maximum(large, 9)) ** 2
  middle = large < 9
  f = gnp.where(middle, fitted(large, 4.0, 9.0, tables.SI_F_MIDDLE),
                fitted(v, 0.0, 1.0, tables.SI_F_FAR))
  g = gnp.where(middle, fitted(large, 4.0, 9.0, tables.SI_G_MIDDLE),
                fitted(v, 0.0, 1.0, tables.SI_G_FAR))
  return f / large, g / large / large


@custom_jvp
def _si(x: Any) -> Any:
  size = gnp.abs(x)
  near = x * fitted(gnp.minimum(size, 4) ** 2, 0.0, 16.0, tables.SI_NEAR)
  f, g = _trigonometric_rest(size)
  angle = gnp.where(size == gnp.inf, 0, size)
  far = math.pi / 2 - (f * gnp.cos(angle) + g * gnp.sin(angle))
  return gnp.where(size < 4, near, gnp.copysign(far, x))


_si.defjvps(lambda t, ans, x: t * gnp.sinc(x / math.pi))


@custom_jvp
def _ci(x: Any) -> Any:
  size = gnp.abs(x)
  small = gnp.where(size < 4, size, 1)
  near = beside_zero(
      small, _ZERO, 0.15,
      lambda v: (v + _ZERO[0]) * fitted(v * v, 0.0, 16.0, tables.CI_NEAR))
  f, g = _trigonometric_rest(size)
  angle = gnp.where(size == gnp.inf, 0, size)
  far = f * gnp.sin(angle) - g * gnp.cos(angle)
  value = gnp.where(size < 4, near, gnp.where(size == gnp.inf, 0, far))
  return gnp.where(gnp.isnan(x) | (x == -gnp.inf), gnp.nan, value)


_ci.defjvps(lambda t, ans, x: t * (gnp.cos(x) / x))


@compiled()
def sici(x: Any) -> tuple[Any, Any]:
  r"""The sine and the cosine integral, elementwise.

  :math:`\int_0^x \frac{\sin t}{t} dt` and :math:`\gamma + \log x + \int_0^x \frac{\cos t
  - 1}{t} dt`

  Args:
    x: array or number, not complex. The cosine integral of a negative number is
      that of its modulus; at -inf it is nan, as SciPy's is.

  Returns:
    Both, as a pair.

  >>> from gnomon.scipy import special
  >>> [round(v.item(), 5) for v in special.sici(1.0)]
  [0.94608, 0.3374]

  Raises:
    TypeError: `x` is no array and no number.
    ValueError: `x` is complex.
  """
  (x,), narrow = real_operands("sici", x)
  return narrow(_si(x)), narrow(_ci(x))


# ---- Fresnel's integrals


def _phase(x: Any) -> Any:
  """Pi x**2 / 2, but for whole turns, of x not negative.

  For x = 2 m + f with an integer m, x**2 is 4 m f + f**2 and a multiple of 4; the
  product m f is computed with its rounding error (T. J. Dekker, 1971).
  """
  m = gnp.rint(x / 2)
  f = x - 2 * m
  product = m * f
  splitter = 4097.0 if typeof(x).dtype.itemsize < 8 else 134217729.0

  def halves(v: Any) -> tuple[Any, Any]:
    high = v * splitter
    high = high - (high - v)
    return high, v - high

  (mh, ml), (fh, fl) = halves(m), halves(f)
  rest = ((mh * fh - product) + mh * fl + ml * fh) + ml * fl
  turns = (product - gnp.rint(product)) + (rest - gnp.rint(rest))
  return math.pi / 2 * (4 * turns + f * f)


def _limited(x: Any) -> Any:
  """Numbers whose halves do not overflow; beyond, floats are even and the phase is 0."""
  most = 2.0 ** 60 if typeof(x).dtype.itemsize == 8 else 2.0 ** 30
  return gnp.where(x < most, x, 0)


def _fresnel_parts(x: Any) -> tuple[Any, ...]:
  size = gnp.abs(x)
  fourth = gnp.minimum(size, 1.5) ** 4
  large = gnp.maximum(size, 1.5)
  inverse = 1 / large
  v = (3 / gnp.maximum(large, 3)) ** 4
  middle = large < 3
  f = gnp.where(middle, fitted(large, 1.5, 3.0, tables.FRESNEL_F_MIDDLE),
                fitted(v, 0.0, 1.0, tables.FRESNEL_F_FAR)) * (inverse / math.pi)
  g = gnp.where(middle, fitted(large, 1.5, 3.0, tables.FRESNEL_G_MIDDLE),
                fitted(v, 0.0, 1.0, tables.FRESNEL_G_FAR))
  g = g * (inverse / math.pi) ** 2 * inverse
  angle = _phase(_limited(size))
  return size < 1.5, fourth, f, g, gnp.sin(angle), gnp.cos(angle)


@custom_jvp
def _fresnel_s(x: Any) -> Any:
  small, fourth, f, g, sine, cosine = _fresnel_parts(x)
  near = gnp.where(small, x, 0) ** 3 * fitted(fourth, 0.0, 1.5**4, tables.FRESNEL_S)
  return gnp.where(small, near, gnp.copysign(0.5 - f * cosine - g * sine, x))


@custom_jvp
def _fresnel_c(x: Any) -> Any:
  small, fourth, f, g, sine, cosine = _fresnel_parts(x)
  near = x * fitted(fourth, 0.0, 1.5**4, tables.FRESNEL_C)
  return gnp.where(small, near, gnp.copysign(0.5 + f * sine - g * cosine, x))


@custom_jvp
def _sin_square(x: Any) -> Any:
  """sin(pi x**2 / 2)."""
  return gnp.sin(_phase(_limited(gnp.abs(x))))


@custom_jvp
def _cos_square(x: Any) -> Any:
  """cos(pi x**2 / 2)."""
  return gnp.cos(_phase(_limited(gnp.abs(x))))


_fresnel_s.defjvps(lambda t, ans, x: t * _sin_square(x))
_fresnel_c.defjvps(lambda t, ans, x: t * _cos_square(x))
_sin_square.defjvps(lambda t, ans, x: t * (math.pi * x * _cos_square(x)))
_cos_square.defjvps(lambda t, ans, x: t * (-math.pi * x * _sin_square(x)))


@compiled()
def fresnel(x: Any) -> tuple[Any, Any]:
  r"""Fresnel's integrals, elementwise.

  :math:`S = \int_0^x \sin(\pi t^2 / 2) dt` and :math:`C = \int_0^x \cos(\pi t^2 / 2) dt`

  Args:
    x: array or number, not complex.

  Returns:
    S and C, as a pair.

  >>> from gnomon.scipy import special
  >>> [round(v.item(), 5) for v in special.fresnel(1.0)]
  [0.43826, 0.77989]

  Raises:
    TypeError: `x` is no array and no number.
    ValueError: `x` is complex.
  """
  (x,), narrow = real_operands("fresnel", x)
  return narrow(_fresnel_s(x)), narrow(_fresnel_c(x))


# ---- Spence's function


def _li2_near(x: Any) -> Any:
  """Spence's function of x between 1/2 and 3/2."""
  return (1 - x) * fitted(x, 0.5, 1.5, tables.SPENCE)


def _spence_below(x: Any) -> Any:
  """For x of at most 3/2; below a half, by that of 1 - x."""
  low = x < 0.5
  part = gnp.where(low, x, 0.25)
  logs = gnp.log(gnp.where(part == 0, 1, part)) * gnp.log1p(-part)
  reflected = math.pi ** 2 / 6 - logs - _li2_near(1 - part)
  return gnp.where(low, reflected, _li2_near(x))


@custom_jvp
def _spence(x: Any) -> Any:
  large = x > 1.5
  log = gnp.log(gnp.where(large, x, 1))
  inverted = -0.5 * log * log - _spence_below(1 / gnp.where(large, x, 2))
  value = gnp.where(large, inverted, _spence_below(gnp.where(large, 1, x)))
  return gnp.where(x < 0, gnp.nan, value)


def _spence_slope(x: Any) -> Any:
  """log(x) / (1 - x), and -1 at 1."""
  near = gnp.abs(x - 1) < 1e-3
  off = gnp.where(near, x - 1, 0)
  series = -1 + off * (0.5 - off * (1 / 3 - off * (0.25 - off * (0.2 - off / 6))))
  apart = gnp.where(near, 2, x)
  far = gnp.where(x == gnp.inf, 0, gnp.log(apart) / (1 - apart))
  return gnp.where(near, series, far)


_spence.defjvps(lambda t, ans, x: t * _spence_slope(x))


@compiled()
def spence(x: Any) -> Any:
  r"""Spence's function, the dilogarithm of `1 - x`, elementwise.

  :math:`\int_1^x \frac{\log t}{1 - t} dt`

  Args:
    x: array or number of 32 or 64 bits, not complex; nan below 0.

  >>> from gnomon.scipy import special
  >>> round(special.spence(0.0).item(), 5), special.spence(1.0).item()
  (1.64493, 0.0)

  Raises:
    TypeError: `x` is no array and no number.
    ValueError: `x` is complex.
  """
  (x,), narrow = real_operands("spence", x)
  return narrow(_spence(x))
