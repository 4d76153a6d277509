"""Elementwise functions of NumPy: rounding, and limits on the range."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.structural import select_n
from gnomon.core.types import typeof
from gnomon.numpy._arithmetic import floor_divide
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import (
  as_type,
  check_arraylike,
  promote_args,
  promote_args_inexact,
)
from gnomon.numpy._values import is_kind

_EVEN = lax.RoundingMethod.TO_NEAREST_EVEN


def refuse_out(name: str, out: Any) -> None:
  """Raises `NotImplementedError` if there is an array to write to."""
  if out is not None:
    raise NotImplementedError(
        f"{name}: the argument 'out' is not supported, since arrays are immutable; use "
        "the returned array instead")


@compiled()
def floor(x: Any, /) -> Any:
  """The largest integer that is not greater, elementwise; integers stay as they are.

  Args:
    x: array or number, not complex.

  >>> import gnomon.numpy as gnp
  >>> gnp.floor(-1.5).item()
  -2.0

  Raises:
    TypeError: `x` is complex, or no array and no number.
  """
  (x,) = promote_args("floor", x)
  return x if is_kind(x, np.integer) or is_kind(x, np.bool_) else lax.floor(x)


@compiled()
def ceil(x: Any, /) -> Any:
  """The smallest integer that is not less, elementwise; integers stay as they are.

  Args:
    x: array or number, not complex.

  >>> import gnomon.numpy as gnp
  >>> gnp.ceil(1.5).item()
  2.0

  Raises:
    TypeError: `x` is complex, or no array and no number.
  """
  (x,) = promote_args("ceil", x)
  return x if is_kind(x, np.integer) or is_kind(x, np.bool_) else lax.ceil(x)


@compiled()
def trunc(x: Any) -> Any:
  """The nearest integer toward zero, elementwise; integers stay as they are.

  Args:
    x: array or number, not complex.

  >>> import gnomon.numpy as gnp
  >>> gnp.trunc(-1.5).item()
  -1.0

  Raises:
    TypeError: `x` is complex, or no array and no number.
  """
  (x,) = promote_args("trunc", x)
  if is_kind(x, np.integer) or is_kind(x, np.bool_):
    return x
  return select_n(lax.lt(x, 0.0), lax.floor(x), lax.ceil(x))


@compiled()
def rint(x: Any, /) -> Any:
  """The nearest integer, elementwise, as a float; halves go to the even one.

  Args:
    x: array or number; of complex numbers both parts are rounded.

  >>> import gnomon.numpy as gnp
  >>> gnp.rint(2.5).item()
  2.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  check_arraylike("rint", x)
  if is_kind(x, np.integer) or is_kind(x, np.bool_):
    x = as_type(x, dtypes.default_float_dtype(), False)
  (x,) = promote_args_inexact("rint", x)
  if is_kind(x, np.complexfloating):
    return lax.complex(lax.round(lax.real(x), _EVEN), lax.round(lax.imag(x), _EVEN))
  return lax.round(x, _EVEN)


@compiled(static=("decimals", "out"))
def round(a: Any, decimals: int = 0, out: None = None) -> Any:
  """The nearest number with so many decimals, elementwise; halves go to the even one.

  Args:
    a: array or number; of complex numbers both parts are rounded.
    decimals: digits kept after the point; negative, zeros before it.
    out: not supported.

  >>> import gnomon.numpy as gnp
  >>> gnp.round(15.0, -1).item()
  20.0

  Raises:
    TypeError: `a` is no array and no number, or `decimals` no integer.
    NotImplementedError: `out` is given.
  """
  (a,) = promote_args("round", a)
  refuse_out("round", out)
  decimals = operator.index(decimals)
  if is_kind(a, np.integer) or is_kind(a, np.bool_):
    return a if decimals >= 0 else _round_integer(a, decimals)
  if is_kind(a, np.complexfloating):
    return lax.complex(
        _round_float(lax.real(a), decimals), _round_float(lax.imag(a), decimals))
  return _round_float(a, decimals)


def _round_float(x: Any, decimals: int) -> Any:
  if decimals == 0:
    return lax.round(x, _EVEN)
  aval = typeof(x)
  if aval.dtype.itemsize < 4:  # has room for few decimals before the point
    wide = _round_float(as_type(x, np.dtype(np.float32), False), decimals)
    return as_type(wide, aval.dtype, aval.weak_type)
  factor = 10.0 ** abs(decimals)
  if factor > float(dtypes.finfo(aval.dtype).max):
    return x if decimals > 0 else lax.mul(x, 0.0)
  if decimals > 0:
    return lax.div(lax.round(lax.mul(x, factor), _EVEN), factor)
  return lax.mul(lax.round(lax.div(x, factor), _EVEN), factor)


def _round_integer(x: Any, decimals: int) -> Any:
  """The nearest multiple of a power of ten; halves go to the even multiple."""
  limits = np.iinfo(typeof(x).dtype)
  unit = 10 ** -decimals
  if unit > limits.max:
    return lax.full_like(x, 0)
  count = floor_divide(x, unit)
  down = lax.mul(count, unit)  # may wrap around where the result does not
  rest = lax.sub(x, down)
  odd = lax.ne(lax.bitwise_and(count, 1), 0)
  half = unit // 2
  up = lax.bitwise_or(lax.gt(rest, half), lax.bitwise_and(lax.eq(rest, half), odd))
  return select_n(up, down, lax.add(down, unit))


around = round


@compiled()
def round_to_integer(x: Any) -> Any:
  """What `round(x)` is: rounded, with an integer dtype."""
  return lax.convert_element_type(round(x), int)
