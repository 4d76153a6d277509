"""Failures before a number of successes: `scipy.stats.nbinom`."""

from __future__ import annotations

from typing import Any

import gnomon.numpy as gnp
from gnomon.numpy._compiled import compiled
from gnomon.scipy import special
from gnomon.scipy.stats._location import discrete, inside, positive, probability

__all__ = ["logpmf", "pmf"]


@compiled()
def logpmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Any:
  r"""The logarithm of the probability, :math:`\log \binom{k+n-1}{k} p^n (1-p)^k`.

  Args:
    k: array or number: where.
    n: the number of successes; nan unless positive.
    p: the probability of a success; nan unless over 0 and at most 1.
    loc: what is subtracted from `k`.

  >>> from gnomon.scipy.stats import nbinom
  >>> round(nbinom.logpmf(2, 5, 0.3).item(), 4)
  -4.0252

  Raises:
    TypeError: an argument is no array and no number.
  """
  k, n, p = discrete("nbinom.logpmf", k, loc, n, p)
  n, p = positive(n), positive(probability(p))
  valid = (k >= 0) & (gnp.floor(k) == k) & (k < gnp.inf)
  i = gnp.where(valid, k, 0)
  value = -gnp.log(i + n) - special.betaln(n, i + 1)
  value += special.xlogy(n, p) + special.xlog1py(i, -p)
  return inside(valid, value, k + n + p)


@compiled()
def pmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Any:
  """The probability of exactly `k`; see `logpmf` for the arguments.

  >>> from gnomon.scipy.stats import nbinom
  >>> round(nbinom.pmf(2, 5, 0.3).item(), 4)
  0.0179
  """
  return gnp.exp(logpmf(k, n, p, loc))
