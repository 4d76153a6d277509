"""Generators beside the default one: known answers, and the numbers of JAX."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import random
from gnomon.random import _ciphers, _threefry
from gnomon.random._threefry import threefry_2x32

U = np.uint32
# From the test vectors of Random123, the library of the generators' inventors.
ANSWERS: list[tuple[Any, list[int], list[int]]] = [
    (_ciphers.philox2x32_p, [0] * 3, [0xFF1DAE59, 0x6CD10DF2]),
    (_ciphers.philox2x32_p, [0xFFFFFFFF] * 3, [0x2C3F628B, 0xAB4FD7AD]),
    (_ciphers.philox2x32_p, [0x13198A2E, 0x243F6A88, 0x85A308D3],
     [0xDD7CE038, 0xF62A4C12]),
    (_ciphers.philox4x32_p, [0] * 6, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    (_ciphers.philox4x32_p,
     [0xA4093822, 0x299F31D0, 0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
     [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]),
    (_ciphers.threefry4x32_p, [0] * 8, [0x9C6CA96A, 0xE17EAE66, 0xFC10ECD4, 0x5256A7D8]),
    (_ciphers.threefry4x32_p,
     [0xA4093822, 0x299F31D0, 0x082EFA98, 0xEC4E6C89, 0x243F6A88, 0x85A308D3, 0x13198A2E,
      0x03707344], [0x59CD1DBB, 0xB8879579, 0x86B5D00C, 0xAC8B6D84])]


@pytest.mark.parametrize(("cipher", "words", "answer"), ANSWERS)
def test_known_answers(cipher: Any, words: list[int], answer: list[int]) -> None:
  assert [int(x) for x in cipher.apply(*map(U, words))] == answer


def test_ciphers_say_what_they_need() -> None:
  with pytest.raises(TypeError, match="philox2x32 needs uint32 operands, 1 of the key"):
    _ciphers.philox2x32_p.apply(U(1), U(2))
  with pytest.raises(TypeError, match="int32"):
    _ciphers.philox2x32_p.apply(U(1), U(2), np.int32(3))


# Recorded from JAX 0.10.2 by tools/record_random_generators.py.
RECORDED = json.loads((Path(__file__).parent / "data" / "generators.json").read_text())


@pytest.mark.parametrize("case", RECORDED, ids=lambda c: c["name"])
def test_numbers_of_jax(case: dict[str, Any]) -> None:
  key = random.key(case["seed"], impl=case["impl"])
  with gnomon.threefry_partitionable(case["partitionable"]):
    found = eval(
        case["call"], {"random": random, "key": key, "vmap": gnomon.vmap, "np": np})
    found = np.asarray(found)
  assert found.tolist() == case["result"]


def test_layouts_do_not_mix() -> None:
  """Programs of one layout are not used for the other, eager or compiled."""
  key = random.key(0)
  draw = gnomon.jit(lambda k: random.bits(k, (3,)))
  usual = [np.asarray(f(key)) for f in (draw, lambda k: random.bits(k, (3,)))]
  for _ in range(2):
    with gnomon.threefry_partitionable(False):
      older = [np.asarray(f(key)) for f in (draw, lambda k: random.bits(k, (3,)))]
    assert older[0].tolist() == older[1].tolist() != usual[0].tolist()
    assert np.asarray(draw(key)).tolist() == usual[0].tolist() == usual[1].tolist()


def test_words_in_halves() -> None:
  key, count = np.arange(2, dtype=U), np.arange(5, dtype=U).reshape(1, 5)
  x, y = random._threefry.lax.threefry2x32_p.apply(
      U(0), U(1), np.arange(3, dtype=U), np.array([3, 4, 0], U))
  expected = np.concatenate([x, y])[:5]
  np.testing.assert_array_equal(threefry_2x32(key, count), expected.reshape(1, 5))
  with pytest.raises(TypeError, match="needs uint32 words"):
    threefry_2x32(key, np.arange(3))


@pytest.mark.parametrize("impl", ["rbg", "philox2x32", "philox4x32", "threefry4x32"])
def test_keys_of_each_generator(impl: str) -> None:
  key = random.key(3, impl=impl)
  assert random.key_impl(key) == impl
  assert random.key_dtype(impl) == key.dtype != random.key_dtype()
  keys = random.split(key, (2, 3))
  assert (keys.shape, keys.dtype) == ((2, 3), key.dtype)
  folded = gnomon.vmap(lambda i: random.fold_in(key, i))(np.arange(6))
  if impl != "rbg":  # which has two layouts
    np.testing.assert_array_equal(
        random.key_data(folded), random.key_data(keys).reshape(6, -1))
  u = np.asarray(random.uniform(keys[0, 1], (4000,)), np.float64)
  assert abs(u.mean() - 0.5) < 0.02
  with gnomon.default_prng_impl(impl):
    assert random.key(3).dtype == key.dtype
    words = random.PRNGKey(3)
    np.testing.assert_array_equal(words, random.key_data(key))
    np.testing.assert_array_equal(random.bits(words), random.bits(key))


def test_options_of_keys() -> None:
  words = random.PRNGKey(0)
  with gnomon.legacy_prng_key("warn"), pytest.warns(UserWarning, match="Legacy uint32"):
    random.uniform(words)
  with gnomon.legacy_prng_key("error"):
    with pytest.raises(ValueError, match="uniform: Legacy uint32 key"):
      random.uniform(words)
    with pytest.raises(TypeError, match="invalid PRNG key data"):
      random.uniform(np.zeros(1, np.float32))
  with gnomon.enable_custom_prng(True):
    assert random.PRNGKey(0).dtype == random.key_dtype()
    with pytest.warns(FutureWarning, match="raw arrays as keys"):
      assert random.split(words).dtype == random.key_dtype()
  gnomon.config.update("jax_random_seed_offset", 3)
  try:
    assert random.PRNGKey(17).tolist() == random.PRNGKey(np.int32(17)).tolist() == [0, 20]
  finally:
    gnomon.config.update("jax_random_seed_offset", 0)


def test_positions_beyond_a_word() -> None:
  high, low = map(np.asarray, _threefry.wide_counters((3, 4, 5)))
  np.testing.assert_array_equal(low, np.arange(60).reshape(3, 4, 5))
  assert not high.any()
  shape = (2 ** 31, 6)
  program = gnomon.jit(lambda k: random.bits(k, shape, "uint8")[-1:, -1:].sum())
  aval = gnomon.eval_shape(lambda k: random.bits(k, shape), random.key(0))
  assert aval.shape == shape
  assert "ui64" in program.lower(random.key(0)).as_text()
