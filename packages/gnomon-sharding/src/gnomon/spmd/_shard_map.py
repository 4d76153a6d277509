"""`shard_map`: a function of one device's part of the data, for all devices at once.

The parts become axes of their own, one an axis of the mesh, over which the function is
mapped under the axis's name: collectives are those of `vmap`, exact and differentiable.
The compiler is told that these axes lie across the devices, and so runs each part where
its data is.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from gnomon import lax
from gnomon.api import tools
from gnomon.api.constraint import constrain
from gnomon.api.jit import jit
from gnomon.api.reshard import auto_axes
from gnomon.api.vmap import vmap
from gnomon.core.mesh import AxisType, current_mesh, use_abstract_mesh
from gnomon.core.partition_spec import axes_of
from gnomon.core.structural import reshape, transpose
from gnomon.core.types import typeof
from gnomon.runtime.shardings import NamedSharding, check_spec
from gnomon.runtime.spread import spans
from gnomon.sharding import AbstractMesh, Mesh, PartitionSpec
from gnomon.tree_util import flatten_axes, tree_map

_UNSAID: Any = object()
P = PartitionSpec


def shard_map(
    f: Callable[..., Any] | None = None, /, *, out_specs: Any, in_specs: Any = _UNSAID,
    mesh: Mesh | AbstractMesh | None = None, axis_names: Any = frozenset(),
    check_vma: bool = True) -> Any:
  """Maps a function of parts over the devices of a mesh.

  Args:
    f: a function of the parts on one device: along a dimension that the spec divides by
      an axis, a part has the size divided by the axis's. Left out, `shard_map` returns a
      decorator.
    out_specs: `PartitionSpec`s, a prefix of the results: how their parts make the whole.
      A result that no axis divides must be the same on every device.
    in_specs: the same for the arguments. Over explicit axes it may be left out: the
      arguments' types say it.
    mesh: the mesh; that in force (`set_mesh`) by default.
    axis_names: the axes of the mesh that the function sees; all by default.
    check_vma: accepted; results are taken from the first device along the axes that do
      not divide them.

  Returns:
    The function of whole arrays.

  >>> import gnomon
  >>> mesh, P = gnomon.make_mesh((1,), ("x",)), gnomon.P
  >>> gnomon.shard_map(
  ...   lambda part: part * 2, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(
  ...     gnomon.numpy.ones(2))
  Array([2., 2.], dtype=float32)

  Raises:
    TypeError: `f` is not callable, or a spec is no PartitionSpec.
    ValueError: no mesh is given or in force, a spec names an axis that is not in it, or
      a dimension cannot be divided evenly.
  """
  if f is None:
    return functools.partial(
        shard_map, out_specs=out_specs, in_specs=in_specs, mesh=mesh,
        axis_names=axis_names, check_vma=check_vma)
  tools.check_callable(f, "shard_map")
  if in_specs is _UNSAID and mesh is not None and not mesh.explicit_axes:
    raise _no_specs(mesh)
  fun, specs = f, in_specs

  def whole(*args: Any) -> Any:
    where = current_mesh() if mesh is None else mesh
    if where.empty:
      raise ValueError(
          "shard_map needs a mesh: give one, or put one in force with gnomon.set_mesh")
    if where.explicit_axes:
      return _under_types(where, args)
    if specs is _UNSAID:
      raise _no_specs(where)
    axes = tuple(a for a in where.axis_names if not axis_names or a in axis_names)
    leaves, tree = tools.flatten(args)
    ins = flatten_axes("shard_map in_specs", tree, _as_tuple(specs, len(args)))
    parts = [_split(x, _checked(s, where, axes, "in_specs"), where, axes)
             for x, s in zip(leaves, ins)]
    out_tree: Any = None

    def body(*part_leaves: Any) -> tuple[Any, ...]:
      nonlocal out_tree
      outs, out_tree = tools.results_to_flat(
          fun(*tree.unflatten(part_leaves)), "shard_map", fun)
      return tuple(outs)

    mapped: Any = body
    for axis in reversed(axes):
      dims = tuple([0 if axis in _used(s) else None for s in ins])
      mapped = vmap(
          mapped, in_axes=dims, out_axes=0, axis_name=axis, axis_size=where.shape[axis])
    outs = mapped(*parts)
    out = flatten_axes("shard_map out_specs", out_tree, out_specs)
    return out_tree.unflatten([
        _join(x, _checked(s, where, axes, "out_specs"), where, axes)
        for x, s in zip(outs, out)])

  def _under_types(where: Any, args: Any) -> Any:
    """As over a mesh of which types do not speak; the results' types speak of it."""
    ins = specs
    if ins is _UNSAID:
      ins = tree_map(lambda x: _said(typeof(x), axis_names), args)
    inner = shard_map(
        fun, out_specs=out_specs, in_specs=ins, axis_names=axis_names,
        mesh=where.update(axis_types=(AxisType.Auto,) * len(where.axis_names)))
    places = tree_map(
        lambda s: NamedSharding(where, P() if s is None else s), out_specs,
        is_leaf=lambda s: s is None)
    with use_abstract_mesh(where.abstract_mesh):
      return auto_axes(inner, out_sharding=places)(*args)

  return functools.wraps(fun)(jit(whole))


def _no_specs(mesh: Any) -> TypeError:
  return TypeError(
      "shard_map needs in_specs: how the arguments are divided. Types tell of explicit "
      f"axes only, of which there are none in {mesh}")


def _said(aval: Any, axis_names: Any) -> PartitionSpec:
  """What the type of an argument says of some axes."""
  return P(*[
      tuple([a for a in axes_of(e) if not axis_names or a in axis_names])
      for e in aval.sharding.spec])


def _as_tuple(specs: Any, count: int) -> Any:
  if isinstance(specs, PartitionSpec) or specs is None:
    return (specs,) * count
  return tuple(specs) if isinstance(specs, list) else specs


def _checked(spec: Any, mesh: Any, axes: tuple[Any, ...], what: str) -> PartitionSpec:
  if spec is None:
    spec = PartitionSpec()
  check_spec(mesh, spec)
  strange = [a for a in _used(spec) if a not in axes]
  if strange:
    raise ValueError(
        f"shard_map {what} names the axes {strange}, which axis_names={axes} leaves out")
  return spec  # type: ignore[no-any-return]


def _used(spec: Any) -> list[Any]:
  return [] if spec is None else [a for e in spec for a in axes_of(e)]


def _split(x: Any, spec: PartitionSpec, mesh: Any, axes: tuple[Any, ...]) -> Any:
  """Parts along leading dimensions, one an axis of the spec, in the mesh's order."""
  shape = typeof(x).shape
  if len(spec) > len(shape):
    raise ValueError(
        f"shard_map: the spec {spec} is for arrays of rank {len(spec)} or more, but an "
        f"argument has the shape {shape}")
  sizes, split, place = mesh.shape, list[int](), dict[Any, int]()
  rest = []
  for d, n in enumerate(shape):
    names = axes_of(spec[d]) if d < len(spec) else ()
    k = math.prod(sizes[a] for a in names)
    if n % k:
      raise ValueError(
          f"shard_map: dimension {d} of an argument of shape {shape} has the size {n}, "
          f"which the axes {names} divide into {k} parts")
    for a in names:
      place[a] = len(split)
      split.append(sizes[a])
    rest.append(len(split))
    split.append(n // k)
  order = [place[a] for a in axes if a in place]
  parts = transpose(reshape(x, tuple(split)), (*order, *rest))
  return _across(parts, [a for a in axes if a in place], mesh)


def _join(x: Any, spec: PartitionSpec, mesh: Any, axes: tuple[Any, ...]) -> Any:
  """The whole of parts that all axes of the mesh have made leading dimensions."""
  used = _used(spec)
  for i in range(len(axes) - 1, -1, -1):
    if axes[i] not in used:
      x = _first(x, i)
  kept = [a for a in axes if a in used]
  x = _across(x, kept, mesh)
  local = typeof(x).shape[len(kept):]
  if len(spec) > len(local):
    raise ValueError(
        f"shard_map: the spec {spec} in out_specs is for arrays of rank {len(spec)} or "
        f"more, but a result's part has the shape {local}")
  order, shape = [], []
  for d, n in enumerate(local):
    names = axes_of(spec[d]) if d < len(spec) else ()
    order += [kept.index(a) for a in names]
    order.append(len(kept) + d)
    shape.append(n * math.prod(mesh.shape[a] for a in names))
  out = reshape(transpose(x, tuple(order)), tuple(shape))
  sharding = _sharding(mesh, spec)
  return out if sharding is None else constrain(out, sharding)


def _first(x: Any, axis: int) -> Any:
  """The part of the first device along an axis of the mesh."""
  return lax.index_in_dim(x, 0, axis, keepdims=False)


def _across(x: Any, axes: Sequence[Any], mesh: Any) -> Any:
  """Leading dimensions that lie across the devices along these axes."""
  sharding = _sharding(mesh, PartitionSpec(*axes))
  return x if sharding is None else constrain(x, sharding)


def _sharding(mesh: Any, spec: PartitionSpec) -> Any:
  if isinstance(mesh, AbstractMesh):
    return None
  sharding = NamedSharding(mesh, spec)
  return sharding if spans(sharding) else None
