"""Norms: values against NumPy, derivatives, numbers near overflow and underflow."""

from __future__ import annotations

from collections.abc import Iterator
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


def near(got: Any, want: Any) -> None:
  assert np.shape(got) == np.shape(want)
  np.testing.assert_allclose(np.asarray(got), want, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_norms(kind: str) -> None:
  v, w = numbers(5, kind=kind), numbers(2, 4, 3, kind=kind)
  for o in (None, 0, 1, 2, 3, -1, -2, 0.5, np.inf, -np.inf):
    near(N.norm(v, o), np.linalg.norm(v, o))
    near(N.norm(w, o, axis=1, keepdims=True),
         np.linalg.norm(w, o, axis=1, keepdims=True))
  for o in (None, 1, 2, -1, -2, np.inf, -np.inf, "fro", "nuc"):
    for axis in ((0, 1), (2, 0), (-1, -2)):
      near(N.norm(w, o, axis=axis), np.linalg.norm(w, o, axis=axis))
    near(N.norm(w, o, axis=(0, 2), keepdims=True),
         np.linalg.norm(w, o, axis=(0, 2), keepdims=True))
    near(N.matrix_norm(w, ord=o), np.linalg.matrix_norm(w, ord=o or "fro"))
  orders: tuple[Any, ...] = (None, 1, 2, 3, -2, np.inf, -np.inf)
  check_grads(lambda x: [N.norm(x, o) for o in orders], (v,), 2)
  orders_of_matrices: tuple[Any, ...] = (None, 1, 2, -2, np.inf, "nuc")
  check_grads(lambda x: [N.norm(x, o) for o in orders_of_matrices], (w[0],), 1)
  near(N.norm(w), np.linalg.norm(w))
  near(N.vector_norm(w, axis=(0, 2), ord=3),
       np.linalg.vector_norm(w, axis=(0, 2), ord=3))
  check_vmap(N.norm, (w,), 1)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_norms_at_extremes(dtype: str) -> None:
  info = gnp.finfo(dtype)
  small = float(info.smallest_normal)
  for scale in (float(info.max) / 8, 8 * small):
    x = gnp.array([3.0, 4.0], dtype) * gnp.array(scale / 4, dtype)
    unit = x[0] / 3
    for o, want in ((None, 5.0), (3, 91 ** (1 / 3))):
      ratio = float(N.norm(x, o) / unit)
      assert abs(ratio / want - 1) < 8 * float(info.eps)
    slope = np.asarray(gnomon.grad(N.norm)(x), np.float64)
    np.testing.assert_allclose(slope, [0.6, 0.8], rtol=4 * float(info.eps))
  for x, want in (([np.inf, 1], np.inf), ([np.nan, np.inf], np.nan), ([0, 0], 0.0)):
    for o in (None, 3):
      np.testing.assert_equal(float(N.norm(gnp.array(x, dtype), o)), want)
  zero = gnp.zeros(3, dtype)
  assert gnomon.grad(lambda x: N.norm(x) ** 2)(zero).tolist() == [0, 0, 0]
  assert gnomon.grad(lambda x: N.norm(x, 3))(zero).tolist() == [0, 0, 0]
