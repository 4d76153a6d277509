"""Strong zeros: where cotangents may be zero because a value was not selected.

A selection gives a cotangent of zero to the branch that it did not take. There a product
with a derivative that is infinite, or not a number, must be zero. Products of that kind
cost a comparison, so that they are used only where such a zero can come from: the walk
backwards over a linear program keeps track. `docs/design/strong-zeros.md` tells more.
"""

from __future__ import annotations

import threading
from typing import Any

from gnomon.core import derive, precision, structural
from gnomon.core.jaxpr import ClosedJaxpr, Jaxpr, memoised
from gnomon.core.primitive import Primitive
from gnomon.core.rule import Rule


class _State(threading.local):
  """Whether the cotangents of the equation at hand may hold such zeros.

  `made`: whether the transpose that was last taken made some (`ASK`).
  """

  masked = True
  made = True


state = _State()

# Whether the transpose of an equation with these params may bring zeros of its own where
# there were none. Those without a rule may; and within their transposes all counts as
# masked.
masking_rule: Rule[Any] = Rule("masking_rule")

ASK = "ask"
"""What a rule gives if that depends on the cotangents, too: their transpose says it."""


def _never(params: dict[str, Any]) -> bool:
  return False


def masks_nothing(*primitives: Primitive) -> None:
  """The transposes of these primitives bring no zeros of their own."""
  for p in primitives:
    masking_rule.define(p)(_never)


masks_nothing(
    derive.add_any_p, derive.broadcast_in_dim_p, derive.reduce_sum_p, derive.transpose_p,
    precision.reduce_precision_p, structural.reshape_p, structural.squeeze_p,
    structural.convert_element_type_p, structural.real_p, structural.copy_p)


def has_masks(program: Jaxpr | ClosedJaxpr) -> bool:
  """Whether the transpose of a program may bring zeros of its own; remembered with it."""
  jaxpr = program.jaxpr if isinstance(program, ClosedJaxpr) else program

  def find() -> bool:
    for e in jaxpr.eqns:
      rule = masking_rule.get(e.primitive)
      if rule is None or rule(e.params):
        return True
    return False

  return memoised(jaxpr, "has masks", find)  # type: ignore[no-any-return]
