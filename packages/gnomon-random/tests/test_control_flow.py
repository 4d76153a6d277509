"""Keys as carries, operands and residuals of control flow."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp
from gnomon import lax, random


def draw(key):
  return random.uniform(key, ())


def words(key):
  return np.asarray(random.key_data(key))


def test_carries_and_slices():
  key = random.key(3)

  def step(k, _):
    k, sub = random.split(k)
    return k, (draw(sub), sub)

  last, (ys, subs) = gnomon.jit(lambda k: lax.scan(step, k, None, 3))(key)
  k, expected = key, []
  for i in range(3):
    k, (y, sub) = step(k, None)
    expected.append(y)
    np.testing.assert_array_equal(words(subs[i]), words(sub))
  np.testing.assert_array_equal(words(last), words(k))
  np.testing.assert_array_equal(ys, np.stack(expected))
  np.testing.assert_array_equal(lax.map(draw, subs), ys)
  np.testing.assert_array_equal(
      lax.scan(lambda c, k: (c, draw(k)), 0, subs, reverse=True, unroll=True)[1], ys)


def test_conditions_and_mapping():
  keys = random.split(random.key(1), 3)

  def other(k):
    return random.split(k)[1]

  pred = np.array([True, False, True])
  got = gnomon.vmap(lambda p, k: lax.cond(p, other, lambda k: k, k))(pred, keys)
  for i, p in enumerate(pred):
    one = lax.cond(p, other, lambda k: k, keys[i])
    np.testing.assert_array_equal(words(got[i]), words(one))
    np.testing.assert_array_equal(words(one), words(other(keys[i]) if p else keys[i]))
  counts = np.array([0, 2, 1])
  got = gnomon.vmap(lambda n, k: lax.while_loop(
      lambda c: lax.lt(c[0], n), lambda c: (lax.add(c[0], 1), other(c[1])), (0, k))[1]
  )(counts, keys)
  for i, n in enumerate(counts):
    k = keys[i]
    for _ in range(n):
      k = other(k)
    np.testing.assert_array_equal(words(got[i]), words(k))


def test_keys_as_residuals():
  noisy = gnomon.checkpoint(lambda w, k: lax.mul(lax.sin(w), draw(k)))
  key = random.key(0)

  def chosen(w, p):
    return lax.cond(p, lambda w, k: noisy(w, random.split(k)[1]), lambda w, k: w, w, key)

  grad = gnomon.grad(lambda w: noisy(w, random.split(key)[1]))
  np.testing.assert_allclose(gnomon.grad(chosen)(1.0, True), grad(1.0), rtol=1e-6)
  assert float(gnomon.grad(chosen)(1.0, False)) == 1.0

  def looped(w):
    def step(c, _):
      k, x = c
      k, sub = random.split(k)
      return (k, noisy(x, sub)), None
    return lax.scan(step, (key, w), None, 3)[0][1]

  def unrolled(w):
    k = key
    for _ in range(3):
      k, sub = random.split(k)
      w = noisy(w, sub)
    return w

  np.testing.assert_allclose(
      gnomon.grad(looped)(0.7), gnomon.grad(unrolled)(0.7), rtol=1e-6)


def test_keys_are_compared_and_filled():
  key = random.key(0)
  keys = random.split(key, 3)
  assert (keys == keys[1]).tolist() == [False, True, False]
  assert (key != keys).tolist() == [True, True, True]
  assert gnomon.jit(lambda k: k == k[::-1])(keys).tolist() == [False, True, False]
  assert isinstance(keys, gnomon.Array)
  assert (gnp.where(np.array([True, False, True]), keys, keys[::-1]) == keys).all()
  for made, value in (
      (gnp.zeros(2, keys.dtype), 0), (gnp.full((2,), 7, keys.dtype), 7),
      (gnomon.jit(gnp.ones_like)(keys[:2]), 1)):
    assert made.dtype == keys.dtype
    assert words(made).tolist() == [[value, value]] * 2
  assert gnomon.device_get(keys) is keys
  last = keys.at[9].get(mode="fill")
  assert words(last).tolist() == [2 ** 32 - 1] * 2
  for copied in (copy.copy(keys), copy.deepcopy(keys), pickle.loads(pickle.dumps(keys))):
    assert (copied == keys).all()
  assert keys.addressable_data(0).shape == (3,)
  assert keys.nbytes == keys.on_device_size_in_bytes() == 24
  assert keys.is_fully_addressable


@pytest.mark.parametrize(("bad", "error", "message"), [
    (lambda k: k + 1, TypeError, "add does not accept dtypes key<fry>, int32"),
    (lambda k: k + k, TypeError, "add does not accept dtype key<fry>"),
    (lambda k: k == random.key(0, impl="rbg"), TypeError, "equal does not accept dtypes"),
    (lambda k: lax.convert_element_type(k, int), ValueError, "Cannot convert"),
    (hash, TypeError, "unhashable"),
    (bool, TypeError, "truth value"),
    (np.asarray, TypeError, "cannot be converted to a NumPy array"),
    (random.key, TypeError, "key accepts a scalar seed"),
    (lambda k: random.key(0, impl="none"), ValueError, "unrecognized PRNG"),
    (lambda k: random.key(0, impl="rbg", dtype=k.dtype), ValueError, "Cannot specify"),
    (lambda k: random.choice(k, 5, 2), TypeError, "must be a sequence"),
    (lambda k: random.permutation(k, 5, axis=3), ValueError, "axis 3"),
    (lambda k: random.randint(k, (), 0, 2 ** 40), OverflowError, "maxval"),
    (lambda k: random.normal(k, (2.5,)), TypeError, "Shapes must be 1D"),
    (lambda k: random.split(k, -1), ValueError, "not negative")])
def test_errors_name_what_is_wrong(bad, error, message):
  with pytest.raises(error, match=message):
    bad(random.key(1))


DRAWS = {
    "bits": (), "permutation": (8,), "categorical": (np.zeros((8, 2), np.float32),),
    "randint": ((8,), 0, 9), "gamma": (2.0, (8,)), "exponential": ((8,),),
    "multivariate_normal": (np.zeros(2), np.eye(2)), "normal": ((8,),)}


@pytest.mark.parametrize("name", DRAWS)
def test_results_are_laid_out_as_wanted(name):
  key, draw = random.key(0), getattr(random, name)
  sharding = gnomon.sharding.SingleDeviceSharding(gnomon.devices()[0])
  plain = draw(key, *DRAWS[name])
  placed = draw(key, *DRAWS[name], out_sharding=sharding)
  np.testing.assert_array_equal(placed, plain)
  assert placed.sharding == sharding
  assert placed.committed
  inside = gnomon.jit(lambda k: draw(k, *DRAWS[name], out_sharding=sharding))(key)
  np.testing.assert_array_equal(inside, plain)
