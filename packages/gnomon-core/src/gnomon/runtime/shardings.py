"""Shardings of the devices of this process: what stands for one, and pickling.

What shardings answer is in `core.shardings`.
"""

from __future__ import annotations

import copyreg
from typing import Any

import numpy as np

from gnomon.core.mesh import EMPTY, Mesh, current_abstract_mesh, current_mesh
from gnomon.core.partition_spec import PartitionSpec
from gnomon.core.shardings import GSPMDSharding as GSPMDSharding
from gnomon.core.shardings import IndivisibleError as IndivisibleError
from gnomon.core.shardings import NamedSharding as NamedSharding
from gnomon.core.shardings import Sharding as Sharding
from gnomon.core.shardings import SingleDeviceSharding as SingleDeviceSharding
from gnomon.core.shardings import check_spec as check_spec
from gnomon.core.shardings import factors as factors
from gnomon.core.shardings import is_equivalent_to as is_equivalent_to
from gnomon.core.shardings import shard_shape as shard_shape
from gnomon.runtime import backends
from gnomon.runtime.jaxlib import arrays


def is_place(x: Any) -> bool:
  """Whether something is a sharding, or a spec of one."""
  return isinstance(x, (Sharding, PartitionSpec))


def resolve(placement: Any, *, what: str = "") -> Any:
  """The sharding that a device, a sharding or a spec (over the mesh in force) stands for.

  Raises:
    ValueError: a PartitionSpec is given and no mesh is in force; a RuntimeError for the
      functions that name themselves by `what`.
  """
  if isinstance(placement, PartitionSpec):
    mesh, seen = current_mesh(), current_abstract_mesh()
    if mesh.shape_tuple == seen.shape_tuple and mesh.axis_types != seen.axis_types:
      mesh = mesh.update(axis_types=seen.axis_types)  # inside of auto_axes
    if mesh is EMPTY:
      error, who = (RuntimeError, f"{what} requires a non-empty mesh in context: ") if (
          what) else (ValueError, "")
      raise error(
          f"{who}the PartitionSpec {placement} says nothing without a mesh: put one "
          "in force with gnomon.set_mesh(mesh), or give a NamedSharding(mesh, spec)")
    return NamedSharding(mesh, placement)
  if isinstance(placement, Sharding):
    return placement
  return backends.sharding_of(placement)


def _remake_named(mesh: Any, spec: Any, kind: str | None) -> Any:
  return NamedSharding(mesh, spec, memory_kind=kind)


def _remake_single(device_id: int, kind: str | None) -> Any:
  device = next(d for d in backends.devices() if d.id == device_id)
  return SingleDeviceSharding(device, memory_kind=kind)


def _remake_gspmd(ids: list[int], proto: bytes, kind: str | None) -> Any:
  by_id = {d.id: d for d in backends.devices()}
  op = arrays.OpSharding()
  op.ParseFromString(proto)
  return GSPMDSharding([by_id[i] for i in ids], op, memory_kind=kind)


def _remake_mesh(ids: Any, names: tuple[Any, ...], types: tuple[Any, ...]) -> Mesh:
  by_id = {d.id: d for d in backends.devices()}
  grid = np.empty(ids.shape, object)
  for where in np.ndindex(*ids.shape):
    grid[where] = by_id[int(ids[where])]
  return Mesh._create(grid, grid.shape if names else (), names, types)


copyreg.pickle(
    NamedSharding, lambda s: (_remake_named, (s.mesh, s.spec, s._memory_kind)))
copyreg.pickle(
    GSPMDSharding, lambda s: (_remake_gspmd, (
        [d.id for d in s._internal_device_list],
        s._hlo_sharding.to_proto().SerializeToString(), s._memory_kind)))
copyreg.pickle(
    SingleDeviceSharding, lambda s: (_remake_single, (s._device.id, s._memory_kind)))
copyreg.pickle(
    Mesh, lambda m: (_remake_mesh, (m.device_ids, m.axis_names, m.axis_types)))
