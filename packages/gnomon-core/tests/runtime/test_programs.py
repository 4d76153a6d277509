"""Compiling, storing, loading and looking at programs; what a fork can do."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from gnomon.core.types import ShapedArray
from gnomon.runtime.jaxlib import arrays, clients, mlir, programs
from gnomon.runtime.jaxlib.capabilities import capabilities
from gnomon.runtime.jaxlib.errors import JaxRuntimeError

OUT = ShapedArray((4,), np.float32)
X = np.float32([1, 2, 3, 4])


def test_compile_and_run(runtime: Any, double: str) -> None:
  y = runtime.run(runtime.compile(double), OUT, runtime.put(X))
  np.testing.assert_array_equal(arrays.host_view(y), 2 * X)


@pytest.mark.parametrize("device", [0, 2])
def test_stored_program_runs_again(runtime: Any, double: str, device: int) -> None:
  blob = programs.serialize(runtime.compile(double, device=device))
  place = runtime.devices[device]
  loaded = programs.load(runtime.client, blob, clients.DeviceList((place,)))
  assert loaded.local_devices() == [place]
  y = runtime.run(loaded, OUT, runtime.put(X, device=device))
  np.testing.assert_array_equal(arrays.host_view(y), 2 * X)


def test_stored_program_is_for_its_own_device(runtime: Any, double: str) -> None:
  blob = programs.serialize(runtime.compile(double, device=1))
  with pytest.raises(ValueError, match=r"for the devices \[1\] .* onto \[2\]"):
    programs.load(runtime.client, blob, clients.DeviceList((runtime.devices[2],)))


def test_other_bytes_are_no_program(runtime: Any) -> None:
  with pytest.raises(ValueError, match="made by serialize"):
    programs.load(runtime.client, b"abc", clients.DeviceList((runtime.devices[0],)))


def test_damaged_program_is_an_error(runtime: Any, double: str) -> None:
  blob = programs.serialize(runtime.compile(double))
  with pytest.raises(JaxRuntimeError):
    programs.load(runtime.client, blob[:-100], clients.DeviceList((runtime.devices[0],)))


def test_override_reaches_the_compiler(runtime: Any, double: str) -> None:
  runtime.compile(double, {"xla_cpu_enable_fast_math": True})
  with pytest.raises(JaxRuntimeError, match="no_such_flag"):
    runtime.compile(double, {"no_such_flag": 1})


def test_override_wins_over_the_release_options(monkeypatch: Any, runtime: Any) -> None:
  monkeypatch.setattr(
      programs, "_FLAGS_BEFORE", (((99,), {"xla_some_flag": "release"}),))
  options = programs.compile_options(runtime.devices[:1], {"xla_some_flag": "mine"})
  assert list(options.env_option_overrides) == [("xla_some_flag", "mine")]
  options = programs.compile_options(runtime.devices[:1])
  assert list(options.env_option_overrides) == [("xla_some_flag", "release")]


def test_release_options_leave_the_users_flags(monkeypatch: Any) -> None:
  monkeypatch.setattr(programs, "_FLAGS_BEFORE", (((99,), {"xla_some_flag": "release"}),))
  assert programs.release_options() == {"xla_some_flag": "release"}
  monkeypatch.setenv("XLA_FLAGS", "--xla_some_flag=mine")
  assert programs.release_options() == {}


def test_release_options_are_for_old_releases() -> None:
  old = str(capabilities["jaxlib_version"]).startswith(("0.10.", "0.11.0"))
  assert ("xla_cpu_experimental_ynn_fusion_type" in programs.release_options()) is old


def test_options_are_deterministic(runtime: Any) -> None:
  one, two = (programs.compile_options(runtime.devices[:1]) for _ in range(2))
  assert one.SerializeAsString() == two.SerializeAsString()


def test_options_for_partitions(runtime: Any) -> None:
  options = programs.compile_options(runtime.devices, num_partitions=4)
  assert (options.num_replicas, options.num_partitions) == (1, 4)
  assert options.executable_build_options.use_shardy_partitioner
  options = programs.compile_options(runtime.devices, num_partitions=2)
  assert (options.num_replicas, options.num_partitions) == (2, 2)


@pytest.mark.parametrize("partitions", [0, 3])
def test_devices_must_fill_the_partitions(runtime: Any, partitions: int) -> None:
  with pytest.raises(ValueError, match="4 devices cannot be divided among"):
    programs.compile_options(runtime.devices, num_partitions=partitions)


def test_partitioned_program(runtime: Any) -> None:
  text = """
  sdy.mesh @mesh = <["x"=4]>
  func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
      -> (tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %y = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    return %y : tensor<f32>
  }
  """
  program = programs.compile(
      runtime.client, mlir.parse(text, runtime.context),
      clients.DeviceList(tuple(runtime.devices)),
      programs.compile_options(runtime.devices, num_partitions=4))
  x = runtime.split(np.arange(8, dtype=np.float32), runtime.tiled(4))
  handler = arrays.make_handler(
      ShapedArray((), np.float32), runtime.over_all(arrays.HloSharding.replicate()), True)
  (y,) = program.execute_sharded([x]).consume_with_handlers([handler])
  assert [float(arrays.host_view(part)) for part in arrays.shards_of(y)] == [28.0] * 4


def test_callback(runtime: Any) -> None:
  text = """
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = stablehlo.custom_call @xla_ffi_python_cpu_callback(%x) {
      api_version = 4 : i32, has_side_effect = true, backend_config = {index = 0 : ui64}
    } : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
  """
  seen = []

  def callback(x: Any) -> tuple[Any]:
    seen.append(x.copy())
    return (x + 1,)

  program = runtime.compile(text, callbacks=[callback])
  y = runtime.run(program, OUT, runtime.put(X))
  np.testing.assert_array_equal(arrays.host_view(y), X + 1)
  np.testing.assert_array_equal(seen, [X])


def test_inspection(runtime: Any, double: str) -> None:
  program = runtime.compile(double)
  assert programs.cost_analysis(program)["flops"] == 4
  assert programs.memory_analysis(program).argument_size_in_bytes == 16
  assert "ENTRY" in programs.optimized_text(program)
  text = str(mlir.parse(double, runtime.context))
  assert programs.unoptimized_hlo(text).as_hlo_text().startswith("HloModule")
  assert programs.unoptimized_cost_analysis(runtime.client, text)["flops"] == 4


def test_invalid_module_is_an_error_not_a_crash(runtime: Any) -> None:
  ir = mlir.ir
  with runtime.context, ir.Location.unknown():
    module = ir.Module.create()
    small, large = (ir.RankedTensorType.get((n,), ir.F32Type.get()) for n in (2, 3))
    function = ir.Operation.create(
        "func.func", attributes={
            "sym_name": ir.StringAttr.get("main"),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get([small], [large]))},
        regions=1, ip=ir.InsertionPoint(module.body))
    block = function.regions[0].blocks.append(small)
    at = ir.InsertionPoint(block)
    bad = ir.Operation.create(
        "stablehlo.negate", [large], [block.arguments[0]], ip=at).result
    ir.Operation.create("func.return", operands=[bad], ip=at)
  with pytest.raises(JaxRuntimeError, match="negate"):
    programs.compile(
        runtime.client, module, clients.DeviceList((runtime.devices[0],)),
        programs.compile_options(runtime.devices[:1]))


FORK = """
import os, signal, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)
import numpy as np
from gnomon.runtime.jaxlib import arrays, clients, mlir, programs
client = clients.make_cpu_client(1, asynchronous=False)
device, = clients.devices(client)
here = clients.DeviceList((device,))
module = mlir.parse('''
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %y = stablehlo.add %x, %x : tensor<2xf32>
      return %y : tensor<2xf32>
    }''', mlir.new_context())
program = programs.compile(client, module, here, programs.compile_options([device]))
blob = programs.serialize(program)
sharding = arrays.single_sharding(device)
aval = arrays.Aval((2,), np.float32)
x = arrays.put(aval, sharding, [np.ones(2, np.float32)], [device])
handler = arrays.make_handler(x.aval, sharding, False)
with warnings.catch_warnings(record=True) as seen:
  warnings.simplefilter("always")
  child = os.fork()
if child == 0:
  signal.alarm(20)
  (y,) = program.execute_sharded([x]).consume_with_handlers([handler])
  print("ran", arrays.host_view(y))
  options = programs.compile_options([device])
  for attempt in (
      lambda: programs.compile(client, module, here, options),
      lambda: programs.load(client, blob, here)):
    try:
      attempt()
    except RuntimeError as error:
      print("was forked" in str(error), "spawn" in str(error))
  sys.stdout.flush()
  os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print([str(w.message)[:18] for w in seen if w.category is RuntimeWarning])
"""


def test_a_fork_runs_programs_but_may_not_compile() -> None:
  done = subprocess.run(
      [sys.executable, "-c", FORK], capture_output=True, text=True, check=False,
      timeout=60)
  assert done.returncode == 0, done.stderr
  assert done.stdout == "ran [2. 2.]\nTrue True\nTrue True\n['this process forks']\n"
