"""Counts, covariances, histograms: NumPy's values; errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp

Agree = Callable[..., Any]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 5)).astype(np.float32)
I = RNG.integers(0, 9, 12)  # noqa: E741 -- integers


def vector(n: int) -> Any:
  return RNG.normal(size=n).astype(np.float32)


def test_bincount(agree: Agree) -> None:
  agree("bincount", I)
  agree("bincount", I, minlength=20)
  agree("bincount", I, weights=I * 0.5)
  agree("bincount", I[:0])
  agree("bincount", np.array([200, 255, 3], np.uint8))
  agree("bincount", np.array([100, 127], np.int8))
  counted = gnomon.jit(lambda x: gnp.bincount(x, length=3))(np.array([-1, 0, 5, 2]))
  np.testing.assert_array_equal(counted, [2, 0, 1])
  for call, error, message in (
      (lambda: gnp.bincount(X[0]), TypeError, "integer"),
      (lambda: gnp.bincount(I.reshape(3, 4)), ValueError, "1-dimensional"),
      (lambda: gnp.bincount(I, weights=X), ValueError, "weights"),
      (lambda: gnomon.jit(gnp.bincount)(I), gnomon.errors.ConcretizationTypeError,
          "length")):
    with pytest.raises(error, match=message):
      call()


def test_cov(agree: Agree) -> None:
  for m in (X, RNG.integers(-3, 4, (3, 5)), vector(5), X + 1j * X[::-1]):
    for keywords in ({}, {"rowvar": False}, {"bias": True}, {"ddof": 2}):
      agree("cov", m, atol=1e-4, **keywords)
    each = np.arange(1, 6)
    agree("cov", m, m, fweights=each, atol=1e-4)
    agree("cov", m, aweights=each * 0.5, fweights=each, atol=1e-4)
    agree("corrcoef", m, atol=1e-4)
    agree("corrcoef", m, m, rowvar=False, atol=1e-4)
  for call, error, message in (
      (lambda: gnp.cov(np.ones((2, 2, 2))), ValueError, "2 dimensions"),
      (lambda: gnp.cov(X, fweights=X[0]), TypeError, "integer"),
      (lambda: gnp.cov(X, fweights=np.array([1, 2])), RuntimeError, "samples"),
      (lambda: gnp.cov(X, aweights=X), RuntimeError, "multidimensional")):
    with pytest.raises(error, match=message):
      call()


def test_histogram(agree: Agree) -> None:
  a, w = vector(50), vector(50)
  edges = np.array([-2, -1, 0, 0.5, 3])
  for keywords in ({}, {"bins": 4}, {"density": True}, {"bins": 5, "range": (-1, 1)},
                   {"weights": w}, {"weights": w, "density": True, "bins": 3},
                   {"bins": edges}, {"bins": edges, "density": True}):
    agree("histogram", a, atol=1e-4, **keywords)
  agree("histogram_bin_edges", a, bins=4)
  for x in (I, np.array([1, 1, 1]), np.array([]), a.reshape(5, 10)):
    agree("histogram", x)
  agree("histogram", I, bins=np.arange(10))
  for call, error, message in (
      (lambda: gnp.histogram(a, bins=0), ValueError, "positive"),
      (lambda: gnp.histogram(a, bins="auto"), NotImplementedError, "'auto'"),
      (lambda: gnp.histogram(a, bins=[0, 1]), TypeError, "list"),
      (lambda: gnp.histogram(a, weights=w[:3]), ValueError, "same shape")):
    with pytest.raises(error, match=message):
      call()


def test_histograms_of_points(agree: Agree) -> None:
  a, b, w = vector(50), vector(50), vector(50)
  edges = np.array([-1.0, 0, 1])
  for keywords in ({}, {"bins": [3, 4]}, {"bins": [edges, 3], "density": True},
                   {"bins": edges},
                   {"range": [[-1, 1], [0, 2]], "bins": 3, "weights": w}):
    agree("histogram2d", a, b, atol=1e-4, **keywords)
  points = np.stack([a, b, w], axis=1)
  for keywords in ({"bins": (2, 3, 4)},
                   {"bins": 3, "density": True, "range": [(-1, 1), None, (0, 1)]}):
    got, want = gnp.histogramdd(points, **keywords), np.histogramdd(points, **keywords)
    np.testing.assert_allclose(got[0], want[0], rtol=1e-4)
    for g, e in zip(got[1], want[1]):
      np.testing.assert_allclose(g, e, atol=1e-5)
  for call, message in ((lambda: gnp.histogram2d(a, b[:3]), "one size"),
                        (lambda: gnp.histogramdd(points, bins=(2, 3)), "each dimension"),
                        (lambda: gnp.histogramdd(points, range=[(0, 1)]), "range")):
    with pytest.raises(ValueError, match=message):
      call()
