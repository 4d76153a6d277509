"""The version of this package, without the cost of reading its metadata."""

from __future__ import annotations

__version__ = "0.1.0"
__version_info__ = tuple(int(part) for part in __version__.split("."))

__all__ = ["__version__", "__version_info__"]
