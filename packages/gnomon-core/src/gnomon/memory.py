"""Kinds of memory that arrays can be in."""

from __future__ import annotations

from enum import Enum

__all__ = ["Space"]


class Space(Enum):
  """A kind of memory: the device's own, the host's, or whichever holds the array.

  >>> from gnomon.memory import Space
  >>> Space.Host
  MemorySpace.Host
  """

  Device = 1
  Host = 2
  Any = 3

  def __repr__(self) -> str:
    return f"MemorySpace.{self.name}"

  __str__ = __repr__
