"""Linear algebra: derivatives to order 2 by differences, at repeated values, vmap."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.lax.linalg._matrix import adjoint, mm
from gnomon.testing import check_grads, check_vmap

L = lax.linalg
R = np.random.default_rng(11)


@pytest.fixture(autouse=True)
def _doubles() -> Iterator[None]:
  with gnomon.enable_x64(True):
    yield


def numbers(*shape: int, kind: str) -> Any:
  x = R.standard_normal(shape)
  return x + 1j * R.standard_normal(shape) if kind == "complex" else x


def positive(kind: str) -> Any:
  x = numbers(2, 4, 4, kind=kind)
  return x @ np.conj(np.swapaxes(x, 1, 2)) + np.eye(4)


def thin_svd(x: Any) -> Any:
  """What does not depend on the phases of singular vectors."""
  u, s, vh = L.svd(x, full_matrices=False)
  return s, mm(u, vh)


def projections(x: Any) -> Any:
  """On what the singular vectors beyond the thin ones span."""
  m, n = x.shape[-2:]
  k = min(m, n)
  u, _, vh = L.svd(x)
  u = lax.slice_in_dim(u, k, m, axis=u.ndim - 1)
  v = lax.slice_in_dim(vh, k, n, axis=vh.ndim - 2)
  return mm(u, adjoint(u)), mm(adjoint(v), v)


def eigenvectors(x: Any) -> Any:
  v, w = L.eigh(x)
  return lax.abs(v), w


def eigenvalues(x: Any) -> Any:
  return L.eig(x, compute_left_eigenvectors=False, compute_right_eigenvectors=False)


FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "lu": (lambda x: L.lu(x)[0], ((2, 4, 4), (4, 3), (3, 4))),
    "qr": (lambda x: L.qr(x, full_matrices=False), ((2, 4, 4), (4, 3), (3, 4))),
    "qr, pivoting": (lambda x: L.qr(x, pivoting=True, full_matrices=False)[:2],
                     ((2, 4, 4), (4, 3), (3, 4))),
    "singular values": (
        lambda x: L.svd(x, compute_uv=False), ((2, 3, 3), (4, 3), (3, 4))),
    "svd": (thin_svd, ((2, 3, 3), (4, 3), (3, 4))),
    "svd, rest": (projections, ((5, 3), (2, 4))),
    "eigh": (eigenvectors, ((2, 4, 4),)),
    "eigenvalues": (eigenvalues, ((2, 4, 4),)),
}


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_decompositions(name: str, kind: str) -> None:
  f, shapes = FUNCTIONS[name]
  for shape in shapes:
    check_grads(f, (numbers(*shape, kind=kind),), 2)


@pytest.mark.parametrize("kind", ["real", "complex"])
def test_cholesky(kind: str) -> None:
  check_grads(L.cholesky, (positive(kind),), 2)


def test_real_vectors() -> None:
  """Here vectors are determined but for their signs."""
  x = numbers(2, 4, 4, kind="real")
  check_grads(L.eigh, (x,), 2)
  check_grads(L.svd, (x,), 2)
  check_grads(lambda y: L.qr(y)[:2], (numbers(4, 3, kind="real"),), 2)


def test_full_q_spans_the_rest() -> None:
  def rest(x: Any) -> Any:
    q = lax.slice_in_dim(L.qr(x)[0], 2, 4, axis=1)
    return mm(q, adjoint(q))

  for kind in ("real", "complex"):
    check_grads(rest, (numbers(4, 2, kind=kind),), 2)


def test_eigenvectors_of_general_matrices() -> None:
  x = numbers(4, 4, kind="complex")
  f: Any = lambda y: L.eig(y, enable_eigvec_derivs=True)  # noqa: E731
  check_grads(f, (x,), 1)

  def equations(y: Any) -> Any:
    w, vl, vr = f(y)
    right = lax.sub(mm(y, vr), mm(vr, _diagonal(w)))
    return right, lax.sub(mm(adjoint(vl), y), mm(_diagonal(w), adjoint(vl)))

  for out in gnomon.jvp(equations, (x,), (numbers(4, 4, kind="complex"),))[1]:
    np.testing.assert_allclose(out, np.zeros((4, 4)), atol=1e-12)
  with pytest.raises(NotImplementedError, match="enable_eigvec_derivs"):
    gnomon.jvp(L.eig, (x,), (x,))


def _diagonal(w: Any) -> Any:
  return lax.select(
      np.eye(w.shape[0], dtype=bool), lax.broadcast_in_dim(w, (w.shape[0],) * 2, (1,)),
      lax.full((w.shape[0],) * 2, 0, w.dtype))


def test_updates_and_products() -> None:
  r, w = numbers(4, 4, kind="real"), numbers(4, kind="real")
  check_grads(L.cholesky_update, (r, w), 2)
  a, c = numbers(2, 3, 4, kind="real"), numbers(2, 3, 3, kind="real")
  check_grads(lambda a, c: L.symmetric_product(a, c, alpha=2, beta=0.5), (a, c), 2)


def test_repeated_values() -> None:
  """Functions of eigenvalues and singular values alone, and of spanned spaces."""
  eye = np.eye(3)
  total: Any = lambda s: lax.reduce_sum(lax.exp(s), (0,))  # noqa: E731
  g = gnomon.grad(lambda x: total(L.svd(x, compute_uv=False)))(eye)
  np.testing.assert_allclose(g, np.e * eye, atol=1e-12)
  g = gnomon.grad(lambda x: total(L.eigh(x)[1]))(eye)
  np.testing.assert_allclose(g, np.e * eye, atol=1e-12)
  x = np.diag([1.0, 1, 1, 4, 4]) + 0.0

  def projection(x: Any) -> Any:
    v = lax.slice_in_dim(L.eigh(x)[0], 0, 3, axis=1)
    return mm(v, adjoint(v))

  check_grads(projection, (x,), 1)

  def nearest_low_rank(x: Any) -> Any:
    u, s, vh = (lax.slice_in_dim(y, 0, 2, axis=axis) for y, axis in zip(
        L.svd(x, full_matrices=False), (1, 0, 0)))
    return mm(u, mm(_diagonal(s), vh))

  x = np.diag([3.0, 3, 1, 1])[:, :3]
  out, t = gnomon.jvp(nearest_low_rank, (x,), (np.ones((4, 3)),))
  np.testing.assert_allclose(out, np.diag([3.0, 3, 0, 0])[:, :3], atol=1e-12)
  assert np.isfinite(t).all()
  zero = gnomon.jacrev(lambda x: L.svd(x, full_matrices=False))(np.zeros((3, 2)))
  assert all(np.isfinite(y).all() for y in zero)


BATCHED: list[Callable[..., Any]] = [
    L.cholesky, L.lu, L.qr, L.svd, L.eigh, L.eig, L.schur, L.hessenberg, L.tridiagonal,
    lambda x: L.qr(x, pivoting=True), lambda x: L.svd(x, compute_uv=False)]


@pytest.mark.parametrize("case", range(len(BATCHED)))
def test_vmap(case: int) -> None:
  f = BATCHED[case]
  x = positive("real")
  check_vmap(f, (x,))
  check_vmap(gnomon.vmap(f), (np.stack([x, 2 * x], 2),), 2)


def test_vmap_of_others() -> None:
  a, b = positive("real"), numbers(2, 4, 3, kind="real")
  pivots = np.int32([[2, 2, 3], [0, 3, 2]])
  check_vmap(lambda p: L.lu_pivots_to_permutation(p, 5), (pivots,))
  check_vmap(L.cholesky_update, (a, numbers(2, 4, kind="real")), 0)
  check_vmap(L.symmetric_product, (b, a), 0)
  packed, taus = L.geqrf_p.apply(b)
  check_vmap(L.householder_product, (packed, taus), 0)
  check_vmap(L.ormqr, (packed, taus, a), 0)
