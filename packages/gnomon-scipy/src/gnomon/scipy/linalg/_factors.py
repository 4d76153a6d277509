"""Decompositions of matrices."""

from __future__ import annotations

from typing import Any

import gnomon.numpy as gnp
from gnomon import custom_jvp, lax
from gnomon.core.types import typeof
from gnomon.lax.linalg import _matrix, _order
from gnomon.numpy._compiled import compiled
from gnomon.scipy.linalg._arguments import arrays, matrices, one_matrix, stacked


@compiled(static=("lower", "overwrite_a", "check_finite"))
def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False,
             check_finite: bool = True) -> Any:
  """Cholesky's decomposition of Hermitian, positive definite matrices.

  Args:
    a: an array of shape `(..., n, n)`, of which one triangle is read.
    lower: reads the lower triangle, for the lower triangular `l` with `a = l l^H`;
      otherwise the upper one, for the upper triangular `u` with `a = u^H u`.
    overwrite_a: no effect.
    check_finite: no effect.

  Returns:
    An array of the shape of `a`; nan for a matrix that is not positive definite.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import linalg
  >>> linalg.cholesky(gnp.array([[4.0, 2.0], [2.0, 5.0]])).tolist()
  [[2.0, 1.0], [0.0, 2.0]]

  Raises:
    ValueError: `a` has no square matrices.
    TypeError: `a` is no array, or of half precision.
  """
  del overwrite_a, check_finite
  return _cholesky("cholesky", a, lower)


def _cholesky(name: str, a: Any, lower: bool) -> Any:
  (x,) = matrices(name, a=a)
  out = lax.linalg.cholesky(x if lower else _matrix.adjoint(x), symmetrize_input=False)
  return out if lower else _matrix.adjoint(out)


@compiled(static=("lower", "overwrite_a", "check_finite"))
def _cho_factor(a: Any, lower: bool, overwrite_a: bool, check_finite: bool) -> Any:
  del overwrite_a, check_finite
  return _cholesky("cho_factor", a, lower)


def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False,
               check_finite: bool = True) -> tuple[Any, bool]:
  """Cholesky's decomposition, for `cho_solve`.

  Args:
    a: an array of shape `(..., n, n)`: Hermitian, positive definite matrices, of which
      one triangle is read.
    lower: reads the lower triangle, for the lower triangular factor.
    overwrite_a: no effect.
    check_finite: no effect.

  Returns:
    `(c, lower)`: the factor, as by `cholesky`, and which triangle it is.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import linalg
  >>> c, lower = linalg.cho_factor(gnp.array([[4.0, 2.0], [2.0, 5.0]]))
  >>> linalg.cho_solve((c, lower), gnp.array([6.0, 7.0])).tolist()
  [1.0, 1.0]

  Raises:
    ValueError: `a` has no square matrices.
    TypeError: `a` is no array, or of half precision.
  """
  return _cho_factor(a, lower, overwrite_a, check_finite), lower


@compiled(static=("permute_l", "overwrite_a", "check_finite"))
def lu(a: Any, permute_l: bool = False, overwrite_a: bool = False,
       check_finite: bool = True) -> Any:
  """Triangular factors with exchanged rows: `a = p l u`.

  Args:
    a: an array of shape `(..., m, n)`.
    permute_l: gives `p l` instead of `p` and `l`.
    overwrite_a: no effect.
    check_finite: no effect.

  Returns:
    `(p, l, u)`: permutation matrices of shape `(..., m, m)`, lower triangular ones with
    ones on the diagonal, `(..., m, k)`, and upper triangular ones, `(..., k, n)`, with k
    the least of m and n; `(p l, u)` if `permute_l`.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import linalg
  >>> p, l, u = linalg.lu(gnp.array([[1.0, 2.0], [4.0, 4.0]]))
  >>> p.tolist(), l.tolist(), u.tolist()
  ([[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.25, 1.0]], [[4.0, 4.0], [0.0, 1.0]])

  Raises:
    ValueError: `a` has less than two axes.
    TypeError: `a` is no array, or of half precision.
  """
  del overwrite_a, check_finite
  x = one_matrix("lu", a)
  packed, _, permutation = lax.linalg.lu(x)
  m, n = x.shape[-2:]
  k = min(m, n)
  low = gnp.tril(packed[..., :k], -1)
  low = low + _matrix.eye(low.shape, low.dtype)
  up = gnp.triu(packed[..., :k, :])
  if permute_l:
    return _order.take_rows(low, _order.inverse_order(permutation)), up
  shape = (*x.shape[:-2], m, m)
  places = lax.broadcasted_iota(permutation.dtype, shape, len(shape) - 2)
  chosen = permutation[..., None, :] == places
  return chosen.astype(_matrix.real_dtype(x.dtype)), low, up


@compiled(static=("overwrite_a", "check_finite"))
def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
  """Triangular factors with exchanged rows, for `lu_solve`.

  Args:
    a: an array of shape `(..., m, n)`.
    overwrite_a: no effect.
    check_finite: no effect.

  Returns:
    `(lu, piv)`: both factors in one array, the ones on the diagonal of the lower one left
    out; and int32 of shape `(..., min(m, n))`: row i was exchanged with row `piv[i]`.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import linalg
  >>> factors = linalg.lu_factor(gnp.array([[1.0, 2.0], [4.0, 4.0]]))
  >>> linalg.lu_solve(factors, gnp.array([3.0, 8.0])).tolist()
  [1.0, 1.0]

  Raises:
    ValueError: `a` has less than two axes.
    TypeError: `a` is no array, or of half precision.
  """
  del overwrite_a, check_finite
  packed, pivots, _ = lax.linalg.lu(one_matrix("lu_factor", a))
  return packed, pivots


@compiled(static=("overwrite_a", "lwork", "mode", "pivoting", "check_finite"))
def qr(a: Any, overwrite_a: bool = False, lwork: Any = None, mode: str = "full",
       pivoting: bool = False, check_finite: bool = True) -> Any:
  """Decomposes matrices: `a = q r`, `q` with orthonormal columns, `r` upper triangular.

  Args:
    a: an array of shape `(..., m, n)`.
    overwrite_a: no effect.
    lwork: no effect.
    mode: 'full', for square `q`; 'economic', for `min(m, n)` columns of `q` and rows of
      `r`; 'r', for `r` alone, as of 'full'.
    pivoting: reorders columns, so that the diagonal of `r` does not increase in modulus:
      `a[:, p] = q r`.
    check_finite: no effect.

  Returns:
    `(q, r)` or, with pivoting, `(q, r, p)`, with `p` int32 of shape `(..., n)`; for the
    mode 'r' the same without `q`.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import linalg
  >>> r, = linalg.qr(gnp.array([[3.0, 5.0], [4.0, 5.0]]), mode="r")
  >>> abs(r).round(4).tolist()
  [[5.0, 7.0], [0.0, 1.0]]

  Raises:
    ValueError: `a` has less than two axes, or the mode does not exist.
    TypeError: `a` is no array, or of half precision.
  """
  del overwrite_a, lwork, check_finite
  if mode not in ("full", "r", "economic"):
    raise ValueError(
        "linalg.qr: unsupported QR decomposition mode: expected 'full', 'economic' or "
        f"'r', got {mode!r}")
  q, *rest = lax.linalg.qr(
      one_matrix("qr", a), pivoting=pivoting, full_matrices=mode != "economic")
  return tuple(rest) if mode == "r" else (q, *rest)


@compiled(static=("mode", "pivoting", "conjugate", "overwrite_a", "overwrite_c"))
def qr_multiply(a: Any, c: Any, mode: str = "right", pivoting: bool = False,
                conjugate: bool = False, overwrite_a: bool = False,
                overwrite_c: bool = False) -> Any:
  """The product of an array with the factor `q` of `a = q r`.

  Args:
    a: an array of shape `(..., m, n)`; k is the least of m and n.
    c: an array, of shape `(..., k, l)` for the mode 'left', or else `(..., l, m)`; or a
      vector, for one column or row.
    mode: 'left', for `q c`; 'right', for `c q`.
    pivoting: reorders columns of `a`, see `qr`.
    conjugate: multiplies by the conjugate of `q`.
    overwrite_a: no effect.
    overwrite_c: no effect.

  Returns:
    `(cq, r)` or, with pivoting, `(cq, r, p)`: the product, for the `q` of k columns, and
    the other factor.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import linalg
  >>> a = gnp.array([[3.0, 5.0], [4.0, 5.0]])
  >>> qc, r = linalg.qr_multiply(a, gnp.array([3.0, 4.0]))
  >>> abs(qc).round(4).tolist()
  [5.0, 0.0]

  Raises:
    ValueError: the shapes do not fit, or the mode does not exist.
    TypeError: an argument is no array, or of half precision.
  """
  del overwrite_a, overwrite_c
  name = "qr_multiply"
  if mode not in ("left", "right"):
    raise ValueError(f"linalg.{name}: mode must be 'left' or 'right', got {mode!r}")
  x, c = arrays(name, a, c)
  _matrix.check_matrices(f"linalg.{name}", typeof(x), argument="a")
  m, k = x.shape[-2], min(x.shape[-2:])
  wanted = k if mode == "left" else m
  if not c.ndim or c.shape[max(c.ndim - 2, 0) if mode == "left" else -1] != wanted:
    shape = f"(..., {k}, l)" if mode == "left" else f"(..., l, {m})"
    raise ValueError(
        f"linalg.{name}: for an a of shape {x.shape} and mode={mode!r}, c must be a "
        f"vector of {wanted} elements, or have the shape {shape}, got {c.shape}")
  q, *rest = lax.linalg.qr(x, pivoting=pivoting, full_matrices=False)
  if conjugate:
    q = gnp.conj(q)
  both = (q, c) if mode == "left" else (c, q)
  return gnp.matmul(*both, precision="highest"), *rest


@compiled(static=(
    "full_matrices", "compute_uv", "overwrite_a", "check_finite", "lapack_driver"))
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True,
        overwrite_a: bool = False, check_finite: bool = True,
        lapack_driver: str = "gesdd") -> Any:
  """Decomposes matrices: `a = u diag(s) vh`, by singular values and vectors.

  See `gnomon.numpy.linalg.svd` for the derivative.

  Args:
    a: an array of shape `(..., m, n)`.
    full_matrices: makes `u` and `vh` square; otherwise they have `min(m, n)` columns and
      rows.
    compute_uv: gives `u` and `vh` too.
    overwrite_a: no effect.
    check_finite: no effect.
    lapack_driver: no effect.

  Returns:
    `(u, s, vh)`, or `s` alone: the singular values, from the largest.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import linalg
  >>> u, s, vh = linalg.svd(gnp.array([[0.0, 2.0], [3.0, 0.0]]))
  >>> s.tolist()
  [3.0, 2.0]

  Raises:
    ValueError: `a` has less than two axes.
    TypeError: `a` is no array, or of half precision.
  """
  del overwrite_a, check_finite, lapack_driver
  x = one_matrix("svd", a)
  if not compute_uv:
    return lax.linalg.svd(x, full_matrices=full_matrices, compute_uv=False)
  return tuple(lax.linalg.svd(x, full_matrices=full_matrices, compute_uv=True))


@compiled(static=(
    "lower", "eigvals_only", "overwrite_a", "overwrite_b", "turbo", "eigvals", "type",
    "check_finite"))
def eigh(
    a: Any, b: Any = None, lower: bool = True, eigvals_only: bool = False,
    overwrite_a: bool = False, overwrite_b: bool = False, turbo: bool = True,
    eigvals: tuple[int, int] | None = None, type: int = 1,
    check_finite: bool = True) -> Any:
  """Eigenvalues and eigenvectors of Hermitian matrices.

  See `gnomon.numpy.linalg.eigh` for the derivative.

  Args:
    a: an array of shape `(..., n, n)`, of which one triangle is read.
    b: None, or Hermitian, positive definite matrices for the generalised problem.
    lower: reads the lower triangle, otherwise the upper one.
    eigvals_only: gives the eigenvalues alone.
    overwrite_a: no effect.
    overwrite_b: no effect.
    turbo: no effect.
    eigvals: `(first, last)`, the eigenvalues to give, both included, counted from the
      least one; None for all.
    type: which problem: 1 for `a v = b v diag(w)`, 2 for `a b v = v diag(w)`, 3 for
      `b a v = v diag(w)`.
    check_finite: no effect.

  Returns:
    `(w, v)` or `w`: eigenvalues, real, from the least one, of shape `(..., n)`; and
    eigenvectors, the columns of `v`: of length 1, or, with `b`, with `v^H b v` the
    identity, `v^H b^-1 v` for type 3.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import linalg
  >>> w, v = linalg.eigh(gnp.array([[2.0, 1.0], [1.0, 2.0]]))
  >>> w.round(4).tolist()
  [1.0, 3.0]

  Raises:
    ValueError: `a` has no square matrices; eigvals is no range, or the type does not
      exist.
    TypeError: an argument is no array, or of half precision.
  """
  del overwrite_a, overwrite_b, turbo, check_finite
  if type not in (1, 2, 3):
    raise ValueError(f"linalg.eigh: type must be 1, 2 or 3, got {type!r}")
  subset = None if eigvals is None else (eigvals[0], eigvals[1] + 1)
  back = None
  if b is None:
    (x,) = matrices("eigh", a=a)
    x = from_triangle(x, lower)
  else:
    x, y = matrices("eigh", a=a, b=b)
    x, back = _standard(x, y, lower, type)
  v, w = lax.linalg.eigh(x, subset_by_index=subset)
  if eigvals_only:
    return w
  return w, v if back is None else back(v)


def _standard(a: Any, b: Any, lower: bool, kind: int) -> tuple[Any, Any]:
  """A matrix with the eigenvalues of a pair, and what makes its vectors the pair's.

  By the factor l of b: l^-1 a l^-H for the type 1, l^H a l for the others.
  """
  factor = lax.linalg.cholesky(b if lower else _matrix.adjoint(b), symmetrize_input=False)
  a, factor = stacked(from_triangle(a, lower), factor)

  def divided(x: Any, adjoint: bool, left: bool = True) -> Any:
    return lax.linalg.triangular_solve(
        factor, x, left_side=left, lower=True, transpose_a=adjoint, conjugate_a=adjoint)

  if kind == 1:
    x = divided(divided(a, adjoint=False), adjoint=True, left=False)
  else:
    x = _matrix.mm(_matrix.adjoint(factor), _matrix.mm(a, factor))
  if kind == 3:
    return x, lambda v: _matrix.mm(factor, v)
  return x, lambda v: divided(v, adjoint=True)


def from_triangle(a: Any, lower: bool, conjugated: bool = True) -> Any:
  """Hermitian matrices of one triangle of theirs; symmetric ones if not conjugated.

  The derivative is that of matrices which are Hermitian anyway.
  """
  @custom_jvp
  def whole(a: Any) -> Any:
    strict = gnp.tril(a, -1) if lower else gnp.triu(a, 1)
    other = _matrix.adjoint(strict) if conjugated else _matrix.flip(strict)
    diagonal = gnp.real(a).astype(a.dtype) if conjugated else a
    return strict + other + _matrix.masked(
        _matrix.eye_mask(*a.shape[-2:]), diagonal)

  whole.defjvp(lambda primals, tangents: (whole(*primals), tangents[0]))
  return whole(a)
