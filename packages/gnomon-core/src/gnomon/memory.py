"""Kinds of memory that arrays can be in."""

from __future__ import annotations

from gnomon.core.spaces import Space as Space

__all__ = ["Space"]
