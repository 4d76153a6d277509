"""Generators that a library defines, and the cipher behind the default one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as jnp
from gnomon import random
from gnomon.extend import random as extending


def test_the_cipher_by_known_answers() -> None:
  """From the test vectors of Random123, kat_vectors: threefry2x32, 20 rounds."""
  for key, counter, answer in [
      ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
      ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 2, (0x1CB996FC, 0xBB002BE7)),
      ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0))]:
    found = extending.threefry_2x32(np.uint32(key), np.uint32(counter))
    assert [int(x) for x in found] == list(answer)


@pytest.mark.parametrize("shape", [(0,), (1,), (3,), (2, 2), (3, 5)])
def test_counters_are_paired_by_halves(shape: tuple[int, ...]) -> None:
  count = np.arange(np.prod(shape), dtype=np.uint32).reshape(shape)
  key = np.uint32([1, 2])
  found = np.asarray(extending.threefry_2x32(key, count))
  assert found.shape == shape
  flat = count.ravel()
  half = (flat.size + 1) // 2
  padded = np.append(flat, np.uint32(0))[:2 * half]
  pairs = [
      np.asarray(extending.threefry_2x32(key, np.uint32(p)))
      for p in zip(padded[:half], padded[half:], strict=True)]
  expected = np.array(pairs, np.uint32).reshape(-1, 2).T.ravel()[:flat.size]
  np.testing.assert_array_equal(found.ravel(), expected)


def test_the_cipher_takes_words() -> None:
  with pytest.raises(TypeError, match=r"requires uint32 arguments, got .*float32"):
    extending.threefry_2x32(np.uint32([1, 2]), np.ones(3, np.float32))


def test_keys_of_the_generators() -> None:
  for impl, name in ((extending.threefry_prng_impl, "threefry2x32"),
                     (extending.rbg_prng_impl, "rbg"),
                     (extending.unsafe_rbg_prng_impl, "unsafe_rbg")):
    for key in (extending.seed_with_impl(impl, 3), extending.random_seed(3, impl)):
      assert key.dtype == random.key(0, impl=name).dtype
      np.testing.assert_array_equal(
          random.key_data(key), random.key_data(random.key(3, impl=name)))
  assert extending.random_seed(np.arange(4), extending.rbg_prng_impl).shape == (4,)
  assert extending.threefry2x32_p is gnomon.lax.threefry2x32_p


def counting() -> Any:
  """A generator whose bits are its key, which counts."""
  return extending.define_prng_impl(
      key_shape=(1,), seed=lambda s: jnp.asarray(s, jnp.uint32)[None],
      split=lambda k, shape: k + jnp.arange(
          np.prod(shape), dtype=jnp.uint32).reshape(*shape, 1),
      random_bits=lambda k, width, shape: jnp.full(shape, k[0]),
      fold_in=lambda k, data: k + jnp.asarray(data, jnp.uint32), name="counting",
      tag="count")


def test_a_generator_of_a_library() -> None:
  key = random.key(7, impl=counting())
  assert str(key.dtype) == "key<count>"
  for wrap in (lambda f: f, gnomon.jit):
    draw = wrap(lambda k: random.bits(k, (2,)))
    np.testing.assert_array_equal(draw(key), [7, 7])
    np.testing.assert_array_equal(draw(random.fold_in(key, 5)), [12, 12])
  children = random.split(key, 3)
  assert children.shape == (3,)
  np.testing.assert_array_equal(
      gnomon.vmap(lambda k: random.bits(k, ()))(children), [7, 8, 9])
