"""Programs as data: a list of steps that runs in gnomon and in NumPy."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

Shape = tuple[int, ...]
Array = np.ndarray[Any, Any]
FLAGS = 4
"""The integer operand of a program is drawn below this number."""


@dataclasses.dataclass(frozen=True)
class Value:
  """What is known of a value: its shape, and bounds that keep programs tame.

  Attributes:
    shape: the shape; the dtype is float64.
    bound: no element is greater in absolute value.
    slope: a bound on derivatives with respect to the inputs, more or less.
  """

  shape: Shape
  bound: float = 1.0
  slope: float = 1.0


@dataclasses.dataclass(frozen=True)
class Step:
  """An operation of a program.

  Attributes:
    name: how it is printed.
    run: what it does: takes the flag of the program, and the operands.
    reference: the same in NumPy.
    operands: the places of the operands among the values of the program.
    result: what is known of the result.
    margin: how far operands (in NumPy) are from a place without derivative.
    accuracy: the error of the reference.
    parts: programs inside, printed below the step.
  """

  name: str
  run: Callable[..., Any]
  reference: Callable[..., Any]
  operands: tuple[int, ...]
  result: Value
  margin: Callable[..., float] | None = None
  accuracy: float = 1e-9
  parts: tuple[Program, ...] = ()


@dataclasses.dataclass(frozen=True)
class Program:
  """Steps over float64 inputs and one small integer, the flag.

  It is a function: `program(flag, *inputs)` returns the list of its outputs.
  """

  inputs: tuple[Value, ...]
  steps: tuple[Step, ...]
  outputs: tuple[int, ...]

  def __call__(self, flag: Any, *inputs: Any) -> list[Any]:
    values = list(inputs)
    for step in self.steps:
      values.append(step.run(flag, *[values[i] for i in step.operands]))
    return [values[i] for i in self.outputs]

  @property
  def accuracy(self) -> float:
    """The error of the reference."""
    return max(step.accuracy for step in self.steps)

  def reference(self, flag: int, *inputs: Array) -> list[Array]:
    """The outputs, by NumPy."""
    values = list(inputs)
    for step in self.steps:
      operands = [values[i] for i in step.operands]
      values.append(np.asarray(step.reference(flag, *operands)))
    return [values[i] for i in self.outputs]

  def margin(self, flag: int, *inputs: Array) -> float:
    """How far the inputs are from a place where a step has no derivative."""
    values, least = list(inputs), np.inf
    for step in self.steps:
      operands = [values[i] for i in step.operands]
      if step.margin is not None:
        least = min(least, step.margin(*operands))
      values.append(np.asarray(step.reference(flag, *operands)))
    return float(least)

  def result(self, output: int) -> Value:
    """What is known of an output."""
    place = self.outputs[output]
    count = len(self.inputs)
    return self.inputs[place] if place < count else self.steps[place - count].result

  def draw_args(self, seed: int) -> tuple[Any, ...]:
    """A flag, and random inputs within their bounds."""
    rng = np.random.default_rng(seed)
    flag = np.int32(rng.integers(FLAGS))
    return (flag, *[np.asarray(rng.uniform(-v.bound, v.bound, v.shape))
                    for v in self.inputs])

  def __str__(self) -> str:
    return "\n".join(self._lines(""))

  __repr__ = __str__

  def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # what hypothesis prints
    printer.text(f"\n{self}\n")

  def _lines(self, indent: str) -> list[str]:
    count = len(self.inputs)
    names = ", ".join(f"v{i}: {v.shape}" for i, v in enumerate(self.inputs))
    lines = [f"{indent}program(flag, {names}):"]
    for i, step in enumerate(self.steps):
      operands = ", ".join(f"v{k}" for k in step.operands)
      lines.append(f"{indent}  v{count + i} = {step.name}({operands})  "
                   f"# {step.result.shape}")
      for part in step.parts:
        lines += part._lines(indent + "    ")
    results = ", ".join(f"v{i}" for i in self.outputs)
    return [*lines, f"{indent}  return {results}"]
