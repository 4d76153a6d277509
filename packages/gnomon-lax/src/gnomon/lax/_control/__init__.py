"""Control flow: conditionals and loops whose bodies are traced once."""

from gnomon.lax._control import scan_lowering, scan_reverse  # the rules of scan

__all__ = ["scan_lowering", "scan_reverse"]
