"""Trials until the first success: `scipy.stats.geom`."""

from __future__ import annotations

from typing import Any

import gnomon.numpy as gnp
from gnomon.numpy._compiled import compiled
from gnomon.scipy import special
from gnomon.scipy.stats._location import discrete, inside, positive, probability

__all__ = ["logpmf", "pmf"]


@compiled()
def logpmf(k: Any, p: Any, loc: Any = 0) -> Any:
  r"""The logarithm of the probability, :math:`\log(p (1-p)^{k-1})`, from `k` of 1.

  Args:
    k: array or number: where.
    p: the probability of a success; nan unless over 0 and at most 1.
    loc: what is subtracted from `k`.

  >>> from gnomon.scipy.stats import geom
  >>> round(geom.logpmf(2, 0.3).item(), 4)
  -1.5606

  Raises:
    TypeError: an argument is no array and no number.
  """
  k, p = discrete("geom.logpmf", k, loc, p)
  p = positive(probability(p))
  valid = (k >= 1) & (gnp.floor(k) == k)
  i = gnp.where(valid, k, 1)
  value = special.xlog1py(i - 1, -p) + gnp.log(p)
  return inside(valid, value, k + p)


@compiled()
def pmf(k: Any, p: Any, loc: Any = 0) -> Any:
  """The probability of exactly `k`; see `logpmf` for the arguments.

  >>> from gnomon.scipy.stats import geom
  >>> round(geom.pmf(2, 0.3).item(), 4)
  0.21
  """
  return gnp.exp(logpmf(k, p, loc))
