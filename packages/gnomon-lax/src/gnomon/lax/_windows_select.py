"""Selecting one element of each window: derivatives of pooling, and what scatters back.

`select_and_gather_add` takes, of tangents, those at the selected elements of an operand;
it is linear, and `select_and_scatter_add` is its transpose.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from gnomon.core.jaxpr import ClosedJaxpr, Jaxpr
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, jvp_rule, lower, transpose_rule, typing_rule
from gnomon.core.structural import add_tangents, full, select_n, zeros_like_aval
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import UndefinedPrimal, Zero
from gnomon.lax._comparison import eq, ge_p, le_p
from gnomon.lax._control.map import map as map_examples
from gnomon.lax._loops import on_cpu
from gnomon.lax._programs import emit
from gnomon.lax._reduction import greatest, least
from gnomon.lax._shape import pad_p, same_dim
from gnomon.lax._slicing import slice as slice_array
from gnomon.lax._windows_shape import (
  Pads,
  Shape,
  Windows,
  check_windows,
  dilated,
  elements,
  padded,
)
from gnomon.transform.vmap import to_dim

Values = Sequence[Any]
_DIRECTIONS = {ge_p: "GE", le_p: "LE"}
_OFFSETS = 32  # so many elements of a window are worth being written out


def _plain(window_dimensions: Shape, window_strides: Shape, padding: Pads) -> Windows:
  ones = (1,) * len(window_dimensions)
  return Windows(window_dimensions, window_strides, padding, ones, ones)


def _last(select_prim: Primitive, dtype: Any) -> Any:
  """The value that is never selected before another, as a scalar."""
  return full((), least(dtype) if select_prim is ge_p else greatest(dtype), dtype)


def _check_pair(
    name: str, select_prim: Primitive, x: ShapedArray, y: ShapedArray) -> None:
  if select_prim not in _DIRECTIONS:
    raise TypeError(f"{name} needs ge_p or le_p as select_prim, got {select_prim}")
  if x.dtype != y.dtype:
    raise TypeError(f"{name} needs operands of one dtype, got {x} and {y}")


# ---- gathering

select_and_gather_add_p = Primitive("select_and_gather_add")


@typing_rule.define(select_and_gather_add_p)
def _(t: ShapedArray, x: ShapedArray, *, select_prim: Primitive,
      **params: Any) -> tuple[ShapedArray]:
  name = "select_and_gather_add"
  _check_pair(name, select_prim, t, x)
  if t.shape != x.shape:
    raise TypeError(f"{name} needs tangents of the operand's shape: got {t} for {x}")
  w = Windows(**params)
  check_windows(name, w, x.shape)
  return (ShapedArray(w.counts(x.shape), t.dtype, t.weak_type),)


@lower.define(select_and_gather_add_p)
def _(ctx: Any, t: Any, x: Any, *, select_prim: Primitive, **params: Any) -> Values:
  b, out, w = ctx.b, ctx.avals_out[0], Windows(**params)
  if _written_out(ctx, w, out):
    return emit(
        ctx, _gather_program, ctx.avals_in, (t, x), w=w, select_prim=select_prim)
  one = ShapedArray((), out.dtype)
  kind = b.tensor(one)
  start = least if select_prim is ge_p else greatest

  def best(u: Any, tu: Any, v: Any, tv: Any) -> list[Any]:
    first = b.compare(_DIRECTIONS[select_prim], u, v, one)
    return [
        b.op1("stablehlo.select", kind, (first, *pair)) for pair in ((u, v), (tu, tv))]

  starts = (b.constant(start(out.dtype), out.dtype), b.constant(0, out.dtype))
  op = b.region_op(
      "stablehlo.reduce_window", [b.tensor(out)] * 2, (x, t, *starts),
      window_attributes(b, w), [((kind,) * 4, best)])
  return [op.results[1]]


def _written_out(ctx: Any, w: Windows, out: ShapedArray) -> bool:
  """Whether to go through the offsets of a window instead of through windows.

  XLA:CPU selects and scatters element by element: copies of the operand, shifted and
  compared, take a fraction of that.
  """
  few = math.prod(w.window_dimensions) <= _OFFSETS
  return on_cpu(ctx) and few and 0 not in out.shape


def _gather_program(t: Any, x: Any, *, w: Windows, select_prim: Primitive) -> list[Any]:
  dtype = typeof(x).dtype
  best, *others = elements(x, w, _last(select_prim, dtype))
  total, *tangents = elements(t, w, full((), 0, dtype))
  for v, tv in zip(others, tangents):
    kept = select_prim.apply(best, v)[0]
    best, total = select_n(kept, v, best), select_n(kept, tv, total)
  return [total]


def window_attributes(b: Any, w: Windows) -> dict[str, Any]:
  """The attributes of `stablehlo.reduce_window`."""
  return {
      "window_dimensions": b.i64s(w.window_dimensions),
      "window_strides": b.i64s(w.window_strides),
      "base_dilations": b.i64s(w.base_dilation),
      "window_dilations": b.i64s(w.window_dilation),
      "padding": b.i64_matrix(w.padding)}


@jvp_rule.define(select_and_gather_add_p)
def _(primals: Values, tangents: Values, **params: Any) -> tuple[Values, Values]:
  outs = select_and_gather_add_p.apply(*primals, **params)
  if type(tangents[0]) is Zero:
    return outs, (Zero(typeof(outs[0]).to_tangent_aval()),)
  return outs, select_and_gather_add_p.apply(tangents[0], primals[1], **params)


@transpose_rule.define(select_and_gather_add_p)
def _(cts: Values, args: Values, *, select_prim: Primitive, **params: Any) -> list[Any]:
  (t, x), ct = args, cts[0]
  w = Windows(**params)
  if type(t) is not UndefinedPrimal or type(ct) is Zero or typeof(ct).size == 0:
    return [Zero(t.aval), None] if type(t) is UndefinedPrimal else [None, None]
  if any(d != 1 for d in w.window_dilation):
    return [_scatter_to_elements(ct, x, w, select_prim), None]
  spread = w._replace(padding=((0, 0),) * len(w.padding))
  whole = padded(x, spread, _last(select_prim, typeof(x).dtype))
  out = select_and_scatter_add_p.apply(
      ct, whole, select_prim=select_prim, window_dimensions=w.window_dimensions,
      window_strides=w.window_strides, padding=w.padding)[0]
  return [_unspread(out, w), None]


def _unspread(x: Any, w: Windows) -> Any:
  """The elements that are not in gaps."""
  if all(d == 1 for d in w.base_dilation):
    return x
  shape = typeof(x).shape
  return slice_array(x, (0,) * len(shape), shape, w.base_dilation)


def _scatter_to_elements(ct: Any, x: Any, w: Windows, select_prim: Primitive) -> Any:
  """The transpose where the elements of a window stand apart: an offset at a time."""
  aval = typeof(x)
  last = _last(select_prim, aval.dtype)
  best, *others = elements(x, w, last)
  counts = typeof(best).shape
  chosen = full(counts, 0, "int32")
  for i, v in enumerate(others, 1):
    kept = select_prim.apply(best, v)[0]
    best = select_n(kept, v, best)
    chosen = select_n(kept, full(counts, i, "int32"), chosen)
  total: Any = None
  sizes = [n + low + high for n, (low, high) in zip(w.base(aval.shape), w.padding)]
  nothing = zeros_like_aval(typeof(ct))
  zero = full((), 0, aval.dtype)
  for i, at in enumerate(w.offsets()):
    here = select_n(eq(chosen, full(counts, i, "int32")), nothing, ct)
    config = tuple(
        (a, n - a - dilated(m, s), s - 1)
        for a, n, m, s in zip(at, sizes, counts, w.window_strides))
    part = pad_p.apply(here, zero, padding_config=config)[0]
    total = part if total is None else add_tangents(total, part)
  back = tuple((-low, -high, 0) for low, high in w.padding)
  return _unspread(pad_p.apply(total, zero, padding_config=back)[0], w)


@batch_rule.define(select_and_gather_add_p)
def _(axis: Any, args: Values, dims: Values, *, select_prim: Primitive,
      **params: Any) -> tuple[Values, Values]:
  xs, d = same_dim(axis, args, dims)
  w = Windows(**params).with_dimension(d)
  return select_and_gather_add_p.apply(
      *xs, select_prim=select_prim, **w._asdict()), (d,)


# ---- scattering sums

select_and_scatter_add_p = Primitive("select_and_scatter_add")


def _scattered_type(
    name: str, source: ShapedArray, x: ShapedArray, w: Windows) -> ShapedArray:
  check_windows(name, w, x.shape)
  if source.shape != w.counts(x.shape):
    raise TypeError(
        f"{name} needs a source with an element a window: the windows of an operand of "
        f"shape {x.shape} are {w.counts(x.shape)}, the source is {source}")
  return ShapedArray(x.shape, source.dtype, source.weak_type)


@typing_rule.define(select_and_scatter_add_p)
def _(source: ShapedArray, x: ShapedArray, *, select_prim: Primitive,
      **params: Any) -> tuple[ShapedArray]:
  name = "select_and_scatter_add"
  _check_pair(name, select_prim, source, x)
  return (_scattered_type(name, source, x, _plain(**params)),)


def _emit_scatter(
    b: Any, x: Any, source: Any, init: Any, out: ShapedArray, source_aval: ShapedArray,
    bodies: Any, w: Windows) -> Any:
  if out.size == 0 or source_aval.size == 0:
    return b.broadcast_in_dim(init, out, ())
  line = out
  if not out.shape:  # XLA's compiler aborts on scalars: a line of one element, then
    line, w = out.update(shape=(1,)), w.with_dimension(0)
    x, source = b.reshape(x, line), b.reshape(source, line)
  found = b.region_op(
      "stablehlo.select_and_scatter", [b.tensor(line)], (x, source, init), {
          "window_dimensions": b.i64s(w.window_dimensions),
          "window_strides": b.i64s(w.window_strides),
          "padding": b.i64_matrix(w.padding)}, bodies).result
  return found if line is out else b.reshape(found, out)


@lower.define(select_and_scatter_add_p)
def _(ctx: Any, source: Any, x: Any, *, select_prim: Primitive, **params: Any) -> Values:
  b, out, w = ctx.b, ctx.avals_out[0], _plain(**params)
  if _written_out(ctx, w, out):
    return emit(ctx, _scatter_program, ctx.avals_in, (source, x), w=w,
                select_prim=select_prim)
  one = ShapedArray((), out.dtype)
  kind = b.tensor(one)
  zero = b.constant(0, out.dtype)
  return [_emit_scatter(b, x, source, zero, out, ctx.avals_in[0], [
      ((kind,) * 2, lambda u, v: [b.compare(_DIRECTIONS[select_prim], u, v, one)]),
      ((kind,) * 2, lambda u, v: [b.op1("stablehlo.add", kind, (u, v))]),
  ], w)]


def _scatter_program(
    source: Any, x: Any, *, w: Windows, select_prim: Primitive) -> list[Any]:
  if typeof(source).size == 0:
    return [zeros_like_aval(typeof(x))]
  return [_scatter_to_elements(source, x, w, select_prim)]


@jvp_rule.define(select_and_scatter_add_p)
def _(primals: Values, tangents: Values, **params: Any) -> tuple[Values, Values]:
  outs = select_and_scatter_add_p.apply(*primals, **params)
  if type(tangents[0]) is Zero:
    return outs, (Zero(typeof(outs[0]).to_tangent_aval()),)
  return outs, select_and_scatter_add_p.apply(tangents[0], primals[1], **params)


@transpose_rule.define(select_and_scatter_add_p)
def _(cts: Values, args: Values, *, select_prim: Primitive, **params: Any) -> list[Any]:
  (source, x), ct = args, cts[0]
  if type(source) is not UndefinedPrimal:
    return [None, None]
  if type(ct) is Zero:
    return [Zero(source.aval), None]
  w = _plain(**params)
  return [select_and_gather_add_p.apply(ct, x, select_prim=select_prim, **w._asdict())[0],
          None]


@batch_rule.define(select_and_scatter_add_p)
def _(axis: Any, args: Values, dims: Values, *, select_prim: Primitive,
      **params: Any) -> tuple[Values, Values]:
  xs, d = same_dim(axis, args, dims)
  return select_and_scatter_add_p.apply(
      *xs, select_prim=select_prim, **_without_gaps(_plain(**params), d)), (d,)


def _without_gaps(w: Windows, d: int) -> dict[str, Any]:
  wider = w.with_dimension(d)
  return {"window_dimensions": wider.window_dimensions,
          "window_strides": wider.window_strides, "padding": wider.padding}


# ---- scattering with any function

select_and_scatter_p = Primitive("select_and_scatter", call=True)


@typing_rule.define(select_and_scatter_p)
def _(x: ShapedArray, source: ShapedArray, init: ShapedArray, *, select_jaxpr: Jaxpr,
      select_consts: Values, scatter_jaxpr: Jaxpr, scatter_consts: Values,
      **params: Any) -> tuple[ShapedArray]:
  name = "select_and_scatter"
  if init.shape or not x.dtype == source.dtype == init.dtype:
    raise TypeError(
        f"{name} needs an operand, a source and a scalar to begin with, of one dtype: "
        f"got {x}, {source} and {init}")
  return (_scattered_type(name, source, x, _plain(**params)),)


@lower.define(select_and_scatter_p)
def _(ctx: Any, x: Any, source: Any, init: Any, *, select_jaxpr: Jaxpr,
      select_consts: Values, scatter_jaxpr: Jaxpr, scatter_consts: Values,
      **params: Any) -> Values:
  b, out = ctx.b, ctx.avals_out[0]
  kind = b.tensor(ShapedArray((), out.dtype))
  return [_emit_scatter(b, x, source, init, out, ctx.avals_in[1], [
      ((kind,) * 2, partial(_inlined, ctx, ClosedJaxpr(jaxpr, list(consts))))
      for jaxpr, consts in (
          (select_jaxpr, select_consts), (scatter_jaxpr, scatter_consts))
  ], _plain(**params))]


def _inlined(ctx: Any, jaxpr: ClosedJaxpr, *values: Any) -> Values:
  return ctx.inline(jaxpr, values)  # type: ignore[no-any-return]


@batch_rule.define(select_and_scatter_p)
def _(axis: Any, args: Values, dims: Values, *, window_dimensions: Shape,
      window_strides: Shape, padding: Pads, **programs: Any) -> tuple[Values, Values]:
  w = _plain(window_dimensions, window_strides, padding)
  if dims[2] is None:
    (x, source), d = same_dim(axis, args[:2], dims[:2])
    return select_and_scatter_p.apply(
        x, source, args[2], **_without_gaps(w, d), **programs), (d,)

  def one(example: Any) -> Any:
    return select_and_scatter_p.apply(
        *example, window_dimensions=window_dimensions, window_strides=window_strides,
        padding=padding, **programs)[0]

  rows = [to_dim(x, d, 0, axis.size) for x, d in zip(args, dims)]
  return (map_examples(one, tuple(rows)),), (0,)
