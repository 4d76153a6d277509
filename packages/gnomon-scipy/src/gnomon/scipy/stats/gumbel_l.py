"""The distribution of the smallest of many: `scipy.stats.gumbel_l`."""

from __future__ import annotations

from typing import Any

import gnomon.numpy as gnp
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_args_inexact
from gnomon.scipy.stats._location import (
  inside,
  located,
  log1mexp_exp,
  positive,
  probability,
)

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


@compiled()
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  r"""The logarithm of the density, :math:`z - e^z - \log \sigma`.

  Args:
    x: array or number: where.
    loc: what is subtracted from `x`.
    scale: what that is divided by; nan unless positive.

  >>> from gnomon.scipy.stats import gumbel_l
  >>> round(gumbel_l.logpdf(0.5).item(), 4)
  -1.1487

  Raises:
    TypeError: an argument is no array and no number.
  """
  z, scale = located("gumbel_l.logpdf", x, loc, scale)
  finite = gnp.isfinite(z)
  y = gnp.where(finite, -z, 0)
  return inside(finite, -y - gnp.exp(-y) - gnp.log(scale), z)


@compiled()
def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The density; see `logpdf` for the arguments.

  >>> from gnomon.scipy.stats import gumbel_l
  >>> round(gumbel_l.pdf(0.5).item(), 4)
  0.317
  """
  return gnp.exp(logpdf(x, loc, scale))


@compiled()
def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The logarithm of the distribution function; see `logpdf`.

  >>> from gnomon.scipy.stats import gumbel_l
  >>> round(gumbel_l.logcdf(0.5).item(), 4)
  -0.2136
  """
  z, _ = located("gumbel_l.logcdf", x, loc, scale)
  return log1mexp_exp(-z)


@compiled()
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The distribution function: the probability of at most `x`; see `logpdf`.

  >>> from gnomon.scipy.stats import gumbel_l
  >>> round(gumbel_l.cdf(0.5).item(), 4)
  0.8077
  """
  z, _ = located("gumbel_l.cdf", x, loc, scale)
  return -gnp.expm1(-gnp.exp(z))


@compiled()
def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The probability of more than `x`, right in the upper tail; see `logpdf`.

  >>> from gnomon.scipy.stats import gumbel_l
  >>> round(gumbel_l.sf(0.5).item(), 4)
  0.1923
  """
  z, _ = located("gumbel_l.sf", x, loc, scale)
  return gnp.exp(-gnp.exp(z))


@compiled()
def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The logarithm of the probability of more than `x`; see `logpdf`.

  >>> from gnomon.scipy.stats import gumbel_l
  >>> round(gumbel_l.logsf(0.5).item(), 4)
  -1.6487
  """
  z, _ = located("gumbel_l.logsf", x, loc, scale)
  return -gnp.exp(z)


@compiled()
def ppf(p: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The quantile function: where the distribution function is `p`; see `logpdf`.

  >>> from gnomon.scipy.stats import gumbel_l
  >>> round(gumbel_l.ppf(0.3).item(), 4)
  -1.0309
  """
  p, loc, scale = promote_args_inexact("gumbel_l.ppf", p, loc, scale)
  z = gnp.log(-gnp.log1p(-probability(p)))
  return z * positive(scale) + loc
