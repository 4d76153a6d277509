"""Bessel functions of the first kind, and modified ones."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import custom_jvp, lax
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_args_inexact
from gnomon.scipy.special import _tables as tables
from gnomon.scipy.special._series import fitted, real_operands


@compiled()
def i0e(x: Any) -> Any:
  r"""The scaled modified Bessel function of order 0, :math:`e^{-|x|} I_0(x)`.

  Args:
    x: array or number, not complex.

  >>> from gnomon.scipy import special
  >>> round(special.i0e(0.0).item(), 5)
  1.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.bessel_i0e(*promote_args_inexact("i0e", x))


@compiled()
def i0(x: Any) -> Any:
  r"""The modified Bessel function of order 0, :math:`I_0(x)`, elementwise.

  Args:
    x: array or number, not complex.

  >>> from gnomon.scipy import special
  >>> round(special.i0(0.0).item(), 5)
  1.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  (x,) = promote_args_inexact("i0", x)
  return gnp.exp(gnp.abs(x)) * lax.bessel_i0e(x)


@compiled()
def i1e(x: Any) -> Any:
  r"""The scaled modified Bessel function of order 1, :math:`e^{-|x|} I_1(x)`.

  Args:
    x: array or number, not complex.

  >>> from gnomon.scipy import special
  >>> special.i1e(0.0).item()
  0.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.bessel_i1e(*promote_args_inexact("i1e", x))


@compiled()
def i1(x: Any) -> Any:
  r"""The modified Bessel function of order 1, :math:`I_1(x)`, elementwise.

  Args:
    x: array or number, not complex.

  >>> from gnomon.scipy import special
  >>> special.i1(0.0).item()
  0.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  (x,) = promote_args_inexact("i1", x)
  return gnp.exp(gnp.abs(x)) * lax.bessel_i1e(x)


def _first_two(x: Any) -> tuple[Any, Any]:
  """The functions of order 0 and 1, of x of 0 or more: by phase and modulus from 8."""
  square = gnp.minimum(x, 8) ** 2
  near0 = fitted(square, 0.0, 64.0, tables.J0_NEAR)
  near1 = x * fitted(square, 0.0, 64.0, tables.J1_NEAR)
  large = gnp.where(x == gnp.inf, 8, gnp.maximum(x, 8))
  inverse = 1 / large
  v = (8 * inverse) ** 2
  p0, p1 = (fitted(v, 0.0, 1.0, c) for c in (tables.J0_P, tables.J1_P))
  q0, q1 = (fitted(v, 0.0, 1.0, c) * inverse for c in (tables.J0_Q, tables.J1_Q))
  sine, cosine = gnp.sin(large), gnp.cos(large)
  # cos(x - pi / 4) and so on, but for the factor sqrt(1 / 2)
  plus, minus = sine + cosine, sine - cosine
  scale = gnp.sqrt(inverse) / math.sqrt(math.pi)
  far0 = scale * (p0 * plus - q0 * minus)
  far1 = scale * (p1 * minus + q1 * plus)
  ended = x == gnp.inf
  return (
      gnp.where(x < 8, near0, gnp.where(ended, 0, far0)),
      gnp.where(x < 8, near1, gnp.where(ended, 0, far1)))


def _all_orders(x: Any, last: int, start: int) -> Any:
  """Orders 0 to `last`: the recurrence upwards while they oscillate, then by quotients.

  Beyond the order x they fall, and the recurrence would amplify the other solution. There
  each is the one before times a quotient, from the recurrence downwards.
  """
  size = gnp.abs(x)
  j0, j1 = _first_two(size)
  dtype = typeof(x).dtype
  up = np.arange(2, last + 1).astype(dtype)

  def down(quotient: Any, k: Any) -> Any:
    bottom = 2 * k - size * quotient
    new = size / gnp.where(bottom == 0, 1e-30, bottom)
    return new, new

  _, quotients = lax.scan(
      down, gnp.zeros_like(size), np.arange(2, start + 1).astype(dtype), reverse=True)
  safe = gnp.where(size == 0, 1, size)

  def climb(carry: Any, step: Any) -> Any:
    before, now = carry
    k, quotient = step
    new = gnp.where(k > size, quotient * now, 2 * (k - 1) / safe * now - before)
    return (now, new), new

  _, rest = lax.scan(climb, (j0, j1), (up, quotients[:len(up)]))
  odd = gnp.where(x < 0, -1, 1).astype(dtype)
  values = gnp.concatenate([gnp.stack([j0, j1]), rest])[:last + 1]
  signs = gnp.stack([gnp.ones_like(odd), odd])[np.arange(last + 1) % 2]
  return gnp.where(gnp.isnan(x), gnp.nan, values * signs)


def _orders(last: int, start: int) -> Any:
  """A differentiable function of x that gives the orders up to `last`."""
  @custom_jvp
  def orders(x: Any) -> Any:
    return _all_orders(x, last, start)

  def slope(t: Any, ans: Any, x: Any) -> Any:
    del ans
    more = _orders(last + 1, start + 1)(x)
    before = gnp.concatenate([-more[1:2], more[:last]])
    return t * ((before - more[1:]) / 2)

  orders.defjvps(slope)
  return orders


@compiled(static=("v", "n_iter"))
def _bessel_jn(z: Any, v: int, n_iter: int) -> Any:
  (z,), narrow = real_operands("bessel_jn", z)
  start = max(n_iter, v + 20 + math.ceil(10 * v ** (1 / 3)))
  return narrow(_orders(v, start)(z))


def bessel_jn(z: Any, *, v: int, n_iter: int = 50) -> Any:
  r"""Bessel functions of the first kind, :math:`J_0(z)` to :math:`J_v(z)`.

  Args:
    z: array or number of any size, not complex.
    v: the largest order, an integer of 0 or more.
    n_iter: the least order from which quotients are computed downwards; more are taken
      where that needs it.

  Returns:
    An array of shape `(v + 1, *z.shape)`.

  >>> from gnomon.scipy import special
  >>> [round(j.item(), 5) for j in special.bessel_jn(1.0, v=1)]
  [0.7652, 0.44005]

  Raises:
    TypeError: `v` is no integer, or `z` no array and no number.
    ValueError: `v` is negative, or `z` is complex.
  """
  try:
    v, n_iter = operator.index(v), operator.index(n_iter)
  except TypeError as error:
    raise TypeError(
        f"bessel_jn needs integers v and n_iter, got {v!r}, {n_iter!r}") from error
  if v < 0:
    raise ValueError(f"bessel_jn needs an order v of 0 or more, got {v}")
  return _bessel_jn(z, v, n_iter)
