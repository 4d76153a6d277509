"""Philox and Threefry-4x32 as generators of keys and bits.

A block of counters is encrypted under a key. Bits have the position as their counter,
new keys and folded ones a counter apart from those of bits. Source: Salmon et al.,
"Parallel random numbers: as easy as 1, 2, 3" (2011), with its numbers of rounds: 10 of
Philox, 20 of Threefry.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core.derive import elementwise_batch, no_derivative
from gnomon.core.primitive import Primitive
from gnomon.core.rule import lower, typing_rule
from gnomon.core.structural import convert
from gnomon.core.types import ShapedArray, typeof
from gnomon.lax._families import nary_type, spread
from gnomon.random._keys import PRNGImpl, register
from gnomon.random._threefry import U32, U64, counters, halves, joined, packed, word

Words = Sequence[Any]
Block = Callable[..., list[Any]]


# ---- primitives: the words of keys, then those of counters


class _Emitter:
  """Arithmetic on words, written as StableHLO."""

  def __init__(self, ctx: Any) -> None:
    self.b, self.aval = ctx.b, ctx.avals_out[0]
    self.kind = self.b.tensor(self.aval)
    self.wide = ShapedArray(self.aval.shape, U64)

  def op(self, name: str, x: Any, y: Any) -> Any:
    return self.b.op1(f"stablehlo.{name}", self.kind, (x, y))

  def full(self, value: int) -> Any:
    return self.b.full(self.aval, value)

  def rotated(self, x: Any, by: int) -> Any:
    left = self.op("shift_left", x, self.full(by))
    return self.op("or", left, self.op("shift_right_logical", x, self.full(32 - by)))

  def product(self, x: Any, factor: int) -> tuple[Any, Any]:
    """The high and the low word of a product."""
    b, wide = self.b, self.b.tensor(self.wide)
    x, factor = b.op1("stablehlo.convert", wide, (x,)), b.full(self.wide, factor)
    out = b.op1("stablehlo.multiply", wide, (x, factor))
    high = b.op1("stablehlo.shift_right_logical", wide, (out, b.full(self.wide, 32)))
    return tuple(b.op1("stablehlo.convert", self.kind, (v,)) for v in (high, out))


def _cipher(name: str, key_size: int, size: int, rounds: Block) -> Primitive:
  """A primitive that encrypts blocks of `size` words by `rounds`."""
  p = Primitive(name)
  no_derivative(p)
  elementwise_batch(p)

  @typing_rule.define(p)
  def _(*words: ShapedArray) -> tuple[ShapedArray, ...]:
    if len(words) != key_size + size or any(w.dtype != U32 for w in words):
      raise TypeError(
          f"{name} needs uint32 operands, {key_size} of the key and {size} of the "
          f"counter: got {', '.join(map(str, words))}")
    out = nary_type(name, [(np.unsignedinteger,)] * len(words), words)
    return (out,) * size

  @lower.define(p)
  def _(ctx: Any, *words: Any) -> Words:
    words = tuple(spread(ctx, words))
    return rounds(_Emitter(ctx), words[:key_size], words[key_size:])

  return p


_GOLDEN, _ROOT3 = 0x9E3779B9, 0xBB67AE85  # what Philox adds to the words of a key


def _philox2x32(e: _Emitter, key: Words, block: Words) -> list[Any]:
  (k,), (x, y) = key, block
  for i in range(10):
    k = e.op("add", k, e.full(_GOLDEN)) if i else k
    high, low = e.product(x, 0xD256D193)
    x, y = e.op("xor", e.op("xor", high, k), y), low
  return [x, y]


def _philox4x32(e: _Emitter, key: Words, block: Words) -> list[Any]:
  (k0, k1), (x0, x1, x2, x3) = key, block
  for i in range(10):
    if i:
      k0, k1 = e.op("add", k0, e.full(_GOLDEN)), e.op("add", k1, e.full(_ROOT3))
    high0, low0 = e.product(x0, 0xD2511F53)
    high1, low1 = e.product(x2, 0xCD9E8D57)
    x0, x1 = e.op("xor", e.op("xor", high1, x1), k0), low1
    x2, x3 = e.op("xor", e.op("xor", high0, x3), k1), low0
  return [x0, x1, x2, x3]


_ROTATIONS = (
    (10, 26), (11, 21), (13, 27), (23, 5), (6, 20), (17, 11), (25, 10), (18, 20))
_PARITY = 0x1BD11BDA


def _threefry4x32(e: _Emitter, key: Words, block: Words) -> list[Any]:
  last = functools.reduce(lambda x, y: e.op("xor", x, y), key, e.full(_PARITY))
  keys = [*key, last]
  x = [e.op("add", v, k) for v, k in zip(block, key)]
  for i in range(20):
    for j, by in zip((0, 2), _ROTATIONS[i % 8]):
      other = (j + 1 if i % 2 == 0 else 3 - j)
      x[j] = e.op("add", x[j], x[other])
      x[other] = e.op("xor", e.rotated(x[other], by), x[j])
    if i % 4 == 3:
      n = i // 4 + 1
      x = [e.op("add", v, keys[(n + j) % 5]) for j, v in enumerate(x)]
      x[3] = e.op("add", x[3], e.full(n))
  return x


philox2x32_p = _cipher("philox2x32", 1, 2, _philox2x32)
philox4x32_p = _cipher("philox4x32", 2, 4, _philox4x32)
threefry4x32_p = _cipher("threefry4x32", 4, 4, _threefry4x32)


# ---- generators


def _generator(
    p: Primitive, tag: str, key_size: int, size: int, seed: Callable[[Any], Any],
    wide: Callable[[Words], tuple[Any, Any]]) -> PRNGImpl:
  """The generator that a cipher makes.

  `wide` gives the high and the low words of 64-bit elements; shorter ones are the parity
  of all words of their block. Blocks of 4 words count bits in the first half, keys in
  the second.
  """
  apart = size // 2 - 1  # whether there are two halves

  def encrypted(words: Any, *block: Any) -> Words:
    shape = typeof(block[0]).shape
    keys = [word(words, i) for i in range(key_size)]
    return p.apply(*(lax.broadcast_in_dim(k, shape, ()) for k in keys), *block)

  def keys_of(words: Any, high: Any, low: Any) -> Any:
    zeros = [lax.full(typeof(low).shape, 0, U32)] * 2 * apart
    return packed(*encrypted(words, *zeros, high, low)[:key_size])

  def split(words: Any, shape: tuple[int, ...]) -> Any:
    # Compilers must not compute a key anew wherever it is used.
    return lax.optimization_barrier(keys_of(words, *counters(shape)))

  def fold_in(words: Any, data: Any) -> Any:
    return keys_of(words, *halves(data))

  def random_bits(words: Any, width: int, shape: tuple[int, ...]) -> Any:
    zeros = [lax.full(shape, 0, U32)] * 2 * apart
    drawn = encrypted(words, *counters(shape), *zeros)
    if width == 64:
      return joined(*wide(drawn))
    mixed = functools.reduce(lax.bitwise_xor, drawn)
    return mixed if width == 32 else convert(mixed, np.dtype(f"uint{width}"))

  generator = PRNGImpl((key_size,), seed, split, random_bits, fold_in, p.name, tag)
  register(generator)
  return generator


def _seed_philox2x32(x: Any) -> Any:
  high, low = halves(x)
  return packed(philox2x32_p.apply(lax.full_like(high, 0), high, low)[0])


def _seed_philox4x32(x: Any) -> Any:
  high, low = halves(x)
  zero = lax.full_like(high, 0)
  return packed(*philox4x32_p.apply(zero, zero, high, low, zero, zero)[:2])


def _seed_threefry4x32(x: Any) -> Any:
  high, low = halves(x)
  zeros = [lax.full_like(high, 0)] * 6
  return packed(*threefry4x32_p.apply(high, low, *zeros))


philox2x32 = _generator(
    philox2x32_p, "phx2", 1, 2, _seed_philox2x32, lambda w: (w[0], w[1]))
philox4x32 = _generator(
    philox4x32_p, "phx4", 2, 4, _seed_philox4x32, lambda w: (w[0], w[1]))
threefry4x32 = _generator(
    threefry4x32_p, "fry4", 4, 4, _seed_threefry4x32,
    lambda w: (lax.bitwise_xor(w[0], w[2]), lax.bitwise_xor(w[1], w[3])))
