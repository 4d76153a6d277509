"""Generators that draw by the compiler's own generator of random bits.

`rbg` makes keys by Threefry and draws quickly; `unsafe_rbg` makes keys quickly, too, from
few of the generator's bits, and nothing is known about how well they are apart. Bits
depend on the platform, and mapped over keys (`gnomon.vmap`) they are those that the first
key makes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core.types import typeof
from gnomon.random import _threefry
from gnomon.random._keys import PRNGImpl, register

_STRIDE = 10  # of this many keys that are drawn, one is used


def _seed(x: Any) -> Any:
  half = _threefry.seed(x)
  return lax.concatenate([half, half], typeof(half).ndim - 1)


def _halves(words: Any) -> tuple[Any, Any]:
  return lax.slice_in_dim(words, 0, 2), lax.slice_in_dim(words, 2, 4)


def _split(words: Any, shape: tuple[int, ...]) -> Any:
  parts = [_threefry.split(half, shape) for half in _halves(words)]
  return lax.concatenate(parts, len(shape))


def _fold_in(words: Any, data: Any) -> Any:
  return lax.concatenate([_threefry.fold_in(half, data) for half in _halves(words)], 0)


def _random_bits(words: Any, width: int, shape: tuple[int, ...]) -> Any:
  dtype = np.dtype(f"uint{width}")
  return lax.rng_bit_generator_p.apply(
      words, shape=shape, dtype=dtype, algorithm=lax.RandomAlgorithm.RNG_DEFAULT,
      out_sharding=None)[1]


def _drawn_keys(words: Any, n: int) -> Any:
  return _random_bits(words, 32, (n, 4))


def _unsafe_split(words: Any, shape: tuple[int, ...]) -> Any:
  n = math.prod(shape)
  keys = _drawn_keys(words, _STRIDE * n)
  return lax.reshape(lax.slice(keys, (0, 0), (_STRIDE * n, 4), (_STRIDE, 1)), (*shape, 4))


def _unsafe_fold_in(words: Any, data: Any) -> Any:
  drawn = lax.slice_in_dim(_drawn_keys(_seed(data), _STRIDE), _STRIDE - 1, _STRIDE)
  return lax.bitwise_xor(words, lax.reshape(drawn, (4,)))


rbg = PRNGImpl((4,), _seed, _split, _random_bits, _fold_in, "rbg", "rbg")
unsafe_rbg = PRNGImpl(
    (4,), _seed, _unsafe_split, _random_bits, _unsafe_fold_in, "unsafe_rbg", "urbg")
register(rbg)
register(unsafe_rbg)
