"""Forward mode: a trace that carries a tangent beside each value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gnomon.core.calls import is_ref
from gnomon.core.jaxpr import ClosedJaxpr, eval_jaxpr, memoised
from gnomon.core.primitive import Primitive
from gnomon.core.rule import jvp_rule
from gnomon.core.stage import StageTracer, trace_to_closed
from gnomon.core.structural import instantiate
from gnomon.core.trace import (
  Trace,
  Tracer,
  check_leaks,
  get_current,
  leaked,
  tracing,
)
from gnomon.core.types import typeof
from gnomon.core.zero import Zero

__all__ = ["JVPTrace", "JVPTracer", "jvp_flat", "jvp_jaxpr", "jvp_rule"]


class JVPTracer(Tracer):
  """A value with its tangent (an array, or `Zero`)."""

  __slots__ = ("primal", "tangent")

  def __init__(self, trace: JVPTrace, primal: Any, tangent: Any) -> None:
    self._trace, self.primal, self.tangent = trace, primal, tangent
    self.aval = primal.aval if hasattr(primal, "aval") else typeof(primal)

  def __repr__(self) -> str:
    t = self.tangent
    if isinstance(t, StageTracer):  # of the linear program of a gradient
      kind = t.aval.str_short(short_dtypes=True)
      return f"GradTracer(primal={self.primal}, typeof(tangent)={kind})"
    return f"JVPTracer(primal={self.primal}, tangent={t})"

  def concrete(self) -> Any:
    x = self.primal
    return x.concrete() if isinstance(x, Tracer) else x

  def origin(self, *, past: bool = False) -> str:
    x = self.primal
    if isinstance(x, Tracer):
      return x.origin(past=past)
    return "It is a value in a function that was differentiated." if past else ""


class JVPTrace(Trace):
  """Applies jvp rules; they run under `rules`, a trace that sees primals and tangents."""

  __slots__ = ("parent", "rules")
  label = "jvp"

  def __init__(self, parent: Any, rules: Any = None) -> None:
    self.done = False
    self.parent, self.rules = parent, rules or parent

  def split(self, args: Any) -> tuple[list[Any], list[Any], bool]:
    """The primals and tangents of the operands, and whether a tangent is not zero."""
    primals, tangents, moves = [], [], False
    for x in args:
      if isinstance(x, JVPTracer) and x._trace is self:
        primals.append(x.primal)
        t = x.tangent
        tangents.append(t)
        if type(t) is not Zero:
          moves = True
      else:
        if isinstance(x, Tracer) and x._trace.done:
          raise leaked(x)
        primals.append(x)
        tangents.append(None)
    if moves:
      for i, t in enumerate(tangents):
        if t is None:
          tangents[i] = Zero(typeof(primals[i]).to_tangent_aval())
    return primals, tangents, moves

  def results(self, outs: Sequence[Any], touts: Sequence[Any]) -> tuple[Any, ...]:
    """What an operation gives: a result without a tangent is no tracer of this trace."""
    return tuple([
        o if type(t) is Zero and hasattr(o, "aval") else JVPTracer(self, o, t)
        for o, t in zip(outs, touts)])

  def process(
      self, primitive: Primitive, args: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    primals, tangents, moves = self.split(args)
    if not moves:
      return self.parent.process(primitive, primals, params)  # type: ignore[no-any-return]
    with tracing(self.rules):
      outs, touts = self.differentiate(primitive, primals, tangents, params)
    return self.results(outs, touts)

  def differentiate(
      self, primitive: Primitive, primals: list[Any], tangents: list[Any],
      params: dict[str, Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    return jvp_rule[primitive](primals, tangents, **params)  # type: ignore[no-any-return]

  def custom_jvp(self, call: Any, args: Any) -> tuple[Any, ...]:
    if any(isinstance(x, Tracer) and x.is_box for x in args):
      return tuple(call.fun(*args))  # differentiated through: rules know no references
    primals, tangents, moves = self.split(args)
    if not moves:
      with tracing(self.parent):
        return self.parent.custom_jvp(call, primals)  # type: ignore[no-any-return]
    with tracing(self.rules):
      outs, touts = call.jvp(primals, tangents)
    return self.results(outs, touts)

  def custom_vjp(self, call: Any, args: Any) -> tuple[Any, ...]:
    if any(isinstance(x, Tracer) and x.is_box for x in args):
      return tuple(call.fun(*args))
    primals, tangents, moves = self.split(args)
    if not moves:
      with tracing(self.parent):
        return self.parent.custom_vjp(call, primals)  # type: ignore[no-any-return]
    with tracing(self.rules):
      outs, touts = call.linearize(primals, tangents)
    return self.results(outs, touts)


def jvp_flat(
    f: Callable[..., Sequence[Any]], primals: Sequence[Any], tangents: Sequence[Any],
) -> tuple[list[Any], list[Any]]:
  """Values and tangents (which may be `Zero`) of a function of flat lists."""
  trace = JVPTrace(get_current())
  try:
    with tracing(trace):
      found = finish(trace, f(*dual(trace, primals, tangents)))
  finally:
    trace.done = True
  check_leaks(trace)
  return found


def dual(trace: JVPTrace, primals: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
  """Arguments with their tangents; references have none, and stay what they are."""
  return [
      x if is_ref(x) else JVPTracer(trace, x, t) for x, t in zip(primals, tangents)]


def finish(trace: JVPTrace, outs: Sequence[Any]) -> tuple[list[Any], list[Any]]:
  """Takes results apart when a trace ends."""
  xs, ts, _ = trace.split(outs)
  return xs, [
      Zero(typeof(x).to_tangent_aval()) if t is None else t for x, t in zip(xs, ts)]


Moves = tuple[bool, ...]  # which tangents or cotangents are not zero


def moves_of(ts: Sequence[Any]) -> Moves:
  """Which of the (co)tangents are not symbolic zeros."""
  return tuple([type(t) is not Zero for t in ts])


def moving(ts: Sequence[Any]) -> list[Any]:
  """The (co)tangents that are not symbolic zeros."""
  return [t for t in ts if type(t) is not Zero]


def place(values: Sequence[Any], moves: Moves, avals: Sequence[Any]) -> list[Any]:
  """Puts values where they move, and zeros elsewhere."""
  it = iter(values)
  return [next(it) if m else Zero(a.to_tangent_aval()) for m, a in zip(moves, avals)]


def jvp_jaxpr(
    jaxpr: ClosedJaxpr, moves: Moves, instantiate_out: bool | Moves = False,
) -> tuple[ClosedJaxpr, Moves]:
  """The forward derivative of a jaxpr, remembered with it.

  Inputs: the primals, then the tangents that move; results: the values, then the tangents
  that move (those of `instantiate_out` made to). Returns it and which results move.
  """
  def make() -> tuple[ClosedJaxpr, Moves]:
    n = len(moves)
    moved: list[bool] = []
    force = (
        instantiate_out if isinstance(instantiate_out, tuple)
        else (instantiate_out,) * len(jaxpr.out_avals))

    def both(*xs: Any) -> list[Any]:
      avals = jaxpr.in_avals
      outs, ts = jvp_flat(
          lambda *ys: eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *ys), xs[:n],
          place(xs[n:], moves, avals))
      ts = [instantiate(t) if f else t for t, f in zip(ts, force)]
      moved[:] = moves_of(ts)
      return outs + moving(ts)

    avals = jaxpr.in_avals
    closed = trace_to_closed(
        both, [*avals, *(a.to_tangent_aval() for a, m in zip(avals, moves) if m)],
        jaxpr.jaxpr.debug_info)
    return closed, tuple(moved)

  return memoised(jaxpr, ("jvp", moves, instantiate_out), make)  # type: ignore[no-any-return]
