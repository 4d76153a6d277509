"""A measuring process: times workloads over one root module, as the parent asks.

Each line of input is a request: `load NAME`, `sample NAME COUNT`, `versions`. Each gets
one line of JSON. What measured code prints goes to the error stream.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from workloads import WORKLOADS, Call

SAMPLE = 0.01  # seconds that one sample should take; a slower call is a sample of its own
Prepared = tuple[Call, Callable[[Any], object]]


def magnitude(root: ModuleType, result: object) -> float | None:
  """The sum of the sizes of all numbers in `result`; None where there are none."""
  leaves = root.tree.leaves(result)
  if not leaves or not all(hasattr(x, "dtype") or isinstance(x, float) for x in leaves):
    return None
  return float(sum(np.sum(np.abs(np.asarray(x, np.float64))) for x in leaves))


def measure(root: ModuleType, prepared: Prepared, count: int) -> tuple[float, float]:
  """Seconds of the processor and of the clock on the wall for one of `count` calls."""
  prepare, call = prepared
  arguments = [prepare() for _ in range(count)]
  cpu, wall = time.process_time(), time.perf_counter()
  for argument in arguments:
    result = call(argument)
  if hasattr(root, "block_until_ready"):
    root.block_until_ready(result)
  return (time.process_time() - cpu) / count, (time.perf_counter() - wall) / count


def load(root: ModuleType, name: str) -> tuple[Prepared, dict[str, object]]:
  """Builds a workload, runs it warm and finds out how many calls make a sample."""
  build = WORKLOADS[name].build
  assert build is not None, name
  prepared = build(root)
  prepare, call = prepared
  result = call(prepare())
  answer: dict[str, object] = {"magnitude": magnitude(root, result)}
  count = 1
  while count < 10_000:
    seconds = min(measure(root, prepared, count)[1] for _ in range(2)) * count
    if seconds >= SAMPLE:
      break
    count = max(count * 2, int(count * SAMPLE / max(seconds, 1e-7)))
  return prepared, answer | {"count": count}


def versions() -> dict[str, str]:
  """What both sides must have in common."""
  names = ("jaxlib", "numpy", "ml_dtypes")
  python = {"python": platform.python_version()}
  return python | {name: importlib.metadata.version(name) for name in names}


def main() -> None:
  """Serves requests until the input ends."""
  root = importlib.import_module(sys.argv[1])
  answers = os.fdopen(os.dup(1), "w", buffering=1)
  os.dup2(2, 1)
  loaded: dict[str, Prepared] = {}
  for line in sys.stdin:
    verb, *words = line.split()
    answer: dict[str, object]
    try:
      if verb == "versions":
        answer = dict(versions())
      elif verb == "load":
        loaded[words[0]], answer = load(root, words[0])
      else:
        cpu, wall = measure(root, loaded[words[0]], int(words[1]))
        answer = {"cpu": cpu, "wall": wall}
    except Exception as e:  # noqa: BLE001 (a workload may fail in any way; the table says so)
      answer = {"error": f"{type(e).__name__}: {str(e).partition(chr(10))[0][:200]}"}
    answers.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
  main()
