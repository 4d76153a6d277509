"""Distributions of counts: geometric, Poisson."""

from __future__ import annotations

from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.structural import convert, select_n
from gnomon.core.types import typeof
from gnomon.random._api import check_key, float_info, placed, user_dtype
from gnomon.random._parameters import filled, flat, parts, parts_of, result_shape, where
from gnomon.random._primitives import random_bits, split_keys
from gnomon.random._program import program
from gnomon.random._uniform import unit_interval, units

Shape = tuple[int, ...]
_F32 = np.dtype(np.float32)


def _count_dtype(name: str, dtype: Any) -> Any:
  dtype = user_dtype(name, int if dtype is None else dtype)
  if not dtypes.issubdtype(dtype, np.integer):
    raise ValueError(f"dtype argument to `{name}` must be an integer dtype, got {dtype}")
  return dtype


def _or_invalid(valid: Any, count: Any) -> Any:
  """Counts, or -1 where the parameters were invalid."""
  return where(valid, count, ~lax.full((), 0, typeof(count).dtype))


def geometric(
    key: Any, p: Any, shape: Any = None, dtype: Any = None, *,
    out_sharding: Any = None) -> Any:
  """How many trials it takes to the first success, itself counted.

  Args:
    key: a key.
    p: probability of success of a trial. An invalid one (nan among them) gives -1, which
      in an unsigned dtype is its largest number.
    shape: the result's shape; None: that of `p`.
    dtype: an integer dtype; None: int32 (int64 with 64-bit types on). Counts beyond its
      largest number are that.
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> int(random.geometric(random.key(0), 1.0))
  1

  Raises:
    ValueError: `dtype` is no integer type, or `p` does not broadcast to `shape`.
  """
  typed, _ = check_key("geometric", key)
  dtype = _count_dtype("geometric", dtype)
  out = _geometric(typed, p, shape=result_shape("geometric", shape, p=p), dtype=dtype)
  return placed(out, out_sharding)


@program("shape", "dtype")
def _geometric(key: Any, p: Any, *, shape: Shape, dtype: Any) -> Any:
  own = typeof(p).dtype
  single = own.itemsize < 8 or not dtypes.issubdtype(own, np.floating)
  narrow = single and own.kind not in "iu"
  wide = _F32 if narrow else dtypes.canonicalize_dtype(np.float64)
  p = filled(p, shape, wide)
  log_u = where(p < 2.0 ** -10, *_log_uniform(key, shape, wide))
  count = lax.floor(log_u / lax.log1p(-p)) + 1.0
  count = where(p == 0.0, np.inf, count)
  return _or_invalid((p >= 0.0) & (p <= 1.0), convert(count, dtype))


def _log_uniform(key: Any, shape: Shape, dtype: Any) -> tuple[Any, Any]:
  """Logarithms of uniform numbers in (0, 1]: fine ones where close to 0, and plain ones.

  Bits that do not fit into the fraction of a number tell numbers close to 1 apart.
  """
  info = float_info(dtype)
  words = random_bits(key, info.bits, shape)
  spare = info.bits - info.nmant
  unsigned = np.dtype(f"uint{info.bits}")
  u = lax.bitcast_convert_type(
      lax.bitwise_or(
          lax.shift_right_logical(words, unsigned.type(spare)),
          np.asarray(1, dtype).view(unsigned)[()]), dtype) - 1.0
  u = where(u == 0.0, 1.0, u)
  plain = lax.log(u)
  rest = lax.bitwise_and(words, unsigned.type(2 ** spare - 1))
  below = (1.0 - u) + convert(rest, dtype) * 2.0 ** -info.bits
  fine = select_n(u > 0.5, plain, lax.log1p(-lax.min(below, np.asarray(0.5, dtype)[()])))
  return fine, plain


def poisson(
    key: Any, lam: Any, shape: Any = None, dtype: Any = None, *,
    out_sharding: Any = None) -> Any:
  """Counts of independent events, of which `lam` are expected.

  Args:
    key: a key.
    lam: the rate. An invalid one (nan among them) gives -1, which
      in an unsigned dtype is its largest number.
    shape: the result's shape; None: that of `lam`.
    dtype: an integer dtype; None: int32 (int64 with 64-bit types on). Counts beyond its
      largest number are that.
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> int(random.poisson(random.key(0), 0.0))
  0

  Raises:
    ValueError: `dtype` is no integer type, or `lam` does not broadcast to `shape`.
  """
  typed, _ = check_key("poisson", key)
  dtype = _count_dtype("poisson", dtype)
  out = _poisson(
      typed, lam, shape=result_shape("poisson", shape, lam=lam), dtype=dtype,
      known=known_below(lam, 10.0))
  return placed(out, out_sharding)


def known_below(x: Any, bound: float) -> bool | None:
  """Whether a number is clearly below a bound, or above it; None if neither is known."""
  if not isinstance(x, (int, float)):
    return None
  return True if x < 0.99 * bound else False if x > 1.01 * bound else None


@program("shape", "dtype", "known")
def _poisson(
    key: Any, lam: Any, *, shape: Shape, dtype: Any, known: bool | None) -> Any:
  """`known` says that all rates are below 10, or none: one of the methods suffices."""
  lam = flat(filled(lam, shape, _F32))
  few, valid = lam < 10.0, lam >= 0.0
  counted = rejected = lax.full(typeof(lam).shape, 0, _F32)
  if known is not False:
    counted = _poisson_by_times(key, where(few & valid, lam, 0.0))
    counted = lax.max(counted, np.float32(0.0))
  if known is not True:
    rejected = _poisson_by_rejection(key, where(~few & (lam < np.inf), lam, 1e5))
    rejected = where(lam == np.inf, np.inf, rejected)
  out = convert(select_n(few, rejected, counted), dtype)
  return lax.reshape(_or_invalid(valid, out), shape)


def _poisson_by_times(key: Any, lam: Any) -> Any:
  """Counts events by their exponentially distributed distances: Knuth's method."""
  shape = typeof(lam).shape

  def step(state: Any) -> Any:
    key, count, log_product = state
    key, sub = parts_of(key, 2)
    u = unit_interval(sub, shape, _F32)
    count = select_n(log_product > -lam, count, count + 1.0)
    return key, count, log_product + lax.log(u)

  zero = lax.full(shape, 0, _F32)
  start = key, zero, zero
  return lax.while_loop(lambda s: gnp.any(s[2] > -lam), step, start)[1] - 1.0


def _poisson_by_rejection(key: Any, lam: Any) -> Any:
  """Hörmann, "The transformed rejection method for generating Poisson variables".

  Insurance: Mathematics and Economics 12 (1993).
  """
  shape = typeof(lam).shape
  log_lam = lax.log(lam)
  b = 0.931 + 2.53 * lax.sqrt(lam)
  a = -0.059 + 0.02483 * b
  inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
  v_r = 0.9277 - 3.6224 / (b - 2.0)

  def step(state: Any) -> Any:
    key, out = state
    keys = split_keys(key, (3,))
    u, v = parts(units(lax.slice_in_dim(keys, 1, 3), shape=shape, dtype=_F32))
    u = u - 0.5
    u_s = 0.5 - lax.abs(u)
    k = lax.floor((2.0 * a / u_s + b) * u + lam + 0.43)
    s = lax.log(v * inverse_alpha / (a / (u_s * u_s) + b))
    t = _log_poisson(k, lam, log_lam)
    easy = (u_s >= 0.07) & (v <= v_r)
    never = (k < 0.0) | ((u_s < 0.013) & (v > u_s))
    found = easy | (~never & (s <= t))
    return lax.index_in_dim(keys, 0, 0, keepdims=False), select_n(found, out, k)

  # Accepted counts are not negative. They give way to later ones, as in JAX.
  start = key, lax.full(shape, -1, _F32)
  return lax.while_loop(lambda s: gnp.any(s[1] < 0.0), step, start)[1]


def _log_poisson(k: Any, lam: Any, log_lam: Any) -> Any:
  """The logarithm of the probability of k events.

  Of a large rate it is a small difference of large numbers, and made of their deviance.
  """
  plain = -lam + k * log_lam - lax.lgamma(k + 1.0)
  large = lax.max(k, np.float32(1.0))
  stirling = -0.5 * lax.log(2 * np.pi * large) - 1.0 / (12.0 * large)
  return where(lam > 1e5, stirling - deviance(large, lam), plain)


def deviance(x: Any, mean: Any) -> Any:
  """The deviance x log(x / mean) + mean - x, without cancellation near the mean."""
  d = (x - mean) / (x + mean)
  d2 = d * d
  # log(x / mean) = 2 atanh(d), and mean - x = -d (x + mean)
  total = lax.full(typeof(d).shape, 1 / 15, typeof(d).dtype)
  for n in range(13, 1, -2):
    total = total * d2 + 1 / n
  near = (x - mean) * d + 2.0 * x * d * d2 * total
  far = x * lax.log(x / mean) + (mean - x)
  return select_n(lax.abs(d) < 0.1, far, near)
