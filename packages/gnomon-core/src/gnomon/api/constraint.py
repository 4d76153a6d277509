"""`with_sharding_constraint`: where a value inside a program is to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.api import tools
from gnomon.core.derive import linear
from gnomon.core.mesh import current_abstract_mesh
from gnomon.core.partition_spec import UNCONSTRAINED
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, lower, typing_rule
from gnomon.core.shardings import attribute
from gnomon.core.types import physical_aval, typeof
from gnomon.runtime import shardings
from gnomon.runtime.shardings import is_place
from gnomon.tree_util import flatten_axes


def with_sharding_constraint(x: Any, shardings: Any) -> Any:
  """Says where arrays are to be, inside a program or outside of one.

  Args:
    x: a pytree of arrays.
    shardings: a sharding, or a `PartitionSpec` for the mesh in force (`set_mesh`), or a
      pytree of those that is a prefix of `x`.

  Returns:
    The arrays, placed so.

  >>> import gnomon
  >>> from gnomon import lax
  >>> place = gnomon.device_put(1.0, gnomon.devices()[0]).sharding
  >>> float(lax.with_sharding_constraint(2.0, place))
  2.0

  Raises:
    TypeError: what is given is no sharding.
    ValueError: a sharding names more dimensions than its array has, or a PartitionSpec
      is given and no mesh is in force.
    IndivisibleError: a dimension cannot be divided evenly.
  """
  leaves, tree = tools.flatten(x)
  places = (
      [shardings] * len(leaves) if is_place(shardings)
      else flatten_axes("with_sharding_constraint shardings", tree, shardings))
  return tree.unflatten([constrain(v, s) for v, s in zip(leaves, places)])


def constrain(x: Any, place: Any) -> Any:
  """One array where a sharding or a spec says."""
  if not is_place(place):
    raise TypeError(
        "shardings leaf specifications are expected to be shardings or PartitionSpecs, "
        f"but got {place!r}")
  sharding = shardings.resolve(place, what="with_sharding_constraint")
  aval = tools.check_leaf(x, "with_sharding_constraint", lambda: "x")
  sharding.check_compatible_aval(aval.shape)
  sharding.shard_shape(aval.shape)
  if isinstance(sharding, shardings.NamedSharding) and _is_explicit(sharding.mesh):
    full = (*sharding.spec, *[None] * (aval.ndim - len(sharding.spec)))
    if tuple(aval.sharding.spec) != full:
      raise AssertionError(
          "`with_sharding_constraint` acts as an assert when all axes of the mesh are "
          f"`Explicit`. The array is {aval}, the sharding {sharding.spec}. Use "
          "gnomon.reshard to divide it otherwise")
    return x
  return sharding_constraint_p.apply(x, sharding=sharding)[0]


def _is_explicit(mesh: Any) -> bool:
  if mesh.empty or not mesh.are_all_axes_explicit:
    return False
  here = current_abstract_mesh()
  return here.empty or here.are_all_axes_explicit


sharding_constraint_p = Primitive("sharding_constraint")
typing_rule.define(sharding_constraint_p)(lambda x, *, sharding: (x,))


@lower.define(sharding_constraint_p)
def _(ctx: Any, x: Any, *, sharding: Any) -> Sequence[Any]:
  if ctx.meshes is None:
    return [x]  # a program of one device
  if not isinstance(sharding, shardings.NamedSharding):
    raise NotImplementedError(
        f"with_sharding_constraint in a program over several devices: {sharding} is not "
        "over a mesh; use a NamedSharding")
  b, aval = ctx.b, ctx.aval_out
  text = attribute(sharding, len(physical_aval(aval).shape), ctx.meshes)
  return [b.op1("sdy.sharding_constraint", x.type, [x], {"sharding": b.attr(text)})]


linear(
    sharding_constraint_p,
    lambda cts, args, **params: sharding_constraint_p.apply(cts[0], **params))


@batch_rule.define(sharding_constraint_p)
def _(axis: Any, args: Sequence[Any], dims: Sequence[Any], *, sharding: Any) -> Any:
  (x,), (d,) = args, dims
  if isinstance(sharding, shardings.NamedSharding):
    entries = [*sharding.spec, *[None] * (typeof(x).ndim - 1 - len(sharding.spec))]
    entries.insert(d, UNCONSTRAINED)
    sharding = sharding.update(spec=sharding.spec.update(partitions=tuple(entries)))
  return sharding_constraint_p.apply(x, sharding=sharding), [d]
