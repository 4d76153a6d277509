"""Lowerings written with other primitives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from gnomon.core.jaxpr import ClosedJaxpr
from gnomon.core.primitive import Primitive
from gnomon.core.rule import lower
from gnomon.core.stage import trace_to_closed


def lower_as(p: Primitive, f: Callable[..., Sequence[Any]]) -> None:
  """Lowers a primitive as the program `f(*operands, **params)` of other primitives."""
  @lower.define(p)
  def _(ctx: Any, *values: Any, **params: Any) -> Sequence[Any]:
    return emit(ctx, f, ctx.avals_in, values, **params)


def emit(
    ctx: Any, f: Callable[..., Sequence[Any]], avals: Sequence[Any],
    values: Sequence[Any], **params: Any) -> Sequence[Any]:
  """Emits the program `f(*operands, **params)` for operands of these types."""
  return ctx.inline(  # type: ignore[no-any-return]
      _program(f, tuple(avals), tuple(params.items())), values)


@lru_cache(maxsize=512)
def _program(f: Any, avals: tuple[Any, ...], params: tuple[Any, ...]) -> ClosedJaxpr:
  fixed = dict(params)
  return trace_to_closed(lambda *xs: f(*xs, **fixed), avals)
