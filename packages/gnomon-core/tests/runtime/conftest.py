"""A client with four devices, and short ways to run programs on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from gnomon.core.types import ShapedArray
from gnomon.runtime.jaxlib import arrays, clients, mlir, programs


class Runtime:
  """A client, its devices, and what every test does with them."""

  def __init__(self) -> None:
    self.client = clients.make_cpu_client(4, asynchronous=False)
    self.devices = clients.devices(self.client)
    self.context = mlir.new_context()

  def put(self, value: Any, device: int = 0, **kwargs: Any) -> Any:
    """A NumPy value on one of the devices."""
    value = np.asarray(value)
    where = self.devices[device]
    weak_type = kwargs.pop("weak_type", False)
    return arrays.put(
        ShapedArray(value.shape, value.dtype, weak_type), arrays.single_sharding(where),
        [value], [where], **kwargs)

  def tiled(self, *tiles: int, repeat: bool = False) -> Any:
    """A sharding over all devices; with `repeat` the last number says how often."""
    proto = arrays.OpSharding()
    proto.type = arrays.OpSharding.Type.OTHER
    proto.tile_assignment_dimensions = list(tiles)
    proto.tile_assignment_devices = list(range(4))
    proto.replicate_on_last_tile_dim = repeat
    return self.over_all(arrays.HloSharding.from_proto(proto))

  def over_all(self, sharding: Any) -> Any:
    """A sharding over all devices, from the compiler's description."""
    return arrays.GSPMDSharding(clients.DeviceList(tuple(self.devices)), sharding)

  def split(self, value: Any, sharding: Any) -> Any:
    """A NumPy value cut up over all devices."""
    value = np.asarray(value)
    parts = [
        np.ascontiguousarray(value[index])
        for index in arrays.shard_indices(sharding, value.shape)]
    return arrays.put(
        ShapedArray(value.shape, value.dtype), sharding, parts, self.devices)

  def compile(self, text: str, flags: Mapping[str, object] | None = None, device: int = 0,
              callbacks: Sequence[Callable[..., Any]] = ()) -> Any:
    """An executable for one device."""
    where = self.devices[device]
    return programs.compile(
        self.client, mlir.parse(text, self.context), clients.DeviceList((where,)),
        programs.compile_options([where], flags or {}), callbacks)

  def run(self, executable: Any, out: ShapedArray, *args: Any) -> Any:
    """The only result of an executable."""
    sharding = arrays.single_sharding(executable.local_devices()[0])
    handler = arrays.make_handler(out, sharding, False)
    (result,) = executable.execute_sharded(list(args)).consume_with_handlers([handler])
    return result


@pytest.fixture(scope="session")
def runtime() -> Runtime:
  return Runtime()


DOUBLE = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.add %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
"""


@pytest.fixture
def double() -> str:
  """A program that doubles f32[4]."""
  return DOUBLE
