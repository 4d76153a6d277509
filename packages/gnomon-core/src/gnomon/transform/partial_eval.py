"""Partial evaluation by a policy: which values a program saves, which it computes again.

The two halves of a program: `forward` computes its results and the saved values, `again`
the needed values from what was saved and from the arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gnomon.core import dtypes
from gnomon.core.effects import RefEffect, must_happen
from gnomon.core.jaxpr import (
  ClosedJaxpr,
  Eqn,
  Jaxpr,
  Literal,
  Var,
  effects_of,
  memoised,
)
from gnomon.core.precision import reduce_precision_p
from gnomon.core.primitive import Primitive
from gnomon.core.ref_type import AbstractRef
from gnomon.core.rule import (
  batch_rule,
  jvp_rule,
  lower,
  partial_eval_rule,
  shown_params,
  transpose_rule,
  typing_rule,
)
from gnomon.core.zero import Zero
from gnomon.transform.call import jit_p
from gnomon.transform.dce import dce_closed

Policy = Callable[..., Any]


class _Verdict:
  """What a policy may say of an operation."""

  __slots__ = ("name",)

  def __init__(self, name: str) -> None:
    self.name = name

  def __repr__(self) -> str:
    return self.name


Saveable = _Verdict("Saveable")  # keep the result
Recompute = _Verdict("Recompute")  # compute it again


class Offloadable(NamedTuple):
  """A policy's verdict: keep the result, in the memory space `dst`.

  It is brought back to the space `src` when the backward pass needs it.
  """

  src: str
  dst: str


def _verdict(policy: Policy, e: Eqn) -> Any:
  """Whether the policy saves the results of an equation: True, False or Offloadable."""
  found = policy(e.primitive, *[v.aval for v in e.invars], **e.params)
  if found is Saveable or found is Recompute:
    return found is Saveable
  if not isinstance(found, (bool, np.bool_, Offloadable)):
    raise TypeError(
        "Value returned by a remat policy should be a bool or `ad_checkpoint.Recompute`, "
        "`ad_checkpoint.Saveable` or `ad_checkpoint.Offloadable(...)`. Got "
        f"{found!r} of type {type(found)} for the operation {e.primitive}")
  return found


# ---- values that wait in another memory space

to_memory_p = Primitive("device_put")
typing_rule.define(to_memory_p)(lambda x, *, space: (x,))


@lower.define(to_memory_p)
def _(ctx: Any, x: Any, *, space: str) -> Any:
  if ctx.platforms == ("cpu",):  # all its spaces are the host's memory
    return [x]
  b = ctx.b
  return [b.op1("stablehlo.custom_call", x.type, (x,), {
      "call_target_name": b.string("annotate_device_placement"),
      "has_side_effect": b.flag(True),
      "mhlo.frontend_attributes": b.attr(
          f'{{_xla_buffer_placement = "{space}"}}')})]


@shown_params.define(to_memory_p)
def _(params: dict[str, Any]) -> Any:
  side = "Device" if params["space"] == "device" else "Host"
  return [
      ("copy_semantics", "(ArrayCopySemantics.ALWAYS_COPY,)"),
      ("devices", f"(MemorySpace.{side},)"), ("srcs", "(None,)")]


@jvp_rule.define(to_memory_p)
def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
  t = tangents[0]
  return to_memory_p.apply(*primals, **params), (
      (t,) if type(t) is Zero else to_memory_p.apply(t, **params))


transpose_rule.define(to_memory_p)(
    lambda cts, args, **params: [
        cts[0] if type(cts[0]) is Zero else to_memory_p.apply(cts[0], space="device")[0]])
batch_rule.define(to_memory_p)(
    lambda axis, args, dims, **params: (to_memory_p.apply(*args, **params), dims))


# ---- the split


class Split(NamedTuple):
  """A program in two halves.

  `forward` takes the program's arguments and returns the results that are no residuals,
  then the saved values; `again` takes the saved values and the arguments `kept`, and
  returns the residuals.
  """

  forward: ClosedJaxpr
  again: ClosedJaxpr
  kept: tuple[bool, ...]


def split_jaxpr(
    jaxpr: ClosedJaxpr, num_res: int, policy: Policy, *, round_saved: bool = False,
) -> Split:
  """Splits a program whose last `num_res` results are residuals; remembered with it.

  Args:
    jaxpr: the program.
    num_res: how many of its results are only needed later.
    policy: called with each operation's primitive, types and params, says whether its
      results may be saved.
    round_saved: rounds saved floats to their own precision, lest the compiler should use
      others in the forward pass than it saves.
  """
  return memoised(  # type: ignore[no-any-return]
      jaxpr, ("split", num_res, policy, round_saved),
      lambda: _split(jaxpr, num_res, policy, round_saved))


def _split(
    jaxpr: ClosedJaxpr, num_res: int, policy: Policy, round_saved: bool) -> Split:
  j = jaxpr.jaxpr
  n = len(j.outvars) - num_res
  outvars, residuals = j.outvars[:n], j.outvars[n:]
  needed = {v for v in residuals if type(v) is not Literal}
  eqns: list[Eqn] = []
  again: list[Eqn] = []
  saved: list[Var] = []
  moved: dict[Any, Offloadable] = {}
  for e in reversed(j.eqns):
    places = [v in needed for v in e.outvars]
    effects = must_happen(e.effects)
    if not any(places) and not effects:
      eqns.append(e)
      continue
    rule = partial_eval_rule.get(e.primitive)
    halves = None if rule is None else rule(e, places, policy)
    if effects and halves is None:
      eqns.append(e)
      if _happens_once(e):
        saved += [v for v, p in zip(e.outvars, places) if p]
      elif any(places) or _happens_again(e, j, policy):
        again.append(e)
        needed.update(v for v in e.invars if type(v) is not Literal)
      continue
    if halves is not None:
      first, later, mine = halves
      eqns.append(first)
    else:
      eqns.append(e)
      verdict = _verdict(policy, e)
      later = None if verdict else e
      mine = [v for v, p in zip(e.outvars, places) if p] if verdict else []
      if isinstance(verdict, Offloadable):
        moved.update((v, verdict) for v in mine)
    saved += reversed(mine)
    if later is not None:
      again.append(later)
      needed.update(v for v in later.invars if type(v) is not Literal)
  for part in (eqns, again, saved):
    part.reverse()
  kept = saved
  if round_saved:
    eqns, outvars, kept = _rounded(eqns, outvars, saved, moved)
  if moved:
    eqns, kept = _away(eqns, kept, moved)
    again, residuals = _back(again, residuals, moved)
  forward = ClosedJaxpr(j.replace(outvars=[*outvars, *kept], eqns=eqns), jaxpr.consts)
  forward = dce_closed(forward, (True,) * len(forward.out_avals), True)[0]
  second = ClosedJaxpr(
      Jaxpr(
          j.constvars, [*saved, *j.invars], residuals, again, effects_of(again),
          j.debug_info),
      jaxpr.consts)
  k = len(saved)
  second, reads = dce_closed(
      second, (True,) * num_res, (True,) * k + (False,) * len(j.invars))
  return Split(forward, second, reads[k:])


def _happens_once(e: Eqn) -> bool:
  """Whether an operation is on references that the backward pass leaves alone."""
  kinds = [v.aval.kind for v in e.invars if type(v.aval) is AbstractRef]
  return (
      bool(kinds) and all(k is not None and "no_remat" in k for k in kinds)
      and all(type(effect) is RefEffect for effect in e.effects))


def _happens_again(e: Eqn, jaxpr: Jaxpr, policy: Policy) -> bool:
  """Whether an effect happens in the backward pass, too: it shows what is computed there.

  So it is where the policy does not save it, or saves no value that it shows.

  Raises:
    NotImplementedError: it may not happen twice.
  """
  if not all(effect.dispensable for effect in e.effects):
    raise NotImplementedError(
        "Effects not supported in partial-eval of `checkpoint`/`remat`: "
        f"{sorted(map(str, e.effects))} of {e.primitive}, which would happen in the "
        "backward pass again. Move the operation out of the checkpointed function")
  if not _verdict(policy, e):
    return True
  makers = {v: maker for maker in jaxpr.eqns for v in maker.outvars}
  shown = [makers.get(v) for v in e.invars if type(v) is not Literal]
  return bool(shown) and not any(
      maker is None or _verdict(policy, maker) for maker in shown)


def _renamed(e: Eqn, names: dict[Any, Any]) -> Eqn:
  """An equation that reads other variables."""
  if not names or all(type(v) is Literal or v not in names for v in e.invars):
    return e
  return e.replace(invars=[_name(v, names) for v in e.invars])


def _name(v: Any, names: dict[Any, Any]) -> Any:
  return v if type(v) is Literal else names.get(v, v)


def _rounded(
    eqns: list[Eqn], outvars: list[Any], saved: list[Var], moved: dict[Any, Offloadable],
) -> tuple[list[Eqn], list[Any], list[Var]]:
  """Rounds the saved values that the forward pass itself reads, too."""
  read = {v for e in eqns for v in e.invars if type(v) is Var}
  read.update(v for v in outvars if type(v) is Var)
  names: dict[Any, Any] = {
      v: Var(v.aval) for v in saved
      if v in read and v not in moved and dtypes.issubdtype(v.aval.dtype, np.floating)}
  out: list[Eqn] = []
  for e in eqns:
    out.append(_renamed(e, names))
    for v in e.outvars:
      if v in names:
        info = dtypes.finfo(v.aval.dtype)
        out.append(Eqn(reduce_precision_p, [v], [names[v]], {
            "exponent_bits": info.nexp, "mantissa_bits": info.nmant}, source=e.source))
  return out, [_name(v, names) for v in outvars], [names.get(v, v) for v in saved]


def _away(
    eqns: list[Eqn], saved: list[Var], moved: dict[Any, Offloadable],
) -> tuple[list[Eqn], list[Var]]:
  """Moves saved values to the memory where they wait, as soon as they are computed."""
  names = {v: Var(v.aval) for v in saved if v in moved}
  out: list[Eqn] = []
  for e in eqns:
    out.append(e)
    for v in e.outvars:
      if v in names:
        out.append(Eqn(
            to_memory_p, [v], [names[v]], {"space": moved[v].dst}, source=e.source))
  return out, [names.get(v, v) for v in saved]


def _back(
    eqns: list[Eqn], residuals: list[Any], moved: dict[Any, Offloadable],
) -> tuple[list[Eqn], list[Any]]:
  """Brings saved values back, each before its first use."""
  names: dict[Any, Any] = {}
  out: list[Eqn] = []

  def bring(atoms: Sequence[Any]) -> None:
    for v in atoms:
      if type(v) is not Literal and v in moved and v not in names:
        names[v] = Var(v.aval)
        out.append(Eqn(to_memory_p, [v], [names[v]], {"space": moved[v].src}))

  for e in eqns:
    bring(e.invars)
    out.append(_renamed(e, names))
  bring(residuals)
  return out, [_name(v, names) for v in residuals]


@partial_eval_rule.define(jit_p)
def _(
    e: Eqn, needed: Sequence[bool], policy: Policy,
) -> tuple[Eqn, Eqn | None, list[Var]]:
  forward, again, kept, direct = _split_call(e.params["jaxpr"], tuple(needed), policy)
  n = len(e.outvars)
  new = [Var(a) for a in forward.out_avals[n:]]
  first = e.replace(
      outvars=[*e.outvars, *new], params={**e.params, "jaxpr": forward})
  fresh = iter(new)
  saved = [next(fresh) if place is None else e.outvars[place] for place in direct]
  outs = [
      v for i, (v, p) in enumerate(zip(e.outvars, needed)) if p and i not in direct]
  if not outs and not again.effects:
    return first, None, saved
  ins = [*saved, *(v for v, k in zip(e.invars, kept) if k)]
  return first, e.replace(invars=ins, outvars=outs, effects=again.effects, params={
      **e.params, "jaxpr": again, "donated_invars": (False,) * len(ins)}), saved


class CallSplit(NamedTuple):
  """A called program in two halves.

  `forward` returns all results, then the saved values that are no results; `direct` says
  of each saved value which result it is, or None; `again` takes saved values and the
  arguments `kept`, and returns the needed results that were not saved.
  """

  forward: ClosedJaxpr
  again: ClosedJaxpr
  kept: tuple[bool, ...]
  direct: tuple[int | None, ...]


def _split_call(
    closed: ClosedJaxpr, needed: tuple[bool, ...], policy: Policy) -> CallSplit:
  def make() -> CallSplit:
    places = [i for i, p in enumerate(needed) if p]
    split = split_results(closed, needed, policy)
    n, inner = len(needed), split.again.jaxpr
    direct: list[int | None] = [None] * (len(split.forward.out_avals) - n)
    numbers = {v: i for i, v in enumerate(inner.invars[:len(direct)])}
    for place, v in zip(places, inner.outvars):
      i = None if type(v) is Literal else numbers.get(v)
      if i is not None and direct[i] is None:
        direct[i] = place
    forward = dce_closed(
        split.forward, (True,) * n + tuple([d is None for d in direct]), True)[0]
    again = dce_closed(split.again, tuple([p not in direct for p in places]), True)[0]
    return CallSplit(forward, again, split.kept, tuple(direct))

  return memoised(closed, ("split call", needed, policy), make)  # type: ignore[no-any-return]


def split_results(
    closed: ClosedJaxpr, needed: tuple[bool, ...], policy: Policy) -> Split:
  """Splits a program some of whose results are needed later; remembered with it.

  `forward` returns all its results, then the saved values; `again` the needed results.
  """
  def make() -> Split:
    j = closed.jaxpr
    twice = [v for v, p in zip(j.outvars, needed) if p]
    doubled = ClosedJaxpr(j.replace(outvars=[*j.outvars, *twice]), closed.consts)
    return _split(doubled, len(twice), policy, False)

  return memoised(closed, ("split results", needed, policy), make)  # type: ignore[no-any-return]
