"""Calls of Python functions from compiled programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gnomon.core.effects import Effect
from gnomon.core.types import physical_aval
from gnomon.lowering.module import Context
from gnomon.runtime.jaxlib import callbacks, mlir

ir = mlir.ir


def emit_callback(
    ctx: Context, operands: Sequence[Any], function: Callable[[int], Any], *,
    effectful: bool, ordered: Effect | None = None) -> list[Any]:
  """Emits a call of a Python function with the types of the current equation.

  Args:
    ctx: where to emit.
    operands: the values that the function gets.
    function: makes the function that the runtime calls, for the number of tokens that it
      gets and returns before the rest.
    effectful: whether the call must stay, though its results may not be used.
    ordered: the effect whose token it takes and gives.
  """
  if tuple(ctx.platforms) != ("cpu",):
    raise NotImplementedError(
        "a program that calls Python functions can be compiled for the platform 'cpu' "
        f"only, not for {', '.join(ctx.platforms)}")
  b = ctx.b
  before = [] if ordered is None else [ctx.token(ordered)]
  n = len(before)
  index = len(ctx.callbacks)
  ctx.callbacks.append(function(n))
  ins, outs = ctx.avals_in, ctx.avals_out
  op = b.op(
      "stablehlo.custom_call", [*(t.type for t in before), *map(b.tensor, outs)],
      [*before, *b.settled(operands)], {
          "call_target_name": b.string(callbacks.TARGET),
          "has_side_effect": b.flag(effectful), "api_version": b.i32(4),
          "backend_config": b.attr(f"{{index = {index} : ui64}}"),
          "operand_layouts": _layouts(b, n, ins), "result_layouts": _layouts(b, n, outs)})
  results = list(op.results)
  if ordered is not None:
    ctx.set_token(ordered, results[0])
  return results[n:]


def _layouts(b: Any, tokens: int, avals: Sequence[Any]) -> Any:
  """Row-major layouts: NumPy's."""
  ranks = [0] * tokens + [len(physical_aval(a).shape) for a in avals]
  return ir.ArrayAttr.get([
      b.attr(f"dense<{list(range(r - 1, -1, -1)) if r else ''}> : tensor<{r}xindex>")
      for r in ranks])
