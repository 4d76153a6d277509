"""`custom_vmap`: its rule, its derivatives, and how it composes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon.custom_batching import custom_vmap

XS = np.array([0.5, 1, 2], np.float32)
X = np.float32(0.5)


def _sine(ops: Any) -> Any:
  """The sine, which under `vmap` is ten times a sine, so that its use shows."""
  @custom_vmap
  def f(x: Any) -> Any:
    return ops.sin(x)

  @f.def_vmap
  def _(size: int, in_batched: list[Any], x: Any) -> Any:
    assert (size, in_batched) == (gnomon.typeof(x).shape[0], [True])
    return ops.mul(ops.sin(x), 10.0), True

  return f


WRAPS = pytest.mark.parametrize(
    "wrap", [lambda f: f, gnomon.jit, gnomon.checkpoint], ids=["plain", "jit", "remat"])


@WRAPS
def test_values(ops: Any, wrap: Any) -> None:
  f = wrap(_sine(ops))
  assert float(f(X)) == pytest.approx(np.sin(0.5))
  np.testing.assert_allclose(gnomon.vmap(f)(XS), 10 * np.sin(XS), rtol=1e-6)
  np.testing.assert_allclose(gnomon.jit(gnomon.vmap(f))(XS), 10 * np.sin(XS), rtol=1e-6)
  grid = np.stack([XS, 2 * XS])
  np.testing.assert_allclose(  # the rule is mapped by what it calls
      gnomon.vmap(gnomon.vmap(f))(grid), 10 * np.sin(grid), rtol=1e-6)
  got = gnomon.vmap(lambda x, y: f(x), (None, 0))(X, XS)
  # Not mapped: the rule is not used.
  assert np.asarray(got)[0] == pytest.approx(np.sin(0.5))


@WRAPS
def test_derivatives(ops: Any, wrap: Any) -> None:
  f = wrap(_sine(ops))
  one = np.ones(3, np.float32)
  assert float(gnomon.grad(f)(X)) == pytest.approx(np.cos(0.5))
  assert float(gnomon.grad(gnomon.grad(f))(X)) == pytest.approx(-np.sin(0.5))
  assert float(gnomon.jvp(f, (X,), (X,))[1]) == pytest.approx(0.5 * np.cos(0.5))
  want = 10 * np.cos(XS)
  for g in (
      gnomon.vmap(gnomon.grad(f)), gnomon.grad(lambda x: ops.sum(gnomon.vmap(f)(x))),
      gnomon.vmap(lambda x: gnomon.jvp(f, (x,), (np.float32(1),))[1]),
      lambda x: gnomon.jvp(gnomon.vmap(f), (x,), (one,))[1],
      gnomon.vmap(lambda x: gnomon.linearize(f, x)[1](np.float32(1)))):
    np.testing.assert_allclose(g(XS), want, rtol=1e-5)
    np.testing.assert_allclose(gnomon.jit(g)(XS), want, rtol=1e-5)
  second = gnomon.vmap(gnomon.grad(gnomon.grad(f)))(XS)
  np.testing.assert_allclose(second, -10 * np.sin(XS), rtol=1e-5)


@pytest.mark.parametrize("axes", [(0, 0), (0, None), (None, 0), (1, 0)])
def test_pytrees_and_what_is_mapped(ops: Any, axes: Any) -> None:
  seen = []

  @custom_vmap
  def f(p: Any, s: Any = X) -> Any:
    return {"out": ops.mul(p["x"], s), "same": ops.neg(X)}

  @f.def_vmap
  def _(size: int, in_batched: list[Any], p: Any, s: Any) -> Any:
    seen.append(in_batched)
    if not (in_batched[0]["x"] and in_batched[1]):
      out = ops.mul(p["x"], s)
    else:
      out = gnomon.vmap(ops.mul)(p["x"], s)
    return {"out": out, "same": ops.neg(X)}, {"out": True, "same": False}

  x = {0: XS, None: X, 1: np.stack([XS, XS])}[axes[0]]
  s = XS if axes[1] == 0 else X
  got = gnomon.vmap(f, axes)({"x": x}, s)
  assert seen[0] == [{"x": axes[0] is not None}, axes[1] is not None]
  rows = np.moveaxis(x, axes[0] or 0, 0) if axes[0] is not None else [x] * 3
  want = np.stack([r * t for r, t in zip(rows, s if axes[1] == 0 else [s] * 3)])
  np.testing.assert_allclose(got["out"], want, rtol=1e-6)
  np.testing.assert_array_equal(got["same"], [-0.5] * 3)
  if axes[0] == 0:
    grads = gnomon.vmap(
        gnomon.grad(lambda p, s: f(p, s)["out"], (0, 1)), axes)({"x": x}, s)
    np.testing.assert_allclose(grads[0]["x"], np.broadcast_to(s, 3))
    np.testing.assert_allclose(grads[1], x)
  assert float(f({"x": X}, s=np.float32(2))["out"]) == 1.0


def test_with_custom_derivatives_inside_and_around(ops: Any) -> None:
  f = _sine(ops)
  around = gnomon.custom_vjp(f)
  around.defvjp(lambda x: (f(x), x), lambda x, ct: (ops.mul(ct, 100.0),))
  np.testing.assert_allclose(gnomon.vmap(around)(XS), 10 * np.sin(XS), rtol=1e-6)
  np.testing.assert_array_equal(gnomon.vmap(gnomon.grad(around))(XS), [100] * 3)

  outer = custom_vmap(around)
  outer.def_vmap(lambda size, in_batched, x: (gnomon.vmap(around)(x), True))
  for g in (outer, gnomon.jit(outer)):
    np.testing.assert_allclose(gnomon.vmap(g)(XS), 10 * np.sin(XS), rtol=1e-6)
    assert float(gnomon.grad(g)(X)) == 100.0
    np.testing.assert_array_equal(gnomon.vmap(gnomon.grad(g))(XS), [100] * 3)
    total = gnomon.grad(lambda x, g=g: ops.sum(gnomon.vmap(g)(x)))(XS)
    np.testing.assert_array_equal(total, [100] * 3)

  own = gnomon.custom_jvp(f)
  own.defjvp(lambda p, t: (f(*p), ops.mul(t[0], 7.0)))
  mixed = custom_vmap(own)
  mixed.def_vmap(lambda size, in_batched, x: (ops.mul(gnomon.vmap(own)(x), 2.0), True))
  np.testing.assert_array_equal(gnomon.vmap(gnomon.grad(mixed))(XS), [14] * 3)
  assert float(gnomon.jvp(mixed, (X,), (X,))[1]) == 3.5


def test_only_tangents_are_mapped(ops: Any) -> None:
  seen = []

  def make(mapped: bool) -> Any:
    f = custom_vmap(ops.sin)

    @f.def_vmap
    def _(size: int, in_batched: list[Any], x: Any) -> Any:
      seen.append(in_batched[0])
      out = ops.mul(ops.sin(x), 10.0)
      if mapped and not in_batched[0]:
        return ops.mul(out, np.ones(size, np.float32)), True
      return out, in_batched[0]

    return lambda t: gnomon.jvp(f, (X,), (t,))

  for mapped in (False, True):
    y, t = gnomon.vmap(make(mapped), out_axes=(None if not mapped else 0, 0))(XS)
    np.testing.assert_allclose(y, 10 * np.sin(0.5) * (np.ones(3) if mapped else 1))
    np.testing.assert_allclose(t, 10 * np.cos(0.5) * XS, rtol=1e-6)
  assert seen == [False, False, True]


def test_rules_of_the_function_inside(ops: Any) -> None:
  f = custom_vmap(gnomon.custom_jvp(ops.sin))
  f.defjvp(lambda p, t: (ops.sin(*p), ops.mul(t[0], 7.0)))
  f.def_vmap(lambda size, in_batched, x: (ops.mul(x, 3.0), True))
  assert float(gnomon.grad(f)(X)) == 7.0
  g = gnomon.custom_vjp(custom_vmap(ops.sin))
  g.def_vmap(lambda size, in_batched, x: (ops.mul(x, 3.0), True))
  g.defvjp(lambda x: (g(x), None), lambda res, ct: (ct,))
  np.testing.assert_allclose(gnomon.vmap(g)(XS), 3 * XS)
  with pytest.raises(AttributeError, match="no attribute 'other'"):
    f.other  # noqa: B018


def test_integers_have_no_tangents(ops: Any) -> None:
  @custom_vmap
  def f(x: Any, n: Any) -> Any:
    return ops.sin(x), ops.neg(n)

  f.def_vmap(lambda size, b, x, n: ((ops.sin(x), ops.neg(n)), (b[0], b[1])))
  ns = np.arange(3)
  got = gnomon.vmap(gnomon.grad(lambda x, n: f(x, n)[0]))(XS, ns)
  np.testing.assert_allclose(got, np.cos(XS), rtol=1e-6)
  (_, n), (t, nt) = gnomon.jvp(f, (X, 2), (X, np.zeros((), gnomon.dtypes.float0)))
  assert (int(n), nt.dtype, float(t)) == (
      -2, gnomon.dtypes.float0, pytest.approx(0.5 * np.cos(0.5)))
  _, pull = gnomon.vjp(lambda x: gnomon.vmap(f)(x, ns)[0], XS)
  np.testing.assert_allclose(pull(XS)[0], XS * np.cos(XS), rtol=1e-6)


def test_what_a_function_closes_over(ops: Any) -> None:
  def scaled(w: Any, x: Any) -> Any:
    f = custom_vmap(lambda x: ops.mul(x, w))
    f.def_vmap(lambda size, b, x: (ops.mul(ops.mul(x, w), 10.0), True))
    return f(x)

  def outer(w: Any, x: Any) -> Any:
    return ops.sum(gnomon.vmap(lambda x: scaled(w, x))(x))

  assert float(gnomon.grad(outer)(X, XS)) == pytest.approx(10 * XS.sum())
  assert float(gnomon.jit(outer)(X, XS)) == pytest.approx(5 * XS.sum())
  each = gnomon.vmap(outer, (0, None))(XS, XS)  # another axis than that of the function
  np.testing.assert_allclose(each, 10 * XS * XS.sum(), rtol=1e-6)
  with pytest.raises(ValueError, match="closes over a value that is mapped"):
    gnomon.vmap(scaled, (0, None))(XS, X)


RULES = [
    (lambda n, b, x: x, "must return a pair"),
    (lambda n, b, x: ((x, x), (True, True)), r"(?s)structure of output returned by.*PyT"),
    (lambda n, b, x: (x, [True]), "(?s)output batching specification.*do not match"),
    (lambda n, b, x: (x, False), r"result 0 is not mapped: .* \(\), got .*\(3,\)"),
    (lambda n, b, x: (X, True), r"mapped: its first dimension must be 3, got .*\(\)")]


@pytest.mark.parametrize(("rule", "match"), RULES)
def test_rules_that_return_the_wrong_thing(ops: Any, rule: Any, match: str) -> None:
  f = custom_vmap(ops.sin)
  f.def_vmap(rule)
  with pytest.raises(ValueError, match=match):
    gnomon.vmap(f)(XS)


def test_errors(ops: Any) -> None:
  f = custom_vmap(ops.sin)
  with pytest.raises(AttributeError, match="No batching rule defined"):
    f(X)
  with pytest.raises(TypeError, match="expects a function"):
    custom_vmap(3)
  rule = f.def_vmap(lambda n, b, x: (x, True))
  assert f.vmap_rule is rule
  assert f.fun is ops.sin
  with pytest.raises(TypeError, match=r"custom_vmap.*'text'"):
    f("text")
