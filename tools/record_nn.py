"""Records weights and a training as data for the tests of `gnomon-nn`.

Run it under JAX, as `python tools/under_jax.py tools/record_nn.py` in an environment with
`jax==0.10.2`. `initializers.jsonl` has a call and the weights it gave on each line;
`block.json` has what the program `packages/gnomon-nn/tests/block.py` gives.
"""

from __future__ import annotations

import base64
import itertools
import json
import runpy
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import gnomon
from gnomon import nn, random

TESTS = Path(__file__).parents[1] / "packages" / "gnomon-nn" / "tests"
SHAPES = ((3, 4), (2, 3, 4), (0, 3))
DTYPES = ("float32", "bfloat16", "complex64")
MAKERS: tuple[tuple[str, dict[str, Any]], ...] = (
  ("uniform", {"scale": 2.0}),
  ("normal", {"stddev": 2.0}),
  ("truncated_normal", {"stddev": 0.5, "lower": -1.0, "upper": 3.0}),
  ("constant", {"value": 3}),
  ("glorot_uniform", {}),
  ("glorot_normal", {"in_axis": 0, "out_axis": 1}),
  ("lecun_uniform", {}),
  ("lecun_normal", {}),
  ("he_uniform", {}),
  ("he_normal", {"batch_axis": 0}),
  *(
    ("variance_scaling", {"scale": 1.5, "mode": mode, "distribution": how})
    for mode, how in itertools.product(
      ("fan_in", "fan_out", "fan_avg", "fan_geo_avg"),
      ("truncated_normal", "normal", "uniform"),
    )
  ),
  ("orthogonal", {"scale": 2.0}),
  ("orthogonal", {"column_axis": 0}),
  ("delta_orthogonal", {}),
)


def encode(x: gnomon.Array) -> dict[str, Any]:
  """An array as dtype, shape and the bytes of its elements."""
  array = np.asarray(x)
  data = base64.b64encode(array.astype(array.dtype.newbyteorder("<")).tobytes()).decode()
  return {"dtype": array.dtype.name, "shape": list(array.shape), "data": data}


def initializers() -> Iterator[dict[str, Any]]:
  """Calls and weights; what JAX refuses is left out."""
  for (name, given), shape, dtype in itertools.product(MAKERS, SHAPES, DTYPES):
    call = {"name": name, "given": given, "shape": list(shape), "dtype": dtype}
    try:
      weights = getattr(nn.initializers, name)(**given)(random.key(3), shape, dtype)
    except (TypeError, ValueError, IndexError, ZeroDivisionError, NotImplementedError):
      continue
    yield call | {"weights": encode(weights)}
  wide = nn.initializers.he_normal()
  with gnomon.enable_x64(True):
    call = {"name": "he_normal", "given": {}, "shape": [3, 4], "dtype": "float64"}
    yield call | {"weights": encode(wide(random.key(3), (3, 4), "float64"))}


def main() -> None:
  """Writes both files."""
  warnings.simplefilter("ignore")
  lines = [json.dumps(line) for line in initializers()]
  (TESTS / "data" / "initializers.jsonl").write_text("\n".join(lines) + "\n")
  losses, slopes, weights = runpy.run_path(str(TESTS / "block.py"))["train"]()
  found = {"losses": losses}
  found |= {"slopes": {name: encode(x) for name, x in slopes.items()}}
  found |= {"weights": {name: encode(x) for name, x in weights.items()}}
  (TESTS / "data" / "block.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
  main()
