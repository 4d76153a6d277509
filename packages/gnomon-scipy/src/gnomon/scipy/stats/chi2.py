"""The distribution of a sum of squares: `scipy.stats.chi2`."""

from __future__ import annotations

from typing import Any

from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_args_inexact
from gnomon.scipy.stats import gamma

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


@compiled()
def logpdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The logarithm of the density: a gamma distribution with the shape `df / 2`.

  Args:
    x: array or number: where.
    df: the number of squares, the degrees of freedom; nan unless positive.
    loc: what is subtracted from `x`.
    scale: what that is divided by; nan unless positive.

  >>> from gnomon.scipy.stats import chi2
  >>> round(chi2.logpdf(0.5, 3.0).item(), 4)
  -1.5155

  Raises:
    TypeError: an argument is no array and no number.
  """
  x, df, loc, scale = promote_args_inexact("chi2.logpdf", x, df, loc, scale)
  return gamma.logpdf(x, df / 2, loc, 2 * scale)


@compiled()
def pdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The density; see `logpdf` for the arguments.

  >>> from gnomon.scipy.stats import chi2
  >>> round(chi2.pdf(0.5, 3.0).item(), 4)
  0.2197
  """
  x, df, loc, scale = promote_args_inexact("chi2.pdf", x, df, loc, scale)
  return gamma.pdf(x, df / 2, loc, 2 * scale)


@compiled()
def cdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The distribution function: the probability of at most `x`; see `logpdf`.

  >>> from gnomon.scipy.stats import chi2
  >>> round(chi2.cdf(0.5, 3.0).item(), 4)
  0.0811
  """
  x, df, loc, scale = promote_args_inexact("chi2.cdf", x, df, loc, scale)
  return gamma.cdf(x, df / 2, loc, 2 * scale)


@compiled()
def logcdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The logarithm of the distribution function; see `logpdf`.

  >>> from gnomon.scipy.stats import chi2
  >>> round(chi2.logcdf(0.5, 3.0).item(), 4)
  -2.512
  """
  x, df, loc, scale = promote_args_inexact("chi2.logcdf", x, df, loc, scale)
  return gamma.logcdf(x, df / 2, loc, 2 * scale)


@compiled()
def sf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The probability of more than `x`, right in the upper tail; see `logpdf`.

  >>> from gnomon.scipy.stats import chi2
  >>> round(chi2.sf(0.5, 3.0).item(), 4)
  0.9189
  """
  x, df, loc, scale = promote_args_inexact("chi2.sf", x, df, loc, scale)
  return gamma.sf(x, df / 2, loc, 2 * scale)


@compiled()
def logsf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The logarithm of the probability of more than `x`; see `logpdf`.

  >>> from gnomon.scipy.stats import chi2
  >>> round(chi2.logsf(0.5, 3.0).item(), 4)
  -0.0846
  """
  x, df, loc, scale = promote_args_inexact("chi2.logsf", x, df, loc, scale)
  return gamma.logsf(x, df / 2, loc, 2 * scale)
