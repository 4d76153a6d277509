"""Events at a rate: `scipy.stats.poisson`."""

from __future__ import annotations

import math
from typing import Any

import gnomon.numpy as gnp
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_args_inexact
from gnomon.scipy import special
from gnomon.scipy.stats._location import discrete, inside

__all__ = ["cdf", "entropy", "logpmf", "pmf"]

_SUMMED = 100
# Of the powers of 1 / mu, the highest first.
_TERMS = (-863 / 2520, -9 / 80, -19 / 360, -1 / 24, -1 / 12, 0)


@compiled()
def logpmf(k: Any, mu: Any, loc: Any = 0) -> Any:
  r"""The logarithm of the probability, :math:`k \log \mu - \mu - \log k!`.

  Args:
    k: array or number: where.
    mu: the mean; nan if negative.
    loc: what is subtracted from `k`.

  >>> from gnomon.scipy.stats import poisson
  >>> round(poisson.logpmf(2, 1.5).item(), 4)
  -1.3822

  Raises:
    TypeError: an argument is no array and no number.
  """
  k, mu = discrete("poisson.logpmf", k, loc, mu)
  mu = gnp.where(mu >= 0, mu, gnp.nan)
  valid = (k >= 0) & (gnp.floor(k) == k) & (k < gnp.inf)
  i = gnp.where(valid, k, 0)
  value = special.xlogy(i, mu) - special.gammaln(i + 1) - mu
  return inside(valid, value, k + mu)


@compiled()
def pmf(k: Any, mu: Any, loc: Any = 0) -> Any:
  """The probability of exactly `k`; see `logpmf` for the arguments.

  >>> from gnomon.scipy.stats import poisson
  >>> round(poisson.pmf(2, 1.5).item(), 4)
  0.251
  """
  return gnp.exp(logpmf(k, mu, loc))


@compiled()
def cdf(k: Any, mu: Any, loc: Any = 0) -> Any:
  """The distribution function: the probability of at most `k`; see `logpmf`.

  >>> from gnomon.scipy.stats import poisson
  >>> round(poisson.cdf(2, 1.5).item(), 4)
  0.8088
  """
  k, mu = discrete("poisson.cdf", k, loc, mu)
  mu = gnp.where(mu >= 0, mu, gnp.nan)
  at_most = special.gammaincc(gnp.floor(gnp.where(k < 0, 0, k)) + 1, mu)
  return gnp.where(k < 0, gnp.where(gnp.isnan(mu), mu, 0), at_most)


@compiled()
def entropy(mu: Any, loc: Any = 0) -> Any:
  r"""The entropy, :math:`-\sum_k p_k \log p_k`, in nats.

  Args:
    mu: array or number: the mean; nan if negative.
    loc: does not change it.

  >>> from gnomon.scipy.stats import poisson
  >>> round(poisson.entropy(1.5).item(), 4)
  1.5394

  Source: R. J. Evans and J. Boersma, The entropy of a Poisson distribution, SIAM Review
  30 (1988), for large means; the sum itself for others.

  Raises:
    TypeError: an argument is no array and no number.
  """
  mu, loc = promote_args_inexact("poisson.entropy", mu, loc)
  mu, _ = gnp.broadcast_arrays(gnp.where(mu >= 0, mu, gnp.nan), loc)
  large = mu > _SUMMED
  small, y = gnp.where(large, 1, mu), gnp.where(large, mu, _SUMMED)
  k = gnp.arange(2 * _SUMMED, dtype=mu.dtype)
  terms = logpmf(k, small[..., None])
  none = terms == -gnp.inf
  exact = -gnp.where(none, 0, gnp.exp(terms) * gnp.where(none, 0, terms)).sum(-1)
  inverse = 1 / y
  series = gnp.polyval(gnp.array(_TERMS, mu.dtype), inverse)
  wide = gnp.log(2 * math.pi * math.e * y) / 2 + series
  return gnp.where(large, wide, exact)
