"""For libraries that extend gnomon: primitives, rules, the compiler, the runtime.

These modules are looked at by few programs and load on first use.
"""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = (
    "backend", "core", "ifrt_programs", "linear_util", "lowering", "mlir", "random",
    "sharding", "source_info_util", "xla")


def __getattr__(name: str) -> Any:
  if name in _MODULES:
    return importlib.import_module(f"gnomon.extend.{name}")
  raise AttributeError(f"module 'gnomon.extend' has no attribute {name!r}")


def __dir__() -> list[str]:
  return sorted(_MODULES)
