"""The adapter to jaxlib: the only package of gnomon that imports it."""

from __future__ import annotations

from gnomon.runtime.jaxlib import _load

# Every module of this package imports jaxlib at its head; this line runs before them all.
_load.prepare()
