"""The Cauchy distribution: `scipy.stats.cauchy`."""

from __future__ import annotations

import math
from typing import Any

import gnomon.numpy as gnp
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_args_inexact
from gnomon.scipy.stats._location import (
  located,
  log1p_square,
  log_of,
  positive,
  probability,
)

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]

def _below(z: Any) -> Any:
  # Of the angle itself, not of its distance to a right angle: exact in the lower tail.
  return gnp.arctan2(gnp.ones_like(z), -z) / math.pi


def _log_below(z: Any) -> Any:
  return gnp.where(z > 0, gnp.log1p(-_below(-z)), log_of(_below(z)))


def _quantile(q: Any) -> Any:
  q = probability(q)
  low, high = q < 0.25, q > 0.75
  middle = gnp.tan(math.pi * (gnp.where(low | high, 0.5, q) - 0.5))
  below = -1 / gnp.tan(math.pi * gnp.where(low, q, 0.25))
  above = 1 / gnp.tan(math.pi * (1 - gnp.where(high, q, 0.75)))
  return gnp.where(low, below, gnp.where(high, above, middle))


@compiled()
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  r"""The logarithm of the density, :math:`-\log(\pi \sigma (1 + z^2))`.

  Args:
    x: array or number: where.
    loc: what is subtracted from `x`.
    scale: what that is divided by; nan unless positive.

  >>> from gnomon.scipy.stats import cauchy
  >>> round(cauchy.logpdf(0.5).item(), 4)
  -1.3679

  Raises:
    TypeError: an argument is no array and no number.
  """
  z, scale = located("cauchy.logpdf", x, loc, scale)
  return -math.log(math.pi) - gnp.log(scale) - log1p_square(z)


@compiled()
def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The density; see `logpdf` for the arguments.

  >>> from gnomon.scipy.stats import cauchy
  >>> round(cauchy.pdf(0.5).item(), 4)
  0.2546
  """
  return gnp.exp(logpdf(x, loc, scale))


@compiled()
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The distribution function: the probability of at most `x`; see `logpdf`.

  >>> from gnomon.scipy.stats import cauchy
  >>> round(cauchy.cdf(0.5).item(), 4)
  0.6476
  """
  z, _ = located("cauchy.cdf", x, loc, scale)
  return _below(z)


@compiled()
def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The logarithm of the distribution function; see `logpdf`.

  >>> from gnomon.scipy.stats import cauchy
  >>> round(cauchy.logcdf(0.5).item(), 4)
  -0.4345
  """
  z, _ = located("cauchy.logcdf", x, loc, scale)
  return _log_below(z)


@compiled()
def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The probability of more than `x`, right in the upper tail; see `logpdf`.

  >>> from gnomon.scipy.stats import cauchy
  >>> round(cauchy.sf(0.5).item(), 4)
  0.3524
  """
  z, _ = located("cauchy.sf", x, loc, scale)
  return _below(-z)


@compiled()
def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The logarithm of the probability of more than `x`; see `logpdf`.

  >>> from gnomon.scipy.stats import cauchy
  >>> round(cauchy.logsf(0.5).item(), 4)
  -1.0429
  """
  z, _ = located("cauchy.logsf", x, loc, scale)
  return _log_below(-z)


@compiled()
def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The quantile function: where the distribution function is `q`; see `logpdf`.

  >>> from gnomon.scipy.stats import cauchy
  >>> round(cauchy.ppf(0.3).item(), 4)
  -0.7265
  """
  q, loc, scale = promote_args_inexact("cauchy.ppf", q, loc, scale)
  return _quantile(q) * positive(scale) + loc


@compiled()
def isf(q: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """Where the probability of more is `q`; see `logpdf`.

  >>> from gnomon.scipy.stats import cauchy
  >>> round(cauchy.isf(0.3).item(), 4)
  0.7265
  """
  q, loc, scale = promote_args_inexact("cauchy.isf", q, loc, scale)
  return -_quantile(q) * positive(scale) + loc
