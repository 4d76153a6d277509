"""Linear algebra against SciPy, and under transformations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
import pytest
import scipy.linalg as reference

import gnomon
import gnomon.numpy as gnp
from gnomon.scipy import linalg
from gnomon.test_util import check_grads


def random(*shape: int, kind: bool = False, seed: int = 0) -> Any:
  rng = np.random.default_rng(seed)
  x = rng.normal(size=shape)
  return x + 1j * rng.normal(size=shape) if kind else x


def definite(n: int, kind: bool) -> Any:
  a = random(n, n, kind=kind)
  return a @ a.conj().T + np.eye(n)


@dataclass(frozen=True)
class Case:
  """A function of matrices.

  Attributes:
    args: made for a kind, complex or not.
    reference: SciPy's function, by default of the same name.
    params: keyword arguments for both.
  """

  args: Callable[[bool], tuple[Any, ...]]
  reference: Callable[..., Any] | None = None
  params: tuple[tuple[str, Any], ...] = ()


def square(kind: bool) -> tuple[Any, ...]:
  return (random(4, 4, kind=kind),)


def tall(kind: bool) -> tuple[Any, ...]:
  return (random(4, 3, kind=kind),)


def wide(kind: bool) -> tuple[Any, ...]:
  return (random(3, 4, kind=kind),)


def whole(kind: bool) -> tuple[Any, ...]:
  return (definite(4, kind),)


def system(kind: bool) -> tuple[Any, ...]:
  return definite(4, kind), random(4, 2, kind=kind, seed=1)


def sylvester(kind: bool) -> tuple[Any, ...]:
  return (random(4, 4, kind=kind), random(3, 3, kind=kind, seed=1),
          random(4, 3, kind=kind, seed=2))


CASES = {
    "inv": Case(square),
    "det": Case(square),
    "cholesky": Case(whole),
    "cholesky lower": Case(whole, params=(("lower", True),)),
    "solve": Case(system),
    "solve pos": Case(system, params=(("assume_a", "pos"),)),
    "solve her": Case(system, params=(("assume_a", "her"), ("lower", True))),
    "solve_triangular": Case(system),
    "solve_triangular C": Case(system, params=(("trans", 2), ("lower", True))),
    "lu": Case(tall),
    "lu permute": Case(wide, params=(("permute_l", True),)),
    "lu_factor": Case(square),
    "qr": Case(square),
    "qr economic": Case(tall, params=(("mode", "economic"), ("pivoting", True))),
    "qr r": Case(wide, params=(("mode", "r"),)),
    "qr_multiply": Case(lambda k: (random(4, 3, kind=k), random(2, 4, kind=k, seed=1))),
    "qr_multiply left": Case(
        lambda k: (random(4, 3, kind=k), random(3, kind=k, seed=1)),
        params=(("mode", "left"), ("conjugate", True), ("pivoting", True))),
    "svd": Case(tall, params=(("compute_uv", False),), reference=lambda a, compute_uv:
                reference.svdvals(a)),
    "polar": Case(tall),
    "polar left": Case(wide, params=(("side", "left"),)),
    "polar svd": Case(
        wide, lambda a, method: reference.polar(a), (("method", "svd"),)),
    "schur": Case(square),
    "hessenberg": Case(square, params=(("calc_q", True),)),
    "rsf2csf": Case(lambda k: reference.schur(random(4, 4, kind=k))),
    "rsf2csf of any": Case(lambda k: (*square(k), *whole(k))),
    "sqrtm": Case(whole),
    "solve_sylvester": Case(sylvester),
    "solve_sylvester eigen": Case(
        sylvester, lambda a, b, c, method: reference.solve_sylvester(a, b, c),
        (("method", "eigen"),)),
    "toeplitz": Case(lambda k: (random(4, kind=k), random(3, kind=k, seed=1))),
    "toeplitz of one": Case(lambda k: (random(4, kind=k),)),
    "hankel": Case(lambda k: (random(4, kind=k), random(3, kind=k, seed=1))),
    "hankel of one": Case(lambda k: (random(4, kind=k),)),
    "circulant": Case(lambda k: (random(4, kind=k),)),
    "companion": Case(lambda k: (random(4, kind=k),)),
    "leslie": Case(lambda k: (random(4, kind=k), random(3, kind=k, seed=1))),
    "block_diag": Case(lambda k: (random(2, kind=k), *wide(k))),
}


def leaves(x: Any) -> list[Any]:
  return [np.asarray(y) for y in (x if isinstance(x, (tuple, list)) else [x])]


@pytest.mark.parametrize("kind", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize("name", CASES)
def test_values(name: str, kind: bool) -> None:
  case, function = CASES[name], name.split(maxsplit=1)[0]
  params = dict(case.params)
  args = case.args(kind)
  want = (case.reference or getattr(reference, function))(*args, **params)
  with gnomon.enable_x64(True):
    got = getattr(linalg, function)(*args, **params)
  for g, w in zip(leaves(got), leaves(want), strict=True):
    np.testing.assert_allclose(g, w, rtol=1e-10, atol=1e-11)


STACKS = (
    "solve pos", "solve_triangular", "lu", "qr_multiply", "polar left", "hessenberg",
    "rsf2csf", "sqrtm", "solve_sylvester", "hankel", "circulant",
    "leslie")


@pytest.mark.parametrize("name", STACKS)
def test_stacks(name: str) -> None:
  """Of single precision; a stack, and the map over one, are each matrix by itself."""
  case, function = CASES[name], name.split(maxsplit=1)[0]
  ours = gnomon.jit(partial(getattr(linalg, function), **dict(case.params)))
  args = [a.astype(np.float32) for a in case.args(False)]
  one = leaves(ours(*args))
  many = [np.stack([np.ones_like(a) / 8 + a, a]) for a in args]
  for got in (ours(*many), gnomon.vmap(ours)(*many)):
    for g, w in zip(leaves(got), one, strict=True):
      assert g.dtype in (np.float32, np.complex64)
      np.testing.assert_allclose(g[1], w, rtol=1e-4, atol=1e-5)


def of_both(x: Any) -> Any:
  """Functions of pairs of Hermitian matrices."""
  x = x + gnp.conj(x.T)
  w, v = linalg.eigh(x, np.diag([1.0, 2.0, 3.0]))
  return w, gnp.abs(v), linalg.solve(x, np.ones(3), assume_a="pos", lower=True)


# By name: a function with a rule of its own, and its arguments.
SMOOTH: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "eigh": (of_both, (definite(3, kind=True),)),
    "expm": (linalg.expm, (random(2, 3, 3, kind=True),)),
    "sqrtm": (linalg.sqrtm, (definite(3, kind=False),)),
    "solve_sylvester": (linalg.solve_sylvester, (
        random(3, 3), random(2, 2), random(3, 2))),
    "funm": (lambda a: linalg.funm(a, gnp.exp), (random(3, 3),)),
    "eigh_tridiagonal": (
        partial(linalg.eigh_tridiagonal, eigvals_only=True), (random(3), random(2))),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives(name: str) -> None:
  function, args = SMOOTH[name]
  with gnomon.enable_x64(True):
    check_grads(gnomon.jit(function), args, order=1, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", [
    "inv", "cholesky", "lu", "qr", "svd", "polar", "schur", "hessenberg", "expm",
    "sqrtm"])
def test_no_rows(name: str) -> None:
  for shape in ((0, 0), (0, 3, 3)):
    for out in leaves(getattr(linalg, name)(gnp.zeros(shape))):
      assert out.size == 0


@pytest.mark.parametrize("lower", [False, True])
def test_cholesky_and_eigenvectors(lower: bool) -> None:
  a, b = definite(4, kind=True), definite(4, kind=True) + np.eye(4)
  half = np.tril(a) if lower else np.triu(a)
  c = random(4, 2, kind=True)
  with gnomon.enable_x64(True):
    factor = linalg.cho_factor(half, lower)
    np.testing.assert_allclose(linalg.cho_solve(factor, c), np.linalg.solve(a, c))
    np.testing.assert_allclose(
        linalg.cho_solve(factor, c[:, 0]), np.linalg.solve(a, c[:, 0]))
    for which in (1, 2, 3):
      w, v = linalg.eigh(half, b, lower=lower, type=which)
      w, v = np.asarray(w), np.asarray(v)
      np.testing.assert_allclose(w, reference.eigh(a, b, type=which, eigvals_only=True))
      left = {1: a @ v, 2: a @ b @ v, 3: b @ a @ v}[which]
      np.testing.assert_allclose(left, (b @ v if which == 1 else v) * w, atol=1e-10)
      form = np.linalg.inv(b) if which == 3 else b
      np.testing.assert_allclose(v.conj().T @ form @ v, np.eye(4), atol=1e-12)
    w, v = linalg.eigh(half, lower=lower, eigvals=(1, 2))
    np.testing.assert_allclose(w, np.linalg.eigvalsh(a)[1:3])
    assert v.shape == (4, 2)


@pytest.mark.parametrize("trans", [0, 1, 2])
def test_lu_solve(trans: int) -> None:
  a, b = random(4, 4, kind=True), random(4, 2, kind=True)
  op = {0: a, 1: a.T, 2: a.conj().T}[trans]
  factors = linalg.lu_factor(a)
  for c in (b, b[:, 0], np.stack([b, 2 * b])):
    np.testing.assert_allclose(
        linalg.lu_solve(factors, c, trans=trans), np.linalg.solve(op, c), rtol=1e-4)
  packed, pivots = (np.stack([x, x]) for x in map(np.asarray, factors))
  np.testing.assert_allclose(
      linalg.lu_solve((packed, pivots), b, trans=trans)[1], np.linalg.solve(op, b),
      rtol=1e-4)


@pytest.mark.parametrize("kind", [False, True], ids=["real", "complex"])
def test_schur_forms(kind: bool) -> None:
  a = random(5, 5, kind=kind)
  t, z = map(np.asarray, linalg.schur(a, output="complex"))
  np.testing.assert_allclose(z @ t @ z.conj().T, a, atol=1e-5)
  np.testing.assert_array_equal(np.tril(t, -1), 0)
  u, p = linalg.polar(random(2, 3, 4, 4, kind=kind))
  np.testing.assert_allclose(u @ p, random(2, 3, 4, 4, kind=kind), atol=1e-5)


# ---- the exponential


def test_expm_sizes() -> None:
  many = np.array([0, 1e-3, 3, 30])[:, None, None] * random(4, 4)
  want, up = reference.expm(many), reference.expm(np.triu(many))
  with gnomon.enable_x64(True):
    got = linalg.expm(many), linalg.expm(many, upper_triangular=True)
    moves = linalg.expm_frechet(many[2], many, compute_expm=False)
  for i in range(4):
    np.testing.assert_allclose(got[0][i], want[i], atol=1e-11 * abs(want[i]).max())
    np.testing.assert_allclose(got[1][i], up[i], atol=1e-11 * abs(up[i]).max())
    np.testing.assert_allclose(
        moves[i], reference.expm_frechet(many[2], many[i], compute_expm=False), rtol=1e-9)
  single = linalg.expm(np.array([[1, 2], [3, 4]]))
  assert single.dtype == np.float32
  np.testing.assert_allclose(single, reference.expm([[1, 2], [3, 4]]), rtol=1e-5)


def test_expm_of_badly_scaled_matrices() -> None:
  """A diagonal similarity makes them well scaled; powers of 2 are exact."""
  with gnomon.enable_x64(True):
    for k in (10, 35, 60):
      scale = 2.0 ** np.array([0, -k, -2 * k, 0])
      b = random(4, 4) / 4 * np.triu(np.ones((4, 4)), -1)
      want = np.asarray(linalg.expm(b)) * scale[:, None] / scale
      got = linalg.expm(b * scale[:, None] / scale)
      np.testing.assert_allclose(got, want, rtol=1e-9)
    jordan = np.array([[1.0, 1e15], [0.0, -1.0]])
    np.testing.assert_allclose(
        linalg.expm(jordan), [[np.e, 1e15 * np.sinh(1)], [0, 1 / np.e]], rtol=1e-13)


def test_expm_squarings() -> None:
  many = np.array([0, -1e4, 1e6, np.nan])[:, None, None] * np.eye(2)
  none, small, *lost = linalg.expm(many)
  np.testing.assert_array_equal(none, np.eye(2))
  np.testing.assert_array_equal(small, 0)
  assert np.isnan(lost).all()
  assert np.isnan(linalg.expm(30 * np.eye(2), max_squarings=1)).all()


def test_second_derivative_of_expm() -> None:
  """Of exp(a) in the directions e and f, from a block of the exponential of Mathias."""
  a, e, f = (random(2, 2, seed=k) for k in range(3))

  def first(a: Any) -> Any:
    return gnomon.jvp(linalg.expm, (a,), (e,))[1]

  with gnomon.enable_x64(True):
    got = gnomon.jit(lambda a: gnomon.jvp(first, (a,), (f,))[1])(a)
  once = np.block([[a, e], [0 * a, a]])
  twice = np.kron(np.eye(2), once) + np.kron(np.eye(2, k=1), np.kron(np.eye(2), f))
  np.testing.assert_allclose(got, reference.expm(twice)[:2, -2:], rtol=1e-10)


# ---- other functions


def test_square_roots() -> None:
  for diagonal in ([1, 0, 0], [0, 4, 0], [0, 0, 9, 0, 0, 4], [-1, 4]):
    a = np.diag(np.array(diagonal, np.float32))
    np.testing.assert_allclose(linalg.sqrtm(a), np.sqrt(a + 0j))
  x = linalg.sqrtm(random(10, 10))
  np.testing.assert_allclose(x @ x, random(10, 10), atol=1e-4)
  assert np.isnan(linalg.sqrtm(np.array([[0.0, 1.0], [0.0, 0.0]]))).any()


def test_funm() -> None:
  a = random(4, 4)
  with gnomon.enable_x64(True):
    got = linalg.funm(np.stack([a.T, a]), gnp.exp, disp=False)
  want = reference.funm(a, np.exp, disp=False)
  for g, w in zip(got, want, strict=True):
    np.testing.assert_allclose(g[1], w, atol=1e-10)
  np.testing.assert_allclose(linalg.funm(np.eye(3), gnp.exp), np.e * np.eye(3), rtol=1e-6)


def test_sylvester_without_solution() -> None:
  a, c = random(3, 3), random(3, 3, seed=1)
  for method in ("schur", "eigen"):
    out = linalg.solve_sylvester(a, -a, c, method=method, tol=1e-4)
    assert np.isnan(out).all()
    out = linalg.solve_sylvester(np.stack([a, -a]), a + 3 * np.eye(3), c, method=method)
    np.testing.assert_allclose(
        out[1], reference.solve_sylvester(-a, a + 3 * np.eye(3), c), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(("n", "kind"), [(1, False), (30, False), (30, True)])
def test_tridiagonal(n: int, kind: bool) -> None:
  e = random(n - 1, kind=kind)
  d = random(n, seed=1).astype(e.dtype)
  full = np.diag(d) + np.diag(e, -1) + np.diag(e.conj(), 1)
  w = np.linalg.eigvalsh(full)
  with gnomon.enable_x64(True):
    values = partial(linalg.eigh_tridiagonal, eigvals_only=True)
    np.testing.assert_allclose(values(d, e), w, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(values(d, e, tol=1e-3), w, atol=1e-3)
    if n > 1:
      np.testing.assert_allclose(values(np.stack([d, -d]), np.stack([e, e]))[0], w)
    found, v = linalg.eigh_tridiagonal(d, e)
    v = np.asarray(v)
    np.testing.assert_allclose(full @ v, v * np.asarray(found), atol=1e-12)
    chosen: dict[str, Any] = {"select": "i", "select_range": (n // 2, n - 1)}
    np.testing.assert_allclose(values(d, e, **chosen), w[n // 2:])
    assert linalg.eigh_tridiagonal(d, e, **chosen)[1].shape == (n, n - n // 2)
  np.testing.assert_array_equal(values(np.zeros(30), np.zeros(29)), 0)


# ---- matrices of a pattern


@pytest.mark.parametrize("n", [0, 1, 2, 5, 8])
def test_constants(n: int) -> None:
  def close(got: Any, want: Any) -> None:
    np.testing.assert_allclose(got, np.reshape(want, got.shape), rtol=1e-6, atol=1e-6)

  close(linalg.hilbert(n), 1 / (np.arange(n)[:, None] + np.arange(n) + 1.0))
  for scale in (None, "n", "sqrtn"):
    close(linalg.dft(n, scale), reference.dft(n, scale))
  for kind in ("symmetric", "lower", "upper"):
    close(linalg.pascal(n, kind), reference.pascal(n, kind))
    close(linalg.invpascal(n, kind), reference.invpascal(n, kind, exact=False))
  if n:
    close(linalg.invhilbert(n), reference.invhilbert(n))
    close(linalg.helmert(n), reference.helmert(n))
    close(linalg.helmert(n, full=True), reference.helmert(n, full=True))
  if n in (1, 2, 8):
    close(linalg.hadamard(n), reference.hadamard(n))
  with gnomon.enable_x64(True):
    big = linalg.dft(1000)
    np.testing.assert_allclose(big[999, 999], np.exp(-2j * np.pi / 1000), rtol=1e-14)


@pytest.mark.parametrize("n", range(2, 8))
def test_patterns(n: int) -> None:
  a = random(n).astype(np.float32)
  for name in ("companion", "fiedler_companion", "fiedler"):
    np.testing.assert_allclose(
        getattr(linalg, name)(np.stack([a, a + 1]))[0], getattr(reference, name)(a),
        rtol=1e-5)
  for m in (1, 3, 6):
    for mode in ("full", "valid", "same"):
      np.testing.assert_array_equal(
          linalg.convolution_matrix(a, m, mode), reference.convolution_matrix(a, m, mode))


def test_patterns_of_little() -> None:
  assert linalg.block_diag().shape == (1, 0)
  assert linalg.toeplitz(np.zeros(0), np.zeros(3)).shape == (0, 3)
  assert linalg.hankel(np.zeros((2, 3)), np.zeros(0)).shape == (2, 3, 0)
  assert linalg.circulant(np.zeros(0)).shape == (0, 0)
  assert linalg.fiedler_companion(np.ones((3, 1))).shape == (3, 0, 0)
  assert linalg.toeplitz(np.array([True, False])).dtype == bool
  apart = linalg.fiedler(np.array([1, 250, 3], np.uint8))
  np.testing.assert_array_equal(apart, [[0, 249, 2], [249, 0, 247], [2, 247, 0]])
  assert float(linalg.pascal(70)[-1, -1]) == np.inf


ONE, TWO = np.ones(1), np.ones((2, 2))


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda: linalg.cholesky(np.ones((2, 3))), ValueError, "square"),
    (lambda: linalg.expm(gnp.ones((2, 2), gnp.bfloat16)), NotImplementedError, "float32"),
    (lambda: linalg.expm_frechet(TWO, np.ones((3, 3))), ValueError, "one size"),
    (lambda: linalg.expm_frechet(TWO, TWO, method="other"), ValueError, "SPS"),
    (lambda: linalg.solve(TWO, np.ones(3)), ValueError, "b must be a vector"),
    (lambda: linalg.solve(TWO, TWO, assume_a="any"), ValueError, "assume_a"),
    (lambda: linalg.solve_triangular(TWO, TWO, trans="H"), ValueError, "trans"),
    (lambda: linalg.lu_solve((TWO, np.arange(2)), TWO, trans=3), ValueError, "trans"),
    (lambda: linalg.qr(TWO, mode="raw"), ValueError, "economic"),
    (lambda: linalg.qr_multiply(TWO, TWO, "up"), ValueError, "'left' or 'right'"),
    (lambda: linalg.qr_multiply(TWO, np.ones(3)), ValueError, "vector of 2 elements"),
    (lambda: linalg.eigh(TWO, type=4), ValueError, "type must be"),
    (lambda: linalg.schur(TWO, output="any"), ValueError, "'real' or 'complex'"),
    (lambda: linalg.rsf2csf(TWO, np.ones((3, 3))), ValueError, "one size"),
    (lambda: linalg.polar(np.ones((2, 3))), NotImplementedError, "method='svd'"),
    (lambda: linalg.polar(TWO, "up"), ValueError, "side"),
    (lambda: linalg.polar(TWO, method="any"), ValueError, "method"),
    (lambda: linalg.sqrtm(TWO, 2), NotImplementedError, "blocksize"),
    (lambda: linalg.solve_sylvester(TWO, TWO, np.ones((2, 3))), ValueError, "B: "),
    (lambda: linalg.solve_sylvester(TWO, TWO, TWO, method="any"), ValueError, "method"),
    (lambda: linalg.eigh_tridiagonal(TWO[0], TWO[0]), ValueError, "n - 1"),
    (lambda: linalg.eigh_tridiagonal(TWO[0], 1j * ONE), TypeError, "same dtype"),
    (lambda: linalg.eigh_tridiagonal(TWO[0], ONE, select="v"), NotImplementedError, "v"),
    (lambda: linalg.eigh_tridiagonal(TWO[0], ONE, select="x"), ValueError, "'a' or 'i'"),
    (lambda: linalg.eigh_tridiagonal(TWO[0], ONE, select="i"), ValueError, "first"),
    (lambda: linalg.block_diag(np.ones((1, 1, 1))), ValueError, "position 0"),
    (lambda: linalg.companion(ONE), ValueError, "at least 2"),
    (lambda: linalg.leslie(ONE, ONE), ValueError, "at least 2"),
    (lambda: linalg.leslie(np.ones(3), ONE), ValueError, "Incorrect lengths"),
    (lambda: linalg.fiedler_companion(np.ones(0)), ValueError, "nonzero"),
    (lambda: linalg.convolution_matrix(ONE, 0), ValueError, "positive integer"),
    (lambda: linalg.convolution_matrix(ONE, 2, "any"), ValueError, "mode"),
    (lambda: linalg.convolution_matrix(np.ones(0), 2), ValueError, "at least 1"),
    (lambda: linalg.convolution_matrix(1.0, 2), ValueError, "1-dimensional"),
    (lambda: linalg.hadamard(3), ValueError, "power of 2"),
    (lambda: linalg.helmert(0), ValueError, "positive integer"),
    (lambda: linalg.pascal(3, "any"), ValueError, "kind"),
    (lambda: linalg.hilbert(cast(Any, 3.0)), TypeError, "integer"),
    (lambda: linalg.dft(3, "any"), ValueError, "scale"),
    (lambda: linalg.dft(3, dtype=np.float32), ValueError, "complex")])
def test_errors(call: Any, error: type[Exception], message: str) -> None:
  with pytest.raises(error, match=message):
    call()
