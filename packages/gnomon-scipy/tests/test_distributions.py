"""The distributions against SciPy: tails, edges of supports, invalid parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats

import gnomon
from gnomon.scipy import stats

LINE = [-np.inf, -300.0, -20.0, -3.0, -1.0, -0.0, 0.2, 0.5, 1.0, 2.0, 8.0, 40.0, 300.0,
        np.inf, np.nan]
COUNTS = [-2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 5.0, 6.0, 60.0, np.nan]
Q = [-0.1, 0.0, 1e-9, 0.2, 0.5, 0.99, 1.0, 1.1, np.nan]
ANGLES = [-0.1, 0.0, 1e-3, 1.0, 3.0, 6.28, 6.3, np.nan]
ALL = "logpdf pdf cdf logcdf sf logsf"
LIMITS = {"pdf": 0.0, "logpdf": -np.inf}
PLACES = [(0.0, 1.0), (0.5, 2.0), (0.0, -1.0), (np.nan, 1.0)]

# Of each: its functions, its shapes, whether it has a scale, and where it is looked at.
CASES: dict[str, tuple[str, list[tuple[float, ...]], bool | None, list[float]]] = {
    "cauchy": (ALL + " ppf isf", [()], True, LINE),
    "expon": (ALL + " ppf", [()], True, LINE),
    "gumbel_l": (ALL + " ppf", [()], True, LINE),
    "gumbel_r": (ALL + " ppf", [()], True, LINE),
    "laplace": ("logpdf pdf cdf", [()], True, LINE),
    "logistic": ("logpdf pdf cdf sf ppf isf", [()], True, LINE),
    "uniform": ("logpdf pdf cdf ppf", [()], True, LINE),
    "beta": (ALL, [(2.0, 3.0), (0.5, 1.0), (-1.0, 1.0)], True, LINE),
    "chi2": (ALL, [(3.0,), (1.0,), (0.0,)], True, LINE),
    "gamma": (ALL, [(2.0,), (0.3,), (1.0,), (-1.0,)], True, LINE),
    "pareto": (ALL + " ppf", [(2.0,), (0.3,), (0.0,)], True, LINE),
    "t": ("logpdf pdf", [(3.0,), (0.5,), (1e6,), (0.0,)], True, LINE),
    "truncnorm": (ALL, [(-1.0, 1.0), (3.0, 9.0), (-7.0, -5.0), (-1.0, np.inf),
                        (1.0, 1.0)], True, LINE),
    "gennorm": ("logpdf pdf cdf", [(2.0,), (0.7,), (-1.0,)], None, LINE),
    "vonmises": ("logpdf pdf", [(2.0,), (1e-3,), (900.0,), (-1.0,)], None, LINE[1:8]),
    "wrapcauchy": ("logpdf pdf", [(0.3,), (0.999,), (1.5,)], None, ANGLES),
    "bernoulli": ("logpmf pmf", [(0.3,), (0.0,), (1.0,), (1.1,)], False, COUNTS),
    "betabinom": ("logpmf pmf", [(5.0, 1.5, 2.0), (5.0, -1.0, 2.0)], False, COUNTS),
    "binom": ("logpmf pmf", [(5.0, 0.3), (5.0, 1.0), (-1.0, 0.3)], False, COUNTS),
    "geom": ("logpmf pmf", [(0.3,), (1.0,), (0.0,)], False, COUNTS),
    "nbinom": ("logpmf pmf", [(2.5, 0.3), (2.0, 1.0), (0.0, 0.3)], False, COUNTS),
    "poisson": ("logpmf pmf cdf", [(1.5,), (0.0,), (700.0,), (-1.0,)], False, COUNTS),
}


def arguments(scale: bool | None) -> list[tuple[float, ...]]:
  if scale is None:
    return [()]
  return list(PLACES) if scale else [(0.0,), (1.0,)]


def at_infinity(name: str, function: str, x: Any, want: Any, inner: Any) -> Any:
  """SciPy's values, with limits where it takes the difference of infinities."""
  if name not in ("gamma", "chi2", "gumbel_l", "gumbel_r") or function not in LIMITS:
    return want
  return np.where(np.isinf(x) & ~np.isnan(inner), LIMITS[function], want)


@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
  functions, shapes, scale, points = CASES[name]
  for function in functions.split():
    x = np.array(Q if function in ("ppf", "isf") else points)
    ours: Any = getattr(getattr(stats, name), function)
    theirs: Any = getattr(getattr(scipy.stats, name), function)
    for shape in shapes:
      for place in arguments(scale):
        with np.errstate(all="ignore"):
          want = theirs(x, *shape, *place)
        want = at_infinity(name, function, x, want, theirs(3.0, *shape, *place))
        about = f"{name}.{function}{(*shape, *place)}"
        with gnomon.enable_x64(True):
          got = ours(x, *shape, *place)
        np.testing.assert_allclose(got, want, rtol=2e-9, atol=1e-14, err_msg=about)
      if scale is not None or name == "gennorm":
        single = x.astype(np.float32)
        with np.errstate(all="ignore"):
          want = theirs(single.astype(float), *shape)
        with np.errstate(over="ignore"):
          want = at_infinity(name, function, x, want, theirs(3.0, *shape)).astype("f")
        got = ours(single, *shape)
        assert got.dtype == np.float32
        if name in ("gamma", "chi2") and function == "logsf":
          # The logarithm of a float32 probability: it underflows.
          want = np.where(want < -87, -np.inf, want)
        np.testing.assert_allclose(got, want, rtol=2e-3, atol=1e-5, err_msg=about)


@pytest.mark.parametrize("name", [
    "beta", "binom", "expon", "gamma", "pareto", "truncnorm", "uniform", "wrapcauchy"])
def test_derivatives_are_no_nans_off_the_support(name: str) -> None:
  functions, shapes, _, points = CASES[name]
  places = np.array([x for x in points if np.isfinite(x)], np.float32)
  for function in functions.split():
    if "log" in function:
      fun: Any = getattr(getattr(stats, name), function)
      slopes = gnomon.vmap(gnomon.grad(lambda x, fun=fun: fun(x, *shapes[0])))(places)
      assert not np.isnan(slopes).any(), function


def test_tails() -> None:
  far = np.float32(30.0)
  assert stats.logistic.sf(far) == pytest.approx(9.3576e-14, rel=1e-3)
  assert stats.gumbel_r.logsf(far * 10) == pytest.approx(-300.0)
  assert stats.truncnorm.logcdf(far, 29.0, 31.0) == pytest.approx(0.0, abs=1e-6)
  assert stats.cauchy.cdf(np.float32(-1e30)) == pytest.approx(3.1831e-31, rel=1e-3)
  assert stats.expon.logsf(np.float32(500.0)) == -500.0


def test_bernoulli_and_entropy() -> None:
  x = np.array([-1.0, 0.0, 0.5, 1.0, 2.0, np.nan])
  want = scipy.stats.bernoulli.cdf(x, 0.3)
  np.testing.assert_allclose(stats.bernoulli.cdf(x, 0.3), want, rtol=1e-6)
  np.testing.assert_array_equal(
      stats.bernoulli.ppf(np.array([-0.1, 0.3, 0.8, 1.0, 1.1]), 0.3),
      [np.nan, 0.0, 1.0, 1.0, np.nan])
  mu = np.array([0.0, 1e-3, 1.5, 30.0, 99.0, 101.0, 5000.0])
  with gnomon.enable_x64(True):
    got = stats.poisson.entropy(mu)
  np.testing.assert_allclose(got, scipy.stats.poisson.entropy(mu), rtol=1e-9)
