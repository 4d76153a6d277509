"""Elementwise primitives: rounding, neighbours, precision."""

from __future__ import annotations

import enum
from typing import Any

from gnomon.core.precision import reduce_precision as reduce_precision
from gnomon.core.precision import reduce_precision_p as reduce_precision_p
from gnomon.lax._families import FLOAT, as_bool, binary, operands, unary


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
  return floor_p.apply(x)[0]


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
  return ceil_p.apply(x)[0]


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
  return round_p.apply(x, rounding_method=RoundingMethod(rounding_method))[0]


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
  return is_finite_p.apply(x)[0]


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
  return nextafter_p.apply(*operands(x1, x2))[0]


nextafter_p = binary(
    "nextafter", FLOAT, "chlo.next_after", lambda t, ans, x1, x2: t, None)
