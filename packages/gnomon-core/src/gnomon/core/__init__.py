"""Types, primitives, tracing and the IR.

The names that libraries import from here load on first use.
"""

from __future__ import annotations

import importlib
from typing import Any

_NAMES = {  # name -> module below `gnomon`
    **dict.fromkeys(("AbstractValue", "ShapedArray"), "core.types"),
    **dict.fromkeys(("Trace", "Tracer", "eval_context"), "core.trace"),
    **dict.fromkeys(("Atom", "eval_jaxpr"), "core.jaxpr"),
    **dict.fromkeys(
        ("ParamDict", "Value", "aval_mapping_handlers", "is_constant_dim",
         "is_constant_shape", "max_dim", "min_dim", "pytype_aval_mappings",
         "trace_state_clean"), "core.names"),
    "abstract_token": "core.types", "ensure_compile_time_eval": "api.scope",
    "get_aval": "core.names",
    # Kept for libraries that have not moved to `extend.core` yet.
    **dict.fromkeys(
        ("CallPrimitive", "DebugInfo", "DropVar", "Effect", "Effects",
         "InconclusiveDimensionOperation", "JaxprTypeError", "check_jaxpr",
         "concrete_or_error", "find_top_trace", "gensym", "get_opaque_trace_state",
         "jaxpr_as_fun", "jaxprs_in_params", "mapped_aval", "new_jaxpr_eqn", "no_effects",
         "nonempty_axis_env_DO_NOT_USE", "primal_dtype_to_tangent_dtype",
         "set_current_trace", "subjaxprs", "take_current_trace", "unmapped_aval",
         "unsafe_am_i_under_a_jit_DO_NOT_USE", "unsafe_am_i_under_a_vmap_DO_NOT_USE",
         "unsafe_get_axis_names_DO_NOT_USE", "valid_jaxtype"), "extend.core"),
    **dict.fromkeys(("call_p", "closed_call_p"), "extend.core.primitives"),
}


def __getattr__(name: str) -> Any:
  if name in _NAMES:
    found = getattr(importlib.import_module(f"gnomon.{_NAMES[name]}"), name)
    globals()[name] = found  # asked once
    return found
  raise AttributeError(f"module 'gnomon.core' has no attribute {name!r}")


def __dir__() -> list[str]:
  return sorted({*globals(), *_NAMES})
