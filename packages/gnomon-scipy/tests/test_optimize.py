"""Minima against SciPy, and their derivatives against those of solved equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.optimize

import gnomon
import gnomon.numpy as gnp
from gnomon.scipy.optimize import minimize

LIMITED = "l-bfgs-experimental-do-not-rely-on-this"
METHODS = ["BFGS", LIMITED]


def rosenbrock(x: Any) -> Any:
  return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def himmelblau(x: Any) -> Any:
  return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("fun", "start"), [
    (rosenbrock, np.zeros(5)), (himmelblau, np.ones(2)),
    (himmelblau, np.array([92.0, 0.001]))])
def test_minima(fun: Any, start: Any, method: str) -> None:
  expected = scipy.optimize.minimize(fun, start, tol=1e-9).x
  found = gnomon.jit(
      lambda x: minimize(fun, x, method=method, options={"gtol": 1e-4}))(
          start.astype(np.float32))
  np.testing.assert_allclose(found.x, expected, rtol=1e-3)
  assert found.success.item()
  assert found.nfev.item() < 100
  np.testing.assert_allclose(found.fun, fun(found.x), atol=1e-6)
  assert (found.hess_inv is None) == (method == LIMITED)


@pytest.mark.parametrize("method", METHODS)
def test_derivatives(method: str) -> None:
  rng = np.random.default_rng(1)
  root = rng.normal(size=(3, 3)).astype(np.float32)
  A = root @ root.T + np.eye(3, dtype=np.float32)
  b = rng.normal(size=3).astype(np.float32)

  def solved(A: Any, b: Any) -> Any:
    return minimize(lambda x, b: x @ A @ x / 2 - b @ x, gnp.zeros(3), (b,), method=method,
                    tol=1e-6)

  inverse = np.linalg.inv(A)
  np.testing.assert_allclose(
      gnomon.jacrev(lambda b: solved(A, b).x)(b), inverse, rtol=1e-4, atol=1e-5)
  np.testing.assert_allclose(
      gnomon.jacfwd(lambda b: solved(A, b).x)(b), inverse, rtol=1e-4, atol=1e-5)
  np.testing.assert_allclose(
      gnomon.grad(lambda b: solved(A, b).fun)(b), -inverse @ b, rtol=1e-4, atol=1e-5)
  many = rng.normal(size=(4, 3)).astype(np.float32)
  np.testing.assert_allclose(
      gnomon.vmap(lambda b: solved(A, b).x)(many), many @ inverse, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_complex(method: str) -> None:
  z = np.array([1, 2 - 3j, 4, -5j], np.complex64)
  found = minimize(lambda x: (gnp.abs(x - z) ** 2).sum(), np.zeros_like(z), method=method)
  np.testing.assert_allclose(found.x, z, atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_ends(method: str) -> None:
  one = np.ones(2, np.float32)
  limited = minimize(rosenbrock, -one, method=method, options={"maxiter": 2})
  assert (limited.status.item(), limited.nit.item()) == (1, 2)
  endless = minimize(lambda x: -x.sum(), one, method=method)
  assert (endless.status.item(), endless.success.item()) == (5, False)
  nowhere = minimize(lambda x: gnp.nan * x.sum(), one, method=method)
  assert nowhere.status.item() == 3
  np.testing.assert_array_equal(nowhere.x, one)
  there = minimize(lambda x: (x ** 2).sum(), 0 * one, method=method)
  assert (there.status.item(), there.nit.item(), there.nfev.item()) == (0, 0, 1)
  # Rounding ends the search, not the limit of steps.
  stuck = minimize(rosenbrock, np.zeros(5, np.float32), method=method, tol=0.0)
  assert stuck.nit.item() < 300


def test_errors() -> None:
  with pytest.raises(TypeError, match=r"args .* must be a tuple"):
    minimize(rosenbrock, np.ones(2), args=45, method="BFGS")
  with pytest.raises(TypeError, match="other"):
    minimize(rosenbrock, np.ones(2), method="BFGS", options={"other": 1})
  for start, method in (
      (np.ones(2), "CG"), (np.ones((2, 2)), "BFGS"), (np.ones(2), None)):
    with pytest.raises(ValueError, match="expected"):
      minimize(rosenbrock, start, method=method)
