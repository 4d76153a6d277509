"""Random numbers against NumPy: Threefry as it is published, and SciPy's functions.

Threefry-2x32 with 20 rounds: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as
easy as 1, 2, 3" (2011), whose library Random123 publishes the known answers below.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special
import scipy.stats

from gnomon import random

Words = tuple[np.ndarray, np.ndarray]

ROTATIONS = (13, 15, 26, 6), (17, 29, 16, 24)
PARITY = np.uint32(0x1BD11BDA)
SEEDS = (0, 1, 2**31, 2**32 - 1)


def rotate(x: np.ndarray, by: int) -> np.ndarray:
  return (x << np.uint32(by)) | (x >> np.uint32(32 - by))


def threefry(key: Words, counter: Words) -> Words:
  """Threefry-2x32-20 of counters, elementwise."""
  k0, k1 = (np.asarray(k, np.uint32) for k in key)
  schedule = k0, k1, k0 ^ k1 ^ PARITY
  with np.errstate(over="ignore"):
    x, y = counter[0] + k0, counter[1] + k1
    for group in range(5):
      for r in ROTATIONS[group % 2]:
        x = x + y
        y = rotate(y, r) ^ x
      x = x + schedule[(group + 1) % 3]
      y = y + schedule[(group + 2) % 3] + np.uint32(group + 1)
  return x, y


def counters(size: int) -> Words:
  """The 64-bit counts from 0, as high and low words."""
  return np.zeros(size, np.uint32), np.arange(size, dtype=np.uint32)


def words(seed: int) -> Words:
  return tuple(np.array([0, seed], np.uint64).astype(np.uint32))


def bits32(key: Words, size: int) -> np.ndarray:
  x, y = threefry(key, counters(size))
  return x ^ y


@pytest.mark.parametrize(
  ("key", "counter", "answer"),
  [
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
  ],
)
def test_reference_gives_the_published_answers(
  key: tuple[int, int], counter: tuple[int, int], answer: tuple[int, int]
) -> None:
  pairs = [tuple(np.array([w], np.uint32) for w in pair) for pair in (key, counter)]
  assert tuple(int(w[0]) for w in threefry(*pairs)) == answer


@pytest.mark.parametrize("seed", SEEDS)
def test_key_holds_the_seed(seed: int) -> None:
  np.testing.assert_array_equal(random.key_data(random.key(seed)), words(seed))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 4), (2, 3, 5), (1000,)])
def test_bits(seed: int, shape: tuple[int, ...]) -> None:
  key, size = random.key(seed), int(np.prod(shape))
  expected = bits32(words(seed), size).reshape(shape)
  np.testing.assert_array_equal(random.bits(key, shape), expected)
  for narrow in (np.uint16, np.uint8):
    found = random.bits(key, shape, narrow)
    np.testing.assert_array_equal(found, expected.astype(narrow))


@pytest.mark.parametrize("seed", SEEDS)
def test_split_takes_the_cipher_of_each_count(seed: int) -> None:
  keys = random.key_data(random.split(random.key(seed), 5))
  np.testing.assert_array_equal(keys, np.stack(threefry(words(seed), counters(5)), 1))


@pytest.mark.parametrize("data", [0, 1, 77, 2**32 - 1])
def test_fold_in_takes_the_cipher_of_the_data(data: int) -> None:
  folded = random.key_data(random.fold_in(random.key(3), data))
  counter = tuple(np.array([w], np.uint32) for w in (0, data))
  np.testing.assert_array_equal(folded, np.concatenate(threefry(words(3), counter)))


def test_uniform_puts_the_bits_in_the_fraction() -> None:
  expected = (bits32(words(5), 1000) >> np.uint32(9)) * np.float32(2.0**-23)
  np.testing.assert_array_equal(random.uniform(random.key(5), (1000,)), expected)


def test_normal_is_the_inverse_error_function_of_uniform() -> None:
  low = np.nextafter(np.float32(-1), np.float32(0))
  u = random.uniform(random.key(6), (1000,), minval=low, maxval=1.0)
  expected = np.sqrt(2) * scipy.special.erfinv(np.asarray(u, np.float64))
  np.testing.assert_allclose(
    random.normal(random.key(6), (1000,)), expected, rtol=1e-4, atol=1e-6
  )


@pytest.mark.parametrize(
  ("name", "args", "distribution"),
  [
    ("uniform", (), scipy.stats.uniform()),
    ("normal", (), scipy.stats.norm()),
  ],
)
def test_distribution(
  name: str, args: tuple[object, ...], distribution: scipy.stats.rv_continuous
) -> None:
  numbers = np.asarray(getattr(random, name)(random.key(7), (20_000,), *args))
  assert scipy.stats.kstest(numbers, distribution.cdf).pvalue > 1e-3


def test_integers_are_evenly_spread() -> None:
  counts = np.bincount(random.randint(random.key(8), (60_000,), -3, 9) + 3)
  assert len(counts) == 12
  assert scipy.stats.chisquare(counts).pvalue > 1e-3


def test_bernoulli_has_its_mean() -> None:
  mean = float(np.mean(random.bernoulli(random.key(9), 0.3, (20_000,))))
  assert abs(mean - 0.3) < 5 * np.sqrt(0.3 * 0.7 / 20_000)


def test_permutations_are_evenly_spread() -> None:
  keys = random.split(random.key(10), 600)
  orders = [tuple(np.asarray(random.permutation(key, 3))) for key in keys]
  _, counts = np.unique(orders, axis=0, return_counts=True)
  assert len(counts) == 6
  assert scipy.stats.chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize("replace", [True, False])
def test_choice_follows_its_weights(replace: bool) -> None:
  p = np.array([0.1, 0.2, 0.0, 0.7], np.float32)
  keys = random.split(random.key(11), 500)
  first = [int(random.choice(k, 4, (2,), replace=replace, p=p)[0]) for k in keys]
  counts = np.bincount(first, minlength=4)
  assert counts[2] == 0
  assert scipy.stats.chisquare(counts[p > 0], 500 * p[p > 0] / p.sum()).pvalue > 1e-3


def test_categorical_follows_its_logits() -> None:
  p = np.array([0.1, 0.2, 0.3, 0.4])
  drawn = random.categorical(random.key(12), np.log(p), shape=(20_000,))
  counts = np.bincount(drawn, minlength=4)
  assert scipy.stats.chisquare(counts, 20_000 * p).pvalue > 1e-3
