"""Types of arrays that say how they are divided over the explicit axes of a mesh."""

from __future__ import annotations

from typing import Any

from gnomon.core.mesh import AbstractMesh, AxisType, current_abstract_mesh
from gnomon.core.partition_spec import UNCONSTRAINED, PartitionSpec, axes_of
from gnomon.core.shardings import NamedSharding


def sharding_of(aval: Any) -> Any:
  """The sharding of a type; if it has none, that nothing is divided."""
  if aval._sharding is not None:
    return aval._sharding
  return NamedSharding(current_abstract_mesh(), PartitionSpec(*[None] * aval.ndim))


def part_of(sharding: Any, ndim: int) -> Any:
  """What a sharding says of explicit axes, for types; None if that is nothing.

  Raises:
    TypeError: it is not over a mesh.
    ValueError: its spec has more entries than there are dimensions.
  """
  if not isinstance(sharding, NamedSharding):
    raise TypeError(
        f"the sharding of a type is a NamedSharding, got {sharding!r} of type "
        f"{type(sharding).__name__}")
  mesh, spec = sharding.mesh.abstract_mesh, sharding.spec
  if len(spec) > ndim:
    raise ValueError(
        f"the spec {spec} of a type has more entries than its {ndim} dimensions")
  types = mesh._name_to_type
  entries = [
      () if e is UNCONSTRAINED else
      tuple([a for a in axes_of(e) if types[a] is AxisType.Explicit]) for e in spec]
  if not any(entries) and not spec.unreduced and not spec.reduced:
    return None
  full = PartitionSpec(
      *entries, *[None] * (ndim - len(entries)), unreduced=spec.unreduced,
      reduced=spec.reduced)
  return NamedSharding(mesh, full)


def text_of(aval: Any, name: str, mesh_axis_types: bool) -> str:
  """`float32[8@x,4]`: the dtype, the sizes with their axes, and what is to be summed."""
  sharding, manual = aval._sharding, aval._mat
  spec = PartitionSpec() if sharding is None else sharding.spec
  sizes = [
      f"{n}{_axes(e)}"
      for n, e in zip(aval.shape, (*spec, *[None] * (aval.ndim - len(spec))))]
  sets = [
      (letter, sorted(map(str, axes))) for letter, axes in (
          ("V", manual.varying), ("U", spec.unreduced | manual.unreduced),
          ("R", spec.reduced | manual.reduced)) if axes]
  sums = ", ".join(f"{letter}:{_several(axes)}" for letter, axes in sets)
  types = _types(sharding.mesh) if mesh_axis_types and sharding is not None else ""
  return f"{name}[{','.join(sizes)}]{'{' + sums + '}' if sums else ''}{types}"


def _axes(entry: Any) -> str:
  axes = axes_of(entry)
  return f"@{_several([str(a) for a in axes])}" if axes else ""


def _several(axes: Any) -> str:
  return axes[0] if len(axes) == 1 else f"({','.join(axes)})"


def _types(mesh: AbstractMesh) -> str:
  found = {
      t.name: tuple([n for n, k in zip(mesh.axis_names, mesh.axis_types) if k is t])
      for t in AxisType}
  inner = ", ".join(f"{k}: {v}" for k, v in found.items() if v)
  return f"({{{inner}}})"
