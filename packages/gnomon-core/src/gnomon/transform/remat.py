"""Rematerialisation: a call whose residuals are computed again in the backward pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon import _config
from gnomon.core import strong
from gnomon.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, eval_jaxpr, live, memoised
from gnomon.core.primitive import Primitive
from gnomon.core.rule import (
  batch_rule,
  dce_rule,
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
from gnomon.transform.dce import dce_closed, dce_jaxpr
from gnomon.transform.expansion import define_by_expansion
from gnomon.transform.jvp import Moves, jvp_jaxpr, moves_of, moving, place
from gnomon.transform.linearize import linearize_jaxpr
from gnomon.transform.partial_eval import Policy, Split, split_jaxpr
from gnomon.transform.transpose import backward
from gnomon.transform.vmap import Axis, batch_jaxpr

remat_p = Primitive("remat2", call=True)
typing_rule.define(remat_p)(lambda *_, jaxpr, **__: tuple(jaxpr.out_avals))
effects_rule.define(remat_p)(lambda *_, jaxpr, **__: jaxpr.effects)
impl_rule.define(remat_p)(
    lambda *args, jaxpr, **_: eval_jaxpr(jaxpr.replace(eqns=live(jaxpr)), (), *args))

# Whether the compiler is kept from merging the two computations: for all operands, or one
# by one.
PreventCse = bool | tuple[bool, ...]


def _each(prevent_cse: PreventCse, n: int) -> tuple[bool, ...]:
  return (prevent_cse,) * n if isinstance(prevent_cse, bool) else prevent_cse


def _others(prevent_cse: PreventCse) -> bool:
  """The same for what joins the operands: constants, saved values, cotangents."""
  return prevent_cse if isinstance(prevent_cse, bool) else True


def _joined(parts: Sequence[bool]) -> PreventCse:
  """The shorter form, where all parts are equal."""
  first = parts[0] if parts else True
  return first if all(p is first for p in parts) else tuple(parts)


@lower.define(remat_p)
def _(ctx: Any, *values: Any, jaxpr: Jaxpr, prevent_cse: PreventCse,
      differentiated: bool, **_: Any) -> Any:
  apart = _each(prevent_cse, len(values))
  if differentiated and any(apart):  # else XLA would find the forward pass
    held = [v for v, p in zip(values, apart) if p]
    it = iter(ctx.b.op(
        "stablehlo.optimization_barrier", [v.type for v in held], held).results)
    values = tuple([next(it) if p else v for v, p in zip(values, apart)])
  return ctx.inline(closed_once(jaxpr), values)


@dce_rule.define(remat_p)
def _(used: Sequence[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]:
  if not any(used) and not eqn.effects:
    return [False] * len(eqn.invars), None
  jaxpr, kept = dce_jaxpr(eqn.params["jaxpr"], used)
  apart = _each(eqn.params["prevent_cse"], len(kept))
  return kept, eqn.replace(
      invars=[v for v, k in zip(eqn.invars, kept) if k],
      outvars=[v for v, u in zip(eqn.outvars, used) if u], effects=jaxpr.effects,
      params={**eqn.params, "jaxpr": jaxpr,
              "prevent_cse": _joined([p for p, k in zip(apart, kept) if k])})


def opened(closed: ClosedJaxpr) -> Jaxpr:
  """A jaxpr with the constants of a closed one as leading inputs, made once."""
  def make() -> Jaxpr:
    j = closed.jaxpr
    return Jaxpr(
        [], j.constvars + j.invars, j.outvars, j.eqns, j.effects, j.debug_info)

  return memoised(closed, "opened", make)  # type: ignore[no-any-return]


def _bind(
    closed: ClosedJaxpr, args: Sequence[Any], apart: Sequence[bool], others: bool,
    **params: Any) -> tuple[Any, ...]:
  """Binds `remat_p` to a transformed program, whose constants become operands."""
  consts = closed.consts
  return remat_p.apply(
      *consts, *args, jaxpr=opened(closed),
      prevent_cse=_joined([others] * len(consts) + list(apart)), **params)


def rebind(
    closed: ClosedJaxpr, args: Sequence[Any], *, prevent_cse: PreventCse,
    **params: Any) -> tuple[Any, ...]:
  """Binds `remat_p` to another program for the same arguments."""
  return _bind(
      closed, args, _each(prevent_cse, len(args)), _others(prevent_cse), **params)


@jvp_rule.define(remat_p)
def _(primals: Sequence[Any], tangents: Sequence[Any], *, jaxpr: Jaxpr,
      prevent_cse: PreventCse, **params: Any) -> Any:
  moves = moves_of(tangents)
  both, moved = jvp_jaxpr(closed_once(jaxpr), moves)
  apart = _each(prevent_cse, len(primals))
  outs = _bind(
      both, [*primals, *moving(tangents)],
      [*apart, *(p for p, m in zip(apart, moves) if m)], _others(prevent_cse), **params)
  n = len(jaxpr.outvars)
  return outs[:n], place(outs[n:], moved, jaxpr.out_avals)


@batch_rule.define(remat_p)
def _(axis: Axis, args: Sequence[Any], dims: Sequence[Any], *, jaxpr: Jaxpr,
      prevent_cse: PreventCse, **params: Any) -> Any:
  batched, places = batch_jaxpr(closed_once(jaxpr), axis, tuple(dims))
  outs = _bind(
      batched, args, _each(prevent_cse, len(args)), _others(prevent_cse), **params)
  return outs, places


# ---- reverse mode: residuals are not kept, but what computes them again


def nothing_saveable(*_: Any, **__: Any) -> bool:
  """Nothing is saved but the arguments: as without a policy."""
  return False


@linearize_rule.define(remat_p)
def _(primals: Sequence[Any], tangents: Sequence[Any], *, jaxpr: Jaxpr,
      prevent_cse: PreventCse, differentiated: bool, policy: Policy | None) -> Any:
  moves = moves_of(tangents)
  program, num_res, linear, out_moves = linearize_jaxpr(closed_once(jaxpr), moves)
  split: Split = split_jaxpr(
      program, num_res, policy or nothing_saveable, round_saved=True)
  outs = eval_jaxpr(split.forward.jaxpr, split.forward.consts, *primals)
  n = len(jaxpr.outvars)
  if not any(out_moves):
    return outs[:n], place((), out_moves, jaxpr.out_avals)
  saved = outs[n:]
  if _config.current().log_checkpoint_residuals:
    from gnomon.core.provenance import log_saved  # few ask for it

    log_saved(
        split.forward.jaxpr, len(saved),
        [typeof(x) for x, k in zip(primals, split.kept) if k])
  apart = [_others(prevent_cse)] * len(saved)
  apart += [p for p, k in zip(_each(prevent_cse, len(primals)), split.kept) if k]
  touts = remat_lin_p.apply(
      *saved, *(x for x, k in zip(primals, split.kept) if k), *moving(tangents),
      again=split.again, linear=linear, policy=policy, prevent_cse=_joined(apart))
  return outs[:n], place(touts, out_moves, jaxpr.out_avals)


# (saved values, arguments, tangents) -> tangents. `again` computes the residuals from the
# first two, and `linear` takes them and the tangents.
remat_lin_p = Primitive("remat_linear", call=True)
typing_rule.define(remat_lin_p)(lambda *_, linear, **__: tuple(linear.out_avals))


def _expanded(
    *args: Any, again: ClosedJaxpr, linear: Jaxpr, policy: Any, prevent_cse: Any) -> Any:
  n = len(again.in_avals)
  residuals = eval_jaxpr(again.jaxpr, again.consts, *args[:n])
  return eval_jaxpr(linear, (), *residuals, *args[n:])


define_by_expansion(remat_lin_p, _expanded)
strong.masking_rule.define(remat_lin_p)(
    lambda params: strong.has_masks(params["linear"]))


@transpose_rule.define(remat_lin_p)
def _(cts: Sequence[Any], args: Sequence[Any], *, again: ClosedJaxpr, linear: Jaxpr,
      prevent_cse: PreventCse, policy: Policy | None) -> list[Any]:
  n, ct_moves = len(again.in_avals), moves_of(cts)
  unknown = [v.aval for v in linear.invars[len(again.out_avals):]]

  def make() -> tuple[ClosedJaxpr, tuple[bool, ...], Moves]:
    moved: list[bool] = []

    def back(*xs: Any) -> list[Any]:
      residuals = eval_jaxpr(again.jaxpr, again.consts, *xs[:n])
      found = backward(
          linear, (), [*residuals, *map(UndefinedPrimal, unknown)],
          place(xs[n:], ct_moves, linear.out_avals))[len(residuals):]
      moved[:] = moves_of(found)
      return moving(found)

    avals = list(again.in_avals)
    avals += [v.aval for v, m in zip(linear.outvars, ct_moves) if m]
    closed = trace_to_closed(back, avals)
    return *dce_closed(closed, (True,) * len(closed.out_avals)), tuple(moved)

  key = ("remat transpose", linear, ct_moves, strong.state.masked)
  closed, kept, moved = memoised(again, key, make)
  operands = [*args[:n], *moving(cts)]
  others = _others(prevent_cse)
  apart = [*_each(prevent_cse, n), *[others] * (len(operands) - n)]
  outs = _bind(
      closed, [x for x, k in zip(operands, kept) if k],
      [p for p, k in zip(apart, kept) if k], others, differentiated=True, policy=policy)
  return [None] * n + place(outs, moved, unknown)


@transpose_rule.define(remat_p)
def _(cts: Sequence[Any], args: Sequence[Any], *, jaxpr: Jaxpr, prevent_cse: PreventCse,
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
  apart = [p for p, k in zip(_each(prevent_cse, len(args)), known) if k]
  others = _others(prevent_cse)
  outs = _bind(
      closed, operands, [*apart, *[others] * (len(operands) - len(apart))], others,
      **params)
  found = iter(place(outs, tuple(moved), [x.aval for x, k in zip(args, known) if not k]))
  return [None if k else next(found) for k in known]
