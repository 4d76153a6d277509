"""Linear algebra: values by the definitions, dtypes, empty and bad matrices, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax

L = lax.linalg
R = np.random.default_rng(5)
DTYPES = (np.float32, np.complex64)
SHAPES = ((5, 5), (5, 3), (3, 5), (2, 4, 3), (1, 2, 3, 3))


def numbers(shape: tuple[int, ...], dtype: Any) -> Any:
  x = R.standard_normal(shape)
  if np.dtype(dtype).kind == "c":
    x = x + 1j * R.standard_normal(shape)
  return x.astype(dtype)


def adjoint(x: Any) -> Any:
  return np.conj(np.swapaxes(x, -1, -2))


def hermitian(shape: tuple[int, ...], dtype: Any) -> Any:
  x = numbers(shape, dtype)
  return (x + adjoint(x)) / 2


def positive(shape: tuple[int, ...], dtype: Any) -> Any:
  x = numbers(shape, dtype)
  return x @ adjoint(x) + np.eye(shape[-1], dtype=dtype)


def run(f: Callable[..., Any], *args: Any) -> list[np.ndarray[Any, Any]]:
  """Results as NumPy arrays; compiled and not, they are the same."""
  eager = [np.asarray(x) for x in gnomon.tree_util.tree_leaves(f(*args))]
  compiled = [np.asarray(x) for x in gnomon.tree_util.tree_leaves(gnomon.jit(f)(*args))]
  for x, y in zip(eager, compiled, strict=True):
    np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-5)
  return eager


def near(x: Any, y: Any) -> None:
  assert np.shape(x) == np.shape(y)
  np.testing.assert_allclose(x, y, rtol=2e-5, atol=2e-5)


def is_unitary(x: Any) -> None:
  n = x.shape[-1]
  near(adjoint(x) @ x, np.broadcast_to(np.eye(n), (*x.shape[:-2], n, n)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_cholesky(dtype: Any) -> None:
  x = positive((2, 4, 4), dtype)
  (low,) = run(L.cholesky, x)
  assert low.dtype == dtype
  near(low, np.linalg.cholesky(x))
  (low,) = run(lambda y: L.cholesky(y, symmetrize_input=False), np.tril(x))
  near(low, np.linalg.cholesky(x))
  near(run(L.cholesky, x + np.triu(np.ones((4, 4), dtype), 1)
           - np.tril(np.ones((4, 4), dtype), -1))[0], np.linalg.cholesky(x))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("left_side", [True, False])
def test_triangular_solve(dtype: Any, left_side: bool) -> None:
  a = numbers((2, 3, 3), dtype) / 3 + 2 * np.eye(3, dtype=dtype)
  b = numbers((2, 3, 4) if left_side else (2, 4, 3), dtype)
  for bits in range(16):
    lower, transpose, conjugate, unit = (bool(bits >> i & 1) for i in range(4))
    op = np.tril(a) if lower else np.triu(a)
    if unit:
      op[:, range(3), range(3)] = 1
    op = np.swapaxes(op, 1, 2) if transpose else op
    op = np.conj(op) if conjugate else op
    x = np.asarray(L.triangular_solve(
        a, b, left_side=left_side, lower=lower, transpose_a=transpose,
        conjugate_a=conjugate, unit_diagonal=unit))
    assert x.dtype == dtype
    near(op @ x if left_side else x @ op, b)
  vectors = b[:, :, 0] if left_side else b[:, 0, :]
  x = np.asarray(L.triangular_solve(a, vectors, left_side=left_side))
  op = np.triu(a) if left_side else np.swapaxes(np.triu(a), 1, 2)
  near((op @ x[..., None])[..., 0], vectors)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_lu(dtype: Any, shape: tuple[int, ...]) -> None:
  x = numbers(shape, dtype)
  packed, pivots, order = run(L.lu, x)
  m, n = shape[-2:]
  k = min(m, n)
  low = np.tril(packed, -1)[..., :k] + np.eye(m, k, dtype=dtype)
  near(low @ np.triu(packed)[..., :k, :], np.take_along_axis(x, order[..., None], -2))
  assert packed.dtype == dtype
  assert pivots.dtype == order.dtype == np.int32
  assert pivots.shape == (*shape[:-2], k)
  assert np.abs(low).max() < 1 + 1e-6 or dtype is np.complex64  # pivots are the largest
  near(run(lambda p: L.lu_pivots_to_permutation(p, m), pivots)[0], order)


def test_pivots_to_permutation() -> None:
  pivots = np.int32([[2, 2, 3], [0, 3, 2]])
  want = [[2, 0, 3, 1, 4], [0, 3, 2, 1, 4]]
  assert L.lu_pivots_to_permutation(pivots, 5).tolist() == want
  assert L.lu_pivots_to_permutation(pivots[0], 5).tolist() == want[0]
  none = np.zeros((2, 0), np.int32)
  assert L.lu_pivots_to_permutation(none, 2).tolist() == [[0, 1]] * 2


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_qr(dtype: Any, shape: tuple[int, ...]) -> None:
  x = numbers(shape, dtype)
  for full in (True, False):
    q, r = run(lambda y, full=full: L.qr(y, full_matrices=full), x)
    near(q @ r, x)
    is_unitary(q)
    near(r, np.triu(r))
    k = shape[-2] if full else min(shape[-2:])
    assert q.shape[-1] == r.shape[-2] == k
    q, r, order = run(lambda y, full=full: L.qr(y, pivoting=True, full_matrices=full), x)
    near(q @ r, np.take_along_axis(x, order[..., None, :], -1))
    sizes = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
    assert (np.diff(sizes) <= 1e-5).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_reflections(dtype: Any) -> None:
  x = numbers((2, 4, 3), dtype)
  packed, taus = (np.asarray(y) for y in L.geqrf_p.apply(x))
  (thin,) = run(L.householder_product, packed, taus)
  q = np.asarray(L.qr(x)[0])
  near(thin, q[..., :3])
  for left in (True, False):
    c = numbers((2, 4, 5) if left else (2, 5, 4), dtype)
    for transpose in (True, False):
      op = adjoint(q) if transpose else q
      near(np.asarray(L.ormqr(packed, taus, c, left=left, transpose=transpose)),
           op @ c if left else c @ op)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_svd(dtype: Any, shape: tuple[int, ...]) -> None:
  x = numbers(shape, dtype)
  k = min(shape[-2:])
  want = np.linalg.svd(x, compute_uv=False)
  for algorithm in (None, L.SvdAlgorithm.QR):
    for full in (True, False):
      u, s, vh = run(
          lambda y, full=full, a=algorithm: L.svd(y, full_matrices=full, algorithm=a), x)
      near((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], x)
      near(s, want)
      is_unitary(u)
      is_unitary(adjoint(vh))
      assert u.dtype == dtype
      assert s.dtype == np.float32
    near(np.asarray(L.svd(x, compute_uv=False, algorithm=algorithm)), want)
  u, s, vh = L.svd(x, full_matrices=False, subset_by_index=(1, 3))
  near(np.asarray(s), want[..., 1:3])
  assert u.shape[-1] == vh.shape[-2] == 2


@pytest.mark.parametrize("dtype", DTYPES)
def test_eigh(dtype: Any) -> None:
  x = numbers((2, 5, 5), dtype)
  mean = (x + adjoint(x)) / 2
  v, w = run(L.eigh, x)
  near(mean @ v, v * w[..., None, :])
  near(w, np.linalg.eigvalsh(mean))
  is_unitary(v)
  assert (v.dtype, w.dtype) == (dtype, np.float32)
  for lower in (True, False):
    w = np.asarray(L.eigh(x, lower=lower, symmetrize_input=False)[1])
    near(w, np.linalg.eigvalsh(x, "L" if lower else "U"))
  v, w = L.eigh(x, subset_by_index=(1, 3))
  near(np.asarray(w), np.linalg.eigvalsh(mean)[:, 1:3])
  assert v.shape == (2, 5, 2)


@pytest.mark.parametrize("dtype", DTYPES)
def test_eig(dtype: Any) -> None:
  x = numbers((2, 4, 4), dtype)
  w, vl, vr = run(L.eig, x)
  near(x @ vr, vr * w[..., None, :])
  near(adjoint(vl) @ x, w[..., None] * adjoint(vl))
  near(np.linalg.norm(vr, axis=-2), np.ones((2, 4)))
  assert w.dtype == vl.dtype == np.complex64
  flags: Any = {"compute_left_eigenvectors": False, "compute_right_eigenvectors": False}
  (alone,) = L.eig(x, **flags)
  near(np.sort_complex(np.asarray(alone)), np.sort_complex(np.linalg.eigvals(x)))
  assert len(L.eig(x, compute_left_eigenvectors=False)) == 2


@pytest.mark.parametrize("dtype", DTYPES)
def test_schur_hessenberg_tridiagonal(dtype: Any) -> None:
  x = numbers((2, 4, 4), dtype)
  t, v = run(L.schur, x)
  near(v @ t @ adjoint(v), x)
  near(np.tril(t, -2), np.zeros_like(t))
  near(np.asarray(L.schur(x, compute_schur_vectors=False)[0]), t)

  def whole(packed: Any, taus: Any) -> Any:
    q = np.zeros_like(x)
    q[:, 0, 0] = 1
    q[:, 1:, 1:] = L.householder_product(packed[:, 1:, :-1], taus)
    return q

  h, taus = run(L.hessenberg, x)
  q = whole(h, taus)
  near(q @ np.triu(h, -1) @ adjoint(q), x)
  s = hermitian((2, 4, 4), dtype)
  packed, d, e, taus = run(L.tridiagonal, s)
  assert d.dtype == e.dtype == np.float32
  q = whole(packed, taus)
  middle = np.zeros_like(s)
  middle[:, range(4), range(4)] = d
  middle[:, range(3), range(1, 4)] = middle[:, range(1, 4), range(3)] = e
  near(q @ middle @ adjoint(q), s)
  shapes = [np.shape(y) for y in L.tridiagonal(s[:, :1, :1])]
  assert shapes == [(2, 1, 1), (2, 1), (2, 0), (2, 0)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_tridiagonal_solve(dtype: Any) -> None:
  dl, d, du = numbers((3, 2, 5), dtype)
  d = d + 4
  b = numbers((2, 5, 3), dtype)
  a = np.zeros((2, 5, 5), dtype)
  a[:, range(5), range(5)] = d
  a[:, range(1, 5), range(4)] = dl[:, 1:]
  a[:, range(4), range(1, 5)] = du[:, :-1]
  for perturb in (False, True):
    (x,) = run(
        lambda *y, p=perturb: L.tridiagonal_solve(*y, perturb_singular=p), dl, d, du, b)
    near(a @ x, b)
  zero = np.zeros((2,), np.float32)
  one = np.ones((2, 1), np.float32)
  assert np.isnan(L.tridiagonal_solve(zero, zero, zero, one)).all()
  x = L.tridiagonal_solve(zero, zero, zero + 1, one, perturb_singular=True)
  assert np.isfinite(x).all()


def test_updates_and_products() -> None:
  r = np.triu(numbers((4, 4), np.float32))
  w = numbers((4,), np.float32)
  (q,) = run(L.cholesky_update, r, w)
  near(q.T @ q, r.T @ r + np.outer(w, w))
  near(q, np.triu(q))
  assert (np.diag(q) > 0).all()
  near(np.asarray(L.cholesky_update(0 * r, 0 * w)), 0 * r)
  big = np.float32([[1e30]])
  assert np.isfinite(L.cholesky_update(big, big[0])).all()
  a, c = numbers((2, 3, 4), np.float32), hermitian((2, 3, 3), np.float32)
  want = 2 * a @ adjoint(a) + 0.5 * c
  (out,) = run(lambda a, c: L.symmetric_product(a, c, alpha=2, beta=0.5), a, c)
  near(np.tril(out), np.tril(want))
  near(np.asarray(L.symmetric_product(
      a, c, alpha=2, beta=0.5, symmetrize_output=True)), want)


def test_doubles() -> None:
  with gnomon.enable_x64(True):
    for dtype in (np.float64, np.complex128):
      x = positive((4, 4), dtype)
      for f in (L.cholesky, L.lu, L.qr, L.svd, L.eigh, L.eig, L.schur):
        outs = gnomon.tree_util.tree_leaves(f(x))
        assert all(o.dtype.itemsize >= 8 or o.dtype == np.int32 for o in outs)
      np.testing.assert_allclose(L.cholesky(x), np.linalg.cholesky(x), rtol=1e-13)


EMPTY = {
    "cholesky": lambda m, n: [(n, n)], "lu": lambda m, n: [(m, n), (0,), (m,)],
    "qr": lambda m, n: [(m, m), (m, n)], "svd": lambda m, n: [(m, m), (0,), (n, n)],
    "eigh": lambda m, n: [(n, n), (n,)], "eig": lambda m, n: [(n,), (n, n), (n, n)],
    "schur": lambda m, n: [(n, n), (n, n)], "hessenberg": lambda m, n: [(n, n), (0,)]}


@pytest.mark.parametrize("name", EMPTY)
def test_empty(name: str) -> None:
  f = getattr(L, name)
  for m, n in ((0, 0), (3, 0), (0, 3)):
    if m != n and name not in ("lu", "qr", "svd"):
      continue
    outs = [np.asarray(x) for x in gnomon.tree_util.tree_leaves(f(np.zeros((m, n), "f")))]
    assert [x.shape for x in outs] == EMPTY[name](m, n)
    for x in outs:
      if x.size and x.ndim == 2:
        near(x, np.eye(3))
  outs = gnomon.tree_util.tree_leaves(f(np.zeros((0, 3, 3), "f")))
  assert all(x.shape[0] == 0 for x in outs)


def test_nan_where_it_fails() -> None:
  x = np.full((2, 3, 3), np.nan, np.float32)
  x[1] = np.eye(3)
  for f in (L.cholesky, L.qr, L.svd, L.eigh, L.eig, L.schur):
    for out in gnomon.tree_util.tree_leaves(f(x)):
      assert np.isnan(np.asarray(out)[0]).any()
      assert np.isfinite(np.asarray(out)[1]).all()
  assert np.isnan(np.diag(np.asarray(L.cholesky(-np.eye(2, dtype="f"))))).all()


SQUARE, WIDE, VECTOR = (np.ones(s, np.float32) for s in ((3, 3), (2, 3), (3,)))
ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: L.cholesky(WIDE), ValueError, "square"),
    (lambda: L.cholesky(VECTOR), ValueError, "square"),
    (lambda: L.lu(VECTOR), ValueError, "matrix"),
    (lambda: L.eigh(np.ones((3, 3), np.int32)), TypeError, "int32"),
    (lambda: L.qr(np.ones((3, 3), np.float16)), NotImplementedError, "Unsupported dtype"),
    (lambda: L.eigh(SQUARE, subset_by_index=(1, 4)), ValueError, "subset_by_index"),
    (lambda: L.svd(SQUARE, subset_by_index=(0, 1)), ValueError, "full_matrices"),
    (lambda: L.svd(SQUARE, algorithm=L.SvdAlgorithm.JACOBI), NotImplementedError, "CPU"),
    (lambda: L.eigh(SQUARE, implementation=L.EighImplementation.QDWH),
     NotImplementedError, "CPU"),
    (lambda: L.eig(SQUARE, implementation=L.EigImplementation.MAGMA), ValueError, "CPU"),
    (lambda: L.schur(SQUARE, sort_eig_vals=True), NotImplementedError, "sort"),
    (lambda: L.triangular_solve(SQUARE, np.ones((2, 3), "f"), left_side=True), ValueError,
     "left_side=True"),
    (lambda: L.triangular_solve(SQUARE, SQUARE.astype(np.complex64)), TypeError, "dtype"),
    (lambda: L.lu_pivots_to_permutation(np.zeros(3, np.float32), 3), TypeError, "dtype"),
    (lambda: L.lu_pivots_to_permutation(np.zeros(3, np.int32), 2), ValueError,
     "permutation_size"),
    (lambda: L.householder_product(WIDE, VECTOR[:2]), ValueError, "columns"),
    (lambda: L.householder_product(SQUARE, np.ones(4, "f")), ValueError, "taus"),
    (lambda: L.ormqr(SQUARE, VECTOR, WIDE), ValueError, "rows"),
    (lambda: L.tridiagonal(np.zeros((0, 0), "f")), ValueError, "empty"),
    (lambda: L.tridiagonal_solve(VECTOR, VECTOR, VECTOR, WIDE), ValueError, "shape"),
    (lambda: L.cholesky_update(SQUARE[None], VECTOR[None]), TypeError, "vmap"),
    (lambda: L.cholesky_update(SQUARE, VECTOR[:2]), ValueError, "size"),
    (lambda: L.symmetric_product(WIDE, SQUARE), ValueError, "c_matrix"),
]


@pytest.mark.parametrize("case", range(len(ERRORS)))
def test_errors(case: int) -> None:
  call, error, text = ERRORS[case]
  with pytest.raises(error, match=text):
    call()
