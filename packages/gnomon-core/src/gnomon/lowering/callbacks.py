"""Calls of Python functions from compiled programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon.core.effects import Effect
from gnomon.core.types import physical_aval
from gnomon.lowering.module import Context
from gnomon.runtime.jaxlib import callbacks, mlir

ir = mlir.ir
HostFunction = callbacks.HostFunction


def emit_callback(
    ctx: Context, operands: Sequence[Any], function: Callable[[int], HostFunction], *,
    effectful: bool, ordered: Effect | None = None,
    partitioned: bool = False) -> list[Any]:
  """Emits a call of a Python function with the types of the current equation.

  Args:
    ctx: where to emit.
    operands: the values that the function gets.
    function: makes the function that the runtime calls, for the number of tokens that it
      gets and returns before the rest.
    effectful: whether the call must stay, though its results may not be used.
    ordered: the effect whose token it takes and gives.
    partitioned: in programs over several devices, each calls with its own parts of the
      operands; otherwise one of them calls, with all of them.
  """
  if tuple(ctx.platforms) != ("cpu",):
    raise NotImplementedError(
        "a program that calls Python functions can be compiled for the platform 'cpu' "
        f"only, not for {', '.join(ctx.platforms)}")
  b = ctx.b
  before = [] if ordered is None else [ctx.token(ordered)]
  n = len(before)
  index = len(ctx.callbacks)
  ins, outs = ctx.avals_in, ctx.avals_out
  call = function(n)
  if ctx.meshes is None:
    call = callbacks.remembering(call)
  else:
    types = [physical_aval(a) for a in outs]
    call = callbacks.Deferring(
        call, (*(None,) * n, *(np.zeros(a.shape, a.dtype) for a in types)))
  ctx.callbacks.append(call)
  attributes = {
      "call_target_name": b.string(callbacks.TARGET),
      "has_side_effect": b.flag(effectful), "api_version": b.i32(4),
      "backend_config": b.attr(f"{{index = {index} : ui64}}"),
      "operand_layouts": _layouts(b, n, ins), "result_layouts": _layouts(b, n, outs)}
  if ctx.meshes is not None:
    attributes["sdy.sharding"] = _on_one_device(ctx, max(n + len(outs), 1))
    if partitioned:
      attributes["call_target_name"] = b.string(callbacks.PARTITIONED_TARGET)
  op = b.op(
      "stablehlo.custom_call", [*(t.type for t in before), *map(b.tensor, outs)],
      [*before, *b.settled(operands)], attributes)
  results = list(op.results)
  if ordered is not None:
    ctx.set_token(ordered, results[0])
  if ctx.meshes is not None:
    return [_everywhere(ctx, x) for x in results[n:]]
  return results[n:]


_MESH = "maximal_mesh_0"


def _on_one_device(ctx: Context, n: int) -> Any:
  """The sharding of an operation with `n` results that runs on the first device alone."""
  ctx.add_mesh(_MESH, "<[], device_ids=[0]>")
  return ctx.b.attr(
      f"#sdy.sharding_per_value<[{', '.join([f'<@{_MESH}, []>'] * n)}]>")


def _everywhere(ctx: Context, x: Any) -> Any:
  """A value of one device, on all of them."""
  ctx.add_mesh("empty_mesh", "<[]>")
  dims = ", ".join(["{}"] * ir.RankedTensorType(x.type).rank)
  return ctx.b.op1("sdy.sharding_constraint", x.type, (x,), {
      "sharding": ctx.b.attr(f"#sdy.sharding<@empty_mesh, [{dims}]>")})


def _layouts(b: Any, tokens: int, avals: Sequence[Any]) -> Any:
  """Row-major layouts: NumPy's."""
  ranks = [0] * tokens + [len(physical_aval(a).shape) for a in avals]
  return ir.ArrayAttr.get([
      b.attr(f"dense<{list(range(r - 1, -1, -1)) if r else ''}> : tensor<{r}xindex>")
      for r in ranks])
