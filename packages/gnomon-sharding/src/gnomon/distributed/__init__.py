"""Programs of several processes: each runs the same program on its own devices."""

from __future__ import annotations

from gnomon.distributed._start import initialize as initialize
from gnomon.distributed._start import is_initialized as is_initialized
from gnomon.distributed._start import shutdown as shutdown
from gnomon.runtime.processes import global_state as global_state

__all__ = ["initialize", "is_initialized", "shutdown"]
