"""MLIR: contexts with the dialects that XLA takes, texts, bytecode and locations."""

from __future__ import annotations

import io
from collections.abc import Callable
from types import CodeType
from typing import Any

from jaxlib.mlir import ir as _ir
from jaxlib.mlir._mlir_libs import _chlo, _jax_mlir_ext, _sdy, _stablehlo

from gnomon.runtime.jaxlib.native import _jax

# The generated Python classes of the dialects are never imported: operations are made by
# `ir.Operation.create`, which is faster, and their import costs more than all of MLIR.

ir: Any = _ir
hlo: Any = _stablehlo
"""Attribute and type classes of StableHLO (`DotDimensionNumbers`, …)."""
chlo: Any = _chlo
sdy: Any = _sdy
"""Attribute classes of Shardy."""

inlined_func_call: Any = _jax_mlir_ext.inlined_func_call

_threads: Any = ir.ThreadPool()
dialect_registry: Any = ir.DialectRegistry()
_jax_mlir_ext.register_dialects(dialect_registry)


def new_context() -> Any:
  """A context with func, StableHLO, CHLO and Shardy; all contexts share their threads."""
  return equip(ir.Context())


def equip(context: Any) -> Any:
  """Gives a context the dialects of programs, and the threads that all share."""
  context.append_dialect_registry(dialect_registry)
  for dialect in (hlo, chlo, sdy):
    dialect.register_dialect(context, load=True)
  # Asking for a dialect loads it; without that its operations fail to verify. (Looking
  # it up in `context.dialects` would import its generated Python classes.)
  for name in ("builtin", "func"):
    context.get_dialect_descriptor(name)
  context.set_thread_pool(_threads)
  return context


def parse(text: str | bytes, context: Any) -> Any:
  """A verified module from its text or bytecode; raises `ir.MLIRError` with the place."""
  with context:
    return ir.Module.parse(text)


def bytecode(module: Any) -> bytes:
  """A module as MLIR bytecode."""
  buffer = io.BytesIO()
  module.operation.write_bytecode(buffer)
  return buffer.getvalue()


def asm(module: Any, debug_info: bool = False) -> str:
  """A module as text, with its source locations if `debug_info`."""
  text: str = module.operation.get_asm(enable_debug_info=debug_info)
  return text


traceback: Any = _jax.Traceback.get_traceback
"""The Python stack as a cheap object, or `None` while tracebacks are not enabled."""


def set_tracebacks_enabled(enabled: bool) -> None:
  """Whether `traceback()` and new arrays record the Python stack, process-wide."""
  _jax.set_tracebacks_enabled(enabled)


def tracebacks_enabled() -> bool:
  """Whether the Python stack is being recorded."""
  return bool(_jax.tracebacks_enabled())


class LocationCache:
  """Turns tracebacks into locations, remembering each code position; one a context.

  `code_to_filename` gives the file name to write for a code object, or `None` to leave
  its frames out. At most `frame_limit` frames are kept, innermost first.
  """

  def __init__(
      self, context: Any, code_to_filename: Callable[[CodeType], str | None],
      frame_limit: int = 10,
  ) -> None:
    self._context = context
    with context:
      self._cache = _jax_mlir_ext.TracebackToLocationCache(
          code_to_filename=code_to_filename, frame_limit=frame_limit)

  def get(self, stack: Any) -> Any:
    """The location of a `traceback()`; unknown for `None`."""
    with self._context:
      return ir.Location.unknown() if stack is None else self._cache.get(stack)
