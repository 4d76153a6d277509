"""The Cauchy distribution around a circle: `scipy.stats.wrapcauchy`."""

from __future__ import annotations

import math
from typing import Any

import gnomon.numpy as gnp
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_args_inexact
from gnomon.scipy.stats._location import inside

__all__ = ["logpdf", "pdf"]


@compiled()
def logpdf(x: Any, c: Any) -> Any:
  r"""The log-density, :math:`\log \frac{1 - c^2}{2 \pi (1 + c^2 - 2c \cos x)}`.

  Args:
    x: array or number: where.
    c: the concentration; nan unless between 0 and 1.

  >>> from gnomon.scipy.stats import wrapcauchy
  >>> round(wrapcauchy.logpdf(0.5, 0.3).item(), 4)
  -1.3585

  Raises:
    TypeError: an argument is no array and no number.
  """
  x, c = promote_args_inexact("wrapcauchy.logpdf", x, c)
  c = gnp.where((c > 0) & (c < 1), c, gnp.nan)
  valid = (x >= 0) & (x <= 2 * math.pi)
  sine = gnp.sin(gnp.where(valid, x, 0) / 2)
  value = gnp.log1p(-c * c) - gnp.log((1 - c) ** 2 + 4 * c * sine * sine)
  return inside(valid, value - math.log(2 * math.pi), x + c)


@compiled()
def pdf(x: Any, c: Any) -> Any:
  """The density; see `logpdf` for the arguments.

  >>> from gnomon.scipy.stats import wrapcauchy
  >>> round(wrapcauchy.pdf(0.5, 0.3).item(), 4)
  0.257
  """
  return gnp.exp(logpdf(x, c))
