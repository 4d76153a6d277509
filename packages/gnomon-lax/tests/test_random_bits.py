"""Random bits: known answers of Threefry, the platform's generators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.testing import check_vmap_axes

U = np.uint32
R = np.random.default_rng(13)

# Key, counter, result: published with the Random123 library.
KNOWN = [
    ((0x00000000, 0x00000000), (0x00000000, 0x00000000), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0))]


def threefry(key: tuple[int, int], counter: tuple[int, int]) -> tuple[int, int]:
  """Threefry-2x32 of 20 rounds, one number at a time."""
  mask = 0xFFFFFFFF
  keys = (*key, key[0] ^ key[1] ^ 0x1BD11BDA)
  x, y = (counter[0] + keys[0]) & mask, (counter[1] + keys[1]) & mask
  rotations = (13, 15, 26, 6, 17, 29, 16, 24)
  for i in range(20):
    x = (x + y) & mask
    by = rotations[i % 8]
    y = ((y << by | y >> 32 - by) & mask) ^ x
    if i % 4 == 3:
      block = i // 4 + 1
      x = (x + keys[block % 3]) & mask
      y = (y + keys[(block + 1) % 3] + block) & mask
  return x, y


@pytest.mark.parametrize(("key", "counter", "expected"), KNOWN)
def test_known_answers(key: Any, counter: Any, expected: Any) -> None:
  got = lax.threefry2x32_p.apply(*map(U, (*key, *counter)))
  assert tuple(int(x) for x in got) == expected
  assert threefry(key, counter) == expected


def test_threefry_of_arrays() -> None:
  words = R.integers(0, 2 ** 32, (4, 5), dtype=np.uint32)
  x, y = gnomon.jit(lax.threefry2x32_p.apply)(*words)
  expected = [threefry((a, b), (c, d)) for a, b, c, d in words.T.tolist()]
  assert list(zip(x.tolist(), y.tolist(), strict=True)) == expected
  # one key beside many counters
  x, _ = lax.threefry2x32_p.apply(words[0, 0], words[1, 0], words[2], words[3])
  assert x.tolist()[3] == threefry(
      tuple(words[:2, 0].tolist()), tuple(words[2:, 3].tolist()))[0]


def test_threefry_under_transformations() -> None:
  check_vmap_axes(
      lambda a, b, c: tuple(lax.threefry2x32_p.apply(a, U(1), b, c)),
      [(U(i), np.arange(3, dtype=U) + U(i), np.arange(3, dtype=U)) for i in range(3)])
  zero = np.zeros((), gnomon.dtypes.float0)
  _, (t, _) = gnomon.jvp(
      lambda a: lax.threefry2x32_p.apply(a, U(1), U(2), U(3)), (U(1),), (zero,))
  assert t.dtype == gnomon.dtypes.float0


def test_rng_bit_generator() -> None:
  key = np.arange(4, dtype=U)
  for dtype in ("uint8", "uint16", "uint32"):
    for algorithm in lax.RandomAlgorithm:
      new, out = lax.rng_bit_generator(key, (2, 500), dtype, algorithm)
      assert (new.shape, new.dtype) == ((4,), U)
      assert (out.shape, str(out.dtype)) == ((2, 500), dtype)
      assert new.tolist() != key.tolist()
      mean = np.asarray(out).astype(float).mean() / np.iinfo(dtype).max
      assert abs(mean - 0.5) < 0.06
  again = lax.rng_bit_generator(key, (3,))[1]
  # Philox; the same as JAX's on CPUs
  assert again.tolist() == [895509795, 3230209149, 3834998268]
  with gnomon.enable_x64(True):
    new, out = lax.rng_bit_generator(np.arange(2, dtype=np.uint64), (3,), "uint64")
    assert (new.dtype, out.dtype) == (np.uint64, np.uint64)


def test_rng_bit_generator_of_many_keys() -> None:
  """The first key makes all the bits, and is the only one that changes: as in JAX."""
  keys = R.integers(0, 2 ** 32, (2, 3, 4), dtype=np.uint32)

  def draw(key: Any) -> Any:
    return lax.rng_bit_generator(key, (2, 2), "uint8")

  new, out = map(np.asarray, gnomon.jit(gnomon.vmap(gnomon.vmap(draw)))(keys))
  first, bits = lax.rng_bit_generator(keys[0, 0], (2, 3, 2, 2), "uint8")
  np.testing.assert_array_equal(out, bits)
  np.testing.assert_array_equal(new[0, 0], first)
  np.testing.assert_array_equal(new.reshape(6, 4)[1:], keys.reshape(6, 4)[1:])
  empty, none = gnomon.vmap(draw)(keys[0, :0])
  assert (empty.shape, none.shape) == ((0, 4), (0, 2, 2))


def test_rng_uniform() -> None:
  x = np.asarray(lax.rng_uniform(2.0, 3.0, (1000,)))
  assert x.dtype == np.float32
  assert ((x >= 2) & (x <= 3)).all()
  assert abs(x.mean() - 2.5) < 0.1
  i = np.asarray(lax.rng_uniform(np.int32(-3), np.int32(3), (1000,)))
  assert sorted(set(i.tolist())) == [-3, -2, -1, 0, 1, 2]
  low = np.float32([0, 50, 99])
  y = np.asarray(gnomon.vmap(lambda a: lax.rng_uniform(a, 100.0, (4,)))(low))
  assert y.shape == (3, 4)
  assert ((y >= low[:, None]) & (y <= 100)).all()


ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: lax.threefry2x32_p.apply(np.int32(1), U(1), U(1), U(1)), TypeError,
     "uint32"),
    (lambda: lax.threefry2x32_p.apply(*[np.ones(n, U) for n in (2, 2, 3, 3)]),
     TypeError, "incompatible shapes"),
    (lambda: lax.rng_bit_generator(np.zeros(2, U), (3,)), TypeError, r"uint32\[4\]"),
    (lambda: lax.rng_bit_generator(np.zeros(4, "i4"), (3,)), TypeError, "int32"),
    (lambda: lax.rng_bit_generator(np.zeros(4, U), (3,), "int32"), TypeError, "unsupp"),
    (lambda: lax.rng_bit_generator(np.zeros(4, U), (-3,)), TypeError, "not negative"),
    (lambda: lax.rng_uniform(np.zeros(3, "f"), 1.0, (3,)), ValueError, "scalars"),
    (lambda: lax.rng_uniform(np.int32(0), np.float32(1), (3,)), TypeError, "same dtypes"),
    (lambda: lax.rng_uniform(False, True, (3,)), TypeError, "dtype bool")]


@pytest.mark.parametrize(("call", "error", "words"), ERRORS)
def test_errors(call: Callable[[], Any], error: type[Exception], words: str) -> None:
  with pytest.raises(error, match=words):
    call()
