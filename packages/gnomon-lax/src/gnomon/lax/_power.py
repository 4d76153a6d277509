"""Elementwise primitives: powers with an array as exponent, and roots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.derive import elementwise_batch, grow
from gnomon.core.primitive import Primitive
from gnomon.core.rule import jvp_rule, lower, typing_rule
from gnomon.core.structural import add_tangents, broadcast_in_dim, convert, full, select_n
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import Zero
from gnomon.lax._arithmetic import div, integer_pow, mul, sub
from gnomon.lax._comparison import eq
from gnomon.lax._exponential import log
from gnomon.lax._families import (
  FLOAT,
  INEXACT,
  INT,
  check_dtype,
  nary_type,
  operands,
  unary,
)
from gnomon.lax._strong import times


def pow(x: Any, y: Any) -> Any:
  """Power, elementwise; 1 wherever the exponent is 0.

  Args:
    x: floating-point or complex array: the base.
    y: the exponent: an array of the same dtype, or of integers; of the same shape, or a
      scalar.

  >>> from gnomon import lax
  >>> float(lax.pow(2.0, 0.5)) == 2 ** 0.5
  False
  >>> float(lax.pow(9.0, 2))
  81.0

  Raises:
    TypeError: `x` is not inexact, dtypes differ, or shapes differ.
  """
  if type(y) is int:
    return pow_p.apply(x, y)[0]
  return pow_p.apply(*operands(x, y))[0]


pow_p = Primitive("pow")


@typing_rule.define(pow_p)
def _(x: ShapedArray, y: ShapedArray) -> tuple[ShapedArray]:
  check_dtype("pow", x, INEXACT)
  if dtypes.issubdtype(y.dtype, np.integer):
    shaped = ShapedArray(y.shape, x.dtype, x.weak_type)
    return (nary_type("pow", [INEXACT, INEXACT], (x, shaped)),)
  return (nary_type("pow", [INEXACT, (*INEXACT, *INT)], (x, y)),)


@lower.define(pow_p)
def _(ctx: Any, x: Any, y: Any) -> Sequence[Any]:
  b, out = ctx.b, ctx.avals_out[0]
  base, exponent = ctx.avals_in
  y = b.convert(y, exponent, ShapedArray(exponent.shape, out.dtype))
  values = [
      v if a.shape == out.shape else b.broadcast_in_dim(v, out, range(len(a.shape)))
      for v, a in ((x, base), (y, exponent))]
  return [b.op1("stablehlo.power", b.tensor(out), values)]


@jvp_rule.define(pow_p)
def _(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
  (x, y), (tx, ty) = primals, tangents
  outs = pow_p.apply(x, y)
  out = typeof(outs[0])
  total: Any = Zero(out.to_tangent_aval())
  moves = type(ty) is not Zero and dtypes.issubdtype(typeof(y).dtype, np.inexact)
  if type(tx) is Zero and not moves:
    return outs, (total,)
  x, y = grow(x, out.shape), grow(y, out.shape)
  tx, ty = (t if type(t) is Zero else grow(t, out.shape) for t in (tx, ty))
  x = broadcast_in_dim(x, out.shape, ()) if not typeof(x).shape else x
  no_zeros = select_n(eq(x, _number(x, 0)), x, full(out.shape, 1, out.dtype))
  if type(tx) is not Zero:
    # It is y x^(y - 1), and zero where both are, though x^-1 is a pole there.
    base = select_n(eq(y, _number(y, 0)), x, no_zeros)
    total = times(tx, mul(pow(base, sub(y, _number(y, 1))), convert(y, out.dtype)))
  if moves:  # x^y log x, and zero at the base zero
    total = add_tangents(total, times(ty, mul(outs[0], log(no_zeros))))
  return outs, (total,)


elementwise_batch(pow_p)


def _number(x: Any, value: int) -> float | complex:
  """A Python number of the kind of `x`, which may itself be a Python number."""
  dtype = typeof(x).dtype
  if dtypes.issubdtype(dtype, np.integer):
    return value
  return complex(value) if dtypes.issubdtype(dtype, np.complexfloating) else float(value)


def sqrt(x: Any, *, accuracy: Any = None) -> Any:
  r"""Square root, elementwise; nan below zero.

  Args:
    x: floating-point or complex array; of complex numbers, the root with a real part that
      is not negative.
    accuracy: how exact the result must be (an `AccuracyMode` or a `Tolerance`); None: the
      platform's default.

  >>> from gnomon import lax
  >>> float(lax.sqrt(4.0))
  2.0

  Raises:
    TypeError: `x` is neither floating-point nor complex.
  """
  return sqrt_p.apply(x, accuracy=accuracy)[0]


sqrt_p = unary(
    "sqrt", INEXACT, "sqrt", lambda t, ans, x, accuracy: times(t, div(0.5, ans)))


def rsqrt(x: Any, *, accuracy: Any = None) -> Any:
  r"""Reciprocal of the square root, elementwise: :math:`1/\sqrt x`; inf at 0, nan below.

  Args:
    x: floating-point or complex array.
    accuracy: how exact the result must be (an `AccuracyMode` or a `Tolerance`); None: the
      platform's default.

  >>> from gnomon import lax
  >>> float(lax.rsqrt(4.0))
  0.5

  Raises:
    TypeError: `x` is neither floating-point nor complex.
  """
  return rsqrt_p.apply(x, accuracy=accuracy)[0]


rsqrt_p = unary(
    "rsqrt", INEXACT, "rsqrt",
    lambda t, ans, x, accuracy: times(t, mul(div(ans, x), -0.5)))


def cbrt(x: Any, *, accuracy: Any = None) -> Any:
  r"""Cube root, elementwise; negative for negative numbers.

  Args:
    x: floating-point array.
    accuracy: how exact the result must be (an `AccuracyMode` or a `Tolerance`); None: the
      platform's default.

  >>> from gnomon import lax
  >>> round(float(lax.cbrt(-8.0)), 5)
  -2.0

  Raises:
    TypeError: `x` is not floating-point.
  """
  return cbrt_p.apply(x, accuracy=accuracy)[0]


cbrt_p = unary(
    "cbrt", FLOAT, "cbrt",
    lambda t, ans, x, accuracy: times(t, mul(integer_pow(ans, -2), 1 / 3)))
