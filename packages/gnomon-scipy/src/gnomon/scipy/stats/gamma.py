"""The gamma distribution: `scipy.stats.gamma`."""

from __future__ import annotations

from typing import Any

import gnomon.numpy as gnp
from gnomon.numpy._compiled import compiled
from gnomon.scipy import special
from gnomon.scipy.stats._location import inside, located, log_of, positive

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


@compiled()
def logpdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Any:
  r"""The logarithm of the density, :math:`\log \frac{z^{a-1} e^{-z}}{\Gamma(a) \sigma}`.

  Args:
    x: array or number: where.
    a: a shape; nan unless positive.
    loc: what is subtracted from `x`.
    scale: what that is divided by; nan unless positive.

  >>> from gnomon.scipy.stats import gamma
  >>> round(gamma.logpdf(0.5, 2.0).item(), 4)
  -1.1931

  Raises:
    TypeError: an argument is no array and no number.
  """
  z, scale, a = located("gamma.logpdf", x, loc, scale, a)
  a = positive(a)
  valid = (z >= 0) & (z < gnp.inf)
  y = gnp.where(valid, z, 1)
  value = special.xlogy(a - 1, y) - y - special.gammaln(a) - gnp.log(scale)
  return inside(valid, value, z + a)


@compiled()
def pdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The density; see `logpdf` for the arguments.

  >>> from gnomon.scipy.stats import gamma
  >>> round(gamma.pdf(0.5, 2.0).item(), 4)
  0.3033
  """
  return gnp.exp(logpdf(x, a, loc, scale))


@compiled()
def cdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The distribution function: the probability of at most `x`; see `logpdf`.

  >>> from gnomon.scipy.stats import gamma
  >>> round(gamma.cdf(0.5, 2.0).item(), 4)
  0.0902
  """
  z, _, a = located("gamma.cdf", x, loc, scale, a)
  return special.gammainc(positive(a), gnp.where(z < 0, 0, z))


@compiled()
def logcdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The logarithm of the distribution function; see `logpdf`.

  >>> from gnomon.scipy.stats import gamma
  >>> round(gamma.logcdf(0.5, 2.0).item(), 4)
  -2.4057
  """
  return log_of(cdf(x, a, loc, scale))


@compiled()
def sf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The probability of more than `x`, right in the upper tail; see `logpdf`.

  >>> from gnomon.scipy.stats import gamma
  >>> round(gamma.sf(0.5, 2.0).item(), 4)
  0.9098
  """
  z, _, a = located("gamma.sf", x, loc, scale, a)
  return special.gammaincc(positive(a), gnp.where(z < 0, 0, z))


@compiled()
def logsf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The logarithm of the probability of more than `x`; see `logpdf`.

  >>> from gnomon.scipy.stats import gamma
  >>> round(gamma.logsf(0.5, 2.0).item(), 4)
  -0.0945
  """
  return log_of(sf(x, a, loc, scale))
