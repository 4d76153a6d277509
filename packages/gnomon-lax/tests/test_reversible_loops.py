"""Reverse derivatives of loops with any number of steps, against those of `scan`."""

from __future__ import annotations

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.test_util import check_grads

rng = np.random.default_rng(0)
X, W = rng.uniform(0.2, 0.9, 3), 1.3


@pytest.fixture(autouse=True)
def _x64():
  with gnomon.enable_x64(True):
    yield


def step(w):
  def body(i, y):
    return lax.sin(lax.add(lax.mul(y, w), lax.convert_element_type(i, y.dtype)))
  return body


def total(x):
  return lax.reduce_sum(x, (0,))


def reversible(x, w, n, checkpoints):
  return lax.reversible_fori_loop(0, n, step(w), x, checkpoints=checkpoints)


def known(x, w, n):
  return lax.fori_loop(0, n, step(w), x)


@pytest.mark.parametrize("checkpoints", [1, 2, 3, 6, 33])
def test_gradients(checkpoints):
  """One compiled program serves all numbers of steps."""
  grads = gnomon.jit(gnomon.grad(
      lambda x, w, n: total(reversible(x, w, n, checkpoints)), (0, 1)))
  for n in (0, 1, 2, 5, 9, 40):
    expected = gnomon.grad(lambda x, w, n=n: total(known(x, w, n)), (0, 1))(X, W)
    for got, want in zip(grads(X, W, n), expected):
      np.testing.assert_allclose(got, want, rtol=1e-12)


HESSIANS = {
    "reverse of reverse": (gnomon.jacrev, gnomon.grad),
    "forward of reverse": (gnomon.jacfwd, gnomon.grad),
    "reverse of forward": (gnomon.jacrev, gnomon.jacfwd),
}


@pytest.mark.parametrize("pair", HESSIANS.values(), ids=HESSIANS)
def test_second_derivatives(pair):
  outer, inner = pair
  expected = gnomon.hessian(lambda x: total(known(x, W, 5)))(X)
  got = gnomon.jit(
      lambda n: outer(inner(lambda x: total(reversible(x, W, n, 3))))(X))(5)
  np.testing.assert_allclose(got, expected, rtol=1e-10)


def until_large(x):
  return lax.reversible_while_loop(
      lambda v: lax.lt(v["x"], 100.0),
      lambda v: {"x": lax.square(v["x"]), "n": lax.add(v["n"], 1)}, {"x": x, "n": 0})


def test_while_loop():
  out = until_large(3.0)
  assert (float(out["x"]), int(out["n"])) == (6561.0, 3)
  check_grads(gnomon.jit(lambda x: until_large(x)["x"]), (3.0,), order=2)
  _, linear = gnomon.linearize(lambda x: until_large(x)["x"], 3.0)
  assert float(linear(1.0)) == 8 * 3.0 ** 7


def test_mapped_conditions():
  xs = np.array([3.0, 1.5, 200.0, 1.1])
  steps = np.array([3, 4, 0, 6])
  expected = 2 ** steps * xs ** (2 ** steps - 1)

  def last(x):
    return until_large(x)["x"]
  inside = gnomon.jit(gnomon.vmap(gnomon.grad(last)))(xs)
  outside = gnomon.jit(gnomon.grad(lambda v: total(gnomon.vmap(last)(v))))(xs)
  np.testing.assert_allclose(inside, expected, rtol=1e-12)
  np.testing.assert_allclose(outside, expected, rtol=1e-12)
  tangents = gnomon.vmap(gnomon.linearize(last, 3.0)[1])(np.array([1.0, 2.0]))
  np.testing.assert_allclose(tangents, 8 * 3.0 ** 7 * np.array([1, 2]))


def test_carries_that_get_their_tangent_late_and_integers():
  """`b` depends on `w` after two steps; keys and counters have no derivative."""
  def f(w, n):
    def body(_, c):
      a, b, k = c
      return lax.mul(lax.sin(w), 0.5), lax.add(a, lax.mul(b, 0.9)), lax.add(k, 2)
    return lax.reversible_fori_loop(0, n, body, (1.0, 1.0, 0), checkpoints=3)[1]

  check_grads(gnomon.jit(lambda w: f(w, np.int32(6))), (0.7,), order=1)


def test_inside_other_programs():
  def f(x, n):
    def outer(c, _):
      return gnomon.checkpoint(lambda c: reversible(c, W, n, 4))(c), total(c)
    last, sums = lax.scan(outer, x, None, length=2)
    return lax.add(total(last), total(sums))

  def plain(x):
    once = known(x, W, 3)
    return lax.add(total(known(once, W, 3)), lax.add(total(x), total(once)))
  np.testing.assert_allclose(
      gnomon.jit(gnomon.grad(f))(X, 3), gnomon.grad(plain)(X), rtol=1e-12)


def test_memory_does_not_grow_with_the_steps():
  x = np.zeros(10_000)

  def temporary(f, *args):
    compiled = gnomon.jit(gnomon.grad(f)).lower(*args).compile()
    return compiled.memory_analysis().temp_size_in_bytes / x.nbytes
  assert temporary(lambda x, n: total(reversible(x, W, n, 6)), x, 1000) < 10
  assert temporary(lambda x: total(known(x, W, 1000)), x) > 900


def test_with_python_loops():
  with gnomon.disable_jit():
    assert float(until_large(3.0)["x"]) == 6561.0


ERRORS = {
    "checkpoints": (
        lambda: reversible(X, W, 3, 0), ValueError, "checkpoints must be at least 1"),
    "types": (
        lambda: lax.reversible_while_loop(
            lambda x: x < 1, lambda x: (x, x), 1.0), TypeError,
        "reversible_while_loop body function carry"),
    "effects": (
        lambda: lax.reversible_fori_loop(
            0, 3, lambda i, x: (gnomon.debug.print("{}", i), x)[1], 1.0),
        NotImplementedError, "would repeat their effects"),
}


@pytest.mark.parametrize("case", ERRORS.values(), ids=ERRORS)
def test_errors(case):
  f, error, message = case
  with pytest.raises(error, match=message):
    f()


def test_the_error_of_while_loop_names_them():
  with pytest.raises(ValueError, match="reversible_while_loop"):
    gnomon.grad(lambda x: lax.while_loop(lambda v: lax.lt(v, 9.0), lax.square, x))(2.0)
