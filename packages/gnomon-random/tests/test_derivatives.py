"""Samples move with the parameters so that their quantiles stay: implicit derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special
import scipy.stats

import gnomon
import gnomon.numpy as gnp
from gnomon import random

CONCENTRATIONS = np.array([0.02, 0.3, 1.0, 1.7, 8.0, 300.0])
STEP = 1e-6


def slope_at_quantile(
  quantile: Callable[[Any, Any], Any], a: np.ndarray, p: np.ndarray
) -> np.ndarray:
  """How a quantile function of a parameter and of p changes with the parameter."""
  h = STEP * a
  return (quantile(a + h, p) - quantile(a - h, p)) / (2 * h)


@pytest.mark.parametrize("name", ["gamma", "loggamma"])
def test_gamma_moves_along_its_quantile(name: str) -> None:
  key = random.key(1)
  a = np.tile(CONCENTRATIONS, (5, 1))

  def draw(a: Any) -> Any:
    return getattr(random, name)(key, a, dtype="float64")

  with gnomon.enable_x64(True):
    x, slope = (np.asarray(v) for v in gnomon.jvp(draw, (a,), (np.ones_like(a),)))
    x, to_log = (np.exp(x), x) if name == "loggamma" else (x, np.log(x))
    known = x > 1e-290
    expected = slope_at_quantile(
      scipy.special.gammaincinv, a, scipy.special.gammainc(a, x))
    if name == "loggamma":
      expected = expected / x
      tiny = (scipy.special.digamma(a + 1) - to_log) / a
      np.testing.assert_allclose(slope[x < 1e-17], tiny[x < 1e-17], rtol=1e-12)
    # SciPy's inverses are less exact where quantiles are close to 0.
    known &= a > 0.1
    assert known.sum() >= 20
    np.testing.assert_allclose(slope[known], expected[known], rtol=2e-5)
    back = gnomon.grad(lambda a: gnp.sum(draw(a)))(a)
    np.testing.assert_allclose(back, slope, rtol=1e-12)


def test_derivatives_are_finite_in_short_types() -> None:
  a = CONCENTRATIONS.astype(np.float32)
  for name in ("gamma", "loggamma"):
    draw = getattr(random, name)
    slope = gnomon.grad(lambda a, f=draw: gnp.sum(f(random.key(2), a)))(a)
    assert np.isfinite(slope).all()


def test_beta_moves_along_its_quantile() -> None:
  """In a and b together: E[dx/da] is the derivative of the mean."""
  with gnomon.enable_x64(True):
    a, b = np.float64(1.5), np.float64(0.6)
    n = 4000

    def mean(a: Any, b: Any) -> Any:
      return gnp.mean(random.beta(random.key(3), a, b, (n,)))

    by_a, by_b = gnomon.grad(mean, (0, 1))(a, b)
    total = (a + b) ** 2
    assert abs(by_a - b / total) < 0.01
    assert abs(by_b + a / total) < 0.01


def test_dirichlet_and_beta_by_the_chain_rule() -> None:
  """Finite differences of the composition, with gamma variables moved by hand."""
  with gnomon.enable_x64(True):
    alpha, direction = np.array([0.7, 2.0, 3.5]), np.array([0.3, -0.5, 1.0])
    key = random.key(4)
    x = np.asarray(random.loggamma(key, alpha))
    p = scipy.special.gammainc(alpha, np.exp(x))

    def moved(h: float) -> np.ndarray:
      g = scipy.special.gammaincinv(alpha + h * direction, p)
      return g / g.sum()

    out, slope = gnomon.jvp(lambda a: random.dirichlet(key, a), (alpha,), (direction,))
    np.testing.assert_allclose(out, moved(0.0), rtol=1e-10)
    np.testing.assert_allclose(
      slope, (moved(STEP) - moved(-STEP)) / (2 * STEP), rtol=1e-5)


@pytest.mark.parametrize(
  ("low", "high"), [(-1.0, 2.0), (6.0, 9.0), (-30.0, -20.0), (7.0, np.inf)])
def test_truncated_normal_moves_with_its_bounds(low: float, high: float) -> None:
  key = random.key(5)
  with gnomon.enable_x64(True):
    def draw(low: Any, high: Any) -> Any:
      return gnp.sum(random.truncated_normal(key, low, high, (50,), "float64"))

    bounds = np.float64(low), np.float64(high)
    slopes = gnomon.grad(draw, (0, 1))(*bounds)
    for i, (slope, bound) in enumerate(zip(slopes, bounds)):
      if not np.isfinite(bound):
        assert slope == 0.0
        continue
      h = 1e-5
      above, below = (
        draw(*(b + s * h * (i == j) for j, b in enumerate(bounds))) for s in (1, -1))
      expected = (above - below) / (2 * h)
      np.testing.assert_allclose(slope, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
  ("name", "args"),
  [("pareto", (3.0,)), ("rayleigh", (2.0,)), ("lognormal", (0.7,)), ("wald", (1.5,)),
   ("weibull_min", (2.0, 1.5)), ("triangular", (0.0, 1.0, 4.0)),
   ("generalized_normal", (1.5,)), ("t", (3.0,))],
)
def test_first_parameter_by_differences(name: str, args: tuple[float, ...]) -> None:
  """Parameters shift samples smoothly, but for those of the gamma variables within."""
  if name in ("generalized_normal", "t"):
    slope = gnomon.grad(lambda p: gnp.sum(getattr(random, name)(random.key(6), p, (8,))))
    assert np.isfinite(slope(args[0]))
    return
  with gnomon.enable_x64(True):
    def draw(p: Any) -> Any:
      return gnp.sum(getattr(random, name)(random.key(6), p, *args[1:], (8,)))

    x, h = np.float64(args[0]), 1e-6
    expected = (draw(x + h) - draw(x - h)) / (2 * h)
    np.testing.assert_allclose(gnomon.grad(draw)(x), expected, rtol=1e-6)
