"""`scan` against the same steps written one after the other."""

from __future__ import annotations

import functools
import gc
import weakref

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.core.structural import reduce_sum
from gnomon.lax._control import scan_lowering
from gnomon.test_util import check_grads
from gnomon.testing import check_vmap
from gnomon.tree_util import tree_leaves, tree_map

N = 5
rng = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _x64():
  with gnomon.enable_x64(True):
    yield


def take(i, x):
  return lax.index_in_dim(x, i, 0, keepdims=False)


def stacked(rows):
  return tree_map(
      lambda *ys: lax.concatenate([lax.expand_dims(y, [0]) for y in ys], 0), *rows)


def loop(f, init, xs, length=None, reverse=False, unroll=1):
  """What scan means."""
  n = tree_leaves(xs)[0].shape[0] if tree_leaves(xs) else length
  carry, rows = init, [None] * n
  for i in reversed(range(n)) if reverse else range(n):
    carry, rows[i] = f(carry, tree_map(functools.partial(take, i), xs))
  return carry, stacked(rows)


def total(tree):
  out = np.float64(0)
  for k, x in enumerate(tree_leaves(tree)):
    if np.issubdtype(x.dtype, np.floating):
      flat = reduce_sum(x, tuple(range(x.ndim)))
      out = lax.add(out, lax.mul(flat, np.float64(k + 1)))
  return out


def add(*xs):
  out = xs[0]
  for x in xs[1:]:
    out = lax.add(out, x)
  return out


def floats(*shape):
  return rng.uniform(0.3, 1.2, shape)


# Each builds (carry, ys) from a way to loop and three arguments, w: f64[], v: f64[3],
# m: f64[N, 3].

def elementwise(run, w, v, m, **kw):
  return run(lambda c, x: (lax.mul(lax.sin(add(c, x)), w), lax.mul(c, x)), v, m, **kw)


def counting(run, w, v, m, **kw):
  def f(c, x):
    i, y = c
    y = lax.add(lax.mul(y, w), lax.convert_element_type(i, np.float64))
    return (lax.add(i, 1), y), (i, lax.mul(y, x))
  return run(f, (0, w), m, **kw)


def rotating(run, w, v, m, **kw):
  def f(c, x):
    a, b, d = c
    return (b, d, lax.mul(lax.sin(a), x)), lax.mul(d, w)
  one = np.ones(3)
  return run(f, (v, one, one), m, **kw)


def without_arrays(run, w, v, m, **kw):
  return run(lambda c, _: (lax.cos(lax.mul(c, w)), None), v, None, length=4, **kw)


def results_only(run, w, v, m, **kw):
  return run(lambda c, x: (c, {"a": lax.mul(x, w), "b": x}), (), m, **kw)


def invariant(run, w, v, m, **kw):
  def f(c, x):
    a = lax.mul(lax.exp(w), lax.sin(v))
    return add(lax.mul(c, a), lax.mul(x, x)), lax.mul(lax.cos(c), a)
  return run(f, v, m, **kw)


def passing(run, w, v, m, **kw):
  def f(c, x):
    fixed, y = c
    return (fixed, lax.mul(y, lax.sin(fixed))), (x, lax.mul(y, x), fixed)
  return run(f, (v, lax.mul(v, w)), m, **kw)


def matrices(run, w, v, m, **kw):
  a = lax.mul(lax.broadcast_in_dim(v, (3, 3), (1,)), w)
  return run(lambda c, x: (lax.tanh(lax.dot(a, lax.add(c, x))), c), v, m, **kw)


def nested(run, w, v, m, **kw):
  def outer(c, x):
    def inner(d, y):
      return lax.add(lax.mul(d, y), w), lax.sin(lax.mul(d, reduce_sum(c, (0,))))
    d, ys = run(inner, w, x, **kw)
    return lax.mul(lax.cos(c), d), ys
  return run(outer, v, m, **kw)


def choosing(run, w, v, m, **kw):
  def f(c, x):
    positive = lax.gt(reduce_sum(x, (0,)), 2.0)
    c = lax.cond(positive, lambda c: lax.mul(c, w), lambda c: lax.mul(lax.sin(c), x), c)
    return c, lax.select_n(lax.gt(c, 0.5), c, lax.mul(c, c))
  return run(f, v, m, **kw)


def stopping(run, w, v, m, **kw):
  def f(c, x):
    a, b = c
    return (lax.floor(lax.add(a, x)), lax.add(b, lax.mul(a, x))), lax.sub(b, a)
  return run(f, (v, lax.mul(v, w)), m, **kw)


PROGRAMS = [
    elementwise, counting, rotating, without_arrays, results_only, invariant, passing,
    matrices, nested, choosing, stopping]
ARGS = (np.float64(0.7), floats(3), floats(N, 3))
TANGENTS = (np.float64(0.3), floats(3), floats(N, 3))


def everything(run, program, **kw):
  """Values and derivatives of orders one and two, mapped ones too."""
  def f(*args):
    return program(run, *args, **kw)

  def loss(*args):
    return total(f(*args))

  grad = gnomon.grad(loss, argnums=(0, 1, 2))
  def along(*args):
    return gnomon.jvp(loss, args, TANGENTS)[1]

  many = tree_map(lambda x: lax.concatenate(
      [lax.expand_dims(x, [0]), lax.expand_dims(lax.mul(x, 0.9), [0])], 0), ARGS)
  return [
      f(*ARGS), gnomon.jvp(f, ARGS, TANGENTS)[1], grad(*ARGS),
      gnomon.jvp(grad, ARGS, TANGENTS)[1], gnomon.grad(along, argnums=(0, 1, 2))(*ARGS),
      gnomon.linearize(f, *ARGS)[1](*TANGENTS),
      gnomon.vmap(f)(*many), gnomon.vmap(grad)(*many),
      gnomon.vmap(f, (None, 0, None))(ARGS[0], many[1], ARGS[2]),
      gnomon.vmap(grad, (0, None, None))(many[0], *ARGS[1:]),
      gnomon.vmap(f, (None, None, 2), -1)(
          *ARGS[:2], lax.transpose(many[2], (1, 2, 0))),
      gnomon.grad(lambda *a: total(gnomon.vmap(f)(*a)), argnums=(0, 1, 2))(*many)]


def assert_same(got, expected):
  got, expected = tree_leaves(got), tree_leaves(expected)
  assert len(got) == len(expected)
  for a, b in zip(got, expected, strict=True):
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    if a.dtype != gnomon.dtypes.float0:
      np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("program", PROGRAMS)
def test_all_transformations(program):
  kw = {"reverse": program in (rotating, counting, matrices)}
  got = gnomon.jit(lambda: everything(lax.scan, program, **kw))()
  expected = gnomon.jit(lambda: everything(loop, program, **kw))()
  assert_same(got, expected)


@pytest.mark.parametrize("program", [elementwise, counting, invariant])
def test_differences(program):
  check_grads(lambda *args: program(lax.scan, *args), ARGS, order=2)


def test_vmap_over_each_argument():
  def f(c, m, w):
    return lax.scan(lambda c, x: (lax.mul(lax.add(c, x), w), c), c, m)

  for axes in [
      (0, None, None), (None, 1, None), (None, None, 0), (1, 2, 0), (0, 0, None)]:
    size = {0: 3, 1: 3, 2: 3}
    args = [
        x if a is None else np.stack([x * (1 + k) for k in range(size[a])], a)
        for x, a in zip((ARGS[1], ARGS[2], ARGS[0]), axes)]
    check_vmap(f, args, axes)


@pytest.mark.parametrize("unroll", [0, 2, 3, N, 7, True, False])
@pytest.mark.parametrize("reverse", [False, True])
def test_unroll(unroll, reverse):
  def f(run, **kw):
    return elementwise(run, *ARGS[:2], ARGS[2], reverse=reverse, **kw)
  assert_same(f(lax.scan, unroll=unroll), f(loop))


def test_tiny_steps_round_like_single_ones(monkeypatch):
  """Several make a round of the compiled loop; no operation may be reassociated."""
  xs = rng.uniform(-1, 1, 1003)
  ints = rng.integers(-9, 9, 1003)

  def run():
    def sums(c):
      return lax.scan(lambda c, x: (lax.add(lax.mul(c, 0.9), x), c), c, xs)
    return [
        sums(0.0), gnomon.grad(lambda c: total(sums(c)))(0.5),
        lax.scan(lambda c, x: (lax.mul(c, 0.999), c), 1.0, xs, reverse=True),
        lax.scan(lambda c, x: (lax.add(c, 0.1), c), 1.0, xs),
        lax.scan(lambda c, x: (lax.max(c, x), lax.sub(x, c)), 0.0, xs, reverse=True),
        lax.scan(lambda c, x: (lax.add(lax.mul(c, 5), x), lax.gt(c, 0)), 1, ints)]

  rounds = gnomon.jit(run)()
  monkeypatch.setattr(scan_lowering, "_MANY", 10**9)
  single = gnomon.jit(functools.partial(run))()
  for a, b in zip(tree_leaves(rounds), tree_leaves(single), strict=True):
    np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def test_no_steps():
  xs = np.zeros((0, 3))
  carry, ys = lax.scan(lambda c, x: (lax.add(c, x), lax.mul(c, 2.0)), np.ones(3), xs)
  np.testing.assert_array_equal(carry, np.ones(3))
  assert ys.shape == (0, 3)
  g = gnomon.grad(lambda c: total(lax.scan(lambda c, x: (lax.mul(c, x), c), c, xs)))(
      np.ones(3))
  np.testing.assert_array_equal(g, np.ones(3))
  assert lax.scan(lambda c, x: (c, x), 1.0, None, length=0)[1] is None


@pytest.mark.parametrize(("init", "body", "dtype"), [
    (1, lambda c, x: (lax.mul(np.float32(2), lax.convert_element_type(c, np.float32)), x),
     "float32"),
    (2, lambda c, x: (np.int8(1), x), "int8"),
    (2.0, lambda c, x: (lax.complex(np.float32(1), np.float32(2)), x), "complex64"),
    (np.float32(1), lambda c, x: (1.0, x), None),
])
def test_weak_carries_are_promoted(init, body, dtype):
  if dtype is None:  # only Python numbers yield
    with pytest.raises(TypeError, match=r"has type float32.* has type float64"):
      lax.scan(body, init, np.arange(3))
    return
  carry, ys = lax.scan(body, init, np.arange(3))
  assert carry.dtype == dtype
  assert not carry.weak_type
  np.testing.assert_array_equal(ys, np.arange(3))


def test_promotion_goes_round():
  (a, b), _ = lax.scan(lambda c, x: ((c[1], c[0]), x), (2, 1.5), None, length=3)
  assert a.dtype == b.dtype == np.float64
  assert (float(a), float(b)) == (1.5, 2.0)


def test_tracing_is_remembered():
  count = 0

  def f(c, x):
    nonlocal count
    count += 1
    return lax.add(c, x), c

  for _ in range(3):
    lax.scan(f, 0.0, np.arange(4.0))
    gnomon.grad(lambda c: lax.scan(f, c, np.arange(4.0))[0])(1.0)
  assert count == 1


def test_bodies_that_nothing_can_remember():
  class Body:
    __slots__ = ()
    __hash__ = None

    def __call__(self, c, x):
      return lax.add(c, x), None

    def method(self, c, x):
      return lax.mul(c, x), None

  xs = np.arange(1.0, 5.0)
  assert float(lax.scan(Body(), 0.0, xs)[0]) == 10
  assert float(lax.scan(Body().method, 1.0, xs)[0]) == 24


def test_residuals_are_not_repeated():
  """What is constant is kept once, slices of operands not at all."""
  def f(w, xs):
    def body(c, x):
      return lax.mul(lax.mul(c, lax.exp(w)), x), None
    return lax.scan(body, 1.0, xs)[0]

  xs = np.arange(4.0)
  jaxpr = gnomon.make_jaxpr(lambda w, xs: gnomon.vjp(f, w, xs)[1](1.0))(2.0, xs).jaxpr
  forward, backward = [e for e in jaxpr.eqns if e.primitive is lax.scan_p]
  stacked = [v for v in forward.outvars if v.aval.shape]
  assert len(stacked) == 2  # c * exp(w), and c
  assert backward.params["reverse"]
  assert "exp" in [e.primitive.name for e in jaxpr.eqns]


def test_params():
  jaxpr = gnomon.make_jaxpr(lambda w, xs: lax.scan(
      lambda c, x: (lax.mul(c, w), x), 1.0, xs, reverse=True, unroll=2))(2.0, np.ones(4))
  (eqn,) = jaxpr.eqns
  params = {k: v for k, v in eqn.params.items() if k != "jaxpr"}
  assert params == {
      "length": 4, "reverse": True, "unroll": 2, "num_consts": 1, "num_carry": 1}
  assert jaxpr.jaxpr.outvars[1] is jaxpr.jaxpr.invars[1]  # ys are xs


def test_disable_jit():
  seen = []

  def f(c, x):
    seen.append(float(x))
    return lax.add(c, x), {"y": c}

  with gnomon.disable_jit():
    carry, ys = lax.scan(f, 0.0, np.arange(3.0), reverse=True)
  assert seen == [2, 1, 0]
  assert float(carry) == 3
  np.testing.assert_array_equal(ys["y"], [3, 2, 0])


def test_checkpoint_of_the_body():
  def f(run, wrap, w, v, m):
    def body(c, x):
      return lax.sin(lax.mul(c, lax.mul(x, w))), lax.cos(c)
    return total(run(wrap(body), v, m))

  got = gnomon.grad(
      lambda *args: f(lax.scan, gnomon.checkpoint, *args), argnums=(0, 1, 2))(*ARGS)
  expected = gnomon.grad(
      lambda *args: f(loop, lambda g: g, *args), argnums=(0, 1, 2))(*ARGS)
  assert_same(got, expected)


def test_custom_derivatives_in_the_body():
  @gnomon.custom_vjp
  def g(x):
    return lax.sin(x)

  g.defvjp(lambda x: (lax.sin(x), x), lambda x, ct: (lax.mul(ct, 3.0),))

  @gnomon.custom_jvp
  def h(x):
    return lax.sin(x)

  h.defjvp(lambda xs, ts: (h(*xs), lax.mul(ts[0], 3.0)))
  for fun in (g, h):
    grad = gnomon.grad(
        lambda x, fun=fun: lax.scan(lambda c, _: (fun(c), None), x, None, 4)[0])
    np.testing.assert_allclose(grad(1.0), 81.0)


def test_known_carries_are_run_before_transposition():
  """A linear loop may count, and use what it counts."""
  def f(x):
    def body(c, _):
      i, y = c
      scale = lax.sin(lax.mul(i, 0.5))
      return (lax.add(i, 1.0), lax.mul(y, scale)), lax.mul(y, i)
    (_, y), ys = lax.scan(body, (1.0, x), None, length=4)
    return lax.add(y, reduce_sum(ys, (0,)))

  from gnomon.core.stage import trace_to_closed
  from gnomon.core.types import typeof
  from gnomon.core.zero import UndefinedPrimal
  from gnomon.transform.transpose import backward

  aval = typeof(np.float64(1))
  jaxpr = trace_to_closed(lambda x: [f(x)], [aval])
  (ct,) = backward(jaxpr.jaxpr, jaxpr.consts, [UndefinedPrimal(aval)], [np.float64(1)])
  np.testing.assert_allclose(ct, f(np.float64(1)), rtol=1e-14)


XS = np.arange(3.0)
ERRORS = {
    "callable": (TypeError, r"argument f should be callable, got 3 of type int",
                 lambda: lax.scan(3, 1.0, XS)),
    "pair": (TypeError, r"scan body output must be a pair, got ~?float64\[\]\. It",
             lambda: lax.scan(lambda c, x: c, 1.0, XS)),
    "triple": (TypeError, r"must be a pair",
               lambda: lax.scan(lambda c, x: (c, c, x), 1.0, XS)),
    "structure": (TypeError, (
        r"same pytree structure(.|\n)*carry component c\['a'\] is a pytree leaf but the "
        r"corresponding component of the carry output is a <class 'tuple'>, so their "
        r"Python types differ(.|\n)*input carry:(.|\n)*output carry:"),
                  lambda: lax.scan(lambda c, x: ({"a": (x,)}, x), {"a": 1.0}, XS)),
    "keys": (TypeError, r"symmetric difference of key sets: {'b'}",
             lambda: lax.scan(lambda c, x: ({"a": x, "b": x}, x), {"a": 1.0}, XS)),
    "dtype": (TypeError, (
        r"equal types(.|\n)*component c\['a'\]\[0\] has type float64\[\] but the "
        r"corresponding output carry component has type bool\[\], so the dtypes do not"),
              lambda: lax.scan(
                  lambda c, x: ({"a": [lax.gt(x, 0.0)]}, x), {"a": [1.0]}, XS)),
    "shape": (TypeError, r"carry c has type float64\[\] .* float64\[2\], so the shape",
              lambda: lax.scan(lambda c, x: (np.ones(2), x), 1.0, XS)),
    "leading": (ValueError, r"no leading axis to scan over: x\['b'\] is 2.0",
                lambda: lax.scan(lambda c, x: (c, x), 1.0, {"a": XS, "b": 2.0})),
    "sizes": (ValueError, r"different leading axis sizes: x\[0\] has 3, x\[1\] has 4",
              lambda: lax.scan(lambda c, x: (c, x), 1.0, (XS, np.ones(4)))),
    "length": (ValueError, r"`length` argument of 4 which disagrees .* \[3\]",
               lambda: lax.scan(lambda c, x: (c, x), 1.0, XS, length=4)),
    "nothing": (ValueError, r"no values to scan over and `length` not provided",
                lambda: lax.scan(lambda c, x: (c, x), 1.0)),
    "negative": (ValueError, r"length that is not negative, got -1",
                 lambda: lax.scan(lambda c, x: (c, x), 1.0, length=-1)),
    "traced length": (gnomon.errors.ConcretizationTypeError, r"expects a concrete `int`",
                      lambda: gnomon.jit(
                          lambda n: lax.scan(lambda c, x: (c, x), 1.0, length=n))(3)),
    "unroll": (ValueError, r"`unroll` must be a bool or a non-negative int, got -1",
               lambda: lax.scan(lambda c, x: (c, x), 1.0, XS, unroll=-1)),
    "operand": (TypeError, r"c\['a'\] of lax.scan is not a valid array type: 'no'",
                lambda: lax.scan(lambda c, x: (c, x), {"a": "no"}, XS)),
    "result": (TypeError, r"traced for scan returned a value of type .*str.* at \[1\]",
               lambda: lax.scan(lambda c, x: (c, "no"), 1.0, XS)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
  kind, message, call = ERRORS[name]
  with pytest.raises(kind, match=message):
    call()


def test_nothing_keeps_a_body_alive():
  def use():
    def f(c, x):
      return lax.sin(lax.add(c, x)), c

    def run(c):
      return lax.scan(f, c, np.arange(3.0))[0]

    calls = [run, gnomon.make_jaxpr(run), gnomon.jit(run), gnomon.grad(run)]
    for call in calls:
      call(1.0)
    gnomon.vmap(run)(np.ones(2))
    lax.cond(True, run, lax.neg, 1.0)
    return weakref.ref(f), weakref.ref(run), weakref.ref(calls[2])

  refs = use()
  for _ in range(3):
    gc.collect()
  assert [r() for r in refs] == [None, None, None]
