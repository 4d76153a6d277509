"""Equations that stand for a program: computed, differentiated and mapped as that is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gnomon.core.jaxpr import ClosedJaxpr, eval_jaxpr
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, impl_rule, jvp_rule, lower
from gnomon.core.stage import trace_to_closed
from gnomon.core.types import typeof
from gnomon.transform.jvp import jvp_jaxpr, moves_of, moving, place
from gnomon.transform.vmap import Axis, batch_jaxpr


def unmapped(aval: Any, dim: int | None) -> Any:
  """The type of one of the values that are mapped along `dim`."""
  if dim is None:
    return aval
  return aval.update(shape=aval.shape[:dim] + aval.shape[dim + 1:])


def define_by_expansion(p: Primitive, expand: Callable[..., Sequence[Any]]) -> None:
  """The rules of a primitive but for its type and transpose.

  `expand(*args, **params)` computes its results.
  """
  impl_rule.define(p)(expand)

  def program(avals: Sequence[Any], params: dict[str, Any]) -> ClosedJaxpr:
    return trace_to_closed(lambda *xs: expand(*xs, **params), avals)

  @lower.define(p)
  def _(ctx: Any, *values: Any, **params: Any) -> Any:
    return ctx.inline(program(ctx.avals_in, params), values)

  @jvp_rule.define(p)
  def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    jaxpr = program([typeof(x) for x in primals], params)
    both, moved = jvp_jaxpr(jaxpr, moves_of(tangents))
    outs = eval_jaxpr(both.jaxpr, both.consts, *primals, *moving(tangents))
    n = len(jaxpr.out_avals)
    return outs[:n], place(outs[n:], moved, jaxpr.out_avals)

  @batch_rule.define(p)
  def _(axis: Axis, args: Sequence[Any], dims: Sequence[Any], **params: Any) -> Any:
    avals = [unmapped(typeof(x), d) for x, d in zip(args, dims)]
    batched, places = batch_jaxpr(program(avals, params), axis, tuple(dims))
    return eval_jaxpr(batched.jaxpr, batched.consts, *args), places
