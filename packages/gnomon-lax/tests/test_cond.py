"""`cond` and `switch` against the chosen function alone."""

from __future__ import annotations

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.core.structural import reduce_sum
from gnomon.test_util import check_grads
from gnomon.tree_util import tree_leaves, tree_map

rng = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _x64():
  with gnomon.enable_x64(True):
    yield


def floats(*shape):
  return rng.uniform(0.3, 1.2, shape)


def constant(w, v):
  return np.ones(3), w


def smooth(w, v):
  return lax.mul(lax.sin(v), w), lax.mul(w, w)


def passing(w, v):
  return v, w


def residuals(w, v):
  return lax.exp(lax.mul(lax.cos(v), lax.tanh(w))), reduce_sum(lax.mul(v, v), (0,))


BRANCHES = (constant, smooth, passing, residuals)
ARGS = (np.float64(0.7), floats(3))
TANGENTS = (np.float64(0.3), floats(3))


def choose(index, branches, *operands):
  """What switch means, for a known index."""
  return branches[min(max(int(index), 0), len(branches) - 1)](*operands)


def total(tree):
  out = np.float64(0)
  for k, x in enumerate(tree_leaves(tree)):
    x = reduce_sum(x, tuple(range(np.ndim(x))))
    out = lax.add(out, lax.mul(x, np.float64(k + 1)))
  return out


def everything(run, index, branches=BRANCHES):
  """Values and derivatives of orders one and two, mapped ones too."""
  def f(*args):
    return run(index, branches, *args)

  def loss(*args):
    return total(f(*args))

  grad = gnomon.grad(loss, argnums=(0, 1))
  many = tree_map(lambda x: np.stack([x, x * 0.9]), ARGS)
  return [
      f(*ARGS), gnomon.jvp(f, ARGS, TANGENTS)[1], grad(*ARGS),
      gnomon.jvp(grad, ARGS, TANGENTS)[1],
      gnomon.grad(lambda *a: gnomon.jvp(loss, a, TANGENTS)[1], argnums=(0, 1))(*ARGS),
      gnomon.vmap(f)(*many), gnomon.vmap(grad)(*many),
      gnomon.vmap(f, (None, 1), -1)(ARGS[0], many[1].T),
      gnomon.vmap(grad, (0, None))(many[0], ARGS[1])]


def assert_same(got, expected):
  for a, b in zip(tree_leaves(got), tree_leaves(expected), strict=True):
    assert a.dtype == b.dtype
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-12, atol=1e-14)


def test_all_transformations():
  traced = gnomon.jit(lambda i: everything(lax.switch, i))
  for i in (-3, 0, 1, 2, 3, 9):
    assert_same(traced(i), everything(choose, i))


def test_eager():
  for pred in (True, False, 2, 0, 1.5, np.float64(0), np.uint8(3)):
    got = lax.cond(pred, smooth, residuals, *ARGS)
    assert_same(got, (smooth if pred else residuals)(*ARGS))


@pytest.mark.parametrize("pred", [True, False])
def test_differences(pred):
  check_grads(lambda *args: lax.cond(pred, smooth, residuals, *args), ARGS, order=2)


def test_mapped_index():
  index = np.array([2, 0, 3, 1, -1])
  w, v = floats(5), floats(5, 3)

  def grad(run, i, w, v):
    return gnomon.grad(lambda w, v: total(run(i, BRANCHES, w, v)), argnums=(0, 1))(w, v)

  def mapped(i, w, v, w0, vt):
    return (
        gnomon.vmap(lambda *a: lax.switch(a[0], BRANCHES, *a[1:]))(i, w, v),
        gnomon.vmap(lambda *a: grad(lax.switch, *a), (0, None, 1))(i, w0, vt),
        gnomon.grad(lambda w, v: total(gnomon.vmap(
            lambda i, v: lax.switch(i, BRANCHES, w, v))(i, v)), argnums=(0, 1))(w0, v))

  values, grads, summed = gnomon.jit(mapped)(index, w, v, w[0], v.T)
  expected = [choose(i, BRANCHES, a, b) for i, a, b in zip(index, w, v)]
  assert_same(values, [np.stack(xs) for xs in zip(*expected)])
  expected = [grad(choose, i, w[0], b) for i, b in zip(index, v)]
  assert_same(grads, [np.stack(xs) for xs in zip(*expected)])

  def loop(w, v):
    parts = [
        choose(i, BRANCHES, w, lax.index_in_dim(v, k, 0, keepdims=False))
        for k, i in enumerate(index)]
    out = np.float64(0)
    for part in parts:
      out = lax.add(out, total(part))
    return out
  assert_same(summed, gnomon.grad(loop, argnums=(0, 1))(w[0], v))


def test_mapped_index_keeps_infinities_out_of_derivatives():
  def f(x):
    return lax.cond(lax.gt(x, 0.0), lax.log, lambda x: x, x)

  def g(x, w):
    return lax.cond(lax.gt(x, 0.0), lax.sqrt, lambda w: w, w)

  x = np.array([0.0, 2.0])
  np.testing.assert_allclose(gnomon.vmap(gnomon.grad(f))(x), [1.0, 0.5])
  grad = gnomon.grad(lambda w: reduce_sum(gnomon.vmap(g, (0, None))(x[:1], w), (0,)))
  np.testing.assert_allclose(grad(0.0), 1.0)


def test_only_the_chosen_branch_runs():
  def forever(x):
    return lax.while_loop(lambda x: lax.ge(x, 0.0), lambda x: lax.add(x, 1.0), x)

  assert float(lax.cond(False, forever, lambda x: x, 1.0)) == 1.0


def test_closures_are_shared_operands():
  def f(p, x, y):
    return lax.cond(
        p, lambda z: lax.mul(lax.mul(x, y), z), lambda z: lax.mul(y, z), 3.0)

  jaxpr = gnomon.make_jaxpr(f)(True, 1.0, 2.0)
  eqn = jaxpr.eqns[-1]
  assert eqn.primitive is lax.cond_p
  assert list(eqn.params) == ["branches"]
  assert len(eqn.invars) == 4
  grads = gnomon.grad(f, argnums=(1, 2))(True, 2.0, 5.0)
  assert [float(g) for g in grads] == [15.0, 6.0]


def test_operands_pass_by():
  jaxpr = gnomon.make_jaxpr(
      lambda p, x: lax.cond(p, lambda x: (x, lax.sin(x)), lambda x: (x, 1.0), x)
  )(True, 2.0)
  assert jaxpr.jaxpr.outvars[0] is jaxpr.jaxpr.invars[1]
  assert len(jaxpr.eqns[-1].outvars) == 1
  out = lax.cond(True, lambda x: x, lambda x: x, 1.0)
  assert out.dtype == np.float64


def test_weak_types_meet():
  assert not lax.cond(True, lambda: np.float64(1), lambda: 2.0).weak_type
  assert lax.cond(True, lambda: 1.0, lambda: 2.0).weak_type


def test_call_forms():
  assert int(lax.cond(True, lambda: 1, lambda: 2)) == 1
  assert float(lax.cond(True, lambda x: x, lax.neg, operand=3.0)) == 3
  assert int(lax.cond(False, lambda x: 1, lambda x: 2, operand=None)) == 2
  assert float(lax.cond(False, 1.0, lambda x: x, 2.0, lax.neg)) == -2
  assert float(lax.switch(7, [lax.neg], 1.0)) == -1
  assert float(lax.switch(1, [lax.neg, lambda x: x], operand=1.0)) == 1


def test_tracing_is_remembered():
  count = 0

  def f(x):
    nonlocal count
    count += 1
    return x

  for p in (True, False, True):
    lax.cond(p, f, lax.neg, 1.0)
  assert count == 1


def test_disable_jit():
  seen = []
  with gnomon.disable_jit():
    lax.cond(True, lambda: seen.append(1), lambda: seen.append(2))
    lax.switch(5, [lambda: seen.append(3), lambda: seen.append(4)])
  assert seen == [1, 4]


def same(x):
  return x


ERRORS = {
    "callable": (TypeError, "argument true_fun should be callable, got 3",
                 lambda: lax.cond(True, 3, same, 1.0)),
    "shape": (TypeError, r"Pred must be a scalar, got .* of shape \(2,\)",
              lambda: lax.cond(np.ones(2), same, same, 1.0)),
    "tuple": (TypeError, r"Pred must be a scalar, got \(1, 2\) of type",
              lambda: lax.cond((1, 2), same, same, 1.0)),
    "complex": (TypeError, "Pred type must be either boolean or number, got complex128",
                lambda: lax.cond(1j, same, same, 1.0)),
    "operand": (TypeError, "'operand' keyword is given",
                lambda: lax.cond(True, same, same, 1.0, operand=2.0)),
    "leaf": (TypeError, r"argument operands\[1\]\['a'\] of lax.cond is not a valid array",
             lambda: lax.cond(True, lambda *xs: 1, lambda *xs: 2, 1.0, {"a": "no"})),
    "structure": (TypeError, (
        r"same pytree structure, but they differ:(.|\n)*true_fun is (.|\n)*true_fun "
        r"output at path \['a'\] is a <class 'tuple'> but false_fun output at path "
        r"\['a'\] is a pytree leaf, so their Python types differ(.|\n)*"
        r"true_fun returns PyTreeDef\({'a': \(\*,\)}\)"),
                  lambda: lax.cond(
                      True, lambda x: {"a": (x,)}, lambda x: {"a": x}, 1.0)),
    "types": (TypeError, (
        r"equal output types but they differ(.|\n)*The output of true_fun at path "
        r"\['a'\] has type float64\[\] .* false_fun has type bool\[\], so the dtypes do"),
              lambda: lax.cond(
                  True, lambda x: {"a": x}, lambda x: {"a": lax.gt(x, 0.0)}, 1.0)),
    "branch types": (TypeError, (
        r"The output of branch 0 has type float64\[\] but the corresponding output of "
        r"branch2 has type float64\[2\], so the shapes do not match"),
                     lambda: lax.switch(0, [same, same, lambda x: np.ones(2)], 1.0)),
    "branch structure": (TypeError, (
        r"switch branch outputs must have the same pytree(.|\n)*branch 0 output is a "
        r"pytree leaf but branch1 output is a <class 'tuple'>"),
                         lambda: lax.switch(0, [same, lambda x: (x, x)], 1.0)),
    "empty": (ValueError, "Empty branch sequence", lambda: lax.switch(0, [], 1.0)),
    "branches": (TypeError, "sequence of callables, got",
                 lambda: lax.switch(0, [same, 1], 1.0)),
    "index": (TypeError, "Index type must be an integer, got float64",
              lambda: lax.switch(0.0, [same, same], 1.0)),
    "index shape": (TypeError, r"Branch index must be scalar, got .* of shape \(2,\)",
                    lambda: lax.switch(np.arange(2), [same, same], 1.0)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
  kind, message, call = ERRORS[name]
  with pytest.raises(kind, match=message):
    call()


@pytest.mark.parametrize(("pred", "message"), [
    (None, "cond predicate is None"),
    (lambda x: True, "Pred type must be either boolean or number, got <function"),
    ("foo", "Pred must be a scalar, got foo of type <class 'str'>"),
    ((1.0, 1.0), r"Pred must be a scalar, got \(1.0, 1.0\) of type <class 'tuple'>"),
])
def test_what_is_no_predicate(pred, message):
  with pytest.raises(TypeError, match=message):
    lax.cond(pred, lambda: 1, lambda: 2)
