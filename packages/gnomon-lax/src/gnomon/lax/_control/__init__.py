"""Control flow: conditionals and loops whose bodies are traced once."""

from gnomon.lax._control import (  # rules of scan and cond
  saving,
  scan_lowering,
  scan_reverse,
)

__all__ = ["saving", "scan_lowering", "scan_reverse"]
