"""Streams of random bits, one for each sample of an array, as rejection needs them.

A stream is a key of its own, from which further keys come. Those of the default
generator are packed into one integer each: an array of them is computed in one loop of
the compiler, where two words, or keys of two, would be computed twice.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon import lax
from gnomon.core.structural import broadcast_in_dim, convert, select_n
from gnomon.core.types import typeof
from gnomon.random._keys import KeyType
from gnomon.random._parameters import parts_of
from gnomon.random._primitives import random_bits, random_unwrap_p, split_keys
from gnomon.random._threefry import U32, U64, counters, is_partitionable, joined, word

Shape = tuple[int, ...]


class Keys(NamedTuple):
  """Streams of any generator, as an array of keys."""

  keys: Any

  def child(self, i: int, n: int) -> Keys:
    """Key `i` of the `n` that each stream's key is split into."""
    return Keys(parts_of(self.keys, n)[i])

  def child_where(
      self, condition: Any, i: int, n: int, other: Any, j: int, m: int) -> Keys:
    """`self.child(i, n)` where a condition holds, else `other.child(j, m)`."""
    return self.child(i, n).where(condition, other.child(j, m))

  def where(self, condition: Any, other: Any) -> Keys:
    """These streams where a condition holds, else others."""
    return Keys(select_n(condition, other.keys, self.keys))

  def flat(self) -> Keys:
    """The streams in one dimension."""
    return Keys(lax.reshape(self.keys, (typeof(self.keys).size,)))

  def bits(self, width: int) -> Any:
    """Random bits, one element a stream."""
    return random_bits(self.keys, width, ())


class Packed(NamedTuple):
  """Streams of the default generator: the two words of each key in 64 bits."""

  words: Any

  def child(self, i: Any, n: int) -> Packed:
    high = convert(lax.shift_right_logical(self.words, convert(U32.type(32), U64)), U32)
    return _encrypted(high, convert(self.words, U32), i)

  def child_where(
      self, condition: Any, i: int, n: int, other: Any, j: int, m: int) -> Packed:
    i, j = (lax.full(typeof(self.words).shape, k, U32) for k in (i, j))
    return self.where(condition, other).child(select_n(condition, j, i), n)

  def where(self, condition: Any, other: Any) -> Packed:
    return Packed(select_n(condition, other.words, self.words))

  def flat(self) -> Packed:
    return Packed(lax.reshape(self.words, (typeof(self.words).size,)))

  def bits(self, width: int) -> Any:
    drawn = self.child(0, 1).words  # the bits at position 0
    if width == 64:
      return drawn
    high = convert(lax.shift_right_logical(drawn, convert(U32.type(32), U64)), U32)
    return convert(lax.bitwise_xor(high, convert(drawn, U32)), np.dtype(f"uint{width}"))


def _encrypted(high: Any, low: Any, counter: Any) -> Packed:
  shape = typeof(high).shape
  if isinstance(counter, int):
    counter = lax.full(shape, counter, U32)
  zero = lax.full(shape, 0, U32)
  return Packed(joined(*lax.threefry2x32_p.apply(high, low, zero, counter)))


def streams(key: Any, shape: Shape) -> Keys | Packed:
  """One stream for each element of `shape`, which begins with the shape of the keys."""
  aval = typeof(key)
  assert isinstance(aval.dtype, KeyType)
  rest = shape[aval.ndim:]
  if aval.dtype.implementation.name != "threefry2x32" or not is_partitionable():
    return Keys(split_keys(key, rest))
  words = random_unwrap_p.apply(key)[0]
  leading = range(aval.ndim)
  high, low = (broadcast_in_dim(word(words, i), shape, leading) for i in (0, 1))
  _, position = counters(rest)
  return _encrypted(
      high, low, broadcast_in_dim(position, shape, range(aval.ndim, len(shape))))
