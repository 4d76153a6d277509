"""Programs that are evaluated operation by operation, planned beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Literal
from gnomon.runtime.execute import as_operand, replay

# Operations that hold programs and that are compiled as a whole wherever they are met.
_WHOLE = frozenset({"jit", "scan", "while"})
# Those whose program is evaluated operation by operation.
_OPEN = frozenset({"custom_jvp_call", "custom_vjp_call"})


class Unplanned(Exception):
  """A program has operations whose evaluation depends on more than their types."""


class Plan:
  """How a program is evaluated: operations, and places for what they take and give.

  The first places are those of `constants`, which the caller fills, then of the inputs.
  """

  __slots__ = ("outs", "rest", "size", "steps")

  def __init__(self, jaxpr: Jaxpr) -> None:
    """Raises `Unplanned` if the program cannot be evaluated in this way."""
    self.rest: list[tuple[int, Any]] = []
    places: dict[Any, int] = {}
    for v in (*jaxpr.constvars, *jaxpr.invars):
      places[v] = len(places)
    self.size = len(places)
    steps: list[list[Any]] = []
    self._add(jaxpr.eqns, places, steps)
    self.outs = [self._place(v, places) for v in jaxpr.outvars]
    self.steps = _with_deaths(steps, set(self.outs))

  def _place(self, v: Any, places: dict[Any, int]) -> int:
    if type(v) is not Literal:
      return places[v]
    self.rest.append((self.size, as_operand(v.val)))
    self.size += 1
    return self.size - 1

  def _add(
      self, eqns: Sequence[Eqn], places: dict[Any, int], steps: list[list[Any]]) -> None:
    for e in eqns:
      p = e.primitive
      operands = [self._place(v, places) for v in e.invars]
      if p.name in _OPEN:
        program: ClosedJaxpr = e.params["call_jaxpr"]
        inner = dict(zip(program.jaxpr.invars, operands))
        for v, c in zip(program.jaxpr.constvars, program.consts):
          self.rest.append((self.size, as_operand(c)))
          inner[v] = self.size
          self.size += 1
        self._add(program.jaxpr.eqns, inner, steps)
        for v, w in zip(e.outvars, program.jaxpr.outvars):
          places[v] = self._place(w, inner)
        continue
      if p.call and p.name not in _WHOLE:
        raise Unplanned(p.name)
      results = []
      for v in e.outvars:
        places[v] = self.size
        results.append(self.size)
        self.size += 1
      key = (p, *[v.aval for v in e.invars], *e.params.items())
      steps.append([p, e.params, key, operands, results])

  def __call__(self, constants: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
    """The results for these constants and inputs, which are arrays."""
    env = [*constants, *inputs, *[None] * (self.size - len(constants) - len(inputs))]
    for i, x in self.rest:
      env[i] = x
    replay(self.steps, env)
    return [env[i] for i in self.outs]


def _with_deaths(steps: list[list[Any]], used: set[int]) -> tuple[Any, ...]:
  """The steps, each with the places that nothing after it reads."""
  out = []
  for primitive, params, key, operands, results in reversed(steps):
    dead = tuple({*operands, *results} - used)
    used.update(dead)
    out.append((primitive, params, key, tuple(operands), tuple(results), dead))
  return tuple(reversed(out))
