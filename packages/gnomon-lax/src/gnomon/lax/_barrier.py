"""`optimization_barrier`: what the compiler must not look through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, jvp_rule, lower, transpose_rule, typing_rule
from gnomon.core.zero import Zero
from gnomon.tree_util import tree_flatten, tree_unflatten

Values = Sequence[Any]


def optimization_barrier(operand: Any, /) -> Any:
  """The operand, in a form that the compiler does not optimise across.

  All arrays are computed before any of the results is used, and none is merged into the
  computations that follow.

  Args:
    operand: a pytree of arrays.

  Returns:
    The same pytree with the same values.

  >>> from gnomon import lax
  >>> float(lax.optimization_barrier(2.0))
  2.0
  """
  leaves, tree = tree_flatten(operand)
  return tree_unflatten(tree, optimization_barrier_p.apply(*leaves))


optimization_barrier_p = Primitive("optimization_barrier")
typing_rule.define(optimization_barrier_p)(lambda *avals: avals)


@lower.define(optimization_barrier_p)
def _(ctx: Any, *values: Any) -> Values:
  if not values:
    return []
  types = [ctx.b.tensor(a) for a in ctx.avals_out]
  return list(ctx.b.op("stablehlo.optimization_barrier", types, values).results)


def _behind(ts: Values) -> list[Any]:
  """A barrier for those that are not zero."""
  moving = iter(optimization_barrier_p.apply(*(t for t in ts if type(t) is not Zero)))
  return [t if type(t) is Zero else next(moving) for t in ts]


@jvp_rule.define(optimization_barrier_p)
def _(primals: Values, tangents: Values) -> tuple[Values, Values]:
  return optimization_barrier_p.apply(*primals), _behind(tangents)


@transpose_rule.define(optimization_barrier_p)
def _(cts: Values, args: Values) -> list[Any]:
  return _behind(cts)


@batch_rule.define(optimization_barrier_p)
def _(axis: Any, args: Values, dims: Values) -> tuple[Values, Values]:
  return optimization_barrier_p.apply(*args), dims
