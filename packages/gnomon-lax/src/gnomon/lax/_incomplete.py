"""Elementwise primitives: incomplete gamma and beta functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gnomon.core import dtypes
from gnomon.core.structural import convert, full, reduce_sum, select_n
from gnomon.core.types import typeof
from gnomon.lax._arithmetic import add, div, max, min, mul, neg, sub
from gnomon.lax._bitwise import bitwise_and, bitwise_not, bitwise_or
from gnomon.lax._comparison import eq, ge, gt, le, lt
from gnomon.lax._complex import abs
from gnomon.lax._control.while_ import while_loop
from gnomon.lax._exponential import exp, log, log1p
from gnomon.lax._families import FLOAT, binary, nary, operands
from gnomon.lax._power import rsqrt, sqrt
from gnomon.lax._special import composed, digamma, lgamma, no_derivative_in
from gnomon.lax._strong import times

# ---- shared by the algorithms

_MAX_STEPS = 20000  # of a series or fraction: some square roots of the largest parameters
_LARGE = 10.0  # from here on Stirling's series has the precision of float64


def _constant(like: Any, value: float) -> Any:
  aval = typeof(like)
  return full(aval.shape, value, aval.dtype)


def _where(condition: Any, x: Any, y: Any) -> Any:
  return select_n(condition, y, x)


def _repeat(step: Callable[..., Any], *state: Any) -> tuple[Any, ...]:
  """Iterates `step(n, *state) -> (state, moves)` for n from 1, while an element moves.

  An element that has stopped stays: rounding would carry it away while others move.
  """
  def body(carry: Any) -> Any:
    n, _, active, values = carry
    new, moves = step(n, *values)
    values = tuple(_where(active, v, w) for v, w in zip(new, values))
    active = bitwise_and(active, moves)
    count = reduce_sum(convert(active, np.dtype("int32")), range(typeof(active).ndim))
    return add(n, 1.0), gt(count, 0), active, values

  def goes_on(carry: Any) -> Any:
    return bitwise_and(carry[1], lt(carry[0], float(_MAX_STEPS)))

  aval = typeof(state[0])
  init = (np.ones((), aval.dtype), np.bool_(True), full(aval.shape, True, bool), state)
  return while_loop(goes_on, body, init)[3]  # type: ignore[no-any-return]


def _stirling(a: Any) -> Any:
  """What `lgamma(a)` is above `(a - 1/2) log a - a + log(2 pi) / 2`, for large `a`."""
  r = div(1.0, a)
  r2 = mul(r, r)
  total = _constant(a, 1 / 156)
  for c in (-691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12):
    total = add(mul(total, r2), c)
  return mul(total, r)


# ---- incomplete gamma


def igamma(a: Any, x: Any) -> Any:
  r"""Regularised lower incomplete gamma function, elementwise.

  :math:`P(a, x) = \frac{1}{\Gamma(a)} \int_0^x t^{a - 1} e^{-t} dt`

  Args:
    a: floating-point array of positive numbers (nan elsewhere).
    x: array of the same dtype and of the same shape, or a scalar; not negative.

  >>> from gnomon import lax
  >>> round(float(lax.igamma(1.0, 1.0)), 4)
  0.6321

  Raises:
    TypeError: dtypes differ or are not floating-point, or shapes differ.
  """
  return igamma_p.apply(*operands(a, x))[0]


def igammac(a: Any, x: Any) -> Any:
  r"""Regularised upper incomplete gamma function, elementwise: :math:`1 - P(a, x)`.

  It is exact where :math:`P`, which is `igamma`, is close to 1.

  Args:
    a: floating-point array of positive numbers (nan elsewhere).
    x: array of the same dtype and of the same shape, or a scalar; not negative.

  >>> from gnomon import lax
  >>> round(float(lax.igammac(1.0, 1.0)), 4)
  0.3679

  Raises:
    TypeError: dtypes differ or are not floating-point, or shapes differ.
  """
  return igammac_p.apply(*operands(a, x))[0]


def igamma_grad_a(a: Any, x: Any) -> Any:
  r"""Derivative of `igamma` with respect to `a`, elementwise.

  Args:
    a: floating-point array of positive numbers (nan elsewhere).
    x: array of the same dtype and of the same shape, or a scalar; not negative.

  >>> from gnomon import lax
  >>> round(float(lax.igamma_grad_a(1.0, 1.0)), 2)
  -0.43

  Raises:
    TypeError: dtypes differ or are not floating-point, or shapes differ.
  """
  return igamma_grad_a_p.apply(*operands(a, x))[0]


def random_gamma_grad(*args: Any) -> Any:
  r"""Derivative with respect to `a` of a sample `x` of the gamma distribution.

  :math:`-\frac{\partial P / \partial a}{\partial P / \partial x}(a, x)`: how a sample
  moves with `a` while its quantile :math:`P(a, x)` stays.

  Args:
    args: `a` and `x`. The first is a floating-point array of positive numbers (nan
      elsewhere), the second an array of the same dtype and of the same shape, or a
      scalar; not negative.

  >>> from gnomon import lax
  >>> round(float(lax.random_gamma_grad(1.0, 1.0)), 2)
  1.17

  Raises:
    TypeError: there are not two arguments; dtypes differ or are not floating-point, or
      shapes differ.
  """
  if len(args) != 2:
    raise TypeError(f"random_gamma_grad takes two arguments, a and x; got {len(args)}")
  return random_gamma_grad_p.apply(*operands(*args))[0]


class _Gamma(NamedTuple):
  """Where and by what P or Q = 1 - P are computed; values elsewhere mean nothing."""

  valid: Any
  lower: Any  # whether P is computed by its series; else Q by its fraction
  a: Any
  x: Any


def _split(a: Any, x: Any) -> _Gamma:
  """Puts harmless numbers where one algorithm or both do not apply."""
  inside = bitwise_and(bitwise_and(gt(a, 0.0), lt(a, math.inf)),
                       bitwise_and(gt(x, 0.0), lt(x, math.inf)))
  a, x = _where(inside, a, _constant(a, 1)), _where(inside, x, _constant(x, 1))
  return _Gamma(inside, bitwise_or(le(x, 1.0), le(x, a)), a, x)


def _precision(x: Any) -> float:
  """What a factor may differ from 1 when a product has converged."""
  return 2 * float(dtypes.finfo(typeof(x).dtype).eps)


def _series(g: _Gamma) -> Any:
  """S of `P = x^a e^-x / Gamma(a + 1) S`: the sum of all `x^n / ((a + 1) … (a + n))`."""
  x = _where(g.lower, g.x, _constant(g.a, 0))
  eps = _precision(x)

  def step(n: Any, term: Any, total: Any) -> Any:
    term = mul(term, div(x, add(g.a, n)))
    total = add(total, term)
    return (term, total), gt(term, mul(total, eps))

  one = _constant(g.a, 1)
  return _repeat(step, one, one)[1]


def _series_by_a(g: _Gamma) -> tuple[Any, Any]:
  """S and dS/da."""
  x = _where(g.lower, g.x, _constant(g.a, 0))
  eps = _precision(x)

  def step(n: Any, term: Any, dterm: Any, total: Any, dtotal: Any) -> Any:
    r = add(g.a, n)
    ratio = div(x, r)
    dterm = mul(sub(dterm, div(term, r)), ratio)
    term = mul(term, ratio)
    total, dtotal = add(total, term), add(dtotal, dterm)
    moves = bitwise_or(
        gt(term, mul(total, eps)), gt(abs(dterm), mul(abs(dtotal), eps)))
    return (term, dterm, total, dtotal), moves

  one, zero = _constant(g.a, 1), _constant(g.a, 0)
  return _repeat(step, one, zero, one, zero)[2:]


def _for_fraction(g: _Gamma) -> tuple[Any, Any, Any]:
  """Legendre's fraction: its parameter, its start, and an infinite first quotient."""
  a = _where(g.lower, _constant(g.a, 1), g.a)
  x = _where(g.lower, _constant(g.a, 2), g.x)
  big = 1 / math.sqrt(float(dtypes.finfo(typeof(a).dtype).tiny))
  return a, sub(add(x, 1.0), a), _constant(a, big)


def _fraction(g: _Gamma) -> Any:
  """F of `Q = x^a e^-x / Gamma(a) F`: Legendre's fraction by Lentz's algorithm."""
  a, start, c = _for_fraction(g)
  eps = _precision(a)

  def step(n: Any, c: Any, d: Any, h: Any) -> Any:
    top, bottom = mul(sub(a, n), n), add(start, mul(n, 2.0))
    d = div(1.0, add(mul(top, d), bottom))
    c = add(bottom, div(top, c))
    delta = mul(c, d)
    return (c, d, mul(h, delta)), gt(abs(sub(delta, 1.0)), eps)

  d = div(1.0, start)
  return _repeat(step, c, d, d)[2]


def _fraction_by_a(g: _Gamma) -> tuple[Any, Any]:
  """F and dF/da: each step of Lentz's algorithm beside its derivative."""
  a, start, c = _for_fraction(g)
  eps = _precision(a)

  def step(n: Any, c: Any, dc: Any, d: Any, dd: Any, h: Any, dh: Any) -> Any:
    top = mul(sub(a, n), n)  # whose derivative is n
    bottom = add(start, mul(n, 2.0))  # whose derivative is -1
    dd = sub(add(mul(d, n), mul(top, dd)), 1.0)
    d = div(1.0, add(mul(top, d), bottom))
    dd = neg(mul(mul(d, d), dd))
    dc = sub(sub(div(n, c), mul(top, div(dc, mul(c, c)))), 1.0)
    c = add(bottom, div(top, c))
    delta, ddelta = mul(c, d), add(mul(dc, d), mul(c, dd))
    dh = add(mul(dh, delta), mul(h, ddelta))
    h = mul(h, delta)
    moves = bitwise_or(
        gt(abs(sub(delta, 1.0)), eps), gt(abs(mul(h, ddelta)), mul(abs(dh), eps)))
    return (c, dc, d, dd, h, dh), moves

  h = div(1.0, start)
  dh = mul(h, h)
  return _repeat(step, c, _constant(a, 0), h, dh, h, dh)[4:]


def _density(a: Any, x: Any) -> Any:
  """`x^a e^-x / Gamma(a)`, without the cancellation that large `a` would bring."""
  large = ge(a, _LARGE)
  big = _where(large, a, _constant(a, _LARGE))
  off = div(sub(x, big), big)
  # For large a: e^(-a (off - log(1 + off))) sqrt(a / (2 pi)) / e^stirling(a).
  near = lt(abs(off), 0.5)
  exponent = mul(big, _where(near, sub(log1p(off), off), sub(log(div(x, big)), off)))
  by_stirling = div(exp(sub(exponent, _stirling(big))),
                    mul(rsqrt(big), math.sqrt(2 * math.pi)))
  small = _where(large, _constant(a, 1), a)
  return _where(
      large, by_stirling, exp(sub(sub(mul(small, log(x)), x), lgamma(small))))


def _edges(a: Any, x: Any, inside: Any, value: Any, at_zero: float, at_inf: float) -> Any:
  """The value inside of the domain, its limits at the ends, nan elsewhere."""
  nan = _constant(a, math.nan)
  domain = bitwise_and(ge(a, 0.0), ge(x, 0.0))
  low = bitwise_and(eq(x, 0.0), gt(a, 0.0))
  low = bitwise_or(low, bitwise_and(eq(a, math.inf), lt(x, math.inf)))
  high = bitwise_and(eq(x, math.inf), lt(a, math.inf))
  high = bitwise_or(high, bitwise_and(eq(a, 0.0), gt(x, 0.0)))
  out = _where(low, _constant(a, at_zero), nan)
  out = _where(high, _constant(a, at_inf), out)
  out = _where(domain, out, nan)
  return _where(inside, value, out)


def _igamma(a: Any, x: Any) -> Any:
  g = _split(a, x)
  density = _density(g.a, g.x)
  p = mul(div(density, g.a), _series(g))
  q = mul(density, _fraction(g))
  return _edges(a, x, g.valid, _where(g.lower, p, sub(1.0, q)), 0.0, 1.0)


def _igammac(a: Any, x: Any) -> Any:
  g = _split(a, x)
  density = _density(g.a, g.x)
  p = mul(div(density, g.a), _series(g))
  q = mul(density, _fraction(g))
  return _edges(a, x, g.valid, _where(g.lower, sub(1.0, p), q), 1.0, 0.0)


def _slope(g: _Gamma) -> Any:
  """`dP/da` over the density `x^a e^-x / Gamma(a)`."""
  total, dtotal = _series_by_a(g)
  part, dpart = _fraction_by_a(g)
  grows = sub(log(g.x), digamma(g.a))
  by_series = div(add(mul(total, sub(grows, div(1.0, g.a))), dtotal), g.a)
  by_fraction = neg(add(mul(part, grows), dpart))
  return _where(g.lower, by_series, by_fraction)


def _igamma_grad_a(a: Any, x: Any) -> Any:
  g = _split(a, x)
  return _edges(a, x, g.valid, mul(_density(g.a, g.x), _slope(g)), 0.0, 0.0)


def _random_gamma_grad(a: Any, x: Any) -> Any:
  g = _split(a, x)
  return _edges(a, x, g.valid, neg(mul(g.x, _slope(g))), 0.0, math.inf)


def _by_x(a: Any, x: Any) -> Any:
  """The derivative of `igamma` with respect to `x`."""
  log_density = sub(sub(mul(sub(a, 1.0), log(x)), x), lgamma(a))
  return exp(log_density)


_fails = tuple(no_derivative_in("igamma_grad_a", name) for name in "ax")
igamma_grad_a_p = binary("igamma_grad_a", FLOAT, composed(_igamma_grad_a), *_fails)
_fails = tuple(no_derivative_in("random_gamma_grad", name) for name in "ax")
random_gamma_grad_p = binary(
    "random_gamma_grad", FLOAT, composed(_random_gamma_grad), *_fails)
igamma_p = binary(
    "igamma", FLOAT, composed(_igamma),
    lambda t, ans, a, x: times(t, igamma_grad_a(a, x)),
    lambda t, ans, a, x: times(t, _by_x(a, x)))
igammac_p = binary(
    "igammac", FLOAT, composed(_igammac),
    lambda t, ans, a, x: times(t, neg(igamma_grad_a(a, x))),
    lambda t, ans, a, x: times(t, neg(_by_x(a, x))))


# ---- incomplete beta


def betainc(a: Any, b: Any, x: Any) -> Any:
  r"""Regularised incomplete beta function, elementwise.

  :math:`I_x(a, b) = \frac{1}{B(a, b)} \int_0^x t^{a - 1} (1 - t)^{b - 1} dt`

  Args:
    a: floating-point array of positive numbers (nan elsewhere).
    b: array of the same dtype and of the same shape, or a scalar; positive.
    x: likewise; in [0, 1].

  >>> from gnomon import lax
  >>> round(float(lax.betainc(2.0, 2.0, 0.5)), 4)
  0.5

  Raises:
    TypeError: dtypes differ or are not floating-point, or shapes differ.
    ValueError: it is differentiated with respect to `a` or `b`.
  """
  return regularized_incomplete_beta_p.apply(*operands(a, b, x))[0]


def _log_beta(a: Any, b: Any) -> Any:
  """The logarithm of the beta function, precise where one parameter is large."""
  s, big = min(a, b), max(a, b)
  large = ge(big, _LARGE)
  safe = max(big, _LARGE)
  both = add(safe, s)
  # lgamma(big) - lgamma(big + s) by Stirling's formula: what is equal is taken out.
  ratio = sub(s, mul(sub(safe, 0.5), log1p(div(s, safe))))
  ratio = sub(ratio, mul(s, log(both)))
  ratio = add(ratio, sub(_stirling(safe), _stirling(both)))
  plain = sub(lgamma(big), lgamma(add(big, s)))
  return add(lgamma(s), _where(large, ratio, plain))


def _beta_density(a: Any, b: Any, x: Any, y: Any) -> Any:
  """`x^a y^b / B(a, b)` for `y = 1 - x`, without the cancellation of large parameters."""
  plain = exp(sub(add(mul(a, log(x)), mul(b, log(y))), _log_beta(a, b)))
  large = ge(min(a, b), _LARGE)
  big_a, big_b = max(a, _LARGE), max(b, _LARGE)
  both = add(big_a, big_b)
  off = div(sub(mul(x, big_b), mul(y, big_a)), both)  # x - a / (a + b)
  exponent = add(
      mul(big_a, _log_ratio(x, off, div(big_a, both))),
      mul(big_b, _log_ratio(y, neg(off), div(big_b, both))))
  rest = sub(_stirling(both), add(_stirling(big_a), _stirling(big_b)))
  scale = mul(div(big_a, both), div(big_b, 2 * math.pi))
  by_stirling = mul(exp(add(exponent, rest)), sqrt(scale))
  return _where(large, by_stirling, plain)


def _log_ratio(x: Any, off: Any, mean: Any) -> Any:
  """`log(x / mean)`, where `off` is their difference."""
  r = div(off, mean)
  return _where(lt(abs(r), 0.5), log1p(max(r, -0.5)), log(div(x, mean)))


def _beta_fraction(a: Any, b: Any, x: Any) -> Any:
  """F of `I = x^a (1 - x)^b / (a B) F`: Lentz's algorithm for the continued fraction."""
  eps = _precision(a)
  least = math.sqrt(float(dtypes.finfo(typeof(a).dtype).tiny))
  both = add(a, b)

  def away(v: Any) -> Any:
    return _where(lt(abs(v), least), _constant(v, least), v)

  def step(m: Any, c: Any, d: Any, h: Any) -> Any:
    even = add(a, mul(m, 2.0))
    top = mul(mul(sub(b, m), m), div(x, mul(sub(even, 1.0), even)))
    d = div(1.0, away(add(mul(top, d), 1.0)))
    c = away(add(div(top, c), 1.0))
    h = mul(h, mul(c, d))
    top = mul(mul(neg(add(a, m)), add(both, m)), div(x, mul(even, add(even, 1.0))))
    d = div(1.0, away(add(mul(top, d), 1.0)))
    c = away(add(div(top, c), 1.0))
    delta = mul(c, d)
    return (c, d, mul(h, delta)), gt(abs(sub(delta, 1.0)), eps)

  d = div(1.0, away(sub(1.0, mul(both, div(x, add(a, 1.0))))))
  return _repeat(step, _constant(a, 1), d, d)[2]


def _betainc(a: Any, b: Any, x: Any) -> Any:
  finite = bitwise_and(lt(a, math.inf), lt(b, math.inf))
  inside = bitwise_and(bitwise_and(gt(a, 0.0), gt(b, 0.0)),
                       bitwise_and(gt(x, 0.0), lt(x, 1.0)))
  inside = bitwise_and(inside, finite)
  one, half = _constant(a, 1), _constant(a, 0.5)
  p, q, z = (_where(inside, v, w) for v, w in ((a, one), (b, one), (x, half)))
  # The fraction converges fast below the mean; above it, the other tail is computed.
  swap = gt(z, div(add(p, 1.0), add(add(p, q), 2.0)))
  p, q = _where(swap, q, p), _where(swap, p, q)
  rest = sub(1.0, z)
  z, rest = _where(swap, rest, z), _where(swap, z, rest)
  tail = div(mul(_beta_density(p, q, z, rest), _beta_fraction(p, q, z)), p)
  return _beta_edges(a, b, x, inside, _where(swap, sub(1.0, tail), tail))


def _beta_edges(a: Any, b: Any, x: Any, inside: Any, value: Any) -> Any:
  """The value inside of the domain, its limits at the ends, nan elsewhere."""
  nan = _constant(a, math.nan)
  domain = bitwise_and(bitwise_and(ge(a, 0.0), ge(b, 0.0)),
                       bitwise_and(ge(x, 0.0), le(x, 1.0)))
  left = bitwise_or(eq(a, 0.0), eq(b, math.inf))
  right = bitwise_or(eq(b, 0.0), eq(a, math.inf))
  unknown = bitwise_and(left, right)  # all is at both ends: at 0 and 1 too, as in SciPy
  left, right = bitwise_and(left, gt(x, 0.0)), bitwise_and(right, lt(x, 1.0))
  one, zero = _constant(a, 1), _constant(a, 0)
  out = _where(eq(x, 1.0), one, _where(eq(x, 0.0), zero, nan))
  out = _where(left, one, _where(right, zero, out))
  domain = bitwise_and(domain, bitwise_not(unknown))
  return _where(inside, value, _where(domain, out, nan))


def _beta_by_x(t: Any, ans: Any, a: Any, b: Any, x: Any) -> Any:
  log_beta = sub(add(lgamma(a), lgamma(b)), lgamma(add(a, b)))
  powers = add(mul(sub(b, 1.0), log1p(neg(x))), mul(sub(a, 1.0), log(x)))
  return times(t, exp(sub(powers, log_beta)))


regularized_incomplete_beta_p = nary(
    "regularized_incomplete_beta", [FLOAT, FLOAT, FLOAT], composed(_betainc),
    derivatives=[no_derivative_in("betainc", "a"), no_derivative_in("betainc", "b"),
                 _beta_by_x])
