"""Normal numbers between bounds, far ones among them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon import custom_jvp, lax
from gnomon.core.structural import broadcast_to, convert, select_n
from gnomon.core.types import typeof
from gnomon.random._api import check_key, float_dtype, float_info, placed
from gnomon.random._parameters import filled, result_shape, where
from gnomon.random._program import program
from gnomon.random._uniform import unit_interval

Shape = tuple[int, ...]


def truncated_normal(
    key: Any, lower: Any, upper: Any, shape: Any = None, dtype: Any = None, *,
    out_sharding: Any = None) -> Any:
  """Numbers of the standard normal distribution that lie between bounds.

  They are right wherever the bounds are, and have derivatives with respect to them.

  Args:
    key: a key.
    lower: lower bound; it may be -inf.
    upper: upper bound, not below `lower` (else the result is nan); it may be inf.
    shape: the result's shape; None: that of the bounds together.
    dtype: a floating-point dtype; None: float32 (float64 with 64-bit types on).
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> 30 < float(random.truncated_normal(random.key(0), 30.0, 100.0)) < 31
  True

  Raises:
    ValueError: `dtype` is not floating-point, or the shapes do not fit.
  """
  name = "truncated_normal"
  typed, _ = check_key(name, key)
  dtype = float_dtype(name, dtype)
  shape = result_shape(name, shape, lower=lower, upper=upper)
  far = not _is_near(lower, upper, dtype)
  out = _truncated_normal(typed, lower, upper, shape=shape, dtype=dtype, far=far)
  return placed(out, out_sharding)


def _far_from(dtype: Any) -> float:
  """A number beyond which the error function, close to 1, has lost half its digits."""
  return {"float64": 5.6, "float32": 3.6, "float16": 2.1}.get(dtype.name, 1.7)


def _is_near(lower: Any, upper: Any, dtype: Any) -> bool:
  """Whether bounds are known to be no far ones."""
  edge = _far_from(dtype)
  numbers = isinstance(lower, (int, float)), isinstance(upper, (int, float))
  return (numbers[0] and bool(lower < edge)) and (numbers[1] and bool(upper > -edge))


@program("shape", "dtype", "far")
def _truncated_normal(
    key: Any, lower: Any, upper: Any, *, shape: Shape, dtype: Any, far: bool) -> Any:
  lower, upper = convert(lower, dtype), convert(upper, dtype)
  root = np.asarray(math.sqrt(2), dtype)[()]
  unit = unit_interval(key, shape, dtype)
  ends = _without_far(lower, upper) if far else (lower, upper)
  low, high = (filled(lax.erf(x / root), shape, dtype) for x in ends)
  out = root * lax.erf_inv(lax.max(low, unit * (high - low) + low))
  lower, upper = broadcast_to(lower, shape), broadcast_to(upper, shape)
  if far:
    out = _with_far(unit, lower, upper, out)
  inside = (
      lax.nextafter(lax.stop_gradient(x), np.asarray(towards, dtype)[()])
      for x, towards in ((lower, np.inf), (upper, -np.inf)))
  first, last = inside
  out = lax.min(last, lax.max(first, out))
  out = select_n(lower == upper, out, lower)
  return where(lower <= upper, out, np.nan)


def _without_far(lower: Any, upper: Any) -> tuple[Any, Any]:
  """Bounds, with harmless ones for far ones, where derivatives would be infinite."""
  edge = _far_from(typeof(lower).dtype)
  shape = np.broadcast_shapes(typeof(lower).shape, typeof(upper).shape)
  lower, upper = broadcast_to(lower, shape), broadcast_to(upper, shape)
  is_far = (lower >= edge) | (upper <= -edge)
  return where(is_far, -1.0, lower), where(is_far, 1.0, upper)


def _with_far(unit: Any, lower: Any, upper: Any, near: Any) -> Any:
  """Replaces samples between bounds that lie far on the same side of 0."""
  dtype = typeof(near).dtype
  edge = _far_from(dtype)
  right, left = lower >= edge, upper <= -edge
  mirrored = select_n(left, unit, 1.0 - unit)
  low, high = select_n(left, lower, -upper), select_n(left, upper, -lower)
  is_far = (right | left) & (low < high)
  # Elsewhere, harmless numbers take part.
  low, high = where(is_far, low, edge), where(is_far, high, edge + 1)
  wide = np.dtype(np.float32) if dtype.itemsize < 4 else dtype
  out = convert(_tail(*(convert(x, wide) for x in (mirrored, low, high))), dtype)
  out = select_n(left, out, -out)
  return select_n(is_far, near, out)


@custom_jvp
def _tail(unit: Any, low: Any, high: Any) -> Any:
  """Normal numbers above `low` and below `high`, both far above 0, by inversion.

  With Q the probability of a larger number, log Q(low + z) - log Q(low) is given; it is
  solved for z by Newton's method, from where it ends if Q were its leading term.
  """
  base = _log_mills(low)
  to_high = _log_mills(high) - base - (high - low) * (0.5 * high + 0.5 * low)
  target = lax.log1p(unit * lax.expm1(to_high))
  least = np.asarray(
      math.log(float(float_info(typeof(low).dtype).epsneg) / 2), typeof(low).dtype)[()]
  target = lax.max(target, least)
  z = -2.0 * target / (low + lax.sqrt(low * low - 2.0 * target))
  for _ in range(3):
    log_mills = _log_mills(low + z)
    excess = log_mills - base - z * (low + 0.5 * z) - target
    z = z + lax.exp(log_mills) * excess
  return low + z


@_tail.defjvp
def _(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
  unit, low, high = primals
  out = _tail(unit, low, high)
  _, t_low, t_high = tangents  # the uniform number is a constant
  # (1 - u) Q(low) + u Q(high) = Q(x), and Q' = -exp(-x²/2) / sqrt(2 pi)
  by_low = (1.0 - unit) * lax.exp(0.5 * (out - low) * (out + low))
  by_high = unit * lax.exp(0.5 * (out - high) * (out + high))
  return out, t_low * by_low + t_high * by_high


def _log_mills(x: Any) -> Any:
  """log(Q(x) / Q'(x)), the logarithm of Mills' ratio, for x above 1.5."""
  small = lax.min(x, np.asarray(8.0, typeof(x).dtype)[()])
  near = lax.log(lax.erfc(small * math.sqrt(0.5))) + 0.5 * small * small
  near = near + 0.5 * math.log(math.pi / 2)
  fraction = x
  for n in range(12, 0, -1):  # Laplace's continued fraction; it converges fast from 8 on
    fraction = x + n / fraction
  return select_n(x < 8.0, -lax.log(fraction), near)
