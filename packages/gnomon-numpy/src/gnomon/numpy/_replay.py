"""What a traced NumPy function records, remembered by the types of its arguments.

Most of what it costs to trace such a function is Python that finds out shapes, dtypes and
axes, and finds the same each time. So the operations that its body records are kept, and
recorded again without the body. That is what the function's compiled form does too: the
body is traced once for each signature.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon import tree_util
from gnomon.core.jaxpr import Literal
from gnomon.core.stage import trace_to_jaxpr
from gnomon.core.types import typeof
from gnomon.runtime.jaxlib import cells

_MOST = 4096  # hits must cost nothing, so that a full table is emptied
_SEQUENCES = (list, tuple)


class Plan:
  """The operations of a body: on values by their places, results behind arguments."""

  __slots__ = ("constants", "only", "out", "outs", "steps", "tree")

  def __init__(self, jaxpr: Any, tree: Any) -> None:
    places = {v: i for i, v in enumerate(jaxpr.invars)}
    literals = [a for eqn in jaxpr.eqns for a in eqn.invars if type(a) is Literal]
    self.constants = [a.val for a in literals]
    at = len(places)
    for a in literals:
      places[a] = at
      at += 1
    self.steps: list[tuple[Any, tuple[int, ...], dict[str, Any]]] = []
    for eqn in jaxpr.eqns:
      self.steps.append(
          (eqn.primitive, tuple([places[a] for a in eqn.invars]), eqn.params))
      for v in eqn.outvars:
        places[v] = at
        at += 1
    self.outs = tuple([places[v] for v in jaxpr.outvars])
    self.tree = tree
    single = tree_util.treedef_is_leaf(tree) and len(self.outs) == 1
    self.out = self.outs[0] if single else None
    first = self.steps[0] if len(self.steps) == 1 else None
    self.only: Any = None  # the primitive and params of one operation on one argument
    if first is not None and first[1] == (0,) and self.out == len(jaxpr.invars) == 1:
      self.only = (first[0], first[2])

  def record(self, trace: Any, values: list[Any]) -> Any:
    """Hands the operations to a trace; gives the function's result."""
    if self.only is not None:
      primitive, params = self.only
      return trace.process(primitive, values, params)[0]
    values += self.constants
    for primitive, places, params in self.steps:
      values += trace.process(primitive, [values[i] for i in places], params)
    if self.out is not None:
      return values[self.out]
    return self.tree.unflatten([values[i] for i in self.outs])


def replaying(fun: Callable[..., Any]) -> Callable[..., Any]:
  """A function `(trace, args, kwargs)` that does what `fun` does under a trace."""
  plans: dict[Any, Plan | None] = {}

  def run(trace: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    values: list[Any] = []
    key: list[Any] = [cells.x64.value, cells.trace_key.value]
    for x in (*args, *kwargs.values()) if kwargs else args:
      if x is None:
        key.append(None)
        continue
      aval = getattr(x, "aval", None)
      if aval is not None:
        if type(x) not in _arrays and not _is_array(type(x)):
          return fun(*args, **kwargs)
        values.append(x)
        key.append(aval)
        continue
      t = type(x)
      if t in _SEQUENCES and x:
        avals = [getattr(y, "aval", None) for y in x]
        if avals[0] is not None and None not in avals:
          if not all(type(y) in _arrays or _is_array(type(y)) for y in x):
            return fun(*args, **kwargs)
          values += x
          key += (t, *avals)
          continue
      # Equal values of different types are different arguments; so are 0.0 and -0.0.
      key.append(t)
      key.append(repr(x) if t in _SIGNED and not x else x)
    if not values:
      return fun(*args, **kwargs)
    try:
      signature = (*key, *kwargs)
      plan = plans.get(signature, _UNKNOWN)
    except TypeError:  # an argument is not hashable: a list of numbers, a NumPy array
      return fun(*args, **kwargs)
    if plan is _UNKNOWN:
      if not all(map(_is_fixed, key)):
        return fun(*args, **kwargs)
      if len(plans) >= _MOST:
        plans.clear()
      plan = plans[signature] = plan_of(fun, args, kwargs, values)
    if plan is None:
      return fun(*args, **kwargs)
    return plan.record(trace, values)

  return run


_UNKNOWN: Any = object()
_arrays: set[type] = set()


def _is_array(t: type) -> bool:
  """Whether values of a type are arrays or tracers, and do not only stand for one."""
  if hasattr(t, "__jax_array__"):
    return False
  _arrays.add(t)
  return True


_SIGNED = (float, complex)


def _is_fixed(x: Any) -> bool:
  """Whether a part of a key says all of an argument, and keeps nothing big alive."""
  if isinstance(x, tuple):
    return all(map(_is_fixed, x))
  if isinstance(x, float) and not x:
    return False  # 0.0 deep in an argument, which might be -0.0
  return isinstance(x, (enum.Enum, type)) or not (
      callable(x) or isinstance(x, np.generic))


def plan_of(
    fun: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any],
    values: Sequence[Any]) -> Plan | None:
  """The plan of a call, or None where the body must run."""
  tree: Any = None

  def flat(*tracers: Any) -> list[Any]:
    nonlocal tree
    rest = iter(tracers)

    def substitute(x: Any) -> Any:
      if getattr(x, "aval", None) is not None:
        return next(rest)
      if type(x) in _SEQUENCES and x and all(
          getattr(y, "aval", None) is not None for y in x):
        return type(x)([next(rest) for _ in x])
      return x

    arrays = [substitute(x) for x in args]  # first: the tracers come in this order
    out = fun(*arrays, **{k: substitute(x) for k, x in kwargs.items()})
    leaves, tree = tree_util.tree_flatten(out)
    return leaves

  try:
    jaxpr, consts = trace_to_jaxpr(flat, [x.aval for x in values])
  except Exception:  # noqa: BLE001 -- raised again by the body, which names the arguments
    return None
  plain = not consts and not jaxpr.effects and not any(
      eqn.primitive.call for eqn in jaxpr.eqns)
  atoms = [a for eqn in jaxpr.eqns for a in eqn.invars]
  if not plain or any(type(v) is Literal for v in jaxpr.outvars) or any(
      typeof(a.val) is not a.aval for a in atoms if type(a) is Literal):
    return None
  return Plan(jaxpr, tree)
