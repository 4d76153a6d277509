"""What transformations know of primitives, as other libraries look at it and extend it.

The tables are gnomon's own, seen by JAX's conventions: a rule that is entered here works
under every transformation, and rules of gnomon's primitives can be read and called.
"""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = ("ad", "batching", "mlir", "partial_eval", "pxla", "xla")


def __getattr__(name: str) -> Any:
  if name in _MODULES:
    return importlib.import_module(f"gnomon.interpreters.{name}")
  raise AttributeError(f"module 'gnomon.interpreters' has no attribute {name!r}")


def __dir__() -> list[str]:
  return sorted(_MODULES)
