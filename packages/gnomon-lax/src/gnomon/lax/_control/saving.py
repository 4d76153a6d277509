"""What loops and branches under `checkpoint` save, and what they compute again."""

from __future__ import annotations

from collections.abc import Sequence

from gnomon.core.effects import must_happen
from gnomon.core.jaxpr import ClosedJaxpr, Eqn, Literal, Var, memoised
from gnomon.core.rule import partial_eval_rule
from gnomon.core.types import ShapedArray
from gnomon.lax._control.common import permuted, union, widened, zero_filled
from gnomon.lax._control.cond import cond_p
from gnomon.lax._control.scan import scan_p
from gnomon.transform.jvp import Moves
from gnomon.transform.partial_eval import Policy, Split, split_results

Halves = tuple[Eqn, Eqn | None, list[Var]]


@partial_eval_rule.define(scan_p)
def _(e: Eqn, needed: Sequence[bool], policy: Policy) -> Halves | None:
  """Two loops: what the policy saves in a step is stacked by the first.

  The second carries what it needs to compute its results again; where all of them are
  saved there is none.
  """
  if must_happen(e.effects):
    return None
  p = e.params
  body, nc, k, length = p["jaxpr"], p["num_consts"], p["num_carry"], p["length"]
  carry, ys = tuple(needed[:k]), tuple(needed[k:])
  while True:
    split = split_results(body, (*carry, *ys), policy)
    wider = union(carry, split.kept[nc:nc + k])
    if wider == carry:
      break
    carry = wider
  wanted = [k + i for i, y in enumerate(ys) if y]
  first, direct = _saving(split, len(e.outvars), sum(carry), wanted)
  new = [
      Var(ShapedArray((length, *a.shape), a.dtype, a.weak_type))
      for a in first.out_avals[len(e.outvars):]]
  fresh = iter(new)
  saved = [next(fresh) if i is None else e.outvars[i] for i in direct]
  forward = e.replace(outvars=[*e.outvars, *new], params={**p, "jaxpr": first})
  again, consts, xs = _second_body(split, body, nc, carry, sum(carry), wanted, direct)
  if again is None:
    return forward, None, saved
  carried = [
      (e.outvars[i] if needed[i] else Var(e.outvars[i].aval)) for i in range(k)
      if carry[i]]
  ins = e.invars
  later = e.replace(
      invars=[
          *(ins[i] for i in consts), *(ins[nc + i] for i in range(k) if carry[i]),
          *saved, *(ins[i] for i in xs)],
      outvars=[*carried, *(e.outvars[i] for i in wanted if i not in direct)],
      params={
          **p, "jaxpr": again, "num_consts": len(consts), "num_carry": sum(carry)})
  return forward, later, saved


def _saving(
    split: Split, n: int, skipped: int, wanted: Sequence[int],
) -> tuple[ClosedJaxpr, list[int | None]]:
  """The first half without saved values that are results anyway, and which these are.

  `n` counts its results proper; `wanted` are those that the second half returns after
  the first `skipped` of its own.
  """
  m = len(split.forward.out_avals) - n
  inner = split.again.jaxpr
  numbers = {v: i for i, v in enumerate(inner.invars[:m])}
  direct: list[int | None] = [None] * m
  for place, v in zip(wanted, inner.outvars[skipped:]):
    i = None if type(v) is Literal else numbers.get(v)
    if i is not None and direct[i] is None:
      direct[i] = place
  kept = [*range(n), *(n + i for i, d in enumerate(direct) if d is None)]
  return permuted(split.forward, range(len(split.forward.in_avals)), kept), direct


def _second_body(
    split: Split, body: ClosedJaxpr, nc: int, carry: Moves, num_carry: int,
    wanted: Sequence[int], direct: Sequence[int | None],
) -> tuple[ClosedJaxpr | None, list[int], list[int]]:
  """The body of the second loop, and which constants and slices it reads."""
  inner, m, k = split.again.jaxpr, len(direct), len(carry)
  read = [i for i, r in enumerate(split.kept) if r]
  own = dict(zip(read, inner.invars[m:]))
  consts = [i for i in read if i < nc]
  xs = [i for i in read if i >= nc + k]
  ys = [
      v for place, v in zip(wanted, inner.outvars[num_carry:]) if place not in direct]
  if not num_carry and not ys:
    return None, consts, xs

  def make() -> ClosedJaxpr:
    carried = [
        own.get(nc + i) or Var(body.in_avals[nc + i]) for i in range(k) if carry[i]]
    return ClosedJaxpr(inner.replace(
        invars=[
            *(own[i] for i in consts), *carried, *inner.invars[:m],
            *(own[i] for i in xs)],
        outvars=[*inner.outvars[:num_carry], *ys]), split.again.consts)

  key = ("second body", nc, carry, tuple(wanted))
  return memoised(split.again, key, make), consts, xs


@partial_eval_rule.define(cond_p)
def _(e: Eqn, needed: Sequence[bool], policy: Policy) -> Halves | None:
  """Two conditionals: the first returns what any branch saves (zeros for the others)."""
  if must_happen(e.effects):
    return None
  branches = e.params["branches"]
  splits = [split_results(b, tuple(needed), policy) for b in branches]
  wanted = [v for v, p in zip(e.outvars, needed) if p]
  if all(_all_saved(s, len(e.outvars)) for s in splits):
    return e, None, wanted
  n = len(e.outvars)
  avals = [s.forward.out_avals[n:] for s in splits]
  every = [a for own in avals for a in own]
  kept = union(*[s.kept for s in splits])
  firsts, seconds, start = [], [], 0
  for s, own in zip(splits, avals):
    mine = tuple(start <= i < start + len(own) for i in range(len(every)))
    firsts.append(zero_filled(s.forward, n, mine, (True,) * len(every), every))
    positions = [i for i, r in enumerate(kept) if r]
    places = [
        *range(start, start + len(own)),
        *(len(every) + positions.index(i) for i, r in enumerate(s.kept) if r)]
    types = [*every, *(branches[0].in_avals[i] for i in positions)]
    seconds.append(widened(s.again, types, places))
    start += len(own)
  saved = [Var(a) for a in every]
  forward = e.replace(
      outvars=[*e.outvars, *saved], params={**e.params, "branches": tuple(firsts)})
  index, *operands = e.invars
  later = e.replace(
      invars=[index, *saved, *(x for x, r in zip(operands, kept) if r)], outvars=wanted,
      params={**e.params, "branches": tuple(seconds)})
  return forward, later, saved


def _all_saved(split: Split, n: int) -> bool:
  """Whether a branch computes nothing again."""
  m = len(split.forward.out_avals) - n
  saved = set(split.again.jaxpr.invars[:m])
  return all(type(v) is Literal or v in saved for v in split.again.jaxpr.outvars)
