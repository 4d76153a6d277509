"""Elementwise primitives: comparisons."""

from __future__ import annotations

from typing import Any

from gnomon.core import dtypes
from gnomon.lax._families import ANY, REAL_OR_BOOL, comparison, operands

EQUALITY = (*ANY, dtypes.extended)  # of random keys: whether all their words are equal


def eq(x: Any, y: Any) -> Any:
  """Whether elements are equal; nan equals nothing.

  Args:
    x: array.
    y: array of the same dtype and of the same shape, or a scalar.

  Returns:
    An array of bools.

  >>> from gnomon import lax
  >>> bool(lax.eq(1.0, 1.0))
  True

  Raises:
    TypeError: dtypes or shapes differ.
  """
  return eq_p.apply(*operands(x, y))[0]


eq_p = comparison("eq", EQUALITY, "EQ")


def ne(x: Any, y: Any) -> Any:
  """Whether elements differ; nan differs from everything.

  Args:
    x: array.
    y: array of the same dtype and of the same shape, or a scalar.

  Returns:
    An array of bools.

  >>> from gnomon import lax
  >>> bool(lax.ne(1.0, 1.0))
  False

  Raises:
    TypeError: dtypes or shapes differ.
  """
  return ne_p.apply(*operands(x, y))[0]


ne_p = comparison("ne", EQUALITY, "NE")


def lt(x: Any, y: Any) -> Any:
  """Whether `x` is less than `y`, elementwise; false beside nan.

  Args:
    x: array of real numbers or bools.
    y: array of the same dtype and of the same shape, or a scalar.

  Returns:
    An array of bools.

  >>> from gnomon import lax
  >>> bool(lax.lt(1.0, 2.0))
  True

  Raises:
    TypeError: dtypes or shapes differ, or dtypes are complex.
  """
  return lt_p.apply(*operands(x, y))[0]


lt_p = comparison("lt", REAL_OR_BOOL, "LT")


def le(x: Any, y: Any) -> Any:
  """Whether `x` is less than or equal to `y`, elementwise; false beside nan.

  Args:
    x: array of real numbers or bools.
    y: array of the same dtype and of the same shape, or a scalar.

  Returns:
    An array of bools.

  >>> from gnomon import lax
  >>> bool(lax.le(2.0, 2.0))
  True

  Raises:
    TypeError: dtypes or shapes differ, or dtypes are complex.
  """
  return le_p.apply(*operands(x, y))[0]


le_p = comparison("le", REAL_OR_BOOL, "LE")


def gt(x: Any, y: Any) -> Any:
  """Whether `x` is greater than `y`, elementwise; false beside nan.

  Args:
    x: array of real numbers or bools.
    y: array of the same dtype and of the same shape, or a scalar.

  Returns:
    An array of bools.

  >>> from gnomon import lax
  >>> bool(lax.gt(1.0, 2.0))
  False

  Raises:
    TypeError: dtypes or shapes differ, or dtypes are complex.
  """
  return gt_p.apply(*operands(x, y))[0]


gt_p = comparison("gt", REAL_OR_BOOL, "GT")


def ge(x: Any, y: Any) -> Any:
  """Whether `x` is greater than or equal to `y`, elementwise; false beside nan.

  Args:
    x: array of real numbers or bools.
    y: array of the same dtype and of the same shape, or a scalar.

  Returns:
    An array of bools.

  >>> from gnomon import lax
  >>> bool(lax.ge(2.0, 2.0))
  True

  Raises:
    TypeError: dtypes or shapes differ, or dtypes are complex.
  """
  return ge_p.apply(*operands(x, y))[0]


ge_p = comparison("ge", REAL_OR_BOOL, "GE")


# Total orders: -nan < -inf < … < -0 < +0 < … < inf < nan. Sorting compares by them.

eq_to_p = comparison("eq_to", ANY, "EQ", total_order=True)
lt_to_p = comparison("lt_to", REAL_OR_BOOL, "LT", total_order=True)
le_to_p = comparison("le_to", REAL_OR_BOOL, "LE", total_order=True)
