"""`checkpoint`: values and derivatives stay, residuals are the arguments alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon.core.checking import check_jaxpr
from gnomon.core.jaxpr import Jaxpr, subjaxprs

X = np.float32(0.7)


def _chain(ops: Any, n: int = 4) -> Any:
  def f(x: Any) -> Any:
    for _ in range(n):
      x = ops.mul(ops.sin(x), ops.cos(x))
    return x

  return f


def _count(jaxpr: Jaxpr, name: str) -> int:
  """How often an operation occurs in a program and those inside it."""
  own = sum(e.primitive.name == name for e in jaxpr.eqns)
  return own + sum(_count(j, name) for j in subjaxprs(jaxpr))


def _residuals(f: Any, *args: Any) -> list[Any]:
  """The arrays that the backward pass of `f` keeps."""
  from gnomon.transform.linearize import linearize_flat
  return linearize_flat(lambda *xs: [f(*xs)], args)[1].residuals


@pytest.mark.parametrize("wrap", [
    lambda f: f, gnomon.jit, lambda f: gnomon.checkpoint(gnomon.jit(f)),
    lambda f: gnomon.jit(gnomon.checkpoint(f)), gnomon.checkpoint,
    lambda f: gnomon.checkpoint(f, prevent_cse=False)])
def test_values_and_derivatives_of_each_order(ops: Any, wrap: Any) -> None:
  f = _chain(ops)
  g = wrap(gnomon.checkpoint(f))
  for order in range(3):
    want = float(f(X))
    assert float(g(X)) == pytest.approx(want, rel=1e-5), order
    assert float(gnomon.jit(g)(X)) == pytest.approx(want, rel=1e-5), order
    f, g = gnomon.grad(f), gnomon.grad(g)


def test_forward_mode(ops: Any) -> None:
  f = _chain(ops)
  want, slope = gnomon.jvp(f, (X,), (np.float32(2),))
  got, t = gnomon.jvp(gnomon.checkpoint(f), (X,), (np.float32(2),))
  np.testing.assert_allclose([got, t], [want, slope], rtol=1e-6)
  value, push = gnomon.linearize(gnomon.checkpoint(f), X)
  np.testing.assert_allclose([value, push(np.float32(2))], [want, slope], rtol=1e-6)


def test_under_vmap(ops: Any) -> None:
  f = _chain(ops)
  xs = np.linspace(0, 1, 4, dtype=np.float32)
  for g in (f, gnomon.grad(f)):
    want = np.array([float(g(x)) for x in xs])
    remat = gnomon.checkpoint(f) if g is f else gnomon.grad(gnomon.checkpoint(f))
    for mapped in (gnomon.vmap(remat), gnomon.jit(gnomon.vmap(remat))):
      np.testing.assert_allclose(np.asarray(mapped(xs)), want, rtol=1e-5)
  total = gnomon.grad(lambda xs: ops.sum(gnomon.vmap(gnomon.checkpoint(f))(xs)))(xs)
  np.testing.assert_allclose(np.asarray(total), want, rtol=1e-5)


def test_only_the_arguments_are_kept(ops: Any) -> None:
  x = np.ones(3, np.float32)
  assert len(_residuals(_chain(ops), x)) > 4
  kept = _residuals(gnomon.checkpoint(_chain(ops)), x)
  assert len(kept) == 1
  np.testing.assert_array_equal(np.asarray(kept[0]), x)


def test_the_forward_pass_is_computed_again(ops: Any) -> None:
  f = _chain(ops)
  plain = gnomon.make_jaxpr(gnomon.grad(f))(X)
  again = gnomon.make_jaxpr(gnomon.grad(gnomon.checkpoint(f)))(X)
  check_jaxpr(again)
  assert _count(again.jaxpr, "test_sin") > _count(plain.jaxpr, "test_sin")


def test_the_compiler_must_not_merge_the_two_passes(ops: Any) -> None:
  f = _chain(ops)

  def text(**options: Any) -> str:
    return gnomon.jit(gnomon.grad(gnomon.checkpoint(f, **options))).lower(X).as_text()

  assert "optimization_barrier" in text()
  assert "optimization_barrier" not in text(prevent_cse=False)


def test_pytrees_keywords_and_closures(ops: Any) -> None:
  def f(w: Any) -> Any:
    @gnomon.checkpoint
    def layer(p: dict[str, Any], *, scale: Any) -> Any:
      return {"y": ops.mul(ops.sin(ops.mul(p["x"], w)), scale), "none": None}

    out = layer({"x": w}, scale=3.0)
    assert out["none"] is None
    return out["y"]

  want = 3 * np.cos(0.49) * 2 * 0.7
  assert float(gnomon.grad(f)(X)) == pytest.approx(want, rel=1e-5)
  assert float(gnomon.jit(gnomon.grad(f))(X)) == pytest.approx(want, rel=1e-5)


def test_static_arguments(ops: Any) -> None:
  def f(x: Any, n: int, *, mode: str) -> Any:
    assert type(n) is int
    return ops.mul(x, float(n)) if mode == "m" else x

  g = gnomon.checkpoint(f, static_argnums=(1,), static_argnames="mode")
  assert float(gnomon.grad(lambda x: g(x, 3, mode="m"))(1.0)) == 3.0
  assert float(gnomon.grad(lambda x: g(x, 3, mode="k"))(1.0)) == 1.0
  h = gnomon.checkpoint(lambda n, x: ops.mul(x, float(n)), static_argnums=-2)
  assert float(gnomon.grad(h, 1)(4, 1.0)) == 4.0


def test_integers_and_unused_arguments(ops: Any) -> None:
  f = gnomon.checkpoint(lambda x, n, unused: (ops.mul(x, x), ops.neg(n)))
  y, pull = gnomon.vjp(f, 3.0, np.arange(2), 1.0)
  gx, gn, gu = pull((1.0, np.zeros(2, gnomon.dtypes.float0)))
  assert (float(gx), gn.dtype, float(gu)) == (6.0, gnomon.dtypes.float0, 0.0)
  np.testing.assert_array_equal(np.asarray(y[1]), [0, -1])


def test_custom_rules_inside(ops: Any) -> None:
  own = gnomon.custom_vjp(ops.sin)
  own.defvjp(lambda x: (ops.sin(x), x), lambda x, ct: (ops.mul(ct, 10.0),))
  f = gnomon.checkpoint(lambda x: own(ops.mul(x, 2.0)))
  assert float(gnomon.grad(f)(1.0)) == 20.0
  assert float(gnomon.jit(gnomon.grad(f))(1.0)) == 20.0


def test_nested(ops: Any) -> None:
  f = _chain(ops, 2)
  inner = gnomon.checkpoint(f)
  outer = gnomon.checkpoint(lambda x: inner(inner(x)))
  want = gnomon.grad(lambda x: f(f(x)))(X)
  assert float(gnomon.grad(outer)(X)) == pytest.approx(float(want), rel=1e-5)
  assert gnomon.remat is gnomon.checkpoint


def test_errors(ops: Any) -> None:
  def f(x: Any) -> Any:
    return ops.neg(x["k"])

  def text(x: Any) -> Any:
    return "text"

  with pytest.raises(TypeError, match=r"argument x\['k'\] of checkpoint .*'text'"):
    gnomon.checkpoint(f)({"k": "text"})
  with pytest.raises(TypeError, match=r"text at .* traced for checkpoint returned a val"):
    gnomon.checkpoint(text)(1.0)
  with pytest.raises(TypeError, match="checkpoint expects a function, got 3"):
    gnomon.checkpoint(3)
  with pytest.raises(NotImplementedError, match="policy"):
    gnomon.checkpoint(f, policy=lambda *_, **__: True)
  with pytest.raises(NotImplementedError, match="static_argnums"):
    gnomon.checkpoint(f, concrete=True)
