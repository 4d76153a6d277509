"""Exponential integrals."""

from __future__ import annotations

import math
from typing import Any

import gnomon.numpy as gnp
from gnomon import custom_jvp, lax
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.scipy.special import _tables as tables
from gnomon.scipy.special._series import beside_zero, fitted, real_operands, settle

_EULER = 0.5772156649015329
_ZERO = (0.3725074107813666, 1.3140183414386028e-17)  # of Ei, and what the double leaves


def _e1(x: Any) -> Any:
  """E1 for x of 0 or more."""
  near = fitted(x, 0.0, 0.75, tables.E1_NEAR) * x - _EULER - gnp.log(x)
  middle = fitted(x, 0.75, 3.0, tables.E1_MIDDLE)
  far = fitted(3 / gnp.maximum(x, 3), 0.0, 1.0, tables.E1_FAR)
  scaled = gnp.where(x < 3, middle, far)
  tail = gnp.exp(-x) * (scaled / gnp.maximum(x, 0.75))
  return gnp.where(x < 0.75, near, tail)


def _ei(x: Any) -> Any:
  """Ei for x of 0 or more. Near its zero, by the quotient that has none there."""
  small = gnp.where(x < 3, x, 1)
  near = beside_zero(
      small, _ZERO, 0.1, lambda v: fitted(v, 0.0, 3.0, tables.EI_NEAR))
  large = gnp.maximum(x, 3)
  scaled = gnp.where(
      x < 9, fitted(x, 3.0, 9.0, tables.EI_MIDDLE),
      gnp.where(x < 24, fitted(x, 9.0, 24.0, tables.EI_BEYOND),
                fitted(24 / gnp.maximum(x, 24), 0.0, 1.0, tables.EI_FAR)))
  # The exponential overflows before its quotient by x does.
  tail = gnp.exp(large - 8) * (scaled / large) * math.exp(8)
  return gnp.where(x < 3, near, gnp.where(x == gnp.inf, gnp.inf, tail))


@custom_jvp
def _expi(x: Any) -> Any:
  size = gnp.abs(x)
  value = gnp.where(x < 0, -_e1(gnp.where(x < 0, size, 1)), _ei(gnp.where(x < 0, 1, x)))
  return gnp.where(gnp.isnan(x), gnp.nan, value)


_expi.defjvps(lambda t, ans, x: t * (gnp.exp(x) / x))


@compiled()
def expi(x: Any) -> Any:
  r"""The exponential integral, :math:`\int_{-\infty}^x \frac{e^t}{t} dt`, elementwise.

  The integral is a principal value for positive `x`; it is -inf at 0.

  Args:
    x: array or number, not complex.

  >>> from gnomon.scipy import special
  >>> round(special.expi(1.0).item(), 5)
  1.89512

  Raises:
    TypeError: `x` is no array and no number.
    ValueError: `x` is complex.
  """
  (x,), narrow = real_operands("expi", x)
  return narrow(_expi(x))


@custom_jvp
def _exp1(x: Any) -> Any:
  return gnp.where(x >= 0, _e1(gnp.where(x >= 0, x, 1)), gnp.nan)


_exp1.defjvps(lambda t, ans, x: t * (-gnp.exp(-x) / x))


@compiled()
def exp1(x: Any) -> Any:
  r"""The exponential integral, :math:`\int_x^\infty \frac{e^{-t}}{t} dt`, elementwise.

  Args:
    x: array or number, not complex; the result is inf at 0 and nan below.

  >>> from gnomon.scipy import special
  >>> round(special.exp1(1.0).item(), 5)
  0.21938

  Raises:
    TypeError: `x` is no array and no number.
    ValueError: `x` is complex.
  """
  (x,), narrow = real_operands("exp1", x)
  return narrow(_exp1(x))


def _by_series(n: Any, x: Any) -> Any:
  """E of an order of 2 or more, for x of at most 1/2.

  The power series, whose term of order n - 1 has a logarithm.
  """
  special_term = lax.digamma(n) - gnp.log(gnp.where(x == 0, 1, x))
  eps = float(gnp.finfo(typeof(x).dtype).eps)

  def step(k: Any, power: Any, total: Any) -> Any:
    power = power * (-x / (k + 1))
    at = k + 2 - n
    here = at == 0
    term = power * gnp.where(here, special_term, -1 / gnp.where(here, 1, at))
    return (power, total + term), gnp.abs(power) > gnp.abs(total) * (eps / 64)

  return settle(step, gnp.ones_like(x), 1 / (n - 1))[1]


def _by_fraction(n: Any, x: Any) -> Any:
  """exp(x) E for x of 1/2 or more: the continued fraction by Lentz's algorithm."""
  eps = float(gnp.finfo(typeof(x).dtype).eps)

  def step(k: Any, c: Any, d: Any, h: Any) -> Any:
    i = k + 1
    top, bottom = -i * (n + k), x + n + 2 * i
    d = 1 / (top * d + bottom)
    c = bottom + top / c
    delta = c * d
    return (c, d, h * delta), gnp.abs(delta - 1) > eps

  first = 1 / (x + n)
  return settle(step, gnp.full_like(x, 1e30), first, first)[2]


@custom_jvp
def _expn(n: Any, x: Any) -> Any:
  fine = (n >= 0) & (gnp.floor(n) == n) & (x >= 0)
  order, at = gnp.where(fine & (n >= 1), n, 2), gnp.where(fine, x, 1)
  small = at < 0.5
  series = _by_series(gnp.maximum(order, 2), gnp.where(small, at, 0.25))
  large = gnp.where(small | (at == gnp.inf), 1, at)
  fraction = gnp.exp(-large) * _by_fraction(order, large)
  value = gnp.where(small, series, gnp.where(at == gnp.inf, 0, fraction))
  value = gnp.where(n == 1, _e1(at), gnp.where(n == 0, gnp.exp(-at) / at, value))
  value = gnp.where((at == 0) & (n <= 1), gnp.inf, value)
  return gnp.where(fine, value, gnp.nan)


def _expn_slope(n: Any, x: Any) -> Any:
  """The derivative by x: minus the integral of the order before."""
  first = gnp.exp(-x) * (1 + 1 / x) / x
  return -gnp.where(n == 0, first, _expn(gnp.where(n == 0, 1, n - 1), x))


_expn.defjvps(None, lambda t, ans, n, x: t * _expn_slope(n, x))


@compiled()
def expn(n: Any, x: Any) -> Any:
  r"""The exponential integral of order `n`, elementwise.

  :math:`E_n(x) = \int_1^\infty \frac{e^{-x t}}{t^n} dt`

  Args:
    n: array or number: the order, an integer of 0 or more (nan elsewhere). Orders are
      no continuum, and derivatives by them are zero.
    x: array or number that broadcasts with `n`, not complex; nan below 0.

  >>> from gnomon.scipy import special
  >>> round(special.expn(2, 1.0).item(), 5), special.expn(3, 0.0).item()
  (0.1485, 0.5)

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: an argument is complex.
  """
  (n, x), narrow = real_operands("expn", n, x)
  return narrow(_expn(n, x))
