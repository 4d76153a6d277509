"""Systems of equations, inverses, determinants."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.api.stopping import stop_gradient
from gnomon.core.types import typeof
from gnomon.lax.linalg import _matrix, _solve
from gnomon.numpy._compiled import compiled
from gnomon.scipy.linalg._arguments import arrays
from gnomon.scipy.linalg._factors import from_triangle

Restore = Callable[[Any], Any]


@compiled(static=("overwrite_a", "check_finite"))
def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
  """Inverses of square matrices.

  To solve equations, `solve` is faster and more exact.

  Args:
    a: an array of shape `(..., n, n)`.
    overwrite_a: no effect.
    check_finite: no effect.

  Returns:
    An array of the shape of `a`; of a singular matrix, infinities and nan.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import linalg
  >>> linalg.inv(gnp.array([[2.0, 0.0], [0.0, 4.0]])).tolist()
  [[0.5, 0.0], [0.0, 0.25]]

  Raises:
    ValueError: `a` has no square matrices.
    TypeError: `a` is no array, or of half precision.
  """
  del overwrite_a, check_finite
  return gnp.linalg.inv(a)


@compiled(static=("overwrite_a", "check_finite"))
def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
  """Determinants of square matrices.

  The derivative, the matrix of cofactors, is right for singular matrices too.

  Args:
    a: an array of shape `(..., n, n)`.
    overwrite_a: no effect.
    check_finite: no effect.

  Returns:
    An array of shape `(...)`.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import linalg
  >>> linalg.det(gnp.array([[1.0, 2.0], [3.0, 4.0]])).item()
  -2.0

  Raises:
    ValueError: `a` has no square matrices.
    TypeError: `a` is no array, or of half precision.
  """
  del overwrite_a, check_finite
  return gnp.linalg.det(a)


def _system(
    name: str, a: Any, b: Any, argument: str = "a") -> tuple[Any, Any, Restore]:
  """Square matrices and right-hand sides for each, and how to shape the solutions.

  A vector `b` becomes a column; a stack of them, for one matrix, more columns.

  Raises:
    ValueError: the shapes do not fit.
  """
  a, b = arrays(name, a, b)
  _matrix.check_matrices(f"linalg.{name}", typeof(a), square=True, argument=argument)
  n = a.shape[-1]
  if not b.ndim or b.shape[max(b.ndim - 2, 0)] != n:
    raise ValueError(
        f"linalg.{name}: for {argument} of shape {a.shape}, b must be a vector of shape "
        f"({n},), or an array of shape (..., {n}, k), got {b.shape}")
  if b.ndim == 1:
    b = gnp.broadcast_to(b[:, None], (*a.shape[:-2], n, 1))
    return a, b, lambda x: x[..., 0]
  if a.ndim == 2 and b.ndim > 2:
    wide = gnp.moveaxis(b, -2, 0)
    return a, wide.reshape(n, math.prod(wide.shape[1:])), lambda x: gnp.moveaxis(
        x.reshape(wide.shape), 0, -2)
  lead = gnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
  a = gnp.broadcast_to(a, (*lead, n, n))
  return a, gnp.broadcast_to(b, (*lead, *b.shape[-2:])), lambda x: x


@compiled(static=(
    "lower", "overwrite_a", "overwrite_b", "debug", "check_finite", "assume_a"))
def solve(
    a: Any, b: Any, lower: bool = False, overwrite_a: bool = False,
    overwrite_b: bool = False, debug: bool = False, check_finite: bool = True,
    assume_a: str = "gen") -> Any:
  """Solves `a x = b` for square matrices.

  Args:
    a: an array of shape `(..., n, n)`.
    b: a vector of shape `(n,)`, or an array of shape `(..., n, k)`; leading axes
      broadcast with those of `a`.
    lower: for Hermitian matrices, reads the lower triangle, otherwise the upper one.
    overwrite_a: no effect.
    overwrite_b: no effect.
    debug: no effect.
    check_finite: no effect.
    assume_a: what matrices `a` holds: 'gen', any; 'sym' or 'her', symmetric or Hermitian
      ones; 'pos', positive definite ones too, which takes half the time.

  Returns:
    The solution, of the shape of `b` with the leading axes of both.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import linalg
  >>> linalg.solve(gnp.array([[2.0, 0.0], [0.0, 4.0]]), gnp.array([2.0, 2.0])).tolist()
  [1.0, 0.5]

  Raises:
    ValueError: the shapes do not fit, or `assume_a` does not exist.
    TypeError: an argument is no array, or of half precision.
  """
  del overwrite_a, overwrite_b, debug, check_finite
  if assume_a not in _KINDS:
    raise ValueError(
        f"linalg.solve: assume_a must be one of {', '.join(map(repr, _KINDS))}, got "
        f"{assume_a!r}")
  a, b, restore = _system("solve", a, b)
  if assume_a == "gen":
    return restore(_solve.solve(a, b))
  a = from_triangle(a, lower, conjugated=assume_a != "sym")
  if assume_a != "pos":
    return restore(_solve.solve(a, b))
  # Only the system itself is differentiated, not its decomposition.
  factor = lax.linalg.cholesky(stop_gradient(a), symmetrize_input=False)
  out = lax.custom_linear_solve(
      lambda x: _matrix.mm(a, x), b, lambda _, y: _cholesky_solve(factor, y),
      lambda _, y: gnp.conj(_cholesky_solve(factor, gnp.conj(y))))
  return restore(out)


_KINDS = ("gen", "sym", "her", "pos")


def _cholesky_solve(factor: Any, b: Any, lower: bool = True) -> Any:
  """Solves with the product of a triangular factor and its conjugate transpose."""
  for adjoint in (not lower, lower):
    b = lax.linalg.triangular_solve(
        factor, b, left_side=True, lower=lower, transpose_a=adjoint, conjugate_a=adjoint)
  return b


@compiled(static=("lower", "overwrite_b", "check_finite"))
def _cho_solve(c: Any, b: Any, lower: bool, overwrite_b: bool, check_finite: bool) -> Any:
  del overwrite_b, check_finite
  c, b, restore = _system("cho_solve", c, b, "c")
  return restore(_cholesky_solve(c, b, bool(lower)))


def cho_solve(c_and_lower: tuple[Any, bool], b: Any, overwrite_b: bool = False,
              check_finite: bool = True) -> Any:
  """Solves `a x = b`, for what `cho_factor` made of `a`.

  Args:
    c_and_lower: the result of `cho_factor`.
    b: a vector of shape `(n,)`, or an array of shape `(..., n, k)`; leading axes
      broadcast with those of the factor.
    overwrite_b: no effect.
    check_finite: no effect.

  Returns:
    The solution, of the shape of `b` with the leading axes of both.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import linalg
  >>> c, lower = linalg.cho_factor(gnp.array([[4.0, 2.0], [2.0, 5.0]]))
  >>> linalg.cho_solve((c, lower), gnp.array([6.0, 7.0])).tolist()
  [1.0, 1.0]

  Raises:
    ValueError: the shapes do not fit.
    TypeError: an argument is no array, or of half precision.
  """
  c, lower = c_and_lower
  return _cho_solve(c, b, bool(lower), overwrite_b, check_finite)


@compiled(static=("trans", "overwrite_b", "check_finite"))
def lu_solve(lu_and_piv: tuple[Any, Any], b: Any, trans: int = 0,
             overwrite_b: bool = False, check_finite: bool = True) -> Any:
  """Solves `a x = b`, for what `lu_factor` made of `a`.

  Args:
    lu_and_piv: the result of `lu_factor`.
    b: a vector of shape `(n,)`, or an array of shape `(..., n, k)`; leading axes
      broadcast with those of the factors.
    trans: 0 for `a` itself, 1 for its transpose, 2 for its conjugate transpose.
    overwrite_b: no effect.
    check_finite: no effect.

  Returns:
    The solution, of the shape of `b` with the leading axes of both.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import linalg
  >>> factors = linalg.lu_factor(gnp.array([[1.0, 2.0], [4.0, 4.0]]))
  >>> linalg.lu_solve(factors, gnp.array([3.0, 8.0])).tolist()
  [1.0, 1.0]

  Raises:
    ValueError: the shapes do not fit, or `trans` does not exist.
    TypeError: an argument is no array, or of half precision.
  """
  del overwrite_b, check_finite
  if trans not in (0, 1, 2):
    raise ValueError(f"linalg.lu_solve: trans must be 0, 1 or 2, got {trans!r}")
  packed, pivots = lu_and_piv
  packed, b, restore = _system("lu_solve", packed, b, "lu")
  pivots = gnp.broadcast_to(gnp.asarray(pivots, gnp.int32), packed.shape[:-1])
  permutation = lax.linalg.lu_pivots_to_permutation(pivots, packed.shape[-1])
  return restore(_solve.lu_solve(packed, permutation, b, trans))


@compiled(static=(
    "trans", "lower", "unit_diagonal", "overwrite_b", "debug", "check_finite"))
def solve_triangular(
    a: Any, b: Any, trans: int | str = 0, lower: bool = False,
    unit_diagonal: bool = False, overwrite_b: bool = False, debug: Any = None,
    check_finite: bool = True) -> Any:
  """Solves `a x = b` for triangular matrices.

  Args:
    a: an array of shape `(..., n, n)`, of which one triangle is read.
    b: a vector of shape `(n,)`, or an array of shape `(..., n, k)`; leading axes
      broadcast with those of `a`.
    trans: 0 or 'N' for `a` itself, 1 or 'T' for its transpose, 2 or 'C' for its conjugate
      transpose.
    lower: reads the lower triangle, otherwise the upper one.
    unit_diagonal: takes the diagonal as ones, without reading it.
    overwrite_b: no effect.
    debug: no effect.
    check_finite: no effect.

  Returns:
    The solution, of the shape of `b` with the leading axes of both.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import linalg
  >>> a = gnp.array([[2.0, 0.0], [1.0, 4.0]])
  >>> linalg.solve_triangular(a, gnp.array([2.0, 5.0]), lower=True).tolist()
  [1.0, 1.0]

  Raises:
    ValueError: the shapes do not fit, or `trans` does not exist.
    TypeError: an argument is no array, or of half precision.
  """
  del overwrite_b, debug, check_finite
  if trans not in (0, 1, 2, "N", "T", "C"):
    raise ValueError(
        "linalg.solve_triangular: trans must be 0, 1, 2, 'N', 'T' or 'C', got "
        f"{trans!r}")
  a, b, restore = _system("solve_triangular", a, b)
  out = lax.linalg.triangular_solve(
      a, b, left_side=True, lower=lower, transpose_a=trans not in (0, "N"),
      conjugate_a=trans in (2, "C"), unit_diagonal=unit_diagonal)
  return restore(out)
