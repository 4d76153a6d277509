"""The normal distribution of vectors: `scipy.stats.multivariate_normal`."""

from __future__ import annotations

import math
from typing import Any

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_dtypes_inexact

__all__ = ["logpdf", "pdf"]


def logpdf(x: Any, mean: Any, cov: Any, allow_singular: Any = None) -> Any:
  r"""The log-density, :math:`-\frac12 (d^T \Sigma^{-1} d + \log \det 2 \pi \Sigma)`.

  Args:
    x: array: vectors along its last axis; :math:`d` is `x - mean`.
    mean: array that broadcasts with `x`.
    cov: array of shape `(..., n, n)`: covariances, positive definite, else the result is
      nan; or a number.
    allow_singular: not available; must be None.

  >>> from gnomon.scipy.stats import multivariate_normal
  >>> round(multivariate_normal.logpdf([1.0, 0.0], [0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]]
  ...                                  ).item(), 4)
  -2.3379

  Raises:
    NotImplementedError: `allow_singular` is given.
    ValueError: `cov` does not fit `x` and `mean`.
  """
  if allow_singular is not None:
    raise NotImplementedError(
        "multivariate_normal.logpdf: allow_singular is not available; leave it None and "
        "add to the covariance's diagonal")
  return _logpdf(x, mean, cov)


@compiled()
def _logpdf(x: Any, mean: Any, cov: Any) -> Any:
  x, mean, cov = promote_dtypes_inexact(
      gnp.asarray(x), gnp.asarray(mean), gnp.asarray(cov))
  if cov.ndim == 0:
    offset = x - mean
    if mean.ndim == 0:
      return -0.5 * (offset * offset / cov + gnp.log(2 * math.pi * cov))
    size = offset.shape[-1]
    return -0.5 * ((offset * offset).sum(-1) / cov + size * gnp.log(2 * math.pi * cov))
  offset = gnp.atleast_1d(x - mean)
  size = offset.shape[-1]
  if cov.ndim < 2 or cov.shape[-2:] != (size, size):
    raise ValueError(
        f"multivariate_normal: cov has the shape {cov.shape}; expected (..., {size}, "
        f"{size}), as x has the shape {x.shape} and mean {mean.shape}")
  batch = gnp.broadcast_shapes(offset.shape[:-1], cov.shape[:-2])
  factor = gnp.broadcast_to(gnp.linalg.cholesky(cov), (*batch, size, size))
  offset = gnp.broadcast_to(offset, (*batch, size))
  white = lax.linalg.triangular_solve(
      factor, offset[..., None], left_side=True, lower=True)[..., 0]
  half = gnp.log(gnp.diagonal(factor, axis1=-2, axis2=-1)).sum(-1)
  return -0.5 * ((white * white).sum(-1) + size * math.log(2 * math.pi)) - half


def pdf(x: Any, mean: Any, cov: Any) -> Any:
  """The density; see `logpdf` for the arguments.

  >>> from gnomon.scipy.stats import multivariate_normal
  >>> round(multivariate_normal.pdf([0.0, 0.0], [0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]]
  ...                               ).item(), 4)
  0.1592
  """
  return gnp.exp(_logpdf(x, mean, cov))
