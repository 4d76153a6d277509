"""Records what the generators beside the default one draw, for `gnomon-random`'s tests.

Run it under JAX, as `python tools/under_jax.py tools/record_random_generators.py` in an
environment with `jax==0.10.2`. Each case is an expression of `key` and what it gave.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import gnomon
from gnomon import random

TO = Path(__file__).parents[1] / (
    "packages/gnomon-random/tests/data/generators.json")
IMPLS = (
    "threefry2x32", "threefry4x32", "philox2x32", "philox4x32", "rbg", "unsafe_rbg")
CALLS = (
    "random.key_data(key)",
    "random.bits(key, (5,), 'uint8')",
    "random.bits(key, (2, 3), 'uint16')",
    "random.bits(key, (3,))",
    "random.key_data(random.split(key, (2, 2)))",
    "random.key_data(random.fold_in(key, 9))",
    "vmap(vmap(lambda k: random.bits(k, (2,))))(random.split(key, (2, 2)))")
MAPPED = (
    "random.key_data(vmap(lambda k: random.fold_in(k, 5))(random.split(key, 3)))",
    "random.key_data(vmap(lambda d: random.fold_in(key, d))(np.arange(3)))",
    "random.key_data(vmap(lambda k: random.split(k, 2))(random.split(key, 3)))")
DRAWN = (
    "random.uniform(key, (3,))",
    "random.randint(key, (4,), 0, 100)",
    "random.gamma(key, 2.0, (3,)).round(4)")
CASES = [
    *((impl, True, CALLS) for impl in IMPLS[1:]),
    *((impl, True, MAPPED) for impl in ("rbg", "unsafe_rbg")),
    ("rbg", True, DRAWN), ("rbg", False, CALLS[4:5]),
    ("threefry2x32", False, CALLS + DRAWN)]


def main() -> None:
  """Writes the file."""
  cases = []
  for impl, partitionable, calls in CASES:
    for call in calls:
      with gnomon.threefry_partitionable(partitionable):
        key = random.key(1701, impl=impl)
        result = eval(  # noqa: S307 -- the calls above
            call, {"random": random, "key": key, "vmap": gnomon.vmap, "np": np})
      cases.append({
          "name": f"{impl}-{call.replace(' ', '')}", "impl": impl, "seed": 1701,
          "partitionable": partitionable, "call": call,
          "result": np.asarray(result).tolist()})
  TO.write_text("[\n" + ",\n".join(map(json.dumps, cases)) + "\n]\n")


if __name__ == "__main__":
  main()
