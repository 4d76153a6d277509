"""Well-formedness of jaxprs, as a table of checks that is run after passes under tests.

A check is a function of a jaxpr that yields a sentence for each fault. `enable_checks`
makes every traced program go through `check_jaxpr`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gnomon.core.jaxpr import ClosedJaxpr, DropVar, Eqn, Jaxpr, Literal, Var, subjaxprs
from gnomon.core.stage import type_of
from gnomon.errors import JaxprTypeError

Check = Callable[[Jaxpr], Iterator[str]]
_checks: list[Check] = []


def check(function: Check) -> Check:
  """Adds a check to the table."""
  _checks.append(function)
  return function


def check_jaxpr(jaxpr: Jaxpr | ClosedJaxpr) -> None:
  """Checks a program and those inside it.

  Raises:
    JaxprTypeError: it is not well formed; the message lists every fault.
  """
  j = jaxpr.jaxpr if isinstance(jaxpr, ClosedJaxpr) else jaxpr
  faults = [fault for c in _checks for fault in c(j)]
  if faults:
    raise JaxprTypeError("the jaxpr is not well formed: " + "; ".join(faults) + f"\n{j}")
  for inner in subjaxprs(j):
    check_jaxpr(inner)


def _where(i: int, e: Eqn) -> str:
  return f"equation {i} ({e.primitive.name})"


@check
def bound_before_use(jaxpr: Jaxpr) -> Iterator[str]:
  """Every variable is bound once, before it is used."""
  bound: set[Var] = set()
  for v in [*jaxpr.constvars, *jaxpr.invars]:
    if v in bound:
      yield f"the input {v!r} occurs twice"
    bound.add(v)
  for i, e in enumerate(jaxpr.eqns):
    for v in e.invars:
      if type(v) is not Literal and v not in bound:
        yield f"{_where(i, e)} uses {v!r}, which nothing binds before"
    for v in e.outvars:
      if v in bound:
        yield f"{_where(i, e)} binds {v!r}, which is bound already"
      if type(v) is not DropVar:
        bound.add(v)
  for result in jaxpr.outvars:
    if type(result) is not Literal and result not in bound:
      yield f"the result {result!r} is not bound"


@check
def types_agree(jaxpr: Jaxpr) -> Iterator[str]:
  """The results of each equation have the types that its primitive gives."""
  for i, e in enumerate(jaxpr.eqns):
    avals, effects = type_of(e.primitive, [v.aval for v in e.invars], e.params)
    if len(avals) != len(e.outvars):
      yield (
          f"{_where(i, e)} has {len(e.outvars)} results, its primitive gives "
          f"{len(avals)}")
      continue
    for v, a in zip(e.outvars, avals, strict=True):
      if v.aval is not a:
        yield f"{_where(i, e)} has a result of type {v.aval}, its primitive gives {a}"
    if not effects <= e.effects:
      yield f"{_where(i, e)} lacks the effects {set(effects - e.effects)}"


@check
def effects_are_known(jaxpr: Jaxpr) -> Iterator[str]:
  """The effects of the equations are those of the program."""
  for i, e in enumerate(jaxpr.eqns):
    if not e.effects <= jaxpr.effects:
      lacking = set(e.effects - jaxpr.effects)
      yield f"{_where(i, e)} has effects that the jaxpr lacks: {lacking}"


@check
def params_are_hashable(jaxpr: Jaxpr) -> Iterator[str]:
  """Parameters are hashable: everything that remembers by them relies on it."""
  for i, e in enumerate(jaxpr.eqns):
    for name, value in e.params.items():
      try:
        hash(value)
      except TypeError:
        yield f"{_where(i, e)} has the parameter {name}={value!r}, which is not hashable"
