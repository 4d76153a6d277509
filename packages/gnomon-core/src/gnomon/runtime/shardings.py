"""Shardings: where the parts of an array live.

The classes are the runtime's own, which look at objects of exactly those classes without
calling Python; what users ask of them is set on them here.
"""

from __future__ import annotations

import copyreg
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core.mesh import EMPTY, AbstractMesh, Mesh, current_mesh
from gnomon.core.partition_spec import (
  DuplicateSpecError,
  PartitionSpec,
  axes_of,
)
from gnomon.runtime import backends
from gnomon.runtime.jaxlib import arrays

Sharding = arrays.Sharding
NamedSharding = arrays.NamedSharding
SingleDeviceSharding = arrays.SingleDeviceSharding
GSPMDSharding = arrays.GSPMDSharding


class IndivisibleError(ValueError):
  """A dimension that cannot be divided evenly as a sharding asks."""


# ---- what every sharding answers -----------------------------------------------------


def _is_abstract(self: Any) -> bool:
  return isinstance(self, NamedSharding) and isinstance(self.mesh, AbstractMesh)


def _devices(self: Any) -> list[Any]:
  if _is_abstract(self):
    raise ValueError(
        f"{self} is over an AbstractMesh, which has no devices: make a NamedSharding "
        "over a Mesh")
  return list(self._internal_device_list)


def device_set(self: Any) -> set[Any]:
  """The devices that hold a part."""
  return set(_devices(self))


def num_devices(self: Any) -> int:
  """The number of devices that hold a part."""
  return len(_devices(self))


def addressable_devices(self: Any) -> set[Any]:
  """The devices of this process that hold a part."""
  here = backends.process_index()
  return {d for d in _devices(self) if d.process_index == here}


def has_addressable_devices(self: Any) -> bool:
  """Whether a device of this process holds a part."""
  return bool(addressable_devices(self))


def is_fully_addressable(self: Any) -> bool:
  """Whether all devices are of this process."""
  return not _is_abstract(self) and bool(self._internal_device_list.is_fully_addressable)


def is_fully_replicated(self: Any) -> bool:
  """Whether each device holds the whole array."""
  if isinstance(self, NamedSharding):
    return math.prod(_factors(self, len(self.spec))) == 1
  return len(self._internal_device_list) == 1 or bool(
      self._to_xla_hlo_sharding(0).is_replicated())


def devices_indices_map(self: Any, global_shape: Sequence[int]) -> dict[Any, Any]:
  """By device, the part that it holds of an array of this shape: a slice a dimension."""
  self.shard_shape(global_shape)  # can it be divided
  indices = arrays.shard_indices(self, tuple(global_shape))
  return dict(zip(_devices(self), indices, strict=True))


def addressable_devices_indices_map(
    self: Any, global_shape: Sequence[int]) -> dict[Any, Any]:
  """As `devices_indices_map`, for the devices of this process."""
  own = addressable_devices(self)
  return {d: i for d, i in self.devices_indices_map(global_shape).items() if d in own}


def shard_shape(self: Any, global_shape: Sequence[int]) -> tuple[int, ...]:
  """The shape of the part that each device holds of an array of this shape.

  Raises:
    IndivisibleError: a dimension cannot be divided evenly.
  """
  shape = tuple(global_shape)
  factors = _factors(self, len(shape))
  for d, (n, k) in enumerate(zip(shape, factors)):
    if n % k:
      raise IndivisibleError(
          f"{self} divides dimension {d} into {k} parts, but its size is {n}, which is "
          f"no multiple of {k} (the whole shape is {shape}, the factors are "
          f"{list(factors)})")
  return tuple([n // k for n, k in zip(shape, factors)])


def _factors(self: Any, ndim: int) -> tuple[int, ...]:
  """Into how many parts each dimension is divided."""
  if isinstance(self, NamedSharding):
    sizes = dict(self.mesh.shape_tuple)
    found = [math.prod(sizes[a] for a in axes_of(e)) for e in self.spec]
    return (*found, *[1] * (ndim - len(found)))
  hlo = self._to_xla_hlo_sharding(ndim)
  if isinstance(self, SingleDeviceSharding) or hlo.is_replicated():
    return (1,) * ndim
  return tuple(hlo.tile_assignment_dimensions())[:ndim]


def check_compatible_aval(self: Any, aval_shape: Sequence[int]) -> None:
  """Raises ValueError if the sharding names more dimensions than the shape has."""
  if isinstance(self, NamedSharding) and len(self.spec) > len(aval_shape):
    raise ValueError(
        f"{self} is for arrays of rank {len(self.spec)} or more, but the array has the "
        f"shape {tuple(aval_shape)}; for a scalar the PartitionSpec is P()")


def is_equivalent_to(self: Any, other: Any, ndim: int) -> bool:
  """Whether both place arrays of `ndim` dimensions alike, on the same devices."""
  if self is other:
    return True
  if _is_abstract(self) or _is_abstract(other):
    return bool(self == other)
  return (
      _devices(self) == _devices(other) and self.memory_kind == other.memory_kind
      and bool(self._to_xla_hlo_sharding(ndim) == other._to_xla_hlo_sharding(ndim)))


# ---- over a mesh ---------------------------------------------------------------------


def check_spec(mesh: Any, spec: Any) -> None:
  """Whether a spec fits a mesh.

  Raises:
    TypeError: `mesh` is no mesh, or `spec` no PartitionSpec.
    ValueError: the spec names an axis that the mesh lacks.
    DuplicateSpecError: it uses an axis for two dimensions.
  """
  if not isinstance(mesh, (Mesh, AbstractMesh)):
    raise TypeError(
        f"the mesh of a NamedSharding is a Mesh or an AbstractMesh, got {mesh!r}")
  if not isinstance(spec, PartitionSpec):
    raise TypeError(
        f"the spec of a NamedSharding is a PartitionSpec, got {spec!r} of type "
        f"{type(spec).__name__}: write PartitionSpec{spec!r}"
        if isinstance(spec, tuple) else
        f"the spec of a NamedSharding is a PartitionSpec, got {spec!r} of type "
        f"{type(spec).__name__}")
  seen: set[Any] = set()
  for axis in (a for e in spec for a in axes_of(e)):
    if axis not in mesh.axis_names:
      raise ValueError(
          f"Resource axis: {axis} of {spec} is not found in mesh: {mesh.axis_names}.")
    if axis in seen:
      raise DuplicateSpecError(
          f"{spec} uses the axis {axis!r} more than once; an axis of the mesh divides "
          "one dimension at most")
    seen.add(axis)
  for axis in spec.unreduced | spec.reduced:
    if axis not in mesh.axis_names:
      raise ValueError(
          f"Resource axis: {axis} of {spec} is not found in mesh: {mesh.axis_names}.")


def _hlo_of_named(self: Any, ndim: int) -> Any:
  """The compiler's form: tiles of the array in the order of the mesh's devices."""
  mesh, spec = self.mesh, self.spec
  sizes = mesh.axis_sizes
  position = {name: i for i, name in enumerate(mesh.axis_names)}
  order: list[int] = []
  tiles = []
  for entry in (*spec, *[None] * (ndim - len(spec))):
    axes = [position[a] for a in axes_of(entry)]
    order += axes
    tiles.append(math.prod(sizes[i] for i in axes))
  rest = [i for i in range(len(sizes)) if i not in order]
  repeats = math.prod(sizes[i] for i in rest)
  if math.prod(tiles) == 1:
    return arrays.HloSharding.replicate()
  kinds = []
  if repeats > 1:
    tiles.append(repeats)
    kinds = [arrays.OpSharding.Type.REPLICATED]
  return arrays.HloSharding.iota_tile(
      tiles, reshape_dims=list(sizes), transpose_perm=[*order, *rest],
      subgroup_types=kinds)


def _named_text(self: Any) -> str:
  memory = "" if self.memory_kind is None else f", memory_kind={self.memory_kind}"
  return f"NamedSharding(mesh={self.mesh}, spec={self.spec}{memory})"


def replicated_axes(self: Any) -> frozenset[Any]:
  """The axes of the mesh over which the array is repeated."""
  used = {a for e in self.spec for a in axes_of(e)} | self.spec.unreduced
  rest: frozenset[Any] = frozenset(self.mesh.axis_names) - used
  return rest


def _named_devices(self: Any) -> int:
  return int(self.mesh.size)


def with_memory_kind(self: Any, kind: str) -> Any:
  """The same sharding in another kind of memory of the devices."""
  if isinstance(self, NamedSharding):
    return NamedSharding(self.mesh, self.spec, memory_kind=kind)
  return SingleDeviceSharding(self._device, memory_kind=kind)


def _update(self: Any, **changes: Any) -> Any:
  """The sharding with another `mesh`, `spec` or `memory_kind`."""
  given = {"mesh": self.mesh, "spec": self.spec, "memory_kind": self.memory_kind}
  unknown = changes.keys() - given.keys()
  if unknown:
    raise TypeError(f"a NamedSharding has no {', '.join(sorted(unknown))}")
  given.update(changes)
  return NamedSharding(
      given["mesh"], given["spec"], memory_kind=given["memory_kind"])


def resolve(placement: Any, mesh: Mesh | None = None) -> Any:
  """The sharding that a device, a sharding or a spec (over the mesh in force) stands for.

  Raises:
    ValueError: a PartitionSpec is given and no mesh is in force.
  """
  if isinstance(placement, PartitionSpec):
    mesh = current_mesh() if mesh is None else mesh
    if mesh is EMPTY:
      raise ValueError(
          f"the PartitionSpec {placement} says nothing without a mesh: put one in force "
          "with gnomon.set_mesh(mesh), or give a NamedSharding(mesh, spec)")
    return NamedSharding(mesh, placement)
  if isinstance(placement, Sharding):
    return placement
  return backends.sharding_of(placement)


def _remake_named(mesh: Any, spec: Any, kind: str | None) -> Any:
  return NamedSharding(mesh, spec, memory_kind=kind)


def _remake_single(device_id: int, kind: str | None) -> Any:
  device = next(d for d in backends.devices() if d.id == device_id)
  return SingleDeviceSharding(device, memory_kind=kind)


def _remake_mesh(ids: Any, names: tuple[Any, ...], types: tuple[Any, ...]) -> Mesh:
  by_id = {d.id: d for d in backends.devices()}
  grid = np.empty(ids.shape, object)
  for where in np.ndindex(*ids.shape):
    grid[where] = by_id[int(ids[where])]
  return Mesh._create(grid, grid.shape if names else (), names, types)


def install() -> None:
  """Puts all that onto the runtime's classes."""
  arrays.set_spec_check(check_spec)
  common = {
      "addressable_devices": property(addressable_devices),
      "addressable_devices_indices_map": addressable_devices_indices_map,
      "check_compatible_aval": check_compatible_aval,
      "device_set": property(device_set),
      "devices_indices_map": devices_indices_map,
      "has_addressable_devices": property(has_addressable_devices),
      "is_equivalent_to": is_equivalent_to,
      "is_fully_addressable": property(is_fully_addressable),
      "is_fully_replicated": property(is_fully_replicated),
      "num_devices": property(num_devices),
      "shard_shape": shard_shape,
      "with_memory_kind": with_memory_kind,
  }
  for cls in (Sharding, NamedSharding, SingleDeviceSharding, GSPMDSharding):
    for name, value in common.items():
      setattr(cls, name, value)
  named = {
      "__repr__": _named_text, "__str__": _named_text,
      "num_devices": property(_named_devices),
      "replicated_axes": property(replicated_axes), "update": _update,
      "_to_xla_hlo_sharding": _hlo_of_named,
  }
  for name, value in named.items():
    setattr(NamedSharding, name, value)
  copyreg.pickle(
      NamedSharding, lambda s: (_remake_named, (s.mesh, s.spec, s._memory_kind)))
  copyreg.pickle(
      SingleDeviceSharding, lambda s: (_remake_single, (s._device.id, s._memory_kind)))
  copyreg.pickle(
      Mesh, lambda m: (_remake_mesh, (m.device_ids, m.axis_names, m.axis_types)))


install()
