"""`numpy.linalg`: values against NumPy, derivatives, vmap, empty matrices, errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp
from gnomon.testing import check_grads, check_vmap

N = gnp.linalg
R = np.random.default_rng(2)
KINDS = ("real", "complex")


@pytest.fixture(autouse=True)
def _doubles() -> Iterator[None]:
  with gnomon.enable_x64(True):
    yield


def numbers(*shape: int, kind: str) -> Any:
  x = R.standard_normal(shape)
  return x + 1j * R.standard_normal(shape) if kind == "complex" else x


def adjoint(x: Any) -> Any:
  return np.conj(np.swapaxes(x, -1, -2))


def near(got: Any, want: Any) -> None:
  assert np.shape(got) == np.shape(want)
  np.testing.assert_allclose(np.asarray(got), want, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_systems(kind: str) -> None:
  a = numbers(2, 4, 4, kind=kind) + 2 * np.eye(4)
  b = numbers(2, 4, 3, kind=kind)
  for args in ((a, b), (a[0], b), (a, b[0]), (a, b[0, :, 0]), (a[0], b[0, :, 0])):
    near(N.solve(*args), np.linalg.solve(*args))
  check_grads(N.solve, (a, b[0]), 1)
  check_grads(N.solve, (a[0], b[0, :, 0]), 1)
  near(N.inv(a), np.linalg.inv(a))
  check_grads(N.inv, (a,), 1)
  for n in (-3, -1, 0, 1, 2, 5):
    near(N.matrix_power(a, n), np.linalg.matrix_power(a, n))
  t, y = numbers(6, 4, 2, 3, 4, kind=kind), numbers(6, 4, kind=kind)
  near(N.tensorsolve(t, y), np.linalg.tensorsolve(t, y))
  t = np.moveaxis(t, 2, 0)
  near(N.tensorsolve(t, y, axes=(0,)), np.linalg.tensorsolve(t, y, axes=(0,)))
  t = numbers(6, 4, 2, 3, 4, kind=kind)
  near(N.tensorinv(t), np.linalg.tensorinv(t))
  check_vmap(N.solve, (a, b))
  check_vmap(N.solve, (a[0], b), (None, 0))
  check_vmap(N.solve, (a, b[:, :, 0]))
  check_vmap(N.inv, (a,))


@pytest.mark.parametrize("kind", KINDS)
def test_least_squares_and_pseudo_inverses(kind: str) -> None:
  tall, v = numbers(5, 3, kind=kind), numbers(5, kind=kind)
  low = tall @ adjoint(tall)
  for a, b in ((tall, v), (tall, numbers(5, 2, kind=kind)), (adjoint(tall), v[:3]),
               (low, v)):
    got = N.lstsq(a, b, numpy_resid=True)
    want = np.linalg.lstsq(a, b, rcond=None)
    for g, w in zip(got, want, strict=True):
      near(g, w)
  check_grads(lambda a, b: N.lstsq(a, b)[:2], (tall, v), 1)
  for a in (tall, adjoint(tall), np.stack([tall, 2 * tall])):
    near(N.pinv(a), np.linalg.pinv(a))
  check_grads(N.pinv, (tall,), 1)
  near(N.pinv(low), np.linalg.pinv(low))
  near(N.pinv(low, hermitian=True), np.linalg.pinv(low))
  near(N.pinv(np.diag([1.0, 0.5]), rtol=0.6), np.diag([1.0, 0.0]))
  near(N.pinv(np.diag([1.0, 0.5]), rcond=0.6), np.diag([1.0, 0.0]))
  check_vmap(N.pinv, (np.stack([tall, tall]), np.array([0.1, 0.9])))
  assert N.matrix_rank(low).item() == N.matrix_rank(low, hermitian=True).item() == 3


def test_ranks() -> None:
  a = np.diag([10.0, 5.0])
  assert [N.matrix_rank(a, rtol=r).item() for r in (0.1, 0.6)] == [2, 1]
  assert [N.matrix_rank(a, tol=t).item() for t in (0.6, 6.0)] == [2, 1]
  assert N.matrix_rank(np.stack([a, a]), rtol=np.array([0.1, 0.6])).tolist() == [2, 1]
  assert [N.matrix_rank(x).item() for x in (3.0, np.zeros(3), np.ones(3))] == [1, 0, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_condition_numbers(kind: str) -> None:
  x = numbers(2, 3, 3, kind=kind)
  for p in (None, 1, 2, -2, -1, np.inf, -np.inf, "fro"):
    near(N.cond(x, p), np.linalg.cond(x, p))
  check_grads(lambda y: (N.cond(y), N.cond(y, 1)), (x,), 1)
  assert float(N.cond(np.zeros((2, 2)))) == np.inf
  assert np.isnan(N.cond(np.full((2, 2), np.nan)))


@pytest.mark.parametrize("kind", KINDS)
def test_decompositions(kind: str) -> None:
  x = numbers(2, 4, 4, kind=kind)
  s = x @ adjoint(x) + np.eye(4)
  low = np.linalg.cholesky(s)
  near(N.cholesky(s), low)
  near(N.cholesky(s, upper=True), adjoint(low))
  near(N.cholesky(np.tril(s), symmetrize_input=False), low)
  near(N.cholesky(np.triu(s), upper=True, symmetrize_input=False), adjoint(low))
  mean = (x + adjoint(x)) / 2
  for h in (s, mean):
    u, values, vh = N.svd(h, hermitian=True)
    near((np.asarray(u) * np.asarray(values)[:, None, :]) @ np.asarray(vh), h)
    near(values, np.linalg.svd(h, compute_uv=False))
    near(N.svdvals(h), values)
    w, v = N.eigh(h)
    near(h @ np.asarray(v), np.asarray(v) * np.asarray(w)[:, None, :])
  for lower in "LU":
    near(N.eigvalsh(x, lower, symmetrize_input=False), np.linalg.eigvalsh(x, lower))
  near(N.eigvalsh(x), np.linalg.eigvalsh(mean))
  w, v = N.eig(x)
  near(x @ np.asarray(v), np.asarray(v) * np.asarray(w)[:, None, :])
  near(np.sort_complex(np.asarray(N.eigvals(x))), np.sort_complex(np.linalg.eigvals(x)))
  check_grads(N.eigvals, (x,), 2)
  a = numbers(2, 5, 3, kind=kind)
  for mode, k in (("reduced", 3), ("complete", 5)):
    q, r = N.qr(a, mode)
    near(np.asarray(q) @ np.asarray(r), a)
    assert q.shape == (2, 5, k)
  near(abs(N.qr(a, "r")), np.abs(np.linalg.qr(a, "r")))
  assert [y.shape for y in N.qr(a, "raw")] == [(2, 3, 5), (2, 3)]
  some = N.svd(a, full_matrices=False, compute_uv=False, subset_by_index=(0, 2))
  assert some.shape == (2, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_products(kind: str) -> None:
  a, b, c, d = (numbers(*s, kind=kind) for s in ((3,), (3, 4), (4, 2), (2,)))
  near(N.multi_dot([a, b, c, d]), np.linalg.multi_dot([a, b, c, d]))
  near(N.multi_dot([b, c]), b @ c)
  near(N.matmul(b, c), b @ c)
  near(N.outer(a, d), np.outer(a, d))
  near(N.vecdot(b, b[0], axis=-1), np.linalg.vecdot(b, b[0]))
  near(N.tensordot(b, c, axes=1), b @ c)
  near(N.cross(b[:, :1].T, a), np.cross(b[:, :1].T, a))
  near(N.diagonal(b, offset=1), np.diagonal(b, 1))
  near(N.trace(b, offset=-1), np.trace(b, -1))
  near(N.matrix_transpose(b), b.T)


def test_dtypes() -> None:
  with gnomon.enable_x64(False):
    for given, want in (("int32", "float32"), ("bool", "float32"), ("float32", "float32"),
                        ("complex64", "complex64")):
      x = np.eye(3).astype(given)
      for f in (N.inv, N.det, N.pinv, N.cholesky, lambda y: N.solve(y, y)):
        out = f(x)
        assert out.dtype == want
        assert not out.weak_type
      for f in (N.norm, N.cond, N.svdvals, N.eigvalsh):
        assert f(x).dtype == "float32"
      assert N.eigvals(x).dtype == "complex64"
      assert N.matrix_rank(x).dtype == "int32"
    assert N.matrix_power(np.eye(2, dtype=int), 2).dtype == "int32"
    assert N.norm(gnp.ones(3, "float16")).dtype == "float16"


def test_empty() -> None:
  for shape in ((0, 0), (2, 0, 0), (0, 3, 3)):
    x = np.zeros(shape)
    for name in ("det", "inv", "pinv", "cholesky", "eigvalsh", "svdvals"):
      near(getattr(N, name)(x), getattr(np.linalg, name)(x))
    assert N.matrix_rank(x).shape == shape[:-2]
    near(N.slogdet(x)[1], np.linalg.slogdet(x)[1])
  near(N.solve(np.zeros((0, 0)), np.zeros(0)), np.zeros(0))
  empty = N.lstsq(np.zeros((3, 0)), np.zeros(3))
  assert [y.shape for y in empty] == [(0,), (1,), (), (0,)]
  near(N.norm(np.zeros(0)), 0.0)
  near(N.norm(np.zeros((0, 3)), 1), 0.0)


def test_traced_without_calls() -> None:
  names = [str(e.primitive) for e in gnomon.make_jaxpr(N.eigh)(np.eye(3)).eqns]
  assert names == ["transpose", "add", "div", "eigh"]
  names = [str(e.primitive) for e in gnomon.make_jaxpr(N.norm)(np.ones(3)).eqns]
  assert names == ["custom_jvp_call"]


SQUARE, WIDE, VECTOR = np.ones((3, 3)), np.ones((2, 3)), np.ones(3)
ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: N.det(WIDE), ValueError, "square"),
    (lambda: N.inv(VECTOR), ValueError, "square"),
    (lambda: N.inv([[1.0]]), TypeError, "list"),
    (lambda: N.qr(gnp.ones((2, 2), "float16")), NotImplementedError, "Unsupported dtype"),
    (lambda: N.qr(SQUARE, "big"), ValueError, "mode 'big'"),
    (lambda: N.eigh(SQUARE, "X"), ValueError, "UPLO"),
    (lambda: N.slogdet(SQUARE, method="x"), ValueError, "method 'x'"),
    (lambda: N.solve(SQUARE, np.ones(2)), ValueError, r"\(2,\)"),
    (lambda: N.solve(SQUARE[None], WIDE), ValueError, r"b\[\.\.\., None\]"),
    (lambda: N.norm(SQUARE[None], 2), ValueError, "number of axes"),
    (lambda: N.norm(VECTOR, "fro"), ValueError, "Invalid order 'fro' for vector norm"),
    (lambda: N.norm(SQUARE, 3), ValueError, "Invalid order 3 for matrix norm"),
    (lambda: N.norm(SQUARE, axis=(1, 1)), ValueError, "duplicate"),
    (lambda: N.norm(np.zeros(0), -np.inf), ValueError, "no elements"),
    (lambda: N.pinv(SQUARE, 1.0, rcond=1.0), ValueError, "rcond"),
    (lambda: N.matrix_rank(SQUARE, 1.0, tol=1.0), ValueError, "tol"),
    (lambda: N.matrix_power(SQUARE, 2.0), TypeError, "integer"),  # type: ignore[arg-type]
    (lambda: N.matrix_power(WIDE, 2), ValueError, "square"),
    (lambda: N.cond(np.zeros((0, 0))), ValueError, "empty"),
    (lambda: N.cond(WIDE, 1), ValueError, "square"),
    (lambda: N.lstsq(SQUARE, np.ones(2)), ValueError, "vector"),
    (lambda: N.multi_dot([SQUARE]), ValueError, "at least two"),
    (lambda: N.multi_dot([SQUARE, np.ones((2, 2))]), ValueError, "neighbours"),
    (lambda: N.cross(np.ones(2), np.ones(2)), ValueError, "3 elements"),
    (lambda: N.outer(SQUARE, VECTOR), ValueError, "vectors"),
    (lambda: N.tensorinv(np.ones((2, 3)), 1), ValueError, "product"),
    (lambda: N.tensorinv(SQUARE, 0), ValueError, "positive"),
    (lambda: N.tensorsolve(SQUARE, np.ones(2)), ValueError, "shapes"),
]


@pytest.mark.parametrize("case", range(len(ERRORS)))
def test_errors(case: int) -> None:
  call, error, text = ERRORS[case]
  with pytest.raises(error, match=text):
    call()
