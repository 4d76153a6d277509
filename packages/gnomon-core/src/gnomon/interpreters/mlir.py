"""Lowering to StableHLO: rules of other libraries, and what they make programs of.

`register_lowering(p, rule)` enters `rule(ctx, *values, **params)`. Most often it is
`lower_fun(f)`, for a function of arrays that does the same as the operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gnomon.core.jaxpr import ClosedJaxpr, Jaxpr
from gnomon.core.mesh import Mesh as Mesh
from gnomon.interpreters._lowering import LoweringParameters as LoweringParameters
from gnomon.interpreters._lowering import LoweringRuleContext as LoweringRuleContext
from gnomon.interpreters._lowering import ModuleContext as ModuleContext
from gnomon.interpreters._lowering import ShapePolyLoweringState as ShapePolyLoweringState
from gnomon.interpreters._lowering import ShardingContext as ShardingContext
from gnomon.interpreters._lowering import SPMDAxisContext as SPMDAxisContext
from gnomon.interpreters._lowering import TokenSet as TokenSet
from gnomon.interpreters._lowering import core_call_lowering as core_call_lowering
from gnomon.interpreters._lowering import emit_python_callback as emit_python_callback
from gnomon.interpreters._lowering import inline as _inline
from gnomon.interpreters._lowering import lower_fun as lower_fun
from gnomon.interpreters._lowering import lowerable_effects as lowerable_effects
from gnomon.interpreters._lowering import register_lowering as register_lowering
from gnomon.interpreters._values import ConstantHandler as ConstantHandler
from gnomon.interpreters._values import aval_to_ir_type as aval_to_ir_type
from gnomon.interpreters._values import aval_to_ir_types as aval_to_ir_types
from gnomon.interpreters._values import dense_int_array as dense_int_array
from gnomon.interpreters._values import dense_int_elements as dense_int_elements
from gnomon.interpreters._values import dtype_to_ir_type as dtype_to_ir_type
from gnomon.interpreters._values import flatten_ir_types as flatten_ir_types
from gnomon.interpreters._values import flatten_ir_values as flatten_ir_values
from gnomon.interpreters._values import i32_attr as i32_attr
from gnomon.interpreters._values import i64_attr as i64_attr
from gnomon.interpreters._values import ir_attribute as ir_attribute
from gnomon.interpreters._values import ir_constant as ir_constant
from gnomon.interpreters._values import ir_constants as ir_constants
from gnomon.interpreters._values import ir_tree_registry as ir_tree_registry
from gnomon.interpreters._values import ir_type_handlers as ir_type_handlers
from gnomon.interpreters._values import (
  register_constant_handler as register_constant_handler,
)
from gnomon.interpreters._values import shape_tensor as shape_tensor
from gnomon.interpreters._values import token_type as token_type
from gnomon.interpreters._values import (
  unflatten_ir_values_like_types as unflatten_ir_values_like_types,
)
from gnomon.lowering.module import function, lower_module
from gnomon.runtime.jaxlib import dialects, mlir

__all__ = [
    "DEVICE_TO_DEVICE_TYPE", "RECV_FROM_HOST_TYPE", "SEND_TO_HOST_TYPE", "AxisContext",
    "ConstantHandler", "LoweringParameters", "LoweringResult", "LoweringRule",
    "LoweringRuleContext", "Mesh", "MeshAxisName", "ModuleContext", "SPMDAxisContext",
    "ShapePolyLoweringState", "ShardingContext", "Token", "TokenSet", "Value",
    "aval_to_ir_type", "aval_to_ir_types", "core_call_lowering", "dense_int_array",
    "dense_int_elements", "dtype_to_ir_type", "emit_python_callback", "flatten_ir_types",
    "flatten_ir_values", "i32_attr", "i64_attr", "ir", "ir_attribute", "ir_constant",
    "ir_constants", "ir_tree_registry", "ir_type_handlers", "jaxpr_subcomp", "lower_fun",
    "lower_jaxpr_to_fun", "lower_jaxpr_to_module", "lowerable_effects",
    "make_ir_context", "merge_mlir_modules", "module_to_bytecode", "module_to_string",
    "register_constant_handler", "register_lowering", "shape_tensor", "token_type",
    "unflatten_ir_values_like_types"]

ir = mlir.ir
Value = Token = ir.Value
MeshAxisName = Any
AxisContext = SPMDAxisContext | ShardingContext
LoweringRule = Callable[..., Sequence[Any]]
# Kinds of channels between devices and the host.
DEVICE_TO_DEVICE_TYPE, SEND_TO_HOST_TYPE, RECV_FROM_HOST_TYPE = 1, 2, 3


class LoweringResult(NamedTuple):
  """A module, and what must live as long as programs made of it."""

  module: Any
  keepalive: Any
  host_callbacks: list[Any]
  shape_poly_state: ShapePolyLoweringState


def make_ir_context() -> Any:
  """A new MLIR context with the dialects that programs are made of."""
  return mlir.new_context()


def module_to_string(module: Any, enable_debug_info: bool | None = None) -> str:
  """The text of a module."""
  return mlir.asm(module, bool(enable_debug_info))


def module_to_bytecode(module: Any) -> bytes:
  """A module as MLIR bytecode."""
  return mlir.bytecode(module)


def merge_mlir_modules(
    dst_module: Any, sym_name: str, src_module: Any, dst_symtab: Any = None) -> str:
  """Copies the functions of a module into another; the name that its `main` got there.

  Args:
    dst_module: the module to add to.
    sym_name: the name for `main`; it is changed if it is taken.
    src_module: the module to copy.
    dst_symtab: the symbol table of `dst_module`, if there is one already.
  """
  return dialects.merge(dst_module, sym_name, src_module, dst_symtab)


def _closed(jaxpr: Jaxpr | ClosedJaxpr) -> ClosedJaxpr:
  return jaxpr if isinstance(jaxpr, ClosedJaxpr) else ClosedJaxpr(jaxpr, ())


def _refuse(who: str, given: dict[str, Any]) -> None:
  names = [k for k, v in given.items() if v is not None]
  if names:
    raise NotImplementedError(
        f"{who}: {', '.join(names)} cannot be given: they are for programs over several "
        "devices, or that jit lowers")


def jaxpr_subcomp(
    ctx: ModuleContext, jaxpr: Jaxpr, name_stack: Any, tokens: TokenSet,
    consts_for_constvars: Sequence[Any], *args: Any, dim_var_values: Sequence[Any],
    const_lowering: Any, outer_traceback: Any) -> tuple[list[Any], TokenSet]:
  """Emits the equations of a jaxpr at the current insertion point.

  Args:
    ctx: the module.
    jaxpr: the program.
    name_stack: not needed: equations have their own.
    tokens: the tokens of ordered effects so far.
    consts_for_constvars: the values of its constants.
    *args: the values of its inputs.
    dim_var_values: the values of symbolic dimensions; there are none.
    const_lowering: values of constants emitted already; not needed.
    outer_traceback: not needed.

  Returns:
    The results, and the tokens after.
  """
  del name_stack, const_lowering, outer_traceback
  if dim_var_values:
    raise NotImplementedError("jaxpr_subcomp: symbolic dimensions have no values here")
  inner = ctx.inner
  for effect, token in tokens.items():
    inner.set_token(effect, token)
  outer = inner.b.ip, inner.b.loc
  inner.b.ip, inner.b.loc = ir.InsertionPoint.current, ir.Location.current
  try:
    outs = inner.emit(jaxpr, list(consts_for_constvars), list(args))
  finally:
    inner.b.ip, inner.b.loc = outer
  return outs, TokenSet({e: inner.token(e) for e, _ in tokens.items()})


def lower_jaxpr_to_fun(
    ctx: ModuleContext, name: str, jaxpr: Jaxpr | ClosedJaxpr, effects: Sequence[Any], *,
    num_const_args: int, main_function: bool = False, replicated_args: Any = None,
    in_avals: Sequence[Any], arg_shardings: Any = None, result_shardings: Any = None,
    use_sharding_annotations: bool = True, input_output_aliases: Any = None,
    xla_donated_args: Any = None, arg_names: Any = None, result_names: Any = None,
    arg_memory_kinds: Any = None, result_memory_kinds: Any = None,
    arg_layouts: Any = None, result_layouts: Any = None,
    propagated_out_mem_kinds: Any = None) -> Any:
  """A function of the module that computes a jaxpr; returns its operation.

  Args:
    ctx: the module.
    name: the function's name, changed if it is taken.
    jaxpr: the program.
    effects: its ordered effects, whose tokens come first; there must be none.
    num_const_args: how many leading inputs are constants; they are like the others.
    main_function: whether it can be called from outside of the module.
    in_avals: the types of the inputs.
    arg_names: names of the inputs; they are not written.
    result_names: names of the results; they are not written.
    use_sharding_annotations: has no effect, as there are no shardings.
    replicated_args: must be None.
    arg_shardings: must be None.
    result_shardings: must be None.
    input_output_aliases: must be None.
    xla_donated_args: must be None.
    arg_memory_kinds: must be None.
    result_memory_kinds: must be None.
    arg_layouts: must be None.
    result_layouts: must be None.
    propagated_out_mem_kinds: must be None.
  """
  del num_const_args, arg_names, result_names, use_sharding_annotations
  _refuse("lower_jaxpr_to_fun", {
      "effects": effects or None, "replicated_args": replicated_args,
      "arg_shardings": arg_shardings, "result_shardings": result_shardings,
      "input_output_aliases": input_output_aliases, "xla_donated_args": xla_donated_args,
      "arg_memory_kinds": arg_memory_kinds, "result_memory_kinds": result_memory_kinds,
      "arg_layouts": arg_layouts, "result_layouts": result_layouts,
      "propagated_out_mem_kinds": propagated_out_mem_kinds})
  closed, inner = _closed(jaxpr), ctx.inner
  symbol = inner._fresh(name)
  with ctx.context, inner.b.unknown:
    block = function(
        inner, symbol, in_avals, closed.out_avals, private=not main_function)
    with ir.InsertionPoint(block):
      outs = _inline(inner, closed, list(block.arguments))
      ir.Operation.create("func.return", [], outs)
  return block.owner


def lower_jaxpr_to_module(
    module_name: str, jaxpr: ClosedJaxpr, *, num_const_args: int,
    in_avals: Sequence[Any], ordered_effects: Sequence[Any], platforms: Sequence[str],
    backend: Any, axis_context: Any, donated_args: Sequence[bool],
    replicated_args: Any = None, arg_shardings: Any = None, result_shardings: Any = None,
    in_layouts: Any = None, out_layouts: Any = None, arg_names: Any = None,
    result_names: Any = None, num_partitions: int = 1, all_default_mem_kind: bool = True,
    input_output_aliases: Any = None, propagated_out_mem_kinds: Any = None,
    lowering_parameters: Any) -> LoweringResult:
  """A module with a jaxpr as its function `main`.

  Args:
    module_name: the name of the module, without the prefix `jit_`.
    jaxpr: the program.
    platforms: the platforms that it is for.
    donated_args: which inputs may be overwritten.
    ordered_effects: the ordered effects of the program; they are in the jaxpr.
    backend: not needed.
    axis_context: not needed for programs on one device.
    num_const_args: not needed.
    in_avals: the types of the inputs; they are in the jaxpr.
    lowering_parameters: choices for the module; none is needed.
    arg_names: names of the inputs; they are not written.
    result_names: names of the results; they are not written.
    num_partitions: over how many devices the program is partitioned; must be 1.
    all_default_mem_kind: whether all arrays are in the devices' own memory; must be True.
    replicated_args: must be None.
    arg_shardings: must be None.
    result_shardings: must be None.
    in_layouts: must be None.
    out_layouts: must be None.
    input_output_aliases: must be None.
    propagated_out_mem_kinds: must be None.
  """
  del ordered_effects, backend, axis_context, num_const_args, in_avals
  del lowering_parameters, arg_names, result_names
  _refuse("lower_jaxpr_to_module", {
      "replicated_args": replicated_args, "arg_shardings": arg_shardings,
      "result_shardings": result_shardings, "in_layouts": in_layouts,
      "out_layouts": out_layouts, "input_output_aliases": input_output_aliases,
      "propagated_out_mem_kinds": propagated_out_mem_kinds,
      "num_partitions": None if num_partitions == 1 else num_partitions,
      "all_default_mem_kind": None if all_default_mem_kind else False})
  lowered = lower_module(
      jaxpr, module_name.removeprefix("jit_"), donated=donated_args, keep_unused=True,
      platforms=tuple(platforms))
  if lowered.const_args:
    raise NotImplementedError(
        "lower_jaxpr_to_module: the program has large constants; make them arguments")
  return LoweringResult(
      lowered.module, None, list(lowered.callbacks),
      ShapePolyLoweringState((), tuple(platforms)))

