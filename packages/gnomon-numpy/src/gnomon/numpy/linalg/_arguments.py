"""Arguments of functions of matrices: made floating-point arrays, and checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.structural import convert
from gnomon.core.types import typeof
from gnomon.lax.linalg import _matrix
from gnomon.numpy._promotion import promote_dtypes_inexact
from gnomon.numpy._values import array_of, arrays_of, is_kind


def inexact(name: str, *args: Any) -> list[Any]:
  """Arguments as arrays of one floating-point or complex dtype, none of them weak.

  Raises:
    TypeError: one is no array and no number.
  """
  found = promote_dtypes_inexact(*arrays_of(f"linalg.{name}", *args))
  return [convert(x, typeof(x).dtype) for x in map(array_of, found)]


def one_matrix(name: str, a: Any, *, square: bool = False) -> Any:
  """An argument as a stack of matrices of numbers that LAPACK computes with.

  Raises:
    TypeError: it is no array, or has another dtype.
    ValueError: it has no matrices, or no square ones if these are asked for.
  """
  (x,) = inexact(name, a)
  _matrix.check_matrices(f"linalg.{name}", typeof(x), square=square, argument="a")
  return x


def is_complex(x: Any) -> bool:
  """Whether the elements are complex."""
  return bool(is_kind(x, np.complexfloating))


def eps(x: Any) -> Any:
  """The distance from 1 to the next number of the dtype of `x`."""
  return np.finfo(typeof(x).dtype).eps
