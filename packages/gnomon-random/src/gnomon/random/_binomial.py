"""Binomial and multinomial distributions."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.structural import broadcast_to, convert, select_n
from gnomon.core.types import typeof
from gnomon.random._api import check_key, float_dtype, user_dtype
from gnomon.random._counts import deviance, known_below
from gnomon.random._parameters import (
  check_fits,
  filled,
  flat,
  parts,
  parts_of,
  result_shape,
  where,
)
from gnomon.random._primitives import split_keys
from gnomon.random._program import program
from gnomon.random._uniform import unit_interval, units

Shape = tuple[int, ...]


def binomial(key: Any, n: Any, p: Any, shape: Any = None, dtype: Any = None) -> Any:
  """Counts of successes of `n` independent trials, as floating-point numbers.

  Args:
    key: a key.
    n: how many trials: rounded down; not negative (nan elsewhere).
    p: probability of success of each, within 0 and 1 (nan elsewhere).
    shape: the result's shape; None: that of the parameters together.
    dtype: a floating-point dtype; None: float32 (float64 with 64-bit types on).

  >>> from gnomon import random
  >>> float(random.binomial(random.key(0), 7, 1.0))
  7.0

  Raises:
    ValueError: `dtype` is not floating-point, or the shapes do not fit.
  """
  typed, _ = check_key("binomial", key)
  dtype = float_dtype("binomial", dtype)
  shape = result_shape("binomial", shape, n=n, p=p)
  return _binomial(typed, n, p, shape=shape, dtype=dtype, methods=_methods(n, p))


class Methods(NamedTuple):
  """Which methods parameters may need: those for small counts and for larger ones.

  Of many trials, probabilities are computed in another way.
  """

  gaps: bool = True
  rejection: bool = True
  many: bool = True


_ALL = Methods()


def _methods(n: Any, p: Any) -> Methods:
  """What numbers need; arrays may need all."""
  if not (isinstance(n, (int, float)) and isinstance(p, (int, float))):
    return _ALL
  small = known_below(n * min(p, 1 - p), 10.0)
  many = known_below(n, _MANY[4]) is not True
  return Methods(small is not False, small is not True, many)


_MANY = {4: 2.0 ** 17, 8: 2.0 ** 40}  # how many trials are many, by the bytes of numbers


@program("shape", "dtype", "methods")
def _binomial(
    key: Any, n: Any, p: Any, *, shape: Shape, dtype: Any,
    methods: Methods = _ALL) -> Any:
  wide = _wide(n, p)  # and not the result's: as in JAX
  n, p = (flat(filled(x, shape, wide)) for x in (n, p))
  return lax.reshape(convert(_successes(key, n, p, methods), dtype), shape)


def _wide(*xs: Any) -> Any:
  """The dtype in which to draw for parameters: one of 32 bits at least."""
  own = gnp.result_type(*xs)
  own = own if dtypes.issubdtype(own, np.floating) else gnp.result_type(float)
  return own if own.itemsize >= 4 else np.dtype(np.float32)


def _successes(key: Any, n: Any, p: Any, methods: Methods) -> Any:
  """Counts successes, or failures if they are the rarer."""
  valid = (n >= 0.0) & (p >= 0.0) & (p <= 1.0)
  finite = n < np.inf
  rare = p < 0.5
  q = select_n(rare, 1.0 - p, p)
  usable = valid & finite
  few = ~usable | (n * q <= 10.0)
  whole = lax.floor(n)
  # Elsewhere, harmless numbers take part, whose samples come soon.
  by_gaps = rejected = lax.full(typeof(n).shape, 0, typeof(n).dtype)
  if methods.gaps:
    by_gaps = _binomial_by_gaps(
        key, where(usable & few, whole, 0.0), where(usable, q, 0.01))
  if methods.rejection:
    rejected = _binomial_by_rejection(
        key, where(few, 1e4, whole), where(few, 0.5, q), methods.many)
  count = select_n(few, rejected, by_gaps)
  count = where(finite | (q == 0.0), where(q == 0.0, 0.0, count), np.inf)
  count = select_n(rare | ~finite, whole - count, _of_all(p, count, n))
  return where(valid, count, np.nan)


def _of_all(p: Any, count: Any, n: Any) -> Any:
  """The count where it is of successes, or where there are infinitely many trials."""
  return where((n == np.inf) & (p == 1.0), np.inf, count)


def _binomial_by_gaps(key: Any, n: Any, p: Any) -> Any:
  """Counts successes by the geometrically distributed distances between them."""
  aval = typeof(n)
  log_q = lax.log1p(-p)

  def step(state: Any) -> Any:
    key, count, trials = state
    sub, key = parts_of(key, 2)
    count = select_n(trials <= n, count, count + 1.0)
    gap = lax.ceil(lax.log(unit_interval(sub, aval.shape, aval.dtype)) / log_q)
    return key, count, trials + gap

  zero = lax.full(aval.shape, 0, aval.dtype)
  start = key, zero, zero
  return lax.while_loop(lambda s: gnp.any(s[2] <= n), step, start)[1] - 1.0


def _binomial_by_rejection(key: Any, n: Any, p: Any, many: bool) -> Any:
  """Hörmann, "The generation of binomial random variates" (1993), algorithm BTRS."""
  aval = typeof(n)
  spread = lax.sqrt(n * p * (1.0 - p))
  b = 1.15 + 2.53 * spread
  a = -0.0873 + 0.0248 * b + 0.01 * p
  c = n * p + 0.5
  v_r = 0.92 - 4.2 / b
  alpha = (2.83 + 5.1 / b) * spread
  mode = lax.floor((n + 1.0) * p)

  def step(state: Any) -> Any:
    key, out = state
    keys = split_keys(key, (3,))
    u, v = parts(units(
        lax.slice_in_dim(keys, 1, 3), shape=aval.shape, dtype=aval.dtype))
    u = u - 0.5
    u_s = 0.5 - lax.abs(u)
    easy = (u_s >= 0.07) & (v <= v_r)
    k = lax.floor((2.0 * a / u_s + b) * u + c)
    s = lax.log(v * alpha / (a / (u_s * u_s) + b))
    found = easy | ((k >= 0.0) & (k <= n) & (s <= _log_ratio(k, mode, n, p, many)))
    return lax.index_in_dim(keys, 0, 0, keepdims=False), select_n(found, out, k)

  # Accepted counts are not negative. They give way to later ones, as in JAX.
  start = key, lax.full(aval.shape, -1, aval.dtype)
  return lax.while_loop(lambda s: gnp.any(s[1] < 0.0), step, start)[1]


def _log_ratio(k: Any, mode: Any, n: Any, p: Any, many: bool) -> Any:
  """The logarithm of the probability of k successes over that of the mode.

  Of many trials it is a small difference of large numbers, and made of deviances.
  """
  odds = p / (1.0 - p)
  plain = (
      (mode + 0.5) * lax.log((mode + 1.0) / (odds * (n - mode + 1.0)))
      + (n + 1.0) * lax.log((n - mode + 1.0) / (n - k + 1.0))
      + (k + 0.5) * lax.log(odds * (n - k + 1.0) / (k + 1.0))
      + _stirling(mode) + _stirling(n - mode) - _stirling(k) - _stirling(n - k))
  if not many:
    return plain
  bound = _MANY[typeof(n).dtype.itemsize]
  exact = _log_probability(k, n, p) - _log_probability(mode, n, p)
  return where(n > bound, exact, plain)


def _log_probability(k: Any, n: Any, p: Any) -> Any:
  """The logarithm of the probability of k of many successes, but for a constant."""
  one = np.asarray(1, typeof(n).dtype)[()]
  k, rest = lax.max(k, one), lax.max(n - k, one)
  return (
      -deviance(k, n * p) - deviance(rest, n * (1.0 - p))
      - 0.5 * (lax.log(k) + lax.log(rest)) - (1.0 / k + 1.0 / rest) / 12.0)


_STIRLING = [
    math.lgamma(k + 1) - (k + 0.5) * math.log(k + 1) + (k + 1)
    - 0.5 * math.log(2 * math.pi)
    for k in range(10)]


def _stirling(k: Any) -> Any:
  """What log(k!) is above Stirling's approximation to it."""
  dtype = typeof(k).dtype
  x = lax.clamp(0.0, k, 9.0) + 1.0
  square = x * x
  series = (1 / 12 - (1 / 360 - (1 / 1260) / square) / square) / x
  # A choice, since compilers make no vectors of look-ups in a table.
  cases = (lax.full(typeof(k).shape, value, dtype) for value in _STIRLING)
  index = convert(x, np.dtype(np.int32)) - 1
  return select_n(k <= 9.0, series, select_n(index, *cases))


def multinomial(
    key: Any, n: Any, p: Any, *, shape: Any = None, dtype: Any = None,
    unroll: int = 1) -> Any:
  """How often each of several outcomes came out of `n` independent trials.

  Args:
    key: a key.
    n: how many trials, of a shape that broadcasts to the result's without its last axis.
    p: probabilities of the outcomes, along the last axis; their sum is taken as 1.
    shape: the result's shape; None: that of `p`.
    dtype: a dtype of numbers; None: float32 (float64 with 64-bit types on).
    unroll: how many outcomes a step of the loop over them takes (see `lax.scan`).

  >>> import numpy as np
  >>> from gnomon import random
  >>> float(random.multinomial(random.key(0), 5, np.array([0.5, 0.25, 0.25])).sum())
  5.0

  Raises:
    ValueError: `p` has no axis, or the shapes do not fit.
  """
  typed, _ = check_key("multinomial", key)
  dtype = user_dtype("multinomial", float if dtype is None else dtype)
  own = typeof(p).shape
  if not own:
    raise ValueError("multinomial: p needs an axis of probabilities, got a scalar")
  shape = result_shape("multinomial", own if shape is None else shape, p=p)
  check_fits("multinomial", "n", typeof(n).shape, shape[:-1])
  return _multinomial(typed, n, p, shape=shape, dtype=dtype, unroll=unroll)


@program("shape", "dtype", "unroll", rows=True)
def _multinomial(
    key: Any, n: Any, p: Any, *, shape: Shape, dtype: Any, unroll: int) -> Any:
  wide = _wide(p)
  n, p = filled(n, shape[:-1], wide), convert(p, wide)
  last = typeof(p).ndim - 1
  left = lax.cumsum(p, axis=last, reverse=True)
  ratio = lax.div(p, where(left == 0.0, 1.0, left))
  ratio = gnp.moveaxis(broadcast_to(ratio, shape), -1, 0)
  keys = split_keys(key, (shape[-1],))

  def outcome(left: Any, x: Any) -> tuple[Any, Any]:
    share, key = x
    share = lax.clamp(0.0, share, 1.0)
    count = _binomial(key, left, share, shape=shape[:-1], dtype=wide)
    return left - count, count

  _, counts = lax.scan(outcome, n, (ratio, keys), unroll=unroll)
  return convert(gnp.moveaxis(counts, 0, -1), dtype)
