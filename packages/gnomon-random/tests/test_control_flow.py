"""Keys as carries, operands and residuals of control flow."""

from __future__ import annotations

import numpy as np

import gnomon
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
