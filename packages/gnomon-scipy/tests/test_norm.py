"""The normal distribution against SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats

import gnomon
from gnomon.scipy import stats

X = np.array([-np.inf, -300.0, -40.0, -3.0, 0.0, 0.2, 8.0, 40.0, 300.0, np.inf, np.nan])
Q = np.array([-0.1, 0.0, 1e-300, 1e-9, 0.2, 0.5, 0.99, 1 - 1e-12, 1.0, 1.1, np.nan])
PLACES = [(0.0, 1.0), (1.5, 0.25), (-2.0, 30.0), (0.0, 0.0), (0.0, -1.0), (np.nan, 1.0)]


@pytest.mark.parametrize("name", [
    "logpdf", "pdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"])
def test_values(name: str) -> None:
  points = Q if name in ("ppf", "isf") else X
  for loc, scale in PLACES:
    with np.errstate(all="ignore"):
      want = getattr(scipy.stats.norm, name)(points, loc, scale)
    with gnomon.enable_x64(True):
      got: Any = getattr(stats.norm, name)(points, loc, scale)
      np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-300)
    single = points.astype(np.float32)
    with np.errstate(all="ignore"):
      want = getattr(scipy.stats.norm, name)(single.astype(float), loc, scale)
    got = getattr(stats.norm, name)(single, loc, scale)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, want.astype(np.float32), rtol=3e-5, atol=1e-37)


def test_integers_give_floats() -> None:
  assert stats.norm.logpdf(1, 0, 2).dtype == np.float32
  assert gnomon.grad(stats.norm.logcdf)(-50.0) == pytest.approx(50.02, rel=1e-4)
