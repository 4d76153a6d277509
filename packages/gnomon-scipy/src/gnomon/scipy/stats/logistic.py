"""The logistic distribution: `scipy.stats.logistic`."""

from __future__ import annotations

from typing import Any

import gnomon.numpy as gnp
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_args_inexact
from gnomon.scipy import special
from gnomon.scipy.stats._location import located, positive, probability

__all__ = ["cdf", "isf", "logpdf", "pdf", "ppf", "sf"]


@compiled()
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  r"""The logarithm of the density, :math:`-|z| - 2 \log(1 + e^{-|z|}) - \log \sigma`.

  Args:
    x: array or number: where.
    loc: what is subtracted from `x`.
    scale: what that is divided by; nan unless positive.

  >>> from gnomon.scipy.stats import logistic
  >>> round(logistic.logpdf(0.5).item(), 4)
  -1.4482

  Raises:
    TypeError: an argument is no array and no number.
  """
  z, scale = located("logistic.logpdf", x, loc, scale)
  z = gnp.abs(z)
  return -z - 2 * gnp.log1p(gnp.exp(-z)) - gnp.log(scale)


@compiled()
def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The density; see `logpdf` for the arguments.

  >>> from gnomon.scipy.stats import logistic
  >>> round(logistic.pdf(0.5).item(), 4)
  0.235
  """
  return gnp.exp(logpdf(x, loc, scale))


@compiled()
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The distribution function: the probability of at most `x`; see `logpdf`.

  >>> from gnomon.scipy.stats import logistic
  >>> round(logistic.cdf(0.5).item(), 4)
  0.6225
  """
  z, _ = located("logistic.cdf", x, loc, scale)
  return special.expit(z)


@compiled()
def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The probability of more than `x`, right in the upper tail; see `logpdf`.

  >>> from gnomon.scipy.stats import logistic
  >>> round(logistic.sf(0.5).item(), 4)
  0.3775
  """
  z, _ = located("logistic.sf", x, loc, scale)
  return special.expit(-z)


@compiled()
def ppf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The quantile function: where the distribution function is `x`; see `logpdf`.

  >>> from gnomon.scipy.stats import logistic
  >>> round(logistic.ppf(0.3).item(), 4)
  -0.8473
  """
  x, loc, scale = promote_args_inexact("logistic.ppf", x, loc, scale)
  return special.logit(probability(x)) * positive(scale) + loc


@compiled()
def isf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """Where the probability of more is `x`; see `logpdf`.

  >>> from gnomon.scipy.stats import logistic
  >>> round(logistic.isf(0.3).item(), 4)
  0.8473
  """
  x, loc, scale = promote_args_inexact("logistic.isf", x, loc, scale)
  return -special.logit(probability(x)) * positive(scale) + loc
