"""Linearisation: forward mode whose tangents are recorded, in one pass over the program.

While a function runs, each jvp rule runs under a trace that splits by kind: an operation
that touches no tangent goes to the parent (computed or staged there; its result is a
residual), one that touches a tangent is recorded in the single linear jaxpr of the whole
function. Nothing is traced twice and nothing is partially evaluated op by op.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gnomon.core.jaxpr import ClosedJaxpr, Jaxpr, Literal, eval_jaxpr, live, memoised
from gnomon.core.primitive import Primitive
from gnomon.core.rule import jvp_rule, linearize_rule
from gnomon.core.source import here
from gnomon.core.stage import StageTrace, StageTracer, calm_collector
from gnomon.core.trace import (
  Trace,
  check_leaks,
  get_current,
  leaked,
  reset_current,
  set_current,
  tracing,
)
from gnomon.core.types import typeof
from gnomon.core.zero import Zero
from gnomon.transform.jvp import (
  JVPTrace,
  JVPTracer,
  Moves,
  dual,
  finish,
  moves_of,
  place,
)

__all__ = ["LinearizeTrace", "linearize_flat", "linearize_jaxpr", "linearize_rule"]


find_linearize = linearize_rule.get
# (primitive, primals, tangents, params, tangents of the results) -> these, corrected
Follower = Callable[
    [Primitive, list[Any], list[Any], dict[str, Any], Sequence[Any]], Sequence[Any]]


class SplitTrace(Trace):
  """Where jvp rules run while linearising: records what touches a tangent.

  A `linearize_rule` may set `follower`: it is then asked after each operation, with the
  tangents that the rule gave, and returns those to take in their place
  (`lax.linalg._turns`, which needs to know what becomes of eigenvectors).
  """

  __slots__ = ("follower", "linear", "parent")

  def __init__(self, parent: Any, linear: StageTrace) -> None:
    self.done = False
    self.parent, self.linear = parent, linear
    self.follower: Follower | None = None

  def touches(self, args: Any) -> bool:
    linear = self.linear
    return any(type(x) is StageTracer and x._trace is linear for x in args)

  def process(
      self, primitive: Primitive, args: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    linear = self.linear
    for x in args:
      if type(x) is StageTracer and x._trace is linear:
        return linear.process(primitive, args, params)  # type: ignore[no-any-return]
    return self.parent.process(primitive, args, params)  # type: ignore[no-any-return]

  def custom_jvp(self, call: Any, args: Any) -> tuple[Any, ...]:
    if self.touches(args):  # a linear program: its own derivative rule is not needed
      return tuple(call.fun(*args))
    with tracing(self.parent):
      return self.parent.custom_jvp(call, args)  # type: ignore[no-any-return]

  def custom_vjp(self, call: Any, args: Any) -> tuple[Any, ...]:
    if self.touches(args):
      return tuple(call.fun(*args))
    with tracing(self.parent):
      return self.parent.custom_vjp(call, args)  # type: ignore[no-any-return]


class LinearizeTrace(JVPTrace):
  """Forward mode whose rules run under a `SplitTrace`."""

  __slots__ = ()

  def process(
      self, primitive: Primitive, args: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    primals, tangents, moves = self.split(args)
    if not moves:
      return self.parent.process(primitive, primals, params)  # type: ignore[no-any-return]
    rule = find_linearize(primitive)
    if rule is None:
      rule = jvp_rule[primitive]
    rules, parent = self.rules, self.parent
    linear = rules.linear
    # All that the rule binds comes from the operation at hand.
    outer = parent.source if parent.records else None
    linear.source = outer or here()
    if parent.records:
      parent.source = linear.source
    # Neither this trace nor that of the rules evaluates: C++ need not hear of the change.
    token = set_current(rules)
    try:
      outs, touts = rule(primals, tangents, **params)
      if rules.follower is not None:
        touts = rules.follower(primitive, primals, tangents, params, touts)
    finally:
      reset_current(token)
      linear.source = None
      if parent.records:
        parent.source = outer
    if len(outs) == 1 and type(touts[0]) is not Zero:
      return (JVPTracer(self, outs[0], touts[0]),)
    return self.results(outs, touts)


class Linearized:
  """The linear program of a function at a point: a jaxpr and residuals it closes over."""

  __slots__ = ("in_avals", "jaxpr", "moves", "out_avals", "out_moves", "residuals")

  def __init__(
      self, jaxpr: Jaxpr, residuals: list[Any], moves: Moves, in_avals: list[Any],
      out_moves: Moves, out_avals: list[Any]) -> None:
    self.jaxpr, self.residuals, self.moves = jaxpr, residuals, moves
    self.in_avals, self.out_moves, self.out_avals = in_avals, out_moves, out_avals

  def __call__(self, *tangents: Any) -> list[Any]:
    """The tangents of all results (zeros symbolic), for those of all arguments."""
    outs = eval_jaxpr(
        self.jaxpr, self.residuals, *[t for t, m in zip(tangents, self.moves) if m])
    return place(outs, self.out_moves, self.out_avals)


def linearize_flat(
    f: Callable[..., Sequence[Any]], primals: Sequence[Any], moves: Moves | None = None,
) -> tuple[list[Any], Linearized]:
  """The values of a function of flat lists and its linear program there.

  `moves` says in which arguments (those with real tangents by default).
  """
  parent, linear = get_current(), StageTrace()
  trace = LinearizeTrace(parent, SplitTrace(parent, linear))
  avals = [typeof(x) for x in primals]
  tangent_avals = [a.to_tangent_aval() for a in avals]
  if moves is None:
    moves = tuple([a is t for a, t in zip(avals, tangent_avals)])
  with calm_collector:
    try:
      tangents = [
          linear.new(a) if m else Zero(a) for a, m in zip(tangent_avals, moves)]
      with tracing(trace):
        xs, ts = finish(trace, f(*dual(trace, primals, tangents)))
      out_moves = moves_of(ts)
      jaxpr, residuals = linear.finish([t for t, m in zip(ts, out_moves) if m])
      for x in residuals:
        if isinstance(x, JVPTracer) and x._trace is trace:
          raise leaked(x)
    finally:
      trace.done = linear.done = True
  check_leaks(trace)
  return xs, Linearized(
      jaxpr, residuals, moves, tangent_avals, out_moves, [typeof(x) for x in xs])


def linearize_jaxpr(
    jaxpr: ClosedJaxpr, moves: Moves,
) -> tuple[ClosedJaxpr, int, Jaxpr, Moves]:
  """Splits a jaxpr once and for all: remembered with it.

  Returns the primal program (results, then residuals), the number of residuals, the
  linear program (its inputs: residuals, then tangents that move; its results: those that
  move), and which result tangents move.
  """
  def make() -> tuple[ClosedJaxpr, int, Jaxpr, Moves]:
    stage = StageTrace(jaxpr.jaxpr.debug_info)
    with calm_collector, tracing(stage):
      try:
        ins = [stage.new(v.aval) for v in jaxpr.jaxpr.invars]
        outs, linear = linearize_flat(
            lambda *xs: eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *xs), ins, moves)
        # Derivatives that came to nothing (`stop_gradient`) leave no residuals.
        j = linear.jaxpr
        eqns = live(j)
        read = {v for e in eqns for v in e.invars if type(v) is not Literal}
        read.update(v for v in j.outvars if type(v) is not Literal)
        residuals = [
            (v, x) for v, x in zip(j.constvars, linear.residuals) if v in read]
        primal, consts = stage.finish(outs + [x for _, x in residuals])
      finally:
        stage.done = True
    program = Jaxpr(
        [], [v for v, _ in residuals] + j.invars, j.outvars, eqns, j.effects,
        jaxpr.jaxpr.debug_info)
    return ClosedJaxpr(primal, consts), len(residuals), program, linear.out_moves

  return memoised(jaxpr, ("linearize", moves), make)  # type: ignore[no-any-return]
