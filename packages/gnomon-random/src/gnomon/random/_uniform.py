"""Uniform numbers: real, integer, and of a given probability."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from gnomon import jit, lax
from gnomon.core import dtypes
from gnomon.core.structural import broadcast_to, convert, select_n
from gnomon.core.types import typeof
from gnomon.random._api import (
  check_key,
  float_dtype,
  float_info,
  placed,
  shape_of,
  user_dtype,
)
from gnomon.random._keys import BY_POSITION
from gnomon.random._primitives import random_bits, split_keys
from gnomon.random._program import program

Shape = tuple[int, ...]


def uniform(
    key: Any, shape: Any = (), dtype: Any = None, minval: Any = 0.0, maxval: Any = 1.0, *,
    out_sharding: Any = None) -> Any:
  """Numbers distributed uniformly in [minval, maxval).

  Args:
    key: a key.
    shape: the result's shape.
    dtype: a floating-point dtype; None: float32 (float64 with 64-bit types on).
    minval: lower bound, of a shape that broadcasts to `shape`; reached.
    maxval: upper bound; not reached.
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> random.uniform(random.key(0), (2,)).shape
  (2,)

  Raises:
    ValueError: `dtype` is not floating-point, or a bound does not broadcast to `shape`.
  """
  typed, _ = check_key("uniform", key)
  dtype = float_dtype("uniform", dtype)
  unit = (
      type(minval) is float and type(maxval) is float and (minval, maxval) == (0.0, 1.0))
  out = _uniform(
      typed, minval, maxval, shape=shape_of("uniform", shape), dtype=dtype,
      rounds=not unit, overflows=_overflows(minval, maxval, dtype))
  return placed(out, out_sharding)


def _overflows(minval: Any, maxval: Any, dtype: Any) -> bool:
  """Whether the distance of numbers, but not they themselves, exceed the dtype."""
  if not all(isinstance(x, (int, float)) for x in (minval, maxval)):
    return False
  most = float(float_info(dtype).max)
  return bool(maxval - minval > most >= max(abs(minval), abs(maxval)))


@program("shape", "dtype", "rounds", "overflows")
def _uniform(
    key: Any, minval: Any, maxval: Any, *, shape: Shape, dtype: Any,
    rounds: bool = False, overflows: bool = False) -> Any:
  """Uniform numbers.

  `rounds` says that rounding could reach the upper bound; `overflows`, that the bounds
  are so far apart that their distance is infinite.
  """
  minval, maxval = convert(minval, dtype), convert(maxval, dtype)
  low = _spread("uniform", "minval", minval, shape)
  high = _spread("uniform", "maxval", maxval, shape)
  unit = unit_interval(key, shape, dtype)
  if overflows:
    out = unit * high + (1.0 - unit) * low
  else:
    out = lax.add(lax.mul(unit, lax.sub(high, low)), low)
  if rounds:
    out = lax.min(out, lax.nextafter(high, low))
  return lax.max(low, out)  # rounding must not pass below


def _spread(name: str, argument: str, x: Any, shape: Shape) -> Any:
  """A parameter in the rank of the samples; its sizes of 1 stay."""
  own = typeof(x).shape
  if len(own) > len(shape) or any(
      n not in (1, m) for n, m in zip(reversed(own), reversed(shape))):
    error = TypeError if name == "uniform" else ValueError  # the classes that JAX raises
    raise error(
        f"{name}: the shape {own} of {argument} does not broadcast to the shape {shape}")
  return broadcast_to(x, (1,) * (len(shape) - len(own)) + own)


def unit_interval(key: Any, shape: Shape, dtype: Any) -> Any:
  """Uniform numbers in [0, 1)."""
  return in_unit_interval(random_bits(key, drawn_width(dtype), shape), dtype)


@functools.partial(jit, static_argnames=("shape", "dtype"))
def units(keys: Any, *, shape: Shape, dtype: Any) -> Any:
  """Uniform numbers in [0, 1) of `shape` for each of a vector of keys, stacked."""
  n = typeof(keys).shape[0]
  if typeof(keys).dtype.implementation.name in BY_POSITION:
    return unit_interval(keys, shape, dtype)
  parts = (lax.index_in_dim(keys, i, 0, keepdims=False) for i in range(n))
  rows = [lax.expand_dims(unit_interval(k, shape, dtype), (0,)) for k in parts]
  return lax.concatenate(rows, 0)


def drawn_width(dtype: Any) -> int:
  """How many random bits make a uniform number."""
  info = float_info(dtype)
  if info.bits not in (8, 16, 32, 64):
    raise TypeError(f"uniform does not support dtype {dtype}")
  # 8 bits suffice for the short mantissas of 8-bit and bfloat16 numbers.
  return 8 if info.nmant < 8 else int(info.bits)


def in_unit_interval(words: Any, dtype: Any) -> Any:
  """Random mantissas of numbers in [1, 2), less 1."""
  info = float_info(dtype)
  drawn = 8 * typeof(words).dtype.itemsize
  unsigned = np.dtype(f"uint{info.bits}")
  if drawn != info.bits:
    words = convert(words, unsigned)
  one = np.asarray(1, dtype).view(unsigned)[()]
  words = lax.bitwise_or(
      lax.shift_right_logical(words, unsigned.type(drawn - info.nmant)), one)
  return lax.sub(lax.bitcast_convert_type(words, dtype), np.asarray(1, dtype)[()])


def randint(
    key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = None, *,
    out_sharding: Any = None) -> Any:
  """Integers distributed uniformly in [minval, maxval).

  Args:
    key: a key.
    shape: the result's shape.
    minval: lower bound, of a shape that broadcasts to `shape`; reached.
    maxval: upper bound; not reached. It may be one above the largest number of the dtype.
    dtype: an integer dtype; None: int32 (int64 with 64-bit types on).
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> bool((random.randint(random.key(0), (9,), 0, 3) < 3).all())
  True

  Raises:
    TypeError: `dtype` is no integer type, or a bound is no integer.
  """
  if out_sharding is not None:
    return placed(randint(key, shape, minval, maxval, dtype), out_sharding)
  typed, _ = check_key("randint", key)
  dtype = user_dtype("randint", int if dtype is None else dtype)
  if not dtypes.issubdtype(dtype, np.integer):
    raise TypeError(f"randint only accepts integer dtypes, got {dtype}")
  minval, maxval = _integer("minval", minval, dtype), _integer("maxval", maxval, dtype)
  if dtype.itemsize < 4:  # drawn with 32 bits, where one above the largest number exists
    info = np.iinfo(dtype)
    low, high = (
        _clipped(_within(x, info.min, top), _I32)
        for x, top in ((minval, info.max), (maxval, info.max + 1)))
    drawn = _randint(
        typed, low, high, False, shape=shape_of("randint", shape), dtype=_I32)
    return convert(drawn, dtype)
  shape = shape_of("randint", shape)
  high_out = _above(maxval, dtype)
  return _randint(
      typed, _clipped(minval, dtype), _clipped(maxval, dtype), high_out, shape=shape,
      dtype=dtype)


_I32 = np.dtype(np.int32)


def _integer(name: str, x: Any, dtype: Any) -> Any:
  """A bound as an integer: a Python int, or an array of integers."""
  if isinstance(x, (int, float)):
    usual, own = np.iinfo(dtypes.canonicalize_dtype(np.int64)), np.iinfo(dtype)
    low, high = min(usual.min, own.min), max(usual.max, own.max + 1)
    if not low <= x <= high:
      raise OverflowError(
          f"randint: {name}={x} is beyond {dtype} (and {usual.dtype}): give a bound from "
          f"{low} to {high}")
    return int(x)
  if typeof(x).dtype.kind in "iub":
    return x
  if dtypes.issubdtype(typeof(x).dtype, np.floating):
    return convert(x, dtypes.canonicalize_dtype(np.int64))
  raise TypeError(f"randint: {name} must be an integer, got {typeof(x)}")


def _within(x: Any, low: int, top: int) -> Any:
  """A bound within two numbers that its own dtype may or may not hold."""
  if isinstance(x, int):
    return min(max(int(x), low), top)
  info = np.iinfo(typeof(x).dtype)
  if info.min < low:
    x = lax.max(x, np.asarray(low, info.dtype)[()])
  return lax.min(x, np.asarray(top, info.dtype)[()]) if info.max > top else x


def _above(maxval: Any, dtype: Any) -> Any:
  """Whether the upper bound exceeds the dtype: then its largest number is drawn, too."""
  top = np.iinfo(dtype).max
  if isinstance(maxval, int):
    return bool(maxval > top)
  own = typeof(maxval).dtype
  if own.kind == "b" or np.iinfo(own).max <= top:
    return False
  return lax.gt(maxval, np.asarray(top, own)[()])


def _clipped(x: Any, dtype: Any) -> Any:
  """A bound within the dtype."""
  low, top = np.iinfo(dtype).min, np.iinfo(dtype).max
  if isinstance(x, int):
    return np.asarray(min(max(int(x), low), top), dtype)[()]
  own = typeof(x).dtype
  if own == dtype:
    return x
  if own.kind == "b":
    return convert(x, dtype)
  info = np.iinfo(own)
  if info.min < low:
    x = lax.max(x, np.asarray(low, own)[()])
  if info.max > top:
    x = lax.min(x, np.asarray(top, own)[()])
  return convert(x, dtype)


@program("shape", "dtype")
def _randint(
    key: Any, minval: Any, maxval: Any, high_out: Any, *, shape: Shape,
    dtype: Any) -> Any:
  low = _spread("randint", "minval", minval, shape)
  high = _spread("randint", "maxval", maxval, shape)
  width = 8 * dtype.itemsize
  unsigned = np.dtype(f"uint{width}")
  keys = split_keys(key, (2,))
  first, second = (
      random_bits(lax.index_in_dim(keys, i, 0, keepdims=False), width, shape)
      for i in (0, 1))
  span = convert(lax.sub(high, low), unsigned)
  one = unsigned.type(1)
  span = _where(lax.le(high, low), one, span)
  span = _where(lax.bitwise_and(high_out, lax.gt(high, low)), lax.add(span, one), span)
  # Two draws make an integer of twice the width, whose remainder is nearly unbiased:
  # (first * 2**width + second) % span, by modular arithmetic. A span of 0 is 2**width.
  multiplier = lax.rem(unsigned.type(2 ** (width // 2)), span)
  multiplier = lax.rem(lax.mul(multiplier, multiplier), span)
  offset = lax.add(lax.mul(lax.rem(first, span), multiplier), lax.rem(second, span))
  offset = lax.rem(offset, span)
  out = lax.add(low, convert(offset, dtype))
  return out if typeof(out).shape == shape else broadcast_to(out, shape)


def _where(condition: Any, x: Any, y: Any) -> Any:
  """A choice among values of one dtype, scalars among them."""
  shape = np.broadcast_shapes(*(typeof(v).shape for v in (condition, x, y)))
  condition, x, y = (broadcast_to(v, shape) for v in (condition, x, y))
  return select_n(condition, y, x)


def bernoulli(
    key: Any, p: Any = 0.5, shape: Any = None, mode: str = "low", *,
    out_sharding: Any = None) -> Any:
  """Booleans that are true with probability `p`.

  Args:
    key: a key.
    p: probabilities.
    shape: the result's shape; None: that of `p`.
    mode: "low" draws one number a sample; "high" two, for tiny probabilities.
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> bool(random.bernoulli(random.key(0), 1.0))
  True

  Raises:
    TypeError: `p` is not floating-point.
    ValueError: `mode` is unknown, or `p` does not broadcast to `shape`.
  """
  if mode not in ("low", "high"):
    raise ValueError(f"bernoulli: mode must be 'low' or 'high', got {mode!r}")
  typed, _ = check_key("bernoulli", key)
  dtype = typeof(p).dtype
  if not dtypes.issubdtype(dtype, np.floating):
    raise TypeError(f"bernoulli probability `p` must have a floating dtype, got {dtype}.")
  if isinstance(p, float):
    p = dtype.type(p)
  shape = typeof(p).shape if shape is None else shape_of("bernoulli", shape)
  out = _bernoulli(typed, p, shape=shape, mode=mode)
  return placed(out, out_sharding)


@program("shape", "mode")
def _bernoulli(key: Any, p: Any, *, shape: Shape, mode: str) -> Any:
  if typeof(p).shape:
    p = _spread("bernoulli", "p", p, shape)
  dtype = typeof(p).dtype
  if mode == "low":
    return lax.lt(_uniform(key, 0.0, 1.0, shape=shape, dtype=dtype), p)
  # A number with twice the digits, high + low * eps, compared digit by digit.
  high, low = two_uniforms(key, shape, dtype)
  eps = np.asarray(float_info(dtype).eps, dtype)[()]
  return lax.lt(lax.mul(low, eps), lax.sub(p, high))


def two_uniforms(key: Any, shape: Shape, dtype: Any) -> tuple[Any, Any]:
  """Two arrays of uniform numbers in [0, 1), drawn as one."""
  both = _uniform(key, 0.0, 1.0, shape=(2, *shape), dtype=dtype)
  high, low = (lax.index_in_dim(both, i, 0, keepdims=False) for i in (0, 1))
  return high, low
