"""How a scan is compiled: a loop of one or several steps a round, or no loop at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core.effects import ordered_effects
from gnomon.core.jaxpr import ClosedJaxpr, Literal
from gnomon.core.rule import lower
from gnomon.core.types import ShapedArray, physical_aval
from gnomon.lax._control.common import depends
from gnomon.lax._control.scan import scan_p

Values = Sequence[Any]
_I32 = np.dtype(np.int32)


class _Steps:
  """Emits steps of a scan."""

  __slots__ = (
      "carry_types", "consts", "ctx", "effects", "jaxpr", "length", "reverse", "xs", "ys")

  def __init__(self, ctx: Any, jaxpr: ClosedJaxpr, consts: Values, xs: Values,
               num_carry: int, length: int, reverse: bool) -> None:
    self.ctx, self.jaxpr, self.consts = ctx, jaxpr, list(consts)
    self.length, self.reverse = length, reverse
    self.effects = ordered_effects(jaxpr.effects)
    n = len(jaxpr.in_avals) - len(xs)
    self.xs = list(zip(xs, map(physical_aval, jaxpr.in_avals[n:])))
    self.ys = [physical_aval(a) for a in jaxpr.out_avals[num_carry:]]
    self.carry_types = [ctx.b.tensor(a) for a in jaxpr.in_avals[len(consts):n]]

  def i32(self, value: int) -> Any:
    return self.ctx.b.constant(value, _I32)

  def offset(self, i: Any, by: int) -> Any:
    """The index `i + by`, emitted."""
    if not by:
      return i
    b = self.ctx.b
    return b.op1("stablehlo.add", b.tensor_of((), _I32), (i, self.i32(by)))

  def place(self, i: Any) -> Any:
    """The index into the arrays at step `i`."""
    if not self.reverse:
      return i
    b = self.ctx.b
    return b.op1(
        "stablehlo.subtract", b.tensor_of((), _I32), (self.i32(self.length - 1), i))

  def step(self, carry: Values, slices: Values) -> tuple[list[Any], list[Any]]:
    outs = self.ctx.inline(self.jaxpr, [*self.consts, *carry, *slices], "body")
    n = len(carry)
    return outs[:n], outs[n:]

  def at(self, i: Any, carry: Values, ys: Values) -> tuple[list[Any], list[Any]]:
    """Step `i` (a value), on arrays of results."""
    b, place, zero = self.ctx.b, self.place(i), self.i32(0)
    slices = []
    for x, a in self.xs:
      sizes = (1, *a.shape)
      part = b.op1(
          "stablehlo.dynamic_slice", b.tensor_of(sizes, a.dtype),
          (x, place, *[zero] * a.ndim), {"slice_sizes": b.i64s(sizes)})
      slices.append(b.reshape(part, a))
    carry, rows = self.step(carry, slices)
    written = []
    for y, row, a in zip(ys, rows, self.ys):
      update = b.reshape(row, ShapedArray((1, *a.shape), a.dtype))
      written.append(b.op1(
          "stablehlo.dynamic_update_slice",
          b.tensor_of((self.length, *a.shape), a.dtype),
          (y, update, place, *[zero] * a.ndim)))
    return carry, written

  def buffers(self) -> list[Any]:
    """Arrays for the stacked results."""
    b = self.ctx.b
    return [b.full(ShapedArray((self.length, *a.shape), a.dtype), 0) for a in self.ys]

  def straight(self, carry: Values) -> list[Any]:
    """All steps, without a loop."""
    b = self.ctx.b
    rows: list[list[Any]] = [[]] * self.length
    for i in reversed(range(self.length)) if self.reverse else range(self.length):
      slices = []
      for x, a in self.xs:
        rest = a.shape
        part = b.op1(
            "stablehlo.slice", b.tensor_of((1, *rest), a.dtype), (x,), {
                "start_indices": b.i64s((i, *[0] * len(rest))),
                "limit_indices": b.i64s((i + 1, *rest)),
                "strides": b.i64s([1] * (1 + len(rest)))})
        slices.append(b.reshape(part, a))
      carry, made = self.step(carry, slices)
      rows[i] = [
          b.reshape(y, ShapedArray((1, *a.shape), a.dtype))
          for y, a in zip(made, self.ys)]
    stacked = [
        parts[0] if len(parts) == 1 else b.op1(
            "stablehlo.concatenate", b.tensor_of((self.length, *a.shape), a.dtype), parts,
            {"dimension": b.i64(0)})
        for a, parts in zip(self.ys, zip(*rows))]
    return [*carry, *stacked]

  def looped(self, carry: Values, unroll: int) -> list[Any]:
    """A loop that does `unroll` steps a round, then the steps that are left."""
    b = self.ctx.b
    n, rest = len(carry), self.length % unroll
    buffers = self.buffers()
    ctx, effects = self.ctx, self.effects
    k = len(effects)
    types = [
        b.tensor_of((), _I32), *[b.token_type()] * len(effects), *self.carry_types, *(
            b.tensor_of((self.length, *a.shape), a.dtype) for a in self.ys)]
    end = self.length - rest

    def test(i: Any, *_: Any) -> list[Any]:
      return [b.compare("LT", i, self.i32(end), ShapedArray((), _I32))]

    def body(i: Any, *state: Any) -> list[Any]:
      ctx.set_tokens(effects, state)
      carry, ys = list(state[k:k + n]), list(state[k + n:])
      for j in range(unroll):
        carry, ys = self.at(self.offset(i, j), carry, ys)
      return [self.offset(i, unroll), *ctx.tokens(effects), *carry, *ys]

    loop = b.region_op(
        "stablehlo.while", types,
        [self.i32(0), *ctx.tokens(effects), *carry, *buffers], None,
        [(types, test), (types, body)])
    state = list(loop.results)
    ctx.set_tokens(effects, state[1:])
    carry, ys = state[1 + k:1 + k + n], state[1 + k + n:]
    for j in range(end, self.length):
      carry, ys = self.at(self.i32(j), carry, ys)
    return [*carry, *ys]


# Where a step is a few operations on scalars, most of the time goes to the loop itself.
# Eight of them a round take a third of the time; for larger steps there is little to win,
# and XLA's fusions may compute shared values again and again.

_MANY, _ROUND, _MOST = 512, 8, 6
_CHEAP = frozenset({
    "add", "sub", "mul", "neg", "max", "min", "and", "or", "xor", "not", "eq", "ne", "lt",
    "le", "gt", "ge", "select_n", "add_any", "convert_element_type", "copy"})


def _is_tiny(jaxpr: ClosedJaxpr, num_consts: int, num_carry: int) -> bool:
  """Whether a body is so small that several steps a round pay, and give the same results.

  XLA folds chains of operations with constants, such as `c * 0.5 * 0.5`, which rounds
  differently; so what is made of a constant must meet something from outside the carry.
  """
  j = jaxpr.jaxpr
  made = [v.aval for e in j.eqns for v in e.outvars]
  avals = [*jaxpr.in_avals, *jaxpr.out_avals, *made]
  if (len(j.eqns) > _MOST or j.effects
      or any(e.primitive.name not in _CHEAP for e in j.eqns)
      or any(a.shape or not isinstance(a.dtype, np.dtype) for a in avals)):
    return False
  n = num_consts + num_carry
  from_xs, varying = depends(j, j.invars[n:]), depends(j, j.invars[num_consts:])
  carried = set(j.outvars[:num_carry])

  def fixed(v: Any) -> bool:
    return type(v) is Literal or v not in varying

  for e in j.eqns:
    v = e.outvars[0]
    if v.aval.dtype.kind in "biu" or not any(map(fixed, e.invars)) or fixed(v):
      continue
    if v in carried or not all(
        any(o in from_xs for o in u.invars if o is not v and type(o) is not Literal)
        for u in j.eqns if v in u.invars):
      return False
  return True


@lower.define(scan_p)
def _(ctx: Any, *values: Any, jaxpr: ClosedJaxpr, length: int, reverse: bool,
      num_consts: int, num_carry: int, unroll: int) -> Values:
  n = num_consts + num_carry
  carry = values[num_consts:n]
  steps = _Steps(ctx, jaxpr, values[:num_consts], values[n:], num_carry, length, reverse)
  if length == 0:
    return [*carry, *steps.buffers()]
  unroll = unroll or length
  if unroll == 1 and length >= _MANY and _is_tiny(jaxpr, num_consts, num_carry):
    unroll = _ROUND
  if unroll >= length:
    return steps.straight(carry)
  return steps.looped(carry, unroll)
