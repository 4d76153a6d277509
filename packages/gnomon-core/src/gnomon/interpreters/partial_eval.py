"""Programs of which some inputs are known, and programs without what is not needed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Self

from gnomon.core.jaxpr import Jaxpr, Literal
from gnomon.core.primitive import Primitive
from gnomon.core.rule import dce_rule
from gnomon.core.stage import StageTrace, StageTracer, trace_to_jaxpr
from gnomon.core.trace import get_current, tracing
from gnomon.core.types import AbstractValue, typeof
from gnomon.interpreters._views import View
from gnomon.transform.dce import dce_jaxpr as dce_jaxpr
from gnomon.transform.linearize import SplitTrace

__all__ = [
    "DynamicJaxprTracer", "JaxprTracer", "PartialVal", "Val",
    "custom_partial_eval_rules", "dce_jaxpr", "dce_jaxpr_call_rule",
    "dce_jaxpr_closed_call_rule", "dce_jaxpr_consts", "dce_rules",
    "partial_eval_jaxpr_custom_rules", "trace_to_jaxpr_dynamic",
    "trace_to_jaxpr_nounits"]

Val = Any
DynamicJaxprTracer = JaxprTracer = StageTracer



def _used(rule: Callable[..., Any], used: Sequence[bool], eqn: Any) -> Any:
  return rule(list(used), eqn)


# `rule(used_outputs, eqn)` gives which inputs are used, and the equation (or None).
dce_rules = View(
    "dce_rules", (dce_rule,), lambda p, rule: functools.partial(_used, rule),
    lambda p, rule: rule)
# Rules of other systems of partial evaluation. Derivatives and `checkpoint` do without
# them here: they are kept for the libraries that look their own rules up.
custom_partial_eval_rules: dict[Primitive, Callable[..., Any]] = {}
partial_eval_jaxpr_custom_rules: dict[Primitive, Callable[..., Any]] = {}


class PartialVal(tuple[Any, Any]):
  """A known value, `(None, value)`, or one with a known type, `(type, None)`."""

  __slots__ = ()

  def __new__(cls, pair: tuple[Any, Any]) -> Self:
    aval, const = pair
    if aval is not None and not isinstance(aval, AbstractValue):
      raise TypeError(f"PartialVal: expected a type, got {aval!r}")
    if aval is not None and const is not None:
      raise ValueError("PartialVal: a value is known, or it is not: give one of the two")
    return super().__new__(cls, pair)

  @classmethod
  def known(cls, const: Any) -> PartialVal:
    """A value that is known."""
    return cls((None, const))

  @classmethod
  def unknown(cls, aval: AbstractValue) -> PartialVal:
    """A value of which the type is known."""
    return cls((aval, None))

  def is_known(self) -> bool:
    """Whether the value is known."""
    return self[0] is None

  def get_known(self) -> Any:
    """The value, or None."""
    return self[1] if self.is_known() else None

  def get_aval(self) -> Any:
    """The type."""
    return typeof(self[1]) if self.is_known() else self[0]


class _Partial(SplitTrace):
  """Records what depends on an unknown input; the rest goes to the trace outside."""

  __slots__ = ()

  def custom_jvp(self, call: Any, args: Any) -> tuple[Any, ...]:
    if self.touches(args):
      return self.linear.custom_jvp(call, args)
    return super().custom_jvp(call, args)

  def custom_vjp(self, call: Any, args: Any) -> tuple[Any, ...]:
    if self.touches(args):
      return self.linear.custom_vjp(call, args)
    return super().custom_vjp(call, args)


def _call(fun: Any) -> Callable[..., Any]:
  return getattr(fun, "call_wrapped", fun)  # type: ignore[no-any-return]


def trace_to_jaxpr_nounits(
    fun: Any, pvals: Sequence[PartialVal], instantiate: bool | Sequence[bool] = False,
) -> tuple[Jaxpr, list[PartialVal], tuple[Any, ...]]:
  """Evaluates what depends on known inputs alone, and records the rest.

  Args:
    fun: a (wrapped) function of flat arrays to a list.
    pvals: its arguments.
    instantiate: which results to record though they are known.

  Returns:
    The program of the unknown inputs to the unknown results, all results as partial
    values, and the values of the program's constants.
  """
  stage = StageTrace(getattr(fun, "debug_info", None))
  trace = _Partial(get_current(), stage)
  try:
    args = [p.get_known() if p.is_known() else stage.new(p[0]) for p in pvals]
    with tracing(trace):
      outs = list(_call(fun)(*args))
    if isinstance(instantiate, bool):
      instantiate = [instantiate] * len(outs)
    unknown = [
        i or (isinstance(x, StageTracer) and x._trace is stage)
        for x, i in zip(outs, instantiate, strict=True)]
    jaxpr, consts = stage.finish([x for x, u in zip(outs, unknown, strict=True) if u])
  finally:
    trace.done = stage.done = True
  out_pvals = [
      PartialVal.unknown(typeof(x)) if u else PartialVal.known(x)
      for x, u in zip(outs, unknown, strict=True)]
  return jaxpr, out_pvals, tuple(consts)


def trace_to_jaxpr_dynamic(
    fun: Any, in_avals: Sequence[Any], *, keep_inputs: Sequence[bool] | None = None,
    lower: bool = False, auto_dce: bool = False) -> tuple[Jaxpr, list[Any], list[Any]]:
  """The program of a function for arguments of given types.

  Args:
    fun: a (wrapped) function of flat arrays to a list.
    in_avals: the types of its arguments.
    keep_inputs: which of them are inputs of the program; the function gets those alone.
    lower: whether types that are no arrays are lowered; the program has none then.
    auto_dce: whether to leave out equations whose results are not used.

  Returns:
    The program, the types of its results, and the values of its constants.
  """
  del lower
  kept = [True] * len(in_avals) if keep_inputs is None else keep_inputs
  avals = [a for a, k in zip(in_avals, kept, strict=True) if k]
  jaxpr, consts = trace_to_jaxpr(_call(fun), avals, getattr(fun, "debug_info", None))
  if auto_dce:
    jaxpr = dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars), True)[0]
  return jaxpr, jaxpr.out_avals, consts


def dce_jaxpr_consts(
    jaxpr: Jaxpr, used_outputs: Sequence[bool],
    instantiate: bool | Sequence[bool] = False,
) -> tuple[Jaxpr, list[bool], list[bool]]:
  """Like `dce_jaxpr`, and without constants that are not read.

  Returns:
    The jaxpr, which constants it kept, and which inputs.
  """
  pruned, used_inputs = dce_jaxpr(jaxpr, used_outputs, instantiate)
  read = {
      v for e in pruned.eqns for v in e.invars if type(v) is not Literal}
  read.update(v for v in pruned.outvars if type(v) is not Literal)
  used_consts = [v in read for v in jaxpr.constvars]
  constvars = [v for v, u in zip(jaxpr.constvars, used_consts, strict=True) if u]
  return pruned.replace(constvars=constvars), used_consts, used_inputs


def _dce_call(used_outputs: Sequence[bool], eqn: Any, closed: bool) -> Any:
  if not any(used_outputs) and not eqn.effects:
    return [False] * len(eqn.invars), None
  program = eqn.params["call_jaxpr"]
  inner = program.jaxpr if closed else program
  pruned, kept = dce_jaxpr(inner, used_outputs)
  new = eqn.replace(
      invars=[v for v, k in zip(eqn.invars, kept, strict=True) if k],
      outvars=[v for v, u in zip(eqn.outvars, used_outputs, strict=True) if u],
      effects=pruned.effects, params={
          **eqn.params,
          "call_jaxpr": program.replace(jaxpr=pruned) if closed else pruned})
  return kept, new


def dce_jaxpr_call_rule(used_outputs: Sequence[bool], eqn: Any) -> Any:
  """The rule of an operation with a parameter `call_jaxpr`, a jaxpr without constants."""
  return _dce_call(used_outputs, eqn, closed=False)


def dce_jaxpr_closed_call_rule(used_outputs: Sequence[bool], eqn: Any) -> Any:
  """The rule of an operation with a parameter `call_jaxpr`, a closed jaxpr."""
  return _dce_call(used_outputs, eqn, closed=True)
