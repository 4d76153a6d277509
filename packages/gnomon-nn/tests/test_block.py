"""A transformer block trained for 20 steps, with JAX's losses, gradients and weights."""

from __future__ import annotations

import base64
import json
import runpy
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def block():
  return runpy.run_path(str(HERE / "block.py"))


def decode(given):
  data = np.frombuffer(base64.b64decode(given["data"]), given["dtype"])
  return data.reshape(given["shape"])


def test_training_of_jax(block):
  want = json.loads((HERE / "data" / "block.json").read_text())
  losses, slopes, weights = block["train"]()
  np.testing.assert_allclose(losses, want["losses"], rtol=1e-5)
  for found, recorded in ((slopes, want["slopes"]), (weights, want["weights"])):
    assert sorted(found) == sorted(recorded)
    for name, x in found.items():
      np.testing.assert_allclose(x, decode(recorded[name]), rtol=1e-5, atol=1e-5)
