"""Elementwise functions of NumPy: powers and roots."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.structural import select_n
from gnomon.core.trace import EVAL, Tracer, get_current
from gnomon.core.types import typeof
from gnomon.numpy._arithmetic import same_shape
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import (
  as_array,
  as_type,
  check_arraylike,
  promote_args_inexact,
  promote_args_numeric,
  promote_shapes,
  weak_if_all_are,
)
from gnomon.numpy._values import is_kind
from gnomon.runtime.jaxlib import arrays

Array = arrays.Array
_NUMBERS = dtypes.supported_dtypes - {dtypes.bool_dtype}


def power(x1: Any, x2: Any, /) -> Any:
  """`x1` to the power `x2`, elementwise. `**` on arrays.

  An exponent that is a Python or NumPy integer is part of the program: the power is then
  computed by multiplication, and its derivatives are exact everywhere.

  Args:
    x1: array or number.
    x2: array or number; shapes are broadcast, dtypes promoted. Integers wrap around;
      an array of negative integer exponents gives the true value rounded toward zero.

  >>> import gnomon.numpy as gnp
  >>> gnp.power(3, 4).item()
  81

  Raises:
    TypeError: an argument is no array and no number; or integers are raised to a negative
      power that is a constant.
    ValueError: the shapes cannot be broadcast.
  """
  if type(x2) is int or _is_constant_integer(x2):
    return _constant_power(x1, operator.index(x2))
  if type(x2) is Array and get_current() is not EVAL and _is_integer_scalar(x2.aval):
    return _constant_power(x1, int(x2))  # known while it is traced: part of the program
  return _power(x1, x2)


pow = power


def _is_constant_integer(x: Any) -> bool:
  if isinstance(x, np.ndarray):
    return x.ndim == 0 and x.dtype.kind in "iu"
  return isinstance(x, (bool, np.integer))


def _is_integer_scalar(aval: Any) -> bool:
  return not aval.shape and dtypes.issubdtype(aval.dtype, np.integer)


@compiled(static=("n",), replay=False)
def _constant_power(x: Any, n: int) -> Any:
  if isinstance(x, Tracer) and x.dtype in _NUMBERS:
    return lax.integer_pow(x, n)
  check_arraylike("power", x)
  if isinstance(typeof(x).dtype, dtypes.ExtendedDType):
    raise TypeError(f"power does not accept dtype {typeof(x).dtype}: expected numbers")
  dtype, weak = dtypes.lattice_result_type(x, int)
  weak = weak and dtypes.is_weakly_typed(x)
  return lax.integer_pow(as_type(x, dtypes.canonicalize_dtype(dtype), weak), n)


@compiled()
def _power(x1: Any, x2: Any) -> Any:
  check_arraylike("power", x1, x2)
  if is_kind(x1, np.inexact) and is_kind(x2, np.integer):
    # The exponent stays an integer: so the power has derivatives at a zero base.
    dtype, weak = dtypes.lattice_result_type(x1, x2)
    weak = weak and dtypes.is_weakly_typed(x2)
    x1 = as_type(x1, dtypes.canonicalize_dtype(dtype), weak)
    return lax.pow(*promote_shapes("power", x1, x2))
  base, exponent = promote_args_numeric("power", x1, x2)
  if is_kind(base, np.integer):
    base, exponent = weak_if_all_are((x1, x2), base, exponent)
    return _integer_power(*same_shape(as_array(base), as_array(exponent)))
  return lax.pow(base, exponent)


def _integer_power(x: Any, y: Any) -> Any:
  """Powers by repeated squaring, modulo the size of the dtype."""
  signed = is_kind(y, np.signedinteger)
  exponent = y
  if signed:
    negative = lax.lt(y, 0)
    unit = lax.eq(lax.abs(x), 1)  # has an inverse: only the exponent's parity counts
    exponent = select_n(negative, y, lax.bitwise_and(y, 1))

  def unfinished(state: Any) -> Any:
    axes = tuple(range(typeof(state[1]).ndim))
    return lax.reduce_or(lax.ne(state[1], 0), axes)

  def step(state: Any) -> Any:
    base, exponent, ans = state
    odd = lax.ne(lax.bitwise_and(exponent, 1), 0)
    return (
        lax.mul(base, base), lax.shift_right_logical(exponent, 1),
        select_n(odd, ans, lax.mul(ans, base)))

  *_, ans = lax.while_loop(unfinished, step, (x, exponent, lax.full_like(x, 1)))
  if signed:
    vanishes = lax.bitwise_and(negative, lax.bitwise_not(unit))
    ans = select_n(vanishes, ans, lax.full_like(ans, 0))
  return ans


@compiled()
def float_power(x: Any, y: Any, /) -> Any:
  """`x` to the power `y`, elementwise, in floating point.

  Args:
    x: array or number.
    y: array or number; integers and booleans are converted to floats.

  >>> import gnomon.numpy as gnp
  >>> gnp.float_power(2, -1).item()
  0.5

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  return lax.pow(*promote_args_inexact("float_power", x, y))


@compiled()
def square(x: Any, /) -> Any:
  """The square, elementwise.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.square(-3).item()
  9

  Raises:
    TypeError: `x` is no array and no number.
  """
  (x,) = promote_args_numeric("square", x)
  return lax.square(x)


@compiled()
def sqrt(x: Any, /) -> Any:
  """Square root, elementwise, in floating point; nan below zero.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.sqrt(9).item()
  3.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  return lax.sqrt(*promote_args_inexact("sqrt", x))


@compiled()
def cbrt(x: Any, /) -> Any:
  """Cube root of real numbers, elementwise, in floating point.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.cbrt(-27).item()
  -3.0

  Raises:
    TypeError: `x` is complex, or no array and no number.
  """
  return lax.cbrt(*promote_args_inexact("cbrt", x))
