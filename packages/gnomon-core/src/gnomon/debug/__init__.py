"""Looking into running programs: printing values, calling back, stopping, pictures."""

from __future__ import annotations

from gnomon.core.effects import DebugEffect as DebugEffect
from gnomon.core.effects import OrderedDebugEffect as OrderedDebugEffect
from gnomon.debug.debugger import breakpoint as breakpoint
from gnomon.debug.printing import callback as callback
from gnomon.debug.printing import log as log
from gnomon.debug.printing import print_ as print

__all__ = ["DebugEffect", "OrderedDebugEffect", "breakpoint", "callback", "log", "print"]
