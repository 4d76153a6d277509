"""Copies of arrays."""

from __future__ import annotations

from typing import Any

from gnomon.core.derive import elementwise_batch, linear
from gnomon.core.primitive import Primitive
from gnomon.core.rule import lower, typing_rule


def copy(x: Any) -> Any:
  """A copy of an array in a buffer of its own."""
  return copy_p.apply(x)[0]


copy_p = Primitive("copy")
typing_rule.define(copy_p)(lambda x: (x,))
lower.define(copy_p)(lambda ctx, x: [x])
linear(copy_p, lambda cts, args: list(copy_p.apply(cts[0])))
elementwise_batch(copy_p)
