"""Programs for CPUs of elementary functions whose expansion by XLA errs by many digits.

`nox -s docs` shows what they gain (`docs/reference/accuracy.md`); the operations as
`jaxpr`s show them stay what they are. They cost no more than what they replace.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon.core.structural import convert, full, select_n
from gnomon.core.types import typeof
from gnomon.lax._accuracy import accuracy_text
from gnomon.lax._arithmetic import add, clamp, div, mul, neg, sub
from gnomon.lax._bitwise import bitwise_and, shift_left
from gnomon.lax._comparison import gt, lt
from gnomon.lax._complex import abs
from gnomon.lax._conversion import bitcast_convert_type
from gnomon.lax._loops import on_cpu
from gnomon.lax._programs import emit
from gnomon.lax._rounding import RoundingMethod, round

Unary = Callable[[Any], Any]


def with_program(
    operation: str, dtypes: Sequence[str], program: Unary) -> Callable[..., Any]:
  """A lowering: the program for these dtypes on CPUs, else the operation."""
  def several(x: Any) -> list[Any]:
    return [program(x)]

  def lowering(ctx: Any, x: Any, *, accuracy: Any = None) -> Any:
    out = ctx.avals_out[0]
    if accuracy is not None:
      attrs = {"result_accuracy": ctx.b.attr(accuracy_text(accuracy))}
      return ctx.b.op1(operation, ctx.b.tensor(out), (x,), attrs)
    if out.dtype.name in dtypes and on_cpu(ctx):
      return emit(ctx, several, ctx.avals_in, [x])[0]
    return ctx.b.op1(operation, ctx.b.tensor(out), (x,))

  return lowering


def with_tiny(operation: str, tiny: dict[str, float]) -> Callable[..., Any]:
  """A lowering: the operation, but x itself below a bound, on CPUs.

  There halves of it, which the operation may form, are flushed to zero.
  """
  def lowering(ctx: Any, x: Any) -> Any:
    out = ctx.avals_out[0]
    value = ctx.b.op1(operation, ctx.b.tensor(out), (x,))
    if out.dtype.name not in tiny or not on_cpu(ctx):
      return value
    kinds = [*ctx.avals_in, *ctx.avals_in]
    bound = tiny[out.dtype.name]
    return emit(ctx, _below_itself, kinds, [x, value], bound=bound)[0]

  return lowering


def _below_itself(x: Any, value: Any, bound: float) -> list[Any]:
  return [_where(lt(abs(x), bound), x, value)]


def _where(condition: Any, x: Any, y: Any) -> Any:
  return select_n(condition, y, x)


def _like(x: Any, value: float) -> Any:
  aval = typeof(x)
  return full(aval.shape, value, aval.dtype)


def _series(square: Any, terms: Sequence[float]) -> Any:
  """The sum of the terms times the powers of `square`, from the first power on."""
  total = _like(square, terms[-1])
  for c in terms[-2::-1]:
    total = add(mul(total, square), c)
  return mul(total, square)


# 2 atanh(s) / s - 2 in s**2, which hold a double for s below 0.172
_ATANH = tuple(2 / (2 * k + 1) for k in range(1, 11))
# sinh(x) / x - 1 in x**2, for x below 1
_SINH = tuple(1 / math.factorial(2 * k + 1) for k in range(1, 10))


def log1p(x: Any, log: Unary) -> Any:
  """Near 0 by the series of atanh in x / (2 + x), with the leading terms apart.

  The form is that of K. C. Ng's logarithm (FDLIBM, 1993): the quotient's rounding error
  meets only what is small beside x.
  """
  near = bitwise_and(gt(x, -0.29), lt(x, 0.41))
  f = _where(near, x, _like(x, 0))
  s = div(f, add(f, 2.0))
  half = mul(mul(f, f), 0.5)
  small = sub(f, sub(half, mul(s, add(half, _series(mul(s, s), _ATANH)))))
  return _where(near, small, log(add(x, 1.0)))


def atanh(x: Any, log: Unary) -> Any:
  """Near 0 by its series; else by the logarithm of (1 + x) / (1 - x)."""
  size = abs(x)
  near = lt(size, 0.17)
  y = _where(near, x, _like(x, 0))
  small = add(y, mul(y, mul(_series(mul(y, y), _ATANH), 0.5)))
  far = mul(log(add(div(mul(size, 2.0), sub(1.0, size)), 1.0)), 0.5)
  return _where(near, small, _with_sign(far, x))


def _with_sign(size: Any, x: Any) -> Any:
  return _where(lt(x, 0.0), neg(size), size)


def _half_exp(size: Any, exp: Unary) -> Any:
  """Half the exponential, which overflows later than the exponential does.

  The logarithm of a half, added to the argument, would be rounded with it; a small
  integer is not.
  """
  large = gt(size, 16.0)
  shift = _where(large, _like(size, 8), _like(size, 0))
  return mul(exp(sub(size, shift)),
             _where(large, _like(size, math.exp(8) / 2), _like(size, 0.5)))


def sinh(x: Any, exp: Unary) -> Any:
  """Below 1 by its series; above, by halves of exponentials."""
  size = abs(x)
  near = lt(size, 1.0)
  y = _where(near, x, _like(x, 0))
  terms = _SINH if typeof(x).dtype.itemsize == 8 else _SINH[:5]
  small = add(y, mul(y, _series(mul(y, y), terms)))
  half = _half_exp(size, exp)
  return _where(near, small, _with_sign(sub(half, div(0.25, half)), x))


def cosh(x: Any, exp: Unary) -> Any:
  """The sum of half the exponential and its reciprocal."""
  half = _half_exp(abs(x), exp)
  return add(half, div(0.25, half))


def exp2(x: Any, exp: Unary) -> Any:
  """By the exponential of what is between integers, and a power of two made of bits."""
  dtype = typeof(x).dtype
  info = np.finfo(dtype)
  least, most = float(info.minexp), float(info.maxexp - 1)
  whole = clamp(least, round(x, RoundingMethod.TO_NEAREST_EVEN), most)
  rest = exp(mul(sub(x, whole), math.log(2)))
  bits = np.dtype(f"int{8 * dtype.itemsize}")
  biased = add(convert(whole, bits), bits.type(info.maxexp - 1))
  return mul(rest, bitcast_convert_type(shift_left(biased, bits.type(info.nmant)), dtype))
