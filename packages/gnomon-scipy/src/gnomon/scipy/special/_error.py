"""The error function, its relatives, and the normal distribution."""

from __future__ import annotations

import math
from typing import Any

import gnomon.numpy as gnp
from gnomon import custom_jvp, lax
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_args_inexact
from gnomon.scipy.special._faddeeva import scaled_complement
from gnomon.scipy.special._series import chebyshev, widened

_SQRT_HALF = math.sqrt(0.5)
_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)

# log(erfcx(x) / t) for t = 2 / (2 + x) in 0 to 1
ERFCX = (
    -0.6513268598908547, 0.6419697923564902, 0.019476473204185836,
    -0.009561514786808632, -0.0009465953444820369, 0.00036683949785276145,
    4.252332480690777e-05, -2.0278578112534242e-05, -1.6242900046470256e-06,
    1.3036558355805232e-06, 1.5626441722066142e-08, -8.523809591492654e-08,
    6.5290544390988515e-09, 5.059343495551469e-09, -9.91364156493033e-10,
    -2.273651222931836e-10, 9.646791102015527e-11, 2.3940380830391146e-12,
    -6.886027526497553e-12, 8.944879273090725e-13, 3.130921399342958e-13,
    -1.1270822361367252e-13, 3.810905255189232e-16, 7.106097613609237e-15,
    -1.5230282014571043e-15, -9.457494571291233e-17, 1.210237189224279e-16,
    -2.816663087747177e-17)


@compiled()
def erf(x: Any) -> Any:
  r"""The error function, :math:`\frac{2}{\sqrt\pi} \int_0^x e^{-t^2} dt`, elementwise.

  Args:
    x: array or number, not complex.

  >>> from gnomon.scipy import special
  >>> round(special.erf(1.0).item(), 5)
  0.8427

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.erf(*promote_args_inexact("erf", x))


@compiled()
def erfc(x: Any) -> Any:
  r"""The complement of the error function, :math:`1 - \text{erf}(x)`, elementwise.

  Args:
    x: array or number, not complex; exact where the error function is nearly 1.

  >>> from gnomon.scipy import special
  >>> special.erfc(0.0).item()
  1.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.erfc(*promote_args_inexact("erfc", x))


@compiled()
def erfinv(x: Any) -> Any:
  """The inverse of the error function, elementwise; nan outside of -1 to 1.

  Args:
    x: array or number, not complex.

  >>> from gnomon.scipy import special
  >>> special.erfinv(1.0).item()
  inf

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.erf_inv(*promote_args_inexact("erfinv", x))


def _half_erfcx(x: Any) -> Any:
  """The scaled complement for x of 0 or more; in its derivative nothing cancels."""
  t = 2 / (2 + x)
  return t * gnp.exp(chebyshev(2 * t - 1, ERFCX))


@compiled()
def erfcx(x: Any) -> Any:
  r"""The scaled complement of the error function, :math:`e^{x^2} \text{erfc}(x)`.

  Args:
    x: array or number, real or complex; the result overflows below -26 (float64).

  >>> from gnomon.scipy import special
  >>> special.erfcx(0.0).item()
  1.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  (x,) = promote_args_inexact("erfcx", x)
  if typeof(x).dtype.kind == "c":
    return scaled_complement(x)
  x, narrow = widened(x)
  below = x < 0
  value = _half_erfcx(gnp.abs(x))
  grown = exp_of_square(gnp.where(below, x, 0), 1)
  return narrow(gnp.where(below, 2 * grown - value, value))


def exp_of_square(x: Any, factor: float) -> Any:
  """The exponential of `factor x**2`, with the rounding error of the square made good.

  The square of the leading digits is exact; the rest is small (W. J. Cody, 1969).
  """
  high = gnp.clip(gnp.rint(x * 16) / 16, -1e4, 1e4)
  low = gnp.where(gnp.abs(x) < 1e4, (x - high) * (x + high), 0)
  value = gnp.exp(factor * high * high)
  more = gnp.where(gnp.isfinite(value), value, 0) * gnp.expm1(factor * low)
  return value + more  # of a product of two exponentials, XLA would make one


@compiled()
def ndtr(x: Any) -> Any:
  r"""The standard normal distribution function, elementwise.

  :math:`\frac{1}{\sqrt{2\pi}} \int_{-\infty}^x e^{-t^2/2} dt`

  Args:
    x: array or number, not complex.

  >>> from gnomon.scipy import special
  >>> special.ndtr(0.0).item()
  0.5

  Raises:
    TypeError: `x` is no array and no number.
  """
  (x,) = promote_args_inexact("ndtr", x)
  return _ndtr(x)


def _ndtr(x: Any) -> Any:
  """In the middle by the error function; outside, by the scaled complement's tail."""
  inside = gnp.abs(x) < 1
  middle = 0.5 + 0.5 * lax.erf(gnp.where(inside, x, 0) * _SQRT_HALF)
  beyond = tail(gnp.where(inside, 1, gnp.abs(x)))
  return gnp.where(inside, middle, gnp.where(x > 0, 1 - beyond, beyond))


def tail(x: Any) -> Any:
  """The probability of more than `x`, for x of 0 or more."""
  return 0.5 * _half_erfcx(x * _SQRT_HALF) * exp_of_square(x, -0.5)


@custom_jvp
def _log_ndtr(x: Any) -> Any:
  left, right = x < -0.7, x > 1
  # The tail: log(erfcx(w) / 2) - x**2 / 2, whose parts neither under- nor overflow.
  far = gnp.where(left, -x, 1)
  low = gnp.log(_half_erfcx(far * _SQRT_HALF)) - math.log(2) - 0.5 * far * far
  middle = gnp.where(left | right, 0, x)
  inner = gnp.log1p(-0.5 * lax.erfc(middle * _SQRT_HALF))
  high = gnp.log1p(-tail(gnp.where(right, x, 1)))
  return gnp.where(left, low, gnp.where(right, high, inner))


def _mills(x: Any) -> Any:
  """The normal density over its distribution function: log_ndtr's derivative."""
  w = x * _SQRT_HALF
  left = w < 0
  tail = math.sqrt(2 / math.pi) / _half_erfcx(gnp.where(left, -w, 0))
  right = gnp.where(left, 0, w)
  density = gnp.exp(-right * right - _LOG_SQRT_2PI)  # small beside 1, and so its error
  return gnp.where(left, tail, density / (1 - 0.5 * lax.erfc(right)))


_log_ndtr.defjvps(lambda t, ans, x: t * _mills(x))


@compiled(static=("series_order",))
def log_ndtr(x: Any, series_order: int = 3) -> Any:
  """The logarithm of the standard normal distribution function, elementwise.

  Args:
    x: array or number, not complex; exact in both tails.
    series_order: accepted for the interface's sake; the tail is no truncated series here.

  >>> from gnomon.scipy import special
  >>> round(special.log_ndtr(-100.0).item(), 2)
  -5005.52

  Raises:
    TypeError: `x` is no array and no number.
  """
  del series_order
  (x,) = promote_args_inexact("log_ndtr", x)
  x, narrow = widened(x)
  return narrow(_log_ndtr(x))


@compiled()
def ndtri(p: Any) -> Any:
  """The quantile function of the standard normal distribution, elementwise.

  Args:
    p: array or number, a probability; nan outside of 0 to 1.

  >>> from gnomon.scipy import special
  >>> special.ndtri(0.5).item(), special.ndtri(0.0).item()
  (0.0, -inf)

  Raises:
    TypeError: `p` is no array and no number.
  """
  (p,) = promote_args_inexact("ndtri", p)
  p, narrow = widened(p)
  return narrow(_ndtri(p))


@custom_jvp
def _ndtri(p: Any) -> Any:
  small = gnp.minimum(p, 1 - p)
  tail = small < 0.1
  middle = math.sqrt(2) * lax.erf_inv(2 * gnp.where(tail, 0.5, p) - 1)
  # The tail: from the leading terms of its asymptotic series, by Halley's steps for
  # log_ndtr(x) = log p; the ratio of density and distribution is at hand.
  inside = tail & (small > 0)
  log_p = gnp.log(gnp.where(inside, small, 0.05))
  y = -2 * log_p
  x = -gnp.sqrt(y - gnp.log(2 * math.pi * (y - gnp.log(y))))
  for _ in range(3):
    slope = _mills(x)
    step = (_log_ndtr(x) - log_p) / slope
    x = x - step / (1 + 0.5 * step * (x + slope))
  x = gnp.where(p > 0.5, -x, x)
  edge = gnp.where(p == 0, -gnp.inf, gnp.where(p == 1, gnp.inf, gnp.nan))
  outside = gnp.where(tail, gnp.where(inside, x, edge), middle)
  return gnp.where((p < 0) | (p > 1) | gnp.isnan(p), gnp.nan, outside)


_ndtri.defjvps(
    lambda t, ans, p: t * gnp.exp(0.5 * ans * ans + _LOG_SQRT_2PI))
