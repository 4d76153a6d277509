"""Partition specs: which axes of a mesh divide which dimensions of an array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self, overload
from weakref import WeakValueDictionary


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
    for axis in entry:
      if isinstance(axis, (tuple, list)):
        raise ValueError(  # noqa: TRY004 -- as for other specs that say nothing
            "A tuple inside PartitionSpec cannot contain a nested tuple; it names the "
            f"axes that divide one dimension. Got the partition {entry}, in it {axis}")
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
  _made: ClassVar[Any] = WeakValueDictionary()

  UNCONSTRAINED = UNCONSTRAINED

  _hash: int
  _partitions: tuple[Any, ...]
  unreduced: frozenset[Any]
  reduced: frozenset[Any]

  def __new__(
      cls, *partitions: Any, unreduced: Any = frozenset(), reduced: Any = frozenset(),
  ) -> Self:
    entries = tuple([_dimension(p) for p in partitions])
    used = {a for e in entries for a in axes_of(e)}
    for what, axes in (("unreduced", unreduced), ("reduced", reduced)):
      if not isinstance(axes, (set, frozenset)):
        raise TypeError(
            f"{what} of a PartitionSpec is a set of axis names, got {axes!r} of type "
            f"{type(axes).__name__}")
      if None in axes:
        raise ValueError(
            f"{what} cannot contain None: its elements are names of axes, got {axes}")
      if used & axes:
        raise ValueError(
            f"partitions cannot overlap with {what} axes of a PartitionSpec: the "
            f"partitions are {entries}, {what} is {set(axes)}")
    if unreduced & reduced:
      raise ValueError(
          "unreduced and reduced axes of a PartitionSpec cannot overlap: both have "
          f"{set(unreduced & reduced)}")
    key = (entries, frozenset(unreduced), frozenset(reduced))
    found: Self | None = cls._made.get(key)
    if found is None:
      found = super().__new__(cls)
      found._partitions, found.unreduced, found.reduced = key
      found._hash = hash(key)
      one: Self = cls._made.setdefault(key, found)  # another thread may have been first
      return one
    return found

  def __init_subclass__(cls) -> None:
    raise TypeError(
        f"Subclassing `jax.P` is prohibited: {cls.__name__} can have a PartitionSpec as "
        "an attribute instead")

  @property
  def partitions(self) -> tuple[Any, ...]:
    """The entry of each dimension."""
    return self._partitions

  def update(
      self, partitions: Any = None, unreduced: Any = None, reduced: Any = None,
  ) -> PartitionSpec:
    """A spec with other `partitions`, `unreduced` or `reduced`."""
    return PartitionSpec(
        *(self._partitions if partitions is None else partitions),
        unreduced=self.unreduced if unreduced is None else unreduced,
        reduced=self.reduced if reduced is None else reduced)

  def to_tangent_spec(self) -> PartitionSpec:
    """The spec of a tangent: the same."""
    return self

  def to_ct_spec(self) -> PartitionSpec:
    """The spec of a cotangent: what was unreduced is reduced, and the reverse."""
    return self.update(unreduced=self.reduced, reduced=self.unreduced)

  def to_lo(self) -> PartitionSpec:
    """The spec of the array that stands for a value: the same."""
    return self

  def index(self, value: Any) -> int:
    """The first dimension with this entry; ValueError if none has it."""
    return self._partitions.index(_dimension(value))

  def count(self, value: Any) -> int:
    """How many dimensions have this entry."""
    return self._partitions.count(_dimension(value))

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
      self._refuse_sums("__add__", other)
      return self.update(partitions=(*self, *other))
    return NotImplemented

  def __radd__(self, other: Any) -> PartitionSpec:
    if isinstance(other, tuple):
      self._refuse_sums("__radd__", other)
      return self.update(partitions=(*other, *self))
    return NotImplemented

  def _refuse_sums(self, method: str, other: tuple[Any, ...]) -> None:
    for what, axes in (("unreduced", self.unreduced), ("reduced", self.reduced)):
      if axes:
        raise TypeError(
            f"a tuple cannot be added to a spec with {what} in `{method}` of "
            f"PartitionSpec: the spec is {self}, the tuple {other}; make it a "
            "PartitionSpec first")

  # Equal specs are one object: `==` is identity.

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
