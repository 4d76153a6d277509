"""Distributions against SciPy's, and at the edges of their parameters."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import scipy.stats

import gnomon
from gnomon import random

N = 4000
INF, NAN = np.inf, np.nan


def draw(name: str, *args: Any, seed: int = 40, **kwargs: Any) -> np.ndarray:
  return np.asarray(getattr(random, name)(random.key(seed), *args, **kwargs))


def spread(*values: float) -> tuple[np.ndarray, ...]:
  """Parameters that many samples share: one program for all of them."""
  return tuple(np.tile(np.float32(v), N) for v in values)


@pytest.mark.parametrize(
  ("name", "parameters", "distribution"),
  [
    ("beta", [(0.5, 2.0), (0.1, 3.0)], scipy.stats.beta),
    ("chisquare", [(0.4,), (9.0,)], scipy.stats.chi2),
    ("f", [(3.0, 8.0), (0.3, 0.2)], scipy.stats.f),
    ("gamma", [(0.2,), (1.0,), (30.0,)], scipy.stats.gamma),
    ("pareto", [(0.7,)], scipy.stats.pareto),
    ("t", [(0.8,), (30.0,), (1e12,)], scipy.stats.t),
    ("wald", [(0.5,), (3.0,), (1e4,)], scipy.stats.invgauss),
    (
      "truncated_normal",
      [(-1.0, 2.5), (3.0, INF), (4.0, 4.5), (9.0, INF), (-70.0, -60.0), (-INF, -5.0)],
      scipy.stats.truncnorm,
    ),
    (
      "triangular",
      [(0.0, 1.0, 4.0), (-1.0, -1.0, 2.0)],
      lambda a, m, b: scipy.stats.triang((m - a) / (b - a), a, b - a),
    ),
    ("generalized_normal", [(0.5,), (3.0,), (60.0,)], scipy.stats.gennorm),
  ],
)
def test_distribution_with_parameters(
  name: str, parameters: Any, distribution: Any
) -> None:
  for i, args in enumerate(parameters):
    numbers = draw(name, *spread(*args), seed=41 + i, shape=(N,)).astype(np.float64)
    assert scipy.stats.kstest(numbers, distribution(*args).cdf).pvalue > 1e-3


@pytest.mark.parametrize(
  ("name", "args", "distribution"),
  [
    ("cauchy", (), scipy.stats.cauchy()),
    ("exponential", (), scipy.stats.expon()),
    ("gumbel", (), scipy.stats.gumbel_r()),
    ("laplace", (), scipy.stats.laplace()),
    ("loggamma", (2.0,), scipy.stats.loggamma(2.0)),
    ("logistic", (), scipy.stats.logistic()),
    ("maxwell", (), scipy.stats.maxwell()),
    ("lognormal", (0.5,), scipy.stats.lognorm(0.5)),
    ("rayleigh", (2.0,), scipy.stats.rayleigh(scale=2.0)),
    ("weibull_min", (2.0, 1.5), scipy.stats.weibull_min(1.5, scale=2.0)),
  ],
)
def test_standard_distribution(name: str, args: Any, distribution: Any) -> None:
  numbers = draw(name, *args, shape=(N,))
  assert scipy.stats.kstest(numbers, distribution.cdf).pvalue > 1e-3


def test_signs() -> None:
  signs = draw("rademacher", (N,))
  assert set(signs.tolist()) == {-1, 1}
  both = (draw("double_sided_maxwell", 1.0, 2.0, (N,)) - 1.0) / 2.0
  assert scipy.stats.kstest(np.abs(both), scipy.stats.maxwell().cdf).pvalue > 1e-3
  for positive in ((signs > 0).sum(), (both > 0).sum()):
    assert scipy.stats.binomtest(positive, N).pvalue > 1e-3


def assert_counts(numbers: np.ndarray, distribution: Any) -> None:
  """Chi-square over ranges of counts that are about as likely."""
  edges = np.unique(distribution.ppf(np.linspace(0.05, 0.95, 19)))
  expected = np.diff(distribution.cdf(edges), prepend=0.0, append=1.0)
  ranges = np.searchsorted(edges, numbers.astype(np.float64))
  observed = np.bincount(ranges, minlength=len(expected))
  keep = expected > 0
  assert observed[~keep].sum() == 0
  assert scipy.stats.chisquare(
    observed[keep], expected[keep] / expected.sum() * len(numbers)).pvalue > 1e-3


def test_counts() -> None:
  for i, lam in enumerate((0.3, 9.0, 12.0, 400.0, 3e6, 2e8)):
    assert_counts(
      draw("poisson", *spread(lam), seed=50 + i, shape=(N,)),
      scipy.stats.poisson(float(np.float32(lam))))
  for i, p in enumerate((0.9, 0.2, 1e-3, 3e-8)):
    assert_counts(
      draw("geometric", *spread(p), seed=60 + i, shape=(N,)),
      scipy.stats.geom(float(np.float32(p))))
  for i, (n, p) in enumerate(
    ((5, 0.3), (40, 0.9), (1000, 0.02), (3e6, 0.4), (1e9, 1e-9), (2.0**30, 0.75))):
    assert_counts(
      draw("binomial", *spread(n, p), seed=70 + i, shape=(N,)),
      scipy.stats.binom(int(np.float32(n)), float(np.float32(p))))


def test_multinomial_adds_up() -> None:
  p = np.array([0.1, 0.0, 0.6, 0.3], np.float32)
  x = draw("multinomial", 20, p, shape=(1000, 4))
  assert (x.sum(-1) == 20).all()
  assert (x[:, 1] == 0).all()
  np.testing.assert_allclose(x.mean(0), 20 * p, atol=0.3)


def test_dirichlet_and_ball() -> None:
  alpha = np.array([0.5, 2.0, 1.5], np.float32)
  x = draw("dirichlet", alpha, shape=(N,))
  np.testing.assert_allclose(x.sum(-1), 1, rtol=1e-5)
  assert scipy.stats.kstest(x[:, 0], scipy.stats.beta(0.5, 3.5).cdf).pvalue > 1e-3
  for p in (1.0, 2.0, 2000.0, INF):
    points = draw("ball", 3, np.float32(p), shape=(N,)).astype(np.float64)
    radii = np.linalg.norm(points, p if p < 1000 else INF, axis=-1)
    assert scipy.stats.kstest(radii, lambda r: r**3).pvalue > 1e-3


def test_vectors_and_matrices() -> None:
  cov = np.array([[2.0, 0.6, 0.0], [0.6, 1.0, 0.3], [0.0, 0.3, 0.5]], np.float32)
  mean = np.array([1.0, -2.0, 0.0], np.float32)
  for method in ("cholesky", "eigh", "svd"):
    x = draw("multivariate_normal", mean, cov, (N,), method=method)
    np.testing.assert_allclose(x.mean(0), mean, atol=0.1)
    np.testing.assert_allclose(np.cov(x.T), cov, atol=0.15)
  ones = np.ones((3, 3), np.float32)
  flat = draw("multivariate_normal", mean, ones, (5,), method="eigh")
  shifted = flat - mean
  np.testing.assert_allclose(shifted, shifted[:, :1].repeat(3, 1), atol=1e-4)
  q = draw("orthogonal", 3, (500,))
  identities = np.tile(np.eye(3), (500, 1, 1))
  np.testing.assert_allclose(q @ q.swapaxes(1, 2), identities, atol=1e-5)
  assert abs(np.linalg.det(q).mean()) < 0.2


@pytest.mark.parametrize(
  ("name", "args", "expected"),
  [
    ("gamma", ([0.0, -0.5, NAN, INF],), [0.0, NAN, NAN, INF]),
    ("loggamma", ([0.0, -0.5, NAN, INF],), [-INF, NAN, NAN, INF]),
    ("chisquare", ([0.0, -1.0, NAN, INF],), [0.0, NAN, NAN, INF]),
    (
      "beta",
      ([0.0, 1.0, INF, NAN, -1.0], [1.0, 0.0, 2.0, 1.0, 1.0]),
      [0.0, 1.0, 1.0, NAN, NAN],
    ),
    ("f", ([INF, NAN, 1.0], [INF, 1.0, -1.0]), [1.0, NAN, NAN]),
    ("t", ([0.0, -1.0, NAN],), [NAN] * 3),
    ("pareto", ([INF, -1.0, NAN],), [1.0, NAN, NAN]),
    ("rayleigh", ([0.0, -1.0, NAN],), [0.0, NAN, NAN]),
    ("wald", ([0.0, -1.0, NAN],), [0.0, NAN, NAN]),
    ("triangular", ([1.0, 0.0, 0.0], [1.0, 3.0, NAN], [1.0, 2.0, 1.0]), [1.0, NAN, NAN]),
    (
      "truncated_normal",
      ([1.0, 2.0, NAN, 0.0, 40.0], [1.0, 1.0, 1.0, NAN, 40.0]),
      [1.0, NAN, NAN, NAN, 40.0],
    ),
    ("poisson", ([0.0, -1.0, NAN, INF, 1e20],), [0, -1, -1, 2**31 - 1, 2**31 - 1]),
    ("geometric", ([0.0, 1.0, -1.0, 2.0, NAN],), [2**31 - 1, 1, -1, -1, -1]),
    (
      "binomial",
      ([7, 7, 0, INF, INF, INF, -1, NAN, 7, 7], [0, 1, 0.5, 0, 1, 0.3, 0.5, 0.5, NAN, 2]),
      [0, 7, 0, 0, INF, INF, NAN, NAN, NAN, NAN],
    ),
  ],
)
def test_edges(name: str, args: Any, expected: Any) -> None:
  args = [np.asarray(a, np.float32) for a in args]
  np.testing.assert_array_equal(draw(name, *args), np.asarray(expected, np.float64))


def test_narrow_numbers() -> None:
  p = draw("geometric", ml_dtypes.bfloat16(0.1), (N,))
  assert p.min() >= 1
  assert abs(p.mean() - 10) < 1
  b = draw("binomial", np.float16(100), np.float16(0.5), (N,))
  assert abs(b.std() - 5) < 0.5
  assert draw("poisson", NAN, (), "uint8") == 255


def test_shapes_that_do_not_fit_are_named() -> None:
  with pytest.raises(ValueError, match=r"gamma: the shape \(3,\) of a .* \(2,\)"):
    random.gamma(random.key(0), np.ones(3), (2,))
  with pytest.raises(ValueError, match=r"beta: .* a \(3,\), b \(2,\)"):
    random.beta(random.key(0), np.ones(3), np.ones(2))
  with pytest.raises(TypeError, match="t: df must be real"):
    random.t(random.key(0), 1j)
  assert draw("gamma", np.ones((0, 3))).shape == (0, 3)


def test_mapped_over_keys_as_in_a_loop() -> None:
  keys = random.split(random.key(80), 3)
  a = np.array([0.5, 2.0, 9.0], np.float32)
  for name in ("gamma", "poisson"):
    function = getattr(random, name)
    mapped = gnomon.vmap(lambda k, a, f=function: f(k, a, (4,)))(keys, a)
    looped = np.stack([np.asarray(function(k, x, (4,))) for k, x in zip(keys, a)])
    np.testing.assert_allclose(mapped, looped, rtol=1e-6)




@pytest.mark.parametrize(("name", "args"), [
    ("poisson", (3.0,)), ("poisson", (9.95,)), ("poisson", (10.2,)), ("poisson", (-1.0,)),
    ("poisson", (NAN,)), ("poisson", (INF,)), ("binomial", (5.0, 0.3)),
    ("binomial", (1000.0, 0.99)), ("binomial", (1000.0, 0.4)), ("binomial", (3e6, 0.4)),
    ("binomial", (20.0, 0.5)), ("binomial", (-2.0, 0.5)), ("binomial", (INF, 0.5)),
    ("binomial", (7.0, NAN)), ("binomial", (7.0, 2.0))])
def test_numbers_and_arrays_of_parameters_agree(name: str, args: tuple[float]) -> None:
  """Of numbers it is known which method they need."""
  arrays = (np.full(200, x, np.float32) for x in args)
  np.testing.assert_array_equal(draw(name, *args, shape=(200,)), draw(name, *arrays))


def test_uniform_between_far_bounds() -> None:
  x = draw("uniform", (N,), minval=-3e38, maxval=3e38).astype(np.float64)
  assert scipy.stats.kstest(x, scipy.stats.uniform(-3e38, 6e38).cdf).pvalue > 1e-3


@pytest.mark.parametrize(
  ("name", "args"),
  [("ball", (2, 2.0)), ("bernoulli", (0.3,)), ("beta", (1.0, 2.0)), ("bits", ()),
   ("binomial", (9.0, 0.5)), ("cauchy", ()), ("chisquare", (2.0,)), ("exponential", ()),
   ("f", (1.0, 2.0)), ("generalized_normal", (2.0,)), ("geometric", (0.5,)),
   ("gumbel", ()), ("laplace", ()), ("logistic", ()), ("lognormal", (1.0,)),
   ("maxwell", ()), ("normal", ()), ("pareto", (1.0,)), ("poisson", (3.0,)),
   ("rademacher", ()), ("rayleigh", (1.0,)), ("t", (3.0,)),
   ("triangular", (0.0, 0.5, 1.0)), ("truncated_normal", (-1.0, 1.0)), ("uniform", ()),
   ("wald", (1.0,)), ("weibull_min", (1.0, 2.0))],
)
def test_no_samples(name: str, args: Any) -> None:
  key = random.key(1)
  out = gnomon.eval_shape(lambda: getattr(random, name)(key, *args, shape=(0, 3)))
  found = getattr(random, name)(key, *args, shape=(0, 3))
  assert found.shape == out.shape == ((0, 3, 2) if name == "ball" else (0, 3))
  assert found.dtype == out.dtype
