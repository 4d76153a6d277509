"""Runs a program written for gnomon under JAX: `under_jax.py PROGRAM ARGUMENTS...`."""

from __future__ import annotations

import importlib
import runpy
import sys

SLICES = ("numpy", "lax", "random", "tree", "tree_util", "nn", "image", "dtypes")


def alias() -> None:
  """Makes `import gnomon` and its slices give JAX's modules of the same name."""
  sys.modules["gnomon"] = importlib.import_module("jax")
  for name in SLICES:
    sys.modules[f"gnomon.{name}"] = importlib.import_module(f"jax.{name}")


if __name__ == "__main__":
  if len(sys.argv) < 2:
    sys.exit("under_jax.py needs the path of a program, and then its arguments")
  alias()
  sys.argv = sys.argv[1:]
  runpy.run_path(sys.argv[0], run_name="__main__")
