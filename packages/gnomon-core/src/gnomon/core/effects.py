"""Effects: what an equation does besides computing its results."""

from __future__ import annotations


class Effect:
  """Base class of effects. Equal effects are one effect."""

  def __repr__(self) -> str:
    return type(self).__name__


class IOEffect(Effect):
  """Input and output in no particular order."""


class OrderedIOEffect(IOEffect):
  """Input and output in program order."""


class DebugEffect(Effect):
  """Output that may be dropped or reordered together with what it shows."""


io_effect = IOEffect()
ordered_io_effect = OrderedIOEffect()
debug_effect = DebugEffect()

Effects = frozenset[Effect]
no_effects: Effects = frozenset()
