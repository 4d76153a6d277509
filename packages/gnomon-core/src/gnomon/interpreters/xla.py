"""The compiler's side of operations: evaluating one, and types of values it accepts."""

from __future__ import annotations

from typing import Any

from gnomon.core.primitive import Primitive
from gnomon.core.types import canonicalize_handlers
from gnomon.interpreters._views import unpacked
from gnomon.runtime import execute
from gnomon.runtime.jaxlib import clients

__all__ = ["Backend", "apply_primitive", "canonicalize_dtype_handlers"]

Backend = clients.Client

# How a value of a Python type becomes an array, by type: a library may enter its own,
# together with the type of such values in `core.pytype_aval_mappings`.
canonicalize_dtype_handlers = canonicalize_handlers


def apply_primitive(prim: Primitive, *args: Any, **params: Any) -> Any:
  """Computes an operation on arrays by compiling it, once for each types and params.

  `prim.def_impl(functools.partial(apply_primitive, prim))` makes it the way in which the
  operation is evaluated.
  """
  return unpacked(prim, execute.compute(prim, args, params))
