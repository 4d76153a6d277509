"""A library that defines primitives in JAX's way: its rules work everywhere."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as jnp
from gnomon import core, lax
from gnomon.extend.core import Effect, Primitive
from gnomon.extend.mlir import ir
from gnomon.extend.mlir.dialects import stablehlo
from gnomon.interpreters import ad, batching, mlir, partial_eval, xla

f32 = np.float32
X = np.array([0.5, -1.5, 2.0], f32)


def make_cube(way: str) -> Any:
  """`x ** 3`, whose rules are entered in one of the ways that libraries use."""
  p = Primitive("cube")
  p.def_abstract_eval(lambda x: x)
  if way == "impl":  # evaluated by NumPy: nothing is compiled
    p.def_impl(lambda x: np.asarray(x) ** 3)
  else:
    p.def_impl(functools.partial(xla.apply_primitive, p))
  if way == "hlo":
    def lowering(ctx: Any, x: Any) -> Any:
      assert [str(a) for a in ctx.avals_in] == [str(a) for a in ctx.avals_out]
      return [stablehlo.multiply(stablehlo.multiply(x, x), x)]

    mlir.register_lowering(p, lowering)
  else:
    mlir.register_lowering(
        p, mlir.lower_fun(lambda x: x * x * x, multiple_results=False), platform="cpu")
  if way == "hlo":
    ad.defjvp(p, lambda t, x: t * (x * x) * f32(3))
  elif way == "impl":
    ad.defjvp2(p, lambda t, ans, x: t * (x * x) * f32(3))
  else:
    def jvp(primals: Any, tangents: Any) -> Any:
      (x,), (t,) = primals, tangents
      return p.bind(x), t * (x * x) * f32(3)

    ad.primitive_jvps[p] = jvp
  if way == "impl":
    batching.primitive_batchers[p] = lambda args, dims: (p.bind(args[0]), dims[0])
  else:
    batching.defvectorized(p)
  return p


@pytest.fixture(params=["impl", "hlo", "fun"])
def cube(request: pytest.FixtureRequest) -> Any:
  return make_cube(request.param).bind


def total(fun: Any) -> Any:
  return lambda x: fun(x).sum()


@pytest.mark.parametrize("name", [
    "eager", "jit", "vmap", "jit vmap", "jvp", "grad", "jit grad", "grad jit",
    "jacfwd", "jacrev", "vmap grad", "hessian"])
def test_one_result_under_transformations(cube: Any, name: str) -> None:
  x = gnomon.device_put(X)
  diagonal = np.diag(3 * X ** 2)
  found, expected = {
      "eager": lambda: (cube(x), X ** 3),
      "jit": lambda: (gnomon.jit(cube)(x), X ** 3),
      "vmap": lambda: (gnomon.vmap(cube)(x), X ** 3),
      "jit vmap": lambda: (gnomon.jit(gnomon.vmap(cube))(x), X ** 3),
      "jvp": lambda: (gnomon.jvp(cube, (x,), (x,))[1], 3 * X ** 3),
      "grad": lambda: (gnomon.grad(total(cube))(x), 3 * X ** 2),
      "jit grad": lambda: (gnomon.jit(gnomon.grad(total(cube)))(x), 3 * X ** 2),
      "grad jit": lambda: (gnomon.grad(gnomon.jit(total(cube)))(x), 3 * X ** 2),
      "jacfwd": lambda: (gnomon.jacfwd(cube)(x), diagonal),
      "jacrev": lambda: (gnomon.jacrev(cube)(x), diagonal),
      "vmap grad": lambda: (gnomon.vmap(gnomon.grad(cube))(x), 3 * X ** 2),
      "hessian": lambda: (gnomon.hessian(total(cube))(x), np.diag(6 * X)),
  }[name]()
  np.testing.assert_allclose(found, expected, rtol=1e-6)


def make_both() -> Any:
  """Two results, `(a * x, b * x)`: linear, with params."""
  p = Primitive("both")
  p.multiple_results = True
  p.def_abstract_eval(lambda x, a, b: [x, x])
  p.def_impl(lambda x, a, b: [x * f32(a), x * f32(b)])
  mlir.register_lowering(p, mlir.lower_fun(lambda x, a, b: [x * f32(a), x * f32(b)]))
  ad.primitive_jvps[p] = lambda primals, tangents, **params: (
      p.bind(*primals, **params), p.bind(*tangents, **params))

  def transpose(cts: Any, x: Any, *, a: float, b: float) -> Any:
    assert ad.is_undefined_primal(x)
    parts = [
        ct if type(ct) is ad.Zero else ct * f32(k)
        for ct, k in zip(cts, (a, b), strict=True)]
    return [functools.reduce(ad.add_tangents, parts)]

  ad.primitive_transposes[p] = transpose
  batching.primitive_batchers[p] = lambda args, dims, **params: (
      p.bind(*args, **params), [dims[0], dims[0]])
  return functools.partial(p.bind, a=2.0, b=5.0)


def test_several_results() -> None:
  both = make_both()
  assert isinstance(both(X), list)
  for f in (both, gnomon.jit(both), gnomon.vmap(both)):
    np.testing.assert_allclose(np.stack(f(gnomon.device_put(X))), [2 * X, 5 * X])
  for f, slope in ((lambda x: both(x)[0], 2), (lambda x: both(x)[1], 5),
                   (lambda x: both(x)[0] * both(x)[1], None)):
    expected = slope or 2 * 10 * 3.0
    assert float(gnomon.grad(f)(f32(3))) == expected
    assert float(gnomon.jit(gnomon.grad(f))(f32(3))) == expected
  text = str(gnomon.make_jaxpr(both)(X))
  assert "b:f32[3] c:f32[3] = both[a=2.0 b=5.0] a" in text


def test_linear_and_bilinear() -> None:
  doubled, seen = Primitive("doubled"), []
  doubled.def_impl(lambda x: x + x)
  doubled.def_abstract_eval(lambda x: x)
  ad.deflinear(doubled, lambda ct: [ct + ct])
  assert float(gnomon.grad(doubled.bind)(1.0)) == 2
  assert float(gnomon.jvp(doubled.bind, (1.0,), (3.0,))[1]) == 6
  ad.deflinear2(doubled, lambda ct, x: seen.append(x) or [ct + ct])
  assert float(gnomon.grad(doubled.bind)(1.0)) == 2
  assert isinstance(seen[0], ad.UndefinedPrimal)
  product = Primitive("product")
  product.def_impl(lambda x, y: x * y)
  product.def_abstract_eval(lambda x, y: x)
  ad.defbilinear(
      product, lambda ct, x, y: product.bind(ct, y),
      lambda ct, x, y: product.bind(ct, x))
  assert [float(g) for g in gnomon.grad(product.bind, (0, 1))(2.0, 3.0)] == [3, 2]
  assert float(gnomon.jvp(product.bind, (2.0, 3.0), (1.0, 10.0))[1]) == 23


def test_rules_of_our_own_primitives_can_be_read() -> None:
  one = gnomon.typeof(f32(1))
  jvp = ad.primitive_jvps[lax.sin_p]
  out, tangent = jvp((f32(2),), (f32(3),), accuracy=None)
  np.testing.assert_allclose([out, tangent], [np.sin(2), 3 * np.cos(2)], rtol=1e-6)
  assert type(jvp((f32(2),), (ad.Zero(one),), accuracy=None)[1]) is ad.Zero
  (found,) = ad.primitive_transposes[lax.neg_p](f32(4), ad.UndefinedPrimal(one))
  assert float(found) == -4
  assert lax.sin_p not in ad.primitive_transposes
  x, d = batching.primitive_batchers[lax.atan2_p](
      (np.ones((2, 3), f32), np.full((3, 2), 2, f32)), (0, 1))
  np.testing.assert_allclose(
      np.moveaxis(np.asarray(x), d, 0), np.full((2, 3), np.arctan2(1, 2)), rtol=1e-6)
  outs, dims = batching.primitive_batchers[lax.sort_p](
      (np.array([[3, 1], [2, 0]], f32),), (0,), dimension=0, is_stable=True, num_keys=1)
  np.testing.assert_array_equal(np.asarray(outs[0]), [[1, 3], [0, 2]])
  assert dims == [0]
  assert lax.sin_p in set(ad.primitive_jvps)
  assert len(ad.primitive_jvps) == len(list(ad.primitive_jvps))


def test_views_are_dictionaries() -> None:
  p = Primitive("view")

  def rule(*args: Any, **params: Any) -> Any:
    return args[0], 0

  for view in (ad.primitive_jvps, ad.primitive_transposes, batching.primitive_batchers,
               batching.fancy_primitive_batchers, batching.axis_primitive_batchers):
    assert p not in view
    assert view.get(p) is None
    with pytest.raises(KeyError):
      view[p]
    view[p] = rule
    assert view[p] is rule
    del view[p]
    assert p not in view
    with pytest.raises(KeyError):
      del view[p]
    with pytest.raises(TypeError, match=r"keys of .* are primitives"):
      view["p"] = rule
  with pytest.raises(NotImplementedError, match=r"Transpose rule .* for 'view'"):
    ad.get_primitive_transpose(p)


@pytest.mark.parametrize(("what", "transform"), [
    ("Abstract evaluation", lambda f: gnomon.make_jaxpr(f)(1.0)),
    ("Differentiation rule", lambda f: gnomon.jvp(f, (1.0,), (1.0,))),
    ("Batching rule", lambda f: gnomon.vmap(f)(X))])
def test_missing_rules_are_named(what: str, transform: Any) -> None:
  with pytest.raises(NotImplementedError, match=f"{what} for 'bare' not implemented"):
    transform(Primitive("bare").bind)


def test_missing_lowerings_are_named() -> None:
  p = Primitive("bare")
  p.def_abstract_eval(lambda x: x)
  with pytest.raises(NotImplementedError, match="MLIR translation rule for 'bare'"):
    gnomon.jit(p.bind)(1.0)
  with pytest.raises(NotImplementedError, match="platform 'abacus' of a rule for bare"):
    mlir.register_lowering(p, lambda ctx, x: [x], platform="abacus")
  mlir.register_lowering(p, lambda ctx, x: [x], platform="tpu")
  with pytest.raises(NotImplementedError, match=r"not found for platform cpu.*tpu"):
    gnomon.jit(p.bind)(1.0)
  mlir.register_lowering(p, lambda ctx, x: [x])
  assert float(gnomon.jit(p.bind)(1.0)) == 1


def test_axis_rules() -> None:
  p = Primitive("size_of_axis")
  p.def_abstract_eval(lambda x, axis_name: x)
  p.def_impl(lambda x, axis_name: x)
  seen: list[Any] = []

  def fancy(axis: Any, args: Any, dims: Any, *, axis_name: Any) -> Any:
    seen.append((axis.name, axis.size, dims))
    return args[0], dims[0]

  batching.fancy_primitive_batchers[p] = fancy
  f = functools.partial(p.bind, axis_name="i")
  gnomon.vmap(f, axis_name="i")(X)
  gnomon.vmap(lambda _: f(1.0), axis_name="i", out_axes=None)(X)
  assert seen == [("i", 3, (0,)), ("i", 3, (None,))]

  def older(size: int, name: Any, kind: Any, args: Any, dims: Any, **_: Any) -> Any:
    seen.append((size, name, kind, dims))
    return args[0], dims[0]

  batching.axis_primitive_batchers[p] = older
  gnomon.vmap(f, axis_name="i")(X)
  assert seen[-1] == (3, "i", None, (0,))


def test_reducers_and_broadcasts() -> None:
  p = Primitive("total")
  p.def_abstract_eval(lambda x, axes: x.update(shape=tuple(
      n for i, n in enumerate(x.shape) if i not in axes)))
  p.def_impl(lambda x, axes: np.sum(x, axes, dtype=f32))
  batching.defreducer(p)
  x = np.arange(24, dtype=f32).reshape(2, 3, 4)
  for d in range(3):
    found = gnomon.vmap(functools.partial(p.bind, axes=(1,)), in_axes=d)(x)
    np.testing.assert_array_equal(
        np.asarray(found), np.moveaxis(x, d, 0).sum(2))
  q = Primitive("plus")
  q.def_impl(np.add)
  batching.defbroadcasting(q)
  np.testing.assert_array_equal(
      np.asarray(gnomon.vmap(q.bind, (0, None))(X, np.ones((), f32))), X + 1)
  assert batching.broadcast(np.ones((2, 3)), 5, 1, None).shape == (2, 5, 3)
  assert batching.bdim_at_front(np.ones((2, 3)), 1, 3).shape == (3, 2)
  assert batching.bdim_at_front(np.ones((2, 3)), None, 4).shape == (4, 2, 3)


def test_effects_of_a_library() -> None:
  class Noise(Effect):
    pass

  p = Primitive("noisy")
  p.def_effectful_abstract_eval(lambda x: (x, {Noise()}))
  mlir.register_lowering(p, lambda ctx, x: [x])
  jaxpr = gnomon.make_jaxpr(lambda x: [p.bind(x), x][1])(1.0)
  assert [type(e) for e in jaxpr.effects] == [Noise]
  assert [e.primitive for e in jaxpr.eqns] == [p]
  assert len(p.abstract_eval(gnomon.typeof(1.0))[1]) == 1
  with pytest.raises(ValueError, match=r"effects.*Noise.*lowerable_effects.add_type"):
    gnomon.jit(p.bind)(1.0)
  mlir.lowerable_effects.add_type(Noise)
  assert float(gnomon.jit(p.bind)(1.0)) == 1
  kinds = mlir.lowerable_effects
  assert kinds.contains(Noise())
  assert kinds.filter_not_in([Noise(), Effect()]) != []
  assert len(kinds.filter_in([Noise(), Effect()])) == 1


def test_python_callbacks_in_lowerings() -> None:
  p = Primitive("host_square")
  p.def_abstract_eval(lambda x: x)
  calls = []

  def on_host(x: Any) -> Any:
    calls.append(type(x))
    return (np.square(x),)

  def lowering(ctx: Any, x: Any) -> Any:
    results, token, keep = mlir.emit_python_callback(
        ctx, on_host, None, [x], ctx.avals_in, ctx.avals_out, has_side_effect=False)
    assert token is None
    assert keep is on_host
    ctx.module_context.add_keepalive(keep)
    return results

  mlir.register_lowering(p, lowering)
  np.testing.assert_array_equal(np.asarray(gnomon.jit(p.bind)(X)), X ** 2)
  assert calls == [np.ndarray]


def test_constants_attributes_and_types_in_lowerings() -> None:
  p = Primitive("shifted")
  p.def_abstract_eval(lambda x: x)
  seen: dict[str, str] = {}

  def lowering(ctx: Any, x: Any) -> Any:
    attribute = mlir.ir_attribute
    seen.update({
        "type": str(mlir.aval_to_ir_type(ctx.module_context, ctx.avals_in[0])),
        "types": str(mlir.aval_to_ir_types(ctx.module_context, ctx.avals_in[0])[0]),
        "element": str(mlir.dtype_to_ir_type(np.dtype("int8"))),
        "token": str(mlir.token_type()), "i32": str(mlir.i32_attr(3)),
        "i64": str(mlir.i64_attr(3)), "ints": str(mlir.dense_int_array([1, 2])),
        "elements": str(mlir.dense_int_elements([1, 2])), "bool": str(attribute(True)),
        "int": str(attribute(3)), "text": str(attribute("a")),
        "list": str(attribute([1, "b"])), "dict": str(attribute({"k": np.float32(1)})),
        "array": str(attribute(np.ones(2, f32))), "float": str(attribute(1.5)),
        "shape": str(mlir.shape_tensor(ctx, (1, 2)).type)})
    with pytest.raises(TypeError, match="no MLIR attribute"):
      attribute(object())
    nested = mlir.flatten_ir_values([x, (x, [x])])
    assert len(nested) == 3
    again = mlir.unflatten_ir_values_like_types(nested, [x.type, (x.type, x.type)])
    assert len(again[1]) == 2
    assert ctx.replace(avals_in=()).avals_in == ()
    assert ctx.module_context.platforms == ("cpu",)
    assert "main" in ctx.module_context.symbol_table
    one = mlir.ir_constant(np.ones(3, f32))
    assert mlir.ir_constants(f32(1))[0].type != one.type
    return ir.Operation.create("stablehlo.add", [x.type], [x, one]).results

  mlir.register_lowering(p, lowering)
  np.testing.assert_array_equal(np.asarray(gnomon.jit(p.bind)(X)), X + 1)
  assert seen == {
      "type": "tensor<3xf32>", "types": "tensor<3xf32>", "element": "i8",
      "token": "!stablehlo.token", "i32": "3 : i32", "i64": "3 : i64",
      "ints": "array<i64: 1, 2>", "elements": "dense<[1, 2]> : tensor<2xi64>",
      "bool": "true", "int": "3 : i64", "text": '"a"', "list": '[1, "b"]',
      "dict": "{k = 1.000000e+00 : f32}", "array": "dense<1.000000e+00> : tensor<2xf32>",
      "float": "1.500000e+00 : f64", "shape": "tensor<2xi32>"}


def test_dead_code_of_a_library() -> None:
  p = Primitive("pair")
  p.multiple_results = True
  p.def_abstract_eval(lambda x: [x, x])
  asked = []

  def rule(used: Any, eqn: Any) -> Any:
    asked.append(used)
    return [True], eqn

  partial_eval.dce_rules[p] = rule
  assert partial_eval.dce_rules[p] is rule
  jaxpr = gnomon.make_jaxpr(lambda x: p.bind(x)[0])(1.0)
  pruned, used = partial_eval.dce_jaxpr(jaxpr.jaxpr, [True])
  assert (asked, used, len(pruned.eqns)) == ([[True, False]], [True], 1)


def test_types_of_values_of_a_library() -> None:
  """As TensorFlow Probability does for its own kind of array."""
  class Wrapped:
    def __init__(self, x: Any) -> None:
      self.shape, self.dtype, self._x = x.shape, x.dtype, x

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
      return np.asarray(self._x, *args, **kwargs)

  for table in (core.pytype_aval_mappings, xla.canonicalize_dtype_handlers):
    table[Wrapped] = table[np.ndarray]
  x = Wrapped(np.ones(3))
  np.testing.assert_allclose(jnp.negative(x), -np.ones(3))
  np.testing.assert_allclose(gnomon.jit(lambda: jnp.negative(x))(), -np.ones(3))
