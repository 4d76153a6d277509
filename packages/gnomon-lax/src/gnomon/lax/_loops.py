"""Lowering of recurrences along an axis: a loop over rows, the fastest way on CPUs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.types import ShapedArray

Values = Sequence[Any]
Step = Callable[[Any, list[Any], list[Any], ShapedArray], tuple[list[Any], Any]]
_UNROLLED = 8  # shorter axes need no loop


def on_cpu(ctx: Any) -> bool:
  """Whether a program is emitted for CPUs only."""
  return tuple(ctx.platforms) == ("cpu",)


_WIDER = {
    "float16": "float32", "bfloat16": "float32", "float32": "float64",
    "complex64": "complex128"}


def wider(dtype: Any) -> Any:
  """The dtype in which sums of many numbers of a dtype are kept."""
  if dtype.name in _WIDER:
    return np.dtype(_WIDER[dtype.name])
  small = dtypes.issubdtype(dtype, np.floating) and dtypes.itemsize_bits(dtype) < 16
  return np.dtype("float32") if small else dtype


def emit_recurrence(
    ctx: Any, xs: Values, *, axis: int, reverse: bool, starts: Sequence[Any], step: Step,
    at_once: int = 1) -> Any:
  """Emits a loop along an axis; the result has the first operand's type.

  `step(b, carry, rows, row)` maps the carried values and one row of each operand, all of
  them of the wide type `row`, to the next carried values and a row of the result. The
  carried values begin as `starts`, numbers. Where a row is one number, each turn of the
  loop takes `at_once` of them: 8 simple steps then take half the time, 16 take 25 times
  as long.
  """
  b, avals = ctx.b, ctx.avals_in
  source, kind = avals[0], wider(avals[0].dtype)
  if any(a.dtype.isbuiltin != 1 for a in avals):
    # XLA:CPU emulates bfloat16 and the like: in a loop, by converting the whole operand
    # to and fro at each step
    wide = [a.update(dtype=kind) for a in avals]
    xs, avals = [b.convert(x, a, t) for x, a, t in zip(xs, avals, wide)], wide
  first = avals[0]
  rank, n = first.ndim, first.shape[axis]
  order = (axis, *(d for d in range(rank) if d != axis))
  moved = [ShapedArray(tuple(a.shape[d] for d in order), a.dtype) for a in avals]
  if axis:
    xs = [b.transpose(x, m, order) for x, m in zip(xs, moved)]
  plain = [ShapedArray((1, *m.shape[1:]), m.dtype) for m in moved]
  row = ShapedArray(plain[0].shape, kind)
  carry = [b.full(row, v) for v in starts]

  def one(carry: list[Any], rows: list[Any]) -> tuple[list[Any], Any]:
    wide = [b.convert(r, p, row) for r, p in zip(rows, plain)]
    carry, out = step(b, carry, wide, row)
    return carry, b.convert(out, row, plain[0])

  if first.size == 0:
    out = xs[0]
  elif n <= _UNROLLED:
    out, _ = _unrolled(b, xs, moved, plain, carry, one, reverse)
  else:
    out = _loop(
        b, xs, moved, plain, row, carry, one, reverse, at_once if row.size == 1 else 1)
  if axis:
    out = b.transpose(out, first, tuple(order.index(d) for d in range(rank)))
  return b.convert(out, first, source)


def _unrolled(
    b: Any, xs: Values, moved: list[ShapedArray], plain: list[ShapedArray],
    carry: list[Any], one: Any, reverse: bool) -> tuple[Any, list[Any]]:
  """Row after row; gives the last carried values, too."""
  shape = moved[0].shape
  tail = shape[1:]
  outs = []
  for i in range(shape[0] - 1, -1, -1) if reverse else range(shape[0]):
    rows = [
        b.op1("stablehlo.slice", b.tensor(p), (x,), {
            "start_indices": b.i64s((i, *(0,) * len(tail))),
            "limit_indices": b.i64s((i + 1, *tail)),
            "strides": b.i64s((1,) * len(shape))})
        for x, p in zip(xs, plain)]
    carry, out = one(carry, rows)
    outs.append(out)
  if reverse:
    outs.reverse()
  if len(outs) == 1:
    return outs[0], carry
  whole = b.op1(
      "stablehlo.concatenate", b.tensor(moved[0]), outs, {"dimension": b.i64(0)})
  return whole, carry


def _loop(
    b: Any, xs: Values, moved: list[ShapedArray], plain: list[ShapedArray],
    row: ShapedArray, carry: list[Any], one: Any, reverse: bool, at_once: int) -> Any:
  n, rank = moved[0].shape[0], moved[0].ndim
  index = ShapedArray((), np.dtype("int32" if n < 2 ** 31 else "int64"))
  number = b.tensor(index)
  types = [number, b.tensor(moved[0]), *(b.tensor(row) for _ in carry)]
  zero = b.constant(0, index.dtype)
  blocks = [m.update(shape=(at_once, *m.shape[1:])) for m in moved]

  def take(buffer: Any, at: Any, parts: list[ShapedArray], carry: list[Any]) -> Any:
    """Some rows, from `at` on: the buffer with their results, and the carried values."""
    places = (at, *(b.constant(0, index.dtype) for _ in range(rank - 1)))
    rows = [
        b.op1("stablehlo.dynamic_slice", b.tensor(p), (x, *places),
              {"slice_sizes": b.i64s(p.shape)})
        for x, p in zip((buffer, *xs[1:]), parts)]
    out, carry = _unrolled(b, rows, parts, plain, carry, one, reverse)
    buffer = b.op1(
        "stablehlo.dynamic_update_slice", b.tensor(moved[0]), (buffer, out, *places))
    return buffer, carry

  def unfinished(i: Any, *_: Any) -> list[Any]:
    return [b.compare("LT", i, b.constant(n // at_once, index.dtype), index)]

  def body(i: Any, buffer: Any, *carry: Any) -> list[Any]:
    at = i
    if at_once > 1:
      at = b.op1("stablehlo.multiply", number, (i, b.constant(at_once, index.dtype)))
    if reverse:
      at = b.op1(
          "stablehlo.subtract", number, (b.constant(n - at_once, index.dtype), at))
    buffer, after = take(buffer, at, blocks, list(carry))
    i = b.op1("stablehlo.add", number, (i, b.constant(1, index.dtype)))
    return [i, buffer, *after]

  # Results overwrite the first operand: a row is read before it is written.
  op = b.region_op(
      "stablehlo.while", types, [zero, xs[0], *carry], None,
      [(types, unfinished), (types, body)])
  _, buffer, *carry = op.results
  rest = n % at_once
  if rest:
    last = [m.update(shape=(rest, *m.shape[1:])) for m in moved]
    start = b.constant(0 if reverse else n - rest, index.dtype)
    buffer, _ = take(buffer, start, last, carry)
  return buffer
