"""The normal distribution between two bounds: `scipy.stats.truncnorm`."""

from __future__ import annotations

from typing import Any

import gnomon.numpy as gnp
from gnomon.numpy._compiled import compiled
from gnomon.scipy import special
from gnomon.scipy.stats import norm
from gnomon.scipy.stats._location import inside, located, log1mexp

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def _arguments(name: str, x: Any, a: Any, b: Any, loc: Any, scale: Any) -> Any:
  z, scale, a, b = located(name, x, loc, scale, a, b)
  valid = a < b
  return z, scale, gnp.where(valid, a, gnp.nan), gnp.where(valid, b, gnp.nan)


def _log_mass(a: Any, b: Any) -> Any:
  """The logarithm of the normal probability between `a` and `b`, from the near tail."""
  flip = a > 0
  a, b = gnp.where(flip, -b, a), gnp.where(flip, -a, b)
  one_side = b <= 0
  high, low = special.log_ndtr(gnp.where(one_side, b, -1)), special.log_ndtr(
      gnp.where(one_side, a, -2))
  some = high > low
  tail = high + log1mexp(gnp.where(some, high - gnp.where(some, low, 0), 0))
  rest = special.ndtr(gnp.where(one_side, -1, a)) + special.ndtr(
      gnp.where(one_side, -1, -b))
  return gnp.where(one_side, tail, gnp.log1p(-rest))


@compiled()
def logpdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The logarithm of the density: the normal one by the probability of the bounds.

  Args:
    x: array or number: where.
    a: the lower bound of `(x - loc) / scale`.
    b: the upper bound; nan unless greater.
    loc: the mean of the normal distribution.
    scale: its standard deviation; nan unless positive.

  >>> from gnomon.scipy.stats import truncnorm
  >>> round(truncnorm.logpdf(0.5, -1.0, 1.0).item(), 4)
  -0.6622

  Raises:
    TypeError: an argument is no array and no number.
  """
  z, scale, a, b = _arguments("truncnorm.logpdf", x, a, b, loc, scale)
  valid = (z >= a) & (z <= b)
  value = norm.logpdf(gnp.where(valid, z, 0)) - _log_mass(a, b) - gnp.log(scale)
  return inside(valid, value, gnp.where(gnp.isnan(a), a, z))


@compiled()
def pdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The density; see `logpdf` for the arguments.

  >>> from gnomon.scipy.stats import truncnorm
  >>> round(truncnorm.pdf(0.5, -1.0, 1.0).item(), 4)
  0.5157
  """
  return gnp.exp(logpdf(x, a, b, loc, scale))


@compiled()
def logcdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The logarithm of the distribution function; see `logpdf`.

  >>> from gnomon.scipy.stats import truncnorm
  >>> round(truncnorm.logcdf(0.5, -1.0, 1.0).item(), 4)
  -0.2479
  """
  return _log_below(*_arguments("truncnorm.logcdf", x, a, b, loc, scale))


@compiled()
def cdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The distribution function: the probability of at most `x`; see `logpdf`.

  >>> from gnomon.scipy.stats import truncnorm
  >>> round(truncnorm.cdf(0.0, -1.0, 1.0).item(), 4)
  0.5
  """
  return gnp.exp(_log_below(*_arguments("truncnorm.cdf", x, a, b, loc, scale)))


@compiled()
def logsf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The logarithm of the probability of more than `x`; see `logpdf`.

  >>> from gnomon.scipy.stats import truncnorm
  >>> round(truncnorm.logsf(0.5, -1.0, 1.0).item(), 4)
  -1.5162
  """
  return _log_above(*_arguments("truncnorm.logsf", x, a, b, loc, scale))


@compiled()
def sf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The probability of more than `x`, right in the upper tail; see `logpdf`.

  >>> from gnomon.scipy.stats import truncnorm
  >>> round(truncnorm.sf(0.0, -1.0, 1.0).item(), 4)
  0.5
  """
  return gnp.exp(_log_above(*_arguments("truncnorm.sf", x, a, b, loc, scale)))


def _log_below(z: Any, scale: Any, a: Any, b: Any) -> Any:
  return _log_part(z, scale, a, b, lower=True)


def _log_above(z: Any, scale: Any, a: Any, b: Any) -> Any:
  return _log_part(z, scale, a, b, lower=False)


def _log_part(z: Any, scale: Any, a: Any, b: Any, lower: bool) -> Any:
  """The logarithm of the share of the bounds' probability on one side of `z`."""
  unknown = gnp.isnan(z) | gnp.isnan(a) | gnp.isnan(scale)
  valid = (z > a) & (z < b)
  y = gnp.where(valid, z, gnp.where(gnp.isfinite(a), a + 1e-3, gnp.minimum(b - 1, 0)))
  whole = _log_mass(a, b)
  below, above = _log_mass(a, y) - whole, _log_mass(y, b) - whole
  near, far = (below, above) if lower else (above, below)
  # Close to 1 the logarithm is small, and the other side has the digits.
  close = near > -0.1
  value = gnp.where(close, gnp.log1p(-gnp.exp(gnp.where(close, far, -1))), near)
  none, all_of_it = (z <= a, z >= b) if lower else (z >= b, z <= a)
  outside = gnp.where(none, -gnp.inf, gnp.where(all_of_it, 0, gnp.nan))
  return gnp.where(unknown, gnp.nan, gnp.where(valid, value, outside))
