"""The operations of the dialect `mpmd`."""

from __future__ import annotations

from gnomon.runtime.jaxlib.dialects import door

__getattr__, __dir__ = door("dialects.mpmd")
