"""`platform_dependent`, `composite`, `custom_root`; operations that compute nothing."""

from __future__ import annotations

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.test_util import check_grads

f32 = np.float32


def text(f, *args):
  return " ".join(str(gnomon.make_jaxpr(f)(*args)).split())


# ---- platform_dependent

def by_platform(x):
  return lax.platform_dependent(x, cpu=lax.sin, default=lambda x: lax.mul(x, 2.0))


def test_platform_dependent():
  assert float(by_platform(f32(1))) == pytest.approx(np.sin(1))
  assert float(gnomon.jit(by_platform)(f32(1))) == pytest.approx(np.sin(1))
  with gnomon.enable_x64(True):
    check_grads(gnomon.jit(gnomon.vmap(by_platform)), (np.array([0.5, 2.0]),), order=2)
  other = lax.platform_dependent(f32(3), tpu=lax.sin, cuda=lax.cos, default=lax.neg)
  assert float(other) == -3
  assert text(by_platform, f32(1)) == (
      "{ lambda ; a:f32[]. let b:i32[] = platform_index[platforms=(('cpu',), None)] "
      "c:f32[] = cond[ branches=( { lambda ; d:f32[]. let e:f32[] = sin d in (e,) } "
      "{ lambda ; f:f32[]. let g:f32[] = mul f 2.0:f32[] in (g,) } ) "
      "branches_platforms=(('cpu',), None) ] b a in (c,) }")


def test_only_the_chosen_branch_is_compiled():
  lowered = gnomon.jit(by_platform).lower(f32(1)).as_text()
  assert "sine" in lowered
  assert "multiply" not in lowered
  assert "case" not in lowered


def test_platforms_with_one_function():
  assert "platforms=(('cpu', 'tpu'), None)" in text(
      lambda x: lax.platform_dependent(x, cpu=lax.sin, tpu=lax.sin, default=lax.neg),
      f32(1))


@pytest.mark.parametrize(("kwargs", "error", "message"), [
    ({"tpu": lax.sin}, NotImplementedError, "platform cpu: it has branches for tpu only"),
    ({}, NotImplementedError, "needs a function"),
    ({"gpu": lax.sin}, ValueError, "Use 'cuda' or 'rocm'"),
    ({"cpu": 3}, TypeError, "cpu should be callable"),
    ({"cpu": lax.sin, "tpu": lambda x: (x, x)}, TypeError, "same pytree structure"),
])
def test_platform_errors(kwargs, error, message):
  with pytest.raises(error, match=message):
    lax.platform_dependent(f32(1), **kwargs)


# ---- composite

def test_composite():
  double = lax.composite(lambda x: lax.mul(x, 2.0), "my.double", version=3)
  assert float(double(f32(3))) == 6
  lowered = gnomon.jit(double).lower(f32(1)).as_text()
  assert (
      'stablehlo.composite "my.double" %arg0 {decomposition = @my.double, version = 3 : '
      "i32} : (tensor<f32>) -> tensor<f32>") in lowered
  assert "func.func private @my.double" in lowered
  with gnomon.enable_x64(True):
    check_grads(gnomon.vmap(double), (np.array([0.5, 2.0]),), order=2)
  assert text(double, f32(1)) == (
      "{ lambda ; a:f32[]. let b:f32[] = composite[ attributes=() jaxpr={ lambda ; "
      "c:f32[]. let d:f32[] = mul c 2.0:f32[] in (d,) } name=my.double version=3 ] a in "
      "(b,) }")


def test_composites_attributes():
  f = lax.composite(lambda x, **_: lax.neg(x), "my.f")

  def call(x):
    return f(
        x, b=True, dtype=np.dtype(f32), i=1, none=None, s="bar", f=2.5, pair=(1, 2),
        one=f32(3), array=np.zeros((1, 2), f32))

  assert float(call(f32(2))) == -2
  lowered = gnomon.jit(call).lower(f32(1)).as_text()
  assert (
      "composite_attributes = {array = dense<0.000000e+00> : tensor<1x2xf32>, b = true, "
      "dtype = f32, f = 2.500000e+00 : f64, i = 1 : i64, one = 3.000000e+00 : f32, "
      'pair = [1, 2], s = "bar"}') in lowered


def test_composite_without_operands_and_with_several_results():
  assert float(lax.composite(lambda: lax.full((), 1.0), "my.one")()) == 1
  a, b = lax.composite(lambda *xs: xs, "my.same")(f32(1), f32(2))
  assert (float(a), float(b)) == (1, 2)
  scale = gnomon.device_put(f32([0.5, 0.25]))
  half = lax.composite(lambda x: lax.mul(x, scale), "my.scaled")
  assert gnomon.jit(half)(f32([1, 1])).tolist() == [0.5, 0.25]


def test_composite_errors():
  with pytest.raises(gnomon.errors.UnexpectedTracerError, match="use numpy arrays"):
    lax.composite(lambda x, **_: x, "my.f")(f32(1), scale=gnomon.device_put(f32(1)))
  with pytest.raises(TypeError, match="the attribute scale"):
    lax.composite(lambda x, **_: x, "my.f")(f32(1), scale=object())

  def closing(x, scale):
    return lax.composite(lambda y: lax.mul(y, scale), "my.f")(x)
  with pytest.raises(
      gnomon.errors.UnexpectedTracerError, match="JAX Tracer as a constant in"):
    gnomon.jit(closing)(f32(1), f32(2))


# ---- custom_root

def square_root(a, guess=1.0):
  def solve(f, x):
    return lax.while_loop(
        lambda x: lax.gt(lax.abs(f(x)), 1e-12),
        lambda x: lax.sub(x, lax.div(f(x), lax.mul(x, 2.0))), x)
  return lax.custom_root(
      lambda x: lax.sub(lax.square(x), a), guess, solve,
      lambda g, y: lax.div(y, g(1.0)))


def test_custom_root():
  with gnomon.enable_x64(True):
    assert float(square_root(2.0)) == pytest.approx(2 ** 0.5)
    check_grads(gnomon.jit(square_root), (2.0,), order=2)
    check_grads(gnomon.jit(gnomon.vmap(square_root)), (np.array([2.0, 5.0]),), order=1)
    both = gnomon.vmap(square_root)(np.array([2.0, 5.0]), np.array([1.0, 2.0]))
    np.testing.assert_allclose(both, np.sqrt([2, 5]))


def test_root_of_a_system():
  """x + 0.1 sin(y) = a, y + 0.1 cos(x) = b, as a dict; the solver iterates."""
  def f_of(a, b):
    def f(v):
      x, y = v["x"], v["y"]
      return {
          "x": lax.sub(lax.add(x, lax.mul(0.1, lax.sin(y))), a),
          "y": lax.sub(lax.add(y, lax.mul(0.1, lax.cos(x))), b)}
    return f

  def solve(f, v):
    def step(_, v):
      r = f(v)
      return {k: lax.sub(v[k], r[k]) for k in v}
    return lax.fori_loop(0, 30, step, v), {"steps": 30}

  def tangent_solve(g, y):
    return lax.fori_loop(
        0, 30, lambda _, v: {k: lax.add(v[k], lax.sub(y[k], g(v)[k])) for k in v}, y)

  def root(a, b):
    zero = {"x": 0.0, "y": 0.0}
    found, aux = lax.custom_root(f_of(a, b), zero, solve, tangent_solve, has_aux=True)
    return found, aux

  with gnomon.enable_x64(True):
    found, aux = root(0.3, 0.7)
    assert int(aux["steps"]) == 30
    residual = f_of(0.3, 0.7)(found)
    assert max(abs(float(r)) for r in residual.values()) < 1e-15
    check_grads(gnomon.jit(lambda a, b: root(a, b)[0]), (0.3, 0.7), order=1)


@pytest.mark.parametrize(("change", "message"), [
    ({"f": 3}, "f should be callable"),
    ({"f": lambda x: (x, x)}, r"f\(\) output pytree structure must match"),
    ({"solve": lambda f, x: {"a": x}}, r"solve\(\) output pytree structure must match"),
    ({"f": lambda x: lax.full((2,), 1.0)}, r"f\(\) output shapes must match"),
    ({"has_aux": True}, "must return a pair"),
])
def test_custom_root_errors(change, message):
  args = {"f": lambda x: x, "initial_guess": 1.0, "solve": lambda f, x: x,
          "tangent_solve": lambda g, y: y, **change}
  with pytest.raises(TypeError, match=message):
    lax.custom_root(**args)


# ---- tokens, sinks, placements

def test_tokens():
  token = lax.after_all(lax.create_token(), lax.create_token(3))
  assert token.aval.str_short(short_dtypes=True) == "Tok"
  assert token.block_until_ready() is token
  again = gnomon.jit(lambda t: lax.after_all(t, lax.create_token()))(token)
  assert type(again) is type(token)
  assert text(lambda: lax.after_all(lax.create_token())) == (
      "{ lambda ; . let a:Tok = create_token ; b:Tok = after_all a in (b,) }")
  with pytest.raises(TypeError, match="must be tokens"):
    lax.after_all(f32(1))
  mapped = gnomon.vmap(lambda x: (lax.after_all(lax.create_token()), x)[1])
  assert mapped(f32([1, 2])).tolist() == [1, 2]


def test_sends_need_devices():
  env = [("i", 2)]

  def f(x):
    return lax.precv(lax.psend(x, "i", [(0, 1)]), x, "i", [(0, 1)])
  shown = " ".join(str(gnomon.make_jaxpr(f, axis_env=env)(f32([1, 2]))).split())
  assert "b:Tok = psend[axis_name=('i',) perm=((0, 1),)] a" in shown
  with pytest.raises(NotImplementedError, match="ppermute"):
    gnomon.vmap(f, axis_name="i")(f32([[1], [2]]))
  with pytest.raises(NameError, match="unbound axis name: i"):
    f(f32(1))
  with pytest.raises(TypeError, match="must be a token"):
    gnomon.make_jaxpr(lambda x: lax.precv(x, x, "i", []), axis_env=env)(f32(1))


def test_sinks():
  def f(x):
    lax.dce_sink({"a": lax.sin(x)})
    return x
  assert "dce_sink[prevent_mlir_dce=False]" in text(f, f32(1))
  assert "dce_sink" in text(gnomon.jit(f), f32(1))  # it stays where results are unused
  assert float(gnomon.jit(f)(f32(2))) == 2
  assert gnomon.vmap(f)(f32([1, 2])).tolist() == [1, 2]
  assert float(gnomon.grad(f)(f32(2))) == 1
  assert lax.dce_sink(f32(1)) is None
  lowered = gnomon.jit(lambda x: lax.dce_sink(x, prevent_mlir_dce=True)).lower(f32(1))
  assert "stablehlo.custom_call @dce_sink" in lowered.as_text()


def test_stage():
  assert lax.stage(1).weak_type
  x = gnomon.device_put(f32(1))
  assert lax.stage(x) is x
  assert text(lax.stage, f32(1)) == "{ lambda ; a:f32[]. let in (a,) }"
  found = []
  gnomon.make_jaxpr(lambda x: found.append(lax.stage(np.ones(2))))(f32(1))
  gnomon.make_jaxpr(gnomon.vmap(lambda x: found.append(lax.stage(2.0)) or x))(f32([1]))
  assert [type(x).__name__ for x in found] == ["StageTracer", "StageTracer"]
  assert float(gnomon.grad(lambda x: lax.stage_p.apply(lax.sin(x))[0])(0.0)) == 1
  with pytest.raises(TypeError):
    lax.stage([1])


def test_sharding_constraint():
  place = gnomon.device_put(f32(1), gnomon.devices()[0]).sharding

  def f(x):
    return lax.with_sharding_constraint(x, place)
  assert gnomon.jit(gnomon.vmap(f))(f32([1, 2])).tolist() == [1, 2]
  assert float(gnomon.grad(lambda x: f(lax.sin(x)))(0.0)) == 1
  assert "sharding_constraint[" in text(lambda x: f({"a": x}), f32(1))
  with pytest.raises(TypeError, match="shardings leaf"):
    lax.with_sharding_constraint(f32(1), 3)


def test_stop_gradient():
  assert text(lambda x: lax.stop_gradient((x, 1)), f32(1)) == (
      "{ lambda ; a:f32[]. let b:f32[] = stop_gradient a c:i32[] = stop_gradient 1:i32[] "
      "in (b, c) }")
  x = gnomon.device_put(f32(2))
  assert lax.stop_gradient(x) is x
  assert float(gnomon.grad(lambda x: lax.mul(lax.stop_gradient(x), x))(x)) == 2
  first = gnomon.grad(lambda x: lax.mul(lax.stop_gradient(x), lax.square(x)))
  assert float(gnomon.grad(first)(x)) == 4
  assert gnomon.vmap(lax.stop_gradient)(f32([1, 2])).tolist() == [1, 2]


# ---- approximate extremes

@pytest.mark.parametrize("f", [lax.approx_max_k, lax.approx_min_k])
@pytest.mark.parametrize("axis", [0, -1])
def test_approximate_extremes(f, axis):
  x = np.random.default_rng(0).permutation(24).reshape(6, 4).astype(f32)
  sign = 1 if f is lax.approx_max_k else -1
  order = np.argsort(-sign * x, axis, kind="stable").take(range(3), axis)
  values, places = f(x, 3, reduction_dimension=axis)
  assert places.tolist() == order.tolist()
  assert values.tolist() == np.take_along_axis(x, order, axis).tolist()
  rest, _ = f(x, 3, reduction_dimension=axis, aggregate_to_topk=False)
  assert rest.shape == x.shape
  mapped, _ = gnomon.vmap(lambda v: f(v, 2), in_axes=1)(x)
  assert mapped.tolist() == (sign * np.sort(sign * x.T)[:, :-3:-1]).tolist()
  with gnomon.enable_x64(True):
    check_grads(lambda v: f(v, 2, reduction_dimension=axis)[0], (x.astype(float),), 2)
  kept, _ = f(np.zeros(100_000, f32), 10, aggregate_to_topk=False)
  assert kept.shape == (2048,)


@pytest.mark.parametrize(("args", "kwargs", "message"), [
    ((np.arange(5), 2), {}, "operand must be a floating type"),
    ((np.zeros(5, f32), 7), {}, "smaller than the size of reduction_dim 5, got 7"),
    ((np.zeros(5, f32), 0), {}, "k must be positive"),
    ((np.zeros(5, f32), 2), {"recall_target": 2.0}, "recall_target"),
    ((np.zeros(5, f32), 2), {"reduction_dimension": 3}, "out of range"),
])
def test_approximate_errors(args, kwargs, message):
  with pytest.raises(ValueError, match=message):
    lax.approx_max_k(*args, **kwargs)


def test_branches_without_derivatives_are_left_out():
  """A function for another platform may use what has no rules here."""
  foreign = gnomon.core.primitive.Primitive("foreign")
  gnomon.core.rule.typing_rule.define(foreign)(lambda x: (x,))

  def f(x):
    return lax.platform_dependent(x, cpu=lax.sin, tpu=lambda x: foreign.apply(x)[0])
  assert float(gnomon.jit(f)(0.0)) == 0
  assert float(gnomon.grad(f)(0.0)) == 1
  assert float(gnomon.jvp(f, (0.0,), (2.0,))[1]) == 2

  def alone(x):
    return lax.platform_dependent(x, cpu=lambda x: foreign.apply(x)[0])
  with pytest.raises(NotImplementedError, match="foreign"):
    gnomon.grad(alone)(0.0)


def test_what_was_stopped_is_not_differentiated_any_more():
  """Operations on it run no derivative rule."""
  def f(x):
    stopped = lax.stop_gradient(x)
    assert type(stopped) is type(gnomon.device_put(f32(1)))
    return lax.mul(lax.sin(stopped), x)
  assert float(gnomon.grad(f)(f32(1))) == pytest.approx(np.sin(1))
  twice = gnomon.jvp(gnomon.grad(f), (f32(1),), (f32(1),))
  assert [float(v) for v in twice] == pytest.approx([np.sin(1), 0])
