"""How a scan is compiled: as a loop of one or several steps a round, or without a loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core.jaxpr import ClosedJaxpr
from gnomon.core.rule import lower
from gnomon.core.types import ShapedArray, physical_aval
from gnomon.lax._control.scan import scan_p

Values = Sequence[Any]
_I32 = np.dtype(np.int32)


class _Steps:
  """Emits steps of a scan."""

  __slots__ = ("carry_types", "consts", "ctx", "jaxpr", "length", "reverse", "xs", "ys")

  def __init__(self, ctx: Any, jaxpr: ClosedJaxpr, consts: Values, xs: Values,
               num_carry: int, length: int, reverse: bool) -> None:
    self.ctx, self.jaxpr, self.consts = ctx, jaxpr, list(consts)
    self.length, self.reverse = length, reverse
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
    outs = self.ctx.inline(self.jaxpr, [*self.consts, *carry, *slices])
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
          b.reshape(y, ShapedArray((1, *a.shape), a.dtype)) for y, a in zip(made, self.ys)]
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
    types = [
        b.tensor_of((), _I32), *self.carry_types, *(
            b.tensor_of((self.length, *a.shape), a.dtype) for a in self.ys)]
    end = self.length - rest

    def test(i: Any, *_: Any) -> list[Any]:
      return [b.compare("LT", i, self.i32(end), ShapedArray((), _I32))]

    def body(i: Any, *state: Any) -> list[Any]:
      carry, ys = list(state[:n]), list(state[n:])
      for j in range(unroll):
        carry, ys = self.at(self.offset(i, j), carry, ys)
      return [self.offset(i, unroll), *carry, *ys]

    loop = b.region_op(
        "stablehlo.while", types, [self.i32(0), *carry, *buffers], None,
        [(types, test), (types, body)])
    _, *state = loop.results
    carry, ys = state[:n], state[n:]
    for j in range(end, self.length):
      carry, ys = self.at(self.i32(j), carry, ys)
    return [*carry, *ys]


@lower.define(scan_p)
def _(ctx: Any, *values: Any, jaxpr: ClosedJaxpr, length: int, reverse: bool,
      num_consts: int, num_carry: int, unroll: int) -> Values:
  n = num_consts + num_carry
  carry = values[num_consts:n]
  steps = _Steps(ctx, jaxpr, values[:num_consts], values[n:], num_carry, length, reverse)
  if length == 0:
    return [*carry, *steps.buffers()]
  unroll = unroll or length
  if unroll >= length:
    return steps.straight(carry)
  return steps.looped(carry, unroll)
