"""Programs, traces, types as libraries see them: `extend`, `core`, `interpreters`."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import core
from gnomon.extend import backend, linear_util, mlir, sharding, source_info_util
from gnomon.extend import core as extend
from gnomon.interpreters import ad, batching, partial_eval, pxla, xla
from gnomon.interpreters import mlir as lowering
from gnomon.interpreters.partial_eval import PartialVal
from gnomon.transform.call import jit_p

f32 = np.float32
X = np.array([0.5, -1.5, 2.0], f32)
vector, scalar = gnomon.typeof(X), gnomon.typeof(f32(1))


# ---- programs


def test_walking_a_program(ops: Any) -> None:
  closed = gnomon.make_jaxpr(lambda x: ops.mul(gnomon.jit(ops.sin)(x), X))(X)
  assert isinstance(closed, extend.ClosedJaxpr)
  assert isinstance(closed.jaxpr, extend.Jaxpr)
  assert (closed.invars, closed.outvars, closed.constvars) == (
      closed.jaxpr.invars, closed.jaxpr.outvars, closed.jaxpr.constvars)
  assert closed.in_aval_qdds == closed.jaxpr.final_aval_qdds == [vector]
  assert not closed.is_high
  call, product = closed.eqns
  assert isinstance(call, extend.JaxprEqn)
  assert isinstance(call.primitive, extend.Primitive)
  assert call.primitive is extend.primitives.jit_p is jit_p
  assert isinstance(product.invars[0], extend.Var)
  (inner,) = extend.jaxprs_in_params(call.params)
  assert list(extend.subjaxprs(closed.jaxpr)) == [inner]
  assert "test_extend.py" in source_info_util.summarize(product.source_info)
  with call.ctx.manager:
    pass
  doubled = closed.map_jaxpr(lambda j: j.replace(outvars=j.outvars * 2))
  assert len(doubled.out_avals) == 2


def test_running_a_program_by_hand(ops: Any) -> None:
  """The interpreter that JAX's documentation shows."""
  closed = gnomon.make_jaxpr(lambda x: ops.add(ops.sin(x), 2.0))(1.0)
  env: dict[Any, Any] = dict(zip(closed.invars, [f32(1)], strict=True))
  for eqn in closed.eqns:
    values = [
        v.val if isinstance(v, extend.Literal) else env[v] for v in eqn.invars]
    functions, params = eqn.primitive.get_bind_params(eqn.params)
    out = eqn.primitive.bind(*functions, *values, **params)
    if not eqn.primitive.multiple_results:
      out = [out]
    env.update(zip(eqn.outvars, out, strict=True))
  np.testing.assert_allclose(env[closed.outvars[0]], np.sin(1) + 2, rtol=1e-6)
  run = extend.jaxpr_as_fun(closed)
  np.testing.assert_allclose(run(1.0)[0], np.sin(1) + 2, rtol=1e-6)
  (got,) = core.eval_jaxpr(closed.jaxpr, closed.consts, 1.0)
  np.testing.assert_array_equal(got, run(1.0)[0])


def test_making_a_program(ops: Any) -> None:
  new = extend.gensym()
  x, y = new(scalar), new(scalar)
  eqn = extend.new_jaxpr_eqn(
      [x, extend.Literal(f32(3), scalar)], [y], ops.mul_p, {}, extend.no_effects)
  jaxpr = extend.Jaxpr([], [x], [y], [eqn])
  extend.check_jaxpr(jaxpr)
  assert float(extend.jaxpr_as_fun(extend.ClosedJaxpr(jaxpr, []))(f32(2))[0]) == 6
  with pytest.raises(extend.JaxprTypeError):
    extend.check_jaxpr(extend.Jaxpr([], [], [y], [eqn]))
  assert eqn.replace(params={"a": 1}).params == {"a": 1}
  info = eqn.source_info.replace(name_stack=source_info_util.new_name_stack("a"))
  assert str(eqn.replace(source_info=info).source_info.name_stack) == "a"
  assert x.pretty_print({x: "x"}) == "x:f32[]"
  assert eqn.invars[1].pretty_print({}) == "3.0:f32[]"
  assert (eqn.invars[1].hash, extend.Literal([], scalar).hash) == (hash(f32(3)), None)
  assert extend.DropVar(scalar).pretty_print({}) == "_"
  with pytest.raises(NotImplementedError, match="is_high"):
    extend.Jaxpr([], [x], [x], [], is_high=True)


# ---- types


def test_types_of_elements_and_stacks() -> None:
  t = gnomon.typeof(np.ones((2, 3), f32))
  assert extend.mapped_aval(3, 1, t).shape == t.dec_rank(3, 1).shape == (2,)
  assert extend.unmapped_aval(5, 1, t).shape == t.inc_rank(5, 1).shape == (2, 5, 3)
  assert extend.unmapped_aval(5, -1, t).shape == (2, 3, 5)
  assert extend.mapped_aval(7, None, t) is extend.unmapped_aval(7, None, t) is t
  for wrong in (lambda: extend.mapped_aval(7, 0, t), lambda: t.dec_rank(7, 0)):
    with pytest.raises(ValueError, match="size 2, not 7"):
      wrong()
  assert (t.lo_ty(), t.lower_val(1), t.raise_val(1), t.is_high) == ([t], [1], 1, False)
  assert t.to_ct_aval() is t.normalize() is t.at_least_vspace() is t
  assert t.update_weak_type(True).weak_type
  assert str(t.update_weak_type(True)) == "~float32[2,3]"
  assert (core.max_dim(2, 3), core.min_dim(2, 3), core.is_constant_shape((2, 3))) == (
      3, 2, True)
  assert core.get_aval(1.0) is gnomon.typeof(1.0)
  assert extend.valid_jaxtype(X)
  assert not extend.valid_jaxtype("a")
  assert {np.ndarray, np.float32, np.int64} <= extend.array_types
  kinds = [
      extend.primal_dtype_to_tangent_dtype(np.dtype(d)) for d in ("int32", "float32")]
  assert kinds == [gnomon.float0, np.dtype("float32")]


def test_types_of_a_library() -> None:
  class Own(core.AbstractValue):
    pass

  own = Own()
  assert (own.lo_ty(), own.str_short(), own.strip_weak_type()) == ([own], "Own", own)
  for method in (own.to_tangent_aval, lambda: own.inc_rank(1, 0),
                 lambda: own.dec_rank(1, 0)):
    with pytest.raises(TypeError):
      method()
  for method in (lambda: own.vspace_add(1, 1), lambda: own.update(a=1)):
    with pytest.raises(NotImplementedError, match="Own must define"):
      method()


# ---- traces


class Counted(core.Tracer):
  """A tracer of a library, as haiku has one."""

  def __init__(self, trace: Any, value: Any) -> None:
    super().__init__(trace)
    self.value = value

  @property
  def aval(self) -> Any:  # type: ignore[override]
    return gnomon.typeof(self.value)


class Counting(core.Trace):
  """A trace of a library: counts operations on its tracers, and passes them on."""

  def __init__(self, parent: Any) -> None:
    super().__init__()
    self.parent, self.names = parent, []

  def process_primitive(self, primitive: Any, tracers: Any, params: Any, /) -> Any:
    values = [t.value if isinstance(t, Counted) else t for t in tracers]
    self.names.append(primitive.name)
    with extend.set_current_trace(self.parent):
      out = self.parent.process_primitive(primitive, values, params)
    if primitive.multiple_results:
      return [Counted(self, o) for o in out]
    return Counted(self, out)


def test_traces_of_a_library(ops: Any) -> None:
  @gnomon.custom_jvp
  def f(x: Any) -> Any:
    return ops.sin(x)

  f.defjvp(lambda xs, ts: (f(*xs), ts[0]))

  def count(x: Any) -> Any:
    with extend.take_current_trace() as parent:
      trace = Counting(parent)
      with extend.set_current_trace(trace):
        out = ops.mul(f(Counted(trace, x)), gnomon.jit(ops.neg)(Counted(trace, x)))
    assert trace.is_valid()
    trace.invalidate()
    assert not trace.is_valid()
    assert trace.names == ["test_sin", "jit", "test_mul"]
    return out.value

  for g in (count, gnomon.jit(count), gnomon.vmap(count)):
    np.testing.assert_allclose(g(X), -np.sin(X) * X, rtol=1e-6)


def test_what_traces_are_in_force(ops: Any) -> None:
  outside = extend.get_opaque_trace_state()
  assert outside == extend.get_opaque_trace_state()
  assert hash(outside) == hash(extend.get_opaque_trace_state())
  assert core.trace_state_clean()
  seen: list[Any] = []

  def look(x: Any) -> Any:
    seen.append((
        extend.unsafe_am_i_under_a_jit_DO_NOT_USE(),
        extend.unsafe_am_i_under_a_vmap_DO_NOT_USE(),
        extend.unsafe_get_axis_names_DO_NOT_USE(), core.trace_state_clean()))
    assert extend.nonempty_axis_env_DO_NOT_USE() == bool(seen[-1][2])
    assert (extend.get_opaque_trace_state() == outside) == seen[-1][3]
    assert seen[-1][3] or extend.find_top_trace([x]) is x._trace
    return x

  look(1.0)
  gnomon.jit(look)(1.0)
  gnomon.vmap(look)(X)
  gnomon.vmap(look, axis_name="i")(X)
  gnomon.jit(gnomon.vmap(look))(X)
  assert seen == [
      (False, False, [], True), (True, False, [], False), (False, True, [], False),
      (False, True, ["i"], False), (True, True, [], False)]
  assert extend.TraceTag() == extend.TraceTag()


def test_evaluation_while_tracing(ops: Any) -> None:
  def f(x: Any) -> Any:
    with core.eval_context():
      assert float(ops.neg(f32(2))) == -2
    assert x.full_lower() is x
    assert x.to_concrete_value() is None
    assert x._trace.full_raise(x) is x
    assert not x._trace.requires_low
    return x

  gnomon.jit(f)(1.0)

  def g(x: Any) -> Any:
    assert float(x.to_concrete_value()) == float(x.get_referent()) == 1
    return x

  gnomon.grad(g)(1.0)


def test_tracers_say_what_they_are(ops: Any) -> None:
  seen: list[str] = []

  def look(x: Any) -> Any:
    seen.append(repr(x))
    with pytest.raises(gnomon.errors.ConcretizationTypeError, match="__reduce__ method"):
      pickle.dumps(x)
    return ops.sum(x)

  gnomon.jit(look)(X)
  gnomon.vmap(look)(X)
  gnomon.grad(look)(X)
  gnomon.jvp(look, (1.0,), (2.0,))
  gnomon.jit(gnomon.grad(look))(1.0)
  assert seen == [
      "JitTracer(float32[3])", "VmapTracer(aval=float32[], batched=float32[3])",
      "GradTracer(primal=[ 0.5 -1.5  2. ], typeof(tangent)=f32[3])",
      "JVPTracer(primal=1.0, tangent=2.0)",
      "GradTracer(primal=JitTracer(~float32[]), typeof(tangent)=f32[])"]


def test_values_that_must_be_known() -> None:
  assert extend.concrete_or_error(int, 3.0) == extend.concrete_or_error(None, 3) == 3
  with pytest.raises(gnomon.errors.ConcretizationTypeError, match="the number of steps"):
    gnomon.jit(lambda n: extend.concrete_or_error(int, n, "the number of steps"))(3)
  gnomon.grad(lambda x: [x, extend.concrete_or_error(float, x)][0])(1.0)


# ---- operations that call functions


@pytest.mark.parametrize("name", ["call_p", "closed_call_p"])
def test_calls(ops: Any, name: str) -> None:
  p = getattr(extend.primitives, name)

  def f(x: Any) -> Any:
    y = ops.neg(X)  # a constant
    return p.bind(linear_util.wrap_init(lambda a: [ops.mul(ops.sin(a), y)]), x)[0]

  jaxpr = gnomon.make_jaxpr(f)(X)
  (eqn,) = [e for e in jaxpr.eqns if e.primitive is p]
  assert isinstance(eqn.params["call_jaxpr"], extend.ClosedJaxpr)
  expected = -np.sin(X) * X
  for g in (f, gnomon.jit(f), gnomon.vmap(lambda x: p.bind(
      linear_util.wrap_init(lambda a: [ops.mul(ops.sin(a), ops.neg(a))]), x)[0])):
    np.testing.assert_allclose(g(X), expected, rtol=1e-6)
  slope = gnomon.grad(lambda x: ops.sum(f(x)))
  for g in (slope, gnomon.jit(slope)):
    np.testing.assert_allclose(g(X), -np.cos(X) * X, rtol=1e-6)
  (fun,), rest = p.get_bind_params(eqn.params)
  assert rest == {}
  np.testing.assert_allclose(
      p.bind(fun, ops.neg(X), X, **rest)[0], expected, rtol=1e-6)
  mapped = gnomon.vmap(extend.jaxpr_as_fun(gnomon.make_jaxpr(f)(X[:1].repeat(3))))
  np.testing.assert_allclose(
      mapped(np.stack([X, 2 * X]))[0], -np.sin(np.stack([X, 2 * X])) * X, rtol=1e-6)
  assert extend.call_impl(linear_util.wrap_init(abs), -1) == 1


# ---- partial evaluation


@pytest.mark.parametrize(("instantiate", "known"), [(False, [2]), (True, [])])
def test_known_and_unknown(ops: Any, instantiate: bool, known: list[int]) -> None:
  f = linear_util.wrap_init(
      lambda x, y: [ops.sin(x), ops.mul(x, ops.neg(y)), ops.add(y, y)])
  jaxpr, outs, consts = partial_eval.trace_to_jaxpr_nounits(
      f, [PartialVal.unknown(scalar), PartialVal.known(f32(3))], instantiate)
  assert [i for i, o in enumerate(outs) if o.is_known()] == known
  assert [o.get_aval().shape for o in outs] == [()] * 3
  assert [e.primitive.name for e in jaxpr.eqns] == ["test_sin", "test_mul"]
  found = core.eval_jaxpr(jaxpr, consts, f32(2))
  expected = [np.sin(2), -6, 6]
  np.testing.assert_allclose(
      found, [e for i, e in enumerate(expected) if i not in known], rtol=1e-6)
  for i in known:
    assert float(outs[i].get_known()) == expected[i]
  with pytest.raises(ValueError, match="give one of the two"):
    PartialVal((scalar, f32(1)))
  with pytest.raises(TypeError, match="expected a type"):
    PartialVal((1, None))


def test_programs_of_functions(ops: Any) -> None:
  f = linear_util.wrap_init(lambda x, y: [ops.mul(x, X), ops.neg(y)])
  jaxpr, avals, consts = partial_eval.trace_to_jaxpr_dynamic(f, [vector, scalar])
  assert (avals, len(consts), len(jaxpr.eqns)) == ([vector, scalar], 1, 2)
  pruned, used_consts, used = partial_eval.dce_jaxpr_consts(jaxpr, [False, True])
  assert (used_consts, used, len(pruned.eqns)) == ([False], [False, True], 1)
  wasteful = linear_util.wrap_init(lambda x: [x, ops.neg(x)][:1])
  for dce, n in ((False, 1), (True, 0)):
    found = partial_eval.trace_to_jaxpr_dynamic(wasteful, [scalar], auto_dce=dce)[0]
    assert len(found.eqns) == n
  kept = partial_eval.trace_to_jaxpr_dynamic(
      linear_util.wrap_init(lambda y: [y]), [vector, scalar], keep_inputs=[False, True])
  assert kept[0].in_avals == [scalar]


def test_forward_and_linear(ops: Any) -> None:
  _, touts = ad.jvp(lambda x, y: [ops.mul(x, y), y], (X, X), (X, ad.Zero(vector)))
  np.testing.assert_allclose(touts, [X * X, 0 * X])
  assert type(ad.jvp(lambda x: [f32(1)], (X,), (X,), instantiate=False)[1][0]) is ad.Zero
  wrapped = linear_util.wrap_init(lambda x: ({"a": ops.sin(x)}, x))
  out, tangent, aux = ad.jvp(wrapped, (X,), (X,), has_aux=True)
  np.testing.assert_allclose(tangent["a"], np.cos(X) * X, rtol=1e-6)
  np.testing.assert_allclose(aux, X)
  out, linear, aux = ad.linearize(wrapped, (X,), has_aux=True)
  np.testing.assert_allclose(linear(2 * X)["a"], 2 * np.cos(X) * X, rtol=1e-6)
  np.testing.assert_allclose(out["a"], np.sin(X), rtol=1e-6)
  zeros = ad.instantiate_zeros(ad.Zero(vector))
  np.testing.assert_array_equal(ad.add_jaxvals(zeros, X), X)
  assert ad.add_tangents(ad.Zero(vector), X) is X
  np.testing.assert_array_equal(ad.zeros_like_aval(vector), 0 * X)


# ---- names of operations


def test_names_in_force() -> None:
  info = source_info_util
  with info.extend_name_stack("a"), info.transform_name_stack("jvp"):
    assert str(info.current_name_stack()) == str(info.current().name_stack) == "a/jvp()"
    with info.reset_name_stack():
      assert len(info.current_name_stack()) == 0
    with info.set_name_stack(info.new_name_stack("z")):
      assert info.current_name_stack() == info.new_name_stack("z")
  assert str(info.new_name_stack("a").extend("b").transform("vmap")) == "a/b/vmap()"
  assert info.summarize(info.new_source_info()) == ""
  assert info.summarize(info.current()).startswith(__file__)


def test_operations_from_another_place(ops: Any) -> None:
  (eqn,) = gnomon.make_jaxpr(ops.sin)(1.0).eqns

  def again(x: Any) -> Any:
    with source_info_util.user_context(
        eqn.source_info.traceback, name_stack=source_info_util.new_name_stack("copy")):
      return ops.cos(x)

  (moved,) = gnomon.make_jaxpr(again)(1.0).eqns
  assert moved.source_info.traceback is eqn.source_info.traceback
  assert str(moved.source_info.name_stack) == "copy"
  assert str(source_info_util.current_name_stack()) == ""


# ---- the compiler and the runtime


def test_mlir(ops: Any) -> None:
  text = gnomon.jit(ops.sin).lower(X).as_text()
  with lowering.make_ir_context():
    module = mlir.ir.Module.parse(text)
    assert lowering.module_to_string(module) == text
    assert lowering.module_to_bytecode(module)[:4] == b"ML\xefR"
    target = mlir.ir.Module.parse(text)
    assert lowering.merge_mlir_modules(target, "other", module) == "other"
    assert lowering.merge_mlir_modules(target, "other", module) == "other_"
    assert str(target).count("func.func") == 3
    assert target.operation.verify()
    artifact = mlir.serialize_portable_artifact(text, "1.0.0")
    assert "sine" in str(mlir.deserialize_portable_artifact(artifact))
  from gnomon.extend import lowering as contexts

  with contexts.JaxIrContext():
    mlir.ir.Module.parse(text)


def test_lowering_by_hand(ops: Any) -> None:
  jaxpr = gnomon.make_jaxpr(ops.sin)(X)
  result = lowering.lower_jaxpr_to_module(
      "jit_f", jaxpr, num_const_args=0, in_avals=jaxpr.in_avals, ordered_effects=[],
      platforms=("cpu",), backend=None, axis_context=None, donated_args=(),
      lowering_parameters=lowering.LoweringParameters())
  assert "stablehlo.sine" in lowering.module_to_string(result.module)
  assert result.host_callbacks == []
  with pytest.raises(NotImplementedError, match="num_partitions cannot be given"):
    lowering.lower_jaxpr_to_module(
        "f", jaxpr, num_const_args=0, in_avals=[], ordered_effects=[],
        platforms=("cpu",), backend=None, axis_context=None, donated_args=(),
        num_partitions=2, lowering_parameters=None)
  p = extend.Primitive("by_hand")
  p.def_abstract_eval(lambda x: x)

  def rule(ctx: Any, x: Any) -> Any:
    function = lowering.lower_jaxpr_to_fun(
        ctx.module_context, "helper", jaxpr, [], num_const_args=0,
        in_avals=jaxpr.in_avals)
    name = mlir.ir.FlatSymbolRefAttr.get(function.attributes["sym_name"].value)
    call = mlir.ir.Operation.create("func.call", [x.type], [x], {"callee": name})
    outs, tokens = lowering.jaxpr_subcomp(
        ctx.module_context, jaxpr.jaxpr, None, lowering.TokenSet(), [], call.results[0],
        dim_var_values=(), const_lowering={}, outer_traceback=None)
    assert len(tokens) == 0
    return lowering.core_call_lowering(ctx, outs[0], name="called", call_jaxpr=jaxpr)

  lowering.register_lowering(p, rule)
  np.testing.assert_allclose(
      gnomon.jit(p.bind)(X), np.sin(np.sin(np.sin(X))), rtol=1e-6)


def test_shardings_as_messages() -> None:
  replicated = sharding.get_hlo_sharding_from_serialized_proto(b"")
  assert replicated.is_replicated()
  message = sharding.get_serialized_proto_from_hlo_sharding(replicated)
  assert sharding.get_op_sharding_from_serialized_proto(message) is not None


def test_backends() -> None:
  assert backend.get_backend() is backend.get_backend("cpu") is backend.backends()["cpu"]
  assert isinstance(backend.get_backend(), xla.Backend)
  assert backend.get_default_device() is gnomon.devices()[0]
  with pytest.raises(RuntimeError, match="Unknown backend foo"):
    backend.get_backend("foo")
  options = backend.get_compile_options(
      1, 1, env_options_overrides={"xla_cpu_enable_fast_math": "false"})
  assert options.num_replicas == 1
  with pytest.raises(ValueError, match="need 2 devices, got 1"):
    backend.get_compile_options(1, 2)
  made = pxla.create_compile_options(
      None, False, [False], [False], None, np.array(gnomon.devices()), None)
  assert made.num_partitions == 1
  with pytest.raises(TypeError, match="no method cache_clear"):
    backend.register_backend_cache({}, "tests")


def test_platforms_of_a_library() -> None:
  """In a process of its own: clients are for the whole process."""
  code = """
import numpy as np, gnomon
from gnomon.extend import backend
from gnomon.runtime.jaxlib import clients
backend.register_backend_factory("broken", lambda: 1 / 0)
backend.register_backend_factory("other", lambda: clients.make_cpu_client(2), priority=9)
assert gnomon.device_count() == 2
class Cache:
  cleared = False
  def cache_clear(self):
    self.cleared = True
cache = Cache()
backend.register_backend_cache(cache, "tests")
first = backend.get_backend()
assert np.asarray(gnomon.device_put(np.ones(3))).sum() == 3
backend.clear_backends()
assert cache.cleared
assert backend.get_backend() is not first
assert np.asarray(gnomon.jit(lambda x: x)(np.ones(3))).sum() == 3
try:
  gnomon.devices("broken")
except RuntimeError as e:
  assert "division by zero" in str(e), e
else:
  raise AssertionError
"""
  subprocess.run([sys.executable, "-c", code], check=True)


# ---- types that are mapped in a way of their own


class Named:
  """An array whose axes have names, as a library of named tensors has them."""

  def __init__(self, names: tuple[str, ...], array: Any) -> None:
    self.names, self.array = names, array


class Over:
  """Says over which named axis a value is mapped."""

  def __init__(self, name: str) -> None:
    self.name = name


@pytest.fixture
def named() -> Any:
  def to_elt(cont: Any, get_idx: Any, x: Any, spec: Any) -> Any:
    rest = tuple(n for n in x.names if n != spec.name)
    return Named(rest, cont(x.array, x.names.index(spec.name)))

  def from_elt(cont: Any, size: int, elt: Any, spec: Any) -> Any:
    return Named((spec.name, *elt.names), cont(size, elt.array, 0))

  batching.register_vmappable(Named, Over, int, to_elt, from_elt, None)
  yield
  batching.unregister_vmappable(Named)


def test_values_mapped_in_a_way_of_their_own(ops: Any, named: Any) -> None:
  x = Named(("a", "b"), np.arange(6, dtype=f32).reshape(2, 3))
  out = gnomon.vmap(
      lambda v, y: Named(v.names, ops.mul(v.array, y)), in_axes=(Over("b"), 0),
      out_axes=Over("b"))(x, X)
  assert out.names == ("b", "a")
  np.testing.assert_allclose(out.array, (x.array * X).T)
  plain = gnomon.vmap(lambda v: ops.neg(v.array), in_axes=(Over("b"),), out_axes=1)(x)
  np.testing.assert_allclose(plain, -x.array)
  both = gnomon.vmap(
      lambda v, w: ops.add(v.array, w.array), in_axes=(Over("a"), None))(
          x, Named(("b",), X))
  np.testing.assert_allclose(both, x.array + X)
  with pytest.raises(ValueError, match="already"):
    batching.register_vmappable(Named, Over, int, None, None, None)
