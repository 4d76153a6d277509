"""`checkpoint`: values and derivatives stay, residuals are the arguments alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import checkpoint_policies as policies
from gnomon import errors
from gnomon.ad_checkpoint import (
  Offloadable,
  Recompute,
  Saveable,
  checkpoint_name,
  print_saved_residuals,
  saved_residuals,
)
from gnomon.core.checking import check_jaxpr
from gnomon.core.jaxpr import Jaxpr, subjaxprs
from gnomon.transform.dce import dce_jaxpr

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


def test_a_function_is_traced_once(ops: Any) -> None:
  calls = []

  def f(x: Any, n: Any) -> Any:
    calls.append(n)
    return ops.mul(x, x)

  g = gnomon.checkpoint(f, static_argnums=1)
  for _ in range(3):
    assert float(g(X, 2)) == pytest.approx(0.49)
    assert float(gnomon.grad(g)(X, 2)) == pytest.approx(1.4)
  assert calls == [2]
  assert float(g(X, 3)) == pytest.approx(0.49)
  for _ in range(2):
    g(X, [4])  # it has no hash
  assert calls == [2, 3, [4], [4]]


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
  assert float(gnomon.grad(gnomon.remat(f))(X)) == pytest.approx(
      float(gnomon.grad(f)(X)), rel=1e-5)


# ---- policies


def _named(ops: Any) -> Any:
  """sin(sin(sin(x))), whose inner values are named a and b."""
  def f(x: Any) -> Any:
    a = checkpoint_name(ops.sin(x), "a")
    return ops.sin(checkpoint_name(ops.sin(a), "b"))

  return f


OFFLOAD = policies.save_and_offload_only_these_names(
    names_which_can_be_saved=["a"], names_which_can_be_offloaded=["b"],
    offload_src="device", offload_dst="pinned_host")
KEPT = [  # a policy, and where what the backward pass keeps is from
    (None, ["the argument x"]),
    (policies.nothing_saveable, ["the argument x"]),
    (policies.everything_saveable, ["output of test_cos"] * 3),
    (policies.save_only_these_names("a"), ["the argument x", "named 'a'"]),
    (policies.save_only_these_names("a", "b"),
     ["the argument x", "named 'a'", "named 'b'"]),
    (policies.save_any_names_but_these("a"), ["the argument x", "named 'b'"]),
    (policies.save_anything_except_these_names("a"), ["output of test_cos"] * 3),
    (OFFLOAD, ["the argument x", "named 'a'", "output of device_put"]),
    (policies.dots_saveable, ["the argument x"]),
    (policies.save_from_both_policies(
        policies.nothing_saveable, policies.save_only_these_names("b")),
     ["the argument x", "named 'b'"]),
    (policies.save_from_both_policies(
        policies.save_only_these_names("b"), policies.dots_saveable),
     ["the argument x", "named 'b'"]),
    (lambda p, *_, **__: Saveable if p.name == "test_cos" else Recompute,
     ["output of test_cos"] * 3),
    (lambda *_, **__: np.bool_(False), ["the argument x"]),
]


@pytest.mark.parametrize(("policy", "want"), KEPT)
@pytest.mark.parametrize("wrap", [lambda f: f, gnomon.jit], ids=["plain", "jit"])
def test_policies(ops: Any, policy: Any, want: list[str], wrap: Any) -> None:
  f = gnomon.checkpoint(wrap(_named(ops)), policy=policy)
  if wrap is not gnomon.jit:
    kept = [text for _, text in saved_residuals(f, X)]
    assert len(kept) == len(want)
    assert all(w in k for k, w in zip(kept, want)), kept
  else:
    assert len(_residuals(f, np.ones(2, np.float32))) == len(want)
  program = gnomon.make_jaxpr(gnomon.grad(f))(X)
  check_jaxpr(program)
  g, h = _named(ops), gnomon.jit(gnomon.grad(f))
  slope = gnomon.grad(g)
  assert float(h(X)) == pytest.approx(float(slope(X)), rel=1e-5)
  assert float(gnomon.grad(h)(X)) == pytest.approx(
      float(gnomon.grad(slope)(X)), rel=1e-4)
  xs = np.linspace(0, 1, 3, dtype=np.float32)
  np.testing.assert_allclose(
      np.asarray(gnomon.vmap(gnomon.grad(f))(xs)), [float(slope(x)) for x in xs],
      rtol=1e-5)


def test_what_is_saved_is_not_computed_again(ops: Any) -> None:
  f = gnomon.checkpoint(_named(ops), policy=policies.save_only_these_names("b"))
  program = gnomon.make_jaxpr(gnomon.grad(f))(X)
  (again,) = [e for e in program.eqns if e.primitive.name == "remat2"]
  assert _count(again.params["jaxpr"], "test_sin") == 1  # of three in the forward pass
  assert _count(program.jaxpr, "reduce_precision") == 1


def test_a_result_of_a_called_function_is_saved(ops: Any) -> None:
  f = gnomon.checkpoint(
      lambda x: ops.sin(gnomon.jit(ops.sin)(x)),
      policy=lambda p, *_, **__: p.name == "test_sin")
  program = gnomon.make_jaxpr(gnomon.grad(f))(X)
  (again,) = [e for e in program.eqns if e.primitive.name == "remat2"]
  assert _count(again.params["jaxpr"], "test_sin") == 0
  want = np.cos(np.sin(0.7)) * np.cos(0.7)
  assert float(gnomon.grad(f)(X)) == pytest.approx(want, rel=1e-5)


def test_unused_results_are_not_computed_again(ops: Any) -> None:
  def f(x: Any) -> Any:
    return ops.sin(ops.sin(x)), ops.cos(ops.cos(x))

  g = gnomon.jit(gnomon.grad(lambda x: gnomon.checkpoint(f)(x)[0]))
  assert "test_cos" in str(gnomon.make_jaxpr(g)(X))
  closed = gnomon.make_jaxpr(gnomon.checkpoint(f))(X)
  pruned, _ = dce_jaxpr(closed.jaxpr, [True, False])
  assert _count(pruned, "test_sin") == 2
  assert _count(pruned, "test_cos") == 0


def test_policies_that_name_the_same_are_equal() -> None:
  for make in (policies.save_only_these_names, policies.save_any_names_but_these,
               policies.save_anything_except_these_names):
    assert make("a", "b") == make("b", "a")
    assert hash(make("a")) == hash(make("a"))
    assert make("a") != make("b")
    assert "a" in repr(make("a"))
  assert policies.save_only_these_names("a") != policies.save_any_names_but_these("a")


class _Dot:
  name = "dot_general"


@pytest.mark.parametrize(
    ("batch", "want"), [(((), ()), True), (((0,), (0,)), False)])
def test_products(batch: Any, want: bool) -> None:
  numbers = (((1,), (0,)), batch)
  assert policies.dots_saveable(_Dot, dimension_numbers=numbers) is True
  one = policies.dots_with_no_batch_dims_saveable(_Dot, dimension_numbers=numbers)
  assert one is want
  found = policies.offload_dot_with_no_batch_dims("device", "pinned_host")(
      _Dot, dimension_numbers=numbers)
  assert found == (Offloadable("device", "pinned_host") if want else Recompute)


def test_barriers_for_some_arguments(ops: Any) -> None:
  def f(x: Any, y: Any) -> Any:
    return ops.sin(ops.sin(ops.mul(x, y)))

  def text(prevent_cse: Any) -> str:
    g = gnomon.grad(gnomon.checkpoint(f, prevent_cse=prevent_cse), (0, 1))
    return gnomon.jit(g).lower(X, X).as_text()

  def held(text: str) -> int:
    (line,) = [t for t in text.splitlines() if "optimization_barrier" in t]
    return line.count("tensor")

  assert held(text(True)) == held(text((True, True))) == held(text((True, False))) + 1
  assert "barrier" not in text((False, False))


def test_saved_residuals_in_words(ops: Any, capsys: Any) -> None:
  w = np.ones(3, np.float32)

  def f(p: Any, *, y: Any) -> Any:
    return ops.mul(ops.mul(gnomon.jit(ops.sin, inline=False)(p["x"]), y), w)

  print_saved_residuals(f, {"x": w}, y=w)
  lines = capsys.readouterr().out.splitlines()
  assert lines[:2] == ["f32[3] from the argument y", "f32[3] from a constant"]
  assert "output of jitted function" in lines[2]
  assert "test_checkpoint.py" in lines[2]


def test_errors(ops: Any) -> None:
  def f(x: Any) -> Any:
    return ops.neg(x["k"])

  def text(x: Any) -> Any:
    return "text"

  with pytest.raises(TypeError, match=r"argument x\['k'\] of checkpoint .*'text'"):
    gnomon.checkpoint(f)({"k": "text"})
  with pytest.raises(TypeError, match=r"text at .* traced for checkpoint / remat ret"):
    gnomon.checkpoint(text)(1.0)
  with pytest.raises(TypeError, match="checkpoint expects a function, got 3"):
    gnomon.checkpoint(3)
  with pytest.raises(TypeError, match=r"remat policy should be a bool.* Got 'x'"):
    gnomon.grad(gnomon.checkpoint(ops.sin, policy=lambda *_, **__: "x"))(X)
  with pytest.raises(NotImplementedError, match="static_argnums"):
    gnomon.checkpoint(f, concrete=True)
  with pytest.raises(ValueError, match=r"static_argnums.*got \(5,\), while.*= 1"):
    gnomon.checkpoint(f, static_argnums=5)(X)
  with pytest.raises(errors.TracerBoolConversionError, match="Consider using the `st"):
    gnomon.checkpoint(lambda x: 1.0 if x else x)(X)
  with pytest.raises(ValueError, match="should be exclusive"):
    policies.save_and_offload_only_these_names(
        names_which_can_be_saved=["a"], names_which_can_be_offloaded=["a"],
        offload_src="device", offload_dst="pinned_host")


def test_what_is_saved_is_logged_if_asked_for(ops: Any, caplog: Any) -> None:
  f = _named(ops)
  gnomon.config.update("jax_log_checkpoint_residuals", True)
  try:
    gnomon.grad(gnomon.checkpoint(f))(X)
    gnomon.grad(gnomon.checkpoint(f, policy=policies.save_only_these_names("a")))(X)
    gnomon.grad(gnomon.checkpoint(f, policy=policies.everything_saveable))(X)
  finally:
    gnomon.config.update("jax_log_checkpoint_residuals", False)
  first, second, third = (r.getMessage() for r in caplog.records)
  assert first.endswith("function saving inputs with shapes:\n  float32[]")
  assert "saving inputs" in second
  assert "and saving these intermediates:\n  float32[] from named 'a' from" in second
  assert "inputs" not in third
  assert third.count("output of test_cos") == 3
