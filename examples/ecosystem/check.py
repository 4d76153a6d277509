"""Runs a program under `gnomon.as_jax` and compares its numbers with JAX's.

`python check.py PROGRAM`; the numbers of JAX 0.10.2 are in `expected.json`: losses before
the first steps agree to 1e-5, those after many steps to 1e-3.
"""

import json
import math
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def flat(x):
  """The numbers in nested lists."""
  return [v for item in x for v in flat(item)] if isinstance(x, list) else [x]


def main(program):
  """Prints each number beside JAX's; the status says whether all agree."""
  path = str(HERE / f"{program}.py")
  done = subprocess.run(
      [sys.executable, "-W", "ignore", "-m", "gnomon.as_jax", path],
      stdout=subprocess.PIPE, text=True, check=True)
  got = json.loads(done.stdout.splitlines()[-1])
  wanted = json.loads((HERE / "expected.json").read_text())[program]
  bad = 0
  for name, expected in wanted.items():
    rtol = 1e-5 if name == "first" else 1e-3
    for x, y in zip(flat(got[name]), flat(expected), strict=True):
      agrees = math.isclose(x, y, rel_tol=rtol)
      bad += not agrees
      print(f"{name:10} gnomon {x:<22} jax {y:<22} {'ok' if agrees else 'differs'}")
  return bad


if __name__ == "__main__":
  sys.exit(main(sys.argv[1]))
