"""Types of arrays that say how they are divided over the explicit axes of a mesh."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gnomon.core import explicit_rules
from gnomon.core.derive import elementwise
from gnomon.core.mesh import AbstractMesh, AxisType, current_abstract_mesh
from gnomon.core.partition_spec import (
  UNCONSTRAINED,
  DuplicateSpecError,
  PartitionSpec,
  axes_of,
)
from gnomon.core.ref_type import AbstractRef
from gnomon.core.shardings import NamedSharding, ShardingTypeError
from gnomon.core.types import ShapedArray, says


def sharding_of(aval: Any) -> Any:
  """The sharding of a type; if it has none, that nothing is divided."""
  if aval._sharding is not None:
    return aval._sharding
  return NamedSharding(current_abstract_mesh(), PartitionSpec(*[None] * aval.ndim))


def part_of(sharding: Any, shape: Sequence[int]) -> Any:
  """What a sharding says of explicit axes, for types; None if that is nothing.

  Raises:
    TypeError: it is not over a mesh.
    ValueError: its spec has more entries than there are dimensions, or does not divide
      one evenly.
  """
  if not isinstance(sharding, NamedSharding):
    raise TypeError(
        f"the sharding of a type is a NamedSharding, got {sharding!r} of type "
        f"{type(sharding).__name__}")
  mesh, spec, ndim = sharding.mesh.abstract_mesh, sharding.spec, len(shape)
  if len(spec) > ndim:
    raise ValueError(
        f"the spec {spec} of a type has more entries than its {ndim} dimensions")
  types = mesh._name_to_type
  entries = [
      () if e is UNCONSTRAINED else
      tuple([a for a in axes_of(e) if types[a] is AxisType.Explicit]) for e in spec]
  sizes = mesh.shape
  for d, axes in enumerate(entries):
    parts = math.prod(sizes[a] for a in axes)
    if shape[d] % parts:
      raise ValueError(
          f"the sharding {spec} of a type divides dimension {d} into {parts} parts, "
          f"which does not evenly divide the dimension size {shape[d]}")
  if not any(entries) and not spec.unreduced and not spec.reduced:
    return None
  full = PartitionSpec(
      *entries, *[None] * (ndim - len(entries)), unreduced=spec.unreduced,
      reduced=spec.reduced)
  return NamedSharding(mesh, full)


def typed(
    primitive: Any, avals: Sequence[Any], params: dict[str, Any], outs: Sequence[Any],
) -> Sequence[Any]:
  """The types of an operation's results, with what they say of explicit axes.

  Raises:
    ShardingTypeError: the operands do not fit, or the operation has no rule.
  """
  if primitive.call or primitive.name in _OWN or AbstractRef in map(type, avals):
    return outs  # its programs, or its references, have types of their own
  mesh = _mesh(primitive, avals, params)
  if mesh is None:
    return outs
  asked = _asked(params)
  found: list[Any]
  if asked is not None and (getattr(asked, "spec", asked)).unreduced:
    raise NotImplementedError(
        f"{primitive.name} was asked for a result whose parts are still to be summed, "
        f"{asked}: there are no such results yet. Leave out `unreduced`")
  if asked is not None:
    spec = asked if isinstance(asked, PartitionSpec) else asked.spec
    types = mesh._name_to_type
    strange = [
        a for e in spec for a in axes_of(e) if types.get(a) is not AxisType.Explicit]
    if strange:
      raise ValueError(
          f"PartitionSpec passed to {primitive.name} cannot contain axis names that are "
          f"of type Auto or Manual, got {strange} in {spec} over {mesh}")
    found = [spec]
  else:
    rule = explicit_rules.rule_of(primitive, primitive in elementwise)
    if rule is None:
      raise ShardingTypeError(
          f"the operation {primitive.name} does not know how to divide its results over "
          f"explicit axes; its operands are {', '.join(map(str, avals))}. Bring them "
          "together with gnomon.reshard, or call it under gnomon.sharding.auto_axes")
    specs = [sharding_of(a).spec if isinstance(a, ShapedArray) else () for a in avals]
    found = [
        PartitionSpec(*entries) for entries in rule(
            primitive.name, [tuple(s) for s in specs], avals, outs,
            {**params, "mesh_sizes": mesh.shape})]
  try:
    return [
        o.update(sharding=NamedSharding(mesh, s)) if isinstance(o, ShapedArray) else o
        for o, s in zip(outs, found, strict=True)]
  except DuplicateSpecError as e:
    raise ShardingTypeError(
        f"{primitive.name} of {', '.join(map(str, avals))} has a result that would be "
        f"divided twice over an axis, as {found}. Bring the operands to other shardings "
        "with gnomon.reshard") from e


def _asked(params: Any) -> Any:
  found = params.get("out_sharding")
  return params.get("sharding") if found is None else found


# Their typing rules say themselves how results are divided.
_OWN = frozenset({"reshard", "device_put", "sharding_constraint"})


def _mesh(primitive: Any, avals: Sequence[Any], params: Any) -> Any:
  """The mesh that the operands' types have in common."""
  meshes = {a._sharding.mesh for a in avals
            if type(a) is ShapedArray and a._sharding is not None}
  if len(meshes) > 1:
    raise ShardingTypeError(
        f"the operands of {primitive.name} are divided over different meshes: "
        f"{' and '.join(map(str, meshes))}")
  if meshes:
    return meshes.pop()
  asked = _asked(params)
  if isinstance(asked, NamedSharding):
    return asked.mesh.abstract_mesh
  mesh = current_abstract_mesh()
  if not isinstance(asked, PartitionSpec):
    return None
  if mesh.empty:
    raise ValueError(
        f"Using PartitionSpec when not under a mesh context is not allowed: {primitive} "
        f"is asked for {asked}. Put a mesh in force with gnomon.set_mesh, or give a "
        "NamedSharding")
  return mesh


def of_cotangent(aval: Any, order: Sequence[int], others: Sequence[Any]) -> Any:
  """The sharding of the cotangent of a value, its dimensions in an order."""
  mesh = next(a._sharding.mesh for a in (aval, *others) if says(a))
  spec = sharding_of(aval).spec.to_ct_spec()
  return NamedSharding(
      mesh, spec.update(partitions=tuple([spec[d] for d in order])))


def with_dimension(asked: Any, at: int, aval: Any, dim: int | None) -> Any:
  """A sharding or a spec with one more entry: that of a dimension of a type."""
  spec = asked if isinstance(asked, PartitionSpec) else asked.spec
  entries = [*spec, *[None] * (at - len(spec))]
  entries.insert(at, None if dim is None else sharding_of(aval).spec[dim])
  spec = spec.update(partitions=tuple(entries))
  return spec if isinstance(asked, PartitionSpec) else asked.update(spec=spec)


def mapped(whole: Any, aval: Any, dim: int, entry: Any) -> Any:
  """The type of a mapped value, by that of an element and what divides its new axis."""
  entries = list(sharding_of(aval).spec)
  entries.insert(dim, entry)
  mesh = current_abstract_mesh() if aval._sharding is None else aval._sharding.mesh
  return whole if mesh.empty else whole.update(
      sharding=NamedSharding(mesh, PartitionSpec(*entries)))


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
  found: dict[str, tuple[Any, ...]] = {}
  for name, kind in zip(mesh.axis_names, mesh.axis_types):
    found[kind.name] = (*found.get(kind.name, ()), name)
  inner = ", ".join(f"{kind}: {names}" for kind, names in found.items())
  return f"({{{inner}}})"
