"""Indexing of arrays: reading, and writing through `x.at`."""

from __future__ import annotations

from gnomon.numpy._indexing.at import ATTRIBUTES as ATTRIBUTES
