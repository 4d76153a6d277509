"""The Laplace distribution: `scipy.stats.laplace`."""

from __future__ import annotations

from typing import Any

import gnomon.numpy as gnp
from gnomon.numpy._compiled import compiled
from gnomon.scipy.stats._location import located

__all__ = ["cdf", "logpdf", "pdf"]


@compiled()
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  r"""The logarithm of the density, :math:`-|z| - \log(2 \sigma)`.

  Args:
    x: array or number: where.
    loc: what is subtracted from `x`.
    scale: what that is divided by; nan unless positive.

  >>> from gnomon.scipy.stats import laplace
  >>> round(laplace.logpdf(0.5).item(), 4)
  -1.1931

  Raises:
    TypeError: an argument is no array and no number.
  """
  z, scale = located("laplace.logpdf", x, loc, scale)
  return -gnp.abs(z) - gnp.log(2 * scale)


@compiled()
def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The density; see `logpdf` for the arguments.

  >>> from gnomon.scipy.stats import laplace
  >>> round(laplace.pdf(0.5).item(), 4)
  0.3033
  """
  return gnp.exp(logpdf(x, loc, scale))


@compiled()
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The distribution function: the probability of at most `x`; see `logpdf`.

  >>> from gnomon.scipy.stats import laplace
  >>> round(laplace.cdf(0.5).item(), 4)
  0.6967
  """
  z, _ = located("laplace.cdf", x, loc, scale)
  tail = gnp.exp(-gnp.abs(z)) / 2
  return gnp.where(z < 0, tail, 1 - tail)
