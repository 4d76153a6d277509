"""Elementwise primitives: circular and hyperbolic functions and their inverses."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.api.stopping import stop_gradient
from gnomon.core import dtypes
from gnomon.core.structural import full, select_n
from gnomon.core.types import typeof
from gnomon.lax import _exact as exact
from gnomon.lax._arithmetic import add, clamp, div, max, min, mul, neg, square, sub
from gnomon.lax._comparison import gt
from gnomon.lax._complex import abs
from gnomon.lax._exact import with_program, with_tiny
from gnomon.lax._exponential import exp, log
from gnomon.lax._families import INEXACT, binary, operands, unary
from gnomon.lax._power import rsqrt
from gnomon.lax._strong import over, times


def sin(x: Any, *, accuracy: Any = None) -> Any:
  r"""Sine, elementwise: :math:`\sin x` of an angle in radians.

  Args:
    x: floating-point or complex array.
    accuracy: how exact the result must be (an `AccuracyMode` or a `Tolerance`); None: the
      platform's default.

  >>> from gnomon import lax
  >>> float(lax.sin(0.0))
  0.0

  Raises:
    TypeError: `x` is neither floating-point nor complex.
  """
  return sin_p.apply(x, accuracy=accuracy)[0]


sin_p = unary("sin", INEXACT, "sine", lambda t, ans, x, accuracy: times(t, cos(x)))


def cos(x: Any, *, accuracy: Any = None) -> Any:
  r"""Cosine, elementwise: :math:`\cos x` of an angle in radians.

  Args:
    x: floating-point or complex array.
    accuracy: how exact the result must be (an `AccuracyMode` or a `Tolerance`); None: the
      platform's default.

  >>> from gnomon import lax
  >>> float(lax.cos(0.0))
  1.0

  Raises:
    TypeError: `x` is neither floating-point nor complex.
  """
  return cos_p.apply(x, accuracy=accuracy)[0]


cos_p = unary("cos", INEXACT, "cosine", lambda t, ans, x, accuracy: times(t, neg(sin(x))))


def tan(x: Any, *, accuracy: Any = None) -> Any:
  r"""Tangent, elementwise: :math:`\tan x` of an angle in radians.

  Args:
    x: floating-point or complex array.
    accuracy: how exact the result must be (an `AccuracyMode` or a `Tolerance`); None: the
      platform's default.

  >>> from gnomon import lax
  >>> float(lax.tan(0.0))
  0.0

  Raises:
    TypeError: `x` is neither floating-point nor complex.
  """
  return tan_p.apply(x, accuracy=accuracy)[0]


tan_p = unary(
    "tan", INEXACT, "tan", lambda t, ans, x, accuracy: times(t, add(square(ans), 1.0)))


def asin(x: Any) -> Any:
  r"""Inverse sine, elementwise, in :math:`[-\pi/2, \pi/2]`; nan outside of [-1, 1].

  Args:
    x: floating-point or complex array.

  >>> from gnomon import lax
  >>> float(lax.asin(0.0))
  0.0

  Raises:
    TypeError: `x` is neither floating-point nor complex.
  """
  return asin_p.apply(x)[0]


_emit_asin = with_tiny("chlo.asin", {"float32": 1e-4, "float64": 1e-8})
asin_p = unary(
    "asin", INEXACT, _emit_asin, lambda t, ans, x: times(t, rsqrt(sub(1.0, square(x)))))


def acos(x: Any) -> Any:
  r"""Inverse cosine, elementwise, in :math:`[0, \pi]`; nan outside of [-1, 1].

  Args:
    x: floating-point or complex array.

  >>> from gnomon import lax
  >>> float(lax.acos(1.0))
  0.0

  Raises:
    TypeError: `x` is neither floating-point nor complex.
  """
  return acos_p.apply(x)[0]


acos_p = unary(
    "acos", INEXACT, "chlo.acos",
    lambda t, ans, x: times(t, neg(rsqrt(sub(1.0, square(x))))))


def atan(x: Any) -> Any:
  r"""Inverse tangent, elementwise, in :math:`[-\pi/2, \pi/2]`.

  Args:
    x: floating-point or complex array.

  >>> from gnomon import lax
  >>> float(lax.atan(0.0))
  0.0

  Raises:
    TypeError: `x` is neither floating-point nor complex.
  """
  return atan_p.apply(x)[0]


atan_p = unary(
    "atan", INEXACT, "chlo.atan", lambda t, ans, x: over(t, add(square(x), 1.0)))


def atan2(x: Any, y: Any) -> Any:
  r"""The angle of the point with the ordinate `x` and the abscissa `y`, elementwise.

  Note the order: `atan2(x, y)` is the inverse tangent of `x / y`, in the quadrant that
  both signs tell, in :math:`[-\pi, \pi]`.

  Args:
    x: floating-point or complex array.
    y: array of the same dtype and of the same shape, or a scalar.

  >>> from gnomon import lax
  >>> float(lax.atan2(0.0, 1.0))
  0.0

  Raises:
    TypeError: dtypes are neither floating-point nor complex, or they or shapes differ.
  """
  return atan2_p.apply(*operands(x, y))[0]


def _over_norm(ans: Any, x: Any, y: Any) -> tuple[Any, Any]:
  """Both over the sum of their squares, which must not leave the range of floats."""
  dtype = typeof(x).dtype
  if dtype.kind == "c":
    norm = add(square(x), square(y))
    return div(x, norm), div(y, norm)
  info = dtypes.finfo(dtype)
  most, high = (np.asarray(v, dtype)[()] for v in (info.max, 2.0 ** (info.maxexp - 3)))
  one = np.ones((), dtype)[()]
  # Any scale gives the same. Products, since XLA would make one quotient of several.
  scale = stop_gradient(div(one, min(max(abs(x), abs(y)), high)))
  x, y = (mul(clamp(-most, v, most), scale) for v in (x, y))
  squares = div(one, add(square(x), square(y)))
  return mul(mul(x, scale), squares), mul(mul(y, scale), squares)


atan2_p = binary(
    "atan2", INEXACT, "atan2",
    lambda t, parts, x, y: times(t, parts[1]),
    lambda t, parts, x, y: times(t, neg(parts[0])), shared=_over_norm)


def sinh(x: Any) -> Any:
  r"""Hyperbolic sine, elementwise.

  Args:
    x: floating-point or complex array.

  >>> from gnomon import lax
  >>> float(lax.sinh(0.0))
  0.0

  Raises:
    TypeError: `x` is neither floating-point nor complex.
  """
  return sinh_p.apply(x)[0]


_emit_sinh = with_program(
    "chlo.sinh", ["float32", "float64"], lambda x: exact.sinh(x, exp))
sinh_p = unary("sinh", INEXACT, _emit_sinh, lambda t, ans, x: times(t, cosh(x)))


def cosh(x: Any) -> Any:
  r"""Hyperbolic cosine, elementwise.

  Args:
    x: floating-point or complex array.

  >>> from gnomon import lax
  >>> float(lax.cosh(0.0))
  1.0

  Raises:
    TypeError: `x` is neither floating-point nor complex.
  """
  return cosh_p.apply(x)[0]


_emit_cosh = with_program(
    "chlo.cosh", ["float32", "float64"], lambda x: exact.cosh(x, exp))
cosh_p = unary("cosh", INEXACT, _emit_cosh, lambda t, ans, x: times(t, sinh(x)))


def tanh(x: Any, *, accuracy: Any = None) -> Any:
  r"""Hyperbolic tangent, elementwise.

  Args:
    x: floating-point or complex array.
    accuracy: how exact the result must be (an `AccuracyMode` or a `Tolerance`); None: the
      platform's default.

  >>> from gnomon import lax
  >>> float(lax.tanh(0.0))
  0.0

  Raises:
    TypeError: `x` is neither floating-point nor complex.
  """
  return tanh_p.apply(x, accuracy=accuracy)[0]


def _tanh_derivative(t: Any, ans: Any, x: Any, accuracy: Any) -> Any:
  # The product loses less than 1 - tanh^2 does where tanh is near 1.
  return times(t, mul(sub(1.0, ans), add(1.0, ans)))


tanh_p = unary("tanh", INEXACT, "tanh", _tanh_derivative)


def asinh(x: Any) -> Any:
  r"""Inverse hyperbolic sine, elementwise.

  Args:
    x: floating-point or complex array.

  >>> from gnomon import lax
  >>> float(lax.asinh(0.0))
  0.0

  Raises:
    TypeError: `x` is neither floating-point nor complex.
  """
  return asinh_p.apply(x)[0]


def _asinh_derivative(t: Any, ans: Any, x: Any) -> Any:
  """The derivative 1/sqrt(1 + x^2); for large real numbers without their square."""
  aval = typeof(x)
  if dtypes.issubdtype(aval.dtype, np.complexfloating):
    return times(t, rsqrt(add(square(x), 1.0)))
  size = abs(x)
  large = gt(size, 1.0)
  inverse = div(1.0, select_n(large, full(aval.shape, 1, aval.dtype), size))
  small = select_n(large, x, full(aval.shape, 0, aval.dtype))
  return times(t, select_n(
      large, rsqrt(add(square(small), 1.0)),
      mul(inverse, rsqrt(add(square(inverse), 1.0)))))


asinh_p = unary("asinh", INEXACT, "chlo.asinh", _asinh_derivative)


def acosh(x: Any) -> Any:
  r"""Inverse hyperbolic cosine, elementwise; nan below 1.

  Args:
    x: floating-point or complex array.

  >>> from gnomon import lax
  >>> float(lax.acosh(1.0))
  0.0

  Raises:
    TypeError: `x` is neither floating-point nor complex.
  """
  return acosh_p.apply(x)[0]


def _acosh_derivative(t: Any, ans: Any, x: Any) -> Any:
  # One root of the product would overflow, and of complex numbers be on another branch.
  return times(t, mul(rsqrt(sub(x, 1.0)), rsqrt(add(x, 1.0))))


acosh_p = unary("acosh", INEXACT, "chlo.acosh", _acosh_derivative)


def atanh(x: Any) -> Any:
  r"""Inverse hyperbolic tangent, elementwise; nan outside of [-1, 1].

  Args:
    x: floating-point or complex array.

  >>> from gnomon import lax
  >>> float(lax.atanh(0.0))
  0.0

  Raises:
    TypeError: `x` is neither floating-point nor complex.
  """
  return atanh_p.apply(x)[0]


_emit_atanh = with_program("chlo.atanh", ["float64"], lambda x: exact.atanh(x, log))
atanh_p = unary(
    "atanh", INEXACT, _emit_atanh,
    lambda t, ans, x: over(t, mul(sub(1.0, x), add(1.0, x))))
