"""Elementwise primitives: sums, products, powers, the larger and the smaller."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.derive import broadcast, defjvp, elementwise_batch, linear, unbroadcast
from gnomon.core.primitive import Primitive
from gnomon.core.rule import hide_params, lower, transpose_rule, typing_rule
from gnomon.core.strong import masks_nothing
from gnomon.core.structural import convert, full, select_n
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import UndefinedPrimal, Zero
from gnomon.lax._bitwise import bitwise_and
from gnomon.lax._comparison import eq, gt, lt
from gnomon.lax._families import (
  ANY,
  NUMBER,
  REAL,
  binary,
  check_dtype,
  linear_transpose,
  nary,
  nary_type,
  operands,
  spread,
  unary,
)
from gnomon.lax._strong import over, times


def neg(x: Any) -> Any:
  r"""Negation, elementwise: :math:`-x`; of unsigned integers modulo :math:`2^n`.

  Args:
    x: array of numbers (not bool).

  >>> from gnomon import lax
  >>> float(lax.neg(2.0))
  -2.0

  Raises:
    TypeError: `x` is bool.
  """
  return neg_p.apply(x)[0]


neg_p = Primitive("neg")


@typing_rule.define(neg_p)
def _(x: ShapedArray) -> tuple[ShapedArray]:
  check_dtype("neg", x, NUMBER)
  return (x,)


@lower.define(neg_p)
def _(ctx: Any, x: Any) -> Sequence[Any]:
  return [ctx.b.op1("stablehlo.negate", ctx.b.tensor(ctx.avals_out[0]), (x,))]


linear(neg_p, lambda cts, args: [neg(cts[0])])
elementwise_batch(neg_p)


def add(x: Any, y: Any) -> Any:
  """Sum, elementwise; integers wrap around.

  Args:
    x: array of numbers (not bool).
    y: array of the same dtype and of the same shape, or a scalar.

  >>> from gnomon import lax
  >>> float(lax.add(1.0, 2.0))
  3.0

  Raises:
    TypeError: dtypes differ or are bool, or shapes differ.
  """
  return add_p.apply(*operands(x, y))[0]


add_p = binary(
    "add", NUMBER, "add", lambda t, ans, x, y: t, lambda t, ans, x, y: t)
linear_transpose(add_p, lambda ct: (ct, ct))


def sub(x: Any, y: Any) -> Any:
  """Difference, elementwise; integers wrap around.

  Args:
    x: array of numbers (not bool).
    y: array of the same dtype and of the same shape, or a scalar.

  >>> from gnomon import lax
  >>> float(lax.sub(1.0, 2.0))
  -1.0

  Raises:
    TypeError: dtypes differ or are bool, or shapes differ.
  """
  return sub_p.apply(*operands(x, y))[0]


def _differentiate_sub(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
  outs = sub_p.apply(*primals)
  out, (tx, ty) = typeof(outs[0]), tangents
  if type(tx) is not Zero and type(ty) is not Zero:
    return outs, sub_p.apply(tx, ty)
  if type(tx) is Zero:
    tx = Zero(out.to_tangent_aval()) if type(ty) is Zero else neg(ty)
  if type(tx) is not Zero and typeof(tx).shape != out.shape:
    tx = broadcast(tx, out.shape, tuple(range(typeof(tx).ndim)))
  return outs, (tx,)


sub_p = nary("sub", [NUMBER, NUMBER], "subtract", jvp=_differentiate_sub)


@transpose_rule.define(sub_p)
def _(cts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
  (x, y), ct = args, cts[0]
  to_x = unbroadcast(ct, x.aval) if type(x) is UndefinedPrimal else None
  if type(y) is not UndefinedPrimal:
    return [to_x, None]
  part = unbroadcast(ct, y.aval)
  return [to_x, part if type(part) is Zero else neg(part)]


def mul(x: Any, y: Any, *, out_dtype: Any = None) -> Any:
  """Product, elementwise; integers wrap around.

  Args:
    x: array of numbers (not bool).
    y: array of the same dtype and of the same shape, or a scalar.
    out_dtype: dtype in which to multiply, and of the result; None: that of the operands.

  >>> from gnomon import lax
  >>> float(lax.mul(2.0, 3.0))
  6.0

  Raises:
    TypeError: dtypes differ or are bool, or shapes differ.
  """
  if out_dtype is not None:
    out_dtype = dtypes.canonicalize_dtype(out_dtype)
  return mul_p.apply(*operands(x, y), out_dtype=out_dtype)[0]


mul_p = Primitive("mul")
hide_params(mul_p, out_dtype=None)


@typing_rule.define(mul_p)
def _(x: ShapedArray, y: ShapedArray, *, out_dtype: Any) -> tuple[ShapedArray]:
  out = nary_type("mul", [NUMBER, NUMBER], (x, y))
  if out_dtype is not None:
    out = ShapedArray(out.shape, out_dtype)
    check_dtype("mul (out_dtype)", out, NUMBER)
  return (out,)


@lower.define(mul_p)
def _(ctx: Any, *values: Any, out_dtype: Any) -> Sequence[Any]:
  b, out = ctx.b, ctx.aval_out
  if out_dtype is None:
    return [b.op1("stablehlo.multiply", b.tensor(out), spread(ctx, values))]
  grown = [
      b.convert(v, a, ShapedArray(a.shape, out_dtype))
      for v, a in zip(values, ctx.avals_in)]
  for i, v in enumerate(ctx.eqn.invars):
    if v.aval.shape != out.shape:
      grown[i] = b.broadcast_in_dim(grown[i], out, range(len(v.aval.shape)))
  return [b.op1("stablehlo.multiply", b.tensor(out), grown)]


def _scale(t: Any, x: Any, out_dtype: Any) -> Any:
  if out_dtype is None:
    return times(t, x)
  return mul_p.apply(t, x, out_dtype=out_dtype)[0]


defjvp(
    mul_p, lambda t, ans, x, y, out_dtype: _scale(t, y, out_dtype),
    lambda t, ans, x, y, out_dtype: _scale(t, x, out_dtype),
    elementwise=True)
elementwise_batch(mul_p)


@transpose_rule.define(mul_p)
def _(cts: Sequence[Any], args: Sequence[Any], *, out_dtype: Any) -> list[Any]:
  ct = cts[0]
  i = 0 if type(args[0]) is UndefinedPrimal else 1
  x, factor = args[i].aval, args[1 - i]
  if type(ct) is Zero:
    part: Any = Zero(x)
  else:
    if out_dtype is not None:
      factor = convert(factor, out_dtype)
    part = unbroadcast(mul(ct, factor), x)
    part = part if out_dtype is None else convert(part, x.dtype, x.weak_type)
  return [part, None] if i == 0 else [None, part]


def div(x: Any, y: Any) -> Any:
  """Quotient, elementwise; of integers, rounded towards zero.

  An integer divided by zero is -1 (all bits set), and the smallest integer divided by -1
  is itself.

  Args:
    x: array of numbers (not bool).
    y: array of the same dtype and of the same shape, or a scalar.

  >>> from gnomon import lax
  >>> float(lax.div(1.0, 4.0))
  0.25
  >>> int(lax.div(-7, 2))
  -3

  Raises:
    TypeError: dtypes differ or are bool, or shapes differ.
  """
  return div_p.apply(*operands(x, y))[0]


div_p = binary(
    "div", NUMBER, "divide", lambda t, ans, x, y: over(t, y),
    lambda t, ans, x, y: times(t, neg(div(ans, y))))


masks_nothing(neg_p, add_p, sub_p, mul_p, div_p)


@transpose_rule.define(div_p)
def _(cts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
  x, y = args
  ct = cts[0]
  return [Zero(x.aval) if type(ct) is Zero else unbroadcast(div(ct, y), x.aval), None]


def rem(x: Any, y: Any) -> Any:
  """Remainder of the division rounded towards zero, elementwise: it has the sign of `x`.

  An integer's remainder by zero is itself; a float's is nan.

  Args:
    x: array of real numbers (not bool).
    y: array of the same dtype and of the same shape, or a scalar.

  >>> from gnomon import lax
  >>> float(lax.rem(-7.0, 3.0))
  -1.0

  Raises:
    TypeError: dtypes differ or are bool or complex, or shapes differ.
  """
  return rem_p.apply(*operands(x, y))[0]


def _minus_quotient(t: Any, ans: Any, x: Any, y: Any) -> Any:
  """`rem` is `x - n y` for an integer n."""
  return times(t, div(sub(ans, x), y))


rem_p = binary(
    "rem", REAL, "remainder", lambda t, ans, x, y: t, _minus_quotient)


def max(x: Any, y: Any) -> Any:
  """The larger, elementwise; nan if either is nan.

  Bools: or. Complex numbers compare by real part, then by imaginary part. Where the
  operands are equal, each has half of the derivative.

  Args:
    x: array.
    y: array of the same dtype and of the same shape, or a scalar.

  >>> from gnomon import lax
  >>> float(lax.max(1.0, 2.0))
  2.0

  Raises:
    TypeError: dtypes or shapes differ.
  """
  return max_p.apply(*operands(x, y))[0]


def min(x: Any, y: Any) -> Any:
  """The smaller, elementwise; nan if either is nan.

  Bools: and. Complex numbers compare by real part, then by imaginary part. Where the
  operands are equal, each has half of the derivative.

  Args:
    x: array.
    y: array of the same dtype and of the same shape, or a scalar.

  >>> from gnomon import lax
  >>> float(lax.min(1.0, 2.0))
  1.0

  Raises:
    TypeError: dtypes or shapes differ.
  """
  return min_p.apply(*operands(x, y))[0]


def _extremum(op: str, direction: str) -> Any:
  """The lowering of max and min; complex numbers are ordered by their parts."""
  def emit(ctx: Any, x: Any, y: Any) -> Any:
    b, out = ctx.b, ctx.avals_out[0]
    if out.dtype.kind != "c":
      return b.op1(op, b.tensor(out), (x, y))
    part = ShapedArray(out.shape, np.finfo(out.dtype).dtype)
    kind = b.tensor(part)
    rx, ry, ix, iy = (
        b.op1(f"stablehlo.{name}", kind, (z,))
        for name in ("real", "imag") for z in (x, y))
    flag = b.tensor_of(out.shape, np.dtype(bool))
    by_real = b.compare(direction, rx, ry, part)
    by_imag = b.compare(direction, ix, iy, part)
    same = b.compare("EQ", rx, ry, part)
    first = b.op1("stablehlo.select", flag, (same, by_imag, by_real))
    return b.op1("stablehlo.select", b.tensor(out), (first, x, y))

  return emit


def _share(t: Any, ans: Any, x: Any, y: Any) -> Any:
  """The part of the extremum that `x` is: all, half, nothing."""
  out = typeof(ans)
  all_, half, none = (full(out.shape, v, out.dtype) for v in (1, 0.5, 0))
  won = select_n(eq(x, ans), none, all_)
  return times(t, select_n(eq(x, y), won, half), mask=True)


_emit_max = _extremum("stablehlo.maximum", "GT")
_emit_min = _extremum("stablehlo.minimum", "LT")
max_p = binary("max", ANY, _emit_max, _share, lambda t, ans, x, y: _share(t, ans, y, x))
min_p = binary("min", ANY, _emit_min, _share, lambda t, ans, x, y: _share(t, ans, y, x))


def clamp(min: Any, x: Any, max: Any) -> Any:
  """Keeps elements between bounds: `min` where `x` is less, `max` where it is greater.

  Where `x` is equal to a bound, the derivative is zero. If the bounds are in the wrong
  order, the result is `max`.

  Args:
    min: array of the dtype of `x`: of its shape, or a scalar.
    x: array.
    max: array of the dtype of `x`: of its shape, or a scalar.

  >>> from gnomon import lax
  >>> float(lax.clamp(0.0, 2.0, 1.0))
  1.0

  Raises:
    TypeError: dtypes differ, or a bound has another shape.
  """
  shape = typeof(x).shape
  for name, bound in (("min", min), ("max", max)):
    if typeof(bound).shape not in ((), shape):
      raise TypeError(
          f"clamp needs bounds that are scalars or of the shape {shape} of x: {name} has "
          f"the shape {typeof(bound).shape}")
  return clamp_p.apply(*operands(min, x, max))[0]


def _emit_clamp(ctx: Any, low: Any, x: Any, high: Any) -> Any:
  b, out = ctx.b, ctx.avals_out[0]
  if out.dtype.kind != "c":
    return b.op1("stablehlo.clamp", b.tensor(out), (low, x, high))
  raised = _emit_max(ctx, x, low)
  return _emit_min(ctx, raised, high)


def _where(keep: Any, t: Any, ans: Any) -> Any:
  out = typeof(ans)
  t = t if typeof(t).shape == out.shape else broadcast(t, out.shape, ())
  return select_n(keep, full(out.shape, 0, out.dtype), t)


clamp_p = nary(
    "clamp", [ANY, ANY, ANY], _emit_clamp, derivatives=[
        lambda t, ans, low, x, high: _where(gt(low, x), t, ans),
        lambda t, ans, low, x, high: _where(
            bitwise_and(gt(x, low), lt(x, high)), t, ans),
        lambda t, ans, low, x, high: _where(lt(high, x), t, ans)])


def square(x: Any) -> Any:
  r"""Square, elementwise: :math:`x^2`.

  Args:
    x: array of numbers (not bool).

  >>> from gnomon import lax
  >>> float(lax.square(3.0))
  9.0

  Raises:
    TypeError: `x` is bool.
  """
  return square_p.apply(x)[0]


def _emit_square(ctx: Any, x: Any) -> Any:
  return ctx.b.op1("stablehlo.multiply", ctx.b.tensor(ctx.avals_out[0]), (x, x))


square_p = unary(
    "square", NUMBER, _emit_square, lambda t, ans, x: times(t, mul(x, 2.0)))


def integer_pow(x: Any, y: int) -> Any:
  """Power with a Python integer as exponent, elementwise, by repeated multiplication.

  Args:
    x: array of numbers (not bool).
    y: the exponent; negative ones need inexact `x`.

  >>> from gnomon import lax
  >>> float(lax.integer_pow(2.0, -3))
  0.125

  Raises:
    TypeError: `x` is bool, `y` no integer, or `y` negative and `x` an integer.
  """
  return integer_pow_p.apply(x, y=operator.index(y))[0]


def _integer_pow_derivative(t: Any, ans: Any, x: Any, y: int) -> Any:
  if y == 0:
    return Zero(typeof(t))
  return times(t, mul(x if y == 2 else integer_pow(x, y - 1), float(y)))


def _emit_integer_pow(ctx: Any, x: Any, *, y: int) -> Any:
  b, out = ctx.b, ctx.avals_out[0]
  one = ShapedArray(out.shape, out.dtype)
  kind = b.tensor(out)
  result, n = None, -y if y < 0 else y
  while n:
    if n & 1:
      result = x if result is None else b.op1("stablehlo.multiply", kind, (result, x))
    n >>= 1
    if n:
      x = b.op1("stablehlo.multiply", kind, (x, x))
  if result is None:
    return b.full(one, 1)
  return b.op1("stablehlo.divide", kind, (b.full(one, 1), result)) if y < 0 else result


def _check_integer_pow(out: ShapedArray, y: int) -> ShapedArray:
  if y < 0 and not dtypes.issubdtype(out.dtype, np.inexact):
    raise TypeError(
        f"integer_pow cannot raise integers to a negative power: got {out} to the power "
        f"{y}; convert to a floating-point dtype first")
  return out


integer_pow_p = unary(
    "integer_pow", NUMBER, _emit_integer_pow, _integer_pow_derivative,
    result=_check_integer_pow)


def reciprocal(x: Any) -> Any:
  """Reciprocal, elementwise: one divided by `x`.

  Args:
    x: floating-point or complex array.

  >>> from gnomon import lax
  >>> float(lax.reciprocal(4.0))
  0.25

  Raises:
    TypeError: `x` is an integer or bool.
  """
  return integer_pow(x, -1)
