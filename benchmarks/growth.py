"""Time an operation as programs grow: what is not level is superlinear.

python benchmarks/growth.py            # some minutes, most of them for compiling
python benchmarks/growth.py --quick    # small sizes, no compiling
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import gnomon
from gnomon import lax

Run = Callable[[], Any]


def chain(n: int) -> Callable[[Any], Any]:
  """A function of `n` elementwise operations, one after the other."""
  def f(x: Any) -> Any:
    for _ in range(n // 2):
      x = lax.mul(lax.sin(x), 1.01)
    return x

  return f


def traced(n: int) -> Run:
  return lambda: gnomon.make_jaxpr(chain(n))(1.0)


def gradient(n: int) -> Run:
  return lambda: gnomon.make_jaxpr(gnomon.grad(chain(n)))(1.0)


def lowered(n: int) -> Run:
  program = gnomon.jit(chain(n)).trace(1.0)
  return program.lower


def compiled(n: int) -> Run:
  program = gnomon.jit(chain(n)).lower(1.0)
  return program.compile


def leaves(n: int) -> Run:
  """A cached call with a pytree of `n` arrays."""
  tree = {str(i): np.float32(i) for i in range(n)}
  f = gnomon.jit(lambda t: t["0"])
  f(tree)
  return lambda: f(tree)


def nested(n: int) -> Run:
  """The gradient of `n` jitted functions, each inside the next."""
  def make() -> Any:
    f: Any = lax.sin
    for _ in range(n):
      f = gnomon.jit(lambda x, f=f: lax.mul(f(x), 1.01))
    return gnomon.make_jaxpr(gnomon.grad(f))(1.0)

  return make


def scanned(n: int) -> Run:
  """The gradient of a scan whose body has `n` operations."""
  def make() -> Any:
    body = chain(n)
    f = lambda x: lax.scan(lambda c, _: (body(c), None), x, None, length=3)[0]  # noqa: E731
    return gnomon.make_jaxpr(gnomon.grad(f))(1.0)

  return make


SIZES: dict[str, tuple[Callable[[int], Run], list[int]]] = {
  "trace a chain": (traced, [100, 1_000, 10_000, 30_000]),
  "its gradient": (gradient, [100, 1_000, 10_000, 30_000]),
  "lower it": (lowered, [100, 1_000, 10_000, 30_000]),
  "compile it": (compiled, [100, 1_000, 10_000]),
  "a pytree's leaves": (leaves, [10, 100, 1_000, 10_000, 100_000]),
  "nested jit": (nested, [10, 50, 200]),
  "a scan's body": (scanned, [50, 500, 5_000]),
}


def seconds(run: Run) -> float:
  """Processor time of one run: the least of three, or the first if that took long."""
  best = float("inf")
  for _ in range(3):
    began = time.process_time()
    run()
    best = min(best, time.process_time() - began)
    if best > 1:
      break
  return best


def main() -> None:
  parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--quick", action="store_true", help="small sizes, no compiling")
  args = parser.parse_args()
  gnomon.config.update("keep_programs", False)  # what is loaded was not compiled
  print("| what | size | time | an operation |\n| --- | ---: | ---: | ---: |")
  for name, (make, sizes) in SIZES.items():
    if args.quick and make is compiled:
      continue
    for n in sizes[:-1] if args.quick else sizes:
      took = seconds(make(n))
      print(f"| {name} | {n:,} | {took * 1e3:.3g} ms | {took / n * 1e6:.3g} µs |")
      sys.stdout.flush()


if __name__ == "__main__":
  main()
