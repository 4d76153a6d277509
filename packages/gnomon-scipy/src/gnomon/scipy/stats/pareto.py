"""The Pareto distribution: `scipy.stats.pareto`."""

from __future__ import annotations

from typing import Any

import gnomon.numpy as gnp
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_args_inexact
from gnomon.scipy.stats._location import inside, located, log1mexp, positive, probability

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


@compiled()
def logpdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
  r"""The log-density, :math:`\log(b / \sigma) - (b + 1) \log z` for `z >= 1`.

  Args:
    x: array or number: where.
    b: the power of the tail; nan unless positive.
    loc: what is subtracted from `x`.
    scale: what that is divided by; nan unless positive.

  >>> from gnomon.scipy.stats import pareto
  >>> round(pareto.logpdf(2.5, 2.0).item(), 4)
  -2.0557

  Raises:
    TypeError: an argument is no array and no number.
  """
  z, scale, b = located("pareto.logpdf", x, loc, scale, b)
  b = positive(b)
  y = gnp.where(z < 1, 1, z)
  value = gnp.log(b) - (b + 1) * gnp.log(y) - gnp.log(scale)
  return inside(z >= 1, value, z + b)


@compiled()
def pdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The density; see `logpdf` for the arguments.

  >>> from gnomon.scipy.stats import pareto
  >>> round(pareto.pdf(2.5, 2.0).item(), 4)
  0.128
  """
  return gnp.exp(logpdf(x, b, loc, scale))


@compiled()
def cdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The distribution function: the probability of at most `x`; see `logpdf`.

  >>> from gnomon.scipy.stats import pareto
  >>> round(pareto.cdf(2.5, 2.0).item(), 4)
  0.84
  """
  z, _, b = located("pareto.cdf", x, loc, scale, b)
  u = positive(b) * gnp.log(gnp.where(z < 1, 1, z))
  return -gnp.expm1(-u)


@compiled()
def logcdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The logarithm of the distribution function; see `logpdf`.

  >>> from gnomon.scipy.stats import pareto
  >>> round(pareto.logcdf(2.5, 2.0).item(), 4)
  -0.1744
  """
  z, _, b = located("pareto.logcdf", x, loc, scale, b)
  u = positive(b) * gnp.log(gnp.where(z < 1, 1, z))
  return log1mexp(u)


@compiled()
def sf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The probability of more than `x`, right in the upper tail; see `logpdf`.

  >>> from gnomon.scipy.stats import pareto
  >>> round(pareto.sf(2.5, 2.0).item(), 4)
  0.16
  """
  z, _, b = located("pareto.sf", x, loc, scale, b)
  u = positive(b) * gnp.log(gnp.where(z < 1, 1, z))
  return gnp.exp(-u)


@compiled()
def logsf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The logarithm of the probability of more than `x`; see `logpdf`.

  >>> from gnomon.scipy.stats import pareto
  >>> round(pareto.logsf(2.5, 2.0).item(), 4)
  -1.8326
  """
  z, _, b = located("pareto.logsf", x, loc, scale, b)
  u = positive(b) * gnp.log(gnp.where(z < 1, 1, z))
  return -u


@compiled()
def ppf(q: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The quantile function: where the distribution function is `q`; see `logpdf`.

  >>> from gnomon.scipy.stats import pareto
  >>> round(pareto.ppf(0.3, 2.0).item(), 4)
  1.1952
  """
  q, b, loc, scale = promote_args_inexact("pareto.ppf", q, b, loc, scale)
  z = gnp.exp(-gnp.log1p(-probability(q)) / positive(b))
  return z * positive(scale) + loc
