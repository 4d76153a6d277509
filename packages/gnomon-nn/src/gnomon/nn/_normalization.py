"""Functions along axes: softmax and its logarithm, log-sum-exp, standardizing."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import config, custom_jvp, lax
from gnomon.core import dtypes
from gnomon.core.promotion import promote_types
from gnomon.core.structural import convert
from gnomon.core.types import typeof
from gnomon.nn._elementwise import arraylike, inexact, is_complex
from gnomon.nn._program import program

Axis = Any


def softmax(x: Any, axis: Axis = -1, where: Any = None) -> Any:
  r"""Positive numbers in proportion to :math:`e^{x_i}`, whose sum along axes is 1.

  Args:
    x: an array.
    axis: an axis or several; None for all.
    where: a boolean mask that fits `x`: which elements take part. The others get 0.

  >>> import gnomon.numpy as gnp
  >>> from gnomon import nn
  >>> x = gnp.array([0.0, 0.0, 9.0])
  >>> nn.softmax(x).sum().item(), nn.softmax(x, where=x < 5).tolist()
  (1.0, [0.5, 0.5, 0.0])

  Returns:
    An array like `x`, of a floating-point or complex dtype; nan where an element is inf,
    or all are -inf. With the option `softmax_custom_jvp` its derivative is kept in terms
    of the result alone.

  Raises:
    TypeError: `x` is no array and no number.
    ValueError: an axis is out of range or repeated, or the mask is not boolean.
  """
  x = inexact("softmax", x)
  if config.read("softmax_custom_jvp"):
    return weights(x, axis, where)
  return _exponentials(x, axis, where)


@program("axis", inline=True)
def _exponentials(x: Any, axis: Axis, where: Any) -> Any:
  exponentials = gnp.exp(_shifted(x, axis, where))
  total = gnp.sum(exponentials, axis, where=where, keepdims=True)
  out = exponentials / total
  return out if where is None else gnp.where(where, out, 0)


def _shifted(x: Any, axis: Axis, where: Any) -> Any:
  """`x` with its greatest element made 0, masked elements -inf."""
  greatest = gnp.max(x, axis, where=where, initial=-np.inf, keepdims=True)
  # Masked elements are replaced before the exponential: it may overflow.
  taken = x if where is None else gnp.where(where, x, -np.inf)
  return taken - lax.stop_gradient(greatest)


def weights(x: Any, axis: Axis, where: Any) -> Any:
  """`softmax` whose derivatives keep the result, and nothing else."""
  return _softmax(x, where, axis)


@functools.partial(custom_jvp, nondiff_argnums=(2,))
def _softmax(x: Any, where: Any, axis: Axis) -> Any:
  return _exponentials(x, axis, where)


@_softmax.defjvp
def _(axis: Axis, primals: Any, tangents: Any) -> Any:
  out, t = _softmax(*primals, axis), tangents[0]
  return out, out * (t - gnp.sum(out * t, axis, keepdims=True))


@program("axis")
def log_softmax(x: Any, axis: Axis = -1, where: Any = None) -> Any:
  r"""Logarithm of `softmax`: :math:`x_i - \log \sum_j e^{x_j}`.

  Args:
    x: an array.
    axis: an axis or several; None for all.
    where: a boolean mask that fits `x`: which elements take part. The others get -inf.

  >>> import gnomon.numpy as gnp
  >>> from gnomon import nn
  >>> nn.log_softmax(gnp.array([0.0, -1000.0])).tolist()
  [0.0, -1000.0]

  Returns:
    An array like `x`, of a floating-point or complex dtype; nan where an element is inf,
    or all are -inf.

  Raises:
    TypeError: `x` is no array and no number.
    ValueError: an axis is out of range or repeated, or the mask is not boolean.
  """
  x = _shifted(inexact("log_softmax", x), axis, where)
  total = gnp.sum(gnp.exp(x), axis, where=where, keepdims=True)
  out = x - gnp.log(total)
  return out if where is None else gnp.where(where, out, -np.inf)


def logsumexp(
    a: Any, axis: Axis = None, b: Any = None, keepdims: bool = False,
    return_sign: bool = False, where: Any = None) -> Any:
  r"""Logarithm of a sum of exponentials, without overflow.

  :math:`\log \sum_i b_i e^{a_i}`

  Args:
    a: an array or number.
    axis: an axis or several; None for all.
    b: factors that fit `a`; an element with factor 0 takes no part.
    keepdims: whether reduced axes stay, with size 1.
    return_sign: whether to give the logarithm of the sum's modulus, and its sign.
    where: a boolean mask that fits `a`: which elements take part.

  >>> import gnomon.numpy as gnp
  >>> from gnomon import nn
  >>> round(nn.logsumexp(gnp.array([1000.0, 1000.0])).item(), 3)
  1000.693

  Returns:
    The logarithms, -inf for an empty sum, nan for a negative one; with `return_sign` a
    pair, the logarithms and the signs (of complex sums: numbers of modulus 1, or 0).

  Raises:
    TypeError: `a` or `b` is no array and no number.
    ValueError: an axis is out of range or repeated, the shapes do not fit, or the mask is
      not boolean.
  """
  x = _strong(inexact("logsumexp", a))
  if b is not None:
    (b,) = arraylike("logsumexp", b=b)
  return _logsumexp(x, b, where, axis=axis, keepdims=keepdims, return_sign=return_sign)


@program("axis", "keepdims", "return_sign", inline=True)
def _logsumexp(
    x: Any, b: Any, where: Any, *, axis: Axis, keepdims: bool, return_sign: bool) -> Any:
  if where is not None:
    x = gnp.where(where, x, 0)
  if b is not None:
    dtype = typeof(x).dtype
    if dtypes.issubdtype(typeof(b).dtype, np.inexact):
      dtype = promote_types(dtype, typeof(b).dtype)
    x, b = convert(x, dtype), convert(b, dtype)
    x = gnp.where(b != 0, x, -np.inf)
  greatest = gnp.max(gnp.real(x), axis, where=where, initial=-np.inf, keepdims=True)
  greatest = lax.stop_gradient(gnp.where(gnp.isfinite(greatest), greatest, 0))
  terms = gnp.exp(x - convert(greatest, typeof(x).dtype))
  if b is not None:
    terms = terms * b
  total = gnp.sum(terms, axis, where=where, keepdims=keepdims)
  shift = greatest if keepdims else gnp.reshape(greatest, typeof(total).shape)
  if return_sign:
    return gnp.log(gnp.abs(total)) + shift, lax.stop_gradient(gnp.sign(total))
  return gnp.log(total) + convert(shift, typeof(total).dtype)


def _strong(x: Any) -> Any:
  """An array whose dtype is no longer weak."""
  return lax.convert_element_type(x, typeof(x).dtype)


@program("axis", "keepdims")
def logmeanexp(
    x: Any, axis: Axis = None, where: Any = None, keepdims: bool = False) -> Any:
  r"""Logarithm of a mean of exponentials, without overflow.

  :math:`\log \frac1n \sum_i e^{x_i}`

  Args:
    x: an array or number.
    axis: an axis or several; None for all.
    where: a boolean mask that fits `x`: which elements take part.
    keepdims: whether reduced axes stay, with size 1.

  >>> import gnomon.numpy as gnp
  >>> from gnomon import nn
  >>> nn.logmeanexp(gnp.array([1000.0, 1000.0])).item()
  1000.0

  Returns:
    The logarithms; nan where there are no elements.

  Raises:
    TypeError: `x` is no array and no number.
    ValueError: an axis is out of range or repeated, or the mask is not boolean.
  """
  x = _strong(inexact("logmeanexp", x))
  total = logsumexp(x, axis, keepdims=keepdims, where=where)
  ones = gnp.ones_like(x, dtype=gnp.real(x).dtype)
  return total - gnp.log(gnp.sum(ones, axis, where=where, keepdims=keepdims))


@program("axis", "algorithm")
def standardize(
    x: Any, axis: Axis = -1, mean: Any = None, variance: Any = None,
    epsilon: Any = 1e-5, where: Any = None, *, algorithm: str = "fast") -> Any:
  r"""Shifts and scales an array along axes to mean 0 and variance 1.

  .. math:: \frac{x - \bar x}{\sqrt{\overline{(x - \bar x)^2} + \epsilon}}

  The variance is the mean of squared distances from the mean, which stays right where
  the mean is large (unless a mean is given: see `algorithm`). The derivative keeps the
  result and the divisor, and nothing else.

  Args:
    x: an array.
    axis: an axis or several; None for all.
    mean: the means, if they are known, with axes kept or of size 1.
    variance: the variances, if they are known, likewise.
    epsilon: what is added to the variance, so that constant arrays give 0.
    where: a boolean mask that fits `x`: which elements mean and variance are taken of.
    algorithm: `"fast"` or `"stable"`. They differ where a mean is given and the variance
      is not: `"fast"` takes the mean square less the square of the given mean,
      `"stable"` the mean square of distances from it.

  >>> import gnomon.numpy as gnp
  >>> from gnomon import nn
  >>> nn.standardize(gnp.array([-1.0, 1.0]), epsilon=0.0).tolist()
  [-1.0, 1.0]

  Returns:
    An array like `x`, of a floating-point dtype.

  Raises:
    TypeError: `x` is no array and no number.
    ValueError: an axis is out of range or repeated, the mask is not boolean, `x` is
      complex, or `algorithm` is something else.
  """
  if algorithm not in ("fast", "stable"):
    raise ValueError(
        f"standardize: algorithm must be 'fast' or 'stable', got {algorithm!r}")
  x = inexact("standardize", x)
  if is_complex(x):
    raise ValueError(
        f"standardize: x must be real, got {typeof(x)}; standardize its real and "
        "imaginary parts")
  if typeof(epsilon).weak_type:
    epsilon = gnp.asarray(epsilon, typeof(x).dtype)
  if mean is None and variance is None:
    return _standardize(x, epsilon, where, axis)[0]
  center = gnp.mean(x, axis, where=where, keepdims=True) if mean is None else mean
  off = x - center
  if variance is None and algorithm == "fast":
    square = gnp.mean(gnp.square(x), axis, where=where, keepdims=True)
    variance = gnp.maximum(square - gnp.square(center), 0)
  elif variance is None:
    variance = gnp.mean(gnp.square(off), axis, where=where, keepdims=True)
  return off * lax.rsqrt(inexact("standardize", variance + epsilon))


@functools.partial(custom_jvp, nondiff_argnums=(3,))
def _standardize(x: Any, epsilon: Any, where: Any, axis: Axis) -> Any:
  """The result, and the reciprocal of the divisor."""
  off = x - gnp.mean(x, axis, where=where, keepdims=True)
  variance = gnp.mean(gnp.square(off), axis, where=where, keepdims=True)
  rate = lax.rsqrt(variance + epsilon)
  return off * rate, rate


@_standardize.defjvp
def _(axis: Axis, primals: Any, tangents: Any) -> Any:
  x, epsilon, where = primals
  tx, te, _ = tangents
  out, rate = _standardize(x, epsilon, where, axis)
  common = gnp.mean(tx, axis, where=where, keepdims=True)
  along = gnp.mean(out * tx, axis, where=where, keepdims=True)
  # The reciprocal of a root changes by -1/2 its cube times the change below the root.
  change = -rate * (along + 0.5 * rate * te)
  return (out, rate), (rate * (tx - common) + out * change, rate * change)
