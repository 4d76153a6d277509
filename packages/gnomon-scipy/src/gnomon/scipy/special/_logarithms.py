"""Logarithms times something, entropies, and the logistic function."""

from __future__ import annotations

from typing import Any

import gnomon.numpy as gnp
from gnomon import custom_jvp, lax
from gnomon.core.structural import select_n
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_args_inexact


def _full(x: Any, value: float) -> Any:
  return gnp.full_like(x, value)


@custom_jvp
def _xlogy(x: Any, y: Any) -> Any:
  nothing = (x == 0) & ~gnp.isnan(y)
  return gnp.where(nothing, _full(x, 0), x * gnp.log(gnp.where(nothing, 1, y)))


_xlogy.defjvps(
    lambda t, ans, x, y: t * gnp.log(y),
    lambda t, ans, x, y: t * gnp.where((x == 0) & (y == 0), _full(x, 0), x / y))


@compiled()
def xlogy(x: Any, y: Any) -> Any:
  r""":math:`x \log y`, elementwise, with 0 where `x` is 0.

  Args:
    x: array or number.
    y: array or number that broadcasts with `x`.

  >>> from gnomon.scipy import special
  >>> special.xlogy(0.0, 0.0).item()
  0.0

  Raises:
    TypeError: an argument is no array and no number.
  """
  x, y = gnp.broadcast_arrays(*promote_args_inexact("xlogy", x, y))
  return _xlogy(x, y)


@custom_jvp
def _xlog1py(x: Any, y: Any) -> Any:
  nothing = (x == 0) & ~gnp.isnan(y)
  return gnp.where(nothing, _full(x, 0), x * gnp.log1p(gnp.where(nothing, 0, y)))


_xlog1py.defjvps(
    lambda t, ans, x, y: t * gnp.log1p(y),
    lambda t, ans, x, y: t * gnp.where((x == 0) & (y == -1), _full(x, 0), x / (1 + y)))


@compiled()
def xlog1py(x: Any, y: Any) -> Any:
  r""":math:`x \log(1 + y)`, elementwise, with 0 where `x` is 0.

  Args:
    x: array or number.
    y: array or number that broadcasts with `x`.

  >>> from gnomon.scipy import special
  >>> special.xlog1py(0.0, -1.0).item()
  0.0

  Raises:
    TypeError: an argument is no array and no number.
  """
  x, y = gnp.broadcast_arrays(*promote_args_inexact("xlog1py", x, y))
  return _xlog1py(x, y)


@compiled()
def entr(x: Any) -> Any:
  r"""The term of an entropy, :math:`-x \log x`, elementwise: 0 at 0, -inf below.

  Args:
    x: array or number, not complex.

  >>> from gnomon.scipy import special
  >>> special.entr(0.0).item(), special.entr(-1.0).item()
  (0.0, -inf)

  Raises:
    TypeError: `x` is no array and no number.
  """
  (x,) = promote_args_inexact("entr", x)
  return gnp.where(x < 0, -gnp.inf, _entr(gnp.where(x < 0, 1, x)))


@custom_jvp
def _entr(x: Any) -> Any:
  return gnp.where(x == 0, _full(x, 0), -xlogy(x, x))


_entr.defjvps(lambda t, ans, x: t * (-gnp.log(x) - 1))


def _ratio_log(p: Any, q: Any) -> Any:
  """The product p log(p / q) of positive numbers; the quotient may overflow."""
  quotient = p / q
  fine = gnp.isfinite(quotient) & (quotient > 0)
  apart = gnp.log(p) - gnp.log(q)
  return p * gnp.where(fine, gnp.log(gnp.where(fine, quotient, 1)), apart)


@compiled()
def rel_entr(p: Any, q: Any) -> Any:
  r"""The term of a relative entropy, :math:`p \log(p/q)`, elementwise.

  It is 0 where `p` is 0 and `q` not negative, and inf where `p` or `q` is negative, or
  `q` is 0 and `p` is not.

  Args:
    p: array or number.
    q: array or number that broadcasts with `p`.

  >>> from gnomon.scipy import special
  >>> special.rel_entr(0.0, 0.0).item(), special.rel_entr(1.0, 0.0).item()
  (0.0, inf)

  Raises:
    TypeError: an argument is no array and no number.
  """
  p, q = gnp.broadcast_arrays(*promote_args_inexact("rel_entr", p, q))
  both, zero = (p > 0) & (q > 0), (p == 0) & (q >= 0)
  value = _ratio_log(gnp.where(both, p, 1), gnp.where(both, q, 1))
  unknown = gnp.isnan(p) | gnp.isnan(q)
  outside = gnp.where(unknown, gnp.nan, gnp.where(zero, _full(p, 0), gnp.inf))
  return gnp.where(both, value, outside)


@compiled()
def kl_div(p: Any, q: Any) -> Any:
  r"""The term of a divergence, :math:`p \log(p/q) - p + q`, elementwise.

  It is `q` where `p` is 0 and `q` not negative, and inf outside of that.

  Args:
    p: array or number.
    q: array or number that broadcasts with `p`.

  >>> from gnomon.scipy import special
  >>> special.kl_div(0.0, 2.0).item()
  2.0

  Raises:
    TypeError: an argument is no array and no number.
  """
  p, q = promote_args_inexact("kl_div", p, q)
  return rel_entr(p, q) - p + q


@compiled()
def expit(x: Any) -> Any:
  r"""The logistic function, :math:`1 / (1 + e^{-x})`, elementwise.

  Args:
    x: array or number.

  >>> from gnomon.scipy import special
  >>> special.expit(0.0).item()
  0.5

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.logistic(*promote_args_inexact("expit", x))


@compiled()
def logit(x: Any) -> Any:
  r"""The inverse of the logistic function, :math:`\log(p / (1 - p))`, elementwise.

  Args:
    x: array or number; the result is nan outside of 0 to 1.

  >>> from gnomon.scipy import special
  >>> special.logit(0.5).item(), special.logit(1.0).item()
  (0.0, inf)

  Raises:
    TypeError: `x` is no array and no number.
  """
  return _logit(*promote_args_inexact("logit", x))


@custom_jvp
def _logit(x: Any) -> Any:
  # Near 1/2 the two logarithms almost cancel; 2x - 1 is exact there.
  near = (x > 0.3) & (x < 0.65)
  middle = gnp.where(near, x, 0.5)
  apart = gnp.log(gnp.where(near, 0.5, x)) - gnp.log1p(-gnp.where(near, 0.5, x))
  s = 2 * middle - 1
  return select_n(near, apart, 2 * s * _atanh_ratio(s * s))


def _atanh_ratio(square: Any) -> Any:
  """The series of atanh(s) / s in s**2, for s below 0.4: XLA's atanh is less exact."""
  terms = 21 if typeof(square).dtype.itemsize > 4 else 10
  value = gnp.full_like(square, 1 / (2 * terms + 1))
  for k in range(terms - 1, -1, -1):
    value = value * square + 1 / (2 * k + 1)
  return value


_logit.defjvps(lambda t, ans, x: t / (x * (1 - x)))


@compiled()
def boxcox(x: Any, lmbda: Any) -> Any:
  r"""The Box-Cox transformation, :math:`(x^\lambda - 1) / \lambda`; log `x` at 0.

  Args:
    x: array or number; nan below 0.
    lmbda: array or number that broadcasts with `x`.

  >>> from gnomon.scipy import special
  >>> special.boxcox(4.0, 0.5).item()
  2.0

  Raises:
    TypeError: an argument is no array and no number.
  """
  x, power = gnp.broadcast_arrays(*promote_args_inexact("boxcox", x, lmbda))
  return _scaled_expm1(gnp.log(x), power)


@compiled()
def boxcox1p(x: Any, lmbda: Any) -> Any:
  r"""The Box-Cox transformation of `1 + x`, exact near 0.

  Args:
    x: array or number; nan below -1.
    lmbda: array or number that broadcasts with `x`.

  >>> from gnomon.scipy import special
  >>> special.boxcox1p(3.0, 0.5).item()
  2.0

  Raises:
    TypeError: an argument is no array and no number.
  """
  x, power = gnp.broadcast_arrays(*promote_args_inexact("boxcox1p", x, lmbda))
  return _scaled_expm1(gnp.log1p(x), power)


def _scaled_expm1(log: Any, power: Any) -> Any:
  """(exp(power log) - 1) / power, which is log where the power is 0."""
  small = abs(power * log) < 1e-30
  scale = gnp.where(small, 1, power)
  exact = gnp.expm1(gnp.where(small, 0, power * log)) / scale
  return gnp.where(small, log * (1 + power * log / 2), exact)
