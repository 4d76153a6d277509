"""Elementwise functions of NumPy: trigonometric and hyperbolic functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gnomon import custom_jvp, lax
from gnomon.core.structural import select_n
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import as_array, promote_args_inexact


@compiled()
def sin(x: Any, /) -> Any:
  """Sine of angles in radians, elementwise.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.sin(0).item()
  0.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.sin(*promote_args_inexact("sin", x))


@compiled()
def cos(x: Any, /) -> Any:
  """Cosine of angles in radians, elementwise.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.cos(0).item()
  1.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.cos(*promote_args_inexact("cos", x))


@compiled()
def tan(x: Any, /) -> Any:
  """Tangent of angles in radians, elementwise.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.tan(0).item()
  0.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.tan(*promote_args_inexact("tan", x))


@compiled()
def arcsin(x: Any, /) -> Any:
  """The angle in [-π/2, π/2] with a sine, elementwise; nan outside [-1, 1].

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.arcsin(0).item()
  0.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.asin(*promote_args_inexact("arcsin", x))


asin = arcsin


@compiled()
def arccos(x: Any, /) -> Any:
  """The angle in [0, π] with a cosine, elementwise; nan outside [-1, 1].

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.arccos(1).item()
  0.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.acos(*promote_args_inexact("arccos", x))


acos = arccos


@compiled()
def arctan(x: Any, /) -> Any:
  """The angle in [-π/2, π/2] with a tangent, elementwise.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.arctan(0).item()
  0.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.atan(*promote_args_inexact("arctan", x))


atan = arctan


@compiled()
def arctan2(x1: Any, x2: Any, /) -> Any:
  """The angle in [-π, π] of the point with ordinate `x1` and abscissa `x2`.

  Args:
    x1: array or number.
    x2: array or number; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.arctan2(0, -1).item() == gnp.float32(gnp.pi).item()
  True

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  return lax.atan2(*promote_args_inexact("arctan2", x1, x2))


atan2 = arctan2


@compiled()
def sinh(x: Any, /) -> Any:
  """Hyperbolic sine, elementwise.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.sinh(0).item()
  0.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.sinh(*promote_args_inexact("sinh", x))


@compiled()
def cosh(x: Any, /) -> Any:
  """Hyperbolic cosine, elementwise.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.cosh(0).item()
  1.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.cosh(*promote_args_inexact("cosh", x))


@compiled()
def tanh(x: Any, /) -> Any:
  """Hyperbolic tangent, elementwise.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.tanh(0).item()
  0.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.tanh(*promote_args_inexact("tanh", x))


@compiled()
def arcsinh(x: Any, /) -> Any:
  """Inverse hyperbolic sine, elementwise.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.arcsinh(0).item()
  0.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.asinh(*promote_args_inexact("arcsinh", x))


asinh = arcsinh


@compiled()
def arccosh(x: Any, /) -> Any:
  """Inverse hyperbolic cosine, elementwise; nan below 1.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.arccosh(1).item()
  0.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.acosh(*promote_args_inexact("arccosh", x))


acosh = arccosh


@compiled()
def arctanh(x: Any, /) -> Any:
  """Inverse hyperbolic tangent, elementwise; nan outside [-1, 1].

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.arctanh(0).item()
  0.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.atanh(*promote_args_inexact("arctanh", x))


atanh = arctanh


@compiled()
def deg2rad(x: Any, /) -> Any:
  """Angles in degrees converted to radians, elementwise.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> round(gnp.deg2rad(180).item(), 4)
  3.1416

  Raises:
    TypeError: `x` is no array and no number.
  """
  (x,) = promote_args_inexact("deg2rad", x)
  return lax.mul(x, np.pi / 180)


radians = deg2rad


@compiled()
def rad2deg(x: Any, /) -> Any:
  """Angles in radians converted to degrees, elementwise.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.rad2deg(gnp.pi).item()
  180.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  (x,) = promote_args_inexact("rad2deg", x)
  return lax.mul(x, 180 / np.pi)


degrees = rad2deg


@compiled()
def sinc(x: Any, /) -> Any:
  """sin(πx)/(πx), elementwise; 1 at zero. Derivatives are exact near zero too.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.sinc(0).item(), round(gnp.sinc(0.5).item(), 4)
  (1.0, 0.6366)

  Raises:
    TypeError: `x` is no array and no number.
  """
  (x,) = promote_args_inexact("sinc", x)
  return _sinc(x)


@custom_jvp
def _sinc(x: Any) -> Any:
  x = as_array(x)
  zero = lax.eq(x, 0)
  z = select_n(zero, lax.mul(x, np.pi), lax.full_like(x, 1))
  return select_n(zero, lax.div(lax.sin(z), z), lax.full_like(x, 1))


@_sinc.defjvp
def _(primals: Any, tangents: Any) -> Any:
  (x,), (t,) = primals, tangents
  return _sinc(x), lax.mul(t, lax.mul(_sinc_slope(lax.mul(x, np.pi)), np.pi))


def _sinc_slope(z: Any) -> Any:
  """The derivative of sin(z)/z: its series where the quotients would cancel."""
  z = as_array(z)
  near = lax.lt(lax.abs(z), 1.0)
  square = lax.square(select_n(near, lax.full_like(z, 0), z))
  series = lax.full_like(z, 0)
  for n in range(12, 0, -1):
    term = (-1) ** n * 2 * n / math.factorial(2 * n + 1)
    series = lax.add(lax.mul(series, square), term)
  far = select_n(near, z, lax.full_like(z, 1))
  quotient = lax.div(lax.sub(lax.cos(far), lax.div(lax.sin(far), far)), far)
  return select_n(near, quotient, lax.mul(series, z))
