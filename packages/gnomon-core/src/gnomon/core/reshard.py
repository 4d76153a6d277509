"""The primitive that divides a value otherwise over explicit axes; its type says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.core.derive import linear
from gnomon.core.partition_spec import PartitionSpec
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, hide_params, lower, typing_rule
from gnomon.core.shardings import NamedSharding, attribute
from gnomon.core.types import ShapedArray, physical_aval, typeof

reshard_p = Primitive("reshard")
hide_params(reshard_p, "dst_sharding", "concrete_mesh")


@typing_rule.define(reshard_p)
def _(x: ShapedArray, *, dst_sharding: Any, concrete_mesh: Any) -> tuple[ShapedArray]:
  return (x.update(sharding=dst_sharding),)


@lower.define(reshard_p)
def _(ctx: Any, x: Any, *, dst_sharding: Any, concrete_mesh: Any) -> Sequence[Any]:
  if ctx.meshes is None:
    return [x]  # a program of one device
  text = attribute(dst_sharding, len(physical_aval(ctx.aval_out).shape), ctx.meshes)
  return [ctx.b.op1(
      "sdy.sharding_constraint", x.type, ctx.b.settled([x]),
      {"sharding": ctx.b.attr(text)})]


def _transposed(cts: Sequence[Any], args: Sequence[Any], **params: Any) -> Any:
  aval = args[0].aval  # its mesh may have other types of axes, outside of auto_axes
  mesh = (params["dst_sharding"] if aval._sharding is None else aval._sharding).mesh
  return reshard_p.apply(
      cts[0], **{**params, "dst_sharding": _of_cotangents(aval, mesh)})


linear(reshard_p, _transposed)


@batch_rule.define(reshard_p)
def _(axis: Any, args: Sequence[Any], dims: Sequence[Any], *, dst_sharding: Any,
      concrete_mesh: Any) -> Any:
  (x,), (d,) = args, dims
  entries = list(dst_sharding.spec)
  own = typeof(x)._sharding
  entries.insert(d, None if own is None else own.spec[d])
  spec = dst_sharding.spec.update(partitions=tuple(entries))
  return reshard_p.apply(
      x, dst_sharding=NamedSharding(dst_sharding.mesh, spec),
      concrete_mesh=concrete_mesh), [d]


def _of_cotangents(aval: Any, mesh: Any) -> Any:
  spec = PartitionSpec(*[None] * aval.ndim) if aval._sharding is None else (
      aval._sharding.spec.to_ct_spec())
  return NamedSharding(mesh, spec)


def as_cotangent(ct: Any, aval: Any) -> Any:
  """A cotangent divided as values of the type `aval` are."""
  own = typeof(ct)
  mesh = (own if aval._sharding is None else aval)._sharding.mesh
  wanted = _of_cotangents(aval, mesh)
  if own.sharding.spec == wanted.spec:
    return ct
  return reshard_p.apply(ct, dst_sharding=wanted, concrete_mesh=None)[0]
