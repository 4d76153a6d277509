"""Compiling programs, storing and loading them, and looking at the result."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from jaxlib import _hlo, xla_client

from gnomon.runtime.jaxlib import _load
from gnomon.runtime.jaxlib.capabilities import capabilities
from gnomon.runtime.jaxlib.clients import refuse_after_fork
from gnomon.runtime.jaxlib.native import _jax

CompileOptions: Any = xla_client.CompileOptions
DeviceAssignment: Any = xla_client.DeviceAssignment
LoadedExecutable: Any = _jax.LoadedExecutable

Callback = Callable[..., tuple[Any, ...]]


def release_options() -> dict[str, object]:
  """XLA flags that this release of jaxlib needs for every program, by name.

  A flag that the user sets through the variable `XLA_FLAGS` is left to the user.
  """
  version = _load.version_numbers(str(capabilities["jaxlib_version"]))
  given = os.environ.get("XLA_FLAGS", "")
  return {
      name: value
      for first_good, flags in _FLAGS_BEFORE if version < first_good
      for name, value in flags.items() if f"--{name}" not in given}


# For releases before the given one.
_FLAGS_BEFORE: tuple[tuple[tuple[int, ...], dict[str, object]], ...] = (
    # The fusions made by YNNPACK give wrong values when a product with a matrix is
    # squared and summed (jax-ml/jax#39103, 0.10.2) and crash in sums of products of rank
    # 7 and 8 (jax-ml/jax#39257, #40412; 0.10.2 and 0.11.0). A product by itself is right
    # (1,900 at random against NumPy), and up to twice as fast as without YNNPACK.
    ((0, 11, 1), {
        "xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"}),
)


def inspection(callback: Callable[[Any], None]) -> bytes:
  """What a custom call `InspectSharding` holds, to tell `callback` of a sharding.

  It is a pointer: the caller keeps the function alive.
  """
  found: bytes = _jax.encode_inspect_sharding_callback(callback)
  return found


def compile_options(
    devices: Sequence[Any], overrides: Mapping[str, object] = {},
    num_partitions: int = 1,
) -> Any:
  """Options for a program on these devices.

  Args:
    devices: one device for each partition of each replica, replicas outermost.
    overrides: XLA flags by name without dashes, such as
      `{"xla_cpu_enable_fast_math": True}`; they win over `release_options()`. An
      unknown name is an error of the runtime when the program is compiled.
    num_partitions: over how many devices one program is partitioned.
  """
  if num_partitions < 1 or len(devices) % num_partitions:
    raise ValueError(
        f"{len(devices)} devices cannot be divided among {num_partitions} partitions;"
        " give a multiple of num_partitions")
  replicas = len(devices) // num_partitions
  options = CompileOptions()
  build = options.executable_build_options
  for target in (options, build):
    target.num_replicas, target.num_partitions = replicas, num_partitions
  ids = np.array([device.id for device in devices], np.int32)
  options.device_assignment = DeviceAssignment.create(
      ids.reshape(replicas, num_partitions))
  if num_partitions > 1:
    build.use_spmd_partitioning = True
    build.use_shardy_partitioner = True
  options.env_option_overrides = list({**release_options(), **overrides}.items())
  return options


def compile(
    client: Any, module: Any, devices: Any, options: Any,
    callbacks: Sequence[Callback] = (),
) -> Any:
  """Compiles a StableHLO module and loads it; raises `JaxRuntimeError` if it cannot.

  `devices` is a `DeviceList`; `callbacks` are the Python functions that the module calls
  by index.
  """
  refuse_after_fork(client)
  return client.compile_and_load(module, devices, options, list(callbacks))


_MAGIC = b"gnomon program 1"


def serialize(executable: Any) -> bytes:
  """An executable as bytes, with machine code for this kind of processor.

  They name the devices, since the runtime can load a program for those only.
  """
  ids = np.array([device.id for device in executable.local_devices()], "<u4")
  return b"".join(
      (_MAGIC, len(ids).to_bytes(4, "little"), ids.tobytes(), executable.serialize()))


def load(
    client: Any, blob: bytes, devices: Any, options: Any = None,
    callbacks: Sequence[Callback] = (),
) -> Any:
  """An executable from `serialize`'s bytes; they must come from a trusted place.

  A program with Python callbacks must be given them again, in the same order.

  Raises:
    ValueError: if the bytes are not from `serialize`, or for other devices.
    JaxRuntimeError: if they are damaged.
  """
  refuse_after_fork(client)
  if not blob.startswith(_MAGIC):
    raise ValueError("load needs the bytes of a program made by serialize, got others")
  head = len(_MAGIC) + 4
  end = head + 4 * int.from_bytes(blob[head - 4:head], "little")
  compiled_for = np.frombuffer(blob[head:end], "<u4").tolist()
  wanted = [device.id for device in devices]
  if compiled_for != wanted:  # the runtime would end the process when it runs
    raise ValueError(
        f"the program was compiled for the devices {compiled_for} and cannot be loaded"
        f" onto {wanted}; compile it for those")
  return client.deserialize_executable(blob[end:], devices, options, list(callbacks))


def cost_analysis(executable: Any) -> dict[str, float]:
  """XLA's estimates for a compiled program: `flops`, `bytes accessed` and more."""
  return dict(executable.cost_analysis())


def memory_analysis(executable: Any) -> Any:
  """The sizes of arguments, outputs, temporaries and code of a compiled program."""
  return executable.get_compiled_memory_stats()


def optimized_text(executable: Any) -> str:
  """The optimised HLO of a compiled program."""
  return "\n\n".join(module.to_string() for module in executable.hlo_modules())


def unoptimized_hlo(module_text: str) -> Any:
  """The HLO that a StableHLO module stands for, before any optimisation."""
  return _jax.mlir.mlir_module_to_xla_computation(module_text, False, False)


def hlo_text(computation: Any, metadata: bool) -> str:
  """The text of an unoptimised program, with or without where it comes from."""
  if not metadata:
    return str(computation.as_hlo_text())
  options = _hlo.HloPrintOptions()
  options.print_metadata = True
  text: str = computation.get_hlo_module().to_string(options)
  return text


def parameter_layouts(executable: Any) -> list[Any]:
  """How the arguments of a compiled program lie in memory."""
  return list(executable.get_parameter_layouts())


def output_layouts(executable: Any) -> list[Any]:
  """How the results of a compiled program lie in memory."""
  return list(executable.get_output_layouts())


def unoptimized_cost_analysis(client: Any, module_text: str) -> dict[str, float]:
  """XLA's estimates for a StableHLO module before optimisation."""
  hlo = unoptimized_hlo(module_text).get_hlo_module()
  return dict(_jax.hlo_module_cost_analysis(client, hlo))
