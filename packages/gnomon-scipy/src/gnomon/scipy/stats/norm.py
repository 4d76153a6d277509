"""The normal distribution: `scipy.stats.norm`."""

from __future__ import annotations

import math
from typing import Any

import gnomon.numpy as gnp
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_args_inexact
from gnomon.scipy import special
from gnomon.scipy.stats._location import standardized

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]

_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)


@compiled()
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  r"""The logarithm of the density, :math:`-\frac{z^2}{2} - \log(\sigma \sqrt{2\pi})`.

  Args:
    x: array or number: where, with :math:`z = (x - \mu) / \sigma`.
    loc: the mean, :math:`\mu`.
    scale: the standard deviation, :math:`\sigma`; nan unless positive.

  >>> from gnomon.scipy.stats import norm
  >>> round(norm.logpdf(0.0).item(), 5)
  -0.91894

  Raises:
    TypeError: an argument is no array and no number.
  """
  z, scale = standardized("norm.logpdf", x, loc, scale)
  return -0.5 * z * z - _LOG_SQRT_2PI - gnp.log(scale)


@compiled()
def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The density; see `logpdf`.

  >>> from gnomon.scipy.stats import norm
  >>> round(norm.pdf(0.0).item(), 5)
  0.39894
  """
  return gnp.exp(logpdf(x, loc, scale))


@compiled()
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The distribution function: the probability of at most `x`.

  Args:
    x: array or number: where.
    loc: the mean.
    scale: the standard deviation; nan unless positive.

  >>> from gnomon.scipy.stats import norm
  >>> norm.cdf(0.0).item()
  0.5

  Raises:
    TypeError: an argument is no array and no number.
  """
  z, _ = standardized("norm.cdf", x, loc, scale)
  return special.ndtr(z)


@compiled()
def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The logarithm of the distribution function, exact in both tails; see `cdf`.

  >>> from gnomon.scipy.stats import norm
  >>> round(norm.logcdf(-100.0).item(), 2)
  -5005.52
  """
  z, _ = standardized("norm.logcdf", x, loc, scale)
  return special.log_ndtr(z)


@compiled()
def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The probability of more than `x`, exact in the upper tail; see `cdf`.

  >>> from gnomon.scipy.stats import norm
  >>> norm.sf(10.0).item() > 0
  True
  """
  z, _ = standardized("norm.sf", x, loc, scale)
  return special.ndtr(-z)


@compiled()
def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The logarithm of the probability of more than `x`; see `cdf`.

  >>> from gnomon.scipy.stats import norm
  >>> round(norm.logsf(100.0).item(), 2)
  -5005.52
  """
  z, _ = standardized("norm.logsf", x, loc, scale)
  return special.log_ndtr(-z)


@compiled()
def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The quantile function: where the distribution function is `q`.

  Args:
    q: array or number: a probability; nan outside of 0 to 1.
    loc: the mean.
    scale: the standard deviation; nan unless positive.

  >>> from gnomon.scipy.stats import norm
  >>> norm.ppf(0.5, 3.0, 2.0).item()
  3.0

  Raises:
    TypeError: an argument is no array and no number.
  """
  return _quantile("norm.ppf", q, loc, scale, 1)


@compiled()
def isf(q: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """Where the probability of more is `q`; see `ppf`.

  >>> from gnomon.scipy.stats import norm
  >>> norm.isf(0.5, 3.0, 2.0).item()
  3.0
  """
  return _quantile("norm.isf", q, loc, scale, -1)


def _quantile(name: str, q: Any, loc: Any, scale: Any, sign: int) -> Any:
  q, loc, scale = promote_args_inexact(name, q, loc, scale)
  scale = gnp.where(scale > 0, scale, gnp.nan)
  return sign * special.ndtri(q) * scale + loc
