"""Samples and distributions of several variables against SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats

import gnomon
from gnomon.scipy import stats

GRID = np.array([[3.0, 1.0, 1.0, 2.0], [2.0, 2.0, 3.0, 3.0], [0.0, np.nan, 4.0, np.nan]])


@pytest.mark.parametrize("axis", [0, 1, -1, None])
@pytest.mark.parametrize("a", [GRID[:2], GRID[:2].astype(np.int32), GRID])
def test_mode_and_ranks(a: Any, axis: int | None) -> None:
  for keepdims in (False, True):
    want = scipy.stats.mode(a, axis, keepdims=keepdims)
    got = stats.mode(a, axis, keepdims=keepdims)
    np.testing.assert_array_equal(got.mode, want.mode)
    np.testing.assert_array_equal(got.count, want.count)
  for method in ("average", "min", "max", "dense", "ordinal"):
    got = stats.rankdata(a, method, axis=axis)
    np.testing.assert_array_equal(got, scipy.stats.rankdata(a, method, axis=axis))


@pytest.mark.parametrize("policy", ["propagate", "omit"])
def test_sem(policy: str) -> None:
  for axis, ddof in ((0, 1), (1, 0), (None, 1)):
    with np.errstate(all="ignore"):
      want = scipy.stats.sem(GRID[:, :3], axis, ddof, nan_policy=policy)
    got = stats.sem(GRID[:, :3], axis, ddof, policy)
    np.testing.assert_allclose(got, np.ma.filled(want, np.nan), rtol=1e-6)


def test_dirichlet_and_multinomial() -> None:
  alpha = np.array([0.5, 2.0, 3.0])
  x = np.array([[0.2, 0.1], [0.3, 0.1], [0.5, 0.8]])
  want = scipy.stats.dirichlet.logpdf(x, alpha)
  np.testing.assert_allclose(stats.dirichlet.logpdf(x, alpha), want, rtol=1e-5)
  np.testing.assert_allclose(stats.dirichlet.pdf(x[:2], alpha), np.exp(want), rtol=1e-5)
  assert stats.dirichlet.logpdf(x[:, 0] + 0.1, alpha) == -np.inf
  assert np.isnan(stats.dirichlet.logpdf(x[:, 0], -alpha))
  counts, p = np.array([[1, 2, 3], [6, 0, 0], [1, 1, 1]]), [0.2, 0.5, 0.3]
  np.testing.assert_allclose(
      stats.multinomial.logpmf(counts, 6, p),
      scipy.stats.multinomial.logpmf(counts, 6, p), rtol=1e-5)


def test_multivariate_normal() -> None:
  rng = np.random.default_rng(0)
  x, mean = rng.normal(size=(4, 3)), rng.normal(size=3)
  root = rng.normal(size=(3, 3))
  cov = root @ root.T + np.eye(3)
  want = scipy.stats.multivariate_normal(mean, cov).logpdf(x)
  normal = stats.multivariate_normal
  np.testing.assert_allclose(normal.logpdf(x, mean, cov), want, rtol=1e-5)
  np.testing.assert_allclose(normal.pdf(x[0], mean, cov), np.exp(want[0]), rtol=1e-4)
  batched = normal.logpdf(x[:2], mean, np.stack([cov, 2 * cov]))
  other = scipy.stats.multivariate_normal(mean, 2 * cov).logpdf(x[1])
  np.testing.assert_allclose(batched, [want[0], other], rtol=1e-5)
  number = scipy.stats.norm.logpdf(x, 0.5, np.sqrt(2.0))
  np.testing.assert_allclose(normal.logpdf(x, 0.5, 2.0), number, rtol=1e-5)
  slope = gnomon.grad(lambda m: normal.logpdf(x[0], m, cov))(mean)
  np.testing.assert_allclose(slope, np.linalg.solve(cov, x[0] - mean), rtol=1e-3)
  assert np.isnan(normal.logpdf(x[0], mean, -cov))


@pytest.mark.parametrize("call", [
    lambda: stats.mode(GRID, nan_policy="omit"),
    lambda: stats.mode(GRID, nan_policy="other"),
    lambda: stats.rankdata(GRID, "other"),
    lambda: stats.sem(GRID, nan_policy="raise"),
    lambda: stats.dirichlet.logpdf([0.5, 0.5], [1.0, 1.0, 1.0, 1.0]),
    lambda: stats.multivariate_normal.logpdf([0.0], [0.0], [[1.0]], allow_singular=True),
    lambda: stats.multivariate_normal.logpdf([0.0, 0.0], [0.0, 0.0], [[1.0]]),
])
def test_errors(call: Any) -> None:
  with pytest.raises((NotImplementedError, ValueError), match=r"expected|use|leave"):
    call()


def test_no_trials_are_certain() -> None:
  assert stats.binom.logpmf(0, 0, 0.3) == 0
  assert stats.betabinom.logpmf(0, 0, 1.5, 2.0) == 0
  with gnomon.numpy_dtype_promotion("strict"):
    ranks = stats.rankdata(np.array([3, 1, 3], np.int32))
    np.testing.assert_array_equal(ranks, [2.5, 1.0, 2.5])
