"""Elementwise functions of NumPy: exponentials and logarithms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gnomon import custom_jvp, lax
from gnomon.core.structural import select_n
from gnomon.core.types import typeof
from gnomon.numpy._arithmetic import same_shape
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_args_inexact, weak_if_all_are
from gnomon.numpy._values import is_kind

_LN2 = math.log(2)


@compiled()
def exp(x: Any, /) -> Any:
  """The exponential function, elementwise: e to the power `x`.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.exp(0).item()
  1.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.exp(*promote_args_inexact("exp", x))


@compiled()
def exp2(x: Any, /) -> Any:
  """2 to the power `x`, elementwise.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.exp2(3).item()
  8.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.exp2(*promote_args_inexact("exp2", x))


@compiled()
def expm1(x: Any, /) -> Any:
  """The exponential function minus 1, elementwise; exact near zero.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.expm1(0).item()
  0.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.expm1(*promote_args_inexact("expm1", x))


@compiled()
def log(x: Any, /) -> Any:
  """Natural logarithm, elementwise; nan below zero.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.log(1).item()
  0.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.log(*promote_args_inexact("log", x))


@compiled()
def log1p(x: Any, /) -> Any:
  """Natural logarithm of 1 + x, elementwise; exact near zero.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.log1p(0).item()
  0.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.log1p(*promote_args_inexact("log1p", x))


@compiled()
def log2(x: Any, /) -> Any:
  """Logarithm to the base 2, elementwise; nan below zero.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.log2(8).item()
  3.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  (x,) = promote_args_inexact("log2", x)
  return _log_to_base(x, 2)


@compiled()
def log10(x: Any, /) -> Any:
  """Logarithm to the base 10, elementwise; nan below zero.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.log10(1000).item()
  3.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  (x,) = promote_args_inexact("log10", x)
  return _log_to_base(x, 10)


def _log_to_base(x: Any, base: int) -> Any:
  return lax.div(lax.log(x), typeof(x).dtype.type(math.log(base)))


@compiled()
def logaddexp(x1: Any, x2: Any, /) -> Any:
  """log(exp(x1) + exp(x2)), elementwise, without overflow.

  Args:
    x1: array or number.
    x2: array or number; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> round(gnp.logaddexp(1000, 1000).item(), 3)
  1000.693

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  x, y = same_shape(*promote_args_inexact("logaddexp", x1, x2))
  if is_kind(x, np.complexfloating):
    x, y = weak_if_all_are((x1, x2), x, y)
  return _logaddexp(x, y)


@custom_jvp
def _logaddexp(x: Any, y: Any) -> Any:
  larger, difference = lax.max(x, y), lax.sub(x, y)
  if is_kind(x, np.complexfloating):
    exponent = select_n(lax.eq(larger, x), difference, lax.neg(difference))
    return _principal(lax.add(larger, lax.log1p(lax.exp(exponent))))
  rest = lax.log1p(lax.exp(lax.neg(lax.abs(difference))))
  # The difference of equal infinities is nan, and so is that of nan; the sum is right.
  return select_n(lax.ne(difference, difference), lax.add(larger, rest), lax.add(x, y))


def _principal(z: Any) -> Any:
  """A logarithm with its imaginary part in (-π, π]."""
  turns = lax.round(lax.div(lax.imag(z), 2 * np.pi))
  return lax.complex(lax.real(z), lax.sub(lax.imag(z), lax.mul(turns, 2 * np.pi)))


@_logaddexp.defjvp
def _(primals: Any, tangents: Any) -> Any:
  (x, y), (tx, ty) = primals, tangents
  first = _share(x, y, 1)
  rest = lax.sub(lax.full_like(first, 1), first)
  if not is_kind(x, np.complexfloating):
    rest = _share(y, x, 1)
  return _logaddexp(x, y), lax.add(lax.mul(tx, first), lax.mul(ty, rest))


def _share(x: Any, y: Any, rate: float) -> Any:
  """exp(x) / (exp(x) + exp(y)): a half each for two equal infinities."""
  difference = lax.sub(x, y)
  equal = lax.eq(x, y)
  difference = select_n(equal, difference, lax.full_like(difference, 0))
  if rate != 1:
    difference = lax.mul(difference, rate)
  if is_kind(x, np.complexfloating):
    one = lax.full_like(difference, 1)
    return lax.div(one, lax.add(one, lax.exp(lax.neg(difference))))
  return lax.logistic(difference)


@compiled()
def logaddexp2(x1: Any, x2: Any, /) -> Any:
  """log2(2**x1 + 2**x2), elementwise, without overflow.

  Args:
    x1: array or number.
    x2: array or number; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.logaddexp2(1000, 1000).item()
  1001.0

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  x, y = same_shape(*promote_args_inexact("logaddexp2", x1, x2))
  return _logaddexp2(*weak_if_all_are((x1, x2), x, y))


@custom_jvp
def _logaddexp2(x: Any, y: Any) -> Any:
  if is_kind(x, np.complexfloating):
    scaled = _logaddexp(lax.mul(x, _LN2), lax.mul(y, _LN2))
    return lax.div(scaled, _LN2)
  larger, difference = lax.max(x, y), lax.sub(x, y)
  rest = lax.div(lax.log1p(lax.exp2(lax.neg(lax.abs(difference)))), _LN2)
  return select_n(lax.ne(difference, difference), lax.add(larger, rest), lax.add(x, y))


@_logaddexp2.defjvp
def _(primals: Any, tangents: Any) -> Any:
  (x, y), (tx, ty) = primals, tangents
  first = _share(x, y, _LN2)
  rest = lax.sub(lax.full_like(first, 1), first)
  if not is_kind(x, np.complexfloating):
    rest = _share(y, x, _LN2)
  return _logaddexp2(x, y), lax.add(lax.mul(tx, first), lax.mul(ty, rest))
