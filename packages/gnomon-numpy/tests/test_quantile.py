"""Quantiles by all methods: NumPy's values; infinities, nan, nothing; weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp

Agree = Callable[..., Any]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(4, 5, 3)).astype(np.float32)
N = X.copy()
N[0, 1, 2] = N[1, 0, 1] = np.nan
N[:, 0, 0] = np.nan
I = RNG.integers(0, 9, (4, 5))  # noqa: E741 -- integers
Q = np.array([0, 0.1, 0.25, 0.3, 0.5, 0.625, 0.75, 0.9, 1.0])
METHODS = [
    "linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf",
    "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen",
    "weibull", "median_unbiased", "normal_unbiased"]


@pytest.mark.parametrize("method", METHODS)
def test_methods(method: str, agree: Agree) -> None:
  for x in (X, I):
    agree("quantile", x, Q, method=method, atol=1e-4)
    agree("quantile", x, Q, axis=1, method=method, atol=1e-4)
  agree("quantile", X, 0.3, axis=0, method=method, atol=1e-4)
  agree("nanquantile", N, Q, axis=1, method=method, atol=1e-4)
  traced = gnomon.jit(lambda x, q: gnp.quantile(x, q, axis=0, method=method))
  np.testing.assert_allclose(
      traced(X, Q), np.quantile(X, Q, axis=0, method=method), atol=1e-4)


def test_medians(agree: Agree) -> None:
  for x in (X, I, N, X.astype(np.float16)):
    for name in ("median", "nanmedian"):
      for axis in (None, 0, (0, 1)):
        agree(name, x, axis=axis, keepdims=axis == 0, atol=1e-3)
  agree("median", 3.0)
  agree("percentile", X, 30, axis=(0, 1), keepdims=True)
  agree("percentile", X, np.array([30, 60]), axis=(1, 0), keepdims=True)
  agree("nanpercentile", N, np.array([30.0, 60.0]), axis=1, keepdims=True)
  big = np.float32(3e38)
  assert gnp.median(np.array([big, big])) == big  # the sum would overflow


def test_special_values() -> None:
  inf = np.inf
  assert gnp.quantile(np.array([0.0, inf, inf, inf]), 0.6) == inf
  assert gnp.quantile(np.array([-inf, 0.0, inf]), 0.5) == 0
  assert gnp.quantile(np.array([0.0, inf]), 0.0) == 0
  assert gnp.quantile(np.array([-inf, 0.0]), 1.0) == 0
  for q in (np.nan, gnp.array(np.nan)):
    assert np.isnan(gnp.quantile(X, q))
  assert np.isnan(gnomon.jit(gnp.quantile)(X, np.nan))
  assert np.isnan(gnp.quantile(np.array([1.0, np.nan]), 0.5))
  for axis, shape in ((None, ()), (0, (3,))):
    for got in (gnp.median(np.zeros((0, 3)), axis), gnp.nanmedian(np.zeros((0, 3)), axis),
                gnp.quantile(np.zeros((0, 3)), 0.3, axis),
                gnp.nanquantile(np.zeros((0, 3)), 0.3, axis)):
      assert got.shape == shape
      assert np.isnan(got).all()
  assert np.isnan(gnp.nanmedian(np.array([np.nan])))


def test_weights(agree: Agree) -> None:
  each = RNG.integers(0, 4, (4, 5))
  along = np.array([1, 2, 0, 3, 1])
  for q in (0, 0.3, 0.5, 1, Q):
    agree("quantile", I, q, weights=each, method="inverted_cdf")
    agree("quantile", I, q, axis=1, weights=along, method="inverted_cdf")
  x = np.array([1.0, np.nan, 3.0, 2.0])
  got = gnp.nanquantile(x, 0.5, weights=np.array([1, 9, 1, 1]), method="inverted_cdf")
  assert got == 2
  with pytest.raises(NotImplementedError, match="inverted_cdf"):
    gnp.quantile(I, 0.5, weights=each)
  with pytest.raises(ValueError, match="weights"):
    gnp.quantile(I, 0.5, axis=0, weights=along, method="inverted_cdf")


def test_errors() -> None:
  for call, error, message in (
      (lambda: gnp.quantile(X, 0.5, method="foo"), ValueError, "'foo'"),
      (lambda: gnp.quantile(X + 1j, 0.5), ValueError, "complex"),
      (lambda: gnp.quantile(X, [0.5]), TypeError, "list"),
      (lambda: gnp.quantile(X, np.ones((1, 1))), ValueError, "vector"),
      (lambda: gnp.median(X, overwrite_input=True), ValueError, "overwrite_input"),
      (lambda: gnp.median(X, axis=7), ValueError, "out of bounds"),
      (lambda: gnp.percentile(X, 3, out_sharding=1), NotImplementedError,
          "out_sharding")):
    with pytest.raises(error, match=message):
      call()
