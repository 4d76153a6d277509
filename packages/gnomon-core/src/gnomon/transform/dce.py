"""Dead code: a jaxpr that computes only the results that are used."""

from __future__ import annotations

from collections.abc import Sequence

from gnomon.core.effects import must_happen
from gnomon.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Literal, effects_of, memoised
from gnomon.core.rule import dce_rule
from gnomon.transform.call import jit_p

__all__ = ["dce_closed", "dce_jaxpr", "dce_rule"]


def dce_jaxpr(
    jaxpr: Jaxpr, used_outputs: Sequence[bool],
    instantiate: bool | Sequence[bool] = False) -> tuple[Jaxpr, list[bool]]:
  """The jaxpr without what the used results and effects do not depend on.

  `instantiate` says which inputs to keep though they are not read. Returns the jaxpr (its
  results: the used ones) and which inputs it kept.
  """
  if isinstance(instantiate, bool):
    instantiate = (instantiate,) * len(jaxpr.invars)
  found: tuple[Jaxpr, list[bool]] = memoised(
      jaxpr, ("dce", tuple(used_outputs), tuple(instantiate)),
      lambda: _eliminate(jaxpr, used_outputs, instantiate))
  return found[0], list(found[1])


def _eliminate(
    jaxpr: Jaxpr, used_outputs: Sequence[bool], instantiate: Sequence[bool],
) -> tuple[Jaxpr, list[bool]]:
  outvars = [v for v, u in zip(jaxpr.outvars, used_outputs) if u]
  live = {v for v in outvars if type(v) is not Literal}
  eqns: list[Eqn] = []
  for e in reversed(jaxpr.eqns):
    used = [v in live for v in e.outvars]
    if not any(used) and not must_happen(e.effects):
      continue
    rule = dce_rule.get(e.primitive)
    kept: Eqn | None = e
    if rule is not None:
      _, kept = rule(used, e)
    if kept is not None:
      eqns.append(kept)
      live.update(v for v in kept.invars if type(v) is not Literal)
  eqns.reverse()
  kept_ins = [v in live or i for v, i in zip(jaxpr.invars, instantiate)]
  effects = effects_of(eqns)
  pruned = jaxpr.replace(
      outvars=outvars, eqns=eqns, effects=effects,
      invars=[v for v, k in zip(jaxpr.invars, kept_ins) if k])
  return pruned, kept_ins


def dce_closed(
    jaxpr: ClosedJaxpr, used_outputs: Sequence[bool],
    instantiate: bool | Sequence[bool] = False) -> tuple[ClosedJaxpr, tuple[bool, ...]]:
  """`dce_jaxpr` of a closed jaxpr, with the constants that are still read; remembered."""
  used = tuple(used_outputs)
  keep = instantiate if isinstance(instantiate, bool) else tuple(instantiate)

  def make() -> tuple[ClosedJaxpr, tuple[bool, ...]]:
    pruned, kept = dce_jaxpr(jaxpr.jaxpr, used, keep)
    read = {v for e in pruned.eqns for v in e.invars if type(v) is not Literal}
    read.update(v for v in pruned.outvars if type(v) is not Literal)
    consts = [(v, c) for v, c in zip(pruned.constvars, jaxpr.consts) if v in read]
    pruned = pruned.replace(constvars=[v for v, _ in consts])
    return ClosedJaxpr(pruned, [c for _, c in consts]), tuple(kept)

  return memoised(jaxpr, ("dce", used, keep), make)  # type: ignore[no-any-return]


@dce_rule.define(jit_p)
def _(used: Sequence[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]:
  if not any(used) and not must_happen(eqn.effects):
    return [False] * len(eqn.invars), None
  jaxpr, kept = dce_closed(eqn.params["jaxpr"], tuple(used))
  donated = tuple([d for d, k in zip(eqn.params["donated_invars"], kept) if k])
  return list(kept), eqn.replace(
      invars=[v for v, k in zip(eqn.invars, kept) if k],
      outvars=[v for v, u in zip(eqn.outvars, used) if u],
      effects=jaxpr.effects, params={
          **eqn.params, "jaxpr": jaxpr, "donated_invars": donated})
