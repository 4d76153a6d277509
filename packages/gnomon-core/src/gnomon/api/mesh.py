"""Making meshes, and asking for the one in force."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.mesh import (
  AbstractMesh,
  AxisType,
  Mesh,
  current_abstract_mesh,
  current_mesh,
)
from gnomon.core.partition_spec import PartitionSpec
from gnomon.core.trace import EVAL, get_current
from gnomon.core.types import ShapedArray
from gnomon.runtime import backends, shardings
from gnomon.runtime.jaxlib import arrays as runtime_arrays

P = PartitionSpec


def make_mesh(
    axis_shapes: Sequence[int], axis_names: Sequence[str],
    axis_types: tuple[AxisType, ...] | None = None, *,
    devices: Sequence[Any] | None = None,
) -> Mesh:
  """A mesh of the first devices, in an order that suits how they are connected.

  Args:
    axis_shapes: the number of devices along each axis.
    axis_names: the name of each axis.
    axis_types: an `AxisType` for each axis; all `Explicit` by default.
    devices: the devices to take, in order; all by default.

  >>> import gnomon
  >>> print(gnomon.make_mesh((1,), ("x",)))
  Mesh('x': 1, axis_types=(Explicit,))

  Raises:
    ValueError: there are too few devices, or numbers of sizes, names and types differ.
  """
  found = list(backends.devices() if devices is None else devices)
  shape = tuple(axis_shapes)
  wanted = math.prod(shape)
  if wanted > len(found):
    raise ValueError(
        f"Number of devices {len(found)} must be >= the product of mesh_shape {shape}: "
        f"{wanted} are needed. On the CPU, set the option jax_num_cpu_devices before "
        "devices are first used")
  if axis_types is None:
    axis_types = (AxisType.Explicit,) * len(tuple(axis_names))
  grid = np.empty(wanted, object)
  grid[:] = found[:wanted]
  return Mesh(grid.reshape(shape), axis_names, axis_types)


def make_array_from_callback(
    shape: Sequence[int], sharding: Any, data_callback: Callable[[Any], Any],
    dtype: Any = None) -> Any:
  """An array whose parts a function makes, one for each device of this process.

  Args:
    shape: of the whole array.
    sharding: where its parts are.
    data_callback: takes the place of a part, a slice a dimension; returns its values.
    dtype: that of the array; by default that of the parts.

  >>> import gnomon, numpy
  >>> x = numpy.arange(4.0)
  >>> place = gnomon.device_put(x).sharding
  >>> gnomon.make_array_from_callback((4,), place, lambda index: x[index])
  Array([0., 1., 2., 3.], dtype=float32)

  Raises:
    IndivisibleError: a dimension cannot be divided evenly.
    ValueError: a part has another shape than its place.
  """
  shape = tuple(shape)
  part = sharding.shard_shape(shape)
  here = sharding.addressable_devices_indices_map(shape)
  parts = [np.asarray(data_callback(index), dtype) for index in here.values()]
  for x in parts:
    if x.shape != part:
      raise ValueError(
          f"make_array_from_callback: data_callback gave a part of the shape {x.shape}, "
          f"but each part of {shape} under {sharding} has the shape {part}")
  kind = dtypes.canonicalize_dtype(parts[0].dtype)
  return runtime_arrays.put(
      ShapedArray(shape, kind), sharding, [x.astype(kind) for x in parts], list(here),
      committed=True)


def make_array_from_single_device_arrays(
    shape: Sequence[int], sharding: Any, arrays: Sequence[Any], *, dtype: Any = None,
) -> Any:
  """An array made of arrays on the devices of this process, without a copy.

  Args:
    shape: of the whole array.
    sharding: where its parts are.
    arrays: the parts, in the order of the sharding's devices.
    dtype: of the parts, needed where this process has none.

  >>> import gnomon
  >>> x = gnomon.numpy.ones(3)
  >>> gnomon.make_array_from_single_device_arrays((3,), x.sharding, [x])
  Array([1., 1., 1.], dtype=float32)

  Raises:
    ValueError: their number or shapes are not those of the sharding's parts.
  """
  shape = tuple(shape)
  part = sharding.shard_shape(shape)
  here = len(sharding.addressable_devices)
  if len(arrays) != here or any(x.shape != part for x in arrays):
    raise ValueError(
        f"make_array_from_single_device_arrays: {sharding} divides {shape} into parts of "
        f"the shape {part} on {here} devices of this process, but arrays of the shapes "
        f"{[x.shape for x in arrays]} were given")
  kind = arrays[0].dtype if arrays else np.dtype(dtype)
  aval = ShapedArray(shape, kind)
  if sharding.num_devices == 1:
    return runtime_arrays.make_handler(aval, sharding, True)(arrays[0])
  return runtime_arrays.from_shards(aval, sharding, arrays)


def make_array_from_process_local_data(
    sharding: Any, local_data: Any, global_shape: Sequence[int] | None = None) -> Any:
  """An array made of the data that this process holds.

  Args:
    sharding: where its parts are.
    local_data: the data of this process's devices.
    global_shape: of the whole array; by default, with one process, that of the data.

  >>> import gnomon, numpy
  >>> place = gnomon.device_put(1.0).sharding
  >>> gnomon.make_array_from_process_local_data(place, numpy.ones(2)).shape
  (2,)

  Raises:
    ValueError: the data is not the whole array, and there is one process.
  """
  data = np.asarray(local_data)
  if global_shape is not None and tuple(global_shape) != data.shape:
    raise ValueError(
        f"make_array_from_process_local_data: with one process, local_data is the whole "
        f"array, but it has the shape {data.shape} and global_shape is {global_shape}")
  return make_array_from_callback(data.shape, sharding, lambda index: data[index])


def get_mesh() -> Mesh:
  """The mesh in force, set by `set_mesh`; the empty mesh if none is.

  >>> import gnomon
  >>> gnomon.sharding.get_mesh()
  Mesh()

  Raises:
    ValueError: a function is being traced, where only the mesh's shape is known.
  """
  if get_current() is not EVAL:
    raise ValueError(
        "get_mesh was called while a function is traced, where only the shape of the "
        "mesh is known: use gnomon.sharding.get_abstract_mesh()")
  return current_mesh()


def get_abstract_mesh() -> AbstractMesh:
  """The shape of the mesh in force; the empty one if none is.

  >>> import gnomon
  >>> gnomon.sharding.get_abstract_mesh()
  AbstractMesh((), axis_types=())
  """
  return current_abstract_mesh()


def make_single_device_sharding(device: Any, *, memory_kind: str | None = None) -> Any:
  """The sharding that puts whole arrays on one device.

  Args:
    device: a device.
    memory_kind: the kind of its memory; None for the device's default.
  """
  return shardings.SingleDeviceSharding(device, memory_kind=memory_kind)
