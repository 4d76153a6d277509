"""`add_any`: the sum of two tangents or cotangents, whatever their dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core.derive import add_any_p, defjvp, elementwise_batch, unbroadcast
from gnomon.core.rule import lower, transpose_rule, typing_rule
from gnomon.core.types import ShapedArray
from gnomon.core.zero import UndefinedPrimal, Zero

Values = Sequence[Any]


@typing_rule.define(add_any_p)
def _(x: ShapedArray, y: ShapedArray) -> tuple[ShapedArray]:
  if x.dtype != y.dtype or (x.shape != y.shape and x.shape and y.shape):
    raise TypeError(
        f"add_any needs operands of one type, or scalars among them: {x} and {y}")
  out = x if x.shape else y
  weak = x.weak_type and y.weak_type
  return (out if out.weak_type is weak else ShapedArray(out.shape, out.dtype, weak),)


@lower.define(add_any_p)
def _(ctx: Any, x: Any, y: Any) -> Values:
  out = ctx.avals_out[0]
  x, y = (v if a.shape == out.shape else ctx.b.broadcast_in_dim(v, out, ())
          for v, a in zip((x, y), ctx.avals_in))
  op = "stablehlo.or" if out.dtype == np.bool_ else "stablehlo.add"
  return [ctx.b.op1(op, ctx.b.tensor(out), (x, y))]


def add_tangents(x: Any, y: Any) -> Any:
  """The sum of two tangents or cotangents."""
  if type(x) is Zero:
    return y
  if type(y) is Zero:
    return x
  return add_any_p.apply(x, y)[0]


defjvp(add_any_p, lambda t, ans, x, y: t, lambda t, ans, x, y: t)


@transpose_rule.define(add_any_p)
def _(cts: Values, args: Values) -> list[Any]:
  return [
      unbroadcast(cts[0], x.aval) if type(x) is UndefinedPrimal else None for x in args]


elementwise_batch(add_any_p)
