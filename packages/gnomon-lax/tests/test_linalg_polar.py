"""Polar decomposition: values by its definition, derivatives, parts of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import gnomon
from gnomon import lax
from gnomon.testing import check_grads, check_vmap

R = np.random.default_rng(6)
qdwh = lax.linalg.qdwh


def numbers(*shape: int, dtype: str) -> Any:
  x = R.standard_normal(shape)
  if dtype.startswith("complex"):
    x = x + 1j * R.standard_normal(shape)
  return x.astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "complex64", "float64", "complex128"])
def test_values(dtype: str) -> None:
  with gnomon.enable_x64(True):
    tolerance = 50 * np.finfo(dtype).eps
    for m, n in ((4, 4), (6, 3), (3, 1)):
      x = numbers(m, n, dtype=dtype)
      for y in (x, 1e-12 * x, 1e12 * x, x * np.logspace(0, -3, n).astype(x.real.dtype)):
        u, h, steps, converged = qdwh(y)
        want = scipy.linalg.polar(y.astype("complex128"))
        size = np.abs(y).max()
        np.testing.assert_allclose(u, want[0], atol=1e3 * tolerance)
        np.testing.assert_allclose(np.asarray(h) / size, want[1] / size, atol=tolerance)
        assert u.dtype == h.dtype == dtype
        assert bool(converged)
        assert 0 < int(steps) < 10


def test_steps_and_parts() -> None:
  x = numbers(4, 3, dtype="float32")
  *_, steps, converged = qdwh(x, max_iterations=1)
  assert (int(steps), bool(converged)) == (1, False)
  assert int(qdwh(x, eps=1e-2)[2]) <= int(qdwh(x)[2])
  u, h = map(np.asarray, gnomon.jit(lambda x, m: qdwh(x, dynamic_shape=(m, 2))[:2])(x, 3))
  want = scipy.linalg.polar(x[:3, :2])
  np.testing.assert_allclose(u[:3, :2], want[0], atol=1e-5)
  np.testing.assert_allclose(h[:2, :2], want[1], atol=1e-5)
  assert not np.any(u[3:])
  assert not np.any(h[2:])
  shapes = [np.shape(y) for y in qdwh(np.zeros((3, 0), "float32"))]
  assert shapes == [(3, 0), (0, 0), (), ()]


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_derivatives(dtype: str) -> None:
  with gnomon.enable_x64(True):
    x = numbers(4, 2, dtype=dtype)
    check_grads(lambda x: qdwh(x)[:2], (x,), 1)
    check_grads(lambda x: qdwh(x)[:2], (numbers(3, 3, dtype=dtype),), 1)
    repeated = np.eye(4, dtype=dtype)[:, :2]
    for y in (x, repeated):
      check_grads(lambda x: qdwh(x)[:2], (y,), 2, modes=("fwd",))


def test_vmap() -> None:
  with gnomon.enable_x64(True):
    check_vmap(qdwh, (numbers(2, 3, 3, dtype="float64"),))


def test_errors() -> None:
  with pytest.raises(ValueError, match="conjugate transpose"):
    qdwh(np.ones((2, 3), "float32"))
  with pytest.raises(ValueError, match="vmap"):
    qdwh(np.ones((2, 3, 3), "float32"))
  with pytest.raises(TypeError, match="int32"):
    qdwh(np.ones((3, 3), "int32"))
