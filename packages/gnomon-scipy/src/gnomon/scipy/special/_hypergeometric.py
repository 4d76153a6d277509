"""Hypergeometric functions."""

from __future__ import annotations

from typing import Any

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.scipy.special._gamma import gammasgn, is_pole
from gnomon.scipy.special._series import differentiable, real_operands, settle


def _eps(x: Any) -> float:
  """What a term of a sum may be beside it; its derivative settles a little later."""
  return float(gnp.finfo(typeof(x).dtype).eps) / 32


# ---- 1F1


def _kummer_series(a: Any, b: Any, x: Any, first: Any) -> Any:
  """The series of x of 0 or more, times `first`, against overflow."""
  eps = _eps(x)

  def step(k: Any, term: Any, size: Any, total: Any) -> Any:
    bottom = (b + k) * (k + 1)
    factor = x / gnp.where(bottom == 0, 1, bottom)  # the terms have ended before
    term = term * ((a + k) * factor)
    # Where a is a negative integer the terms end, but not their derivatives.
    size = size * (gnp.maximum(gnp.abs(a + k), 1) * gnp.abs(factor))
    early = (k < x) | (k < -a) | (k < -b)  # terms may still grow
    return (term, size, total + term), early | (size > eps * gnp.abs(total))

  return settle(step, first, lax.stop_gradient(first), first)[2]


def _kummer_far(a: Any, b: Any, x: Any) -> Any:
  """exp(-x) 1F1 for large x: Gamma(b) / Gamma(a) x**(a - b) and its series."""
  eps = _eps(x)

  def step(k: Any, term: Any, total: Any) -> Any:
    new = term * ((b - a + k) * (1 - a + k) / ((k + 1) * x))
    moves = (gnp.abs(new) < gnp.abs(term)) & (gnp.abs(new) > eps * gnp.abs(total))
    return (new, gnp.where(gnp.abs(new) < gnp.abs(term), total + new, total)), moves

  one = gnp.ones_like(x)
  total = settle(step, one, one)[1]
  log = lax.lgamma(b) - lax.lgamma(a) + (a - b) * gnp.log(x)
  return gammasgn(a) * gammasgn(b) * gnp.exp(log) * total


def _hyp1f1_value(a: Any, b: Any, x: Any) -> Any:
  below = x < 0  # Kummer's transformation: exp(x) 1F1(b - a, b, -x)
  p, y = gnp.where(below, b - a, a), gnp.abs(x)
  bad = is_pole(b) & ~(is_pole(a) & (a >= b))  # else the series ends before its pole
  q = gnp.where(bad, 1, b)
  dtype = typeof(x).dtype
  most = 600.0 if dtype.itemsize == 8 else 60.0
  reach = 40 + 2 * gnp.abs((q - p) * (1 - p))
  far = (y > gnp.maximum(reach, 50)) & ~is_pole(p)
  scale = gnp.minimum(gnp.where(far, 0, y), most)
  near = _kummer_series(p, q, gnp.where(far, 0, y), gnp.exp(-scale))
  rest = _kummer_far(gnp.where(far, p, 1), gnp.where(far, q, 1), gnp.where(far, y, 50))
  power = gnp.where(below, gnp.where(far, 0, scale - y), gnp.where(far, y, scale))
  value = gnp.where(far, rest, near) * gnp.exp(power)
  value = gnp.where(bad, gnp.inf, gnp.where(a == 0, 1, value))
  return gnp.where(gnp.isnan(a) | gnp.isnan(b) | gnp.isnan(x), gnp.nan, value)


_hyp1f1 = differentiable(_hyp1f1_value)


@compiled()
def hyp1f1(a: Any, b: Any, x: Any) -> Any:
  r"""Kummer's confluent hypergeometric function, elementwise.

  :math:`\sum_{k=0}^\infty \frac{(a)_k}{(b)_k} \frac{x^k}{k!}`. It has derivatives by all
  of its arguments.

  Args:
    a: array or number.
    b: array or number that broadcasts with `a`; the result is inf at its poles, 0 and the
      negative integers, but 1 where `a` is 0.
    x: array or number that broadcasts with both.

  >>> from gnomon.scipy import special
  >>> round(special.hyp1f1(1.0, 2.0, 1.0).item(), 5)
  1.71828

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: an argument is complex.
  """
  operands, narrow = real_operands("hyp1f1", a, b, x)
  return narrow(_hyp1f1(*operands))


# ---- 2F1


def _gauss_series(a: Any, b: Any, c: Any, x: Any) -> tuple[Any, Any]:
  """The series of |x| well below 1 (or with an end), and x times its derivative."""
  eps = _eps(x)

  def step(k: Any, term: Any, size: Any, total: Any, slope: Any) -> Any:
    bottom = (c + k) * (k + 1)
    factor = x / gnp.where(bottom == 0, 1, bottom)
    term = term * ((a + k) * (b + k) * factor)
    bounds = gnp.maximum(gnp.abs(a + k), 1e-3) * gnp.maximum(gnp.abs(b + k), 1e-3)
    size = size * (bounds * gnp.abs(factor))
    ended = ((k > -a) & is_pole(a)) | ((k > -b) & is_pole(b))
    early = (k < -a) | (k < -b) | (k < -c)
    moves = early | (size > eps * gnp.abs(total))
    return (term, size, total + term, slope + (k + 1) * term), moves & ~(
        ended & (gnp.abs(x) >= 1))

  one = gnp.ones_like(x)
  return settle(step, one, one, one, gnp.zeros_like(x))[2:]


_TERMS = {8: 60, 4: 28}


def _towards_one(a: Any, b: Any, c: Any, rest: Any) -> Any:
  """2F1 at 1 - rest for rest below 1/4, by Taylor's series of its differential equation.

  Each goes at most half the way to the singularity at 1, so that none of them has to
  know how the function behaves there: no case of c - a - b is special.
  """
  start = 0.75
  value, slope = _gauss_series(a, b, c, gnp.full_like(rest, start))
  slope = slope / start
  terms = _TERMS[typeof(rest).dtype.itemsize]

  def step(_: Any, left: Any, value: Any, slope: Any) -> Any:
    x = 1 - left
    h = gnp.minimum(left - rest, 0.5 * left)
    p, r, q = x * left, left - x, c - (a + b + 1) * x
    now, after = value, slope * h
    scale = h / p

    def term(i: Any, carry: Any) -> Any:
      now, after, total, moved = carry
      k = i.astype(typeof(now).dtype)
      up = ((k + a) * (k + b) * now * h - (k + 1) * (r * k + q) * after) * scale
      now, after = after, up / ((k + 2) * (k + 1))
      return now, after, total + after, moved + (k + 2) * after

    _, _, total, moved = lax.fori_loop(0, terms, term, (now, after, now + after, after))
    left = gnp.where(0.5 * left > left - rest, rest, left - h)
    return (left, total, gnp.where(h == 0, slope, moved / gnp.where(h == 0, 1, h))), (
        left > rest)

  return settle(step, gnp.full_like(rest, 1 - start), value, slope)[1]


def _at_one(a: Any, b: Any, c: Any) -> Any:
  """Gauss's value at 1, where it is finite."""
  s = c - a - b
  fine = s > 0
  args = [gnp.where(fine, v, w) for v, w in ((c, 3), (s, 1), (c - a, 2), (c - b, 2))]
  logs = lax.lgamma(args[0]) + lax.lgamma(args[1]) - lax.lgamma(args[2])
  sign = gammasgn(args[0]) * gammasgn(args[2]) * gammasgn(args[3])
  zero = is_pole(args[2]) | is_pole(args[3])
  value = gnp.where(zero, 0, sign * gnp.exp(logs - lax.lgamma(args[3])))
  return gnp.where(fine, value, gnp.inf)


def _hyp2f1_value(a: Any, b: Any, c: Any, x: Any) -> Any:
  ends = is_pole(a) | is_pole(b)
  # Pfaff's transformation for x below -1/2: 2F1(a, c - b, c, x / (x - 1)) / (1 - x)**a
  below = (x < -0.5) & ~ends
  y = gnp.where(below, x, 0)
  q = gnp.where(below, c - b, b)
  inside = gnp.where(below, y / (y - 1), x)
  rest = gnp.where(below, 1 / (1 - y), 1 - x)  # exact where the argument is near 1
  bad = is_pole(c) & ~(ends & (gnp.maximum(a, b) >= c))
  d = gnp.where(bad, 1, c)
  finite = is_pole(a) | is_pole(q)
  direct = finite | ((inside <= 0.75) & (inside >= -0.75))
  series = _gauss_series(a, q, d, gnp.where(direct, inside, 0.25))[0]
  near = ~direct & (rest > 0)
  left = gnp.where(near, rest, 0.2)
  # Euler's transformation where the function grows: the other factor does not.
  grows = d - a - q < 0
  smooth = _towards_one(
      gnp.where(grows, d - a, a), gnp.where(grows, d - q, q), d, left)
  beside = gnp.where(grows, left ** (d - a - q), 1) * smooth
  value = gnp.where(direct, series, beside)
  value = gnp.where(~direct & (rest == 0), _at_one(a, q, d), value)
  value = value * gnp.where(below, (1 - y) ** -a, 1)
  value = gnp.where(~direct & (rest < 0), gnp.inf, value)
  value = gnp.where(bad, gnp.inf, value)
  value = gnp.where(x == 0, 1, value)
  unknown = gnp.isnan(a) | gnp.isnan(b) | gnp.isnan(c) | gnp.isnan(x)
  return gnp.where(unknown, gnp.nan, value)


_hyp2f1 = differentiable(_hyp2f1_value)


@compiled()
def hyp2f1(a: Any, b: Any, c: Any, x: Any) -> Any:
  r"""Gauss's hypergeometric function, elementwise.

  :math:`\sum_{k=0}^\infty \frac{(a)_k (b)_k}{(c)_k} \frac{x^k}{k!}`, continued to all `x`
  up to 1. It has derivatives by all of its arguments.

  Args:
    a: array or number.
    b: array or number that broadcasts with `a`.
    c: array or number that broadcasts with both; the result is inf at its poles.
    x: array or number that broadcasts with all; the result is inf above 1, unless `a` or
      `b` makes the series end.

  >>> from gnomon.scipy import special
  >>> round(special.hyp2f1(1.0, 1.0, 2.0, 0.5).item(), 5)
  1.38629

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: an argument is complex.
  """
  operands, narrow = real_operands("hyp2f1", a, b, c, x)
  return narrow(_hyp2f1(*operands))
