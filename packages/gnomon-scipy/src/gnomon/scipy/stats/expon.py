"""The exponential distribution: `scipy.stats.expon`."""

from __future__ import annotations

from typing import Any

import gnomon.numpy as gnp
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_args_inexact
from gnomon.scipy.stats._location import inside, located, log1mexp, positive, probability

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


@compiled()
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  r"""The logarithm of the density, :math:`-z - \log \sigma` where `x` is at least `loc`.

  Args:
    x: array or number: where.
    loc: what is subtracted from `x`.
    scale: what that is divided by; nan unless positive.

  >>> from gnomon.scipy.stats import expon
  >>> round(expon.logpdf(0.5).item(), 4)
  -0.5

  Raises:
    TypeError: an argument is no array and no number.
  """
  z, scale = located("expon.logpdf", x, loc, scale)
  return inside(z >= 0, -z - gnp.log(scale), z)


@compiled()
def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The density; see `logpdf` for the arguments.

  >>> from gnomon.scipy.stats import expon
  >>> round(expon.pdf(0.5).item(), 4)
  0.6065
  """
  return gnp.exp(logpdf(x, loc, scale))


@compiled()
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The distribution function: the probability of at most `x`; see `logpdf`.

  >>> from gnomon.scipy.stats import expon
  >>> round(expon.cdf(0.5).item(), 4)
  0.3935
  """
  z, _ = located("expon.cdf", x, loc, scale)
  return -gnp.expm1(-gnp.where(z < 0, 0, z))


@compiled()
def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The logarithm of the distribution function; see `logpdf`.

  >>> from gnomon.scipy.stats import expon
  >>> round(expon.logcdf(0.5).item(), 4)
  -0.9328
  """
  z, _ = located("expon.logcdf", x, loc, scale)
  return log1mexp(gnp.where(z < 0, 0, z))


@compiled()
def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The probability of more than `x`, right in the upper tail; see `logpdf`.

  >>> from gnomon.scipy.stats import expon
  >>> round(expon.sf(0.5).item(), 4)
  0.6065
  """
  z, _ = located("expon.sf", x, loc, scale)
  return gnp.exp(-gnp.where(z < 0, 0, z))


@compiled()
def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The logarithm of the probability of more than `x`; see `logpdf`.

  >>> from gnomon.scipy.stats import expon
  >>> round(expon.logsf(0.5).item(), 4)
  -0.5
  """
  z, _ = located("expon.logsf", x, loc, scale)
  return -gnp.where(z < 0, 0, z)


@compiled()
def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The quantile function: where the distribution function is `q`; see `logpdf`.

  >>> from gnomon.scipy.stats import expon
  >>> round(expon.ppf(0.3).item(), 4)
  0.3567
  """
  q, loc, scale = promote_args_inexact("expon.ppf", q, loc, scale)
  return -gnp.log1p(-probability(q)) * positive(scale) + loc
