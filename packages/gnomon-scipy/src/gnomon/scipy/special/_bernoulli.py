"""Bernoulli's numbers."""

from __future__ import annotations

import operator
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon.core import dtypes

_LAST = 260  # beyond, they are too large for a double


@lru_cache(maxsize=1)
def _numbers() -> Any:
  """The numbers of index 0 to `_LAST`, rounded once, from the tangent numbers.

  R. P. Brent, D. Harvey, "Fast computation of Bernoulli, tangent and secant numbers",
  2013: all by multiplications of integers.
  """
  half = _LAST // 2
  tangent = [0, 1] + [0] * (half - 1)
  for k in range(2, half + 1):
    tangent[k] = (k - 1) * tangent[k - 1]
  for k in range(2, half + 1):
    for j in range(k, half + 1):
      tangent[j] = (j - k) * tangent[j - 1] + (j - k + 2) * tangent[j]
  found = np.zeros(_LAST + 1)
  found[:2] = 1.0, -0.5
  for k in range(1, half + 1):
    power = 4 ** k
    exact = Fraction((-1) ** (k - 1) * 2 * k * tangent[k], power * (power - 1))
    try:
      found[2 * k] = float(exact)
    except OverflowError:
      found[2 * k] = (-1) ** (k - 1) * np.inf
  return found


def bernoulli(n: int) -> Any:
  r"""Bernoulli's numbers :math:`B_0` to :math:`B_n`, with :math:`B_1 = -1/2`.

  Args:
    n: the last index, not negative.

  Returns:
    An array of `n + 1` numbers of the default floating-point type; those beyond its range
    are infinite.

  >>> from gnomon.scipy import special
  >>> round(special.bernoulli(4)[2].item(), 5)
  0.16667

  Raises:
    TypeError: `n` is no integer.
    ValueError: `n` is negative.
  """
  n = operator.index(n)
  if n < 0:
    raise ValueError(f"bernoulli needs an index n of 0 or more, got {n}")
  known = _numbers()[:n + 1]
  index = np.arange(len(known), n + 1)
  sign = np.where(index // 2 % 2 == 1, np.inf, -np.inf)
  values = np.concatenate([known, np.where(index % 2 == 1, 0.0, sign)])
  with np.errstate(over="ignore"):
    return gnp.asarray(values.astype(dtypes.canonicalize_dtype(np.float64)))
