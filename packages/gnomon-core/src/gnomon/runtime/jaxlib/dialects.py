"""The generated Python classes of MLIR dialects, portable artifacts, and passes.

Loaded by those who ask: they cost more to import than all the rest of MLIR.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from gnomon.runtime.jaxlib.native import _jax

hlo_to_stablehlo: Any = _jax.mlir.hlo_to_stablehlo
refine_polymorphic_shapes: Any = _jax.mlir.refine_polymorphic_shapes
serialize_portable_artifact: Any = _jax.mlir.serialize_portable_artifact
deserialize_portable_artifact: Any = _jax.mlir.deserialize_portable_artifact


def door(name: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
  """The `__getattr__` and `__dir__` of a module that shows one of `jaxlib.mlir`."""
  def get(attribute: str) -> Any:
    return getattr(importlib.import_module(f"jaxlib.mlir.{name}"), attribute)

  def names() -> list[str]:
    return dir(importlib.import_module(f"jaxlib.mlir.{name}"))

  return get, names


def merge(target: Any, symbol: str, source: Any, symbols: Any = None) -> str:
  """Copies the functions of a module into another, its `main` as `symbol`.

  Returns the name that `main` got; other names are made unique, too.
  """
  from jaxlib.mlir import ir

  table = symbols or ir.SymbolTable(target.operation)
  source = ir.Module.parse(str(source), context=target.context)
  own = ir.SymbolTable(source.operation)
  for op in list(source.body.operations):
    name = ir.StringAttr(op.attributes["sym_name"]).value
    wanted = symbol if name == "main" else name
    while wanted in table or (wanted != name and wanted in own):
      wanted += "_"
    if wanted != name:
      own.set_symbol_name(op, wanted)
      ir.SymbolTable.replace_all_symbol_uses(name, wanted, source.operation)
    if name == "main":
      symbol = wanted
      op.attributes["sym_visibility"] = ir.StringAttr.get("private", target.context)
  for op in list(source.body.operations):
    target.body.append(op)
  return symbol
