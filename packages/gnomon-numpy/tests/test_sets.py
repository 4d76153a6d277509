"""Distinct elements and set operations: NumPy's results; fixed sizes; errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp

Agree = Callable[..., Any]
RNG = np.random.default_rng(0)
I = RNG.integers(-3, 4, (5, 4))  # noqa: E741 -- integers
F = I.astype(np.float32)
N = F.copy()
N[0, 0] = N[1, 1] = np.nan
ALL = {"return_index": True, "return_inverse": True, "return_counts": True}
X, Y = np.array([3, 1, 1, 5, 3]), np.array([5, 7, 1, 1])


def test_unique(agree: Agree) -> None:
  for x in (I, F, N, I > 0, (F + 1j * F[::-1]).astype(np.complex64), np.zeros((0, 3)),
            np.float32(3), np.array([-0.0, 0.0])):
    agree("unique", x)
    agree("unique", x, **ALL)
  agree("unique", N, equal_nan=False)
  for x in (RNG.integers(0, 2, (6, 3)), RNG.integers(0, 2, (4, 3, 2))):
    for axis in (0, 1, -1):
      agree("unique", x, axis=axis, **ALL)
  agree("unique", np.zeros((0, 3)), axis=0)
  for name in ("unique_all", "unique_counts", "unique_inverse"):
    agree(name, I)
  np.testing.assert_array_equal(gnp.unique_values(X), [1, 3, 5])
  assert gnp.unique_all(X)._fields == ("values", "indices", "inverse_indices", "counts")


def test_fixed_sizes() -> None:
  unique = gnomon.jit(
      lambda x, s, f: gnp.unique(x, size=s, fill_value=f, **ALL), static_argnums=(1, 2))
  for size, fill, want in (
      (5, None, ([1, 3, 5, 1, 1], [1, 0, 3, 1, 1], [1, 0, 0, 2, 1], [2, 2, 1, 0, 0])),
      (5, -7, ([1, 3, 5, -7, -7], [1, 0, 3, 1, 1], [1, 0, 0, 2, 1], [2, 2, 1, 0, 0])),
      (2, None, ([1, 3], [1, 0], [1, 0, 0, 2, 1], [2, 2])),
      (0, None, ([], [], [1, 0, 0, 2, 1], []))):
    for got, w in zip(unique(X, size, fill), want):
      np.testing.assert_array_equal(got, w)
  z = np.array([[1, 2], [0, 5], [1, 2]])
  np.testing.assert_array_equal(
      gnp.unique(z, size=4, axis=0), [[0, 5], [1, 2], [0, 5], [0, 5]])
  np.testing.assert_array_equal(
      gnp.unique(z, size=3, axis=1, fill_value=np.array([7, 8, 9])),
      [[1, 2, 7], [0, 5, 8], [1, 2, 9]])
  operations = gnomon.jit(lambda x, y: (
      gnp.union1d(x, y, size=6), gnp.union1d(x, y, size=6, fill_value=-1),
      gnp.setdiff1d(y, x, size=3), gnp.setxor1d(x, y, size=4),
      gnp.setxor1d(x, y, size=4, fill_value=-1), gnp.setxor1d(x, x, size=2),
      gnp.setdiff1d(x, y, True, size=3, fill_value=0)))
  wants = ([1, 3, 5, 7, 1, 1], [1, 3, 5, 7, -1, -1], [7, 0, 0], [3, 7, 3, 3],
           [3, 7, -1, -1], [0, 0], [3, 3, 0])
  for got, w in zip(operations(X, Y), wants):
    np.testing.assert_array_equal(got, w)
  both = gnomon.jit(lambda x, y: gnp.intersect1d(x, y, False, True, size=4))(X, Y)
  for got, w in zip(both, ([1, 5, 1, 1], [1, 3, 5, 5], [2, 0, 4, 4])):
    np.testing.assert_array_equal(got, w)
  none = gnp.unique(np.zeros(0), size=2, fill_value=3.0)
  np.testing.assert_array_equal(none, [3, 3])


def test_operations(agree: Agree) -> None:
  for a, b in ((X, Y), (X, Y * 1.0), (X[:0], Y), (X, Y[:0]), (I, F[0])):
    for name in ("intersect1d", "union1d", "setdiff1d", "setxor1d"):
      agree(name, a, b)
    agree("intersect1d", a, b, return_indices=True)
  for a, b in ((X, Y), (X[:0], Y), (I, F[0])):
    for method in ("auto", "compare_all", "binary_search", "sort"):
      for invert in (False, True):
        np.testing.assert_array_equal(
            gnp.isin(a, b, invert=invert, method=method), np.isin(a, b, invert=invert))
  agree("union1d", N, N)
  agree("setdiff1d", X, Y, assume_unique=True)
  many = np.arange(100)
  agree("isin", many, many[::3])
  assert not gnp.isin(np.nan, np.array([np.nan]))


def test_transformed() -> None:
  np.testing.assert_array_equal(
      gnomon.grad(lambda x: gnp.unique(x).sum())(np.array([1.0, 2.0, 1.0])), [1, 1, 0])
  # values that are known decide shapes inside a traced function
  np.testing.assert_array_equal(gnomon.jit(lambda: gnp.unique(X))(), [1, 3, 5])


def test_errors() -> None:
  concrete = gnomon.errors.ConcretizationTypeError
  for call, error, message in (
      (lambda: gnomon.jit(gnp.unique)(X), concrete, "size"),
      (lambda: gnomon.jit(gnp.union1d)(X, Y), concrete, "union1d"),
      (lambda: gnp.unique([1, 2]), TypeError, "list"),
      (lambda: gnp.unique(I, axis=5), ValueError, "out of bounds"),
      (lambda: gnp.unique(X, size=-1), ValueError, "negative"),
      (lambda: gnp.unique(np.zeros(0), size=2), ValueError, "fill_value"),
      (lambda: gnp.unique(X, size=5, fill_value=Y), ValueError, "fill_value"),
      (lambda: gnp.intersect1d(X, [1]), TypeError, "list"),
      (lambda: gnp.isin(X, Y, method="foo"), ValueError, "'foo'")):
    with pytest.raises(error, match=message):
      call()
