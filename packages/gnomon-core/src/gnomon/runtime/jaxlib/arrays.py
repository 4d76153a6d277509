"""Arrays of the runtime: making, copying, reading and re-labelling them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from jaxlib import xla_client

from gnomon.runtime.jaxlib import _load
from gnomon.runtime.jaxlib import cells as cells  # device_put reads the x64 cell
from gnomon.runtime.jaxlib.capabilities import capabilities
from gnomon.runtime.jaxlib.errors import JaxRuntimeError
from gnomon.runtime.jaxlib.native import _jax

Array: Any = _jax.ArrayImpl
"""The concrete array; not to be subclassed, attributes go onto it by `install`."""

ArrayBase: Any = _jax.Array
"""The class of all arrays and traced arrays, for `isinstance`."""

Sharding: Any = _jax.Sharding
SingleDeviceSharding: Any = _jax.SingleDeviceSharding
NamedSharding: Any = _jax.NamedSharding
GSPMDSharding: Any = _jax.GSPMDSharding
HloSharding: Any = xla_client.HloSharding
OpSharding: Any = xla_client.OpSharding
HostBufferSemantics: Any = xla_client.HostBufferSemantics
ArrayCopySemantics: Any = xla_client.ArrayCopySemantics
Layout: Any = xla_client.PjRtLayout

set_aval_factory = _load.set_aval_factory
put_in_runtime: Any = _jax.batched_device_put


class Aval:
  """The least abstract value that the runtime accepts; a stand-in for the core's own."""

  __slots__ = ("dtype", "shape", "weak_type")

  def __init__(self, shape: Sequence[int], dtype: Any, weak_type: bool = False) -> None:
    self.shape = tuple(shape)
    self.dtype = np.dtype(dtype)
    self.weak_type = weak_type

  @property
  def ndim(self) -> int:
    """The number of dimensions."""
    return len(self.shape)

  @property
  def size(self) -> int:
    """The number of elements."""
    return math.prod(self.shape)

  def str_short(self) -> str:
    """`float32[2,3]`."""
    return f"{self.dtype.name}[{','.join(map(str, self.shape))}]"


set_aval_factory(Aval)


def set_tracer_class(cls: type) -> None:
  """Makes `isinstance(x, ArrayBase)` ask `x._is_traced_array()` of this class."""
  _jax.set_tracer_class(cls)


def install(name: str, value: object) -> None:
  """Sets an attribute, method or property on the class of arrays.

  It is set on the base class too, which is the public class `Array`: there documentation
  tools and `typing.get_type_hints` find it.
  """
  setattr(Array, name, value)
  if name.startswith("__") or not name.startswith("_"):
    setattr(ArrayBase, name, value)


def _install_sharding_attributes() -> None:
  replicate = HloSharding.replicate()
  SingleDeviceSharding._to_xla_hlo_sharding = lambda self, num_dimensions: replicate
  GSPMDSharding._to_xla_hlo_sharding = lambda self, num_dimensions: self._hlo_sharding
  for cls in (SingleDeviceSharding, NamedSharding, GSPMDSharding):
    cls.memory_kind = property(lambda self: self._memory_kind)
    cls.device_set = property(lambda self: set(self._internal_device_list))
  SingleDeviceSharding.__eq__ = lambda self, other: (
      self is other or (
          type(other) is SingleDeviceSharding and self._device == other._device
          and self._memory_kind == other._memory_kind))
  SingleDeviceSharding.__hash__ = lambda self: hash((self._device, self._memory_kind))
  SingleDeviceSharding.__repr__ = lambda self: (
      f"SingleDeviceSharding(device={self._device!r}, memory_kind={self._memory_kind})")


_install_sharding_attributes()


def set_spec_check(check: Any) -> None:
  """Supplies `check(mesh, spec)`, which each new sharding over a mesh goes through."""
  _load.spec_check = check


@cache
def single_sharding(device: Any, memory_kind: str | None = None) -> Any:
  """The sharding that places an array on one device; one object for each place."""
  return SingleDeviceSharding(device, memory_kind)


def put(
    aval: Any, sharding: Any, shards: Sequence[Any], devices: Sequence[Any],
    committed: bool = True, copy: bool = True,
) -> Any:
  """An array made of host values or of arrays on single devices.

  Args:
    aval: has `shape`, `dtype` and `weak_type` of the whole array; trusted.
    sharding: where the array lives.
    shards: one value for each device of this process, in the order of `devices`.
    devices: the devices of this process that hold a shard.
    committed: whether operations must stay where the array is.
    copy: if true the array owns its memory. If false, an aligned NumPy array is used in
      place, and whoever writes to it later changes the array.
  """
  if len(shards) != len(devices):
    raise ValueError(
        f"put needs one shard for each device, got {len(shards)} shards for"
        f" {len(devices)} devices")
  if copy and len(devices) > 1:
    shards = _distinct(shards, sharding)
  return put_in_runtime(
      aval, sharding, shards, devices, committed, copy,
      HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL if copy
      else HostBufferSemantics.ZERO_COPY,
      True)


def _distinct(shards: Sequence[Any], sharding: Any) -> list[Any]:
  """The shards with memory of their own, where C++ fails if two share it."""
  if sharding._to_xla_hlo_sharding(np.ndim(shards[0])).is_replicated():
    return list(shards)
  seen: set[int] = set()
  distinct = []
  for shard in shards:
    if type(shard) is np.ndarray:
      shard = shard.copy() if shard.ctypes.data in seen else shard
      seen.add(shard.ctypes.data)
    distinct.append(shard)
  return distinct


if capabilities["handler_skip_checks"]:
  def make_handler(aval: Any, sharding: Any, committed: bool) -> Any:
    """What turns an output of an executable into an array with this description."""
    return _jax.array_result_handler(aval, sharding, committed, _skip_checks=True)
else:
  def make_handler(aval: Any, sharding: Any, committed: bool) -> Any:
    """What turns an output of an executable into an array with this description."""
    return _jax.array_result_handler(aval, sharding, committed)


def rewrap(array: Any, aval: Any) -> Any:
  """The same buffers as an array of another type, of the same shape and element size."""
  sharding, committed = array._sharding, array._committed
  if len(sharding._internal_device_list) == 1:
    return make_handler(aval, sharding, committed)(array)
  return from_shards(aval, sharding, array._arrays, committed)


def from_shards(
    aval: Any, sharding: Any, shards: Sequence[Any], committed: bool = True,
) -> Any:
  """An array over several devices made of arrays on each, in the order of devices."""
  return Array(aval, sharding, list(shards), committed, _skip_checks=True)


def shards_of(array: Any) -> list[Any]:
  """The parts of an array on this process's devices, as arrays on single devices."""
  parts: list[Any] = array._arrays
  return parts


def host_view(array: Any) -> np.ndarray[Any, Any]:
  """The values of an array on one device, read-only, without a copy where possible.

  It waits for the values, and raises the error of the computation if that failed.
  """
  view: np.ndarray[Any, Any]
  view, _ = array._single_device_array_to_np_array_did_copy()
  return view


def copy_to(array: Any, device: Any, sharding: Any, *, copy: bool = False) -> Any:
  """An array on one device, on another; `copy` asks for new memory even on the same."""
  (moved,) = _jax.batched_copy_array_to_devices_with_sharding(
      [array], [sharding._internal_device_list], [sharding],
      [ArrayCopySemantics.ALWAYS_COPY if copy else ArrayCopySemantics.REUSE_INPUT])
  return moved


def copy_all(
    arrays: Sequence[Any], shardings: Sequence[Any], *, copy: bool = False,
) -> list[Any]:
  """Each array with another sharding over as many devices, shard by shard."""
  semantics = (
      ArrayCopySemantics.ALWAYS_COPY if copy else ArrayCopySemantics.REUSE_INPUT)
  moved: list[Any] = _jax.batched_copy_array_to_devices_with_sharding(
      list(arrays), [s._internal_device_list for s in shardings], list(shardings),
      [semantics] * len(arrays))
  return moved


def block(arrays: Sequence[Any]) -> None:
  """Waits until all the arrays have their values; raises the first failure."""
  _jax.batched_block_until_ready(list(arrays))


def to_dlpack(array: Any, stream: int | None = None) -> Any:
  """A DLPack capsule of an array on one device, sharing its memory."""
  return _jax.buffer_to_dlpack_managed_tensor(array, stream=stream)


def from_dlpack(
    capsule: Any, device: Any, stream: int | None = None, copy: bool | None = None,
) -> Any:
  """An array of an unversioned DLPack capsule.

  `copy=None` copies only memory that does not start at a multiple of 64 bytes; with
  `copy=False` that is a `BufferError`.
  """
  try:
    array = _jax.dlpack_managed_tensor_to_buffer(
        capsule, device, stream, False if copy is False else None)
  except JaxRuntimeError as error:
    if copy is False and "aligned" in str(error):
      raise BufferError(
          "the memory of the DLPack tensor does not start at a multiple of 64 bytes, so"
          " it cannot be used without a copy; ask with copy=None") from None
    raise
  if not copy:
    return array
  own = copy_to(array, device, array._sharding, copy=True)
  block([own])  # the memory may change as soon as the caller has the copy
  return own


def shard_indices(sharding: Any, shape: Sequence[int]) -> list[tuple[slice, ...]]:
  """The part of an array of this shape that each device holds, in the order of devices.

  A dimension that is not divided is `slice(None)`.
  """
  rank = len(shape)
  hlo = sharding._to_xla_hlo_sharding(rank)
  count = len(sharding._internal_device_list)
  if count == 1 or hlo.is_replicated():
    return [(slice(None),) * rank] * count
  tiles = hlo.tile_assignment_dimensions()
  # Dimensions of tiles after the array's own only say how often a part is repeated.
  positions = np.empty((count, rank), np.int64)
  tiled = hlo.tile_assignment_devices()
  for where, device in zip(np.ndindex(*tiles), tiled, strict=True):
    positions[device] = where[:rank]
  sizes = [-(-n // k) for n, k in zip(shape, tiles, strict=False)]
  return [
      tuple(
          slice(None) if k == 1 else slice(min(i * m, n), min((i + 1) * m, n))
          for i, m, n, k in zip(row.tolist(), sizes, shape, tiles, strict=False))
      for row in positions]
