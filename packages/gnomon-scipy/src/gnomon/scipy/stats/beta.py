"""The beta distribution: `scipy.stats.beta`."""

from __future__ import annotations

from typing import Any

import gnomon.numpy as gnp
from gnomon.numpy._compiled import compiled
from gnomon.scipy import special
from gnomon.scipy.stats._location import inside, located, log_of, positive

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


@compiled()
def logpdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
  r"""The log-density, :math:`\log \frac{z^{a-1} (1-z)^{b-1}}{B(a, b) \sigma}`.

  Args:
    x: array or number: where.
    a: a shape; nan unless positive.
    b: another shape; nan unless positive.
    loc: what is subtracted from `x`.
    scale: what that is divided by; nan unless positive.

  >>> from gnomon.scipy.stats import beta
  >>> round(beta.logpdf(0.3, 2.0, 3.0).item(), 4)
  0.5676

  Raises:
    TypeError: an argument is no array and no number.
  """
  z, scale, a, b = located("beta.logpdf", x, loc, scale, a, b)
  a, b = positive(a), positive(b)
  valid = (z >= 0) & (z <= 1)
  y = gnp.where(valid, z, 0.5)
  value = special.xlogy(a - 1, y) + special.xlog1py(b - 1, -y) - special.betaln(a, b)
  return inside(valid, value - gnp.log(scale), z + a + b)


@compiled()
def pdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The density; see `logpdf` for the arguments.

  >>> from gnomon.scipy.stats import beta
  >>> round(beta.pdf(0.3, 2.0, 3.0).item(), 4)
  1.764
  """
  return gnp.exp(logpdf(x, a, b, loc, scale))


@compiled()
def cdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The distribution function: the probability of at most `x`; see `logpdf`.

  >>> from gnomon.scipy.stats import beta
  >>> round(beta.cdf(0.3, 2.0, 3.0).item(), 4)
  0.3483
  """
  z, _, a, b = located("beta.cdf", x, loc, scale, a, b)
  return special.betainc(positive(a), positive(b), gnp.clip(z, 0, 1))


@compiled()
def logcdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The logarithm of the distribution function; see `logpdf`.

  >>> from gnomon.scipy.stats import beta
  >>> round(beta.logcdf(0.3, 2.0, 3.0).item(), 4)
  -1.0547
  """
  return log_of(cdf(x, a, b, loc, scale))


@compiled()
def sf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The probability of more than `x`, right in the upper tail; see `logpdf`.

  >>> from gnomon.scipy.stats import beta
  >>> round(beta.sf(0.3, 2.0, 3.0).item(), 4)
  0.6517
  """
  z, _, a, b = located("beta.sf", x, loc, scale, a, b)
  return special.betainc(positive(b), positive(a), 1 - gnp.clip(z, 0, 1))


@compiled()
def logsf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The logarithm of the probability of more than `x`; see `logpdf`.

  >>> from gnomon.scipy.stats import beta
  >>> round(beta.logsf(0.3, 2.0, 3.0).item(), 4)
  -0.4282
  """
  return log_of(sf(x, a, b, loc, scale))
