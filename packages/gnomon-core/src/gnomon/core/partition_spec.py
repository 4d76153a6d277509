"""Partition specs: which axes of a mesh divide which dimensions of an array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self, overload


class Unconstrained:
  """The type of `PartitionSpec.UNCONSTRAINED`: a dimension that the compiler divides."""

  _one: Any = None

  def __new__(cls) -> Self:
    if cls._one is None:
      cls._one = super().__new__(cls)
    return cls._one  # type: ignore[no-any-return]

  def __repr__(self) -> str:
    return "UNCONSTRAINED"

  def __reduce__(self) -> tuple[type[Unconstrained], tuple[()]]:
    return (Unconstrained, ())


UNCONSTRAINED = Unconstrained()


class DuplicateSpecError(ValueError):
  """A partition spec that uses an axis of the mesh for two dimensions."""


def _dimension(entry: Any) -> Any:
  """An entry of a spec in its one form: no axes are None, one axis is its name."""
  if isinstance(entry, (tuple, list)):
    entry = tuple(entry)
    return None if not entry else entry[0] if len(entry) == 1 else entry
  return entry


def axes_of(entry: Any) -> tuple[Any, ...]:
  """The axes that divide one dimension, outermost first."""
  if entry is None or entry is UNCONSTRAINED:
    return ()
  return entry if isinstance(entry, tuple) else (entry,)


class PartitionSpec:
  """How an array is divided over the axes of a mesh, dimension by dimension.

  Args:
    *partitions: for each dimension the name of an axis, a tuple of names (the first
      divides coarsest), None (not divided) or `PartitionSpec.UNCONSTRAINED` (left to the
      compiler). Dimensions that are not named are not divided.
    unreduced: axes over which the array's values are still to be summed.
    reduced: axes over which its cotangents will be unreduced.

  >>> from gnomon.sharding import PartitionSpec as P
  >>> P("x", None, ("y", "z"))
  P('x', None, ('y', 'z'))
  >>> P("x") + P("y")
  P('x', 'y')

  Raises:
    TypeError: `unreduced` or `reduced` is not a set of axis names.
    ValueError: an axis both divides a dimension and is unreduced, or has None in these.
  """

  __slots__ = ("__weakref__", "_hash", "_partitions", "reduced", "unreduced")

  UNCONSTRAINED = UNCONSTRAINED

  _partitions: tuple[Any, ...]
  unreduced: frozenset[Any]
  reduced: frozenset[Any]

  def __init__(
      self, *partitions: Any, unreduced: Any = frozenset(), reduced: Any = frozenset(),
  ) -> None:
    entries = tuple([_dimension(p) for p in partitions])
    used = {a for e in entries for a in axes_of(e)}
    for what, axes in (("unreduced", unreduced), ("reduced", reduced)):
      if not isinstance(axes, (set, frozenset)):
        raise TypeError(
            f"{what} of a PartitionSpec is a set of axis names, got {axes!r} of type "
            f"{type(axes).__name__}")
      if None in axes:
        raise ValueError(f"{what} of a PartitionSpec names axes; it cannot hold None")
      if used & axes:
        raise ValueError(
            f"an axis cannot both divide a dimension and be {what}: the partitions are "
            f"{entries}, {what} is {set(axes)}")
    if unreduced & reduced:
      raise ValueError(
          f"an axis cannot be both unreduced and reduced: {set(unreduced & reduced)}")
    self._partitions = entries
    self.unreduced, self.reduced = frozenset(unreduced), frozenset(reduced)
    self._hash = hash((entries, self.unreduced, self.reduced))

  @property
  def partitions(self) -> tuple[Any, ...]:
    """The entry of each dimension."""
    return self._partitions

  def update(self, **changes: Any) -> PartitionSpec:
    """A spec with other `partitions`, `unreduced` or `reduced`."""
    parts = changes.pop("partitions", self._partitions)
    unreduced = changes.pop("unreduced", self.unreduced)
    reduced = changes.pop("reduced", self.reduced)
    if changes:
      raise TypeError(f"a PartitionSpec has no {', '.join(changes)}")
    return PartitionSpec(*parts, unreduced=unreduced, reduced=reduced)

  def to_tangent_spec(self) -> PartitionSpec:
    """The spec of a tangent: the same."""
    return self

  def to_ct_spec(self) -> PartitionSpec:
    """The spec of a cotangent: what was unreduced is reduced, and the reverse."""
    return self.update(unreduced=self.reduced, reduced=self.unreduced)

  def to_lo(self) -> PartitionSpec:
    """The spec of the array that stands for a value: the same."""
    return self

  def index(self, entry: Any) -> int:
    """The first dimension with this entry; ValueError if none has it."""
    return self._partitions.index(_dimension(entry))

  def count(self, entry: Any) -> int:
    """How many dimensions have this entry."""
    return self._partitions.count(_dimension(entry))

  @overload
  def __getitem__(self, i: int) -> Any: ...
  @overload
  def __getitem__(self, i: slice) -> tuple[Any, ...]: ...
  def __getitem__(self, i: int | slice) -> Any:
    return self._partitions[i]

  def __iter__(self) -> Iterator[Any]:
    return iter(self._partitions)

  def __len__(self) -> int:
    return len(self._partitions)

  def __add__(self, other: Any) -> PartitionSpec:
    if isinstance(other, PartitionSpec):
      return PartitionSpec(
          *self, *other, unreduced=self.unreduced | other.unreduced,
          reduced=self.reduced | other.reduced)
    if isinstance(other, tuple):
      return self.update(partitions=(*self, *other))
    return NotImplemented

  def __radd__(self, other: Any) -> PartitionSpec:
    if isinstance(other, tuple):
      return self.update(partitions=(*other, *self))
    return NotImplemented

  def __eq__(self, other: object) -> bool:
    if not isinstance(other, PartitionSpec):
      return False
    return self is other or (
        self._partitions == other._partitions and self.unreduced == other.unreduced
        and self.reduced == other.reduced)

  def __hash__(self) -> int:
    return self._hash

  def __repr__(self) -> str:
    inner = [repr(p) for p in self._partitions]
    sets = [
        f"{what}={set(axes)!r}"
        for what, axes in (("unreduced", self.unreduced), ("reduced", self.reduced))
        if axes]
    if len(inner) == 1 and not sets:
      return f"P({inner[0]},)"
    return f"P({', '.join([*inner, *sets])})"

  def __reduce__(self) -> Any:
    return (_remake, (self._partitions, self.unreduced, self.reduced))


def _remake(
    partitions: Sequence[Any], unreduced: frozenset[Any], reduced: frozenset[Any],
) -> PartitionSpec:
  return PartitionSpec(*partitions, unreduced=unreduced, reduced=reduced)
