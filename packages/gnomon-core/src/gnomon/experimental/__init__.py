"""Parts whose interfaces may still change; several distributions add to this package."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pkgutil import extend_path
from typing import TYPE_CHECKING, Any

__path__ = extend_path(__path__, __name__)

if TYPE_CHECKING:
  from gnomon.api.callback import io_callback as io_callback

__all__ = ["io_callback"]

_LAZY: Mapping[str, str] = {
    "cur_qdd": "gnomon.experimental.hijax", "io_callback": "gnomon.api.callback"}
_MODULES = ("hijax", "layout", "pjit", "serialize_executable")


def __getattr__(name: str) -> Any:
  if name in _MODULES:
    return importlib.import_module(f"gnomon.experimental.{name}")
  if name not in _LAZY:
    raise AttributeError(f"module 'gnomon.experimental' has no attribute {name!r}")
  found = globals()[name] = getattr(importlib.import_module(_LAZY[name]), name)
  return found


def __dir__() -> list[str]:
  return sorted({*globals(), *_LAZY, *_MODULES})
