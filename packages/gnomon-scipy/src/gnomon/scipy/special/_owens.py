"""Owen's T function."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import custom_jvp, lax
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.scipy.special._error import exp_of_square, tail
from gnomon.scipy.special._series import real_operands

_POINTS = 26


@lru_cache(maxsize=1)
def _rule() -> tuple[tuple[float, ...], tuple[float, ...]]:
  """Gauss's points between 0 and 1, and their weights."""
  points, weights = np.polynomial.legendre.leggauss(_POINTS)
  return tuple((points + 1) / 2), tuple(weights / 2)


def _inner(h: Any, a: Any) -> Any:
  """T for h of 0 or more and a between 0 and 1, by a sum of positive terms.

  The integrand is exp(-h**2 x**2 / 2) / (1 + x**2), which is nothing where h x is 9.
  """
  length = gnp.minimum(a, 9 / gnp.maximum(h, 1))
  total = gnp.zeros_like(h)
  for point, weight in zip(*_rule(), strict=True):
    x = length * point
    y = h * x
    total = total + weight * gnp.exp(-0.5 * y * y) / (1 + x * x)
  return exp_of_square(h, -0.5) * (length * total) / (2 * math.pi)


@custom_jvp
def _owens_t(h: Any, a: Any) -> Any:
  x, slope = gnp.abs(h), gnp.abs(a)
  steep = slope > 1
  far = gnp.where(x == 0, 0, x * slope)  # T(h, inf) at h = 0 is 1 / 4 as well
  most = float(gnp.finfo(typeof(h).dtype).max)
  far = gnp.minimum(far, most)
  value = _inner(
      gnp.minimum(gnp.where(steep, far, x), most),
      gnp.where(steep, 1 / gnp.where(steep, slope, 1), slope))
  q, r = tail(gnp.minimum(x, most)), tail(far)
  other = 0.5 * (q + r) - q * r - value  # D. B. Owen, 1956
  value = gnp.where(steep, other, value)
  unknown = gnp.isnan(h) | gnp.isnan(a)
  return gnp.where(unknown, gnp.nan, gnp.where(a < 0, -value, value))


def _by_h(h: Any, a: Any) -> Any:
  product = gnp.where(h == 0, 0, h * a)
  density = exp_of_square(h, -0.5) / math.sqrt(2 * math.pi)
  return -0.5 * density * lax.erf(product * math.sqrt(0.5))


def _by_a(h: Any, a: Any) -> Any:
  product = gnp.where(h == 0, 0, h * a)
  both = exp_of_square(h, -0.5) * exp_of_square(product, -0.5)
  return both / (2 * math.pi) / (1 + a * a)


_owens_t.defjvps(
    lambda t, ans, h, a: t * _by_h(h, a), lambda t, ans, h, a: t * _by_a(h, a))


@compiled()
def owens_t(h: Any, a: Any) -> Any:
  r"""Owen's T function, elementwise.

  :math:`\frac{1}{2\pi} \int_0^a \frac{e^{-h^2 (1 + x^2) / 2}}{1 + x^2} dx`: the
  probability that of two independent normal numbers the first is above `h`, and the
  second between 0 and `a` times the first.

  Args:
    h: array or number, not complex.
    a: array or number that broadcasts with `h`.

  >>> from gnomon.scipy import special
  >>> round(special.owens_t(0.0, 1.0).item(), 5)
  0.125

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: an argument is complex.
  """
  operands, narrow = real_operands("owens_t", h, a)
  return narrow(_owens_t(*operands))
