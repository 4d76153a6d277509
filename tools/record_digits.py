"""Records what the digits example computes, as data for `tests/test_digits.py`.

Run it under JAX, as `python tools/under_jax.py tools/record_digits.py` in an environment
with `jax==0.10.2` and scikit-learn.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import numpy as np

import gnomon

ROOT = Path(__file__).parents[1]
STEPS, BATCH, PEAK = 10, 32, 0.1


def record() -> dict[str, object]:
  """The first steps from `key(0)`: losses, the network after them, gradient norms."""
  sys.path.insert(0, str(ROOT / "examples"))
  digits = importlib.import_module("digits")
  split_key, train_key = gnomon.random.split(gnomon.random.key(0))
  split, held_out = digits.load(split_key)
  run = digits.train(train_key, split, batch=BATCH, steps=STEPS, peak=PEAK)
  norms = np.asarray(digits.gradient_norms(run.params, held_out))
  return {
    "made_by": f"tools/record_digits.py with {gnomon.__name__} {gnomon.__version__}",
    "steps": STEPS,
    "batch": BATCH,
    "peak": PEAK,
    "held_out_labels": np.asarray(held_out.labels).tolist(),
    "losses": [float(x) for x in run.losses],
    "sums": [float(np.sum(np.abs(x))) for layer in run.params for x in layer],
    "gradient_norms": [float(x) for x in norms[:20]],
    "read": np.asarray(digits.read(run.params, held_out.images)).tolist(),
  }


if __name__ == "__main__":
  path = ROOT / "tests" / "data" / "digits_first_steps.json"
  path.write_text(json.dumps(record()) + "\n")
  print(path)
