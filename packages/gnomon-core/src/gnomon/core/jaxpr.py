"""The IR: typed, first-order programs in administrative normal form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gnomon.core.effects import Effects, no_effects
from gnomon.core.primitive import Primitive
from gnomon.core.trace import get_current


class Var:
  """A variable. Identity is equality; names are given when a jaxpr is printed."""

  __slots__ = ("__weakref__", "aval")

  def __init__(self, aval: Any) -> None:
    self.aval = aval

  def __repr__(self) -> str:
    return f"Var(id={id(self)}):{self.aval}"


class DropVar(Var):
  """A result that nothing uses; printed as `_`."""

  __slots__ = ()

  def __repr__(self) -> str:
    return "_"


class Literal:
  """A scalar constant written in place of a variable."""

  __slots__ = ("aval", "val")

  def __init__(self, val: Any, aval: Any) -> None:
    self.val, self.aval = val, aval

  def __repr__(self) -> str:
    return f"{self.val}"


Atom = Var | Literal


class DebugInfo:
  """What is known of the function that a jaxpr was traced from, for messages."""

  __slots__ = ("arg_names", "func_name", "result_paths", "traced_for")

  def __init__(
      self, traced_for: str, func_name: str, arg_names: Any = None,
      result_paths: Sequence[str] | None = None) -> None:
    self.traced_for, self.func_name = traced_for, func_name
    self.arg_names, self.result_paths = arg_names, result_paths

  def names(self) -> Sequence[str]:
    """The arguments' names, one a leaf; computed only when a message needs them."""
    if callable(self.arg_names):
      self.arg_names = self.arg_names()
    return self.arg_names or ()


class Eqn:
  """One operation: `outvars = primitive[params] invars`."""

  __slots__ = ("effects", "invars", "outvars", "params", "primitive", "source")

  def __init__(
      self, primitive: Primitive, invars: list[Any], outvars: list[Any],
      params: dict[str, Any], effects: Effects = no_effects, source: Any = None) -> None:
    self.primitive, self.invars, self.outvars = primitive, invars, outvars
    self.params, self.effects, self.source = params, effects, source

  def replace(self, **changes: Any) -> Eqn:
    """A copy with some fields changed."""
    return Eqn(**{
        "primitive": self.primitive, "invars": self.invars, "outvars": self.outvars,
        "params": self.params, "effects": self.effects, "source": self.source, **changes})

  @property
  def source_info(self) -> Any:
    return self.source

  def __repr__(self) -> str:
    from gnomon.core.printing import pp_eqn  # a leaf, loaded when something is printed

    return pp_eqn(self)


class Jaxpr:
  """`{ lambda constvars ; invars. let eqns in outvars }`. Identity is equality."""

  __slots__ = (
      "__weakref__", "constvars", "debug_info", "effects", "eqns", "invars", "memo",
      "outvars")

  def __init__(
      self, constvars: Sequence[Var], invars: Sequence[Var], outvars: Sequence[Atom],
      eqns: list[Eqn], effects: Effects = no_effects,
      debug_info: DebugInfo | None = None) -> None:
    self.constvars, self.invars = list(constvars), list(invars)
    self.outvars: list[Any] = list(outvars)
    self.eqns = eqns
    self.effects, self.debug_info = effects, debug_info
    self.memo: dict[Any, Any] = {}

  @property
  def in_avals(self) -> list[Any]:
    return [v.aval for v in self.invars]

  @property
  def out_avals(self) -> list[Any]:
    return [v.aval for v in self.outvars]

  def replace(self, **changes: Any) -> Jaxpr:
    """A copy with some fields changed."""
    return Jaxpr(**{
        "constvars": self.constvars, "invars": self.invars, "outvars": self.outvars,
        "eqns": self.eqns, "effects": self.effects, "debug_info": self.debug_info,
        **changes})

  def pretty_print(self, **options: Any) -> str:
    """The text of the jaxpr; options as for `core.printing.pp_jaxpr`."""
    from gnomon.core.printing import pp_jaxpr  # a leaf, loaded when something is printed
    return pp_jaxpr(self, **options)

  def __repr__(self) -> str:
    return self.pretty_print()

  __str__ = __repr__


class ClosedJaxpr:
  """A jaxpr with the values of its constants.

  What transformations make of it is remembered in `memo`, and lives as long as it does.
  """

  __slots__ = ("__weakref__", "consts", "jaxpr", "memo")

  def __init__(self, jaxpr: Jaxpr, consts: Sequence[Any]) -> None:
    if len(consts) != len(jaxpr.constvars):
      raise ValueError(
          f"a closed jaxpr needs one value a constant: {len(jaxpr.constvars)} constants, "
          f"{len(consts)} values")
    self.jaxpr, self.consts = jaxpr, list(consts)
    self.memo: dict[Any, Any] = {}

  @property
  def in_avals(self) -> list[Any]:
    return [v.aval for v in self.jaxpr.invars]

  @property
  def out_avals(self) -> list[Any]:
    return [v.aval for v in self.jaxpr.outvars]

  @property
  def literals(self) -> list[Any]:
    return self.consts

  @property
  def eqns(self) -> list[Eqn]:
    return self.jaxpr.eqns

  @property
  def effects(self) -> Effects:
    return self.jaxpr.effects

  def replace(
      self, *, jaxpr: Jaxpr | None = None,
      consts: Sequence[Any] | None = None) -> ClosedJaxpr:
    """A copy with some fields changed."""
    return ClosedJaxpr(
        self.jaxpr if jaxpr is None else jaxpr, self.consts if consts is None else consts)

  def pretty_print(self, **options: Any) -> str:
    """The text of the jaxpr; options as for `core.printing.pp_jaxpr`."""
    from gnomon.core.printing import pp_jaxpr  # a leaf, loaded when something is printed
    return pp_jaxpr(self.jaxpr, **options)

  def __repr__(self) -> str:
    return self.pretty_print()

  __str__ = __repr__


def memoised(
    jaxpr: ClosedJaxpr | Jaxpr, key: Any, make: Callable[[], Any]) -> Any:
  """What `make` gives, remembered with the jaxpr under `key`."""
  memo = jaxpr.memo
  try:
    return memo[key]
  except KeyError:
    pass
  found = memo[key] = make()
  return found


def programs_in(params: dict[str, Any]) -> Iterator[Jaxpr | ClosedJaxpr]:
  """The programs that stand in an equation's params, directly or in a tuple."""
  for value in params.values():
    for v in value if isinstance(value, (tuple, list)) else (value,):
      if isinstance(v, (Jaxpr, ClosedJaxpr)):
        yield v


def jaxprs_in_params(params: dict[str, Any]) -> Iterator[Jaxpr]:
  """The jaxprs that stand in an equation's params, closed ones too."""
  for v in programs_in(params):
    yield v if isinstance(v, Jaxpr) else v.jaxpr


def subjaxprs(jaxpr: Jaxpr) -> Iterator[Jaxpr]:
  """The jaxprs directly inside the equations of `jaxpr`."""
  for e in jaxpr.eqns:
    if e.primitive.call:
      yield from jaxprs_in_params(e.params)


def live(jaxpr: Jaxpr) -> list[Eqn]:
  """The equations that results or effects depend on, in order; remembered."""
  found: list[Eqn] | None = jaxpr.memo.get("live")
  if found is None:
    needed, kept = set(jaxpr.outvars), []
    for e in reversed(jaxpr.eqns):
      if e.effects or not needed.isdisjoint(e.outvars):
        kept.append(e)
        needed.update(e.invars)
    kept.reverse()
    found = jaxpr.memo["live"] = kept
  return found


def eval_jaxpr(jaxpr: Jaxpr, consts: Sequence[Any], *args: Any) -> list[Any]:
  """Runs a jaxpr under the current trace and returns its results."""
  env: dict[Any, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
  env.update(zip(jaxpr.invars, args, strict=True))
  process = get_current().process
  for e in jaxpr.eqns:
    operands = [v.val if type(v) is Literal else env[v] for v in e.invars]
    outs = process(e.primitive, operands, e.params)
    for v, x in zip(e.outvars, outs, strict=True):
      env[v] = x
  return [v.val if type(v) is Literal else env[v] for v in jaxpr.outvars]


def jaxpr_as_fun(closed: ClosedJaxpr) -> Callable[..., list[Any]]:
  """The function that a closed jaxpr computes."""
  return lambda *args: eval_jaxpr(closed.jaxpr, closed.consts, *args)
