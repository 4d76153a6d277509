"""Ahead of time: what each stage of a jitted function tells, and what it refuses."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import stages
from gnomon.runtime.jaxlib import arrays
from gnomon.runtime.layout import Format, Layout

f32 = np.float32
X = np.array([0.5, -1.5, 2.0], f32)


@pytest.fixture
def jitted(ops: Any) -> Any:
  def f(x: Any, unread: Any, k: Any) -> Any:
    return ops.sin(x), {"a": ops.mul(x, k)}

  return gnomon.jit(f, donate_argnums=0)


ARGS = (X, np.ones((2, 5), f32), 3.0)


def test_all_stages_tell_the_same(jitted: Any) -> None:
  assert isinstance(jitted, stages.Wrapped)
  traced = jitted.trace(*ARGS)
  lowered = traced.lower()
  compiled = lowered.compile()
  assert isinstance(traced, stages.Traced)
  assert isinstance(lowered, stages.Lowered)
  assert isinstance(compiled, stages.Compiled)
  types = tuple(gnomon.typeof(x) for x in ARGS)
  for stage in (traced, lowered, compiled):
    assert stage.in_tree == gnomon.tree_util.tree_structure((ARGS, {}))
    assert stage.out_tree == gnomon.tree_util.tree_structure((0, {"a": 0}))
    assert stage.in_avals == (types, {})
    assert stage.donate_argnums == (0,)
    infos = stage.args_info[0]
    assert [i.donated for i in infos] == [True, False, False]
    assert [i.shape for i in infos] == [(3,), (2, 5), ()]
    assert repr(infos[1]) == "ArgInfo(_aval=ShapedArray(float32[2,5]), donated=False)"
    out = stage.out_info
    assert (out[0].shape, out[1]["a"].dtype) == ((3,), np.float32)
    assert isinstance(out[0], stages.OutInfo)
  assert traced.fun_name == "f"
  assert traced.lojax is traced
  assert traced.out_avals == (types[0], {"a": types[0]})
  assert len(traced.jaxpr.eqns) == 2


def test_a_traced_function_runs(jitted: Any) -> None:
  traced = jitted.trace(*ARGS)
  for call in (traced, gnomon.jit(traced)):
    out, rest = call(*ARGS)
    np.testing.assert_allclose(out, np.sin(X), rtol=1e-6)
    np.testing.assert_allclose(rest["a"], 3 * X)
  with pytest.raises(TypeError, match="a tuple of 3 was traced, a tuple of 1"):
    traced(X)


def test_formats_and_shardings(jitted: Any) -> None:
  compiled = jitted.lower(*ARGS).compile()
  here = arrays.single_sharding(gnomon.devices()[0])
  (first, unread, _), _ = compiled.input_formats
  assert first == Format(Layout((0,), ()), here)
  assert unread == Format(None, here)  # it is no input of the program
  assert compiled.output_formats[1]["a"] == first
  assert compiled.input_shardings == ((here,) * 3, {})
  assert compiled.output_shardings == (here, {"a": here})
  assert compiled.out_info[0].sharding == here
  kept = gnomon.jit(lambda x, y: x, keep_unused=True).lower(X, ARGS[1]).compile()
  assert kept.input_formats[0][1].layout == Layout((0, 1), ())


def test_large_constants_are_no_arguments(ops: Any) -> None:
  constant = gnomon.device_put(np.arange(500, dtype=f32))
  compiled = gnomon.jit(lambda x, unread: ops.mul(x, constant)).lower(
      np.ones(500, f32), X).compile()
  assert len(compiled.args_info[0]) == len(compiled.in_avals[0]) == 2
  assert len(compiled.input_formats[0]) == len(compiled.input_shardings[0]) == 2
  np.testing.assert_array_equal(compiled(np.ones(500, f32), X), np.arange(500))


def test_calls(jitted: Any) -> None:
  compiled = jitted.lower(*ARGS).compile()
  for call in (compiled, compiled.call):
    out, rest = call(*ARGS)
    np.testing.assert_allclose(out, np.sin(X), rtol=1e-6)
    np.testing.assert_allclose(rest["a"], 3 * X)
  for args, message in [
      ((X[:2], *ARGS[1:]), r"x: compiled for float32\[3\], called with float32\[2\]"),
      ((X.astype(np.int32), *ARGS[1:]), r"called with int32\[3\]"),
      ((X,), "a tuple of 3 was traced, a tuple of 1 was given")]:
    with pytest.raises(TypeError, match=message):
      compiled(*args)
  with pytest.raises(TypeError, match="cannot be transformed: its argument x"):
    gnomon.jvp(lambda x: compiled(x, *ARGS[1:]), (X,), (X,))


def test_texts(jitted: Any) -> None:
  lowered = jitted.lower(*ARGS)
  for dialect in ("stablehlo", None):
    assert "stablehlo.sine" in lowered.as_text(dialect)
    assert "loc(" not in lowered.as_text(dialect)
    assert "test_stages.py" in lowered.as_text(dialect, debug_info=True)
  assert "sine(" in lowered.as_text("hlo")
  assert "metadata" not in lowered.as_text("hlo")
  assert "metadata={op_name=" in lowered.as_text("hlo", debug_info=True)
  assert lowered.compiler_ir().operation.verify()
  assert "sine" in lowered.compiler_ir("hlo").as_hlo_text()
  for method in (lowered.as_text, lowered.compiler_ir):
    with pytest.raises(ValueError, match="unknown dialect 'tosa'"):
      method("tosa")
  compiled = lowered.compile()
  assert "HloModule" in compiled.as_text()
  assert lowered.cost_analysis()["transcendentals"] == 3
  assert "flops" in compiled.cost_analysis()
  assert compiled.memory_analysis().argument_size_in_bytes > 0
  assert compiled.runtime_executable().local_devices() == gnomon.devices()


def test_other_platforms(jitted: Any) -> None:
  for platforms in (("tpu",), ("cpu", "tpu")):
    lowered = jitted.trace(*ARGS).lower(lowering_platforms=platforms)
    assert "stablehlo.sine" in lowered.as_text()
    with pytest.raises(ValueError, match=f"lowered for {', '.join(platforms)}, and"):
      lowered.compile()
  with pytest.raises(TypeError, match="names of platforms"):
    jitted.trace(*ARGS).lower(lowering_platforms=(3,))


def test_compiler_options(jitted: Any) -> None:
  lowered = jitted.lower(*ARGS)
  lowered.compile({"xla_cpu_enable_fast_math": True})
  lowered.compile(device_assignment=gnomon.devices()[:1])
  with pytest.raises(gnomon.errors.JaxRuntimeError, match="No such compile option"):
    lowered.compile({"xla_of_a_test": True})
  with pytest.raises(ValueError, match="got 2"):
    lowered.compile(device_assignment=gnomon.devices()[:1] * 2)


def test_arguments_without_values(jitted: Any) -> None:
  like = gnomon.ShapeDtypeStruct
  by_struct = jitted.lower(like((3,), f32), like((2, 5), f32), like((), f32))
  by_type = jitted.lower(gnomon.typeof(X), gnomon.typeof(ARGS[1]), like((), f32))
  assert by_struct.as_text() == by_type.as_text()


def test_shardings_of_one_device(ops: Any) -> None:
  here = arrays.single_sharding(gnomon.devices()[0])
  for shardings in ({"in_shardings": here}, {"out_shardings": here},
                    {"in_shardings": (here, None), "out_shardings": {"a": here}}):
    out = gnomon.jit(lambda x, y: {"a": ops.mul(x, y)}, **shardings)(X, X)["a"]
    assert out.sharding == here
    assert out.committed
    np.testing.assert_allclose(out, X * X)
  with pytest.raises(TypeError, match=r"in_shardings leaf specifications.*'x'"):
    gnomon.jit(ops.sin, in_shardings="x")


def test_arguments_say_the_device() -> None:
  """In a process of its own, which has two devices."""
  code = """
import numpy as np, gnomon
from gnomon.runtime.jaxlib import arrays
gnomon.config.update("jax_num_cpu_devices", 2)
first, second = gnomon.devices()
there = arrays.single_sharding(second)
x = np.ones(3, np.float32)
like = gnomon.ShapeDtypeStruct((3,), np.float32, sharding=there)
for argument in (like, gnomon.device_put(x, second)):
  compiled = gnomon.jit(lambda x, y: x).lower(argument, x).compile()
  assert compiled.input_shardings[0][0] == there
  assert compiled(x, x).devices() == {second}
assert gnomon.jit(lambda x: x).lower(x).compile()(x).devices() == {first}
try:
  gnomon.jit(lambda x, y: x).lower(like, gnomon.device_put(x, first))
except ValueError as e:
  assert "different devices" in str(e)
else:
  raise AssertionError
"""
  subprocess.run([sys.executable, "-c", code], check=True)
