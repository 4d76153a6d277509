"""Control flow on mutable references: what they hold becomes operands and results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.core.calls import is_ref
from gnomon.core.discharge import contents, contents_aval, evaluate, pure, put_back
from gnomon.core.jaxpr import ClosedJaxpr
from gnomon.core.ref_type import AbstractRef
from gnomon.core.ref_values import Box
from gnomon.core.stage import trace_to_closed
from gnomon.core.trace import get_current
from gnomon.lax._control.cond import cond_p
from gnomon.lax._control.scan import scan_p
from gnomon.lax._control.while_ import while_p

Values = Sequence[Any]


def of_cond(
    operands: Values, *, branches: Sequence[ClosedJaxpr], **params: Any) -> Values:
  """All branches return the contents of what one of them writes."""
  written = tuple(sorted({i for b in branches for i in pure(b).written}))
  outs = cond_p.apply(
      *contents(operands), branches=tuple([pure(b, written).jaxpr for b in branches]),
      **params)
  n = len(branches[0].out_avals)
  put_back(operands[1:], written, outs[n:])
  return outs[:n]


def _boxes(avals: Sequence[Any], values: Values) -> list[Any]:
  """Operands of a program with references, from what these hold."""
  trace = get_current()
  return [
      Box(trace, a, x) if type(a) is AbstractRef else x
      for a, x in zip(avals, values)]


def _run(jaxpr: ClosedJaxpr, args: Values) -> list[Any]:
  return evaluate(jaxpr.jaxpr, jaxpr.consts, args, boxed=True)


def of_while(operands: Values, *, cond_jaxpr: ClosedJaxpr, cond_nconsts: int,
      body_jaxpr: ClosedJaxpr, body_nconsts: int, **params: Any) -> Values:
  """References that the body writes are carried, the others are constants."""
  nc, n = cond_nconsts, cond_nconsts + body_nconsts
  if pure(cond_jaxpr).written:
    raise NotImplementedError(
        "while_loop: cond_fun writes to a mutable reference; write to it in body_fun")
  written = pure(body_jaxpr).written
  carried = {id(operands[nc + i]): k for k, i in enumerate(written)}
  test_avals, body_avals = cond_jaxpr.in_avals, body_jaxpr.in_avals
  slots = len(written)

  def places(consts: Values) -> list[int | None]:
    """For each constant the place among what is carried, if it is there."""
    return [carried.get(id(x)) if is_ref(x) else None for x in consts]

  test_places, body_places = places(operands[:nc]), places(operands[nc:n])
  test_consts = [x for x, p in zip(operands[:nc], test_places) if p is None]
  body_consts = [x for x, p in zip(operands[nc:n], body_places) if p is None]

  def joined(consts: Values, own: Sequence[int | None], state: Values) -> list[Any]:
    it = iter(consts)
    return [
        *(next(it) if p is None else state[p] for p in own), *state[slots:]]

  def test(*xs: Any) -> list[Any]:
    k = len(test_consts)
    return _run(cond_jaxpr, _boxes(test_avals, joined(xs[:k], test_places, xs[k:])))

  def body(*xs: Any) -> list[Any]:
    k = len(body_consts)
    args = _boxes(body_avals, joined(xs[:k], body_places, xs[k:]))
    outs = _run(body_jaxpr, args)
    return [*(args[i].content() for i in written), *outs]

  carry = [*(body_avals[i].inner_aval for i in written), *body_jaxpr.out_avals]

  def traced(f: Any, consts: Values, avals: Sequence[Any], own: Any) -> ClosedJaxpr:
    types = [contents_aval(a) for a, p in zip(avals, own) if p is None]
    return trace_to_closed(f, [*types, *carry])

  outs = while_p.apply(
      *contents(test_consts), *contents(body_consts),
      *contents([operands[nc + i] for i in written]), *operands[n:],
      cond_jaxpr=traced(test, test_consts, test_avals, test_places),
      cond_nconsts=len(test_consts),
      body_jaxpr=traced(body, body_consts, body_avals, body_places),
      body_nconsts=len(body_consts), **params)
  put_back(operands[nc:], written, outs[:slots])
  return outs[slots:]


def of_scan(operands: Values, *, jaxpr: ClosedJaxpr, num_consts: int, num_carry: int,
      **params: Any) -> Values:
  """References that the body writes are carried, or stacked if their slices are."""
  nc, k = num_consts, num_carry
  avals = jaxpr.in_avals
  written = pure(jaxpr).written
  carried = [i for i in written if i < nc]
  stacked = [i for i in written if i >= nc + k]
  kept = [i for i in range(nc) if i not in carried]
  order = [*kept, *carried, *range(nc, len(avals))]

  def body(*xs: Any) -> list[Any]:
    placed = dict(zip(order, xs))
    args = _boxes(avals, [placed[i] for i in range(len(avals))])
    outs = _run(jaxpr, args)
    return [
        *(args[i].content() for i in carried), *outs,
        *(args[i].content() for i in stacked)]

  outs = scan_p.apply(
      *contents([operands[i] for i in order]),
      jaxpr=trace_to_closed(
          body, [contents_aval(avals[i]) for i in order], jaxpr.jaxpr.debug_info),
      num_consts=len(kept), num_carry=len(carried) + k, **params)
  n, m = len(carried), len(carried) + len(jaxpr.out_avals)
  put_back(operands, carried, outs[:n])
  put_back(operands, stacked, outs[m:])
  return outs[n:m]
