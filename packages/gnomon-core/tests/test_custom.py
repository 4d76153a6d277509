"""`custom_jvp` and `custom_vjp`: forms of rules and arguments, compositions, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon.core.jaxpr import eval_jaxpr
from gnomon.transform.dce import dce_jaxpr

TEN = np.float32(10)


def _square(ops: Any) -> Any:
  """x², whose rule gives ten times the derivative, so that its use shows."""
  @gnomon.custom_jvp
  def square(x: Any) -> Any:
    return ops.mul(x, x)

  @square.defjvp
  def _(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return square(x), ops.mul(ops.mul(t, x), np.asarray(20, gnomon.typeof(x).dtype)[()])

  return square


def _reverse(ops: Any) -> Any:
  """x², whose reverse rule gives ten times the derivative."""
  @gnomon.custom_vjp
  def square(x: Any) -> Any:
    return ops.mul(x, x)

  square.defvjp(
      lambda x: (square(x), x), lambda x, ct: (ops.mul(ops.mul(ct, x), 20.0),))
  return square


BOTH = [_square, _reverse]
MAKERS = pytest.mark.parametrize("make", BOTH, ids=["custom_jvp", "custom_vjp"])


# ---- composition


@MAKERS
@pytest.mark.parametrize("wrap", [
    lambda f: f, gnomon.jit, gnomon.checkpoint, lambda f: gnomon.jit(gnomon.jit(f)),
    lambda f: gnomon.checkpoint(gnomon.jit(f)),
    lambda f: gnomon.jit(gnomon.checkpoint(f))])
def test_under_jit_and_checkpoint(ops: Any, make: Any, wrap: Any) -> None:
  f = wrap(make(ops))
  assert float(f(3.0)) == 9.0
  assert float(gnomon.grad(f)(3.0)) == 60.0
  assert float(gnomon.jit(gnomon.grad(f))(3.0)) == 60.0
  value, pull = gnomon.vjp(f, 3.0)
  assert (float(value), float(pull(2.0)[0])) == (9.0, 120.0)
  assert float(gnomon.grad(gnomon.grad(f))(3.0)) == 20.0


@MAKERS
def test_under_vmap(ops: Any, make: Any) -> None:
  f, xs = make(ops), np.arange(4, dtype=np.float32)
  for mapped in (gnomon.vmap(f), gnomon.vmap(gnomon.jit(f)), gnomon.jit(gnomon.vmap(f))):
    np.testing.assert_array_equal(np.asarray(mapped(xs)), xs * xs)
    _, pull = gnomon.vjp(mapped, xs)
    (got,) = pull(np.ones(4, np.float32))
    np.testing.assert_array_equal(np.asarray(got), 20 * xs)
  got = gnomon.vmap(gnomon.grad(f))(xs)
  np.testing.assert_array_equal(np.asarray(got), 20 * xs)
  twice = gnomon.vmap(gnomon.vmap(gnomon.grad(f)))(xs.reshape(2, 2))
  np.testing.assert_array_equal(np.asarray(twice), 20 * xs.reshape(2, 2))


@MAKERS
def test_in_each_other(ops: Any, make: Any) -> None:
  for other in BOTH:
    inner, outer = make(ops), other(ops)

    def f(x: Any, inner: Any = inner, outer: Any = outer) -> Any:
      return outer(inner(x))

    assert float(gnomon.grad(f)(2.0)) == 20 * 4 * 40
    assert float(gnomon.jit(gnomon.grad(gnomon.jit(f)))(2.0)) == 20 * 4 * 40
  inner = make(ops)

  @gnomon.custom_jvp
  def around(x: Any) -> Any:
    return inner(x)

  around.defjvp(lambda p, t: gnomon.jvp(inner, p, t))
  if make is _square:
    assert float(gnomon.grad(around)(3.0)) == 60.0


def test_forward_mode_of_a_reverse_rule_says_what_to_do(ops: Any) -> None:
  f = _reverse(ops)
  for g in (f, gnomon.jit(f)):
    with pytest.raises(TypeError, match=r"(?s)forward-mode.*custom_vjp.*custom_jvp"):
      gnomon.jvp(g, (1.0,), (1.0,))
    with pytest.raises(TypeError, match="forward-mode"):
      gnomon.jacfwd(g)(1.0)


# ---- arguments


@pytest.mark.parametrize("jit", [False, True])
def test_nondiff_argnums_of_custom_jvp(ops: Any, jit: bool) -> None:
  def app(f: Callable[..., Any], x: Any) -> Any:
    return f(x)

  custom = gnomon.custom_jvp(app, nondiff_argnums=(0,))

  @custom.defjvp
  def _(f: Any, primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return custom(f, x), ops.mul(t, TEN)

  g = lambda x: custom(ops.sin, x)  # noqa: E731
  g = gnomon.jit(g) if jit else g
  assert float(g(0.5)) == pytest.approx(np.sin(0.5), rel=1e-6)
  assert float(gnomon.grad(g)(0.5)) == 10.0


@pytest.mark.parametrize("jit", [False, True])
def test_nondiff_argnums_of_custom_vjp(ops: Any, jit: bool) -> None:
  def app(x: Any, name: str, y: Any, scale: float) -> Any:
    assert name == "n"
    return ops.mul(ops.mul(x, y), scale)

  custom = gnomon.custom_vjp(app, nondiff_argnums=(1, 3))
  custom.defvjp(
      lambda x, name, y, scale: (app(x, name, y, scale), (x, y)),
      lambda name, scale, res, ct: (
          ops.mul(ct, 100.0 if name == "n" else 0.0), ops.mul(ct, scale)))
  g = lambda x, y: custom(x, "n", y, 3.0)  # noqa: E731
  g = gnomon.jit(g) if jit else g
  assert float(g(2.0, 5.0)) == 30.0
  assert [float(v) for v in gnomon.grad(g, (0, 1))(2.0, 5.0)] == [100.0, 3.0]


def test_nondiff_argnames(ops: Any) -> None:
  custom = gnomon.custom_vjp(lambda x, mode: ops.sin(x), nondiff_argnames=["mode"])
  custom.defvjp(lambda x, mode: (ops.sin(x), None), lambda mode, res, ct: (
      ops.mul(ct, TEN if mode == "m" else 0.0),))
  assert float(gnomon.grad(custom)(1.0, "m")) == 10.0
  assert float(gnomon.grad(lambda x: custom(x, mode="m"))(1.0)) == 10.0
  with pytest.raises(ValueError, match="names 'z', which is no argument"):
    gnomon.custom_jvp(lambda x: x, nondiff_argnames="z")


@MAKERS
def test_keyword_arguments_and_defaults(ops: Any, make: Any) -> None:
  if make is _square:
    @gnomon.custom_jvp
    def f(x: Any, y: Any = 3.0) -> Any:
      return ops.mul(x, y)

    f.defjvp(lambda p, t: (f(*p), ops.mul(t[1], TEN)))
  else:
    @gnomon.custom_vjp
    def f(x: Any, y: Any = 3.0) -> Any:
      return ops.mul(x, y)

    f.defvjp(lambda x, y: (f(x, y), None), lambda res, ct: (None, ops.mul(ct, TEN)))
  assert float(f(2.0)) == 6.0
  assert float(f(y=5.0, x=2.0)) == 10.0
  assert float(gnomon.grad(lambda y: f(2.0, y=y))(5.0)) == 10.0
  assert float(gnomon.grad(lambda y: f(x=2.0, y=y))(5.0)) == 10.0
  assert float(gnomon.grad(f)(2.0)) == 0.0
  with pytest.raises(TypeError, match="missing a required argument: 'x'"):
    f(y=1.0)


def test_keyword_only_arguments_cannot_reach_the_rule(ops: Any) -> None:
  f = gnomon.custom_jvp(lambda x, *, k=1.0: ops.mul(x, k))
  f.defjvp(lambda p, t: (f(*p), t[0]))
  assert float(f(2.0)) == 2.0
  with pytest.raises(TypeError, match=r"could not be resolved to positions: k"):
    f(2.0, k=3.0)


def test_methods(ops: Any) -> None:
  class Model:
    scale = 3.0

    @gnomon.custom_jvp
    def forward(self, x: Any) -> Any:
      return ops.mul(x, self.scale)

    @gnomon.custom_vjp
    def back(self, x: Any) -> Any:
      return ops.mul(x, self.scale)

  Model.forward.nondiff_argnums = (0,)
  Model.forward.defjvp(
      lambda self, p, t: (ops.mul(p[0], self.scale), ops.mul(t[0], TEN)))
  Model.back.nondiff_argnums = (0,)
  Model.back.defvjp(
      lambda self, x: (ops.mul(x, self.scale), None),
      lambda self, res, ct: (ops.mul(ct, TEN),))
  m = Model()
  for method in (m.forward, m.back):
    assert float(method(2.0)) == 6.0
    assert float(gnomon.grad(method)(2.0)) == 10.0


@MAKERS
def test_names_and_docs_are_kept(make: Any, ops: Any) -> None:
  wrap = gnomon.custom_jvp if make is _square else gnomon.custom_vjp

  @wrap
  def documented(x: Any) -> Any:
    """Doc."""
    return x

  assert (documented.__name__, documented.__doc__) == ("documented", "Doc.")


# ---- pytrees


@pytest.mark.parametrize("jit", [False, True])
def test_pytrees_of_custom_jvp(ops: Any, jit: bool) -> None:
  @gnomon.custom_jvp
  def f(p: dict[str, Any], xs: tuple[Any, Any]) -> Any:
    return {"u": ops.mul(p["a"], xs[0]), "v": [xs[1], None]}

  @f.defjvp
  def _(primals: Any, tangents: Any) -> Any:
    (p, xs), (dp, dxs) = primals, tangents
    return f(p, xs), {"u": ops.mul(dp["a"], TEN), "v": [ops.mul(dxs[1], TEN), None]}

  g = gnomon.jit(f) if jit else f
  out, t = gnomon.jvp(g, ({"a": 2.0}, (3.0, 4.0)), ({"a": 1.0}, (1.0, 5.0)))
  assert (float(out["u"]), float(out["v"][0]), out["v"][1]) == (6.0, 4.0, None)
  assert (float(t["u"]), float(t["v"][0])) == (10.0, 50.0)


@pytest.mark.parametrize("jit", [False, True])
def test_none_stands_for_zero_cotangents(ops: Any, jit: bool) -> None:
  def f(p: Any, x: Any, n: Any) -> Any:
    return ops.mul(ops.mul(p["a"], p["b"]), x)

  def gradients(bwd: Any) -> Any:
    custom = gnomon.custom_vjp(f)
    custom.defvjp(lambda p, x, n: (f(p, x, n), None), bwd)
    g = gnomon.jit(custom) if jit else custom
    got = gnomon.grad(g, (0, 1))({"a": 2.0, "b": 3.0}, 4.0, 7)
    return gnomon.tree.map(float, got)

  zero = {"a": 0.0, "b": 0.0}
  assert gradients(lambda res, ct: (None, ct, None)) == (zero, 1.0)
  assert gradients(lambda res, ct: ({"a": None, "b": ct}, None, None)) == (
      {"a": 0.0, "b": 1.0}, 0.0)
  float0 = np.zeros((), gnomon.dtypes.float0)
  assert gradients(lambda res, ct: (None, ct, float0)) == (zero, 1.0)
  assert gradients(lambda res, ct: [None, ct, None]) == (zero, 1.0)


def test_several_results_some_unused(ops: Any) -> None:
  @gnomon.custom_vjp
  def f(x: Any) -> Any:
    return ops.sin(x), {"c": ops.cos(x), "n": 3}

  def bwd(x: Any, cts: Any) -> Any:
    s, d = cts
    assert d["n"].dtype == gnomon.dtypes.float0
    return (ops.add(s, ops.mul(d["c"], TEN)),)

  f.defvjp(lambda x: (f(x), x), bwd)
  assert float(gnomon.grad(lambda x: f(x)[0])(0.5)) == 1.0
  assert float(gnomon.grad(lambda x: f(x)[1]["c"])(0.5)) == 10.0


# ---- residuals and closures


def test_residuals_may_be_anything_that_is_an_array_or_none(ops: Any) -> None:
  f = gnomon.custom_vjp(ops.sin)
  f.defvjp(
      lambda x: (ops.sin(x), {"x": x, "n": 3, "none": None, "big": np.ones(100)}),
      lambda res, ct: (ops.mul(ct, res["x"]),))
  assert float(gnomon.grad(f)(0.5)) == 0.5
  assert float(gnomon.jit(gnomon.grad(gnomon.jit(f)))(0.5)) == 0.5
  np.testing.assert_array_equal(
      np.asarray(gnomon.vmap(gnomon.grad(f))(np.ones(3, np.float32))), np.ones(3))


def test_custom_jvp_closes_over_a_tracer(ops: Any) -> None:
  def outer(w: Any, x: Any) -> Any:
    f = gnomon.custom_jvp(lambda x: ops.mul(w, x))
    f.defjvp(lambda p, t: (ops.mul(w, p[0]), ops.mul(ops.mul(w, t[0]), TEN)))
    return f(x)

  assert float(gnomon.jit(outer)(2.0, 3.0)) == 6.0
  assert float(gnomon.jit(lambda w: gnomon.grad(outer, 1)(w, 3.0))(2.0)) == 20.0
  got = gnomon.vmap(gnomon.grad(outer, 1), (0, None))(np.arange(3.0, dtype="f4"), 3.0)
  np.testing.assert_array_equal(np.asarray(got), [0, 10, 20])


# ---- errors


@MAKERS
def test_no_rule(make: Any) -> None:
  wrap = gnomon.custom_jvp if make is _square else gnomon.custom_vjp
  kind = "jvp" if make is _square else "vjp"

  @wrap
  def bare(x: Any) -> Any:
    return x

  with pytest.raises(AttributeError, match=f"custom_{kind} function bare.*def{kind}"):
    bare(1.0)
  with pytest.raises(TypeError, match="expects a function"):
    wrap(3)


@pytest.mark.parametrize(("rule", "match"), [
    (lambda p, t: p[0], r"must return a pair \(primal_out, tangent_out\)"),
    (lambda p, t: (p[0], t[0], t[0]), "must return a pair"),
    (lambda p, t: (p[0], (t[0],)), "one structure"),
    (lambda p, t: (p[0], np.ones(2, np.float32)), r"tangent .*float32\[\].*float32\[2\]"),
    (lambda p, t: (p[0], np.ones((), np.int32)), "int32")])
@pytest.mark.parametrize("jit", [False, True])
def test_a_jvp_rule_that_returns_the_wrong_thing(
    ops: Any, rule: Any, match: str, jit: bool) -> None:
  def halve(x: Any) -> Any:
    return ops.mul(x, 0.5)

  f = gnomon.custom_jvp(halve)
  f.defjvp(rule)
  g = gnomon.jit(f) if jit else f
  with pytest.raises(TypeError, match=match) as e:
    gnomon.jvp(g, (1.0,), (1.0,))
  assert "halve" in str(e.value)


@pytest.mark.parametrize(("bwd", "match"), [
    (lambda res, ct: ct, r"a tuple with one cotangent an argument \(2\)"),
    (lambda res, ct: (ct,), r"\(2\), got a tuple of 1"),
    (lambda res, ct: (ct, (ct,)), r"of type \(.*,\), which is no array, but"),
    (lambda res, ct: (ct, {"a": ct}), r"of type {'a': .*}, which is no array"),
    (lambda res, ct: (np.ones(3, np.float32), ct), r"float32\[3\].*float32\[\]"),
    (lambda res, ct: (np.ones((), np.int32), ct), r"int32"),
    (lambda res, ct: ("text", ct), "'text'")])
@pytest.mark.parametrize("jit", [False, True])
def test_a_bwd_rule_that_returns_the_wrong_thing(
    ops: Any, bwd: Any, match: str, jit: bool) -> None:
  def product(x: Any, y: Any) -> Any:
    return ops.mul(x, y)

  f = gnomon.custom_vjp(product)
  f.defvjp(lambda x, y: (product(x, y), None), bwd)
  g = gnomon.jit(f) if jit else f
  with pytest.raises((TypeError, ValueError), match=match) as e:
    gnomon.grad(g)(1.0, 2.0)
  assert "product" in str(e.value)


@pytest.mark.parametrize(("fwd", "match"), [
    (lambda x: x, r"a pair \(result, residuals\)"),
    (lambda x: (x, x, x), "a pair")])
@pytest.mark.parametrize("jit", [False, True])
def test_a_fwd_rule_that_returns_the_wrong_thing(
    ops: Any, fwd: Any, match: str, jit: bool) -> None:
  def halve(x: Any) -> Any:
    return ops.mul(x, 0.5)

  f = gnomon.custom_vjp(halve)
  f.defvjp(fwd, lambda res, ct: (ct,))
  g = gnomon.jit(f) if jit else f
  with pytest.raises(TypeError, match=match) as e:
    gnomon.vjp(g, 1.0)
  assert "halve" in str(e.value)


def test_rules_whose_results_differ_from_those_of_the_staged_function(ops: Any) -> None:
  def halve(x: Any) -> Any:
    return ops.mul(x, 0.5)

  two = np.ones(2, np.float32)
  for result, match in (
      ((two, two), "structure"), (two, r"result 0 expected float32\[\], got float32"),
      (np.ones((), np.int32), "got int32")):
    f = gnomon.custom_jvp(halve)
    f.defjvp(lambda p, t, y=result: (y, gnomon.tree.map(np.zeros_like, y)))
    g = gnomon.custom_vjp(halve)
    g.defvjp(lambda x, y=result: (y, x), lambda res, ct: (res,))
    for h in (f, g):
      with pytest.raises(TypeError, match=match) as e:
        gnomon.grad(gnomon.jit(h))(1.0)
      assert "halve" in str(e.value)
      with pytest.raises(TypeError, match=match):
        gnomon.vjp(gnomon.vmap(gnomon.jit(h)), two)


@MAKERS
def test_an_argument_that_is_no_array(ops: Any, make: Any) -> None:
  f = make(ops)
  with pytest.raises(TypeError, match=r"(?s)argument x .*square.*'text'"):
    f("text")


def test_a_mapped_rule_closes_over_mapped_values(ops: Any) -> None:
  def outer(w: Any, x: Any) -> Any:
    f = gnomon.custom_vjp(lambda x: ops.mul(w, x))
    f.defvjp(lambda x: (ops.mul(w, x), x), lambda x, ct: (ops.mul(w, ops.mul(ct, TEN)),))
    g = gnomon.custom_jvp(f)
    g.defjvp(lambda p, t: (ops.mul(w, p[0]), ops.mul(w, ops.mul(t[0], TEN))))
    return ops.add(f(x), g(x))

  w, x = np.arange(3, dtype=np.float32), np.ones(3, np.float32)
  np.testing.assert_array_equal(np.asarray(gnomon.vmap(outer)(w, x)), 2 * w * x)
  got = gnomon.vmap(gnomon.grad(outer, 1))(w, x)
  np.testing.assert_array_equal(np.asarray(got), 20 * w)
  got = gnomon.grad(lambda x: ops.sum(gnomon.vmap(outer)(w, x)))(x)
  np.testing.assert_array_equal(np.asarray(got), 20 * w)


@MAKERS
@pytest.mark.parametrize("argnums", [0, 1, (0, 1)])
@pytest.mark.parametrize("wrap", [lambda f: f, gnomon.jit])
def test_closing_over_a_value_that_is_differentiated(
    ops: Any, make: Any, argnums: Any, wrap: Any) -> None:
  def outer(w: Any, x: Any) -> Any:
    if make is _square:
      f = gnomon.custom_jvp(lambda x: ops.mul(w, x))
      f.defjvp(lambda p, t: (ops.mul(w, p[0]), ops.mul(w, ops.mul(t[0], TEN))))
    else:
      f = gnomon.custom_vjp(lambda x: ops.mul(w, x))
      f.defvjp(lambda x: (ops.mul(w, x), x), lambda x, ct: (ops.mul(w, ct),))
    return f(x)

  if argnums == 1:
    assert float(wrap(gnomon.grad(outer, 1))(2.0, 3.0)) in (20.0, 2.0)
    return
  with pytest.raises(gnomon.errors.UnexpectedTracerError, match="closes over a value"):
    wrap(gnomon.grad(outer, argnums))(2.0, 3.0)


def test_an_argument_that_is_differentiated_and_declared_not_to_be(ops: Any) -> None:
  f = gnomon.custom_vjp(ops.mul, nondiff_argnums=(0,))
  f.defvjp(lambda x, y: (ops.mul(x, y), None), lambda x, res, ct: (ct,))
  with pytest.raises(gnomon.errors.UnexpectedTracerError, match="nondiff_argnums"):
    gnomon.grad(f)(1.0, 2.0)


def test_optimize_remat_computes_the_rule_only_for_its_residuals(ops: Any) -> None:
  def square(x: Any) -> Any:
    return ops.mul(x, x)

  f = gnomon.custom_vjp(square)
  f.defvjp(
      lambda x: (square(x), ops.sin(x)), lambda res, ct: (ops.mul(ct, res),),
      optimize_remat=True)

  def outer(x: Any) -> Any:
    return ops.cos(gnomon.checkpoint(lambda x: ops.sin(f(x)))(x))

  program = gnomon.make_jaxpr(gnomon.grad(outer))(3.0)
  forward = [e for e in program.eqns if e.primitive.name == "remat_opt"]
  assert len(forward) == 1
  assert forward[0].params["num_res"] == 0
  assert "test_sin" not in str(forward[0])
  want = -np.sin(np.sin(9.0)) * np.cos(9.0) * np.sin(3.0)
  for g in (outer, gnomon.jit(outer)):
    assert float(gnomon.jit(gnomon.grad(g))(3.0)) == pytest.approx(want, rel=1e-4)
  xs = np.array([3.0, 1.0], np.float32)
  mapped = gnomon.jit(gnomon.vmap(gnomon.grad(outer)))(xs)
  assert np.asarray(mapped)[0] == pytest.approx(want, rel=1e-4)
  assert float(gnomon.grad(f)(3.0)) == pytest.approx(np.sin(3.0))


@MAKERS
def test_what_a_function_with_rules_tells_of_itself(ops: Any, make: Any) -> None:
  f = make(ops)
  assert f.fun.__name__ == "square"
  assert f.nondiff_argnums == f.nondiff_argnames == ()
  assert (callable(f.jvp) if make is _square else callable(f.fwd) and callable(f.bwd))
  assert f.symbolic_zeros is False
  g = gnomon.custom_jvp(lambda n, x: x, nondiff_argnames=("n",))
  assert (g.nondiff_argnums, g.nondiff_argnames) == ((0,), ("n",))


@pytest.mark.parametrize("wrap", [lambda f: f, gnomon.jit])
@MAKERS
def test_a_function_that_closes_over_a_mapped_value(
    ops: Any, make: Any, wrap: Any) -> None:
  def outer(x: Any, y: Any) -> Any:
    if make is _square:
      f = gnomon.custom_jvp(lambda y: ops.mul(x, y))
      f.defjvp(lambda p, t: (f(*p), ops.mul(ops.mul(t[0], x), 10.0)))
    else:
      f = gnomon.custom_vjp(lambda y: ops.mul(x, y))
      f.defvjp(lambda y: (f(y), None), lambda _, ct: (ops.mul(ops.mul(ct, x), 10.0),))
    return f(y)

  xs = np.arange(3, dtype=np.float32)
  mapped = wrap(gnomon.vmap(outer, (0, None)))
  np.testing.assert_allclose(mapped(xs, np.float32(2)), 2 * xs)
  if wrap is not gnomon.jit:
    slopes = gnomon.vmap(gnomon.grad(outer, 1), (0, None))(xs, np.float32(2))
    np.testing.assert_allclose(slopes, 10 * xs)
    total = gnomon.grad(lambda y: ops.sum(mapped(xs, y)))(np.float32(2))
    assert float(total) == 30.0


@pytest.mark.parametrize("used", [(True, False), (False, True)])
@MAKERS
def test_results_that_nothing_uses(ops: Any, make: Any, used: Any) -> None:
  def f(x: Any, y: Any) -> Any:
    return ops.sin(x), ops.mul(x, ops.cos(y))

  if make is _square:
    g = gnomon.custom_jvp(f)
    g.defjvp(lambda p, t: (f(*p), (ops.mul(t[0], 3.0), ops.mul(t[1], 5.0))))
  else:
    g = gnomon.custom_vjp(f)
    g.defvjp(lambda x, y: (f(x, y), ()), lambda _, cts: (
        ops.mul(cts[0], 3.0), ops.mul(cts[1], 5.0)))
  program = gnomon.make_jaxpr(g)(1.0, 2.0)
  pruned, kept = dce_jaxpr(program.jaxpr, used)
  (eqn,) = pruned.eqns
  names = {e.primitive.name for e in eqn.params["call_jaxpr"].eqns}
  assert ("test_sin" in names, "test_cos" in names) == used
  assert kept == [True, True]

  def run(*xs: Any) -> Any:
    return eval_jaxpr(pruned, (), *xs)[0]

  want = float(f(1.0, 2.0)[used[1]])
  for h in (run, gnomon.jit(run)):
    assert float(h(1.0, 2.0)) == pytest.approx(want)
    grads = tuple(map(float, gnomon.grad(h, (0, 1))(1.0, 2.0)))
    assert grads == ((3.0, 0.0) if used[0] else (0.0, 5.0))
  nothing, _ = dce_jaxpr(program.jaxpr, (False, False))
  assert not nothing.eqns


def test_symbolic_zeros_of_the_wrong_type(ops: Any) -> None:
  f = gnomon.custom_vjp(lambda x, y: (x, y))
  f.defvjp(lambda x, y: (f(x.value, y.value), None), lambda _, cts: cts[::-1],
           symbolic_zeros=True)
  x, y = np.ones(2, np.float32), np.ones(3, np.float32)
  with pytest.raises(ValueError, match="Consider just returning a None here"):
    gnomon.grad(lambda x: ops.sum(f(x, y)[0]))(x)


def test_checks_of_backward_rules_can_be_switched_off(ops: Any) -> None:
  f = gnomon.custom_vjp(lambda x, y: x)
  f.defvjp(lambda x, y: (x, None), lambda _, ct: (np.ones(3, np.float32), ct))
  with pytest.raises(ValueError, match=r"output\[0\] the bwd rule produced"):
    gnomon.grad(f)(1.0, 2.0)
  gnomon.config.update("jax_disable_bwd_checks", True)
  try:
    assert gnomon.grad(f)(1.0, 2.0).shape == (3,)
  finally:
    gnomon.config.update("jax_disable_bwd_checks", False)


def test_traced_values_are_no_nondiff_arguments_of_custom_vjp(ops: Any) -> None:
  f = gnomon.custom_vjp(ops.mul, nondiff_argnums=(0,))
  f.defvjp(lambda x, y: (ops.mul(x, y), None), lambda x, _, ct: (ops.mul(ct, x),))
  assert float(gnomon.grad(f, 1)(3.0, 4.0)) == 3.0
  with pytest.raises(gnomon.errors.UnexpectedTracerError, match="custom_vjp"):
    gnomon.jit(f)(3.0, 4.0)


def test_rules_are_printed_by_their_names(ops: Any) -> None:
  f = gnomon.custom_jvp(ops.sin)

  @f.defjvp
  def own_rule(p: Any, t: Any) -> Any:
    return f(*p), t[0]

  assert "jvp=own_rule" in str(gnomon.make_jaxpr(f)(1.0))
  g = gnomon.custom_vjp(ops.sin)

  def backwards(_: Any, ct: Any) -> Any:
    return (ct,)

  g.defvjp(lambda x: (g(x), None), backwards)
  text = str(gnomon.make_jaxpr(lambda x: gnomon.jvp(g, (x,), (x,)))(1.0))
  assert "custom_lin[ bwd=backwards in_zeros=[False] num_res=0" in " ".join(text.split())
