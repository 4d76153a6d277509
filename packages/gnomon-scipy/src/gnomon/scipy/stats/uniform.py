"""The uniform distribution: `scipy.stats.uniform`."""

from __future__ import annotations

from typing import Any

import gnomon.numpy as gnp
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_args_inexact
from gnomon.scipy.stats._location import inside, located, positive, probability

__all__ = ["cdf", "logpdf", "pdf", "ppf"]


@compiled()
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  r"""The logarithm of the density, :math:`-\log \sigma` from `loc` to `loc + scale`.

  Args:
    x: array or number: where.
    loc: what is subtracted from `x`.
    scale: what that is divided by; nan unless positive.

  >>> from gnomon.scipy.stats import uniform
  >>> round(uniform.logpdf(0.25, 0.0, 2.0).item(), 4)
  -0.6931

  Raises:
    TypeError: an argument is no array and no number.
  """
  z, scale = located("uniform.logpdf", x, loc, scale)
  return inside((z >= 0) & (z <= 1), -gnp.log(scale), z)


@compiled()
def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The density; see `logpdf` for the arguments.

  >>> from gnomon.scipy.stats import uniform
  >>> round(uniform.pdf(0.25).item(), 4)
  1.0
  """
  return gnp.exp(logpdf(x, loc, scale))


@compiled()
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The distribution function: the probability of at most `x`; see `logpdf`.

  >>> from gnomon.scipy.stats import uniform
  >>> round(uniform.cdf(0.25).item(), 4)
  0.25
  """
  z, _ = located("uniform.cdf", x, loc, scale)
  return gnp.clip(z, 0, 1)


@compiled()
def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The quantile function: where the distribution function is `q`; see `logpdf`.

  >>> from gnomon.scipy.stats import uniform
  >>> round(uniform.ppf(0.3).item(), 4)
  0.3
  """
  q, loc, scale = promote_args_inexact("uniform.ppf", q, loc, scale)
  return probability(q) * positive(scale) + loc
