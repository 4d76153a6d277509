"""The von Mises distribution, of an angle: `scipy.stats.vonmises`."""

from __future__ import annotations

import math
from typing import Any

import gnomon.numpy as gnp
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_args_inexact
from gnomon.scipy import special

__all__ = ["logpdf", "pdf"]


@compiled()
def logpdf(x: Any, kappa: Any) -> Any:
  r"""The logarithm of the density, :math:`\kappa \cos x - \log(2 \pi I_0(\kappa))`.

  Args:
    x: array or number: where.
    kappa: the concentration; nan if negative.

  >>> from gnomon.scipy.stats import vonmises
  >>> round(vonmises.logpdf(0.5, 2.0).item(), 4)
  -0.9067

  Raises:
    TypeError: an argument is no array and no number.
  """
  x, kappa = promote_args_inexact("vonmises.logpdf", x, kappa)
  kappa = gnp.where(kappa >= 0, kappa, gnp.nan)
  drop = 2 * kappa * gnp.sin(x / 2) ** 2
  return -drop - math.log(2 * math.pi) - gnp.log(special.i0e(kappa))


@compiled()
def pdf(x: Any, kappa: Any) -> Any:
  """The density; see `logpdf` for the arguments.

  >>> from gnomon.scipy.stats import vonmises
  >>> round(vonmises.pdf(0.5, 2.0).item(), 4)
  0.4039
  """
  return gnp.exp(logpdf(x, kappa))
