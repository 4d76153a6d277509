"""`reduce_precision`: saved residuals are rounded with it, so that core owns it."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.derive import elementwise_batch, linear
from gnomon.core.primitive import Primitive
from gnomon.core.rule import lower, typing_rule
from gnomon.core.types import ShapedArray


def reduce_precision(operand: Any, exponent_bits: int, mantissa_bits: int) -> Any:
  """Rounds elements to what a float with fewer bits can hold; the dtype stays.

  Args:
    operand: floating-point array.
    exponent_bits: bits of the exponent, at least 1.
    mantissa_bits: bits of the mantissa, at least 0.

  >>> from gnomon import lax
  >>> float(lax.reduce_precision(1.23, exponent_bits=5, mantissa_bits=2))
  1.25

  Raises:
    TypeError: `operand` is not floating-point.
    ValueError: a number of bits is too small.
  """
  return reduce_precision_p.apply(
      operand, exponent_bits=operator.index(exponent_bits),
      mantissa_bits=operator.index(mantissa_bits))[0]


reduce_precision_p = Primitive("reduce_precision")


@typing_rule.define(reduce_precision_p)
def _(x: ShapedArray, *, exponent_bits: int, mantissa_bits: int) -> tuple[ShapedArray]:
  if not dtypes.issubdtype(x.dtype, np.floating):
    raise TypeError(
        f"reduce_precision does not accept dtype {x.dtype} at position 0: expected "
        "floating")
  if exponent_bits < 1 or mantissa_bits < 0:
    raise ValueError(
        "reduce_precision needs exponent_bits of at least 1 and mantissa_bits of at "
        f"least 0, got {exponent_bits} and {mantissa_bits}")
  return (x,)


@lower.define(reduce_precision_p)
def _(ctx: Any, x: Any, *, exponent_bits: int, mantissa_bits: int) -> Sequence[Any]:
  b = ctx.b
  return [b.op1(
      "stablehlo.reduce_precision", b.tensor(ctx.avals_out[0]), (x,),
      {"exponent_bits": b.i32(exponent_bits), "mantissa_bits": b.i32(mantissa_bits)})]


linear(
    reduce_precision_p, lambda cts, args, **bits: reduce_precision_p.apply(*cts, **bits))
elementwise_batch(reduce_precision_p)
