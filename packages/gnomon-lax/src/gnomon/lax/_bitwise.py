"""Elementwise primitives: bits of integers."""

from __future__ import annotations

from typing import Any

from gnomon.lax._families import INT, INT_OR_BOOL, binary, operands, unary


def bitwise_and(x: Any, y: Any) -> Any:
  """And of bits, elementwise.

  Args:
    x: array of integers or bools.
    y: array of the same dtype and of the same shape, or a scalar.

  >>> from gnomon import lax
  >>> int(lax.bitwise_and(6, 3))
  2

  Raises:
    TypeError: dtypes differ or are others, or shapes differ.
  """
  return and_p.apply(*operands(x, y))[0]


and_p = binary("and", INT_OR_BOOL, "and")


def bitwise_or(x: Any, y: Any) -> Any:
  """Or of bits, elementwise.

  Args:
    x: array of integers or bools.
    y: array of the same dtype and of the same shape, or a scalar.

  >>> from gnomon import lax
  >>> int(lax.bitwise_or(6, 3))
  7

  Raises:
    TypeError: dtypes differ or are others, or shapes differ.
  """
  return or_p.apply(*operands(x, y))[0]


or_p = binary("or", INT_OR_BOOL, "or")


def bitwise_xor(x: Any, y: Any) -> Any:
  """Exclusive or of bits, elementwise.

  Args:
    x: array of integers or bools.
    y: array of the same dtype and of the same shape, or a scalar.

  >>> from gnomon import lax
  >>> int(lax.bitwise_xor(6, 3))
  5

  Raises:
    TypeError: dtypes differ or are others, or shapes differ.
  """
  return xor_p.apply(*operands(x, y))[0]


xor_p = binary("xor", INT_OR_BOOL, "xor")


def bitwise_not(x: Any) -> Any:
  """Inverts bits, elementwise.

  Args:
    x: array of integers or bools.

  >>> from gnomon import lax
  >>> int(lax.bitwise_not(5))
  -6

  Raises:
    TypeError: `x` is neither of integers nor of bools.
  """
  return not_p.apply(x)[0]


not_p = unary("not", INT_OR_BOOL, "not")


def shift_left(x: Any, y: Any) -> Any:
  """Shifts bits to the left, elementwise; zero if `y` is not within the number of bits.

  Args:
    x: array of integers.
    y: how far: array of the same dtype and of the same shape, or a scalar.

  >>> from gnomon import lax
  >>> int(lax.shift_left(5, 2))
  20

  Raises:
    TypeError: dtypes differ or are not integers, or shapes differ.
  """
  return shift_left_p.apply(*operands(x, y))[0]


shift_left_p = binary("shift_left", INT, "shift_left")


def shift_right_logical(x: Any, y: Any) -> Any:
  """Shifts bits to the right and zeros in, elementwise.

  Zero if `y` is not within the number of bits.

  Args:
    x: array of integers.
    y: how far: array of the same dtype and of the same shape, or a scalar.

  >>> from gnomon import lax
  >>> int(lax.shift_right_logical(-1, 28))
  15

  Raises:
    TypeError: dtypes differ or are not integers, or shapes differ.
  """
  return shift_right_logical_p.apply(*operands(x, y))[0]


shift_right_logical_p = binary("shift_right_logical", INT, "shift_right_logical")


def shift_right_arithmetic(x: Any, y: Any) -> Any:
  """Shifts bits to the right and copies of the highest in, elementwise.

  Copies of the highest bit alone if `y` is not within the number of bits.

  Args:
    x: array of integers.
    y: how far: array of the same dtype and of the same shape, or a scalar.

  >>> from gnomon import lax
  >>> int(lax.shift_right_arithmetic(-20, 2))
  -5

  Raises:
    TypeError: dtypes differ or are not integers, or shapes differ.
  """
  return shift_right_arithmetic_p.apply(*operands(x, y))[0]


shift_right_arithmetic_p = binary(
    "shift_right_arithmetic", INT, "shift_right_arithmetic")


def population_count(x: Any) -> Any:
  """How many bits are set, elementwise, in the dtype of `x`.

  Args:
    x: array of integers.

  >>> from gnomon import lax
  >>> int(lax.population_count(7))
  3

  Raises:
    TypeError: `x` is not of integers.
  """
  return population_count_p.apply(x)[0]


population_count_p = unary("population_count", INT, "popcnt")


def clz(x: Any) -> Any:
  """How many bits are zero before the highest that is set, elementwise.

  Args:
    x: array of integers.

  >>> from gnomon import lax
  >>> int(lax.clz(1))
  31

  Raises:
    TypeError: `x` is not of integers.
  """
  return clz_p.apply(x)[0]


clz_p = unary("clz", INT, "count_leading_zeros")


def mulhi(x: Any, y: Any, /) -> Any:
  """The upper half of the bits of the product in twice as many, elementwise.

  Args:
    x: array of integers.
    y: array of the same dtype and of the same shape, or a scalar.

  >>> from gnomon import lax
  >>> int(lax.mulhi(2 ** 30, 8))
  2

  Raises:
    TypeError: dtypes differ or are not integers, or shapes differ.
  """
  return mulhi_p.apply(*operands(x, y))[0]


mulhi_p = binary("mulhi", INT, "chlo.mulhi")
