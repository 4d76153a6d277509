"""Generators with state draw what keys folded with a count draw."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp
from gnomon import lax, random
from gnomon.experimental.random import StatefulPRNG, stateful_rng

KEY = random.key(5)


def words(keys: Any) -> list[Any]:
  return np.asarray(random.key_data(keys)).tolist()


def folded(i: int) -> Any:
  return random.fold_in(KEY, i)


def test_draws_are_those_of_folded_keys() -> None:
  rng = stateful_rng(5)
  assert words(rng.key()) == words(folded(0))
  assert words(rng.key((2, 1))) == words(random.split(folded(1), (2, 1)))
  loc = np.array([1, 4])
  draws = [
      (rng.random(3), random.uniform(folded(2), (3,))),
      (rng.uniform(loc, 6), random.uniform(folded(3), (2,), float, loc, 6)),
      (rng.normal(loc, 0.5, (4, 2)), loc + 0.5 * random.normal(folded(4), (4, 2))),
      (rng.integers(9), random.randint(folded(5), (), 0, 9)),
      (rng.integers(-3, loc), random.randint(folded(6), (2,), -3, loc)),
      (rng.uniform(dtype="float16"), random.uniform(folded(7), (), "float16"))]
  for found, expected in draws:
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
  assert words(rng.split((3,))._base_key) == words(random.split(folded(8), (3,)))
  assert int(rng._counter[...]) == 9
  assert [words(r._base_key) for r in rng.spawn(2)] == words(random.split(folded(9)))
  assert stateful_rng(5, impl="rbg")._base_key.dtype == random.key_dtype("rbg")
  a, b = stateful_rng(), stateful_rng()
  assert words(a._base_key) != words(b._base_key)


def test_state_goes_through_transformations() -> None:
  expected = [float(random.uniform(folded(i))) for i in range(4)]
  rng = stateful_rng(5)
  draw = gnomon.jit(lambda rng: rng.uniform())
  assert [float(draw(rng)) for _ in range(2)] == expected[:2]
  _, more = lax.scan(lambda c, _: (c, rng.uniform()), None, None, 2)
  assert more.tolist() == expected[2:]

  def fresh(x: Any) -> Any:
    inner = stateful_rng(5)
    return x * inner.uniform() + inner.uniform()

  assert float(gnomon.grad(fresh)(2.0)) == expected[0]
  children = stateful_rng(5).spawn(3)
  x = np.arange(3.0, dtype=np.float32)
  mapped = gnomon.vmap(lambda rng, x: x + rng.uniform())(stateful_rng(5).split(3), x)
  np.testing.assert_array_equal(mapped, x + gnp.array([r.uniform() for r in children]))


def test_errors_say_what_to_do() -> None:
  with pytest.raises(ValueError, match="a typed PRNG key"):
    StatefulPRNG(random.PRNGKey(0), gnomon.new_ref(0))
  with pytest.raises(ValueError, match="a scalar integer ref"):
    StatefulPRNG(random.key(0), 0)
  with pytest.raises(ValueError, match="split stateful generator"):
    stateful_rng(0).split(2).uniform()
  with pytest.raises(TypeError, match="When used within transformed code"):
    gnomon.jit(lambda: stateful_rng().uniform())()
