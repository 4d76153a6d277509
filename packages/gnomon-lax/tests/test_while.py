"""`while_loop` and `fori_loop` against Python's loops."""

from __future__ import annotations

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.core.structural import reduce_sum
from gnomon.test_util import check_grads
from gnomon.tree_util import tree_leaves

rng = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _x64():
  with gnomon.enable_x64(True):
    yield


def floats(*shape):
  return rng.uniform(0.3, 1.2, shape)


def python_while(cond_fun, body_fun, val):
  while bool(cond_fun(val)):
    val = body_fun(val)
  return val


def assert_same(got, expected):
  for a, b in zip(tree_leaves(got), tree_leaves(expected), strict=True):
    assert a.dtype == b.dtype
    if a.dtype != gnomon.dtypes.float0:
      np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-12, atol=1e-14)


def doubling(run, w, v):
  """The number of steps depends on an argument."""
  def total(x):
    return reduce_sum(x, (0,))
  return run(
      lambda c: lax.lt(total(c[1]), 20.0),
      lambda c: (lax.add(c[0], 1), lax.mul(c[1], lax.add(lax.sin(w), 1.5))), (0, v))


def counting(run, w, v):
  """It does not; and a carry gets its tangent after two steps."""
  return run(
      lambda c: lax.lt(c[0], 4),
      lambda c: (lax.add(c[0], 1), c[2], lax.mul(w, lax.cos(c[1]))),
      (0, v, np.ones(3)))


def closed_condition(run, w, v):
  return run(lambda c: lax.lt(c, w), lambda c: lax.add(c, 0.25), 0.0), lax.mul(w, v)


PROGRAMS = [doubling, counting, closed_condition]
ARGS = (np.float64(0.7), floats(3))
TANGENTS = (np.float64(0.3), floats(3))


@pytest.mark.parametrize("program", PROGRAMS)
def test_all_transformations(program):
  def along(run, *args):
    return gnomon.jvp(lambda *a: program(run, *a), args, TANGENTS)

  def everything(run, w, v):
    return [
        program(run, w, v), along(run, w, v),
        gnomon.jvp(lambda *a: along(run, *a)[1], (w, v), TANGENTS)[1],
        gnomon.linearize(lambda *a: program(run, *a), w, v)[1](*TANGENTS)]

  got = gnomon.jit(lambda *a: everything(lax.while_loop, *a))(*ARGS)
  expected = everything(python_while, *ARGS)
  assert_same(got, expected)
  w, v = floats(4), floats(4, 3)
  many = gnomon.jit(lambda *a: [
      gnomon.vmap(lambda w, v: along(lax.while_loop, w, v))(*a),
      gnomon.vmap(lambda w: program(lax.while_loop, w, ARGS[1]))(a[0]),
      gnomon.vmap(lambda v: program(lax.while_loop, ARGS[0], v), 1)(
          lax.transpose(a[1], (1, 0))),
      gnomon.vmap(lambda w: gnomon.vmap(
          lambda v: program(lax.while_loop, w, v))(a[1]))(a[0])])(w, v)
  expected = [
      [along(python_while, a, b) for a, b in zip(w, v)],
      [program(python_while, a, ARGS[1]) for a in w],
      [program(python_while, ARGS[0], b) for b in v]]
  for one, rows in zip(many, expected):
    leaves = [tree_leaves(row) for row in rows]
    assert_same(tree_leaves(one), [
        np.stack([np.asarray(x) for x in xs]) for xs in zip(*leaves)])
  for i, a in enumerate(w):
    for j, b in enumerate(v):
      assert_same(
          [x[i, j] for x in map(np.asarray, tree_leaves(many[3]))],
          tree_leaves(program(python_while, a, b)))


def test_differences():
  check_grads(lambda *a: counting(lax.while_loop, *a)[1:], ARGS, order=2, modes=["fwd"])


def test_nested_mapping_of_a_condition():
  """The inner condition depends on one mapped axis, the carry on both."""
  def f(n, x):
    return lax.while_loop(
        lambda c: lax.lt(c[0], n), lambda c: (lax.add(c[0], 1), lax.mul(c[1], 2.0)),
        (0, x))[1]

  n, x = np.array([0, 3, 1]), np.array([1.0, 5.0])
  got = gnomon.vmap(gnomon.vmap(f, (0, None)), (None, 0))(n, x)
  np.testing.assert_array_equal(got, x[:, None] * 2.0**n)
  got = gnomon.vmap(gnomon.vmap(f, (None, 0)), (0, None))(n, x)
  np.testing.assert_array_equal(got, 2.0**n[:, None] * x)


def test_mapped_condition_of_what_is_closed_over():
  limits = np.array([10.0, 100.0, 0.0])
  got = gnomon.vmap(lambda n: lax.while_loop(
      lambda x: lax.lt(x, n), lambda x: lax.mul(x, 2.0), 3.0))(limits)
  np.testing.assert_array_equal(got, [12.0, 192.0, 3.0])


def test_reverse_mode_is_refused():
  def f(x):
    return lax.while_loop(lambda c: lax.lt(c, 3.0), lambda c: lax.mul(c, 2.0), x)

  for g in (gnomon.grad(f), gnomon.jit(gnomon.grad(f))):
    with pytest.raises(
        ValueError, match=r"Reverse-mode differentiation does not work for lax.while_loop"
        r".*lax.scan.*fori_loop with static bounds"):
      g(1.0)
  with pytest.raises(ValueError, match="Reverse-mode"):
    gnomon.jit(gnomon.grad(
        lambda x, n: lax.fori_loop(0, n, lambda i, x: lax.sin(x), x)))(1.0, 3)


def test_reverse_mode_around_a_loop_without_derivative():
  def f(x):
    n = lax.while_loop(lambda n: lax.lt(n, 5), lambda n: lax.add(n, 2), 0)
    return lax.mul(x, lax.convert_element_type(n, np.float64))

  assert float(gnomon.grad(f)(2.0)) == 6.0


def test_params():
  def f(n, w):
    return lax.while_loop(lambda c: lax.lt(c, n), lambda c: lax.mul(c, w), 1.0)

  (eqn,) = gnomon.make_jaxpr(f)(9.0, 2.0).eqns
  assert eqn.primitive is lax.while_p
  assert sorted(eqn.params) == [
      "body_jaxpr", "body_nconsts", "cond_jaxpr", "cond_nconsts"]
  assert (eqn.params["cond_nconsts"], eqn.params["body_nconsts"]) == (1, 1)
  assert len(eqn.invars) == 3


@pytest.mark.parametrize(("init", "dtype"), [(1, "float32"), (1.5, "float32")])
def test_weak_carries_are_promoted(init, dtype):
  out = lax.while_loop(
      lambda c: lax.lt(c, np.float32(5)) if c.dtype == np.float32 else lax.lt(c, 5),
      lambda c: lax.mul(lax.convert_element_type(c, np.float32), np.float32(2)), init)
  assert out.dtype == dtype
  assert not out.weak_type


# ---- fori_loop


@pytest.mark.parametrize("bounds", [(0, 4), (-2, 3), (5, 5), (5, 2), (np.int8(1), 4),
                                    (np.uint8(1), np.uint8(4)), (0.0, 3.0)])
def test_fori_loop(bounds):
  def body(i, x):
    return lax.add(lax.mul(x, 2.0), lax.convert_element_type(i, np.float64))

  expected = 1.0
  for i in range(*map(int, bounds)):
    expected = expected * 2 + i
  assert float(lax.fori_loop(*bounds, body, 1.0)) == expected
  traced = gnomon.jit(lambda a, b: lax.fori_loop(a, b, body, 1.0))
  assert float(traced(*bounds)) == expected
  assert float(lax.fori_loop(*bounds, body, 1.0, unroll=True)) == expected


def test_fori_loop_with_a_fractional_bound():
  assert int(lax.fori_loop(0.0, 2.5, lambda i, n: lax.add(n, 1), 0)) == 3


def test_fori_loop_in_reverse():
  def f(x):
    return lax.fori_loop(0, 3, lambda i, c: lax.mul(lax.sin(c), x), x)

  check_grads(f, (0.7,), order=2)
  (eqn,) = gnomon.make_jaxpr(f)(1.0).eqns
  assert eqn.primitive is lax.scan_p
  assert eqn.params["length"] == 3


def test_tracing_is_remembered():
  count = 0

  def body(i, x):
    nonlocal count
    count += 1
    return lax.add(x, 1.0)

  def test(x):
    nonlocal count
    count += 1
    return lax.lt(x, 3.0)

  def step(x):
    return lax.add(x, 1.0)

  for _ in range(3):
    lax.fori_loop(0, 3, body, 0.0)
    lax.while_loop(test, step, 0.0)
  assert count == 2


def test_bound_methods():
  class Model:
    def step(self, i, x):
      return lax.add(x, 1.0)

  assert float(lax.fori_loop(0, 3, Model().step, 0.0)) == 3


def test_disable_jit():
  seen = []

  def body(i, x):
    seen.append((int(i), float(x)))
    return lax.add(x, 1.0)

  with gnomon.disable_jit():
    lax.fori_loop(1, 3, body, 0.0)
    out = lax.while_loop(lambda x: seen.append("?") or lax.lt(x, 1.0),
                         lambda x: lax.add(x, 1.0), 0.0)
  assert seen == [(1, 0.0), (2, 1.0), "?", "?"]
  assert float(out) == 1.0


def less(x):
  return lax.lt(x, 3.0)


X = np.arange(3.0)
ERRORS = {
    "callable": (TypeError, "argument cond_fun should be callable, got 3",
                 lambda: lax.while_loop(3, less, 1.0)),
    "condition": (TypeError, r"must return a boolean scalar, but got .*float64\[\]",
                  lambda: lax.while_loop(lambda x: x, lambda x: x, 1.0)),
    "array": (TypeError, r"cond_fun must return a boolean scalar, but got .*bool\[3\]",
              lambda: lax.while_loop(lambda x: lax.lt(X, x), lambda x: x, 1.0)),
    "tuple": (TypeError, r"a boolean scalar, but got pytree PyTreeDef\(\(\*,\)\)\.",
              lambda: lax.while_loop(lambda x: (True,), lambda x: x, 1.0)),
    "structure": (TypeError, (
        r"while_loop body function carry input and carry output must have the same "
        r"pytree structure(.|\n)*input carry:  PyTreeDef\(\*\)"
        r"(.|\n)*output carry: PyTreeDef\(\(\*, \*\)\)"),
                  lambda: lax.while_loop(less, lambda x: (x, x), 1.0)),
    "types": (TypeError, (
        r"equal types, but they differ:\n\nThe input carry component x\['a'\] has type "
        r"float64\[\] but the corresponding output carry component has type "
        r"float64\[3\], so the shapes do not match\.(.|\n)*"
        r"Change <lambda> at .*test_while.py:\d+"),
              lambda: lax.while_loop(
                  lambda x: less(x["a"]), lambda x: {"a": lax.add(x["a"], X)},
                  {"a": 1.0})),
    "bounds": (TypeError, "fori_loop must have equal types, got int64 and float64",
               lambda: lax.fori_loop(0, 3.5, lambda i, x: x, 1.0)),
    "int bounds": (TypeError, "must have equal types, got int8 and int16",
                   lambda: lax.fori_loop(np.int8(0), np.int16(3), lambda i, x: x, 1.0)),
    "scalars": (TypeError, r"bounds must be scalars, got .* upper of type float64\[3\]",
                lambda: lax.fori_loop(0, X, lambda i, x: x, 1.0)),
    "no number": (TypeError, "argument upper of lax.fori_loop is not a valid array type",
                  lambda: lax.fori_loop(0, "3", lambda i, x: x, 1.0)),
    "unroll": (ValueError, "only use `unroll` if the loop bounds are statically known",
               lambda: gnomon.jit(
                   lambda n: lax.fori_loop(0, n, lambda i, x: x, 1.0, unroll=2))(3)),
    "body": (TypeError, "argument body_fun should be callable",
             lambda: lax.fori_loop(0, 3, 4, 1.0)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
  kind, message, call = ERRORS[name]
  with pytest.raises(kind, match=message):
    call()


def test_what_a_mapped_loop_passes_on_stays_unmapped():
  """Of a loop whose condition is mapped, what the body returns as it is."""
  w = np.eye(2) * 2

  def last(x, end):
    _, x, same = lax.while_loop(
        lambda c: lax.lt(c[0], end),
        lambda c: (lax.add(c[0], 1), lax.dot(c[1], c[2]), c[2]),
        (0, x, w))
    return same, x
  same, xs = gnomon.vmap(last, out_axes=(None, 0))(np.ones((4, 2)), np.arange(4))
  assert same.shape == (2, 2)
  np.testing.assert_allclose(xs, 2.0 ** np.arange(4)[:, None] * np.ones(2))
