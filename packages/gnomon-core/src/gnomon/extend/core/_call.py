"""Operations that call a function: recorded as one equation that holds its program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.core.foreign import Primitive
from gnomon.core.jaxpr import ClosedJaxpr, jaxpr_as_fun
from gnomon.core.rule import (
  batch_rule,
  effects_rule,
  impl_rule,
  jvp_rule,
  linearize_rule,
  lower,
  transpose_rule,
  typing_rule,
)
from gnomon.core.stage import StageTrace, close, convert_constvars, trace_to_jaxpr
from gnomon.core.trace import get_current
from gnomon.core.types import typeof
from gnomon.core.zero import UndefinedPrimal
from gnomon.extend.linear_util import wrap_init
from gnomon.transform.call import closed_once
from gnomon.transform.jvp import jvp_jaxpr, moves_of, moving, place
from gnomon.transform.linearize import linearize_jaxpr
from gnomon.transform.transpose import transpose_jaxpr
from gnomon.transform.vmap import batch_jaxpr


class CallPrimitive(Primitive):
  """An operation that calls a function, given as the first operand when it is bound.

  `p.bind(wrap_init(f), *args)` runs `f`; while a program is recorded it becomes an
  equation with the program of `f` as its parameter `call_jaxpr`.
  """

  multiple_results = True
  call_primitive = True

  def __init__(self, name: str) -> None:
    super().__init__(name)
    self.call = True
    _define_rules(self)

  def bind(self, *args: Any, **params: Any) -> Any:
    """Calls a (wrapped) function of flat arrays to a list."""
    if "call_jaxpr" in params:
      return list(get_current().process(self, args, params))
    fun, *operands = args
    return self.bind_with_trace(get_current(), (fun, *operands), None, params)

  def bind_with_trace(
      self, trace: Any, args: Any, avals: Any, params: dict[str, Any], /) -> Any:
    """The same under a given trace."""
    del avals
    fun, *operands = args
    call = getattr(fun, "call_wrapped", fun)
    if not isinstance(trace, StageTrace):
      return list(call(*operands))
    jaxpr, consts = trace_to_jaxpr(
        call, [typeof(x) for x in operands], getattr(fun, "debug_info", None))
    return list(trace.process(self, [*consts, *operands], {
        **params, "call_jaxpr": close(convert_constvars(jaxpr))}))

  def get_bind_params(self, params: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The function that an equation's program computes, and the other params."""
    rest = {k: v for k, v in params.items() if k != "call_jaxpr"}
    program = params["call_jaxpr"]
    return [wrap_init(jaxpr_as_fun(program), debug_info=program.debug_info)], rest


def call_impl(f: Any, *args: Any, **params: Any) -> Any:
  """Calls a wrapped function: how an operation that calls one is evaluated."""
  del params
  return f.call_wrapped(*args)


def _define_rules(p: CallPrimitive) -> None:
  """Rules that transform the program of a call, once for each program."""
  def bind(program: ClosedJaxpr, args: Sequence[Any], params: dict[str, Any]) -> Any:
    return get_current().process(p, list(args), {**params, "call_jaxpr": program})

  typing_rule.define(p)(lambda *_, call_jaxpr, **__: tuple(call_jaxpr.out_avals))
  effects_rule.define(p)(lambda *_, call_jaxpr, **__: call_jaxpr.effects)
  impl_rule.define(p)(
      lambda *args, call_jaxpr, **_: tuple(jaxpr_as_fun(call_jaxpr)(*args)))

  @lower.define(p)
  def _(ctx: Any, *values: Any, call_jaxpr: ClosedJaxpr, **_: Any) -> Any:
    return ctx.call(p.name, call_jaxpr, values)

  @jvp_rule.define(p)
  def _(primals: Any, tangents: Any, *, call_jaxpr: ClosedJaxpr, **params: Any) -> Any:
    transformed, moved = jvp_jaxpr(call_jaxpr, moves_of(tangents))
    outs = bind(transformed, [*primals, *moving(tangents)], params)
    n = len(call_jaxpr.out_avals)
    return outs[:n], place(outs[n:], moved, call_jaxpr.out_avals)

  @linearize_rule.define(p)
  def _(primals: Any, tangents: Any, *, call_jaxpr: ClosedJaxpr, **params: Any) -> Any:
    primal, _, linear, moved = linearize_jaxpr(call_jaxpr, moves_of(tangents))
    n = len(call_jaxpr.out_avals)
    outs = bind(primal, primals, params)
    if not any(moved):
      return outs[:n], place((), moved, call_jaxpr.out_avals)
    touts = bind(closed_once(linear), [*outs[n:], *moving(tangents)], params)
    return outs[:n], place(touts, moved, call_jaxpr.out_avals)

  @transpose_rule.define(p)
  def _(cts: Any, args: Any, *, call_jaxpr: ClosedJaxpr, **params: Any) -> Any:
    known = tuple([type(x) is not UndefinedPrimal for x in args])
    transposed, moved = transpose_jaxpr(call_jaxpr, known, moves_of(cts))
    operands = [x for x, k in zip(args, known, strict=True) if k] + moving(cts)
    outs = bind(transposed, operands, params)
    linear = [x.aval for x, k in zip(args, known, strict=True) if not k]
    it = iter(place(outs, moved, linear))
    return [None if k else next(it) for k in known]

  @batch_rule.define(p)
  def _(
      axis: Any, args: Any, dims: Any, *, call_jaxpr: ClosedJaxpr,
      **params: Any) -> Any:
    batched, places = batch_jaxpr(call_jaxpr, axis, tuple(dims))
    return bind(batched, args, params), places


call_p = CallPrimitive("call")
closed_call_p = CallPrimitive("closed_call")
