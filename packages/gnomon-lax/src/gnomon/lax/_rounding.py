"""Elementwise primitives: rounding, neighbours, precision."""

from __future__ import annotations

import enum
import operator
from collections.abc import Sequence
from typing import Any

from gnomon.core.derive import elementwise_batch, linear
from gnomon.core.primitive import Primitive
from gnomon.core.rule import lower, typing_rule
from gnomon.core.types import ShapedArray
from gnomon.lax._families import FLOAT, as_bool, binary, check_dtype, operands, unary


def floor(x: Any) -> Any:
  """The largest integer that is not larger, elementwise; its derivative is zero.

  Args:
    x: floating-point array.

  >>> from gnomon import lax
  >>> float(lax.floor(-1.5))
  -2.0

  Raises:
    TypeError: `x` is not floating-point.
  """
  return floor_p.bind(x)[0]


floor_p = unary("floor", FLOAT, "floor")


def ceil(x: Any) -> Any:
  """The smallest integer that is not smaller, elementwise; its derivative is zero.

  Args:
    x: floating-point array.

  >>> from gnomon import lax
  >>> float(lax.ceil(-1.5))
  -1.0

  Raises:
    TypeError: `x` is not floating-point.
  """
  return ceil_p.bind(x)[0]


ceil_p = unary("ceil", FLOAT, "ceil")


class RoundingMethod(enum.IntEnum):
  """What `round` does with numbers halfway between two integers.

  >>> from gnomon import lax
  >>> float(lax.round(2.5, lax.RoundingMethod.TO_NEAREST_EVEN))
  2.0
  """

  AWAY_FROM_ZERO = 0
  """To the one that is farther from zero."""
  TO_NEAREST_EVEN = 1
  """To the even one."""


def round(x: Any, rounding_method: RoundingMethod = RoundingMethod.AWAY_FROM_ZERO) -> Any:
  """The nearest integer, elementwise; its derivative is zero.

  Args:
    x: floating-point array.
    rounding_method: what happens to numbers halfway between two integers.

  >>> from gnomon import lax
  >>> float(lax.round(2.5))
  3.0

  Raises:
    TypeError: `x` is not floating-point.
    ValueError: `rounding_method` is no `RoundingMethod`.
  """
  return round_p.bind(x, rounding_method=RoundingMethod(rounding_method))[0]


_ROUNDING = {
    RoundingMethod.AWAY_FROM_ZERO: "stablehlo.round_nearest_afz",
    RoundingMethod.TO_NEAREST_EVEN: "stablehlo.round_nearest_even"}


def _emit_round(ctx: Any, x: Any, *, rounding_method: RoundingMethod) -> Any:
  return ctx.b.op1(_ROUNDING[rounding_method], ctx.b.tensor(ctx.avals_out[0]), (x,))


round_p = unary("round", FLOAT, _emit_round)


def is_finite(x: Any) -> Any:
  """Whether elements are neither infinite nor nan.

  Args:
    x: floating-point array.

  Returns:
    An array of bools.

  >>> from gnomon import lax
  >>> bool(lax.is_finite(1.0))
  True

  Raises:
    TypeError: `x` is not floating-point.
  """
  return is_finite_p.bind(x)[0]


is_finite_p = unary("is_finite", FLOAT, "is_finite", result=as_bool)


def nextafter(x1: Any, x2: Any) -> Any:
  """The number next to `x1` in the direction of `x2`, elementwise.

  Args:
    x1: floating-point array.
    x2: array of the same dtype and of the same shape, or a scalar.

  >>> from gnomon import lax
  >>> float(lax.nextafter(1.0, 2.0)) - 1.0 == 2.0 ** -23
  True

  Raises:
    TypeError: dtypes differ or are not floating-point, or shapes differ.
  """
  return nextafter_p.bind(*operands(x1, x2))[0]


nextafter_p = binary(
    "nextafter", FLOAT, "chlo.next_after", lambda t, ans, x1, x2: t, None)


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
  return reduce_precision_p.bind(
      operand, exponent_bits=operator.index(exponent_bits),
      mantissa_bits=operator.index(mantissa_bits))[0]


reduce_precision_p = Primitive("reduce_precision")


@typing_rule.define(reduce_precision_p)
def _(x: ShapedArray, *, exponent_bits: int, mantissa_bits: int) -> tuple[ShapedArray]:
  check_dtype("reduce_precision", x, FLOAT)
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
    reduce_precision_p, lambda cts, args, **bits: reduce_precision_p.bind(*cts, **bits))
elementwise_batch(reduce_precision_p)
