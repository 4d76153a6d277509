"""Elementwise functions of NumPy: sums, products, quotients, remainders, signs."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon import custom_jvp, lax
from gnomon.core.structural import select_n
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import (
  broadcast_shapes,
  promote_args,
  promote_args_inexact,
  promote_args_numeric,
)
from gnomon.numpy._values import is_kind, spread

_BOOL = np.dtype(np.bool_)


def refuse_complex(
    name: str, *args: Any, error: type[Exception] = TypeError) -> None:
  """Raises an error if an argument is complex: the numbers have no order."""
  for i, x in enumerate(args):
    if is_kind(x, np.complexfloating):
      raise error(
          f"{name} does not accept dtype {typeof(x).dtype} at position {i}: expected "
          "real numbers. Complex values have no ordering; take x.real, or abs(x)")


@compiled()
def add(x: Any, y: Any, /) -> Any:
  """Sum, elementwise; of booleans, whether either is true. `+` on arrays.

  Args:
    x: array or number.
    y: array or number; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.add(2, 3.5).item()
  5.5

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  x, y = promote_args("add", x, y)
  return lax.add(x, y) if typeof(x).dtype is not _BOOL else lax.bitwise_or(x, y)


@compiled()
def subtract(x: Any, y: Any, /) -> Any:
  """Difference, elementwise. `-` on arrays.

  Args:
    x: array or number.
    y: array or number; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.subtract(2, 3.5).item()
  -1.5

  Raises:
    TypeError: an argument is no array and no number, or both are boolean.
    ValueError: the shapes cannot be broadcast.
  """
  x, y = promote_args("subtract", x, y)
  if typeof(x).dtype is _BOOL:
    raise TypeError(
        "subtract does not accept booleans: use logical_xor (^), or convert to numbers")
  return lax.sub(x, y)


@compiled()
def multiply(x: Any, y: Any, /) -> Any:
  """Product, elementwise; of booleans, whether both are true. `*` on arrays.

  Args:
    x: array or number.
    y: array or number; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.multiply(2, 3.5).item()
  7.0

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  x, y = promote_args("multiply", x, y)
  return lax.mul(x, y) if typeof(x).dtype is not _BOOL else lax.bitwise_and(x, y)


@compiled()
def negative(x: Any, /) -> Any:
  """Negation, elementwise; unsigned integers wrap around. Unary `-` on arrays.

  Args:
    x: array or number, not boolean.

  >>> import gnomon.numpy as gnp
  >>> gnp.negative(2.0).item()
  -2.0

  Raises:
    TypeError: `x` is boolean, or no array and no number.
  """
  (x,) = promote_args("negative", x)
  if typeof(x).dtype is _BOOL:
    raise TypeError(
        "negative does not accept booleans: use logical_not (~), or convert to a number")
  return lax.neg(x)


@compiled()
def positive(x: Any, /) -> Any:
  """The argument, as an array. Unary `+` on arrays.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.positive(-2.0).item()
  -2.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  (x,) = promote_args("positive", x)
  return x


@compiled()
def true_divide(x1: Any, x2: Any, /) -> Any:
  """Quotient, elementwise, in floating point. `/` on arrays.

  Args:
    x1: array or number.
    x2: array or number; integers and booleans are converted to floats.

  >>> import gnomon.numpy as gnp
  >>> gnp.true_divide(7, 2).item()
  3.5

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  x1, x2 = promote_args_inexact("true_divide", x1, x2)
  return lax.div(x1, x2)


divide = true_divide


@compiled()
def reciprocal(x: Any, /) -> Any:
  """One over `x`, elementwise, in floating point.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.reciprocal(4.0).item()
  0.25

  Raises:
    TypeError: `x` is no array and no number.
  """
  (x,) = promote_args_inexact("reciprocal", x)
  return lax.integer_pow(x, -1)


@compiled()
def floor_divide(x1: Any, x2: Any, /) -> Any:
  """Quotient rounded down, elementwise. `//` on arrays.

  Integers divided by zero give 0, floats inf or nan.

  Args:
    x1: array or number, not complex.
    x2: array or number, not complex; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.floor_divide(-7, 2).item()
  -4

  Raises:
    TypeError: an argument is complex, or no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  x1, x2 = promote_args_numeric("floor_divide", x1, x2)
  refuse_complex("floor_divide", x1, x2)
  if is_kind(x1, np.integer):
    return _integer_floor_divide(x1, x2)
  return _float_floor_divide(x1, x2)


def _integer_floor_divide(x: Any, y: Any) -> Any:
  x, y = same_shape(x, y)
  quotient = lax.div(x, y)
  if not is_kind(x, np.unsignedinteger):
    # Division truncates: that was upward where the signs differ and something remains.
    up = lax.bitwise_and(
        lax.lt(lax.bitwise_xor(x, y), 0), lax.ne(lax.mul(quotient, y), x))
    quotient = select_n(up, quotient, lax.sub(quotient, 1))
  return select_n(lax.eq(y, 0), quotient, lax.full_like(quotient, 0))


def _float_floor_divide(x: Any, y: Any) -> Any:
  x, y = same_shape(x, y)
  rest = lax.rem(x, y)
  exact = lax.sub(x, rest)  # a multiple of y; its sign is that of x, zero or not
  exact = select_n(lax.eq(rest, x), exact, lax.mul(x, 0.0))
  quotient = lax.div(select_n(lax.eq(y, 0.0), exact, x), y)
  quotient = select_n(_other_sign(rest, y, 0.0), quotient, lax.sub(quotient, 1.0))
  return lax.round(quotient)


def _other_sign(rest: Any, y: Any, zero: Any) -> Any:
  """Where a remainder is not zero, and its sign is not the divisor's."""
  return lax.bitwise_and(
      lax.ne(rest, zero), lax.ne(lax.lt(rest, zero), lax.lt(y, zero)))


@compiled()
def remainder(x1: Any, x2: Any, /) -> Any:
  """What remains of a division rounded down: it has the divisor's sign. `%` on arrays.

  Integers modulo zero give 0, floats nan. A zero remainder has the divisor's sign too.

  Args:
    x1: array or number, not complex.
    x2: array or number, not complex; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.remainder(-7, 3).item()
  2

  Raises:
    TypeError: an argument is complex, or no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  x1, x2 = promote_args_numeric("remainder", x1, x2)
  refuse_complex("remainder", x1, x2)
  if is_kind(x1, np.integer):
    return _integer_remainder(x1, x2)
  return _float_remainder(*same_shape(x1, x2))


mod = remainder


def _integer_remainder(x: Any, y: Any) -> Any:
  x, y = same_shape(x, y)
  y = select_n(lax.eq(y, 0), y, lax.full_like(y, 1))
  rest = lax.rem(x, y)
  if is_kind(x, np.unsignedinteger):
    return rest
  return select_n(_other_sign(rest, y, 0), rest, lax.add(rest, y))


@custom_jvp
def _float_remainder(x: Any, y: Any) -> Any:
  rest = lax.rem(x, y)
  moved = select_n(_other_sign(rest, y, 0.0), rest, lax.add(rest, y))
  return select_n(lax.eq(rest, 0.0), moved, lax.mul(lax.sign(y), 0.0))


@_float_remainder.defjvp
def _(primals: Any, tangents: Any) -> Any:
  # The sign of a zero has no derivative, the remainder there has.
  (x, y), (tx, ty) = primals, tangents
  return _float_remainder(x, y), lax.sub(tx, lax.mul(ty, _float_floor_divide(x, y)))


@compiled()
def divmod(x1: Any, x2: Any, /) -> Any:
  """The pair `(x1 // x2, x1 % x2)`, elementwise. `divmod()` of arrays.

  Args:
    x1: array or number, not complex.
    x2: array or number, not complex; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> [int(x) for x in gnp.divmod(-7, 3)]
  [-3, 2]

  Raises:
    TypeError: an argument is complex, or no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  x1, x2 = promote_args_numeric("divmod", x1, x2)
  refuse_complex("divmod", x1, x2)
  if is_kind(x1, np.integer):
    return _integer_floor_divide(x1, x2), _integer_remainder(x1, x2)
  return _float_floor_divide(x1, x2), _float_remainder(*same_shape(x1, x2))


@compiled()
def fmod(x1: Any, x2: Any, /) -> Any:
  """What remains of a division rounded toward zero: it has the dividend's sign.

  Integers modulo zero give 0, floats nan.

  Args:
    x1: array or number, not complex.
    x2: array or number, not complex; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.fmod(-7, 3).item()
  -1

  Raises:
    TypeError: an argument is complex, or no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  x1, x2 = promote_args_numeric("fmod", x1, x2)
  refuse_complex("fmod", x1, x2)
  if is_kind(x1, np.integer):
    x1, x2 = same_shape(x1, x2)
    x2 = select_n(lax.eq(x2, 0), x2, lax.full_like(x2, 1))
  return lax.rem(x1, x2)


@compiled()
def absolute(x: Any, /) -> Any:
  """Absolute value, elementwise; of complex numbers the modulus. `abs()` of arrays.

  Args:
    x: array or number.

  >>> import gnomon.numpy as gnp
  >>> gnp.absolute(3 + 4j).item()
  5.0

  Raises:
    TypeError: `x` is no array and no number.
  """
  (x,) = promote_args("absolute", x)
  if is_kind(x, np.bool_) or is_kind(x, np.unsignedinteger):
    return x
  return lax.abs(x)


abs = absolute


@compiled()
def fabs(x: Any, /) -> Any:
  """Absolute value of real numbers, elementwise, in floating point.

  Args:
    x: array or number, not complex.

  >>> import gnomon.numpy as gnp
  >>> gnp.fabs(-2).item()
  2.0

  Raises:
    TypeError: `x` is complex, or no array and no number.
  """
  (x,) = promote_args_inexact("fabs", x)
  refuse_complex("fabs", x)
  return lax.abs(x)


@compiled()
def sign(x: Any, /) -> Any:
  """-1, 0 or 1 by the sign, elementwise; of complex numbers, the number over its modulus.

  Args:
    x: array or number, not boolean. A nan stays nan.

  >>> import gnomon.numpy as gnp
  >>> gnp.sign(-2.5).item()
  -1.0

  Raises:
    TypeError: `x` is boolean, or no array and no number.
  """
  (x,) = promote_args("sign", x)
  return lax.sign(x)


def same_shape(x: Any, y: Any) -> tuple[Any, Any]:
  """Two operands broadcast to one shape, as `select_n` needs them."""
  a, b = typeof(x).shape, typeof(y).shape
  if a == b:
    return x, y
  shape = broadcast_shapes("operands", a, b)
  return spread("operands", x, shape), spread("operands", y, shape)
