"""Effects: what an equation does besides computing its results."""

from __future__ import annotations

from collections.abc import Iterable


class Effect:
  """Base class of effects. Equal effects are one effect.

  Operations with an `ordered` effect happen in the order of the program, one after the
  other: a compiled program hands a token from each to the next. An effect that is
  `dispensable` may happen oftener or for more elements than the program says, as long as
  it shows what was computed: it never forbids a transformation.
  """

  ordered = False
  dispensable = False

  def __repr__(self) -> str:
    return type(self).__name__

  def __str__(self) -> str:
    return type(self).__name__.removesuffix("Effect")


class IOEffect(Effect):
  """Input and output in no particular order."""


class OrderedIOEffect(IOEffect):
  """Input and output in program order."""

  ordered = True


class DebugEffect(Effect):
  """Output that shows values, in no particular order."""

  dispensable = True


class OrderedDebugEffect(DebugEffect):
  """Output that shows values, in program order."""

  ordered = True


class RefEffect(Effect):
  """Reading, writing, adding to, or making a mutable reference.

  A program has such effects if it touches references that come from outside. One that
  only makes references of its own has the effect `makes_refs`, which may be dropped.
  """

  __slots__ = ("kind",)

  def __init__(self, kind: str) -> None:
    self.kind = kind

  def __repr__(self) -> str:
    return f"RefEffect({self.kind!r})"

  def __str__(self) -> str:
    return self.kind


io_effect = IOEffect()
ordered_io_effect = OrderedIOEffect()
debug_effect = DebugEffect()
ordered_debug_effect = OrderedDebugEffect()
reads_ref = RefEffect("Read")
writes_ref = RefEffect("Write")
adds_to_ref = RefEffect("Accum")
makes_refs = RefEffect("InternalRef")

Effects = frozenset[Effect]
no_effects: Effects = frozenset()


def ordered_effects(effects: Iterable[Effect]) -> list[Effect]:
  """The ordered ones, always in the same order."""
  return sorted([e for e in effects if e.ordered], key=str) if effects else []


def must_happen(effects: Effects) -> bool:
  """Whether an operation stays though nothing uses its results."""
  return bool(effects) and effects != _only_makes_refs


_only_makes_refs: Effects = frozenset({makes_refs})


def touches_refs(effects: Effects) -> bool:
  """Whether a program works with references."""
  return any(type(e) is RefEffect for e in effects)
