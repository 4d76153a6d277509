"""What types of arrays may say beside shapes and dtypes: memories, varying axes."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any, ClassVar, NoReturn, Self
from weakref import WeakValueDictionary


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


class ManualAxisType:
  """How a value depends on the axes of a mesh of which a program sees one part at a time.

  Args:
    varying: axes along which the parts differ.
    unreduced: axes along which the parts are still to be summed.
    reduced: axes along which the parts of cotangents are still to be summed.

  Equal ones are one object, and cannot be changed.

  >>> from gnomon.sharding import ManualAxisType
  >>> ManualAxisType(varying={"x"}).vur
  frozenset({'x'})

  Raises:
    ValueError: an axis is in two of the sets.
  """

  __slots__ = ("__weakref__", "reduced", "unreduced", "varying")
  _made: ClassVar[Any] = WeakValueDictionary()

  varying: frozenset[Any]
  unreduced: frozenset[Any]
  reduced: frozenset[Any]

  def __new__(
      cls, *, varying: Iterable[Any] = frozenset(),
      unreduced: Iterable[Any] = frozenset(), reduced: Iterable[Any] = frozenset(),
  ) -> Self:
    for what, given in (
        ("varying", varying), ("unreduced", unreduced), ("reduced", reduced)):
      if not isinstance(given, (set, frozenset)):
        raise TypeError(
            f"{what} of a ManualAxisType is a set of axis names, got {given!r} of type "
            f"{type(given).__name__}")
    v, u, r = key = (frozenset(varying), frozenset(unreduced), frozenset(reduced))
    for a, b, x, y in (
        ("varying", "unreduced", v, u), ("varying", "reduced", v, r),
        ("unreduced", "reduced", u, r)):
      if x & y:
        raise ValueError(
            f"{a} and {b} cannot have common mesh axes: {set(x)} and {set(y)} have "
            f"{set(x & y)}")
    found: Self | None = cls._made.get(key)
    if found is None:
      found = super().__new__(cls)
      for name, value in (("varying", v), ("unreduced", u), ("reduced", r)):
        object.__setattr__(found, name, value)
      one: Self = cls._made.setdefault(key, found)  # another thread may have been first
      return one
    return found

  def __setattr__(self, name: str, value: Any) -> NoReturn:
    raise AttributeError(
        f"{name} of a ManualAxisType cannot be set: use update({name}=...)")

  def __reduce__(self) -> Any:
    return (_manual, (self.varying, self.unreduced, self.reduced))

  def update(self, **kwargs: Any) -> ManualAxisType:
    """One with another `varying`, `unreduced` or `reduced`."""
    parts = {
        "varying": self.varying, "unreduced": self.unreduced, "reduced": self.reduced}
    return ManualAxisType(**{**parts, **kwargs})

  def to_ct_mat(self) -> ManualAxisType:
    """That of cotangents: what was unreduced is reduced, and the reverse."""
    return ManualAxisType(
        varying=self.varying, unreduced=self.reduced, reduced=self.unreduced)

  @property
  def vur(self) -> frozenset[Any]:
    """The axes that are in one of the sets."""
    return self.varying | self.unreduced | self.reduced

  @property
  def empty(self) -> bool:
    """Whether no axis is in one of the sets."""
    return not self.vur

  def invarying(self, mesh: Any) -> frozenset[Any]:
    """The manual axes of a mesh along which all parts are the same."""
    return frozenset(mesh.manual_axes) - self.vur

  def __repr__(self) -> str:
    return (
        f"ManualAxisType(varying={self.varying}, unreduced={self.unreduced}, "
        f"reduced={self.reduced})")


def _manual(varying: Any, unreduced: Any, reduced: Any) -> ManualAxisType:
  return ManualAxisType(varying=varying, unreduced=unreduced, reduced=reduced)


INVARYING = ManualAxisType()
