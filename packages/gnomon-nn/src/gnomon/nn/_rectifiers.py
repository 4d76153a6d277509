"""Activations that bend in places: rectifiers, and piecewise linear approximations."""

from __future__ import annotations

from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import custom_jvp, jit, lax
from gnomon.core import dtypes
from gnomon.core.types import typeof
from gnomon.nn._elementwise import arraylike, finite, inexact, is_complex, with_derivative


@custom_jvp
@jit
def relu(x: Any) -> Any:
  r"""Rectified linear unit, elementwise: :math:`\max(x, 0)`.

  Its derivative at 0 is 0, which trains best [1]_.

  Args:
    x: array or number; the result has its dtype.

  >>> from gnomon import nn
  >>> nn.relu(-2.0).item(), nn.relu(3.0).item()
  (0.0, 3.0)

  Raises:
    TypeError: `x` is no array and no number.

  .. [1] Bertoin et al., *Numerical influence of ReLU'(0) on backpropagation*, 2021.
  """
  return gnp.maximum(x, 0)


@relu.defjvp
def _(primals: Any, tangents: Any) -> Any:
  (x,), (t,) = primals, tangents
  return relu(x), lax.select(x > 0, t, lax.full_like(t, 0))


@custom_jvp
@jit
def relu6(x: Any) -> Any:
  r"""Rectified linear unit with a ceiling, elementwise: :math:`\min(\max(x, 0), 6)`.

  Its derivative at 0 and at 6 is 0.

  Args:
    x: array or number.

  >>> from gnomon import nn
  >>> nn.relu6(8.0).item()
  6.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  return gnp.minimum(gnp.maximum(x, 0), 6.)


@relu6.defjvp
def _(primals: Any, tangents: Any) -> Any:
  (x,), (t,) = primals, tangents
  return relu6(x), lax.select((x > 0) & (x < 6), t, lax.full_like(t, 0))


@jit
def leaky_relu(x: Any, negative_slope: Any = 1e-2) -> Any:
  r"""Leaky rectified linear unit, elementwise: `x`, below zero `negative_slope * x`.

  Its derivative at 0 is 1.

  Args:
    x: array or number.
    negative_slope: the slope below zero, a number or an array that fits `x`.

  >>> from gnomon import nn
  >>> nn.leaky_relu(-2.0, 0.5).item()
  -1.0

  Raises:
    TypeError: an argument is no array and no number.
  """
  arraylike("leaky_relu", x=x, negative_slope=negative_slope)
  return gnp.where(x >= 0, x, negative_slope * x)


@jit
def elu(x: Any, alpha: Any = 1.0) -> Any:
  r"""Exponential linear unit, elementwise: `x`, below zero :math:`\alpha (e^x - 1)`.

  Its derivative at 0 is that from below, `alpha`.

  Args:
    x: array or number.
    alpha: minus the limit at -inf, a number or an array that fits `x`.

  >>> from gnomon import nn
  >>> nn.elu(-100.0, 0.5).item()
  -0.5

  Raises:
    TypeError: an argument is no array and no number.
  """
  arraylike("elu", x=x, alpha=alpha)
  # The exponential of what is not taken could overflow, and its derivative be nan.
  below = gnp.where(x > 0, 0., x)
  return gnp.where(x > 0, x, alpha * gnp.expm1(below))


@jit
def celu(x: Any, alpha: Any = 1.0) -> Any:
  r"""Continuously differentiable exponential linear unit, elementwise.

  :math:`\max(x, 0) + \alpha (e^{\min(x, 0) / \alpha} - 1)`, whose derivative at 0 is 1
  for every `alpha`.

  Args:
    x: array or number.
    alpha: minus the limit at -inf, not 0; a number or an array that fits `x`.

  >>> from gnomon import nn
  >>> nn.celu(-100.0, 0.5).item()
  -0.5

  Raises:
    TypeError: an argument is no array and no number.
  """
  arraylike("celu", x=x, alpha=alpha)
  return gnp.maximum(x, 0.) + alpha * gnp.expm1(gnp.minimum(x, 0.) / alpha)


# What makes the zero mean and unit variance of activations a stable fixed point:
# Klambauer et al., Self-Normalizing Neural Networks, 2017, equation 14.
_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


@jit
def selu(x: Any) -> Any:
  r"""Scaled exponential linear unit, elementwise.

  :math:`\lambda\,\mathrm{elu}(x, \alpha)` with :math:`\lambda \approx 1.0507` and
  :math:`\alpha \approx 1.6733`, for which layers keep mean 0 and variance 1 (Klambauer et
  al., 2017). Its derivative at 0 is that from below.

  Args:
    x: array or number.

  >>> from gnomon import nn
  >>> round(nn.selu(1.0).item(), 4)
  1.0507

  Raises:
    TypeError: `x` is no array and no number.
  """
  return _SELU_SCALE * elu(x, _SELU_ALPHA)


@jit
def hard_tanh(x: Any) -> Any:
  r"""`x`, no lower than -1 and no higher than 1, elementwise.

  Its derivative at -1 and at 1 is 1.

  Args:
    x: array or number; the result has its dtype.

  >>> from gnomon import nn
  >>> nn.hard_tanh(-3.0).item(), nn.hard_tanh(0.25).item()
  (-1.0, 0.25)

  Raises:
    TypeError: `x` is no array and no number.
  """
  arraylike("hard_tanh", x=x)
  if dtypes.issubdtype(typeof(x).dtype, np.unsignedinteger):
    return gnp.where(x > 1, 1, x)  # -1 would wrap around
  return gnp.where(x > 1, 1, gnp.where(x < -1, -1, x))


@jit
def hard_sigmoid(x: Any) -> Any:
  r"""Piecewise linear sigmoid, elementwise: :math:`\mathrm{relu6}(x + 3) / 6`.

  Its derivative at -3 and at 3 is 0.

  Args:
    x: array or number.

  >>> from gnomon import nn
  >>> nn.hard_sigmoid(0.0).item()
  0.5

  Raises:
    TypeError: `x` is no array and no number.
  """
  arraylike("hard_sigmoid", x=x)
  return relu6(x + 3.) / 6.


@jit
def hard_silu(x: Any) -> Any:
  r"""Piecewise quadratic `silu`, elementwise: `x * hard_sigmoid(x)`.

  Also known as `hard_swish`. Its derivative is 0 at -3, and 1 at 3.

  Args:
    x: array or number.

  >>> from gnomon import nn
  >>> nn.hard_silu(6.0).item(), nn.hard_silu(1.5).item()
  (6.0, 1.125)

  Raises:
    TypeError: `x` is no array and no number.
  """
  x = inexact("hard_silu", x)
  return x * hard_sigmoid(x) if is_complex(x) else _hard_silu(x)


@with_derivative(
    lambda x: gnp.where(x <= -3, 0., gnp.where(x >= 3, 1., (2. * finite(x) + 3.) / 6.)))
def _hard_silu(x: Any) -> Any:
  # Below -3 the second factor is 0, and the first must not be infinite.
  return gnp.maximum(x, -3.) * hard_sigmoid(x)


hard_swish = hard_silu


@jit
def sparse_plus(x: Any) -> Any:
  r"""A `softplus` that is exactly 0 up to -1 and exactly `x` from 1, elementwise.

  Between them it is :math:`(x + 1)^2 / 4`; its derivative is `sparse_sigmoid`.

  Args:
    x: array or number.

  >>> from gnomon import nn
  >>> nn.sparse_plus(-1.0).item(), nn.sparse_plus(0.0).item(), nn.sparse_plus(2.0).item()
  (0.0, 0.25, 2.0)

  Raises:
    TypeError: `x` is no array and no number.
  """
  x = inexact("sparse_plus", x)
  return _sparse_plus.fun(x) if is_complex(x) else _sparse_plus(x)


@jit
def sparse_sigmoid(x: Any) -> Any:
  r"""A line from 0 at -1 to 1 at 1, constant beyond, elementwise.

  The derivative of `sparse_plus`; its own derivative at -1 and at 1 is 1/4.

  Args:
    x: real array or number.

  >>> from gnomon import nn
  >>> nn.sparse_sigmoid(0.5).item()
  0.75

  Raises:
    TypeError: `x` is no array and no number.
    ValueError: `x` is complex.
  """
  arraylike("sparse_sigmoid", x=x)
  return 0.5 * gnp.clip(x + 1., 0., 2.)


@with_derivative(sparse_sigmoid)
def _sparse_plus(x: Any) -> Any:
  return gnp.where(x <= -1, 0., gnp.where(x >= 1, x, (x + 1.) ** 2 / 4))
