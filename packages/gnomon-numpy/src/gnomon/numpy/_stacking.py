"""The primitives of arrays that become one along a new axis, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.core.derive import linear
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, jvp_rule, lower, transpose_rule, typing_rule
from gnomon.core.structural import instantiate
from gnomon.core.types import ShapedArray, physical_aval, typeof
from gnomon.core.zero import UndefinedPrimal, Zero
from gnomon.transform.vmap import to_dim

Values = Sequence[Any]

stack_p = Primitive("stack")
unstack_p = Primitive("unstack")


@typing_rule.define(stack_p)
def _(*xs: ShapedArray, axis: int) -> tuple[ShapedArray]:
  x = xs[0]
  shape = (*x.shape[:axis], len(xs), *x.shape[axis:])
  return (ShapedArray(shape, x.dtype, all(y.weak_type for y in xs)),)


@lower.define(stack_p)
def _(ctx: Any, *xs: Any, axis: int) -> Values:
  b, out = ctx.b, physical_aval(ctx.avals_out[0])
  slab = out.update(shape=(*out.shape[:axis], 1, *out.shape[axis + 1:]))
  parts = [b.reshape(x, slab) for x in xs]
  return [b.op1("stablehlo.concatenate", b.tensor(out), parts,
      {"dimension": b.i64(axis)})]


@jvp_rule.define(stack_p)
def _(primals: Values, tangents: Values, *, axis: int) -> tuple[Values, Values]:
  outs = stack_p.bind(*primals, axis=axis)
  if all(type(t) is Zero for t in tangents):
    return outs, (Zero(typeof(outs[0]).to_tangent_aval()),)
  return outs, stack_p.bind(*map(instantiate, tangents), axis=axis)


@transpose_rule.define(stack_p)
def _(cts: Values, args: Values, *, axis: int) -> list[Any]:
  parts = unstack_p.bind(instantiate(cts[0]), axis=axis)
  return [ct if type(x) is UndefinedPrimal else None for ct, x in zip(parts, args)]


@batch_rule.define(stack_p)
def _(axis_: Any, args: Values, dims: Values, *, axis: int) -> tuple[Values, Values]:
  xs = [to_dim(x, d, 0, axis_.size) for x, d in zip(args, dims)]
  return stack_p.bind(*xs, axis=axis + 1), (0,)


@typing_rule.define(unstack_p)
def _(x: ShapedArray, *, axis: int) -> tuple[ShapedArray, ...]:
  shape = (*x.shape[:axis], *x.shape[axis + 1:])
  return (ShapedArray(shape, x.dtype, x.weak_type),) * x.shape[axis]


@lower.define(unstack_p)
def _(ctx: Any, x: Any, *, axis: int) -> Values:
  b, aval = ctx.b, physical_aval(ctx.avals_in[0])
  slab = aval.update(shape=(*aval.shape[:axis], 1, *aval.shape[axis + 1:]))
  ones, outs = [1] * len(aval.shape), []
  for i, out in enumerate(ctx.avals_out):
    start = [i if d == axis else 0 for d in range(len(aval.shape))]
    limit = [i + 1 if d == axis else n for d, n in enumerate(aval.shape)]
    part = b.op1("stablehlo.slice", b.tensor(slab), (x,), {
        "start_indices": b.i64s(start), "limit_indices": b.i64s(limit),
        "strides": b.i64s(ones)})
    outs.append(b.reshape(part, out))
  return outs


def _transpose_unstack(cts: Values, args: Values, *, axis: int) -> list[Any]:
  return [stack_p.bind(*map(instantiate, cts), axis=axis)[0]]


linear(unstack_p, _transpose_unstack)


@batch_rule.define(unstack_p)
def _(axis_: Any, args: Values, dims: Values, *, axis: int) -> tuple[Values, Values]:
  d = dims[0]
  outs = unstack_p.bind(args[0], axis=axis + (d <= axis))
  return outs, (d - (axis < d),) * len(outs)
