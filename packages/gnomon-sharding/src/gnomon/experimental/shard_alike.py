"""Two values that the compiler divides over devices in the same way."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from gnomon.api import tools
from gnomon.core.derive import move
from gnomon.core.primitive import Primitive
from gnomon.core.rule import (
  batch_rule,
  impl_rule,
  jvp_rule,
  lower,
  transpose_rule,
  typing_rule,
)
from gnomon.core.structural import instantiate
from gnomon.core.types import typeof
from gnomon.core.zero import Zero
from gnomon.runtime.jaxlib import mlir
from gnomon.transform.vmap import to_dim

__all__ = ["shard_alike"]

ir = mlir.ir


def shard_alike(x: Any, y: Any) -> tuple[Any, Any]:
  """Has the compiler divide two values alike, in a program over several devices.

  Args:
    x: a pytree of arrays.
    y: a pytree of the same structure and shapes.

  Returns:
    Both.

  >>> import gnomon
  >>> from gnomon.experimental.shard_alike import shard_alike
  >>> x, y = shard_alike(gnomon.numpy.ones(2), gnomon.numpy.zeros(2))
  >>> y.tolist()
  [0.0, 0.0]

  Raises:
    ValueError: structures or shapes differ.
  """
  xs, tree = tools.flatten(x)
  ys, other = tools.flatten(y)
  if tree != other:
    raise ValueError(f"shard_alike needs two equal pytrees, got {tree} and {other}")
  pairs = []
  for a, b in zip(xs, ys):
    if typeof(a).shape != typeof(b).shape:
      raise ValueError(
          "The leaves shapes of `x` and `y` should match: shard_alike got "
          f"{typeof(a).shape} and {typeof(b).shape}")
    pairs.append(shard_alike_p.apply(a, b))
  return tree.unflatten([a for a, _ in pairs]), tree.unflatten([b for _, b in pairs])


shard_alike_p = Primitive("shard_alike")
typing_rule.define(shard_alike_p)(lambda x, y: (x, y))
impl_rule.define(shard_alike_p)(lambda x, y: (x, y))
_groups = itertools.count()


@lower.define(shard_alike_p)
def _(ctx: Any, x: Any, y: Any) -> Sequence[Any]:
  if ctx.meshes is not None:
    group = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), next(_groups))
    for v in ctx.b.settled([x, y]):
      ctx.b.op("sdy.sharding_group", [], [v], {"group_id": group})
  return [x, y]


@jvp_rule.define(shard_alike_p)
def _(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
  outs = shard_alike_p.apply(*primals)
  if any(type(t) is Zero for t in tangents):
    return outs, tangents
  return outs, shard_alike_p.apply(*tangents)


@transpose_rule.define(shard_alike_p)
def _(cts: Sequence[Any], args: Sequence[Any]) -> Any:
  return list(shard_alike_p.apply(*map(instantiate, cts)))


@batch_rule.define(shard_alike_p)
def _(axis: Any, args: Sequence[Any], dims: Sequence[Any]) -> Any:
  place = next(d for d in dims if d is not None)
  x, y = (
      to_dim(v, d, place, axis.size) if d is None else move(v, d, place)
      for v, d in zip(args, dims))
  return shard_alike_p.apply(x, y), [place, place]
