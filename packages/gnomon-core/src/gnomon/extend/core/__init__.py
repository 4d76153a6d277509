"""Programs and primitives, for libraries that read, make or transform them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from gnomon.core.checking import check_jaxpr as _check_jaxpr
from gnomon.core.effects import Effect as Effect
from gnomon.core.effects import Effects as Effects
from gnomon.core.effects import no_effects as no_effects
from gnomon.core.foreign import Primitive as Primitive
from gnomon.core.jaxpr import ClosedJaxpr as ClosedJaxpr
from gnomon.core.jaxpr import DebugInfo as DebugInfo
from gnomon.core.jaxpr import DropVar as DropVar
from gnomon.core.jaxpr import Eqn
from gnomon.core.jaxpr import Jaxpr as Jaxpr
from gnomon.core.jaxpr import Literal as Literal
from gnomon.core.jaxpr import Var as Var
from gnomon.core.jaxpr import jaxpr_as_fun as jaxpr_as_fun
from gnomon.core.jaxpr import jaxprs_in_params as jaxprs_in_params
from gnomon.core.jaxpr import subjaxprs as subjaxprs
from gnomon.core.source import SourceInfo
from gnomon.core.types import AbstractToken as AbstractToken
from gnomon.errors import (
  InconclusiveDimensionOperation as InconclusiveDimensionOperation,
)
from gnomon.errors import JaxprTypeError as JaxprTypeError
from gnomon.extend.core._call import CallPrimitive as CallPrimitive
from gnomon.extend.core._call import call_impl as call_impl
from gnomon.extend.core._traces import TraceTag as TraceTag
from gnomon.extend.core._traces import concrete_or_error as concrete_or_error
from gnomon.extend.core._traces import find_top_trace as find_top_trace
from gnomon.extend.core._traces import get_opaque_trace_state as get_opaque_trace_state
from gnomon.extend.core._traces import (
  nonempty_axis_env_DO_NOT_USE as nonempty_axis_env_DO_NOT_USE,
)
from gnomon.extend.core._traces import set_current_trace as set_current_trace
from gnomon.extend.core._traces import take_current_trace as take_current_trace
from gnomon.extend.core._traces import (
  unsafe_am_i_under_a_jit_DO_NOT_USE as unsafe_am_i_under_a_jit_DO_NOT_USE,
)
from gnomon.extend.core._traces import (
  unsafe_am_i_under_a_vmap_DO_NOT_USE as unsafe_am_i_under_a_vmap_DO_NOT_USE,
)
from gnomon.extend.core._traces import (
  unsafe_get_axis_names_DO_NOT_USE as unsafe_get_axis_names_DO_NOT_USE,
)
from gnomon.extend.core._types import Token as Token
from gnomon.extend.core._types import array_types as array_types
from gnomon.extend.core._types import mapped_aval as mapped_aval
from gnomon.extend.core._types import (
  primal_dtype_to_tangent_dtype as primal_dtype_to_tangent_dtype,
)
from gnomon.extend.core._types import unmapped_aval as unmapped_aval
from gnomon.extend.core._types import valid_jaxtype as valid_jaxtype

__all__ = [
    "AbstractToken", "CallPrimitive", "ClosedJaxpr", "DebugInfo", "DropVar", "Effect",
    "Effects", "InconclusiveDimensionOperation", "Jaxpr", "JaxprEqn", "JaxprTypeError",
    "Literal", "Primitive", "Token", "TraceTag", "Var", "array_types", "call_impl",
    "check_jaxpr", "concrete_or_error", "find_top_trace", "gensym",
    "get_opaque_trace_state", "jaxpr_as_fun", "jaxprs_in_params", "mapped_aval",
    "new_jaxpr_eqn", "no_effects", "nonempty_axis_env_DO_NOT_USE",
    "primal_dtype_to_tangent_dtype", "set_current_trace", "subjaxprs",
    "take_current_trace", "unmapped_aval", "unsafe_am_i_under_a_jit_DO_NOT_USE",
    "unsafe_am_i_under_a_vmap_DO_NOT_USE", "unsafe_get_axis_names_DO_NOT_USE",
    "valid_jaxtype"]

JaxprEqn = Eqn


def check_jaxpr(jaxpr: Jaxpr) -> None:
  """Checks that a program is well formed.

  Raises:
    JaxprTypeError: an operand is not defined, or types do not agree with the rules.
  """
  _check_jaxpr(jaxpr)


def gensym() -> Callable[[Any], Var]:
  """A maker of variables: each call with a type gives a new one."""
  return Var


def new_jaxpr_eqn(
    invars: list[Any], outvars: list[Any], primitive: Any, params: dict[str, Any],
    effects: Effects, source_info: Any = None, ctx: Any = None) -> Eqn:
  """An equation.

  Args:
    invars: its operands, variables and literals.
    outvars: the variables that it binds.
    primitive: the operation.
    params: its params.
    effects: its effects.
    source_info: where it comes from.
    ctx: settings; params hold all that an equation depends on.
  """
  del ctx
  source = source_info.source if isinstance(source_info, SourceInfo) else source_info
  return Eqn(
      primitive, list(invars), list(outvars), params, frozenset(effects), source)


def __getattr__(name: str) -> Any:
  if name == "primitives":
    return importlib.import_module("gnomon.extend.core.primitives")
  raise AttributeError(f"module 'gnomon.extend.core' has no attribute {name!r}")
