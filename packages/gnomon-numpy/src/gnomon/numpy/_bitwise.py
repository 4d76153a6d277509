"""Elementwise functions of NumPy: bits of integers, truth of anything."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon import lax
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_args, promote_args_numeric
from gnomon.numpy._values import is_kind


@compiled()
def bitwise_and(x: Any, y: Any, /) -> Any:
  """Bits that are set in both arguments; of booleans, whether both are true. `&`.

  Args:
    x: integers or booleans.
    y: integers or booleans; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.bitwise_and(6, 3).item()
  2

  Raises:
    TypeError: an argument is no array of integers or booleans.
    ValueError: the shapes cannot be broadcast.
  """
  return lax.bitwise_and(*promote_args("bitwise_and", x, y))


@compiled()
def bitwise_or(x: Any, y: Any, /) -> Any:
  """Bits that are set in either argument; of booleans, whether either is true. `|`.

  Args:
    x: integers or booleans.
    y: integers or booleans; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.bitwise_or(6, 3).item()
  7

  Raises:
    TypeError: an argument is no array of integers or booleans.
    ValueError: the shapes cannot be broadcast.
  """
  return lax.bitwise_or(*promote_args("bitwise_or", x, y))


@compiled()
def bitwise_xor(x: Any, y: Any, /) -> Any:
  """Bits that are set in one argument only; of booleans, whether they differ. `^`.

  Args:
    x: integers or booleans.
    y: integers or booleans; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.bitwise_xor(6, 3).item()
  5

  Raises:
    TypeError: an argument is no array of integers or booleans.
    ValueError: the shapes cannot be broadcast.
  """
  return lax.bitwise_xor(*promote_args("bitwise_xor", x, y))


@compiled()
def bitwise_not(x: Any, /) -> Any:
  """The opposite of each bit; of booleans, of the truth. `~` on arrays.

  Args:
    x: integers or booleans.

  >>> import gnomon.numpy as gnp
  >>> gnp.bitwise_not(6).item()
  -7

  Raises:
    TypeError: `x` is no array of integers or booleans.
  """
  return lax.bitwise_not(*promote_args("bitwise_not", x))


invert = bitwise_invert = bitwise_not


@compiled()
def bitwise_count(x: Any, /) -> Any:
  """The number of bits that are set in the absolute value, as uint8.

  Args:
    x: integers or booleans.

  >>> import gnomon.numpy as gnp
  >>> gnp.bitwise_count(-7).item()
  3

  Raises:
    TypeError: `x` is no array of integers.
  """
  (x,) = promote_args("bitwise_count", x)
  if is_kind(x, np.bool_):
    x = lax.convert_element_type(x, np.uint8)
  elif is_kind(x, np.signedinteger):
    x = lax.abs(x)
  return lax.convert_element_type(lax.population_count(x), np.uint8)


@compiled()
def left_shift(x: Any, y: Any, /) -> Any:
  """Bits moved to the left by `y` places. `<<` on arrays.

  Args:
    x: integers or booleans.
    y: integers or booleans; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.left_shift(3, 2).item()
  12

  Raises:
    TypeError: an argument is no array of integers.
    ValueError: the shapes cannot be broadcast.
  """
  return lax.shift_left(*promote_args_numeric("left_shift", x, y))


bitwise_left_shift = left_shift


@compiled()
def right_shift(x1: Any, x2: Any, /) -> Any:
  """Bits moved to the right by `x2` places; copies of the sign move in. `>>` on arrays.

  Args:
    x1: integers or booleans.
    x2: integers or booleans; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.right_shift(-13, 2).item()
  -4

  Raises:
    TypeError: an argument is no array of integers.
    ValueError: the shapes cannot be broadcast.
  """
  x1, x2 = promote_args_numeric("right_shift", x1, x2)
  if is_kind(x1, np.unsignedinteger):
    return lax.shift_right_logical(x1, x2)
  return lax.shift_right_arithmetic(x1, x2)


bitwise_right_shift = right_shift


_PYTHON = (bool, int, float, complex)


def _truth(x: Any) -> Any:
  if type(x) in _PYTHON:
    return bool(x)
  return x if is_kind(x, np.bool_) else lax.ne(x, 0)


@compiled()
def logical_and(x: Any, y: Any, /) -> Any:
  """Whether both elements are true, that is, not zero.

  Args:
    x: array or number.
    y: array or number; shapes are broadcast.

  >>> import gnomon.numpy as gnp
  >>> gnp.logical_and(2, 0.5).item()
  True

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  return lax.bitwise_and(*map(_truth, promote_args("logical_and", x, y)))


@compiled()
def logical_or(x: Any, y: Any, /) -> Any:
  """Whether either element is true, that is, not zero.

  Args:
    x: array or number.
    y: array or number; shapes are broadcast.

  >>> import gnomon.numpy as gnp
  >>> gnp.logical_or(2, 0).item()
  True

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  return lax.bitwise_or(*map(_truth, promote_args("logical_or", x, y)))


@compiled()
def logical_xor(x: Any, y: Any, /) -> Any:
  """Whether one element only is true, that is, not zero.

  Args:
    x: array or number.
    y: array or number; shapes are broadcast.

  >>> import gnomon.numpy as gnp
  >>> gnp.logical_xor(2, 3).item()
  False

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  return lax.bitwise_xor(*map(_truth, promote_args("logical_xor", x, y)))


@compiled()
def logical_not(x: Any, /) -> Any:
  """Whether elements are false, that is, zero.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.logical_not(2).item()
  False

  Raises:
    TypeError: `x` is no array and no number.
  """
  (x,) = promote_args("logical_not", x)
  if type(x) in _PYTHON or is_kind(x, np.bool_):
    return lax.bitwise_not(_truth(x))
  return lax.eq(x, 0)
