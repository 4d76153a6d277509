"""`map`, `associative_scan`; dead code and unused results of control flow."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.core.jaxpr import eval_jaxpr
from gnomon.core.structural import reduce_sum
from gnomon.test_util import check_grads
from gnomon.testing import check_vmap
from gnomon.transform.dce import dce_jaxpr

rng = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _x64():
  with gnomon.enable_x64(True):
    yield


# ---- map


@pytest.mark.parametrize("batch_size", [None, 1, 2, 3, 5, 6, 10])
def test_map(batch_size):
  xs = {"a": rng.normal(size=(6, 2)), "b": np.arange(6)}

  def f(x):
    return lax.sin(x["a"]), lax.mul(x["b"], 2)

  y, z = lax.map(f, xs, batch_size=batch_size)
  np.testing.assert_allclose(y, np.sin(xs["a"]), rtol=1e-15)
  np.testing.assert_array_equal(z, 2 * xs["b"])
  grad = gnomon.grad(lambda a: reduce_sum(
      lax.map(lambda x: f({"a": x, "b": 1})[0], a, batch_size=batch_size), (0, 1)))
  np.testing.assert_allclose(grad(xs["a"]), np.cos(xs["a"]), rtol=1e-15)


def test_map_of_nothing():
  assert lax.map(lax.sin, np.zeros((0, 3)), batch_size=2).shape == (0, 3)
  with pytest.raises(ValueError, match="no values to scan over"):
    lax.map(lax.sin, ())
  with pytest.raises(ValueError, match="no leading axis"):
    lax.map(lax.sin, 1.0, batch_size=2)
  with pytest.raises(ValueError, match="batch_size must be at least 1, got 0"):
    lax.map(lax.sin, np.ones(2), batch_size=0)
  with pytest.raises(TypeError, match="argument f should be callable"):
    lax.map(3, np.ones(2))


# ---- associative_scan


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 7, 8, 13])
def test_associative_scan(n):
  x = rng.normal(size=(n, 3))
  flags = rng.uniform(size=(n,)) < 0.5

  def run(x, flags):
    out = []
    for reverse in (False, True):
      out.append(lax.associative_scan(lax.add, x, reverse=reverse))
      out.append(lax.associative_scan(
          lax.max, lax.transpose(x, (1, 0)), reverse, axis=-1))
      out.append(lax.associative_scan(lax.bitwise_xor, flags, reverse))
    return out

  got = gnomon.jit(run)(x, flags)
  for reverse in (False, True):
    turn = np.s_[::-1] if reverse else np.s_[:]
    expected = [
        np.cumsum(x[turn], 0)[turn], np.maximum.accumulate(x[turn], 0)[turn].T,
        np.logical_xor.accumulate(flags[turn])[turn]]
    for a, b in zip(got[3 * reverse:], expected):
      np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13)


def affine(p, q):
  """Composition of x -> a x + b: associative, not commutative."""
  (a, b), (c, d) = p, q
  return lax.mul(a, c), lax.add(lax.mul(c, b), d)


@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scan_of_a_recurrence(reverse):
  a, b = rng.normal(size=(2, 9))
  got = lax.associative_scan(affine, (a, b), reverse=reverse)[1]
  x, xs = 0.0, []
  for p, q in list(zip(a, b))[::-1 if reverse else 1]:
    x = p * x + q
    xs.append(x)
  np.testing.assert_allclose(got, xs[::-1 if reverse else 1], rtol=1e-12)


def test_associative_scan_is_differentiable_and_mapped():
  args = (rng.normal(size=(5,)), rng.normal(size=(5,)))
  check_grads(lambda *ab: lax.associative_scan(affine, ab), args, order=2)
  check_vmap(lambda a, b: lax.associative_scan(affine, (a, b)),
             (rng.normal(size=(2, 5)), rng.normal(size=(5, 2))), (0, 1))


def test_associative_scan_errors():
  x = np.ones(3)
  for kind, message, call in [
      (TypeError, "argument fn should be callable", lambda: lax.associative_scan(3, x)),
      (ValueError, r"same size along the axis 0; .* \[\(3,\), \(4,\)\]",
       lambda: lax.associative_scan(affine, (x, np.ones(4)))),
      (ValueError, "axis 3 is out of bounds",
       lambda: lax.associative_scan(lax.add, x, axis=3)),
      (ValueError, r"must return a pytree like elems, PyTreeDef\(\*\)",
       lambda: lax.associative_scan(lambda a, b: (a, b), x)),
      (ValueError, "at least one array", lambda: lax.associative_scan(lax.add, ()))]:
    with pytest.raises(kind, match=message):
      call()


# ---- dead code


def looping(c, w, xs):
  """Four results: one of a chain of carries, one alone, two that are stacked."""
  def f(carry, x):
    a, b, d = carry
    return (lax.add(a, b), lax.mul(b, w), lax.sin(d)), (lax.mul(d, x), lax.mul(b, x))
  (a, _, d), (y, z) = lax.scan(f, (c, c, c), xs)
  return [a, d, y, z]


def repeating(c, w, xs):
  _, a, b, d = lax.while_loop(
      lambda v: lax.lt(v[0], 3),
      lambda v: (lax.add(v[0], 1), lax.add(v[1], v[2]), lax.mul(v[2], w), lax.sin(v[3])),
      (0, c, c, c))
  return [a, b, d, lax.add(d, reduce_sum(xs, (0,)))]


def choosing(c, w, xs):
  def one(c, w, xs):
    return lax.mul(c, w), lax.sin(c), w, reduce_sum(xs, (0,))

  def other(c, w, xs):
    return c, lax.cos(c), c, lax.mul(w, 2.0)
  return list(lax.cond(lax.gt(c, 0.0), one, other, c, w, xs))


def calling(c, w, xs):
  return list(gnomon.jit(choosing)(c, w, xs))


@pytest.mark.parametrize("program", [looping, repeating, choosing, calling])
def test_dead_code(program):
  args = (0.5, 0.7, np.arange(1.0, 4.0))
  jaxpr = gnomon.make_jaxpr(program)(*args).jaxpr
  whole = eval_jaxpr(jaxpr, (), *args)
  kept = {}
  for used in itertools.product([False, True], repeat=4):
    pruned, ins = dce_jaxpr(jaxpr, used)
    assert len(pruned.invars) == sum(ins)
    kept[used] = ins
    if used in [(0, 1, 0, 0), (1, 0, 0, 1), (0, 0, 1, 0)]:
      got = eval_jaxpr(pruned, (), *[x for x, i in zip(args, ins) if i])
      for a, b in zip(got, [x for x, u in zip(whole, used) if u], strict=True):
        np.testing.assert_array_equal(a, b)
  assert kept[False, False, False, False] == [False] * 3
  expected = {
      looping: {"0100": "100", "1000": "110", "0010": "101"},
      repeating: {"0010": "100", "1000": "110", "0001": "101"},
      choosing: {"0100": "100", "1000": "110", "0001": "111"},
  }
  expected[calling] = expected[choosing]
  for used, ins in expected[program].items():
    assert kept[tuple([u == "1" for u in used])] == [i == "1" for i in ins]
  assert dce_jaxpr(jaxpr, [False] * 4, instantiate=True)[1] == [True] * 3
