"""`make_jaxpr`, `eval_shape` and the structs that stand for arrays without values."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon.core.jaxpr import ClosedJaxpr, eval_jaxpr, jaxpr_as_fun

Struct = gnomon.ShapeDtypeStruct


# ---- ShapeDtypeStruct


def test_what_has_no_value_can_be_the_result_of_a_traced_function() -> None:
  s = Struct((2,), np.float32)
  assert gnomon.typeof(s) == gnomon.typeof(np.ones(2, np.float32))
  weak = Struct((), np.float32, weak_type=True)
  for x in (s, weak, Struct((3,), np.int8)):
    assert gnomon.eval_shape(lambda x=x: x) == x
    assert gnomon.eval_shape(gnomon.jit(lambda x=x: {"a": x})) == {"a": x}
  batched = gnomon.vmap(lambda x: (x, s))
  assert gnomon.eval_shape(batched, np.ones(3, np.float32)) == (
      Struct((3,), np.float32), Struct((3, 2), np.float32))
  assert str(gnomon.make_jaxpr(lambda x: (x, s))(np.float32(1))) == (
      "{ lambda a:f32[2]; b:f32[]. let  in (b, a) }")


@pytest.mark.parametrize("call", [
    lambda ops, s: gnomon.jit(lambda x: x)(s), lambda ops, s: gnomon.jit(lambda: s)(),
    lambda ops, s: gnomon.jit(lambda: s).lower(), lambda ops, s: ops.neg(s),
    lambda ops, s: gnomon.jit(lambda: ops.neg(s))(),
    lambda ops, s: gnomon.device_put(s)])
def test_what_has_no_value_cannot_be_computed_with(ops: Any, call: Any) -> None:
  with pytest.raises(TypeError, match=r"ShapeDtypeStruct\(.*\) does not have a value"):
    call(ops, Struct((2,), np.float32))


def test_a_struct_has_what_a_type_has() -> None:
  s = Struct((2, 3), "float32")
  assert (s.shape, s.dtype, s.ndim, s.size, len(s)) == ((2, 3), np.float32, 2, 6, 2)
  assert s == Struct([2, 3], np.float32)
  assert hash(s) == hash(Struct((2, 3), np.float32))
  assert s != Struct((2, 3), np.float32, weak_type=True)
  assert s != Struct((2, 3), np.int32)
  assert s != (2, 3)
  assert s.update(shape=(4,)) == Struct((4,), np.float32)
  assert repr(s) == "ShapeDtypeStruct(shape=(2, 3), dtype=float32)"
  assert repr(s.update(weak_type=True)).endswith("weak_type=True)")
  assert pickle.loads(pickle.dumps(s)) == s
  assert Struct((), gnomon.dtypes.bfloat16).dtype.name == "bfloat16"


def test_wrong_structs() -> None:
  with pytest.raises(ValueError, match="dtype must be given"):
    Struct((2,), None)
  with pytest.raises(TypeError, match="0-d"):
    len(Struct((), np.float32))
  with pytest.raises(TypeError):
    Struct((2,), "no dtype")


# ---- eval_shape


def test_shapes_of_pytrees(ops: Any) -> None:
  def f(d: dict[str, Any], *, k: Any) -> Any:
    return {"s": ops.sum(d["x"]), "y": [ops.mul(d["x"], k), None, 2.5]}

  out = gnomon.eval_shape(f, {"x": Struct((3,), np.float32)}, k=np.float32(1))
  assert out["s"] == Struct((), np.float32)
  assert out["y"][:2] == [Struct((3,), np.float32), None]
  assert out["y"][2] == Struct((), np.float32, weak_type=True)


def test_whatever_has_a_shape_and_a_dtype(ops: Any) -> None:
  class Lazy:
    shape = (2, 2)
    dtype = np.dtype("float64")

  for x in (Lazy(), np.ones((2, 2)), gnomon.device_put(np.ones((2, 2))),
            gnomon.typeof(np.ones((2, 2)))):
    assert gnomon.eval_shape(ops.neg, x) == Struct((2, 2), np.float32)
  assert gnomon.eval_shape(ops.neg, 1.0).weak_type


def test_nothing_is_computed(ops: Any) -> None:
  big = Struct((10**6, 10**6), np.float32)
  assert gnomon.eval_shape(gnomon.jit(ops.neg), big) == big
  assert gnomon.eval_shape(gnomon.grad(lambda x: ops.sum(ops.sin(x))), big) == big


def test_errors_of_eval_shape(ops: Any) -> None:
  def f(x: Any, y: Any) -> Any:
    return ops.mul(x, y)

  with pytest.raises(TypeError, match=r"argument y of eval_shape .*'text'"):
    gnomon.eval_shape(f, 1.0, "text")
  with pytest.raises(TypeError, match="incompatible shapes"):
    gnomon.eval_shape(f, Struct((2,), np.float32), Struct((3,), np.float32))
  with pytest.raises(TypeError, match="eval_shape expects a function"):
    gnomon.eval_shape(1, 2)
  with pytest.raises(TypeError, match="traced for eval_shape returned a value"):
    gnomon.eval_shape(lambda x: "text", 1.0)


# ---- make_jaxpr


def test_the_jaxpr_computes_the_function(ops: Any) -> None:
  table = np.arange(3, dtype=np.float32)

  def f(x: Any, d: Any) -> Any:
    return [ops.mul(ops.sin(x), table), ops.add(d["k"], 1.0)]

  closed = gnomon.make_jaxpr(f)(np.ones(3, np.float32), {"k": np.float32(2)})
  assert isinstance(closed, ClosedJaxpr)
  assert len(closed.jaxpr.invars) == 2
  assert len(closed.consts) == 1
  args = (np.full(3, 2, np.float32), np.float32(5))
  for outs in (eval_jaxpr(closed.jaxpr, closed.consts, *args),
               jaxpr_as_fun(closed)(*args), gnomon.jit(jaxpr_as_fun(closed))(*args)):
    np.testing.assert_allclose(np.asarray(outs[0]), np.sin(2) * table, rtol=1e-6)
    assert float(outs[1]) == 6.0


def test_static_arguments(ops: Any) -> None:
  def f(n: int, x: Any, m: int) -> Any:
    for _ in range(n * m):
      x = ops.sin(x)
    return x

  for static in ((0, 2), (0, -1), [-3, 2]):
    assert len(gnomon.make_jaxpr(f, static_argnums=static)(2, 1.0, 3).eqns) == 6
  assert len(gnomon.make_jaxpr(ops.sin, static_argnums=())(1.0).eqns) == 1
  with pytest.raises(TypeError, match="static_argnums must be an int"):
    gnomon.make_jaxpr(f, static_argnums="n")


def test_return_shape(ops: Any) -> None:
  jaxpr, shapes = gnomon.make_jaxpr(
      lambda x: {"y": ops.sin(x)}, return_shape=True)(np.ones(3, np.float32))
  assert shapes == {"y": Struct((3,), np.float32)}
  assert [a.str_short() for a in jaxpr.out_avals] == ["float32[3]"]


def test_structs_as_arguments(ops: Any) -> None:
  jaxpr = gnomon.make_jaxpr(ops.sin)(Struct((2,), np.float32))
  assert jaxpr.in_avals[0].str_short() == "float32[2]"


def test_an_axis_in_force(ops: Any) -> None:
  from gnomon.transform.vmap import axis_env
  seen = []
  gnomon.make_jaxpr(lambda x: seen.append(axis_env.get()) or x, axis_env=[("i", 3)])(1.0)
  assert seen == [(("i", 3),)]
  assert axis_env.get() == ()


def test_results_that_are_arguments_or_constants(ops: Any) -> None:
  closed = gnomon.make_jaxpr(lambda x: (x, x, 3.0))(1.0)
  assert closed.eqns == []
  assert closed.jaxpr.outvars[0] is closed.jaxpr.invars[0]
  outs = eval_jaxpr(closed.jaxpr, closed.consts, 2.0)
  assert outs == [2.0, 2.0, 3.0]


def test_names_and_docs_are_kept(ops: Any) -> None:
  def half(x: Any) -> Any:
    """Doc."""
    return ops.mul(x, 0.5)

  assert gnomon.make_jaxpr(half).__wrapped__ is half
  assert gnomon.make_jaxpr(half).__doc__ == "Doc."


# ---- typeof


def test_typeof(ops: Any) -> None:
  assert gnomon.typeof(1.0).weak_type
  assert gnomon.typeof(np.ones((2, 3))).str_short() == "float32[2,3]"
  assert gnomon.typeof(np.int8(1)).dtype == np.int8
  assert gnomon.typeof(True).dtype == np.bool_
  assert gnomon.typeof(gnomon.device_put(1)).weak_type
  seen = []
  gnomon.jit(lambda x: seen.append(gnomon.typeof(x)) or x)(np.ones(3, np.float32))
  assert seen[0].str_short() == "float32[3]"
  assert gnomon.typeof(1.0) is gnomon.typeof(2.0)
  with pytest.raises(TypeError, match="not a valid array type"):
    gnomon.typeof("text")
  with pytest.raises(OverflowError, match="jax_enable_x64"):
    gnomon.typeof(2**31)


def test_jax_array_protocol(ops: Any) -> None:
  class Wrapped:
    def __jax_array__(self) -> Any:
      return gnomon.device_put(np.float32(3))

  assert float(ops.neg(Wrapped())) == -3.0
  assert float(gnomon.jit(lambda: ops.neg(Wrapped()))()) == -3.0
  assert gnomon.typeof(Wrapped()).dtype == np.float32
