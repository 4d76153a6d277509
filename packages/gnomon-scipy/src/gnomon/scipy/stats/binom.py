"""Successes in a number of trials: `scipy.stats.binom`."""

from __future__ import annotations

from typing import Any

import gnomon.numpy as gnp
from gnomon.numpy._compiled import compiled
from gnomon.scipy import special
from gnomon.scipy.stats._location import discrete, inside, probability

__all__ = ["logpmf", "pmf"]


@compiled()
def logpmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Any:
  r"""The logarithm of the probability, :math:`\log \binom{n}{k} p^k (1-p)^{n-k}`.

  Args:
    k: array or number: where.
    n: the number of trials; nan unless a natural number.
    p: the probability of a success; nan outside of 0 to 1.
    loc: what is subtracted from `k`.

  >>> from gnomon.scipy.stats import binom
  >>> round(binom.logpmf(2, 5, 0.3).item(), 4)
  -1.1754

  Raises:
    TypeError: an argument is no array and no number.
  """
  k, n, p = discrete("binom.logpmf", k, loc, n, p)
  n = gnp.where((n >= 0) & (gnp.floor(n) == n), n, gnp.nan)
  p = probability(p)
  valid = (k >= 0) & (k <= n) & (gnp.floor(k) == k)
  i = gnp.where(valid, k, 0)
  ways = -gnp.log1p(n) - special.betaln(n - i + 1, i + 1)
  value = gnp.where((i == 0) | (i == n), 0, ways)
  value += special.xlogy(i, p) + special.xlog1py(n - i, -p)
  return inside(valid, value, k + n + p)


@compiled()
def pmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Any:
  """The probability of exactly `k`; see `logpmf` for the arguments.

  >>> from gnomon.scipy.stats import binom
  >>> round(binom.pmf(2, 5, 0.3).item(), 4)
  0.3087
  """
  return gnp.exp(logpmf(k, n, p, loc))
