"""Generators of random bits for libraries: those of gnomon, and new ones.

`gnomon.extend.random` shows these names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core.types import typeof
from gnomon.random import _api
from gnomon.random._keys import PRNGImpl, find_implementation
from gnomon.random._primitives import random_seed_p

__all__ = [
    "define_prng_impl", "random_seed", "rbg_prng_impl", "seed_with_impl",
    "threefry2x32_p", "threefry_2x32", "threefry_prng_impl", "unsafe_rbg_prng_impl"]

threefry2x32_p = lax.threefry2x32_p
threefry_prng_impl = find_implementation("threefry2x32")
rbg_prng_impl = find_implementation("rbg")
unsafe_rbg_prng_impl = find_implementation("unsafe_rbg")


def define_prng_impl(
    *, key_shape: tuple[int, ...], seed: Callable[[Any], Any],
    split: Callable[[Any, tuple[int, ...]], Any],
    random_bits: Callable[[Any, int, tuple[int, ...]], Any],
    fold_in: Callable[[Any, Any], Any], name: str = "<unnamed>", tag: str = "?",
) -> PRNGImpl:
  """A generator, to be given as `impl` to `gnomon.random.key`.

  Args:
    key_shape: the shape of the words of a key.
    seed: makes the words of a key from an integer.
    split: `split(words, shape)` makes those of an array of new keys.
    random_bits: `random_bits(words, bit_width, shape)` makes bits.
    fold_in: `fold_in(words, data)` makes the words of another key.
    name: its name, for messages.
    tag: a short name, for the dtype of keys.

  >>> import gnomon
  >>> from gnomon.extend import random as extending
  >>> import gnomon.numpy as jnp
  >>> same = extending.define_prng_impl(
  ...     key_shape=(1,), seed=lambda s: jnp.uint32([s]),
  ...     split=lambda k, shape: jnp.broadcast_to(k, (*shape, 1)),
  ...     random_bits=lambda k, width, shape: jnp.full(shape, k[0]),
  ...     fold_in=lambda k, data: k + data, tag='same')
  >>> gnomon.random.bits(gnomon.random.key(7, impl=same), (2,))
  Array([7, 7], dtype=uint32)
  """
  return PRNGImpl(tuple(key_shape), seed, split, random_bits, fold_in, name, tag)


def random_seed(seeds: Any, impl: PRNGImpl) -> Any:
  """Keys of a generator, one for each of an array of integers."""
  if typeof(seeds).shape:
    return random_seed_p.apply(seeds, impl=impl)[0]
  return _api.random_seed("random_seed", seeds, impl)


def seed_with_impl(impl: PRNGImpl, seed: Any) -> Any:
  """The key of a generator for an integer."""
  return random_seed(seed, impl)


def threefry_2x32(keypair: Any, count: Any) -> Any:
  """The cipher Threefry-2x32, applied to an array of counters.

  Args:
    keypair: the two words of a key, uint32.
    count: the counters, uint32. The first half of them and the second half are the words
      of blocks; the words of the results are placed likewise.

  >>> import numpy
  >>> from gnomon.extend import random as extending
  >>> extending.threefry_2x32(numpy.uint32([1, 2]), numpy.arange(3, dtype='uint32'))
  Array([4128513521, 2271449651, 2345921600], dtype=uint32)

  Raises:
    TypeError: the arguments are not uint32.
  """
  first, second = (keypair[0], keypair[1])
  dtypes = [typeof(x).dtype for x in (first, second, count)]
  if any(d != np.uint32 for d in dtypes):
    raise TypeError(f"threefry_2x32 requires uint32 arguments, got {dtypes}")
  shape, size = typeof(count).shape, typeof(count).size
  flat = lax.reshape(count, (size,))
  if size % 2:
    flat = lax.pad(flat, np.uint32(0), ((0, 1, 0),))
  half = (size + 1) // 2
  blocks = threefry2x32_p.apply(
      *(lax.broadcast_in_dim(k, (half,), ()) for k in (first, second)),
      lax.slice(flat, (0,), (half,)), lax.slice(flat, (half,), (2 * half,)))
  words = lax.concatenate(blocks, 0)
  return lax.reshape(lax.slice(words, (0,), (size,)), shape)
