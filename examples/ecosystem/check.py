"""Runs a program under `gnomon.as_jax` and compares its numbers with JAX's.

`python check.py PROGRAM`; the numbers of JAX 0.10.2 are in `expected.json`: losses before
the first steps agree to 1e-5, those after many steps to 1e-3. `python check.py PROGRAM
--record`, in an environment with JAX, writes them.
"""

import json
import math
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
EXPECTED = HERE / "expected.json"


def flat(x):
  """The numbers in nested lists."""
  return [v for item in x for v in flat(item)] if isinstance(x, list) else [x]


def numbers(program, *alias):
  """What the program prints at its end."""
  path = str(HERE / f"{program}.py")
  done = subprocess.run(
      [sys.executable, "-W", "ignore", *alias, path],
      stdout=subprocess.PIPE, text=True, check=True)
  return json.loads(done.stdout.splitlines()[-1])


def record(program):
  """Writes the numbers of JAX."""
  known = json.loads(EXPECTED.read_text())
  known[program] = numbers(program)
  EXPECTED.write_text(json.dumps(known, indent=1) + "\n")


def compare(program):
  """Prints each number beside JAX's; the number of those that differ."""
  got = numbers(program, "-m", "gnomon.as_jax")
  bad = 0
  for name, expected in json.loads(EXPECTED.read_text())[program].items():
    rtol = 1e-5 if name == "first" else 1e-3
    for x, y in zip(flat(got[name]), flat(expected), strict=True):
      agrees = math.isclose(x, y, rel_tol=rtol)
      bad += not agrees
      print(f"{name:10} gnomon {x:<22} jax {y:<22} {'ok' if agrees else 'differs'}")
  return bad


if __name__ == "__main__":
  if "--record" in sys.argv:
    record(sys.argv[1])
  else:
    sys.exit(min(compare(sys.argv[1]), 1))
