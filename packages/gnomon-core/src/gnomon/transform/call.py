"""`jit_p`: a primitive that holds a jaxpr. Each transformation transforms it once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.core.jaxpr import ClosedJaxpr, memoised
from gnomon.core.primitive import Primitive
from gnomon.core.ref_type import AbstractRef
from gnomon.core.rule import (
  batch_rule,
  effects_rule,
  jvp_rule,
  linearize_rule,
  lower,
  pp_rule,
  transpose_rule,
  typing_rule,
)
from gnomon.core.stage import close
from gnomon.core.strong import has_masks, masking_rule
from gnomon.core.zero import UndefinedPrimal
from gnomon.transform.jvp import jvp_jaxpr, moves_of, moving, place
from gnomon.transform.linearize import linearize_jaxpr
from gnomon.transform.transpose import transpose_jaxpr
from gnomon.transform.vmap import batch_jaxpr

jit_p = Primitive("jit", call=True)

typing_rule.define(jit_p)(lambda *_, jaxpr, **__: tuple(jaxpr.out_avals))
effects_rule.define(jit_p)(lambda *_, jaxpr, **__: jaxpr.effects)


masking_rule.define(jit_p)(lambda params: has_masks(params["jaxpr"]))


@lower.define(jit_p)
def _(ctx: Any, *values: Any, jaxpr: ClosedJaxpr, name: str, inline: bool,
      **_: Any) -> Any:
  return ctx.inline(jaxpr, values) if inline else ctx.call(name, jaxpr, values)


@pp_rule.define(jit_p)
def _(printer: Any, eqn: Any) -> Any:
  shown = [("name", eqn.params["name"])]
  for key, value in sorted(eqn.params.items()):
    if key not in ("name", "inline") and any(
        v not in (None, False) for v in (value if type(value) is tuple else (value,))):
      shown.append((key, value))
  return printer.call(eqn, "jaxpr", shown)


def _params(params: dict[str, Any], jaxpr: ClosedJaxpr, n_in: int) -> dict[str, Any]:
  """The params of a call of a transformed jaxpr."""
  return {**params, "jaxpr": jaxpr, "donated_invars": (False,) * n_in}


@jvp_rule.define(jit_p)
def _(primals: Any, tangents: Any, *, jaxpr: ClosedJaxpr, **params: Any) -> Any:
  transformed, moved = jvp_jaxpr(jaxpr, moves_of(tangents))
  args = [*primals, *moving(tangents)]
  outs = jit_p.apply(*args, **_params(params, transformed, len(args)))
  n = len(jaxpr.out_avals)
  return outs[:n], place(outs[n:], moved, jaxpr.out_avals)


@linearize_rule.define(jit_p)
def _(primals: Any, tangents: Any, *, jaxpr: ClosedJaxpr, **params: Any) -> Any:
  primal, _, linear, moved = linearize_jaxpr(jaxpr, moves_of(tangents))
  n = len(jaxpr.out_avals)
  primal, passed = without_references(primal, n)
  outs = jit_p.apply(*primals, **_params(params, primal, len(primals)))
  if not any(moved):
    return outs[:n], place((), moved, jaxpr.out_avals)
  residuals = iter(outs[n:])
  args = [
      *(next(residuals) if i is None else primals[i] for i in passed),
      *moving(tangents)]
  touts = jit_p.apply(*args, **_params(params, closed_once(linear), len(args)))
  return outs[:n], place(touts, moved, jaxpr.out_avals)


def without_references(
    primal: ClosedJaxpr, n: int) -> tuple[ClosedJaxpr, list[int | None]]:
  """A program whose residuals, the results from `n` on, are no references.

  Those that are, are arguments. Returns for each residual the number of its argument, or
  None if it is returned.
  """
  def make() -> tuple[ClosedJaxpr, list[int | None]]:
    j = primal.jaxpr
    passed = [
        j.invars.index(v) if type(v.aval) is AbstractRef else None for v in j.outvars[n:]]
    if all(i is None for i in passed):
      return primal, passed
    kept = [v for v, i in zip(j.outvars[n:], passed) if i is None]
    return ClosedJaxpr(j.replace(outvars=j.outvars[:n] + kept), primal.consts), passed

  return memoised(primal, ("without references", n), make)  # type: ignore[no-any-return]


def closed_once(jaxpr: Any) -> ClosedJaxpr:
  """The closed form of a jaxpr without constants: one object, whose memos are shared."""
  found = jaxpr.memo.get("closed")
  if found is None:
    found = jaxpr.memo["closed"] = close(jaxpr)
  return found  # type: ignore[no-any-return]


@transpose_rule.define(jit_p)
def _(cts: Sequence[Any], args: Sequence[Any], *, jaxpr: ClosedJaxpr,
      **params: Any) -> Any:
  known = tuple([type(x) is not UndefinedPrimal for x in args])
  transposed, moved = transpose_jaxpr(jaxpr, known, moves_of(cts))
  operands = [x for x, k in zip(args, known) if k] + moving(cts)
  outs = jit_p.apply(*operands, **_params(params, transposed, len(operands)))
  linear = iter(place(outs, moved, [x.aval for x, k in zip(args, known) if not k]))
  return [None if k else next(linear) for k in known]


@batch_rule.define(jit_p)
def _(axis: Any, args: Any, dims: Any, *, jaxpr: ClosedJaxpr, **params: Any) -> Any:
  batched, places = batch_jaxpr(jaxpr, axis, tuple(dims))
  return jit_p.apply(*args, **_params(params, batched, len(args))), places
