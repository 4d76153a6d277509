"""Student's distribution: `scipy.stats.t`."""

from __future__ import annotations

from typing import Any

import gnomon.numpy as gnp
from gnomon.numpy._compiled import compiled
from gnomon.scipy import special
from gnomon.scipy.stats._location import located, log1p_square, positive

__all__ = ["logpdf", "pdf"]


@compiled()
def logpdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
  r"""The log-density, up to a sum :math:`\log (1 + z^2 / \nu)^{-(\nu + 1) / 2}`.

  Args:
    x: array or number: where.
    df: the degrees of freedom; nan unless positive.
    loc: what is subtracted from `x`.
    scale: what that is divided by; nan unless positive.

  >>> from gnomon.scipy.stats import t
  >>> round(t.logpdf(0.5, 3.0).item(), 4)
  -1.161

  Raises:
    TypeError: an argument is no array and no number.
  """
  z, scale, df = located("t.logpdf", x, loc, scale, df)
  df = positive(df)
  total = gnp.log(df) / 2 + special.betaln(df / 2, 0.5) + gnp.log(scale)
  return -total - (df + 1) / 2 * log1p_square(z / gnp.sqrt(df))


@compiled()
def pdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
  """The density; see `logpdf` for the arguments.

  >>> from gnomon.scipy.stats import t
  >>> round(t.pdf(0.5, 3.0).item(), 4)
  0.3132
  """
  return gnp.exp(logpdf(x, df, loc, scale))
