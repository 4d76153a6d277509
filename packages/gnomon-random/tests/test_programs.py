"""What becomes of draws in compiled programs: nothing is drawn twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp
from gnomon import random

SHAPE = (1000,)


def once(k: Any) -> Any:
  return gnp.sin(random.normal(k, SHAPE))


def twice(k: Any) -> Any:
  x = random.normal(k, SHAPE)
  return gnp.sin(x), gnp.cos(x)


def returned(k: Any) -> Any:
  x = random.normal(k, SHAPE)
  return x, x.sum()


def looped(k: Any) -> Any:
  x = random.uniform(k, SHAPE)
  return gnomon.lax.fori_loop(0, 3, lambda i, y: y * x, x)


@pytest.mark.parametrize(
    ("function", "shared"),
    [(once, False), (twice, True), (returned, True), (looped, True)])
def test_a_draw_with_several_uses_is_computed_once(
    function: Callable[..., Any], shared: bool) -> None:
  key = random.key(0)
  program = gnomon.jit(function).lower(key)
  assert ("inlineable" in program.as_text()) is shared
  rounds = 20  # of the cipher: each has one such operation
  text = program.compile().as_text()
  assert rounds <= text.count(" xor(") <= rounds + 4
  found, expected = gnomon.jit(function)(key), function(key)
  for x, y in zip(gnomon.tree.leaves(found), gnomon.tree.leaves(expected)):
    np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)


def test_rejection_draws_each_number_once() -> None:
  """Of the six ciphers of a try, and five before and after, two are in two loops."""
  a = np.full(SHAPE, 2.0, np.float32)
  text = gnomon.jit(random.gamma).lower(random.key(0), a).compile().as_text()
  assert text.count(" xor(") <= 14 * 23


def test_derivatives_and_maps_of_shared_draws() -> None:
  key = random.key(1)

  def loss(w: Any, k: Any) -> Any:
    x = random.normal(k, (3,))
    return (gnp.tanh(x * w) * x).sum()

  w = np.float32([0.1, -0.2, 0.3])
  x = np.asarray(random.normal(key, (3,)))
  slope = gnomon.jit(gnomon.grad(loss))(w, key)
  np.testing.assert_allclose(slope, x * x / np.cosh(x * w) ** 2, rtol=1e-5)
  keys = random.split(key, 4)
  mapped = gnomon.jit(gnomon.vmap(loss, (None, 0)))(w, keys)
  np.testing.assert_allclose(mapped, [loss(w, k) for k in keys], rtol=1e-5)


@pytest.mark.parametrize("name", ["uniform", "normal", "bernoulli", "gumbel"])
def test_narrow_arrays_are_drawn_in_one_dimension(name: str) -> None:
  """The compiler makes vectors of the last dimension only; the numbers are the same."""
  key, draw = random.key(2), getattr(random, name)
  shape = (1000, 3)
  flat = np.asarray(draw(key, shape=(3000,))).reshape(shape)
  np.testing.assert_array_equal(draw(key, shape=shape), flat)
  program = gnomon.jit(lambda k: draw(k, shape=shape)).lower(key)
  np.testing.assert_array_equal(program.compile()(key), flat)
  assert "inlineable" in program.as_text()
  assert "tensor<1000x3xui32>" not in program.as_text()
