"""Elementwise primitives: complex numbers and their parts, modulus and sign."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.derive import elementwise_batch, linear, unbroadcast
from gnomon.core.primitive import Primitive
from gnomon.core.rule import lower, transpose_rule, typing_rule
from gnomon.core.structural import full, real_p, select_n, zeros_like_aval
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import UndefinedPrimal, Zero
from gnomon.lax._arithmetic import div, mul, neg
from gnomon.lax._comparison import eq, ge
from gnomon.lax._families import (
  COMPLEX,
  NUMBER,
  SIGNED,
  as_real,
  binary,
  check_dtype,
  operands,
  unary,
)
from gnomon.lax._strong import times

Values = Sequence[Any]


def real(x: Any) -> Any:
  """Real part, elementwise.

  Args:
    x: complex array.

  Returns:
    An array of the dtype of its parts.

  >>> from gnomon import lax
  >>> float(lax.real(1 + 2j))
  1.0

  Raises:
    TypeError: `x` is not complex.
  """
  return real_p.apply(x)[0]


def imag(x: Any) -> Any:
  """Imaginary part, elementwise.

  Args:
    x: complex array.

  Returns:
    An array of the dtype of its parts.

  >>> from gnomon import lax
  >>> float(lax.imag(1 + 2j))
  2.0

  Raises:
    TypeError: `x` is not complex.
  """
  return imag_p.apply(x)[0]


imag_p = Primitive("imag")


def _define_part(p: Primitive) -> None:
  @typing_rule.define(p)
  def _(x: ShapedArray) -> tuple[ShapedArray]:
    check_dtype(p.name, x, COMPLEX)
    return (as_real(x),)

  @lower.define(p)
  def _(ctx: Any, x: Any) -> Values:
    return [ctx.b.op1(f"stablehlo.{p.name}", ctx.b.tensor(ctx.avals_out[0]), (x,))]

  elementwise_batch(p)


_define_part(real_p)
_define_part(imag_p)

# A cotangent c of z stands for the linear function Re(c z): hence the sign of `imag`.
linear(real_p, lambda cts, args: [complex(cts[0], _no_part(cts[0]))])
linear(imag_p, lambda cts, args: [complex(_no_part(cts[0]), neg(cts[0]))])


def _no_part(x: Any) -> Any:
  return zeros_like_aval(typeof(x).strip_weak_type())


def complex(x: Any, y: Any) -> Any:
  """The complex numbers with real parts `x` and imaginary parts `y`, elementwise.

  Args:
    x: array of dtype float32 or float64.
    y: array of the same dtype and of the same shape, or a scalar.

  Returns:
    An array of dtype complex64 or complex128.

  >>> from gnomon import lax
  >>> lax.complex(1.0, 2.0).dtype
  dtype('complex64')

  Raises:
    TypeError: dtypes or shapes differ, or dtypes are others.
  """
  return complex_p.apply(*operands(x, y))[0]


_PARTS = (np.float32, np.float64)


def _as_complex(out: ShapedArray, **_: Any) -> ShapedArray:
  wide = out.dtype == np.dtype("float64")
  return ShapedArray(
      out.shape, np.dtype("complex128" if wide else "complex64"), out.weak_type)


complex_p = binary(
    "complex", _PARTS, "complex", lambda t, ans, x, y: complex(t, _no_part(t)),
    lambda t, ans, x, y: complex(_no_part(t), t), result=_as_complex)


@transpose_rule.define(complex_p)
def _(cts: Values, args: Values) -> list[Any]:
  ct = cts[0]
  parts: tuple[Callable[[Any], Any], ...] = (real, lambda c: neg(imag(c)))
  return [
      None if type(x) is not UndefinedPrimal
      else Zero(x.aval) if type(ct) is Zero else unbroadcast(part(ct), x.aval)
      for part, x in zip(parts, args)]


def conj(x: Any) -> Any:
  """Complex conjugate, elementwise; of real numbers, themselves as complex ones.

  Args:
    x: complex array, or one of dtype float32 or float64.

  Returns:
    A complex array.

  >>> from gnomon import lax
  >>> float(lax.imag(lax.conj(1 + 2j)))
  -2.0

  Raises:
    TypeError: `x` has another dtype.
  """
  return conj_p.apply(x, input_dtype=typeof(x).dtype)[0]


conj_p = Primitive("conj")


@typing_rule.define(conj_p)
def _(x: ShapedArray, *, input_dtype: Any) -> tuple[ShapedArray]:
  check_dtype("conj", x, (*_PARTS, *COMPLEX))
  return (x if dtypes.issubdtype(x.dtype, np.complexfloating) else _as_complex(x),)


@lower.define(conj_p)
def _(ctx: Any, x: Any, *, input_dtype: Any) -> Values:
  b, source, out = ctx.b, ctx.avals_in[0], ctx.avals_out[0]
  part = as_real(source)
  if part is source:
    return [b.op1("stablehlo.complex", b.tensor(out), (x, b.full(part, 0)))]
  re, im = (b.op1(f"stablehlo.{n}", b.tensor(part), (x,)) for n in ("real", "imag"))
  im = b.op1("stablehlo.negate", b.tensor(part), (im,))
  return [b.op1("stablehlo.complex", b.tensor(out), (re, im))]


def _transpose_conj(cts: Values, args: Values, *, input_dtype: Any) -> list[Any]:
  ct = cts[0]
  return [conj(ct) if input_dtype.kind == "c" else real(ct)]


linear(conj_p, _transpose_conj)
elementwise_batch(conj_p)


def abs(x: Any) -> Any:
  """Absolute value, elementwise; of complex numbers, their modulus, which is real.

  Args:
    x: array of signed, floating-point or complex numbers.

  >>> from gnomon import lax
  >>> float(lax.abs(3 + 4j))
  5.0

  Raises:
    TypeError: `x` is unsigned or bool.
  """
  return abs_p.apply(x)[0]


def _abs_derivative(t: Any, ans: Any, x: Any) -> Any:
  if typeof(x).dtype.kind == "c":  # zero at zero
    return real(times(t, conj(sign(x))))
  return select_n(ge(x, 0.0), neg(t), t)


def _emit_abs(ctx: Any, x: Any) -> Any:
  b, out = ctx.b, ctx.avals_out[0]
  kind = b.tensor(out)
  modulus = b.op1("stablehlo.abs", kind, (x,))
  if ctx.avals_in[0].dtype.kind != "c":
    return modulus
  # XLA says nan where one part is nan; but if the other is infinite, so is the modulus.
  inf = b.full(out, np.inf)
  infinite = [
      b.compare("EQ", b.op1("stablehlo.abs", kind, (b.op1(part, kind, (x,)),)), inf, out)
      for part in ("stablehlo.real", "stablehlo.imag")]
  either = b.op1(
      "stablehlo.or", b.tensor(ShapedArray(out.shape, np.dtype(bool))), infinite)
  return b.op1("stablehlo.select", kind, (either, inf, modulus))


abs_p = unary("abs", SIGNED, _emit_abs, _abs_derivative, result=as_real)


def sign(x: Any) -> Any:
  r"""Sign, elementwise: -1, 0 or 1 (-0.0 and nan stay); :math:`z/|z|` of complex numbers.

  Args:
    x: array of numbers (not bool).

  >>> from gnomon import lax
  >>> float(lax.sign(-2.0))
  -1.0

  Raises:
    TypeError: `x` is bool.
  """
  return sign_p.apply(x)[0]


def _emit_sign(ctx: Any, x: Any) -> Any:
  b, out = ctx.b, ctx.avals_out[0]
  if dtypes.issubdtype(out.dtype, np.unsignedinteger):
    return b.op1("stablehlo.minimum", b.tensor(out), (x, b.full(out, 1)))
  return b.op1("stablehlo.sign", b.tensor(out), (x,))


def _sign_derivative(t: Any, ans: Any, x: Any) -> Any:
  """Zero; but that of a complex number turns, by the part of t that is across x."""
  out = typeof(ans)
  if out.dtype.kind != "c":
    return Zero(out)
  size = abs(x)
  part = typeof(size)
  safe = select_n(eq(size, 0), size, full(part.shape, 1, part.dtype))
  turn = div(imag(times(t, conj(ans))), safe)
  return mul(complex(_no_part(turn), turn), ans)


sign_p = unary("sign", NUMBER, _emit_sign, _sign_derivative)
