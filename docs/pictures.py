"""Pictures of the manual: activations, and random numbers against their densities.

`conf.py` draws them when the manual is built; by hand: `python docs/pictures.py FOLDER`.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from scipy import stats

import gnomon
from gnomon import nn, random

SAMPLES = 40_000
COLUMNS = 6
Draw = Callable[[Any, tuple[int, ...]], Any]
Curve = Callable[[Any], Any]


@dataclass(frozen=True)
class Picture:
  """How numbers are drawn, and the density (or the probabilities) they should have."""

  draw: Draw
  density: Curve
  low: float
  high: float
  counts: bool = False


def continuous(name: str, low: float, high: float, law: Any, *args: Any) -> Picture:
  """A distribution of real numbers whose law SciPy knows."""
  def draw(key: Any, shape: tuple[int, ...]) -> Any:
    return getattr(random, name)(key, *args, shape=shape)

  return Picture(draw, law.pdf, low, high)


def counted(draw: Draw, law: Any, low: int, high: int) -> Picture:
  """A distribution of integers."""
  return Picture(draw, law.pmf, low, high, counts=True)


def first(draw: Callable[[Any, int], Any]) -> Draw:
  """Of vectors or orders, the first element."""
  return lambda key, shape: draw(key, shape[0]).reshape(shape[0], -1)[:, 0]


def orders(key: Any, n: int) -> Any:
  """Random orders of five things."""
  return gnomon.vmap(lambda k: random.permutation(k, 5))(random.split(key, n))


def table(*odds: float) -> Any:
  """The law of an index that has these odds."""
  return stats.rv_discrete(values=(range(len(odds)), odds))


def two_sided_maxwell(x: Any) -> Any:
  """The density of a Maxwell variable with a random sign."""
  return stats.maxwell.pdf(np.abs(x)) / 2


ODDS = (0.1, 0.4, 0.2, 0.3)
MEAN, SPREAD = np.array([1.0, 0.0]), np.array([[2.0, 0.5], [0.5, 1.0]])
DISTRIBUTIONS = {
    "uniform": continuous("uniform", -0.2, 1.2, stats.uniform),
    "normal": continuous("normal", -4, 4, stats.norm),
    "truncated_normal": continuous(
        "truncated_normal", -2, 3, stats.truncnorm(-1, 2), -1.0, 2.0),
    "lognormal": continuous("lognormal", 0, 5, stats.lognorm(0.7), 0.7),
    "generalized_normal": continuous(
        "generalized_normal", -3, 3, stats.gennorm(4.0), 4.0),
    "multivariate_normal": Picture(
        first(lambda key, n: random.multivariate_normal(key, MEAN, SPREAD, (n,))),
        stats.norm(1, 2 ** 0.5).pdf, -4, 6),
    "exponential": continuous("exponential", 0, 5, stats.expon),
    "gamma": continuous("gamma", 0, 8, stats.gamma(2.0), 2.0),
    "loggamma": continuous("loggamma", -4, 3, stats.loggamma(2.0), 2.0),
    "chisquare": continuous("chisquare", 0, 12, stats.chi2(3.0), 3.0),
    "beta": continuous("beta", 0, 1, stats.beta(2.0, 5.0), 2.0, 5.0),
    "dirichlet": Picture(
        first(lambda key, n: random.dirichlet(key, np.array([2.0, 3.0, 4.0]), (n,))),
        stats.beta(2, 7).pdf, 0, 1),
    "t": continuous("t", -6, 6, stats.t(3.0), 3.0),
    "f": continuous("f", 0, 6, stats.f(5.0, 8.0), 5.0, 8.0),
    "cauchy": continuous("cauchy", -8, 8, stats.cauchy),
    "laplace": continuous("laplace", -5, 5, stats.laplace),
    "logistic": continuous("logistic", -7, 7, stats.logistic),
    "gumbel": continuous("gumbel", -3, 7, stats.gumbel_r),
    "maxwell": continuous("maxwell", 0, 5, stats.maxwell),
    "double_sided_maxwell": Picture(
        lambda key, shape: random.double_sided_maxwell(key, 0.0, 1.0, shape),
        two_sided_maxwell, -5, 5),
    "rayleigh": continuous("rayleigh", 0, 5, stats.rayleigh, 1.0),
    "weibull_min": continuous(
        "weibull_min", 0, 3, stats.weibull_min(2.5), 1.0, 2.5),
    "pareto": continuous("pareto", 0.8, 5, stats.pareto(3.0), 3.0),
    "triangular": continuous(
        "triangular", -0.2, 1.2, stats.triang(0.3), 0.0, 0.3, 1.0),
    "wald": continuous("wald", 0, 4, stats.invgauss(1.5), 1.5),
    "ball": Picture(
        lambda key, shape: np.linalg.norm(random.ball(key, 2, 2.0, shape), axis=-1),
        stats.triang(1.0).pdf, 0, 1.1),
    "orthogonal": Picture(
        first(lambda key, n: random.orthogonal(key, 4, (n,))),
        stats.semicircular.pdf, -1.1, 1.1),
    "poisson": counted(
        lambda key, shape: random.poisson(key, 4.0, shape), stats.poisson(4.0), 0, 13),
    "binomial": counted(
        lambda key, shape: random.binomial(key, 10.0, 0.3, shape),
        stats.binom(10, 0.3), 0, 10),
    "multinomial": counted(
        first(lambda key, n: random.multinomial(
            key, 10.0, np.array(ODDS), shape=(n, 4))), stats.binom(10, ODDS[0]), 0, 6),
    "geometric": counted(
        lambda key, shape: random.geometric(key, 0.3, shape), stats.geom(0.3), 1, 12),
    "bernoulli": counted(
        lambda key, shape: random.bernoulli(key, 0.3, shape), stats.bernoulli(0.3), 0, 1),
    "rademacher": counted(
        random.rademacher, stats.rv_discrete(values=((-1, 1), (0.5, 0.5))), -1, 1),
    "randint": counted(
        lambda key, shape: random.randint(key, shape, 2, 8), stats.randint(2, 8), 0, 9),
    "bits": counted(
        lambda key, shape: random.bits(key, shape, "uint8") % 8, stats.randint(0, 8),
        0, 7),
    "categorical": counted(
        lambda key, shape: random.categorical(key, np.log(ODDS), shape=shape),
        table(*ODDS), 0, 3),
    "choice": counted(
        lambda key, shape: random.choice(key, 4, shape, p=np.array(ODDS)),
        table(*ODDS), 0, 3),
    "permutation": counted(first(orders), stats.randint(0, 5), 0, 4),
}
ACTIVATIONS = (
    "relu", "relu6", "leaky_relu", "elu", "celu", "selu", "gelu", "silu", "mish",
    "softplus", "sparse_plus", "squareplus", "sigmoid", "hard_sigmoid", "sparse_sigmoid",
    "log_sigmoid", "tanh", "hard_tanh", "soft_sign", "hard_silu", "identity")


def grid(count: int) -> tuple[Any, list[Any]]:
  """A figure with places for `count` small pictures."""
  from matplotlib.figure import Figure
  rows = -(-count // COLUMNS)
  figure = Figure(figsize=(2.1 * COLUMNS, 1.75 * rows), layout="constrained")
  places = list(figure.subplots(rows, COLUMNS).flat)
  for place in places[count:]:
    place.set_axis_off()
  for place in places[:count]:
    place.tick_params(labelsize=6)
  return figure, places[:count]


def draw_distributions(path: pathlib.Path) -> None:
  """Histograms of every distribution's numbers, and the density as a line."""
  figure, places = grid(len(DISTRIBUTIONS))
  keys = random.split(random.key(0), len(DISTRIBUTIONS))
  for place, key, (name, it) in zip(places, keys, DISTRIBUTIONS.items()):
    x = np.asarray(it.draw(key, (SAMPLES,)))
    place.set_title(name, fontsize=8)
    if it.counts:
      values = np.arange(it.low, it.high + 1)
      found = [(x == v).mean() for v in values]
      place.bar(values, found, color="0.8")
      place.plot(values, it.density(values), "k_", markersize=8)
      continue
    found, edges = np.histogram(x, 60, (it.low, it.high))
    place.stairs(found / SAMPLES / np.diff(edges), edges, fill=True, color="0.8")
    xs = np.linspace(it.low, it.high, 301)
    place.plot(xs, it.density(xs), "k", linewidth=0.8)
  figure.savefig(path)


def draw_activations(path: pathlib.Path) -> None:
  """Activations, and their derivatives as dashed lines."""
  figure, places = grid(len(ACTIVATIONS))
  xs = np.linspace(-5, 5, 401, dtype=np.float32)
  for place, name in zip(places, ACTIVATIONS):
    values, slopes = gnomon.jvp(getattr(nn, name), (xs,), (np.ones_like(xs),))
    place.set_title(name, fontsize=8)
    place.axhline(0, color="0.8", linewidth=0.5)
    place.axvline(0, color="0.8", linewidth=0.5)
    place.plot(xs, values, "k", linewidth=1)
    place.plot(xs, slopes, "k--", linewidth=0.6)
  figure.savefig(path)


def draw(folder: pathlib.Path) -> None:
  """Draws all pictures into a folder."""
  folder.mkdir(parents=True, exist_ok=True)
  with mpl.rc_context({"svg.hashsalt": "gnomon"}):
    draw_activations(folder / "activations.svg")
    draw_distributions(folder / "distributions.svg")


if __name__ == "__main__":
  draw(pathlib.Path(sys.argv[1]))
