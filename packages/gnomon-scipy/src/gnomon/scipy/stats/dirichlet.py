"""The Dirichlet distribution, of probabilities: `scipy.stats.dirichlet`."""

from __future__ import annotations

from typing import Any

import gnomon.numpy as gnp
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_dtypes_inexact
from gnomon.scipy import special
from gnomon.scipy.stats._location import inside, positive

__all__ = ["logpdf", "pdf"]


@compiled()
def logpdf(x: Any, alpha: Any) -> Any:
  r"""The log-density, that of :math:`\Gamma(\sum a) \prod_i x_i^{a_i-1} / \Gamma(a_i)`.

  Args:
    x: array: probabilities along its first axis, as many as `alpha` has, or without the
      last; the result is -inf where they do not sum to 1.
    alpha: array of shape `(n,)`; nan unless positive.

  >>> from gnomon.scipy.stats import dirichlet
  >>> round(dirichlet.logpdf([0.2, 0.8], [2.0, 3.0]).item(), 4)
  0.4292

  Raises:
    ValueError: `alpha` has not one axis, or the first axis of `x` another size.
  """
  x, alpha = promote_dtypes_inexact(gnp.asarray(x), gnp.asarray(alpha))
  if alpha.ndim != 1:
    raise ValueError(
        f"dirichlet: alpha has the shape {alpha.shape}; expected one axis")
  if x.ndim == 0 or x.shape[0] not in (alpha.size, alpha.size - 1):
    raise ValueError(
        f"dirichlet: x has the shape {x.shape}; expected a first axis of {alpha.size}, "
        f"or {alpha.size - 1} without the last probability")
  if x.shape[0] != alpha.size:
    x = gnp.concatenate([x, 1 - x.sum(0, keepdims=True)])
  alpha = positive(alpha).reshape(-1, *(1,) * (x.ndim - 1))
  total = x.sum(0)
  tolerance = 16 * gnp.finfo(x.dtype).eps * x.shape[0]
  valid = (x >= 0).all(0) & (x <= 1).all(0) & (gnp.abs(total - 1) <= tolerance)
  safe = gnp.where(valid, x, 0.5)
  terms = special.xlogy(alpha - 1, safe) - special.gammaln(alpha)
  value = terms.sum(0) + special.gammaln(alpha.sum(0))
  return inside(valid, value, total + alpha.sum(0))


@compiled()
def pdf(x: Any, alpha: Any) -> Any:
  """The density; see `logpdf` for the arguments.

  >>> from gnomon.scipy.stats import dirichlet
  >>> round(dirichlet.pdf([0.2, 0.8], [2.0, 3.0]).item(), 4)
  1.536
  """
  return gnp.exp(logpdf(x, alpha))
