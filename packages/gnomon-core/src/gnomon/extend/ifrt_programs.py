"""Programs that the runtime's interface takes besides StableHLO."""

from __future__ import annotations

from gnomon.runtime.jaxlib.ifrt import programs as ifrt_programs

__all__ = ["ifrt_programs"]
