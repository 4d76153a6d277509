"""Rematerialisation: a call whose residuals are computed again in the backward pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.core.jaxpr import ClosedJaxpr, Jaxpr, eval_jaxpr, live, memoised
from gnomon.core.primitive import Primitive
from gnomon.core.rule import (
  batch_rule,
  effects_rule,
  impl_rule,
  jvp_rule,
  linearize_rule,
  lower,
  transpose_rule,
  typing_rule,
)
from gnomon.core.stage import trace_to_closed
from gnomon.core.types import typeof
from gnomon.core.zero import UndefinedPrimal
from gnomon.transform.call import closed_once
from gnomon.transform.jvp import Moves, jvp_jaxpr, moves_of, moving, place
from gnomon.transform.linearize import linearize_flat
from gnomon.transform.transpose import backward
from gnomon.transform.vmap import Axis, batch_jaxpr

remat_p = Primitive("remat2", call=True)
typing_rule.define(remat_p)(lambda *_, jaxpr, **__: tuple(jaxpr.out_avals))
effects_rule.define(remat_p)(lambda *_, jaxpr, **__: jaxpr.effects)
impl_rule.define(remat_p)(
    lambda *args, jaxpr, **_: eval_jaxpr(jaxpr.replace(eqns=live(jaxpr)), (), *args))


@lower.define(remat_p)
def _(ctx: Any, *values: Any, jaxpr: Jaxpr, prevent_cse: bool, differentiated: bool,
      **_: Any) -> Any:
  if differentiated and prevent_cse and values:  # else XLA would find the forward pass
    types = [v.type for v in values]
    values = tuple(ctx.b.op("stablehlo.optimization_barrier", types, values).results)
  return ctx.inline(closed_once(jaxpr), values)


@jvp_rule.define(remat_p)
def _(primals: Sequence[Any], tangents: Sequence[Any], *, jaxpr: Jaxpr,
      **params: Any) -> Any:
  both, moved = jvp_jaxpr(closed_once(jaxpr), moves_of(tangents))
  outs = remat_p.bind(
      *both.consts, *primals, *moving(tangents), jaxpr=_opened(both), **params)
  n = len(jaxpr.outvars)
  return outs[:n], place(outs[n:], moved, jaxpr.out_avals)


def _opened(closed: ClosedJaxpr) -> Jaxpr:
  """A jaxpr with the constants of a closed one as leading inputs, made once."""
  def make() -> Jaxpr:
    j = closed.jaxpr
    return Jaxpr(
        [], j.constvars + j.invars, j.outvars, j.eqns, j.effects, j.debug_info)

  return memoised(closed, "opened", make)  # type: ignore[no-any-return]


@linearize_rule.define(remat_p)
def _(primals: Sequence[Any], tangents: Sequence[Any], *, jaxpr: Jaxpr,
      **params: Any) -> Any:
  outs = remat_p.bind(*primals, jaxpr=jaxpr, **params)
  moves = moves_of(tangents)
  out_moves = _out_moves(jaxpr, moves)
  avals = [typeof(o).to_tangent_aval() for o in outs]
  if not any(out_moves):
    return outs, place((), out_moves, jaxpr.out_avals)
  touts = remat_lin_p.bind(
      *primals, *moving(tangents), jaxpr=jaxpr, moves=moves, out_moves=out_moves,
      out_avals=tuple(a for a, m in zip(avals, out_moves) if m),
      prevent_cse=params["prevent_cse"], policy=params["policy"])
  return outs, place(touts, out_moves, jaxpr.out_avals)


def _out_moves(jaxpr: Jaxpr, moves: Moves) -> Moves:
  """Which results may have tangents, by what they depend on."""
  tangent = {v for v, m in zip(jaxpr.invars, moves) if m}
  for e in jaxpr.eqns:
    if not tangent.isdisjoint(e.invars):
      tangent.update(e.outvars)
  return tuple([
      v in tangent and v.aval.to_tangent_aval() is v.aval for v in jaxpr.outvars])


remat_lin_p = Primitive("remat_linear", call=True)  # (primals, tangents) -> tangents
typing_rule.define(remat_lin_p)(lambda *_, out_avals, **__: out_avals)


def _expanded(*args: Any, jaxpr: Jaxpr, moves: Moves, out_moves: Moves, out_avals: Any,
              prevent_cse: Any, policy: Any) -> Any:
  both, moved = jvp_jaxpr(closed_once(jaxpr), moves, out_moves)
  n = len(jaxpr.outvars)
  outs = eval_jaxpr(both.jaxpr, both.consts, *args)[n:]
  it = iter(outs)
  touts = [next(it) if m else None for m in moved]
  return [t for t, m in zip(touts, out_moves) if m]


impl_rule.define(remat_lin_p)(_expanded)


@lower.define(remat_lin_p)
def _(ctx: Any, *values: Any, **params: Any) -> Any:
  jaxpr = trace_to_closed(lambda *xs: _expanded(*xs, **params), ctx.avals_in)
  return ctx.inline(jaxpr, values)


@jvp_rule.define(remat_lin_p)
def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
  avals = [typeof(x) for x in primals]
  jaxpr = trace_to_closed(lambda *xs: _expanded(*xs, **params), avals)
  both, moved = jvp_jaxpr(jaxpr, moves_of(tangents))
  outs = eval_jaxpr(both.jaxpr, both.consts, *primals, *moving(tangents))
  n = len(jaxpr.out_avals)
  return outs[:n], place(outs[n:], moved, jaxpr.out_avals)


def _unmapped(aval: Any, dim: int | None) -> Any:
  if dim is None:
    return aval
  return aval.update(shape=aval.shape[:dim] + aval.shape[dim + 1:])


@batch_rule.define(remat_lin_p)
def _(axis: Axis, args: Sequence[Any], dims: Sequence[Any], **params: Any) -> Any:
  avals = [_unmapped(typeof(x), d) for x, d in zip(args, dims)]
  jaxpr = trace_to_closed(lambda *xs: _expanded(*xs, **params), avals)
  batched, places = batch_jaxpr(jaxpr, axis, tuple(dims))
  return eval_jaxpr(batched.jaxpr, batched.consts, *args), places


@batch_rule.define(remat_p)
def _(axis: Axis, args: Sequence[Any], dims: Sequence[Any], *, jaxpr: Jaxpr,
      **params: Any) -> Any:
  batched, places = batch_jaxpr(closed_once(jaxpr), axis, tuple(dims))
  outs = remat_p.bind(*batched.consts, *args, jaxpr=_opened(batched), **params)
  return outs, places


@transpose_rule.define(remat_lin_p)
def _(cts: Sequence[Any], args: Sequence[Any], *, jaxpr: Jaxpr, moves: Moves,
      out_moves: Moves, out_avals: Any, prevent_cse: Any, policy: Any) -> list[Any]:
  n = len(moves)
  primals, ct_moves = list(args[:n]), moves_of(cts)

  def make() -> tuple[ClosedJaxpr, Moves]:
    moved: list[bool] = []

    def back(*xs: Any) -> list[Any]:
      _, lin = linearize_flat(
          lambda *ys: eval_jaxpr(jaxpr, (), *ys), xs[:n], moves)
      given = iter(place(xs[n:], ct_moves, out_avals))
      full = [next(given) if m else None for m in out_moves]
      linear = [UndefinedPrimal(v.aval) for v in lin.jaxpr.invars]
      found = backward(
          lin.jaxpr, lin.residuals, linear,
          [ct for ct, m in zip(full, lin.out_moves) if m])
      moved[:] = moves_of(found)
      return moving(found)

    avals = [v.aval for v in jaxpr.invars]
    avals += [a for a, m in zip(out_avals, ct_moves) if m]
    return trace_to_closed(back, avals), tuple(moved)

  transposed, moved = memoised(
      closed_once(jaxpr), ("remat transpose", moves, out_moves, ct_moves), make)
  outs = remat_p.bind(
      *transposed.consts, *primals, *moving(cts), jaxpr=_opened(transposed),
      prevent_cse=prevent_cse, differentiated=True, policy=policy)
  tangent_avals = [
      a.to_tangent_aval() for a, m in zip(jaxpr.in_avals, moves) if m]
  return [None] * n + place(outs, moved, tangent_avals)


@transpose_rule.define(remat_p)
def _(cts: Sequence[Any], args: Sequence[Any], *, jaxpr: Jaxpr,
      **params: Any) -> list[Any]:
  known = [type(x) is not UndefinedPrimal for x in args]
  moves = moves_of(cts)
  moved: list[bool] = []

  def back(*xs: Any) -> list[Any]:
    values = iter(xs)
    operands = [
        next(values) if k else UndefinedPrimal(v.aval)
        for k, v in zip(known, jaxpr.invars)]
    found = backward(jaxpr, (), operands, place(list(values), moves, jaxpr.out_avals))
    found = [ct for ct, k in zip(found, known) if not k]
    moved[:] = moves_of(found)
    return moving(found)

  operands = [x for x, k in zip(args, known) if k] + moving(cts)
  closed = trace_to_closed(back, [typeof(x) for x in operands])
  outs = remat_p.bind(*closed.consts, *operands, jaxpr=_opened(closed), **params)
  found = iter(place(outs, tuple(moved), [x.aval for x, k in zip(args, known) if not k]))
  return [None if k else next(found) for k in known]
