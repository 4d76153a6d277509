"""Smooth activations: sigmoids, and rectifiers without kinks."""

from __future__ import annotations

import math
from operator import index
from typing import Any

import gnomon.numpy as gnp
from gnomon import custom_jvp, jit, lax
from gnomon.api.custom import SymbolicZero
from gnomon.core.types import typeof
from gnomon.nn._elementwise import (
  above_infinity,
  arraylike,
  finite,
  inexact,
  is_complex,
  with_derivative,
)
from gnomon.nn._program import program


@jit
def identity(x: Any) -> Any:
  """The argument itself, as an array.

  Args:
    x: array or number.

  >>> from gnomon import nn
  >>> nn.identity(2.0).item()
  2.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  return arraylike("identity", x=x)[0]


def sigmoid(x: Any) -> Any:
  r"""Logistic sigmoid, elementwise: :math:`1 / (1 + e^{-x})`.

  Args:
    x: array or number.

  >>> from gnomon import nn
  >>> nn.sigmoid(0.0).item()
  0.5

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.logistic(inexact("sigmoid", x))


@jit
def silu(x: Any) -> Any:
  r"""Sigmoid linear unit, elementwise: :math:`x\,\sigma(x)`.

  Also known as `swish`.

  Args:
    x: array or number.

  >>> from gnomon import nn
  >>> round(nn.silu(1.0).item(), 4)
  0.7311

  Raises:
    TypeError: `x` is no array and no number.
  """
  x = inexact("silu", x)
  return x * lax.logistic(x) if is_complex(x) else _silu(x)


def _silu_slope(x: Any) -> Any:
  s = lax.logistic(x)
  return s * (1 + finite(x) * (1 - s))


@with_derivative(_silu_slope)
def _silu(x: Any) -> Any:
  return above_infinity(x) * lax.logistic(x)


swish = silu


@jit
def softplus(x: Any) -> Any:
  r"""A smooth `relu`, elementwise: :math:`\log(1 + e^x)`. Its derivative is `sigmoid`.

  Args:
    x: array or number.

  >>> from gnomon import nn
  >>> round(nn.softplus(0.0).item(), 4), nn.softplus(1000.0).item()
  (0.6931, 1000.0)

  Raises:
    TypeError: `x` is no array and no number.
  """
  return gnp.logaddexp(inexact("softplus", x), 0.)


@jit
def log_sigmoid(x: Any) -> Any:
  r"""Logarithm of the sigmoid, elementwise: :math:`-\log(1 + e^{-x})`.

  Exact where the sigmoid itself is 0 in floating point.

  Args:
    x: array or number.

  >>> from gnomon import nn
  >>> nn.log_sigmoid(-1000.0).item()
  -1000.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  return -softplus(-inexact("log_sigmoid", x))


@jit
def soft_sign(x: Any) -> Any:
  r"""Soft sign, elementwise: :math:`x / (1 + |x|)`, between -1 and 1.

  Args:
    x: array or number.

  >>> from gnomon import nn
  >>> nn.soft_sign(-3.0).item()
  -0.75

  Raises:
    TypeError: `x` is no array and no number.
  """
  x = inexact("soft_sign", x)
  return x / (gnp.abs(x) + 1) if is_complex(x) else _soft_sign(x)


@with_derivative(lambda x: gnp.square(1 / (gnp.abs(x) + 1)))
def _soft_sign(x: Any) -> Any:
  x = finite(x)
  return x / (gnp.abs(x) + 1)


def gelu(x: Any, approximate: bool = True) -> Any:
  r"""Gaussian error linear unit, elementwise: :math:`x\,\Phi(x)`.

  :math:`\Phi` is the distribution function of a standard normal variable. The usual
  approximation of it is

  .. math:: \frac12 \left(1 + \tanh\left(
      \sqrt{2 / \pi}\,(x + 0.044715\,x^3)\right)\right)

  (Hendrycks and Gimpel, *Gaussian error linear units*, 2016).

  Args:
    x: array or number; complex numbers only with the approximation.
    approximate: whether to use it; it differs by up to 0.0005.

  >>> from gnomon import nn
  >>> round(nn.gelu(1.0).item(), 4), round(nn.gelu(1.0, approximate=False).item(), 4)
  (0.8412, 0.8413)

  Raises:
    TypeError: `x` is no array and no number, or complex without the approximation.
  """
  x = inexact("gelu", x)
  x = lax.convert_element_type(x, typeof(x).dtype)  # no longer weak
  if approximate:
    return x * _gelu_share(x) if is_complex(x) else _gelu(x)
  if is_complex(x):
    raise TypeError(
        f"gelu: x must be real when approximate=False, got {typeof(x)}; the error "
        "function takes no complex numbers here. Use approximate=True")
  return _gelu_exact(x)


_ROOT_2_PI = math.sqrt(2 / math.pi)
_CUBE = 0.044715


def _gelu_share(x: Any) -> Any:
  return 0.5 * (1.0 + gnp.tanh(_ROOT_2_PI * (x + _CUBE * x ** 3)))


def _gelu_slope(x: Any) -> Any:
  # From 30 on, and long before, the hyperbolic tangent is 1 in every dtype: what is
  # beyond would only overflow.
  x = gnp.clip(x, -30., 30.)
  t = gnp.tanh(_ROOT_2_PI * (x + _CUBE * x ** 3))
  inner = _ROOT_2_PI * (1.0 + 3 * _CUBE * x ** 2)
  return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * inner


@with_derivative(_gelu_slope)
@jit
def _gelu(x: Any) -> Any:
  return above_infinity(x) * _gelu_share(x)


def _gelu_exact_slope(x: Any) -> Any:
  x = finite(x)
  density = gnp.exp(-0.5 * gnp.square(x)) * (1 / math.sqrt(2 * math.pi))
  return 0.5 * lax.erfc(-x * math.sqrt(0.5)) + x * density


@with_derivative(_gelu_exact_slope)
@jit
def _gelu_exact(x: Any) -> Any:
  return 0.5 * above_infinity(x) * lax.erfc(-x * math.sqrt(0.5))


@jit
def mish(x: Any) -> Any:
  r"""Mish, elementwise: :math:`x \tanh(\mathrm{softplus}(x))` (Misra, 2019).

  Args:
    x: array or number.

  >>> from gnomon import nn
  >>> round(nn.mish(1.0).item(), 4)
  0.8651

  Raises:
    TypeError: `x` is no array and no number.
  """
  x = inexact("mish", x)
  return x * gnp.tanh(softplus(x)) if is_complex(x) else _mish(x)


def _mish_slope(x: Any) -> Any:
  t = gnp.tanh(softplus(x))
  return t + finite(x) * (1 - t * t) * lax.logistic(x)


@with_derivative(_mish_slope)
def _mish(x: Any) -> Any:
  return above_infinity(x) * gnp.tanh(softplus(x))


@jit
def squareplus(x: Any, b: Any = 4) -> Any:
  r"""Squareplus, elementwise: :math:`(x + \sqrt{x^2 + b}) / 2` (Barron, 2021).

  Computed without cancellation below zero and without overflow.

  Args:
    x: array or number.
    b: how smooth it is, not negative, a number or an array that fits `x`; with 0 it is
      `relu`.

  >>> from gnomon import nn
  >>> nn.squareplus(0.0).item(), nn.squareplus(3.0, 0.0).item()
  (1.0, 3.0)

  Raises:
    TypeError: an argument is no array and no number.
  """
  arraylike("squareplus", x=x, b=b)
  x = inexact("squareplus", x)
  if is_complex(x) or is_complex(b):
    return (x + gnp.sqrt(gnp.square(x) + b)) / 2
  return _squareplus(x, inexact("squareplus", b))


@custom_jvp
def _squareplus(x: Any, b: Any) -> Any:
  root = _squareplus_root(x, b)
  below = b / (2 * _not_zero(root + gnp.abs(x)))
  return gnp.where(x > 0, x / 2 + root / 2, below)


def _squareplus_root(x: Any, b: Any) -> Any:
  square = gnp.square(x)
  return gnp.where(gnp.isinf(square), gnp.abs(x), gnp.sqrt(square + b))


def _squareplus_jvp(primals: Any, tangents: Any) -> Any:
  (x, b), (tx, tb) = primals, tangents
  out = _squareplus(x, b)
  root = _not_zero(finite(_squareplus_root(x, b)))
  parts = []
  if type(tx) is not SymbolicZero:
    parts.append(finite(out) / root * tx)
  if type(tb) is not SymbolicZero:
    parts.append(tb / (4 * root))
  return out, gnp.broadcast_to(sum(parts[1:], parts[0]), typeof(out).shape)


_squareplus.defjvp(_squareplus_jvp, symbolic_zeros=True)


def _not_zero(x: Any) -> Any:
  """A divisor: 1 in place of 0."""
  return gnp.where(x == 0, 1, x)


@program("axis")
def glu(x: Any, axis: int = -1) -> Any:
  r"""Gated linear unit: :math:`a\,\sigma(b)`, where `a` and `b` are the halves of `x`.

  Args:
    x: an array of even size along `axis`.
    axis: the axis along which `x` is halved.

  >>> import gnomon.numpy as gnp
  >>> from gnomon import nn
  >>> nn.glu(gnp.array([4.0, 0.0])).tolist()
  [2.0]

  Raises:
    TypeError: `x` is no array.
    ValueError: there is no such axis, or its size is odd.
  """
  x = inexact("glu", x)
  shape, axis = typeof(x).shape, index(axis)
  if not -len(shape) <= axis < len(shape):
    raise ValueError(f"glu: axis {axis} is out of bounds for x of shape {shape}")
  if shape[axis] % 2:
    raise ValueError(
        f"glu halves x along axis {axis}, whose size must be even; the shape is {shape}")
  value, gate = gnp.split(x, 2, axis)
  return value * sigmoid(gate)


@custom_jvp
@jit
def log1mexp(x: Any) -> Any:
  r"""Logarithm of 1 - exp(-x), elementwise; nan below zero.

  Exact for small and for large `x`, by the formula of Mächler, *Accurately computing
  log(1 − exp(−|a|))*, 2012.

  Args:
    x: array or number.

  >>> from gnomon import nn
  >>> round(nn.log1mexp(1e-5).item(), 4)
  -11.5129

  Raises:
    TypeError: `x` is no array and no number.
  """
  x = inexact("log1mexp", x)
  near = gnp.log(-gnp.expm1(-x))
  return gnp.where(x < math.log(2), near, gnp.log1p(-gnp.exp(-x)))


@log1mexp.defjvp
def _(primals: Any, tangents: Any) -> Any:
  (x,), (t,) = primals, tangents
  return log1mexp(x), t / gnp.expm1(x)
