"""Decompositions of matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

from gnomon import lax
from gnomon.core.structural import select_n
from gnomon.core.types import typeof
from gnomon.lax.linalg import _matrix, _order
from gnomon.numpy._compiled import compiled
from gnomon.numpy.linalg._arguments import one_matrix


class EigResult(NamedTuple):
  """Eigenvalues and eigenvectors of a matrix."""

  eigenvalues: Any
  eigenvectors: Any


class EighResult(NamedTuple):
  """Eigenvalues and eigenvectors of a Hermitian matrix."""

  eigenvalues: Any
  eigenvectors: Any


class QRResult(NamedTuple):
  """A matrix as the product of an orthogonal and a triangular one."""

  Q: Any
  R: Any


class SVDResult(NamedTuple):
  """Singular vectors and values of a matrix."""

  U: Any
  S: Any
  Vh: Any


@compiled(static=("upper", "symmetrize_input"))
def cholesky(a: Any, *, upper: bool = False, symmetrize_input: bool = True) -> Any:
  """Cholesky's decomposition: the lower triangular `l` with `l l^H = a`.

  Args:
    a: an array of shape `(..., n, n)`: Hermitian, positive definite matrices.
    upper: gives the upper triangular `u` with `u^H u = a` instead.
    symmetrize_input: first takes the mean of `a` and its conjugate transpose; otherwise
      one triangle is read, the lower one, or the upper one if `upper`.

  Returns:
    An array of the shape of `a`; nan for a matrix that is not positive definite.

  >>> import gnomon.numpy as gnp
  >>> gnp.linalg.cholesky(gnp.array([[4.0, 2.0], [2.0, 5.0]])).tolist()
  [[2.0, 0.0], [1.0, 2.0]]

  Raises:
    ValueError: `a` has no square matrices.
    TypeError: `a` is no array, or of half precision.
  """
  x = one_matrix("cholesky", a, square=True)
  if upper and not symmetrize_input:
    x = _matrix.adjoint(x)
  out = lax.linalg.cholesky(x, symmetrize_input=symmetrize_input)
  return _matrix.adjoint(out) if upper else out


@compiled(static=("mode",))
def qr(a: Any, mode: str = "reduced") -> Any:
  """Decomposes matrices: `a = q r`, `q` with orthonormal columns, `r` upper triangular.

  Args:
    a: an array of shape `(..., m, n)`.
    mode: 'reduced', for `min(m, n)` columns of `q` and rows of `r` (also 'full', as NumPy
      once called it); 'complete', for square `q`; 'r', for `r` alone, reduced; 'raw', for
      what LAPACK computes: the transposed array with the vectors of reflections, and
        their factors.

  Returns:
    `QRResult(Q, R)`, or an array for the mode 'r'.

  >>> import gnomon.numpy as gnp
  >>> q, r = gnp.linalg.qr(gnp.array([[3.0, 5.0], [4.0, 5.0]]))
  >>> gnp.round(abs(r), 4).tolist()
  [[5.0, 7.0], [0.0, 1.0]]

  Raises:
    ValueError: `a` has less than two axes, or the mode does not exist.
    TypeError: `a` is no array, or of half precision.
  """
  x = one_matrix("qr", a)
  if mode == "raw":
    packed, taus = lax.linalg.geqrf_p.apply(x)
    return QRResult(_matrix.flip(packed), taus)
  if mode not in ("reduced", "full", "complete", "r"):
    raise ValueError(
        f"linalg.qr: unknown mode {mode!r}; expected 'reduced', 'complete', 'r' or 'raw'")
  q, r = lax.linalg.qr(x, full_matrices=mode == "complete")
  return r if mode == "r" else QRResult(q, r)


@compiled(static=("full_matrices", "compute_uv", "hermitian", "subset_by_index"))
def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False,
    subset_by_index: tuple[int, int] | None = None) -> Any:
  """Decomposes matrices: `a = u diag(s) vh`, by singular values and vectors.

  The derivative of singular vectors does not exist where a singular value occurs several
  times. Functions that do not depend on their choice have the right one also there: see
  `lax.linalg.svd`.

  Args:
    a: an array of shape `(..., m, n)`.
    full_matrices: makes `u` and `vh` square; otherwise they have `min(m, n)` columns and
      rows.
    compute_uv: gives `u` and `vh` too.
    hermitian: says that `a` is Hermitian, which is faster.
    subset_by_index: the range `(first, end)` of singular values to give, counted from the
      largest one; needs `full_matrices=False`. None for all of them.

  Returns:
    `SVDResult(U, S, Vh)`, or the singular values alone; these are sorted, from the
    largest.

  >>> import gnomon.numpy as gnp
  >>> u, s, vh = gnp.linalg.svd(gnp.array([[0.0, 2.0], [3.0, 0.0]]))
  >>> s.tolist()
  [3.0, 2.0]

  Raises:
    ValueError: `a` has less than two axes, or no square matrices if `hermitian`; subset
      is no range, or is to have full matrices.
    TypeError: `a` is no array, or of half precision.
  """
  x = one_matrix("svd", a, square=hermitian)
  if hermitian and subset_by_index is None:
    return _hermitian_svd(x, compute_uv)
  out = lax.linalg.svd(
      x, full_matrices=full_matrices, compute_uv=compute_uv,
      subset_by_index=subset_by_index)
  return SVDResult(*out) if compute_uv else out


def _hermitian_svd(x: Any, compute_uv: bool) -> Any:
  """Singular values are the moduli of eigenvalues."""
  v, w = lax.linalg.eigh(x)
  last = typeof(w).ndim - 1
  # The order has no derivative; the values follow their vectors.
  size = lax.abs(w)
  keys = lax.neg(lax.stop_gradient(size))
  places = lax.broadcasted_iota("int32", typeof(w).shape, last)
  _, order = lax.sort((keys, places), dimension=last, num_keys=1)
  s = _elements(size, order)
  if not compute_uv:
    return s
  u = _order.take_columns(v, order)
  signs = _elements(lax.sign(w), order)
  signs = select_n(lax.eq(signs, lax.full_like(signs, 0)), signs, lax.full_like(signs, 1))
  vh = lax.mul(_matrix.adjoint(u), _matrix.cast(_matrix.rows(signs, u), u))
  return SVDResult(u, s, vh)


def _elements(v: Any, order: Any) -> Any:
  """The elements of vectors in another order."""
  n = typeof(v).ndim
  return lax.squeeze(_order.take_rows(lax.expand_dims(v, (n,)), order), (n,))


@compiled()
def svdvals(x: Any, /) -> Any:
  """Singular values of matrices, sorted from the largest.

  Args:
    x: an array of shape `(..., m, n)`.

  >>> import gnomon.numpy as gnp
  >>> gnp.linalg.svdvals(gnp.array([[0.0, 2.0], [3.0, 0.0]])).tolist()
  [3.0, 2.0]

  Raises:
    ValueError: `x` has less than two axes.
    TypeError: `x` is no array, or of half precision.
  """
  x = one_matrix("svdvals", x)
  return lax.linalg.svd(x, full_matrices=False, compute_uv=False)


@compiled()
def eig(a: Any) -> EigResult:
  """Eigenvalues and eigenvectors of square matrices: `a v = v diag(w)`.

  Args:
    a: an array of shape `(..., n, n)`.

  Returns:
    `EigResult(eigenvalues, eigenvectors)`, complex, of shapes `(..., n)` and `(..., n,
    n)`; eigenvectors are columns of length 1. They have no derivative, see
    `lax.linalg.eig`.

  >>> import gnomon.numpy as gnp
  >>> w, v = gnp.linalg.eig(gnp.array([[0.0, 1.0], [-1.0, 0.0]]))
  >>> w.tolist()
  [1j, -1j]

  Raises:
    ValueError: `a` has no square matrices.
    TypeError: `a` is no array, or of half precision.
  """
  w, v = lax.linalg.eig(
      one_matrix("eig", a, square=True), compute_left_eigenvectors=False)
  return EigResult(w, v)


@compiled()
def eigvals(a: Any) -> Any:
  """Eigenvalues of square matrices, as complex numbers in no certain order.

  Args:
    a: an array of shape `(..., n, n)`.

  >>> import gnomon.numpy as gnp
  >>> gnp.linalg.eigvals(gnp.array([[0.0, 1.0], [-1.0, 0.0]])).tolist()
  [1j, -1j]

  Raises:
    ValueError: `a` has no square matrices.
    TypeError: `a` is no array, or of half precision.
  """
  return lax.linalg.eig(
      one_matrix("eigvals", a, square=True), compute_left_eigenvectors=False,
      compute_right_eigenvectors=False)[0]


def _lower(name: str, UPLO: str | None) -> bool:
  if UPLO not in (None, "L", "U"):
    raise ValueError(f"linalg.{name}: UPLO must be 'L', 'U' or None, got {UPLO!r}")
  return UPLO != "U"


@compiled(static=("UPLO", "symmetrize_input"))
def eigh(a: Any, UPLO: str | None = None, symmetrize_input: bool = True) -> EighResult:
  """Eigenvalues and eigenvectors of Hermitian matrices: `a v = v diag(w)`.

  The derivative of eigenvectors does not exist where an eigenvalue occurs several times.
  Functions that do not depend on their choice, as `(v * f(w)) @ v.T`, have the right one
  also there: see `lax.linalg.eigh`.

  Args:
    a: an array of shape `(..., n, n)`.
    UPLO: 'L' or 'U', the triangle that is read if the input is not symmetrised.
    symmetrize_input: first takes the mean of `a` and its conjugate transpose.

  Returns:
    `EighResult(eigenvalues, eigenvectors)`: real numbers, from the least one, of shape
    `(..., n)`, and columns of length 1.

  >>> import gnomon.numpy as gnp
  >>> w, v = gnp.linalg.eigh(gnp.array([[2.0, 1.0], [1.0, 2.0]]))
  >>> gnp.round(w, 4).tolist()
  [1.0, 3.0]

  Raises:
    ValueError: `a` has no square matrices; UPLO is something else.
    TypeError: `a` is no array, or of half precision.
  """
  lower = _lower("eigh", UPLO)
  v, w = lax.linalg.eigh(
      one_matrix("eigh", a, square=True), lower=lower, symmetrize_input=symmetrize_input)
  return EighResult(w, v)


@compiled(static=("UPLO", "symmetrize_input"))
def eigvalsh(a: Any, UPLO: str | None = "L", *, symmetrize_input: bool = True) -> Any:
  """Eigenvalues of Hermitian matrices, from the least one.

  Args:
    a: an array of shape `(..., n, n)`.
    UPLO: 'L' or 'U', the triangle that is read if the input is not symmetrised.
    symmetrize_input: first takes the mean of `a` and its conjugate transpose.

  >>> import gnomon.numpy as gnp
  >>> gnp.round(gnp.linalg.eigvalsh(gnp.array([[2.0, 1.0], [1.0, 2.0]])), 4).tolist()
  [1.0, 3.0]

  Raises:
    ValueError: `a` has no square matrices; UPLO is something else.
    TypeError: `a` is no array, or of half precision.
  """
  lower = _lower("eigvalsh", UPLO)
  return lax.linalg.eigh(
      one_matrix("eigvalsh", a, square=True), lower=lower,
      symmetrize_input=symmetrize_input)[1]
