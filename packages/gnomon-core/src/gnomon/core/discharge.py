"""Programs with references, run again, and turned into programs without.

A reference becomes a box that holds the value which is being traced: reading and writing
are then slices and updates, of which every transformation has the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gnomon.core import refs
from gnomon.core.effects import touches_refs
from gnomon.core.jaxpr import (
  ClosedJaxpr,
  Jaxpr,
  Literal,
  jaxprs_in_params,
  memoised,
)
from gnomon.core.primitive import Primitive
from gnomon.core.ref_type import AbstractRef
from gnomon.core.ref_values import Box
from gnomon.core.rule import discharge_rule
from gnomon.core.stage import trace_to_closed
from gnomon.core.trace import get_current
from gnomon.core.types import typeof

Values = Sequence[Any]


def evaluate(
    jaxpr: Jaxpr, consts: Values, args: Values, *, boxed: bool = False) -> list[Any]:
  """Runs a program with references under the current trace.

  `boxed`: references that it makes become boxes, also where a program is recorded.
  """
  env: dict[Any, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
  env.update(zip(jaxpr.invars, args, strict=True))
  trace = get_current()
  outer = trace.source if trace.records else None
  try:
    for e in jaxpr.eqns:
      operands = [v.val if type(v) is Literal else env[v] for v in e.invars]
      if trace.records:
        trace.source = e.source
      outs = _run(e.primitive, operands, e.params, e.outvars, boxed)
      env.update(zip(e.outvars, outs, strict=True))
  finally:
    if trace.records:
      trace.source = outer
  return [v.val if type(v) is Literal else env[v] for v in jaxpr.outvars]


def _run(p: Primitive, operands: Values, params: dict[str, Any], outvars: Values,
         boxed: bool) -> Sequence[Any]:
  action = refs.actions.get(p)
  if action is not None:
    return action(*operands, **params)
  if p is refs.new_ref_p or p is refs.empty_ref_p:
    value = operands[0] if operands else None
    return (refs.make(outvars[0].aval, value, p, operands, params, boxed=boxed),)
  if boxed and p.call and _makes_refs(params):
    return discharge_rule[p](operands, **params)  # type: ignore[no-any-return]
  return bind(p, operands, params)


def _makes_refs(params: dict[str, Any]) -> bool:
  return any(touches_refs(j.effects) for j in jaxprs_in_params(params))


def bind(p: Primitive, operands: Values, params: dict[str, Any]) -> Sequence[Any]:
  """Binds a primitive that holds programs, whose operands may be boxes.

  Where the boxes belong to the current trace, the programs get their contents instead,
  and return new ones.
  """
  for x in operands:
    if isinstance(x, Box) and not refs.is_bound(x):
      return discharge_rule[p](operands, **params)  # type: ignore[no-any-return]
  return get_current().process(p, operands, params)


# ---- programs without references


class Pure(NamedTuple):
  """A program without references.

  It takes the contents of references in their place, and returns after its results the
  new contents of those that it changes: the arguments number `written`.
  """

  jaxpr: ClosedJaxpr
  written: tuple[int, ...]


def pure(jaxpr: ClosedJaxpr, also: tuple[int, ...] = ()) -> Pure:
  """The program without references, remembered with it.

  `also` are arguments whose contents it returns though it does not change them.
  """
  def make() -> Pure:
    written: list[int] = []
    in_avals = jaxpr.in_avals

    def run(*xs: Any) -> list[Any]:
      trace = get_current()
      args = [
          Box(trace, a, x) if type(a) is AbstractRef else x
          for a, x in zip(in_avals, xs)]
      outs = evaluate(jaxpr.jaxpr, jaxpr.consts, args, boxed=True)
      written[:] = [
          i for i, (box, x) in enumerate(zip(args, xs))
          if i in also or (box is not x and box.was_replaced(x))]
      return [*outs, *(args[i].content() for i in written)]

    closed = trace_to_closed(run, [contents_aval(a) for a in in_avals],
                             jaxpr.jaxpr.debug_info)
    return Pure(closed, tuple(written))

  return memoised(jaxpr, ("pure", also), make)  # type: ignore[no-any-return]


def contents_aval(aval: Any) -> Any:
  """The type of what a reference holds; other types are as they are."""
  return aval.inner_aval if type(aval) is AbstractRef else aval


def contents(values: Values) -> list[Any]:
  """The values, with the contents of references in their place."""
  return [
      refs.get(x) if type(typeof(x)) is AbstractRef else x for x in values]


def put_back(operands: Values, written: Sequence[int], values: Values) -> None:
  """Writes new contents into references."""
  for i, x in zip(written, values, strict=True):
    refs.set(operands[i], None, x)
