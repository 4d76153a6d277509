"""Jacobians over pytrees: they are cut with `slice`, whose rules stand in lax."""

from __future__ import annotations

from typing import Any

import numpy as np

import gnomon
from gnomon import lax


def test_jacobians_of_pytrees() -> None:
  def f(p: Any) -> Any:
    return {"u": lax.mul(p["a"], p["b"]), "v": lax.reduce_sum(lax.sin(p["a"]), (0,))}

  p = {"a": np.array([0.3, 0.4]), "b": np.float64(2.0)}
  with gnomon.enable_x64(True):
    for jacobian in (gnomon.jacfwd, gnomon.jacrev):
      j = jacobian(f)(p)
      np.testing.assert_allclose(np.asarray(j["u"]["a"]), 2 * np.eye(2))
      np.testing.assert_allclose(np.asarray(j["u"]["b"]), p["a"])
      np.testing.assert_allclose(np.asarray(j["v"]["a"]), np.cos(p["a"]))
      assert float(j["v"]["b"]) == 0.0


def test_hessian_of_pytrees() -> None:
  def f(p: Any) -> Any:
    return lax.reduce_sum(lax.mul(lax.mul(p[0], p[0]), p[1]), (0,))

  x, y = np.array([0.3, 0.4]), np.array([2.0, 3.0])
  with gnomon.enable_x64(True):
    h = gnomon.hessian(f)((x, y))
    np.testing.assert_allclose(np.asarray(h[0][0]), np.diag(2 * y))
    np.testing.assert_allclose(np.asarray(h[0][1]), np.diag(2 * x))
    np.testing.assert_allclose(np.asarray(h[1][0]), np.diag(2 * x))
    np.testing.assert_allclose(np.asarray(h[1][1]), np.zeros((2, 2)))
