"""Making meshes, and asking for the one in force."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core.mesh import (
  AbstractMesh,
  AxisType,
  Mesh,
  current_abstract_mesh,
  current_mesh,
)
from gnomon.core.partition_spec import PartitionSpec
from gnomon.core.trace import EVAL, get_current
from gnomon.runtime import backends, shardings

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
