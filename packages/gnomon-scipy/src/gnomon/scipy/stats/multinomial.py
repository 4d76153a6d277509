"""Outcomes of trials of several kinds: `scipy.stats.multinomial`."""

from __future__ import annotations

from typing import Any

import gnomon.numpy as gnp
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_dtypes_inexact
from gnomon.scipy import special

__all__ = ["logpmf", "pmf"]


@compiled()
def logpmf(x: Any, n: Any, p: Any) -> Any:
  r"""The log-probability, :math:`\log(n! \prod_i p_i^{x_i} / x_i!)`.

  Args:
    x: array: the counts along its last axis; the result is -inf unless they sum to `n`.
    n: array or number: the trials.
    p: array: the probabilities along its last axis.

  >>> from gnomon.scipy.stats import multinomial
  >>> round(multinomial.logpmf([1, 2], 3, [0.4, 0.6]).item(), 4)
  -0.8393

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the shapes do not broadcast.
  """
  (p,) = promote_dtypes_inexact(gnp.asarray(p))
  # Counts of integers take the dtype of the probabilities, whatever promotion is allowed.
  x, n = (c.astype(p.dtype) if gnp.issubdtype(c.dtype, gnp.integer) else c
          for c in (gnp.asarray(x), gnp.asarray(n)))
  x, n, p = promote_dtypes_inexact(x, n, p)
  valid = (x.sum(-1) == n) & (x >= 0).all(-1)
  safe = gnp.where(x >= 0, x, 0)
  terms = special.xlogy(safe, p) - special.gammaln(safe + 1)
  value = special.gammaln(n + 1) + terms.sum(-1)
  return gnp.where(valid, value, -gnp.inf)


@compiled()
def pmf(x: Any, n: Any, p: Any) -> Any:
  """The probability; see `logpmf` for the arguments.

  >>> from gnomon.scipy.stats import multinomial
  >>> round(multinomial.pmf([1, 2], 3, [0.4, 0.6]).item(), 4)
  0.432
  """
  return gnp.exp(logpmf(x, n, p))
