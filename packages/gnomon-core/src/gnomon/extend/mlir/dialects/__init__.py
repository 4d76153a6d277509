"""Dialects of MLIR: the Python classes of their operations. Each loads on first use."""

from __future__ import annotations

import importlib
from typing import Any

_DIALECTS = (
    "arith", "builtin", "chlo", "func", "math", "memref", "mpmd", "scf", "sdy",
    "sparse_tensor", "stablehlo", "vector")


def __getattr__(name: str) -> Any:
  if name in _DIALECTS:
    return importlib.import_module(f"gnomon.extend.mlir.dialects.{name}")
  raise AttributeError(f"module 'gnomon.extend.mlir.dialects' has no attribute {name!r}")


def __dir__() -> list[str]:
  return sorted(_DIALECTS)
