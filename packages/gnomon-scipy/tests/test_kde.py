"""The estimate of a density against SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats

import gnomon
from gnomon.scipy import stats

RNG = np.random.default_rng(1)
ONE = RNG.normal(size=20).astype(np.float32)
TWO = RNG.normal(size=(2, 20)).astype(np.float32)
WEIGHTS = RNG.uniform(size=20).astype(np.float32)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("method", [None, "silverman", 0.3])
@pytest.mark.parametrize("data", [ONE, TWO])
def test_values(data: Any, method: Any, weights: Any) -> None:
  ours = stats.gaussian_kde(data, method, weights)
  theirs = scipy.stats.gaussian_kde(data, method, weights)
  points = data[..., :5] + 0.1
  np.testing.assert_allclose(ours(points), theirs(points), rtol=1e-4)
  np.testing.assert_allclose(ours.logpdf(points), theirs.logpdf(points), rtol=1e-4)
  np.testing.assert_allclose(ours.covariance, theirs.covariance, rtol=1e-4)
  np.testing.assert_allclose(ours.inv_cov, theirs.inv_cov, rtol=1e-3)
  np.testing.assert_allclose(ours.neff, theirs.neff, rtol=1e-5)
  np.testing.assert_allclose(ours.integrate_kde(ours), theirs.integrate_kde(theirs),
                             rtol=1e-4)
  mean, cov = np.zeros(ours.d), np.eye(ours.d)
  np.testing.assert_allclose(ours.integrate_gaussian(mean, cov),
                             theirs.integrate_gaussian(mean, cov), rtol=1e-4)


def test_the_rest() -> None:
  ours, theirs = stats.gaussian_kde(ONE), scipy.stats.gaussian_kde(ONE)
  np.testing.assert_allclose(ours.integrate_box_1d(-1.0, 0.5),
                             theirs.integrate_box_1d(-1.0, 0.5), rtol=1e-5)
  many = stats.gaussian_kde(TWO).resample(gnomon.random.key(0), (4000,))
  assert many.shape == (2, 4000)
  np.testing.assert_allclose(np.mean(many, 1), TWO.mean(1), atol=0.1)
  again = gnomon.jit(lambda kde: kde.evaluate(0.5))(ours)
  np.testing.assert_allclose(again, theirs(0.5), rtol=1e-5)
  for call in (ours.set_bandwidth, lambda: ours.integrate_box(0.0, 1.0),
               lambda: ours(np.ones((3, 2))), lambda: stats.gaussian_kde(ONE, "other"),
               lambda: stats.gaussian_kde(ONE, None, ONE[:3])):
    with pytest.raises((NotImplementedError, ValueError), match=r"expected|use"):
      call()
