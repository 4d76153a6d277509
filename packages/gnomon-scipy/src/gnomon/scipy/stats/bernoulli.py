"""A trial that succeeds or not: `scipy.stats.bernoulli`."""

from __future__ import annotations

from typing import Any

import gnomon.numpy as gnp
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_args_inexact
from gnomon.scipy import special
from gnomon.scipy.stats._location import discrete, inside, probability

__all__ = ["cdf", "logpmf", "pmf", "ppf"]


@compiled()
def logpmf(k: Any, p: Any, loc: Any = 0) -> Any:
  r"""The logarithm of the probability of 1, :math:`\log p`, or of 0, :math:`\log(1 - p)`.

  Args:
    k: array or number: where.
    p: the probability of a success; nan outside of 0 to 1.
    loc: what is subtracted from `k`.

  >>> from gnomon.scipy.stats import bernoulli
  >>> round(bernoulli.logpmf(1, 0.3).item(), 4)
  -1.204

  Raises:
    TypeError: an argument is no array and no number.
  """
  k, p = discrete("bernoulli.logpmf", k, loc, p)
  p = probability(p)
  valid = (k == 0) | (k == 1)
  i = gnp.where(valid, k, 0)
  value = special.xlogy(i, p) + special.xlog1py(1 - i, -p)
  return inside(valid, value, k + p)


@compiled()
def pmf(k: Any, p: Any, loc: Any = 0) -> Any:
  """The probability of exactly `k`; see `logpmf` for the arguments.

  >>> from gnomon.scipy.stats import bernoulli
  >>> round(bernoulli.pmf(1, 0.3).item(), 4)
  0.3
  """
  return gnp.exp(logpmf(k, p, loc))


@compiled()
def cdf(k: Any, p: Any) -> Any:
  """The distribution function: the probability of at most `k`; see `logpmf`.

  >>> from gnomon.scipy.stats import bernoulli
  >>> round(bernoulli.cdf(1, 0.3).item(), 4)
  1.0
  """
  k, p = promote_args_inexact("bernoulli.cdf", k, p)
  p = probability(p)
  inner = gnp.where(k < 0, 0, gnp.where(k < 1, 1 - p, 1))
  return gnp.where(gnp.isnan(k + p), gnp.nan, inner)


@compiled()
def ppf(q: Any, p: Any) -> Any:
  """The quantile function: where the distribution function is `q`; see `logpmf`.

  >>> from gnomon.scipy.stats import bernoulli
  >>> round(bernoulli.ppf(0.3, 0.3).item(), 4)
  0.0
  """
  q, p = promote_args_inexact("bernoulli.ppf", q, p)
  q, p = probability(q), probability(p)
  return gnp.where(gnp.isnan(q + p), gnp.nan, gnp.where(q <= 1 - p, 0, 1)).astype(q.dtype)
