"""Systems of linear equations: derivatives, vmap, solvers given by the user."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.lax.linalg import _solve
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


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("left_side", [True, False])
def test_triangular_solve(kind: str, left_side: bool) -> None:
  a = numbers(2, 3, 3, kind=kind) / 3 + 2 * np.eye(3)
  b = numbers(*((2, 3, 2) if left_side else (2, 2, 3)), kind=kind)
  for lower, transpose, conjugate, unit in (
      (0, 0, 0, 0), (1, 1, 0, 1), (1, 0, 1, 0), (0, 1, 1, 1)):
    check_grads(
        lambda a, b, flags=(lower, transpose, conjugate, unit): L.triangular_solve(
            a, b, left_side=left_side, lower=flags[0], transpose_a=flags[1],
            conjugate_a=flags[2], unit_diagonal=flags[3]), (a, b), 2)


@pytest.mark.parametrize("kind", ["real", "complex"])
def test_systems(kind: str) -> None:
  d = numbers(2, 4, kind=kind) + 4
  dl, du = numbers(2, 2, 4, kind=kind)
  check_grads(L.tridiagonal_solve, (dl, d, du, numbers(2, 4, 2, kind=kind)), 2)
  a = numbers(2, 3, 3, kind=kind) + 3 * np.eye(3)
  b = numbers(2, 3, 2, kind=kind)
  check_grads(_solve.solve, (a, b), 2)
  np.testing.assert_allclose(_solve.solve(a, b), np.linalg.solve(a, b))
  np.testing.assert_allclose(_solve.solve(a[0], b), np.linalg.solve(a[0], b))
  packed, _, order = L.lu(a)
  turned = np.swapaxes(a, 1, 2)
  for trans, op in enumerate((a, turned, np.conj(turned))):
    np.testing.assert_allclose(
        op @ np.asarray(_solve.lu_solve(packed, order, b, trans)), b, atol=1e-12)


def test_vmap_of_systems() -> None:
  a, b = positive("real"), numbers(2, 4, 3, kind="real")
  solve: Any = lambda a, b: L.triangular_solve(a, b, left_side=True)  # noqa: E731
  right: Any = lambda a, b: L.triangular_solve(a, b, lower=True)  # noqa: E731
  check_vmap(solve, (a, b), (0, 0))
  check_vmap(solve, (a[0], b), (None, 0))
  check_vmap(solve, (a[0], np.moveaxis(b, 0, 2)), (None, 2))
  check_vmap(solve, (a, b[0]), (0, None))
  check_vmap(right, (a[0], np.swapaxes(b, 1, 2)), (None, 0))
  for f in (_solve.solve, gnomon.grad(lambda a, b: lax.reduce_sum(
      _solve.solve(a, b), (0, 1)))):
    check_vmap(f, (a, b), (0, 0))
    check_vmap(f, (a, b[0]), (0, None))
    check_vmap(f, (a[0], b), (None, 0))
  d = numbers(3, 2, 4, kind="real") + 3
  check_vmap(L.tridiagonal_solve, (*d, b), 0)


# ---- custom_linear_solve


def times(a: Any, x: Any) -> Any:
  return lax.dot_general(a, x, (((1,), (0,)), ((), ())))


def direct(a: Any, b: Any) -> Any:
  """Solves with a matrix of which no derivative is taken."""
  packed, _, order = L.lu(lax.stop_gradient(a))
  out = _solve.lu_solve(packed, order, lax.reshape(b, (b.shape[0], 1)))
  return lax.reshape(out, b.shape)


def solve(a: Any, b: Any) -> Any:
  back = lax.transpose(a, (1, 0))
  return lax.custom_linear_solve(
      lambda x: times(a, x), b, lambda _, y: direct(a, y), lambda _, y: direct(back, y))


def iterated(a: Any, b: Any) -> Any:
  """A loop, which has no reverse derivative of its own."""
  def steps(matvec: Callable[[Any], Any], y: Any) -> Any:
    def step(carry: Any) -> Any:
      i, x = carry
      rest = lax.sub(y, matvec(x))
      return lax.add(i, 1), lax.add(x, lax.mul(rest, 0.1))

    return lax.while_loop(lambda c: lax.lt(c[0], 500), step, (0, lax.full_like(y, 0)))[1]

  return lax.custom_linear_solve(lambda x: times(a, x), b, steps, symmetric=True)


A = np.array([[4.0, 1, 0], [0.5, 3, 1], [0.2, 0, 5]])
B = np.array([1.0, -2, 3])


def test_custom_values_and_derivatives() -> None:
  np.testing.assert_allclose(solve(A, B), np.linalg.solve(A, B))
  np.testing.assert_allclose(gnomon.jit(solve)(A, B), np.linalg.solve(A, B))
  check_grads(solve, (A, B), 2)
  check_grads(solve, (A + 0.1j * A.T, B + 1j), 1)


def test_custom_loop() -> None:
  s = (A + A.T) / 2
  np.testing.assert_allclose(iterated(s, B), np.linalg.solve(s, B))
  check_grads(
      lambda a, b: iterated(lax.add(a, lax.transpose(a, (1, 0))), b), (s / 2, B), 2)


def test_custom_pytrees_and_aux() -> None:
  def f(a: Any, b: Any) -> Any:
    back = lax.transpose(a, (1, 0))
    return lax.custom_linear_solve(
        lambda x: {"x": (times(a, x["x"][0]), lax.mul(x["x"][1], 2.0))},
        {"x": (b, lax.sin(b))},
        lambda _, y: ({"x": (direct(a, y["x"][0]), lax.div(y["x"][1], 2.0))}, 3),
        lambda _, y: ({"x": (direct(back, y["x"][0]), lax.div(y["x"][1], 2.0))}, 4),
        has_aux=True)

  out, aux = f(A, B)
  assert int(aux) == 3
  np.testing.assert_allclose(out["x"][0], np.linalg.solve(A, B))
  np.testing.assert_allclose(out["x"][1], np.sin(B) / 2)
  check_grads(lambda a, b: f(a, b)[0], (A, B), 2)


def test_custom_vmap() -> None:
  a, b = np.stack([A, A + 1]), np.stack([B, 2 * B])
  for f in (solve, gnomon.grad(lambda a, b: lax.reduce_sum(lax.sin(solve(a, b)), (0,)))):
    check_vmap(f, (a, b), (0, 0))
    check_vmap(f, (A, b), (None, 0))
    check_vmap(f, (a, B), (0, None))


def test_custom_errors() -> None:
  half: Any = lambda _, y: lax.div(y, 2.0)  # noqa: E731
  double: Any = lambda x: lax.mul(x, 2.0)  # noqa: E731
  cases: list[tuple[Callable[[], Any], type[Exception], str]] = [
      (lambda: lax.custom_linear_solve(lambda x: (x, x), B, half), ValueError, "matvec"),
      (lambda: lax.custom_linear_solve(lambda x: [x], B, half), TypeError, "structure"),
      (lambda: lax.custom_linear_solve(double, B, lambda _, y: lax.slice(y, (0,), (1,))),
       ValueError, "solve"),
      (lambda: lax.custom_linear_solve(double, B, half, has_aux=True), ValueError,
       "must return a pair"),
      (lambda: lax.custom_linear_solve(double, B, lambda mv, y: mv((y, y))), ValueError,
       "like b"),
      (lambda: lax.custom_linear_solve(double, B, None), TypeError, "solve"),  # type: ignore[arg-type]
      (lambda: gnomon.grad(lambda b: lax.reduce_sum(
          lax.custom_linear_solve(double, b, half), (0,)))(B), TypeError,
       "transpose_solve")]
  for call, error, text in cases:
    with pytest.raises(error, match=text):
      call()
