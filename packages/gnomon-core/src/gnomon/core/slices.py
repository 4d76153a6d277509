"""`Slice`: part of an axis whose start may be traced, of a size that is known."""

from __future__ import annotations

from typing import Any

__all__ = ["Slice", "ds"]


class Slice:
  """`size` elements of an axis, from `start`, every `stride`-th."""

  __slots__ = ("size", "start", "stride")

  def __init__(self, start: Any, size: Any, stride: int = 1) -> None:
    if stride < 0:
      raise ValueError(f"Slice: `stride` must be >= 0, got {stride}")
    self.start, self.size, self.stride = start, size, stride

  @property
  def is_dynamic_start(self) -> bool:
    return not isinstance(self.start, int)

  @property
  def is_dynamic_size(self) -> bool:
    return not isinstance(self.size, int)

  def __eq__(self, other: object) -> bool:
    return isinstance(other, Slice) and (
        (self.start, self.size, self.stride) == (other.start, other.size, other.stride))

  def __hash__(self) -> int:
    return hash((self.start, self.size, self.stride))

  def __repr__(self) -> str:
    return f"Slice(start={self.start}, size={self.size}, stride={self.stride})"


def ds(start: Any, size: Any = None, stride: int | None = None) -> Slice:
  """A part of an axis, for indexing references: `size` elements from `start`.

  With one argument, the first `start` elements.

  >>> import gnomon
  >>> gnomon.ds(2, 3)
  Slice(start=2, size=3, stride=1)
  """
  if size is None:
    if not isinstance(start, int):
      raise TypeError(f"ds: a size alone must be an int, got {start!r}")
    start, size = 0, start
  return Slice(start, size, 1 if stride is None else stride)
