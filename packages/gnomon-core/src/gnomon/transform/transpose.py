"""Transposition: one walk backwards over a linear jaxpr, with symbolic zeros."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gnomon.core import strong
from gnomon.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Literal, memoised
from gnomon.core.rule import transpose_rule
from gnomon.core.source import transposed
from gnomon.core.stage import trace_to_closed
from gnomon.core.strong import ASK, masking_rule
from gnomon.core.structural import add_tangents
from gnomon.core.trace import get_current, recorder_of
from gnomon.core.types import says
from gnomon.core.zero import UndefinedPrimal, Zero
from gnomon.transform.jvp import Moves, moves_of, moving, place

__all__ = ["backward", "transpose_jaxpr", "transpose_rule"]


def backward(
    jaxpr: Jaxpr, consts: Sequence[Any], args: Sequence[Any], cotangents: Sequence[Any],
    masked: bool | None = None) -> list[Any]:
  """The cotangents of the linear arguments for those of the results.

  `args` holds values, and `UndefinedPrimal` for what the program is linear in. What
  depends on known values alone is computed on the way. `masked` says whether the given
  cotangents may hold zeros that must stay zero; by default those of the equation that is
  being transposed.
  """
  known: dict[Any, Any] = dict(zip(jaxpr.constvars, consts))
  for v, x in zip(jaxpr.invars, args):
    if type(x) is not UndefinedPrimal:
      known[v] = x
  linear = _evaluate_known(jaxpr.eqns, known)
  cts: dict[Any, Any] = {}

  def add(v: Any, ct: Any) -> None:
    if type(ct) is Zero or type(v) is Literal or v in known:
      return
    cts[v] = add_tangents(cts[v], ct) if v in cts else ct

  for result, ct in zip(jaxpr.outvars, cotangents):
    add(result, ct)
  recorder, outer_mask = recorder_of(get_current()), strong.state.masked
  outer = None if recorder is None else recorder.source
  given = set(cts) if (outer_mask if masked is None else masked) else set()
  try:
    _backwards(linear, known, cts, add, given, recorder)
  finally:
    strong.state.masked = outer_mask
    if recorder is not None:
      recorder.source = outer
  found = [
      cts.get(v, Zero(v.aval)) if type(x) is UndefinedPrimal else None
      for v, x in zip(jaxpr.invars, args)]
  for i, (v, ct) in enumerate(zip(jaxpr.invars, found)):
    if ct is not None and type(ct) is not Zero and (
        says(v.aval) or says(getattr(ct, "aval", None))):
      from gnomon.core import reshard  # programs on one device do without

      found[i] = reshard.as_cotangent(ct, v.aval)
  return found


def _backwards(
    eqns: list[Eqn], known: dict[Any, Any], cts: dict[Any, Any],
    add: Callable[[Any, Any], None], masked: set[Any], recorder: Any) -> None:
  """Transposes equations, last first.

  `masked` are the variables whose cotangents may hold zeros that must stay zero: all that
  they are the sum of may.
  What a recording trace gets comes from the same line as the equation: a NaN of the
  backward pass is then laid at the operation that it belongs to.
  """
  rules, masking, state = transpose_rule, masking_rule.get, strong.state
  for e in reversed(eqns):
    out, some = [], False
    for v in e.outvars:
      ct = cts.pop(v, None)
      if ct is None:
        ct = Zero(v.aval)
      else:
        some = True
      out.append(ct)
    if not some:
      continue
    operands: list[Any] = []
    for v in e.invars:
      if type(v) is Literal:
        operands.append(v.val)
      elif v in known:
        operands.append(known[v])
      else:
        operands.append(UndefinedPrimal(v.aval))
    if recorder is not None:
      recorder.source = transposed(e.source)
    p = e.primitive
    brings = masking(p)
    mask = brings is None or (bool(masked) and not masked.isdisjoint(e.outvars))
    state.masked = mask
    found = rules[p](out, operands, **e.params)
    zeros = brings is None or mask or brings(e.params)
    if zeros is ASK:
      zeros = state.made
    for v, ct in zip(e.invars, found):
      if ct is not None and type(ct) is not Zero and type(v) is not Literal:
        if zeros:
          if v not in cts:
            masked.add(v)
        elif masked:
          masked.discard(v)
        add(v, ct)


def _evaluate_known(eqns: list[Eqn], known: dict[Any, Any]) -> list[Eqn]:
  """Computes the equations that touch nothing linear; returns the others."""
  linear, process = [], get_current().process
  for e in eqns:
    if all(type(v) is Literal or v in known for v in e.invars):
      outs = process(
          e.primitive, [v.val if type(v) is Literal else known[v] for v in e.invars],
          e.params)
      known.update(zip(e.outvars, outs))
    else:
      linear.append(e)
  return linear


def transpose_jaxpr(
    jaxpr: ClosedJaxpr, known: Moves, moves: Moves,
) -> tuple[ClosedJaxpr, Moves]:
  """The transpose of a jaxpr in its unknown inputs, remembered with it.

  Inputs: the known operands, then the cotangents that move; results: the cotangents of
  the unknown inputs that move. Returns it and which of the unknown inputs' cotangents
  move.
  """
  def make() -> tuple[ClosedJaxpr, Moves]:
    moved: list[bool] = []
    n = sum(known)

    def back(*xs: Any) -> list[Any]:
      values = iter(xs[:n])
      args = [
          next(values) if k else UndefinedPrimal(a)
          for k, a in zip(known, jaxpr.in_avals)]
      cts = backward(
          jaxpr.jaxpr, jaxpr.consts, args, place(xs[n:], moves, jaxpr.out_avals))
      cts = [ct for ct, k in zip(cts, known) if not k]
      moved[:] = moves_of(cts)
      return moving(cts)

    avals = [a for a, k in zip(jaxpr.in_avals, known) if k]
    avals += [a.to_tangent_aval() for a, m in zip(jaxpr.out_avals, moves) if m]
    return trace_to_closed(back, avals, jaxpr.jaxpr.debug_info), tuple(moved)

  key = ("transpose", known, moves, strong.state.masked)
  return memoised(jaxpr, key, make)  # type: ignore[no-any-return]
