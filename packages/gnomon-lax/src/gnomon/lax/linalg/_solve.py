"""Systems of equations with general square matrices, by their triangular factors."""

from __future__ import annotations

import math
from typing import Any

from gnomon.api.stopping import stop_gradient
from gnomon.core.structural import reshape, transpose
from gnomon.core.types import typeof
from gnomon.lax._control.custom_linear_solve import custom_linear_solve
from gnomon.lax._dot import dot_general
from gnomon.lax._precision import Precision
from gnomon.lax.linalg._lu import lu
from gnomon.lax.linalg._matrix import mm
from gnomon.lax.linalg._order import inverse_order, take_rows
from gnomon.lax.linalg._triangular import triangular_solve


def lu_solve(packed: Any, permutation: Any, b: Any, trans: int = 0) -> Any:
  """Solves `op(x) y = b`, for what `lu` made of x.

  `b` holds matrices; `trans` is 0 for x itself, 1 for its transpose, 2 for the conjugate.
  """
  lower = {"left_side": True, "lower": True, "unit_diagonal": True}
  upper = {"left_side": True, "lower": False}
  if trans == 0:
    b = triangular_solve(packed, take_rows(b, permutation), **lower)
    return triangular_solve(packed, b, **upper)
  conjugate = trans == 2
  b = triangular_solve(packed, b, transpose_a=True, conjugate_a=conjugate, **upper)
  b = triangular_solve(packed, b, transpose_a=True, conjugate_a=conjugate, **lower)
  return take_rows(b, inverse_order(permutation))


def solve(a: Any, b: Any) -> Any:
  """Solves `a x = b`: stacks of square matrices, and of matrices of right-hand sides.

  The leading dimensions are equal; or `a` is one matrix, decomposed once, and `b` a
  stack.
  """
  x, y = typeof(a), typeof(b)
  if x.ndim == 2 and y.ndim > 2:
    rank = y.ndim
    wide = transpose(b, (rank - 2, *range(rank - 2), rank - 1))
    shape = typeof(wide).shape
    columns = math.prod(shape[1:])
    out = reshape(solve(a, reshape(wide, (shape[0], columns))), shape)
    return transpose(out, (*range(1, rank - 1), 0, rank - 1))
  packed, _, permutation = lu(stop_gradient(a))
  return custom_linear_solve(
      lambda z: mm(a, z), b, lambda _, z: lu_solve(packed, permutation, z),
      lambda _, z: lu_solve(packed, permutation, z, trans=1))


def solve_vector(a: Any, b: Any) -> Any:
  """Solves `a x = b` for one matrix and one vector."""
  packed, _, permutation = lu(stop_gradient(a))

  def through(z: Any, trans: int) -> Any:
    shape = typeof(z).shape
    return reshape(lu_solve(packed, permutation, reshape(z, (*shape, 1)), trans), shape)

  return custom_linear_solve(
      lambda z: dot_general(a, z, (((1,), (0,)), ((), ())), Precision.HIGHEST), b,
      lambda _, z: through(z, 0), lambda _, z: through(z, 1))
