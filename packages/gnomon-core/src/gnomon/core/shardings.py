"""Shardings: where the parts of an array live, over which axes of a mesh.

The classes are the runtime's own, which look at objects of exactly those classes without
calling Python; what users ask of them is set on them here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gnomon.core.mesh import AbstractMesh, AxisType, Mesh
from gnomon.core.partition_spec import (
  UNCONSTRAINED,
  DuplicateSpecError,
  PartitionSpec,
  axes_of,
)
from gnomon.runtime.jaxlib import arrays

Sharding = arrays.Sharding
NamedSharding = arrays.NamedSharding
SingleDeviceSharding = arrays.SingleDeviceSharding
GSPMDSharding = arrays.GSPMDSharding


class ShardingTypeError(TypeError):
  """Operands whose types say that they are divided over explicit axes do not fit."""


class IndivisibleError(ValueError):
  """A dimension that cannot be divided evenly as a sharding asks."""


# ---- what every sharding answers -----------------------------------------------------


def is_abstract(self: Any) -> bool:
  """Whether it is over a mesh without devices."""
  return isinstance(self, NamedSharding) and isinstance(self.mesh, AbstractMesh)


def _devices(self: Any) -> list[Any]:
  if is_abstract(self):
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
  return {
      d for d in _devices(self) if d.process_index == d.client.process_index()}


def has_addressable_devices(self: Any) -> bool:
  """Whether a device of this process holds a part."""
  return bool(addressable_devices(self))


def is_fully_addressable(self: Any) -> bool:
  """Whether all devices are of this process."""
  return not is_abstract(self) and bool(self._internal_device_list.is_fully_addressable)


def is_fully_replicated(self: Any) -> bool:
  """Whether each device holds the whole array."""
  if isinstance(self, NamedSharding):
    return math.prod(factors(self, len(self.spec))) == 1 and not self.spec.unreduced
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
  parts = factors(self, len(shape))
  for d, (n, k) in enumerate(zip(shape, parts)):
    if n % k:
      raise IndivisibleError(
          f"Sharding {self} implies that array axis {d} is partitioned {k} times, but "
          f"the dimension size is {n} (full shape: {shape}, per-dimension tiling "
          f"factors: {list(parts)} should evenly divide the shape)")
  return tuple([n // k for n, k in zip(shape, parts)])


def factors(self: Any, ndim: int) -> tuple[int, ...]:
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
    scalar = "" if aval_shape else " For scalars the PartitionSpec should be P()"
    raise ValueError(
        f"Sharding {self} is only valid for values of rank at least {len(self.spec)}, "
        f"but was applied to a value of rank {len(aval_shape)}.{scalar}")


def is_equivalent_to(self: Any, other: Any, ndim: int) -> bool:
  """Whether both place arrays of `ndim` dimensions alike, on the same devices."""
  if self is other:
    return True
  if is_abstract(self) or is_abstract(other):
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
          "an axis of the mesh divides one dimension at most, but "
          f"{spec} has duplicate entries for `{axis}`")
    seen.add(axis)
  if UNCONSTRAINED in spec.partitions and mesh.axis_names and not mesh.auto_axes:
    raise ValueError(
        f"{spec} cannot contain `P.UNCONSTRAINED` when no mesh axis_types are `Auto`: "
        f"the compiler divides nothing over {mesh}")
  if spec.unreduced or spec.reduced:
    _check_sums(mesh, spec)


def _check_sums(mesh: Any, spec: Any) -> None:
  for what, axes in (("unreduced", spec.unreduced), ("reduced", spec.reduced)):
    strange = [a for a in axes if a not in mesh.axis_names]
    if strange:
      raise ValueError(
          f"{what.capitalize()} axes {', '.join(map(str, strange))} of {spec} are not "
          f"found in mesh.axis_names={mesh.axis_names}")
  types = mesh._name_to_type
  auto = {a for a in spec.unreduced if types[a] is AxisType.Auto}
  if auto:
    raise ValueError(
        "Unreduced axes can only refer to mesh axes of the type `Explicit`, or `Manual`; "
        f"got the unreduced axes {auto} and the mesh {mesh}")


def _hlo_of_named(self: Any, ndim: int) -> Any:
  """The compiler's form: tiles of the array in the order of the mesh's devices."""
  return _hlo_of_spec(self.mesh, self.spec, ndim)


def _hlo_of_spec(mesh: Any, spec: PartitionSpec, ndim: int) -> Any:
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


def axes_of_dimensions(self: Any, ndim: int) -> list[tuple[Any, ...] | None]:
  """The axes of a mesh that divide each dimension; None: left to the compiler."""
  spec = self.spec if isinstance(self, NamedSharding) else as_named(self, ndim).spec
  return [
      None if e is UNCONSTRAINED else axes_of(e)
      for e in (*spec, *[None] * (ndim - len(spec)))]


def attribute(sharding: Any, ndim: int, meshes: dict[Any, str]) -> str:
  """Shardy's form of a sharding; `meshes` are those of the module, by name."""
  dims = ", ".join(
      "{?}" if axes is None else "{" + ", ".join(f'"{a}"' for a in axes) + "}"
      for axes in axes_of_dimensions(sharding, ndim))
  return f"#sdy.sharding<@{_symbol(sharding.mesh, meshes)}, [{dims}]>"


def _symbol(mesh: Any, meshes: dict[Any, str]) -> str:
  """The name of a mesh in a module; types know only the shape of one that is there."""
  if mesh not in meshes and isinstance(mesh, AbstractMesh):
    mesh = next((m for m in meshes if m.shape_tuple == mesh.shape_tuple), mesh)
  return meshes.setdefault(mesh, f"mesh_{len(meshes)}")


def as_named(self: Any, ndim: int) -> Any:
  """A sharding for arrays of `ndim` dimensions over a mesh, one made up if need be.

  Raises:
    ValueError: its devices are in an order that no such mesh has.
  """
  if isinstance(self, NamedSharding):
    return self
  hlo = self._to_xla_hlo_sharding(ndim)
  devices = np.array(list(self._internal_device_list), object)
  sizes = [] if hlo.is_replicated() else hlo.get_axis_sizes()
  sizes = sizes or [len(devices)]
  names = tuple([f"_axis_{i}" for i in range(len(sizes))])
  if math.prod(sizes) == len(devices):
    mesh = Mesh(devices.reshape(sizes), names)
    found = spec_in(hlo, mesh, ndim)
    if found is not None:
      return NamedSharding(mesh, found)
  raise ValueError(
      f"{self} has its devices in an order that no mesh gives them: use a NamedSharding")


def spec_in(hlo: Any, mesh: Mesh, ndim: int) -> PartitionSpec | None:
  """The spec over a mesh that means the same as the compiler's form, if there is one."""
  if hlo.is_replicated():
    return PartitionSpec()
  if hlo.is_tiled():
    tiles = tuple(hlo.tile_assignment_dimensions())[:ndim]
    for spec in _specs(tiles, mesh):
      if _hlo_of_spec(mesh, spec, ndim) == hlo:
        return spec
  return None


def _specs(tiles: tuple[int, ...], mesh: Mesh) -> Iterator[PartitionSpec]:
  """The specs that divide dimensions into so many parts."""
  sizes = dict(mesh.shape_tuple)

  def choices(k: int, free: frozenset[Any]) -> Iterator[tuple[Any, ...]]:
    for n in range(len(free) + 1):
      for axes in itertools.permutations(sorted(free), n):
        if math.prod(sizes[a] for a in axes) == k and all(sizes[a] > 1 for a in axes):
          yield axes

  def fill(rest: tuple[int, ...], free: frozenset[Any]) -> Iterator[tuple[Any, ...]]:
    if not rest:
      yield ()
      return
    for axes in choices(rest[0], free):
      for more in fill(rest[1:], free - set(axes)):
        yield (axes, *more)

  for entries in fill(tiles, frozenset(mesh.axis_names)):
    while entries and not entries[-1]:
      entries = entries[:-1]
    yield PartitionSpec(*entries)


def _named_text(self: Any) -> str:
  memory = "" if self.memory_kind is None else f", memory_kind={self.memory_kind}"
  return f"NamedSharding(mesh={self.mesh}, spec={self.spec}{memory})"


def _gspmd_text(self: Any) -> str:
  memory = "" if self.memory_kind is None else f", memory_kind={self.memory_kind}"
  return f"GSPMDSharding({self._hlo_sharding!r}{memory})"


def _gspmd_key(self: Any) -> tuple[Any, ...]:
  return (self._hlo_sharding, self._internal_device_list, self.memory_kind)


def _gspmd_equal(self: Any, other: Any) -> bool:
  return self is other or (
      type(other) is GSPMDSharding and _gspmd_key(self) == _gspmd_key(other))


def get_replicated(device_assignment: Any, *, memory_kind: str | None = None) -> Any:
  """The sharding that puts whole arrays on each of some devices."""
  return GSPMDSharding(
      device_assignment, arrays.HloSharding.replicate(), memory_kind=memory_kind)


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
  if isinstance(self, GSPMDSharding):
    return GSPMDSharding(
        self._internal_device_list, self._hlo_sharding, memory_kind=kind)
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
      "_device_assignment": property(lambda self: tuple(_devices(self))),
      "_to_sdy_sharding": axes_of_dimensions,
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
  gspmd = {
      "__eq__": _gspmd_equal, "__hash__": lambda self: hash(_gspmd_key(self)),
      "__repr__": _gspmd_text, "get_replicated": staticmethod(get_replicated),
  }
  for name, value in gspmd.items():
    setattr(GSPMDSharding, name, value)
  Sharding.memory_kind = property(
      lambda self: self._memory_kind, doc="The kind of the devices' memory.")

install()
