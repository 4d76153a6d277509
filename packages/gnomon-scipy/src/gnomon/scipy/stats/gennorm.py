"""The generalized normal distribution: `scipy.stats.gennorm`."""

from __future__ import annotations

from typing import Any

import gnomon.numpy as gnp
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_args_inexact
from gnomon.scipy import special
from gnomon.scipy.stats._location import positive

__all__ = ["cdf", "logpdf", "pdf"]


@compiled()
def logpdf(x: Any, beta: Any) -> Any:
  r"""The log-density, :math:`\log \frac{\beta}{2 \Gamma(1/\beta)} - |x|^\beta`.

  Args:
    x: array or number: where.
    beta: the power; nan unless positive.

  >>> from gnomon.scipy.stats import gennorm
  >>> round(gennorm.logpdf(0.5, 1.5).item(), 4)
  -0.9444

  Raises:
    TypeError: an argument is no array and no number.
  """
  x, beta = promote_args_inexact("gennorm.logpdf", x, beta)
  beta = positive(beta)
  scale = gnp.log(beta / 2) - special.gammaln(1 / beta)
  return scale - gnp.power(gnp.abs(x), beta)


@compiled()
def pdf(x: Any, beta: Any) -> Any:
  """The density; see `logpdf` for the arguments.

  >>> from gnomon.scipy.stats import gennorm
  >>> round(gennorm.pdf(0.5, 1.5).item(), 4)
  0.3889
  """
  return gnp.exp(logpdf(x, beta))


@compiled()
def cdf(x: Any, beta: Any) -> Any:
  """The distribution function: the probability of at most `x`; see `logpdf`.

  >>> from gnomon.scipy.stats import gennorm
  >>> round(gennorm.cdf(0.5, 1.5).item(), 4)
  0.7417
  """
  x, beta = promote_args_inexact("gennorm.cdf", x, beta)
  beta = positive(beta)
  tail = special.gammaincc(1 / beta, gnp.power(gnp.abs(x), beta)) / 2
  return gnp.where(x < 0, tail, 1 - tail)
