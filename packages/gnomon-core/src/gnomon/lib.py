"""The runtime library that programs run on: its version."""

from __future__ import annotations

from gnomon.runtime.jaxlib.capabilities import capabilities

__version__ = str(capabilities["jaxlib_version"])

__all__ = ["__version__"]
