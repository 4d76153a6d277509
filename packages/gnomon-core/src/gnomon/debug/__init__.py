"""Looking into running programs: printing values, calling back, stopping, pictures."""

from __future__ import annotations

from gnomon.core.effects import DebugEffect as DebugEffect
from gnomon.core.effects import OrderedDebugEffect as OrderedDebugEffect
from gnomon.debug.debugger import breakpoint as breakpoint
from gnomon.debug.printing import callback as callback
from gnomon.debug.printing import log as log
from gnomon.debug.printing import print_ as print
from gnomon.debug.shardings import inspect_array_sharding as inspect_array_sharding
from gnomon.debug.shardings import visualize_array_sharding as visualize_array_sharding
from gnomon.debug.shardings import visualize_sharding as visualize_sharding

__all__ = [
    "DebugEffect", "OrderedDebugEffect", "breakpoint", "callback",
    "inspect_array_sharding", "log", "print", "visualize_array_sharding",
    "visualize_sharding"]
