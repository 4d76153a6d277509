"""Elementwise primitives: exponentials, logarithms, the logistic function."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gnomon.core.types import ShapedArray
from gnomon.lax import _exact as exact
from gnomon.lax._accuracy import accuracy_text
from gnomon.lax._arithmetic import add, mul, sub
from gnomon.lax._exact import with_program
from gnomon.lax._families import INEXACT, unary
from gnomon.lax._loops import on_cpu
from gnomon.lax._programs import emit
from gnomon.lax._strong import over, times


def exp(x: Any, *, accuracy: Any = None) -> Any:
  r"""Exponential, elementwise: :math:`e^x`.

  Args:
    x: floating-point or complex array.
    accuracy: how exact the result must be (an `AccuracyMode` or a `Tolerance`); None: the
      platform's default.

  >>> from gnomon import lax
  >>> float(lax.exp(0.0))
  1.0

  Raises:
    TypeError: `x` is neither floating-point nor complex.
  """
  return exp_p.apply(x, accuracy=accuracy)[0]


exp_p = unary("exp", INEXACT, "exponential", lambda t, ans, x, accuracy: times(t, ans))


def exp2(x: Any, *, accuracy: Any = None) -> Any:
  r"""Power of two, elementwise: :math:`2^x`.

  Args:
    x: floating-point or complex array.
    accuracy: how exact the result must be (an `AccuracyMode` or a `Tolerance`); None: the
      platform's default.

  >>> from gnomon import lax
  >>> float(lax.exp2(0.0))
  1.0

  Raises:
    TypeError: `x` is neither floating-point nor complex.
  """
  return exp2_p.apply(x, accuracy=accuracy)[0]


def _exp2(x: Any) -> list[Any]:
  return [exact.exp2(x, exp)]


def _emit_exp2(ctx: Any, x: Any, *, accuracy: Any) -> Any:
  b, out = ctx.b, ctx.avals_out[0]
  if accuracy is None and out.dtype.name in ("float32", "float64") and on_cpu(ctx):
    return emit(ctx, _exp2, ctx.avals_in, [x])[0]
  if out.dtype.itemsize < 4:  # the power would magnify the rounding of the product
    wide = ShapedArray(out.shape, np.dtype(np.float32))
    result = _emit_wide_exp2(b, b.convert(x, out, wide), wide, accuracy)
    return b.convert(result, wide, out)
  return _emit_wide_exp2(b, x, out, accuracy)


def _emit_wide_exp2(b: Any, x: Any, out: Any, accuracy: Any) -> Any:
  kind = b.tensor(out)
  scaled = b.op1("stablehlo.multiply", kind, (x, b.full(out, math.log(2))))
  attrs = None
  if accuracy is not None:
    attrs = {"result_accuracy": b.attr(accuracy_text(accuracy))}
  return b.op1("stablehlo.exponential", kind, (scaled,), attrs)


exp2_p = unary(
    "exp2", INEXACT, _emit_exp2,
    lambda t, ans, x, accuracy: times(t, mul(ans, math.log(2))))


def expm1(x: Any, *, accuracy: Any = None) -> Any:
  r""":math:`e^x - 1`, elementwise, exact near zero too.

  Args:
    x: floating-point or complex array.
    accuracy: how exact the result must be (an `AccuracyMode` or a `Tolerance`); None: the
      platform's default.

  >>> from gnomon import lax
  >>> float(lax.expm1(0.0))
  0.0

  Raises:
    TypeError: `x` is neither floating-point nor complex.
  """
  return expm1_p.apply(x, accuracy=accuracy)[0]


# Not `ans + 1`, which is zero long before its derivative is.
expm1_p = unary(
    "expm1", INEXACT, "exponential_minus_one",
    lambda t, ans, x, accuracy: times(t, exp(x)))


def log(x: Any, *, accuracy: Any = None) -> Any:
  r"""Natural logarithm, elementwise; -inf at 0, nan below.

  Args:
    x: floating-point or complex array; of complex numbers, the branch with an imaginary
      part in :math:`[-\pi, \pi]`.
    accuracy: how exact the result must be (an `AccuracyMode` or a `Tolerance`); None: the
      platform's default.

  >>> from gnomon import lax
  >>> float(lax.log(1.0))
  0.0

  Raises:
    TypeError: `x` is neither floating-point nor complex.
  """
  return log_p.apply(x, accuracy=accuracy)[0]


log_p = unary("log", INEXACT, "log", lambda t, ans, x, accuracy: over(t, x))


def log1p(x: Any, *, accuracy: Any = None) -> Any:
  r""":math:`\log(1 + x)`, elementwise, exact near zero too.

  Args:
    x: floating-point or complex array.
    accuracy: how exact the result must be (an `AccuracyMode` or a `Tolerance`); None: the
      platform's default.

  >>> from gnomon import lax
  >>> float(lax.log1p(0.0))
  0.0

  Raises:
    TypeError: `x` is neither floating-point nor complex.
  """
  return log1p_p.apply(x, accuracy=accuracy)[0]


_emit_log1p = with_program(
    "stablehlo.log_plus_one", ["float64"], lambda x: exact.log1p(x, log))
log1p_p = unary(
    "log1p", INEXACT, _emit_log1p, lambda t, ans, x, accuracy: over(t, add(x, 1.0)))


def logistic(x: Any, *, accuracy: Any = None) -> Any:
  r"""Logistic function, elementwise: :math:`1 / (1 + e^{-x})`.

  Args:
    x: floating-point or complex array.
    accuracy: how exact the result must be (an `AccuracyMode` or a `Tolerance`); None: the
      platform's default.

  >>> from gnomon import lax
  >>> float(lax.logistic(0.0))
  0.5

  Raises:
    TypeError: `x` is neither floating-point nor complex.
  """
  return logistic_p.apply(x, accuracy=accuracy)[0]


logistic_p = unary(
    "logistic", INEXACT, "logistic",
    lambda t, ans, x, accuracy: times(t, mul(ans, sub(1.0, ans))))
