"""Iterative solvers against SciPy's steps, dense solutions and finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse.linalg

import gnomon
from gnomon.core.types import typeof
from gnomon.scipy.sparse.linalg import bicgstab, cg, gmres
from gnomon.testing import check_grads


def incremental(A: Any, b: Any, x0: Any = None, **more: Any) -> Any:
  return gmres(A, b, x0, solve_method="incremental", **more)


SOLVERS = [cg, bicgstab, gmres, incremental]


def problem(solver: Any, n: int, complex_: bool) -> Any:
  rng = np.random.default_rng(1)
  A, M = (rng.normal(size=(n, n)) + (1j * rng.normal(size=(n, n)) if complex_ else 0)
          for _ in range(2))
  b = rng.normal(size=n) + (1j * rng.normal(size=n) if complex_ else 0)
  A = A @ A.conj().T + np.eye(n) if solver is cg else A + 3 * np.eye(n)
  return A, b, M @ M.conj().T + np.eye(n)


@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize("solver", SOLVERS)
def test_steps(solver: Any, complex_: bool) -> None:
  A, b, M = problem(solver, 4, complex_)
  theirs = getattr(scipy.sparse.linalg, getattr(solver, "__name__", ""), None)
  more: list[dict[str, Any]] = [{"maxiter": 1}, {"maxiter": 2, "M": M}]
  if theirs is None or solver is gmres:
    theirs = scipy.sparse.linalg.gmres
    more = [{"restart": 1, "maxiter": 2}, {"restart": 2, "maxiter": 1, "M": M}]
  with gnomon.enable_x64(True), gnomon.numpy_dtype_promotion("strict"):
    for keywords in more:
      np.testing.assert_allclose(
          solver(A, b, **keywords)[0], theirs(A, b, **keywords)[0], rtol=1e-9)
    np.testing.assert_allclose(
        solver(A, b, tol=1e-10, M=M)[0], np.linalg.solve(A, b), rtol=1e-7)


@pytest.mark.parametrize("solver", SOLVERS)
def test_transformed(solver: Any) -> None:
  A, b, M = problem(solver, 3, solver is not incremental)
  def solve(A: Any, b: Any) -> Any:
    A = A @ A.conj().T if solver is cg else A
    return solver(A, b, tol=1e-12, M=np.linalg.inv(M) if solver is cg else None)[0]

  with gnomon.enable_x64(True):
    check_grads(solve, (A, b), 1, rtol=1e-4)
    many = np.stack([b, 2 * b])
    np.testing.assert_allclose(
        gnomon.vmap(solve, (None, 0))(A, many),
        np.stack([solve(A, row) for row in many]), rtol=1e-7)


def test_transposed_preconditioner() -> None:
  # Far from symmetric: it would spoil the transposed equation if it were not transposed.
  with gnomon.enable_x64(True):
    A = np.triu(np.full((4, 4), 3.0)) + np.eye(4)
    M, b = np.linalg.inv(A), np.arange(4.0)
    jacobian = gnomon.jacrev(lambda b: bicgstab(A, b, M=M, maxiter=2, tol=1e-10)[0])(b)
    np.testing.assert_allclose(jacobian, M, atol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_operands(solver: Any) -> None:
  x, info = solver(lambda x: 2 * x, 1.0)
  assert (x.item(), info, typeof(x).weak_type) == (0.5, None, True)
  tree = solver(lambda x: {"a": x["a"] + 0.5 * x["b"], "b": 0.5 * x["a"] + x["b"]},
                {"a": 1.0, "b": -4.0})[0]
  np.testing.assert_allclose([tree["a"], tree["b"]], [4, -6], rtol=1e-4)
  plane = np.arange(9, dtype=np.float32).reshape(3, 3)
  np.testing.assert_allclose(
      solver(2 * np.eye(3, dtype=np.float32), plane)[0], plane / 2, rtol=1e-5)
  assert solver(np.eye(0), np.ones(0, np.float32))[0].shape == (0,)
  np.testing.assert_array_equal(solver(np.eye(2), np.zeros(2, np.int32))[0], [0, 0])
  np.testing.assert_allclose(
      solver(np.eye(2), np.ones(2), np.array([3.0, 1.0]))[0], [1, 1], rtol=1e-5)


def test_errors() -> None:
  b = np.zeros(2, np.float32)
  for message, call in {
      "matching tree structure": lambda: cg(lambda x: x, {"x": b}, {"y": b}),
      "matching shape": lambda: bicgstab(lambda x: x, b, b[:, None]),
      "must be a square matrix": lambda: gmres(np.zeros((3, 2)), b),
      "output shapes must match": lambda: cg(lambda x: x[:1], b),
      "invalid solve_method": lambda: gmres(np.eye(2), b, solve_method="other"),
      "at least 1": lambda: gmres(np.eye(2), b, restart=0)}.items():
    with pytest.raises(ValueError, match=message):
      call()
  with pytest.raises(TypeError, match="either a function or ndarray"):
    cg([[1]], b[:1])
