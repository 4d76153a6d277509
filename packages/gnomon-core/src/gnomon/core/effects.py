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


io_effect = IOEffect()
ordered_io_effect = OrderedIOEffect()
debug_effect = DebugEffect()
ordered_debug_effect = OrderedDebugEffect()

Effects = frozenset[Effect]
no_effects: Effects = frozenset()


def ordered_effects(effects: Iterable[Effect]) -> list[Effect]:
  """The ordered ones, always in the same order."""
  return sorted([e for e in effects if e.ordered], key=str) if effects else []
