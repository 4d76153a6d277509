"""Threefry-2x32 as a generator of keys and bits.

Bits are made from counters that are a function of the position alone, so that any part of
an array can be computed by itself. Source: Salmon et al., "Parallel random numbers: as
easy as 1, 2, 3" (2011).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core.structural import convert
from gnomon.core.types import typeof
from gnomon.random._keys import Implementation, register

_U32, _U64 = np.dtype(np.uint32), np.dtype(np.uint64)


def _word(words: Any, i: int) -> Any:
  """Word `i` of each key."""
  n = typeof(words).ndim
  part = lax.slice_in_dim(words, i, i + 1, axis=n - 1)
  return lax.squeeze(part, (n - 1,))


def _pair(high: Any, low: Any) -> Any:
  """Two words side by side in a new last dimension."""
  shape = typeof(high).shape
  high, low = (lax.reshape(x, (*shape, 1)) for x in (high, low))
  return lax.concatenate([high, low], len(shape))


def seed(x: Any) -> Any:
  """The words of the key for an integer: its high and its low half."""
  aval = typeof(x)
  wide = aval.dtype.itemsize == 8
  low = convert(lax.bitwise_and(x, _like(x, 0xFFFFFFFF)) if wide else x, _U32)
  if wide:
    high = convert(lax.shift_right_logical(x, _like(x, 32)), _U32)
  else:
    high = lax.full(aval.shape, 0, _U32)
  return _pair(high, low)


def _like(x: Any, value: int) -> Any:
  return np.asarray(value, typeof(x).dtype)[()]


def counters(shape: tuple[int, ...]) -> tuple[Any, Any]:
  """The position of each element of an array, in 64 bits: high and low words."""
  size = math.prod(shape)
  low = lax.reshape(lax.iota(_U32, size), shape)
  if size <= 2 ** 32:
    return lax.full(shape, 0, _U32), low
  raise ValueError(f"random arrays of more than 2**32 elements: the shape is {shape}")


def _hash(words: Any, shape: tuple[int, ...]) -> tuple[Any, Any]:
  """The cipher applied to each position of an array, under one key."""
  high, low = counters(shape)
  k0, k1 = _word(words, 0), _word(words, 1)
  k0, k1 = (lax.broadcast_in_dim(k, shape, ()) for k in (k0, k1))
  return lax.threefry2x32_p.bind(k0, k1, high, low)


def split(words: Any, shape: tuple[int, ...]) -> Any:
  """New keys in an array of `shape`."""
  # Compilers must not compute a key anew wherever it is used.
  return lax.optimization_barrier(_pair(*_hash(words, shape)))


def fold_in(words: Any, data: Any) -> Any:
  """The key for a key and a word."""
  other = seed(data)
  outs = lax.threefry2x32_p.bind(
      _word(words, 0), _word(words, 1), _word(other, 0), _word(other, 1))
  return _pair(*outs)


def bits(words: Any, width: int, shape: tuple[int, ...]) -> Any:
  """Random bits of 8, 16, 32 or 64 an element."""
  high, low = _hash(words, shape)
  if width == 64:
    high, low = convert(high, _U64), convert(low, _U64)
    return lax.bitwise_or(lax.shift_left(high, _like(high, 32)), low)
  mixed = lax.bitwise_xor(high, low)
  return mixed if width == 32 else convert(mixed, np.dtype(f"uint{width}"))


threefry = Implementation("threefry2x32", "fry", (2,), seed, split, fold_in, bits)
register(threefry)
