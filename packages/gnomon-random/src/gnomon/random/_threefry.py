"""Threefry-2x32 as a generator of keys and bits, in two layouts.

By default bits are made from counters that are a function of the position alone, so that
any part of an array can be computed by itself. With the option
`jax_threefry_partitionable` off, the two words of a block lie half an array apart; that
is the older layout. Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"
(2011).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gnomon import config, jit, lax
from gnomon.core.structural import convert
from gnomon.core.types import typeof
from gnomon.random._keys import PRNGImpl, register

U32, U64 = np.dtype(np.uint32), np.dtype(np.uint64)
Pair = tuple[Any, Any]


def word(words: Any, i: int) -> Any:
  """Word `i` of each key."""
  n = typeof(words).ndim
  part = lax.slice_in_dim(words, i, i + 1, axis=n - 1)
  return lax.squeeze(part, (n - 1,))


def packed(*words: Any) -> Any:
  """Words side by side in a new last dimension."""
  shape = typeof(words[0]).shape
  return lax.concatenate([lax.reshape(x, (*shape, 1)) for x in words], len(shape))


def halves(x: Any) -> Pair:
  """The high and the low half of an integer's 64 bits."""
  aval = typeof(x)
  wide = aval.dtype.itemsize == 8
  low = convert(lax.bitwise_and(x, like(x, 0xFFFFFFFF)) if wide else x, U32)
  if wide:
    return convert(lax.shift_right_logical(x, like(x, 32)), U32), low
  return lax.full(aval.shape, 0, U32), low


def like(x: Any, value: int) -> Any:
  """An integer in the dtype of `x`."""
  return np.asarray(value, typeof(x).dtype)[()]


def seed(x: Any) -> Any:
  """The words of the key for an integer: its high and its low half."""
  return packed(*halves(x))


def counters(shape: tuple[int, ...]) -> Pair:
  """The position of each element of an array, in 64 bits: high and low words."""
  size = math.prod(shape)
  if size <= 2 ** 32:
    return lax.full(shape, 0, U32), lax.reshape(lax.iota(U32, size), shape)
  return wide_counters(shape)


def wide_counters(shape: tuple[int, ...]) -> Pair:
  """The same where a word has fewer values than there are positions."""
  position, stride = None, math.prod(shape)
  for axis, n in enumerate(shape):
    stride //= n
    index = convert(lax.broadcasted_iota(U32, shape, axis), U64)
    part = lax.mul(index, joined(U32.type(stride >> 32), U32.type(stride % 2 ** 32)))
    position = part if position is None else lax.add(position, part)
  high = lax.shift_right_logical(position, convert(U32.type(32), U64))
  return convert(high, U32), convert(position, U32)


def is_partitionable() -> bool:
  """Whether bits depend on their position alone."""
  return config.read("jax_threefry_partitionable")  # type: ignore[no-any-return]


def _hash(words: Any, shape: tuple[int, ...]) -> Pair:
  """The cipher applied to each position of an array, under one key."""
  high, low = counters(shape)
  k0, k1 = (lax.broadcast_in_dim(word(words, i), shape, ()) for i in (0, 1))
  return lax.threefry2x32_p.apply(k0, k1, high, low)


@jit
def threefry_2x32(keypair: Any, count: Any) -> Any:
  """Threefry of an array of words: its first half and its second make the blocks.

  Args:
    keypair: the two words of a key, each a scalar of dtype uint32; an array of two, or a
      sequence.
    count: words of dtype uint32. Where their number is odd, a word 0 is added for the
      time being.

  Returns:
    An array like `count`.

  Raises:
    TypeError: a dtype is not uint32.
  """
  k0, k1 = keypair
  aval = typeof(count)
  if not (typeof(k0).dtype == typeof(k1).dtype == aval.dtype == U32):
    raise TypeError(
        f"threefry_2x32 needs uint32 words, got keys {typeof(k0)}, {typeof(k1)} and "
        f"{aval} to encrypt")
  flat, odd = lax.reshape(count, (aval.size,)), aval.size % 2
  if odd:
    flat = lax.pad(flat, U32.type(0), ((0, 1, 0),))
  half = (aval.size + odd) // 2
  x, y = (lax.slice_in_dim(flat, i * half, (i + 1) * half) for i in (0, 1))
  k0, k1 = (lax.broadcast_in_dim(k, (half,), ()) for k in (k0, k1))
  out = lax.concatenate(lax.threefry2x32_p.apply(k0, k1, x, y), 0)
  return lax.reshape(lax.slice_in_dim(out, 0, aval.size), aval.shape)


def _in_halves(words: Any, size: int) -> Any:
  """`size` random words in the older layout."""
  return threefry_2x32((word(words, 0), word(words, 1)), lax.iota(U32, size))


def split(words: Any, shape: tuple[int, ...]) -> Any:
  """New keys in an array of `shape`."""
  if not is_partitionable():
    return lax.reshape(_in_halves(words, 2 * math.prod(shape)), (*shape, 2))
  # Both words of a key as one integer: as two arrays, they would be computed twice.
  first, second = _hash(words, shape)
  return lax.bitcast_convert_type(joined(second, first), U32)


def fold_in(words: Any, data: Any) -> Any:
  """The key for a key and a word."""
  return packed(*lax.threefry2x32_p.apply(
      word(words, 0), word(words, 1), *halves(data)))


def joined(high: Any, low: Any) -> Any:
  """64-bit integers of two words."""
  high, low = convert(high, U64), convert(low, U64)
  return lax.bitwise_or(lax.shift_left(high, convert(U32.type(32), U64)), low)


def random_bits(words: Any, width: int, shape: tuple[int, ...]) -> Any:
  """Random bits of 8, 16, 32 or 64 an element."""
  if not is_partitionable():
    return _bits_in_halves(words, width, shape)
  high, low = _hash(words, shape)
  if width == 64:
    return joined(high, low)
  mixed = lax.bitwise_xor(high, low)
  return mixed if width == 32 else convert(mixed, np.dtype(f"uint{width}"))


def _bits_in_halves(words: Any, width: int, shape: tuple[int, ...]) -> Any:
  """The older layout: short elements are parts of words, long ones two of them."""
  size = math.prod(shape)
  drawn = _in_halves(words, -(-size * width // 32))
  if width == 64:
    drawn = joined(*(lax.slice_in_dim(drawn, i * size, (i + 1) * size) for i in (0, 1)))
  elif width < 32:
    n = 32 // width
    shifts = width * lax.broadcasted_iota(U32, (1, n), 1)
    rows = lax.reshape(drawn, (typeof(drawn).size, 1))
    parts = convert(lax.shift_right_logical(rows, shifts), np.dtype(f"uint{width}"))
    drawn = lax.slice_in_dim(lax.reshape(parts, (typeof(parts).size,)), 0, size)
  return lax.reshape(drawn, shape)


threefry = PRNGImpl((2,), seed, split, random_bits, fold_in, "threefry2x32", "fry")
register(threefry)
