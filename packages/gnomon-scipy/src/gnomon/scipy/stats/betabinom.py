"""Successes in trials of an uncertain probability: `scipy.stats.betabinom`."""

from __future__ import annotations

from typing import Any

import gnomon.numpy as gnp
from gnomon.numpy._compiled import compiled
from gnomon.scipy import special
from gnomon.scipy.stats._location import discrete, inside, positive

__all__ = ["logpmf", "pmf"]


@compiled()
def logpmf(k: Any, n: Any, a: Any, b: Any, loc: Any = 0) -> Any:
  r"""The log-probability, :math:`\log \binom{n}{k} \frac{B(k+a, n-k+b)}{B(a, b)}`.

  Args:
    k: array or number: where.
    n: the number of trials; nan unless a natural number.
    a: a shape of its beta distribution; nan unless positive.
    b: its other shape; nan unless positive.
    loc: what is subtracted from `k`.

  >>> from gnomon.scipy.stats import betabinom
  >>> round(betabinom.logpmf(2, 5, 1.5, 2.0).item(), 4)
  -1.5459

  Raises:
    TypeError: an argument is no array and no number.
  """
  k, n, a, b = discrete("betabinom.logpmf", k, loc, n, a, b)
  n = gnp.where((n >= 0) & (gnp.floor(n) == n), n, gnp.nan)
  a, b = positive(a), positive(b)
  valid = (k >= 0) & (k <= n) & (gnp.floor(k) == k)
  i = gnp.where(valid, k, 0)
  ways = -gnp.log1p(n) - special.betaln(n - i + 1, i + 1)
  value = gnp.where((i == 0) | (i == n), 0, ways)
  value += special.betaln(i + a, n - i + b) - special.betaln(a, b)
  return inside(valid, value, k + n + a + b)


@compiled()
def pmf(k: Any, n: Any, a: Any, b: Any, loc: Any = 0) -> Any:
  """The probability of exactly `k`; see `logpmf` for the arguments.

  >>> from gnomon.scipy.stats import betabinom
  >>> round(betabinom.pmf(2, 5, 1.5, 2.0).item(), 4)
  0.2131
  """
  return gnp.exp(logpmf(k, n, a, b, loc))
