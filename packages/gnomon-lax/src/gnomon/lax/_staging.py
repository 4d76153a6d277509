"""Operations that compute nothing: values into programs, sinks, placements."""

from __future__ import annotations

from typing import Any

from gnomon.api import tools
from gnomon.core.derive import elementwise_batch, linear
from gnomon.core.effects import Effect
from gnomon.core.primitive import Primitive
from gnomon.core.rule import (
  batch_rule,
  effects_rule,
  impl_rule,
  jvp_rule,
  lower,
  typing_rule,
)
from gnomon.core.stage import StageTrace, StageTracer
from gnomon.core.trace import Tracer, get_current
from gnomon.runtime.execute import as_operand

# ---- stage


def stage(x: Any, /) -> Any:
  """A value as it is known to the program that is being traced.

  A number or a NumPy array becomes a traced value in a program that is being recorded,
  and an array outside. Arrays and traced values stay as they are.

  >>> from gnomon import lax
  >>> type(lax.stage(1.0)).__name__
  'ArrayImpl'

  Raises:
    TypeError: `x` is no array or number.
  """
  aval = tools.check_leaf(x, "stage", lambda: "x")
  if isinstance(x, Tracer):
    return x
  trace: Any = get_current()
  while trace is not None:
    if isinstance(trace, StageTrace):
      return StageTracer(trace, aval, trace.atom(x))
    trace = getattr(trace, "parent", None)
  return x if hasattr(x, "aval") else as_operand(x)


stage_p = Primitive("stage")
typing_rule.define(stage_p)(lambda x: (x,))
impl_rule.define(stage_p)(lambda x: (stage(x),))
lower.define(stage_p)(lambda ctx, x: [x])
linear(stage_p, lambda cts, args: [cts[0]])
elementwise_batch(stage_p)


# ---- dce_sink


class SinkEffect(Effect):
  """Keeps what a sink is given from being removed as unused."""

  dispensable = True


_sink = frozenset({SinkEffect()})


def dce_sink(val: Any, *, prevent_mlir_dce: bool = False) -> None:
  """Keeps what computes a value from being removed as unused.

  Args:
    val: a pytree of arrays.
    prevent_mlir_dce: keep it in compiled programs too, for compilers that know the
      operation; if False, in the jaxpr and in the module only.

  >>> import gnomon
  >>> from gnomon import lax
  >>> print(gnomon.make_jaxpr(lambda x: lax.dce_sink(lax.sin(x)))(1.0))
  { lambda ; a:f32[]. let
      b:f32[] = sin a
      dce_sink[prevent_mlir_dce=False] b
    in () }
  """
  for leaf in tools.flatten(val)[0]:
    dce_sink_p.apply(leaf, prevent_mlir_dce=bool(prevent_mlir_dce))


dce_sink_p = Primitive("dce_sink")
typing_rule.define(dce_sink_p)(lambda *_, prevent_mlir_dce: ())
effects_rule.define(dce_sink_p)(lambda *_, prevent_mlir_dce: _sink)
impl_rule.define(dce_sink_p)(lambda *_, prevent_mlir_dce: ())


@lower.define(dce_sink_p)
def _(ctx: Any, x: Any, *, prevent_mlir_dce: bool) -> Any:
  if prevent_mlir_dce:
    b = ctx.b
    b.op("stablehlo.custom_call", [], (x,), {
        "call_target_name": b.string("dce_sink"), "has_side_effect": b.flag(True),
        "api_version": b.i32(4)})
  return []


jvp_rule.define(dce_sink_p)(
    lambda primals, tangents, **params: (dce_sink_p.apply(*primals, **params), ()))
batch_rule.define(dce_sink_p)(
    lambda axis, args, dims, **params: (dce_sink_p.apply(*args, **params), ()))
