"""The operations of the dialect `memref`."""

from __future__ import annotations

from gnomon.runtime.jaxlib.dialects import door

__getattr__, __dir__ = door("dialects.memref")
