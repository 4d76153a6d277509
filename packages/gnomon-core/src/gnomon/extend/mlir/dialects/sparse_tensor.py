"""The operations of the dialect `sparse_tensor`."""

from __future__ import annotations

from gnomon.runtime.jaxlib.dialects import door

__getattr__, __dir__ = door("dialects.sparse_tensor")
