"""The IR: typed, first-order programs in administrative normal form."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gnomon.core.effects import (
  Effects,
  RefEffect,
  makes_refs,
  must_happen,
  no_effects,
  touches_refs,
)
from gnomon.core.primitive import Primitive
from gnomon.core.ref_type import AbstractRef
from gnomon.core.source import SourceInfo
from gnomon.core.trace import get_current, recorder_of


class Var:
  """A variable. Identity is equality; names are given when a jaxpr is printed."""

  __slots__ = ("__weakref__", "aval")

  # Types that change while a program runs: there are none among arrays.
  initial_qdd: Any = None
  final_qdd: Any = None

  def __init__(
      self, aval: Any, initial_qdd: Any = None, final_qdd: Any = None) -> None:
    self.aval = aval

  def pretty_print(self, context: Any, *, print_dtype: bool = True) -> str:
    """The variable's name in `context` (any mapping), with its type."""
    name = (context or {}).get(self, repr(self).split(":")[0])
    return f"{name}:{self.aval.str_short(short_dtypes=True)}" if print_dtype else name

  def __repr__(self) -> str:
    return f"Var(id={id(self)}):{self.aval.str_short()}"


class DropVar(Var):
  """A result that nothing uses; printed as `_`."""

  __slots__ = ()

  def pretty_print(self, context: Any, *, print_dtype: bool = True) -> str:
    """`_`."""
    return "_"

  def __repr__(self) -> str:
    return "_"


class Literal:
  """A scalar constant written in place of a variable."""

  __slots__ = ("aval", "val")

  def __init__(self, val: Any, aval: Any) -> None:
    self.val, self.aval = val, aval

  @property
  def hash(self) -> int | None:
    """The hash of the value, or None where it has none."""
    try:
      return hash(self.val)
    except TypeError:
      return None

  def pretty_print(self, context: Any, *, print_dtype: bool = True) -> str:
    """The value, with its type."""
    del context
    type_ = f":{self.aval.str_short(short_dtypes=True)}" if print_dtype else ""
    return f"{self.val}{type_}"

  def __repr__(self) -> str:
    return f"{self.val}"


Atom = Var | Literal


class DebugInfo:
  """What is known of the function that a jaxpr was traced from, for messages.

  `func_src_info` is `name at file:line`. The names of arguments and the places of
  results, one a leaf, may be given as functions, which a message calls.
  """

  __slots__ = ("_arg_names", "func_src_info", "result_paths", "traced_for")

  def __init__(
      self, traced_for: str, func_src_info: str, arg_names: Any,
      result_paths: Any) -> None:
    self.traced_for, self.func_src_info = traced_for, func_src_info
    self._arg_names, self.result_paths = arg_names, result_paths

  def names(self) -> Sequence[str]:
    """The arguments' names, one a leaf; computed only when a message needs them."""
    if callable(self._arg_names):
      self._arg_names = self._arg_names()
    return self._arg_names or ()

  @property
  def arg_names(self) -> Any:
    """The arguments' names, a tuple, or None where nothing is known."""
    return None if self._arg_names is None else tuple(self.names())

  @property
  def func_name(self) -> str:
    """The function's bare name."""
    return self.func_src_info.split(" ")[0]

  @property
  def func_filename(self) -> str | None:
    """The file that defines the function, where known."""
    place = self._place()
    return place[0] if place else None

  @property
  def func_lineno(self) -> int | None:
    """The line where the function begins, where known."""
    place = self._place()
    return place[1] if place else None

  def _place(self) -> tuple[str, int] | None:
    path, _, line = self.func_src_info.partition(" at ")[2].rpartition(":")
    return (path, int(line)) if line.isdigit() else None

  def _with(self, **changes: Any) -> DebugInfo:
    return DebugInfo(**{
        "traced_for": self.traced_for, "func_src_info": self.func_src_info,
        "arg_names": self._arg_names, "result_paths": self.result_paths, **changes})

  def replace_func_name(self, name: str) -> DebugInfo:
    """The same with another name of the function."""
    rest = self.func_src_info.partition(" ")[2]
    return self._with(func_src_info=f"{name} {rest}".rstrip())

  def with_unknown_names(self) -> DebugInfo:
    """The same without names of arguments and places of results."""
    return self._with(arg_names=None, result_paths=None)

  def resolve_result_paths(self) -> DebugInfo:
    """The same with the places of results computed."""
    paths = self.result_paths
    return self._with(result_paths=tuple(paths())) if callable(paths) else self

  def set_result_paths(self, ans: Any) -> DebugInfo:
    """The same with the places of the leaves of a result, as `result[0]['x']`."""
    from gnomon.tree_util import keystr, tree_flatten_with_path  # only messages need it

    return self._with(result_paths=tuple(
        "result" + keystr(path) for path, _ in tree_flatten_with_path(ans)[0]))

  def safe_arg_names(self, expected_count: int) -> tuple[str, ...]:
    """As many names of arguments as are expected: empty ones where they do not fit."""
    names = tuple(self.names())
    return names if len(names) == expected_count else ("",) * expected_count

  def safe_result_paths(self, expected_count: int) -> tuple[str, ...]:
    """As many places of results as are expected: empty ones where they do not fit."""
    paths = self.result_paths
    paths = () if paths is None or callable(paths) else tuple(paths)
    return paths if len(paths) == expected_count else ("",) * expected_count

  def assert_arg_names(self, expected_count: int) -> None:
    """Raises `AssertionError` unless there are so many names, or none is known."""
    found = self.arg_names
    if found is not None and len(found) != expected_count:
      raise AssertionError(f"{expected_count} arguments, but the names {found}")

  def assert_result_paths(self, expected_count: int) -> None:
    """Raises `AssertionError` unless there are so many places, or none is known."""
    found = self.result_paths
    if found is not None and not callable(found) and len(found) != expected_count:
      raise AssertionError(f"{expected_count} results, but the places {found}")

  def filter_arg_names(self, keep: Sequence[bool]) -> tuple[str, ...] | None:
    """The names of the arguments that are kept."""
    found = self.arg_names
    return None if found is None else tuple(
        n for n, k in zip(found, keep, strict=True) if k)

  def filter_result_paths(self, keep: Sequence[bool]) -> tuple[str, ...] | None:
    """The places of the results that are kept."""
    found = self.resolve_result_paths().result_paths
    return None if found is None else tuple(
        p for p, k in zip(found, keep, strict=True) if k)

  def __repr__(self) -> str:
    return (
        f"DebugInfo(traced_for={self.traced_for!r}, func_src_info="
        f"{self.func_src_info!r}, arg_names={self.arg_names}, result_paths="
        f"{self.result_paths})")


class EqnContext:
  """Settings of an equation. Params hold all that it depends on, so there are none."""

  __slots__ = ()

  @property
  def manager(self) -> contextlib.AbstractContextManager[None]:
    """A context manager to bind the operation in."""
    return contextlib.nullcontext()


class Eqn:
  """One operation: `outvars = primitive[params] invars`."""

  __slots__ = ("effects", "invars", "outvars", "params", "primitive", "source")

  def __init__(
      self, primitive: Primitive, invars: list[Any], outvars: list[Any],
      params: dict[str, Any], effects: Effects = no_effects, source: Any = None) -> None:
    self.primitive, self.invars, self.outvars = primitive, invars, outvars
    self.params, self.effects, self.source = params, effects, source

  def replace(self, **changes: Any) -> Eqn:
    """A copy with some fields changed; `source_info` is another name of `source`."""
    if "source_info" in changes:
      info = changes.pop("source_info")
      changes["source"] = info.source if isinstance(info, SourceInfo) else info
    changes.pop("ctx", None)
    return Eqn(**{
        "primitive": self.primitive, "invars": self.invars, "outvars": self.outvars,
        "params": self.params, "effects": self.effects, "source": self.source, **changes})

  @property
  def source_info(self) -> SourceInfo:
    """Where the equation comes from: its traceback, and names in force."""
    return SourceInfo.of(self.source)

  @property
  def ctx(self) -> EqnContext:
    """The settings under which to bind the operation again: those in force."""
    return EqnContext()

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
      debug_info: DebugInfo | None = None, is_high: bool = False) -> None:
    if is_high:
      raise NotImplementedError(
          "Jaxpr: is_high=True, but all types of programs here are those of arrays")
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

  @property
  def in_aval_qdds(self) -> list[Any]:
    """The types of the inputs."""
    return self.in_avals

  final_aval_qdds = in_aval_qdds
  is_high = False  # all types are those of arrays

  def replace(self, **changes: Any) -> Jaxpr:
    """A copy with some fields changed."""
    return Jaxpr(**{
        "constvars": self.constvars, "invars": self.invars, "outvars": self.outvars,
        "eqns": self.eqns, "effects": self.effects, "debug_info": self.debug_info,
        **changes})

  def pretty_print(
      self, *, source_info: bool = False, print_shapes: bool = True,
      custom_pp_eqn_rules: bool = True, name_stack: bool = False,
      print_effects: bool = False, **kwargs: Any) -> str:
    """The text of the jaxpr; options as for `core.printing.pp_jaxpr`."""
    from gnomon.core.printing import pp_jaxpr  # a leaf, loaded when something is printed
    return pp_jaxpr(
        self, source_info=source_info, print_shapes=print_shapes, name_stack=name_stack,
        custom_pp_eqn_rules=custom_pp_eqn_rules, print_effects=print_effects, **kwargs)

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

  @property
  def constvars(self) -> list[Var]:
    return self.jaxpr.constvars

  @property
  def invars(self) -> list[Var]:
    return self.jaxpr.invars

  @property
  def outvars(self) -> list[Any]:
    return self.jaxpr.outvars

  @property
  def debug_info(self) -> DebugInfo | None:
    return self.jaxpr.debug_info

  @property
  def in_aval_qdds(self) -> list[Any]:
    """The types of the inputs."""
    return self.in_avals

  final_aval_qdds = in_aval_qdds
  is_high = False  # all types are those of arrays

  def map_jaxpr(self, f: Callable[[Jaxpr], Jaxpr]) -> ClosedJaxpr:
    """The program that `f` makes of the jaxpr, with the same constants."""
    return ClosedJaxpr(f(self.jaxpr), self.consts)

  def replace(
      self, *, jaxpr: Jaxpr | None = None,
      consts: Sequence[Any] | None = None) -> ClosedJaxpr:
    """A copy with some fields changed."""
    return ClosedJaxpr(
        self.jaxpr if jaxpr is None else jaxpr, self.consts if consts is None else consts)

  def pretty_print(
      self, *, source_info: bool = False, print_shapes: bool = True,
      name_stack: bool = False, custom_pp_eqn_rules: bool = True,
      print_effects: bool = False, **kwargs: Any) -> str:
    """The text of the jaxpr; options as for `core.printing.pp_jaxpr`."""
    return self.jaxpr.pretty_print(
        source_info=source_info, print_shapes=print_shapes, name_stack=name_stack,
        custom_pp_eqn_rules=custom_pp_eqn_rules, print_effects=print_effects, **kwargs)

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


def effects_of(eqns: Sequence[Eqn]) -> Effects:
  """The effects of a program with these equations.

  Those on references that it makes itself are its own affair.
  """
  found = no_effects.union(*[e.effects for e in eqns])
  if not touches_refs(found):
    return found
  own = {v for e in eqns for v in e.outvars if type(v.aval) is AbstractRef}

  def seen(e: Eqn) -> Effects:
    if not touches_refs(e.effects) or makes_refs in e.effects:
      return e.effects
    if any(type(v.aval) is AbstractRef and v not in own for v in e.invars):
      return e.effects
    return frozenset(x for x in e.effects if type(x) is not RefEffect)

  return no_effects.union(*map(seen, eqns))


def live(jaxpr: Jaxpr) -> list[Eqn]:
  """The equations that results or effects depend on, in order; remembered."""
  found: list[Eqn] | None = jaxpr.memo.get("live")
  if found is None:
    needed, kept = set(jaxpr.outvars), []
    for e in reversed(jaxpr.eqns):
      if (e.effects and must_happen(e.effects)) or not needed.isdisjoint(e.outvars):
        kept.append(e)
        needed.update(e.invars)
    kept.reverse()
    found = jaxpr.memo["live"] = kept
  return found


def eval_jaxpr(
    jaxpr: Jaxpr, consts: Sequence[Any], *args: Any,
    propagate_source_info: bool = True) -> list[Any]:
  """Runs a jaxpr under the current trace and returns its results.

  `propagate_source_info` has no effect: what is traced anew comes from where it runs.
  """
  if jaxpr.effects and touches_refs(jaxpr.effects):
    from gnomon.core import discharge  # loaded when a program has references

    return discharge.evaluate(jaxpr, consts, args)
  env: dict[Any, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
  env.update(zip(jaxpr.invars, args, strict=True))
  trace = get_current()
  process, recorder = trace.process, recorder_of(trace)
  outer = None if recorder is None else recorder.source
  try:
    for e in jaxpr.eqns:
      operands = [v.val if type(v) is Literal else env[v] for v in e.invars]
      if recorder is not None:
        recorder.source = e.source
      outs = process(e.primitive, operands, e.params)
      for v, x in zip(e.outvars, outs, strict=True):
        env[v] = x
  finally:
    if recorder is not None:
      recorder.source = outer
  return [v.val if type(v) is Literal else env[v] for v in jaxpr.outvars]


def jaxpr_as_fun(closed_jaxpr: ClosedJaxpr, *args: Any) -> Callable[..., list[Any]]:
  """The function that a closed jaxpr computes, with its first arguments given."""
  return lambda *rest: eval_jaxpr(
      closed_jaxpr.jaxpr, closed_jaxpr.consts, *args, *rest)
