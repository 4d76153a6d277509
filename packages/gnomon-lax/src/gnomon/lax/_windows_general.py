"""`reduce_window` with any function: the primitive, its derivative and its batching."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.jaxpr import ClosedJaxpr, eval_jaxpr
from gnomon.core.primitive import Primitive
from gnomon.core.rule import (
  batch_rule,
  jvp_rule,
  linearize_rule,
  lower,
  shown_params,
  typing_rule,
)
from gnomon.core.stage import trace_to_closed
from gnomon.core.structural import broadcast_in_dim, instantiate
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import Zero
from gnomon.lax._reduce import in_tree
from gnomon.lax._shape import same_dim
from gnomon.lax._stack import stack
from gnomon.lax._windows_select import window_attributes
from gnomon.lax._windows_shape import Windows, check_windows, elements
from gnomon.transform.jvp import jvp_jaxpr
from gnomon.transform.vmap import vmap_flat

Values = Sequence[Any]

reduce_window_p = Primitive("reduce_window", call=True)


@typing_rule.define(reduce_window_p)
def _(*avals: ShapedArray, jaxpr: ClosedJaxpr, **params: Any) -> tuple[ShapedArray, ...]:
  first, w = avals[0], Windows(**params)
  for x in avals[:len(avals) // 2]:
    if x.shape != first.shape:
      raise TypeError(f"reduce_window needs operands of one shape, got {first} and {x}")
  check_windows("reduce_window", w, first.shape)
  counts = w.counts(first.shape)
  return tuple(a.update(shape=counts) for a in jaxpr.out_avals)


@lower.define(reduce_window_p)
def _(ctx: Any, *values: Any, jaxpr: ClosedJaxpr, **params: Any) -> Values:
  b = ctx.b
  op = b.region_op(
      "stablehlo.reduce_window", [b.tensor(a) for a in ctx.avals_out], values,
      window_attributes(b, Windows(**params)),
      [([b.tensor(a) for a in jaxpr.in_avals], lambda *xs: ctx.inline(jaxpr, xs))])
  return list(op.results)


@shown_params.define(reduce_window_p)
def _(params: dict[str, Any]) -> list[tuple[str, Any]]:
  return sorted({**params, "consts": ()}.items())


# ---- derivatives


def _moves(xs: Values) -> tuple[bool, ...]:
  return tuple(dtypes.issubdtype(typeof(x).dtype, np.inexact) for x in xs)


def _placed(outs: Values, moving: Values) -> list[Any]:
  """Tangents of the results that have any, zeros for the others."""
  rest = iter(moving)
  return [
      next(rest) if moves else Zero(typeof(o).to_tangent_aval())
      for o, moves in zip(outs, _moves(outs))]


@jvp_rule.define(reduce_window_p)
def _(primals: Values, tangents: Values, *, jaxpr: ClosedJaxpr,
      **params: Any) -> tuple[Values, Values]:
  """One reduction of values together with their tangents."""
  n = len(primals) // 2
  moves = _moves(primals[:n])
  if not any(moves):
    outs = reduce_window_p.apply(*primals, jaxpr=jaxpr, **params)
    return outs, _placed(outs, ())
  both = _with_tangents(jaxpr, moves)
  ts = [
      [instantiate(t) for t, m in zip(side, moves) if m]
      for side in (tangents[:n], tangents[n:])]
  outs = reduce_window_p.apply(
      *primals[:n], *ts[0], *primals[n:], *ts[1], jaxpr=both, **params)
  return outs[:n], _placed(outs[:n], outs[n:])


def _with_tangents(jaxpr: ClosedJaxpr, moves: tuple[bool, ...]) -> ClosedJaxpr:
  """The computation on scalars and their tangents, two times all of them."""
  n, m = len(moves), sum(moves)
  both, _ = jvp_jaxpr(jaxpr, moves + moves, moves)

  def program(*xs: Any) -> list[Any]:
    left, right = xs[:n + m], xs[n + m:]
    return eval_jaxpr(
        both.jaxpr, both.consts, *left[:n], *right[:n], *left[n:], *right[n:])

  scalars = jaxpr.in_avals[:n]
  return trace_to_closed(program, (scalars + [
      a.to_tangent_aval() for a, moved in zip(scalars, moves) if moved]) * 2)


@linearize_rule.define(reduce_window_p)
def _(primals: Values, tangents: Values, *, jaxpr: ClosedJaxpr,
      **params: Any) -> tuple[Values, Values]:
  """In a tree, whose steps are linear in the tangents: it can be transposed."""
  n, w = len(primals) // 2, Windows(**params)
  outs = reduce_window_p.apply(*primals, jaxpr=jaxpr, **params)
  if not any(_moves(outs)) or 0 in typeof(outs[0]).shape:
    return outs, [Zero(typeof(o).to_tangent_aval()) for o in outs]
  ts = [
      [instantiate(t) if m else t for t, m in zip(side, _moves(outs))]
      for side in (tangents[:n], tangents[n:])]
  both = in_tree(
      jaxpr, (0,), *_rows(primals[:n], primals[n:], w), *_rows(ts[0], ts[1], w))
  return outs, _placed(outs, both[n:])


def _rows(xs: Values, inits: Values, w: Windows) -> tuple[list[Any], list[Any]]:
  """The elements of windows along a new axis 0, and initial values, one a window."""
  rows, starts = [], []
  for x, init in zip(xs, inits):
    if type(x) is not Zero:
      parts = elements(x, w, init)
      x = stack(parts)
      init = broadcast_in_dim(init, typeof(parts[0]).shape, ())
    rows.append(x)
    starts.append(init)
  return rows, starts


# ---- batching


@batch_rule.define(reduce_window_p)
def _(axis: Any, args: Values, dims: Values, *, jaxpr: ClosedJaxpr,
      **params: Any) -> tuple[Values, Values]:
  n, w = len(args) // 2, Windows(**params)
  if all(d is None for d in dims[n:]):
    xs, d = same_dim(axis, args[:n], dims[:n])
    return reduce_window_p.apply(
        *xs, *args[n:], jaxpr=jaxpr, **w.with_dimension(d)._asdict()), (d,) * n

  def program(*xs: Any) -> list[Any]:
    return in_tree(jaxpr, (0,), *_rows(xs[:n], xs[n:], w), (), ())

  return vmap_flat(program, axis, args, tuple(dims))
