"""Contexts for lowering rules."""

from __future__ import annotations

from typing import Any

from gnomon.interpreters._lowering import LoweringRuleContext as LoweringRuleContext
from gnomon.runtime.jaxlib import mlir

__all__ = ["JaxIrContext", "LoweringRuleContext", "upstream_dialects"]

# The dialects of MLIR itself that a new context knows, loaded on first use.
upstream_dialects: Any = mlir.dialect_registry


class JaxIrContext(mlir.ir.Context):  # type: ignore[misc]
  """An MLIR context with the dialects of programs; also a context manager."""

  def __init__(self) -> None:
    super().__init__()
    mlir.equip(self)
