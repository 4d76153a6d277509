"""Times the steps of gnomon's core one by one: what a single operation costs in each."""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core.jaxpr import ClosedJaxpr, eval_jaxpr
from gnomon.core.stage import StageTrace, infer, trace_to_closed
from gnomon.core.trace import tracing
from gnomon.core.types import typeof
from gnomon.core.zero import UndefinedPrimal
from gnomon.lowering.module import lower_module
from gnomon.transform.linearize import Linearized, linearize_flat
from gnomon.transform.transpose import backward
from gnomon.transform.vmap import Axis, vmap_flat

OPS = 1000  # a sine and a product in turn
ROUNDS = 15
X = np.ones(8, np.float32)
AVAL = typeof(X)

STEPS: dict[str, tuple[str, Callable[[], float]]] = {}


def step(title: str) -> Callable[[Callable[[], float]], Callable[[], float]]:
  """Registers a function that returns the seconds of one operation in one step."""

  def register(measure: Callable[[], float]) -> Callable[[], float]:
    STEPS[measure.__name__] = (title, measure)
    return measure

  return register


def chain(x: Any) -> Sequence[Any]:
  """The program: `OPS` elementwise operations, one after the other."""
  y = x
  for _ in range(OPS // 2):
    y = lax.mul(lax.sin(y), x)
  return (y,)


def seconds(work: Callable[[], object], count: int = OPS) -> float:
  """Processor seconds of one of the `count` operations in `work`, now."""
  start = time.process_time()
  work()
  return (time.process_time() - start) / count


def closed() -> ClosedJaxpr:
  """The program as a jaxpr."""
  return trace_to_closed(chain, [AVAL])


@step("call a function of `lax` while tracing: operands, `bind`, a new equation")
def bind() -> float:
  trace = StageTrace()
  with tracing(trace):
    x = trace.new(AVAL)
    return seconds(lambda: chain(x))


@step("the typing rule's memo alone")
def typing() -> float:
  eqn = closed().jaxpr.eqns[1]
  primitive, types, params = eqn.primitive, [v.aval for v in eqn.invars], eqn.params

  def work() -> None:
    for _ in range(OPS):
      infer(primitive, types, params)

  return seconds(work)


@step("`process`: the types looked up and an equation appended")
def process() -> float:
  eqn, trace = closed().jaxpr.eqns[0], StageTrace()
  primitive, params, args = eqn.primitive, eqn.params, (trace.new(AVAL),)

  def work() -> None:
    for _ in range(OPS):
      trace.process(primitive, args, params)

  return seconds(work)


@step("`eval_jaxpr` into a new trace")
def replay() -> float:
  jaxpr, trace = closed(), StageTrace()
  with tracing(trace):
    x = trace.new(AVAL)
    return seconds(lambda: eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, x))


def linearized(trace: StageTrace) -> Linearized:
  """The linear program of the chain, its residuals in `trace`."""
  return linearize_flat(chain, [trace.new(AVAL)])[1]


@step("linearise: the primal and its linear part recorded")
def linearize() -> float:
  trace = StageTrace()
  with tracing(trace):
    return seconds(lambda: linearized(trace))


@step("transpose the linear program, per operation of the primal")
def transpose() -> float:
  trace = StageTrace()
  with tracing(trace):
    linear, ct = linearized(trace), trace.new(AVAL)
    unknown = [UndefinedPrimal(v.aval) for v in linear.jaxpr.invars]
    return seconds(lambda: backward(linear.jaxpr, linear.residuals, unknown, [ct]))


@step("vmap: the batching rule, and the operation that it binds")
def vmap() -> float:
  trace = StageTrace()
  with tracing(trace):
    xs, axis = trace.new(typeof(np.ones((2, 8), np.float32))), Axis(2)
    return seconds(lambda: vmap_flat(chain, axis, [xs], [0]))


@step("lower: StableHLO of an equation")
def lower() -> float:
  jaxpr = closed()
  return seconds(lambda: lower_module(jaxpr, "chain"))


@step("an eager operation on an array: compiled before, run now")
def eager() -> float:
  x = lax.sin(X)

  def work() -> None:
    for _ in range(OPS):
      y = lax.sin(x)
    y.block_until_ready()

  return seconds(work)


def options() -> argparse.ArgumentParser:
  """The command line."""
  parser = argparse.ArgumentParser(description=__doc__)
  parser.add_argument("only", nargs="*", choices=[[], *STEPS], help="steps (default all)")
  parser.add_argument("--json", type=Path, help="write the numbers to this file too")
  return parser


def main(argv: Sequence[str] | None = None) -> None:
  """Measures and prints nanoseconds an operation: the median, and the fastest."""
  args = options().parse_args(argv)
  found: dict[str, dict[str, float]] = {}
  print("| step | median | fastest | |\n| --- | ---: | ---: | --- |")
  for name, (title, measure) in STEPS.items():
    if args.only and name not in args.only:
      continue
    measure()  # fills the memos
    samples = [measure() * 1e9 for _ in range(ROUNDS)]
    found[name] = {"median": statistics.median(samples), "fastest": min(samples)}
    cells = " | ".join(f"{value:,.0f} ns" for value in found[name].values())
    print(f"| `{name}` | {cells} | {title} |", flush=True)
  if args.json:
    args.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
  main()
