"""How the elements of an array are laid out in a device's memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["Format", "Layout"]


class _Auto:
  """Asks the compiler to choose."""

  __slots__ = ()

  def __repr__(self) -> str:
    return "AUTO"


class Layout:
  """The order of dimensions in memory, the slowest first, and their tiles."""

  __slots__ = ("major_to_minor", "sub_byte_element_size_in_bits", "tiling")

  AUTO = _Auto()

  def __init__(
      self, major_to_minor: Sequence[int],
      tiling: Sequence[Sequence[int]] | None = None,
      sub_byte_element_size_in_bits: int = 0) -> None:
    self.major_to_minor = tuple(major_to_minor)
    self.tiling = None if tiling is None else tuple(map(tuple, tiling))
    self.sub_byte_element_size_in_bits = sub_byte_element_size_in_bits

  @staticmethod
  def from_pjrt_layout(pjrt_layout: Any) -> Layout:
    """The layout that the runtime tells of an array or of an executable's argument."""
    xla = pjrt_layout._xla_layout()
    return Layout(
        xla.minor_to_major()[::-1], tuple(xla.tiling()), xla.element_size_in_bits())

  def update(self, **changes: Any) -> Layout:
    """A copy with some fields changed."""
    return Layout(**{n: getattr(self, n) for n in self.__slots__} | changes)

  def check_compatible_aval(self, aval_shape: Sequence[int]) -> None:
    """Raises `ValueError` unless arrays of this shape can have the layout."""
    if len(self.major_to_minor) != len(aval_shape):
      raise ValueError(
          f"a layout of {len(self.major_to_minor)} dimensions, {self}, does not fit an "
          f"array of shape {tuple(aval_shape)}")

  def _key(self) -> tuple[Any, ...]:
    return (self.major_to_minor, self.tiling or (), self.sub_byte_element_size_in_bits)

  def __eq__(self, other: object) -> bool:
    return isinstance(other, Layout) and self._key() == other._key()

  def __hash__(self) -> int:
    return hash(self._key())

  def __repr__(self) -> str:
    return (
        f"Layout(major_to_minor={self.major_to_minor}, tiling={self.tiling}, "
        f"sub_byte_element_size_in_bits={self.sub_byte_element_size_in_bits})")


class Format:
  """A layout in memory, and where the array lives."""

  __slots__ = ("layout", "sharding")

  def __init__(self, layout: Any = None, sharding: Any = None) -> None:
    if isinstance(layout, Layout) and sharding is None:
      raise ValueError(
          f"Format: the layout {layout} is that of an array on certain devices: give the "
          "sharding too")
    self.layout, self.sharding = layout, sharding

  def __eq__(self, other: object) -> bool:
    return (
        isinstance(other, Format) and self.layout == other.layout
        and self.sharding == other.sharding)

  def __hash__(self) -> int:
    return hash((self.layout, self.sharding))

  def __repr__(self) -> str:
    return f"Format(layout={self.layout}, sharding={self.sharding})"
