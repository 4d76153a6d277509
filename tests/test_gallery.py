"""The gallery shows every distribution and activation, and its densities are right."""

from __future__ import annotations

import pathlib
import runpy

import numpy as np
import pytest

from gnomon import nn, random

PICTURES = pathlib.Path(__file__).parent.parent / "docs" / "pictures.py"
KEYS = {
    "PRNGKey", "clone", "fold_in", "key", "key_data", "key_dtype", "key_impl",
    "random_gamma_p", "split", "wrap_key_data"}
NO_ACTIVATIONS = {
    "dot_product_attention", "get_scaled_dot_general_config", "glu", "hard_swish",
    "initializers", "log1mexp", "log_softmax", "logmeanexp", "logsumexp", "one_hot",
    "scaled_dot_general", "scaled_matmul", "softmax", "standardize", "swish"}


@pytest.fixture(scope="module")
def pictures():
  return runpy.run_path(str(PICTURES))


def test_all_are_shown(pictures):
  assert set(pictures["DISTRIBUTIONS"]) == set(random.__all__) - KEYS
  assert set(pictures["ACTIVATIONS"]) == set(nn.__all__) - NO_ACTIVATIONS


def test_densities_are_those_of_the_numbers(pictures):
  """The share of numbers in the lower half of a picture is the density's integral."""
  keys = random.split(random.key(1), len(pictures["DISTRIBUTIONS"]))
  for key, (name, it) in zip(keys, pictures["DISTRIBUTIONS"].items()):
    x = np.asarray(it.draw(key, (4000,))).astype(float)
    if it.counts:
      values = np.arange(it.low, (it.low + it.high) // 2 + 1)
      want, got = it.density(values).sum(), np.isin(x, values).mean()
    else:
      end = (2 * it.low + 1.1 * it.high) / 3.1
      xs = np.linspace(it.low, end, 20001)
      want = np.trapezoid(it.density(xs), xs)
      got = ((x > it.low) & (x < end)).mean()
    assert abs(got - want) < 4 * 0.5 / np.sqrt(4000), name
