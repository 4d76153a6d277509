"""MLIR itself: contexts, modules, operations, types, attributes."""

from __future__ import annotations

from gnomon.runtime.jaxlib.dialects import door

__getattr__, __dir__ = door("ir")
