"""Linearisation, transposition and dead code of `scan`: one split of its body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gnomon.core import strong
from gnomon.core.jaxpr import (
  ClosedJaxpr,
  Eqn,
  Jaxpr,
  Literal,
  effects_of,
  eval_jaxpr,
  memoised,
)
from gnomon.core.rule import dce_rule, linearize_rule, transpose_rule
from gnomon.core.stage import trace_to_closed
from gnomon.core.structural import add_tangents, instantiate, zeros_like_aval
from gnomon.core.types import typeof
from gnomon.core.zero import UndefinedPrimal, Zero
from gnomon.lax._control.common import depends, permuted, union, zero_filled
from gnomon.lax._control.scan import scan_p
from gnomon.transform.call import closed_once
from gnomon.transform.dce import dce_closed, dce_jaxpr
from gnomon.transform.jvp import Moves, moves_of, moving, place
from gnomon.transform.linearize import linearize_jaxpr
from gnomon.transform.transpose import transpose_jaxpr

Values = Sequence[Any]


# ---- linearisation


@linearize_rule.define(scan_p)
def _(primals: Values, tangents: Values, *, jaxpr: ClosedJaxpr, length: int,
      num_consts: int, num_carry: int, **params: Any) -> Any:
  nc, k = num_consts, num_carry
  n_out = len(jaxpr.out_avals)
  moves, primal, n_res, linear, moved = _linearize_fixpoint(
      jaxpr, moves_of(tangents), nc, k)
  known = _Known(primal, n_out, n_res, nc, k)
  outs = scan_p.apply(
      *primals, jaxpr=known.jaxpr, length=length, num_consts=nc, num_carry=k, **params)
  avals = [*jaxpr.out_avals[:k], *(typeof(y) for y in outs[k:n_out])]
  if not any(moved):
    return outs[:n_out], place((), moved, avals)
  consts, xs = known.residuals(primals, outs)
  ts = [instantiate(t) if m else t for t, m in zip(tangents, moves)]
  ct, kt, xt = (moving(ts[:nc]), moving(ts[nc:nc + k]), moving(ts[nc + k:]))
  first = n_res + len(ct)
  body = permuted(linear, [
      *known.const_places, *range(n_res, first + len(kt)), *known.x_places,
      *range(first + len(kt), first + len(kt) + len(xt))], range(sum(moved)))
  touts = scan_p.apply(
      *consts, *ct, *kt, *xs, *xt, jaxpr=body, length=length,
      num_consts=len(consts) + len(ct), num_carry=len(kt), **params)
  return outs[:n_out], place(touts, moved, avals)


def _linearize_fixpoint(
    jaxpr: ClosedJaxpr, moves: Moves, nc: int, k: int,
) -> tuple[Moves, ClosedJaxpr, int, ClosedJaxpr, Moves]:
  """Finds which carries have tangents.

  Returns moves in, the primal program, its number of residuals, the linear program, and
  moves out.
  """
  while True:
    carry = moves[nc:nc + k]
    primal, n_res, program, moved = linearize_jaxpr(jaxpr, moves)
    wider = union(carry, moved[:k])
    if wider == carry:
      want = (*carry, *moved[k:])
      avals = [a.to_tangent_aval() for a in jaxpr.out_avals]
      linear = zero_filled(closed_once(program), 0, moved, want, avals)
      return moves, primal, n_res, linear, want
    moves = (*moves[:nc], *wider, *moves[nc + k:])


class _Source(NamedTuple):
  """Where a residual comes from: the operand, constant, hoisted value or result."""

  kind: str
  place: int


class _Known:
  """The half of a split body that is known, as a scan's body, and its residuals.

  A residual that is the same in all steps is computed once, outside the loop; one that is
  a slice of an operand or a result already is that array; the others are stacked.
  """

  __slots__ = (
      "closed", "const_places", "hoisted", "jaxpr", "nc", "sources", "x_places")

  def __init__(self, split: ClosedJaxpr, n_out: int, n_res: int, nc: int, k: int) -> None:
    self.closed, self.nc = split, nc
    plan = memoised(
        split, ("residuals", n_out, nc, k), lambda: _plan(split, n_out, n_res, nc, k))
    self.sources, stacked, self.hoisted = plan
    self.jaxpr = permuted(
        split, range(len(split.in_avals)), [*range(n_out), *stacked])
    if self.hoisted is not None:  # what is computed outside now
      self.jaxpr, _ = dce_closed(self.jaxpr, (True,) * (n_out + len(stacked)), True)
    loop_invariant = [s.kind in ("const", "value", "hoisted") for s in self.sources]
    self.const_places = [i for i, c in enumerate(loop_invariant) if c]
    self.x_places = [i for i, c in enumerate(loop_invariant) if not c]

  def residuals(self, operands: Values, outs: Values) -> tuple[list[Any], list[Any]]:
    """The values of the residuals: those that are constant, and those to loop over."""
    found: list[Any] = []
    if self.hoisted is not None:
      consts = self.hoisted.constvars
      values = dict(zip(self.closed.jaxpr.constvars, self.closed.consts))
      found = eval_jaxpr(
          self.hoisted, [values[v] for v in consts], *operands[:self.nc])
    of = {
        "const": operands, "value": self.closed.consts, "hoisted": found, "x": operands,
        "result": outs}
    return (
        [of[s.kind][s.place] for s in (self.sources[i] for i in self.const_places)],
        [of[s.kind][s.place] for s in (self.sources[i] for i in self.x_places)])


def _plan(
    split: ClosedJaxpr, n_out: int, n_res: int, nc: int, k: int,
) -> tuple[list[_Source], list[int], Jaxpr | None]:
  """Sources of the residuals, which results are stacked for them, what is hoisted."""
  j = split.jaxpr
  places = {v: i for i, v in enumerate(j.invars)}
  values = {v: i for i, v in enumerate(j.constvars)}
  ys = {v: i for i, v in enumerate(j.outvars[k:n_out], k) if type(v) is not Literal}
  varying = depends(j, j.invars[nc:])
  impure = {v for e in j.eqns if e.effects for v in e.outvars}
  if impure:
    varying |= depends(j, impure)
  stacked: dict[Any, int] = {}
  hoisted: dict[Any, int] = {}
  first = len(j.outvars) - n_res
  sources: list[_Source] = []
  rows: list[int] = []
  for i, v in enumerate(j.outvars[first:], first):
    if type(v) is not Literal and v in places and not nc <= places[v] < nc + k:
      sources.append(_Source("const" if places[v] < nc else "x", places[v]))
    elif type(v) is not Literal and v in values:
      sources.append(_Source("value", values[v]))
    elif type(v) is not Literal and v not in varying:
      sources.append(_Source("hoisted", hoisted.setdefault(v, len(hoisted))))
    elif type(v) is not Literal and v in ys:
      sources.append(_Source("result", ys[v]))
    else:
      row = stacked.setdefault(v, n_out + len(stacked))
      if row == n_out + len(rows):
        rows.append(i)
      sources.append(_Source("result", row))
  return sources, rows, _hoisted(j, list(hoisted), nc) if hoisted else None


def _hoisted(j: Jaxpr, results: list[Any], nc: int) -> Jaxpr:
  """The program that computes variables which depend on the constants alone."""
  whole = j.replace(outvars=results, effects=frozenset(), eqns=[
      e for e in j.eqns if not e.effects])
  pruned, _ = dce_jaxpr(
      whole, [True] * len(results), [i < nc for i in range(len(j.invars))])
  return pruned


# ---- transposition

strong.masking_rule.define(scan_p)(lambda params: strong.ASK)


@transpose_rule.define(scan_p)
def _(cts: Values, args: Values, *, jaxpr: ClosedJaxpr, num_consts: int, num_carry: int,
      **params: Any) -> list[Any]:
  nc, k = num_consts, num_carry
  known = tuple([type(x) is not UndefinedPrimal for x in args])
  linear = _linear_carries(jaxpr, known, nc, k)
  if not all(linear):
    return _transpose_linear_part(cts, args, linear, jaxpr, nc, k, params)
  body_known = (*known[:nc], *(False,) * k, *known[nc + k:])
  state = strong.state
  outer = state.masked
  state.masked = outer or strong.has_masks(jaxpr)
  try:
    body, ct_moves, const_moves, x_moves = _transposed_body(
        jaxpr, body_known, moves_of(cts), nc, k)
    if not state.masked and any(
        m and type(t) is Zero for t, m in zip(cts, ct_moves)):
      state.masked = True  # a carry that is not used at the end begins with zeros
      body, ct_moves, const_moves, x_moves = _transposed_body(
          jaxpr, body_known, moves_of(cts), nc, k)
    state.made = state.masked
  finally:
    state.masked = outer
  const_avals = [a for a, u in zip(jaxpr.in_avals[:nc], known) if not u]
  acc = [zeros_like_aval(a) for a, m in zip(const_avals, const_moves) if m]
  carry = [instantiate(t) for t, m in zip(cts, ct_moves) if m]
  outs = scan_p.apply(
      *(x for x, u in zip(args[:nc], known) if u), *acc, *carry,
      *(x for x, u in zip(args[nc + k:], known[nc + k:]) if u), *moving(cts[k:]),
      jaxpr=body, num_consts=sum(known[:nc]), num_carry=len(acc) + len(carry),
      **{**params, "reverse": not params["reverse"]})
  moves = (*const_moves, *ct_moves, *x_moves)
  inner = [i for i, u in enumerate(body_known) if not u]
  found = dict(zip(inner, place(outs, moves, [
      args[i].aval if not known[i] else typeof(args[i]) for i in inner])))
  return [None if u else found[i] for i, u in enumerate(known)]


def _linear_carries(jaxpr: ClosedJaxpr, known: Moves, nc: int, k: int) -> Moves:
  """Which carries depend on something linear, if only after some steps."""
  j = jaxpr.jaxpr
  linear = [not u for u in known[nc:nc + k]]
  while True:
    sources = [v for v, u in zip(j.invars, known) if not u]
    sources += [v for v, m in zip(j.invars[nc:nc + k], linear) if m]
    found = depends(j, sources)
    wider = [
        m or (type(v) is not Literal and v in found)
        for m, v in zip(linear, j.outvars[:k])]
    if wider == linear:
      return tuple(linear)
    linear = wider


def _transposed_body(
    jaxpr: ClosedJaxpr, known: Moves, moves: Moves, nc: int, k: int,
) -> tuple[ClosedJaxpr, Moves, Moves, Moves]:
  """One step backwards, and which cotangents of carries, constants and slices move.

  Its inputs: known constants; sums of the constants' cotangents and the carry's; known
  slices, cotangents of stacked results. Its results: the sums and the carry's cotangents
  before the step, cotangents of slices.
  """
  lin_consts = nc - sum(known[:nc])
  ys = moves[k:]
  carry = moves[:k]
  while True:
    transposed, moved = transpose_jaxpr(jaxpr, known, (*carry, *ys))
    wider = union(carry, moved[lin_consts:lin_consts + k])
    if wider == carry:
      break
    carry = wider
  const_moves, x_moves = moved[:lin_consts], moved[lin_consts + k:]
  want = (*const_moves, *carry, *x_moves)
  unknown = [a for a, u in zip(jaxpr.in_avals, known) if not u]
  filled = zero_filled(transposed, 0, moved, want, unknown)
  body = memoised(
      filled, ("accumulated", known, nc, const_moves),
      lambda: _accumulated(filled, sum(known[:nc]), sum(known), sum(const_moves),
                           sum(carry)))
  return body, carry, const_moves, x_moves


def _accumulated(
    step: ClosedJaxpr, n_consts: int, n_known: int, n_acc: int, n_carry: int,
) -> ClosedJaxpr:
  avals = step.in_avals
  consts, xs, cts = avals[:n_consts], avals[n_consts:n_known], avals[n_known:]
  acc = step.out_avals[:n_acc]

  def back(*values: Any) -> list[Any]:
    it = iter(values)
    consts_, acc_, carry_, xs_ = (
        [next(it) for _ in range(n)]
        for n in (n_consts, n_acc, n_carry, n_known - n_consts))
    outs = eval_jaxpr(step.jaxpr, step.consts, *consts_, *xs_, *carry_, *it)
    return [
        *(add_tangents(a, ct) for a, ct in zip(acc_, outs)), *outs[n_acc:]]

  return trace_to_closed(
      back, [*consts, *acc, *cts[:n_carry], *xs, *cts[n_carry:]],
      step.jaxpr.debug_info)


def _transpose_linear_part(
    cts: Values, args: Values, linear: Moves, jaxpr: ClosedJaxpr, nc: int, k: int,
    params: dict[str, Any]) -> list[Any]:
  """Runs the loop of what is known first, so that all carries of the rest are linear."""
  known = tuple([
      not linear[i - nc] if nc <= i < nc + k else type(x) is not UndefinedPrimal
      for i, x in enumerate(args)])
  first, rest, n_res, out_known = _split_known(jaxpr, known)
  operands = [x for x, u in zip(args, known) if u]
  n_consts, n_carry = sum(known[:nc]), sum(known[nc:nc + k])
  split = _Known(first, sum(out_known), n_res, n_consts, n_carry)
  outs = scan_p.apply(
      *operands, jaxpr=split.jaxpr, num_consts=n_consts, num_carry=n_carry, **params)
  consts, xs = split.residuals(operands, outs)
  unknown = [i for i, u in enumerate(known) if not u]
  n_lin = nc - n_consts
  n_lin_carry = sum(linear)
  body = permuted(rest, [
      *split.const_places, *range(n_res, n_res + n_lin + n_lin_carry), *split.x_places,
      *range(n_res + n_lin + n_lin_carry, n_res + len(unknown))],
      range(len(rest.out_avals)))
  lin_args = [args[i] for i in unknown]
  found = transpose_rule[scan_p](
      [ct for ct, u in zip(cts, out_known) if not u],
      [*consts, *lin_args[:n_lin + n_lin_carry], *xs, *lin_args[n_lin + n_lin_carry:]],
      jaxpr=body, num_consts=len(consts) + n_lin, num_carry=n_lin_carry, **params)
  of_linear = [
      *found[len(consts):len(consts) + n_lin + n_lin_carry],
      *found[len(consts) + n_lin + n_lin_carry + len(xs):]]
  placed = dict(zip(unknown, of_linear))
  return [
      placed.get(i) if type(x) is UndefinedPrimal else None for i, x in enumerate(args)]


def _split_known(
    jaxpr: ClosedJaxpr, known: Moves) -> tuple[ClosedJaxpr, ClosedJaxpr, int, Moves]:
  """Splits a body in what depends on known inputs alone, and the rest.

  The first gives the known results, then residuals; the rest takes residuals, then the
  unknown inputs. Returns both, the number of residuals, and which results are known.
  """
  def make() -> tuple[ClosedJaxpr, ClosedJaxpr, int, Moves]:
    j = jaxpr.jaxpr
    unknown = depends(j, [v for v, u in zip(j.invars, known) if not u])
    later = [e for e in j.eqns if any(v in unknown for v in e.outvars)]
    sooner = [e for e in j.eqns if not any(v in unknown for v in e.outvars)]
    made = {v for e in later for v in e.outvars}
    own = {v for v, u in zip(j.invars, known) if not u}
    out_known = tuple([type(v) is Literal or v not in unknown for v in j.outvars])
    needed = dict.fromkeys(
        v for e in later for v in e.invars
        if type(v) is not Literal and v not in made and v not in own)
    residuals = list(needed)
    ins = [v for v, u in zip(j.invars, known) if u]
    rest = [v for v, u in zip(j.invars, known) if not u]
    first = j.replace(
        invars=ins, eqns=sooner, effects=effects_of(sooner),
        outvars=[v for v, u in zip(j.outvars, out_known) if u] + residuals)
    second = Jaxpr(
        [], residuals + rest, [v for v, u in zip(j.outvars, out_known) if not u], later,
        effects_of(later), j.debug_info)
    return (
        ClosedJaxpr(first, jaxpr.consts), ClosedJaxpr(second, ()), len(residuals),
        out_known)

  return memoised(jaxpr, ("split known", known), make)  # type: ignore[no-any-return]


# ---- dead code


@dce_rule.define(scan_p)
def _(used: Sequence[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]:
  if not any(used) and not eqn.effects:
    return [False] * len(eqn.invars), None
  p = eqn.params
  jaxpr, nc, k = p["jaxpr"], p["num_consts"], p["num_carry"]
  carry, ys = tuple(used[:k]), tuple(used[k:])
  while True:
    _, needs = dce_closed(jaxpr, (*carry, *ys))
    wider = union(carry, needs[nc:nc + k])
    if wider == carry:
      break
    carry = wider
  keep = (*needs[:nc], *carry, *needs[nc + k:])
  pruned, _ = dce_closed(jaxpr, (*carry, *ys), keep)
  outvars = [v for v, u in zip(eqn.outvars, (*carry, *ys)) if u]
  return list(keep), eqn.replace(
      invars=[v for v, u in zip(eqn.invars, keep) if u], outvars=outvars,
      effects=pruned.effects, params={
          **p, "jaxpr": pruned, "num_consts": sum(keep[:nc]), "num_carry": sum(carry)})
