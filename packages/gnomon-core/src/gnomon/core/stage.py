"""Staging: the trace that records a program as a jaxpr."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon import _config
from gnomon.core import source
from gnomon.core.effects import no_effects, touches_refs
from gnomon.core.jaxpr import (
  ClosedJaxpr,
  DebugInfo,
  Eqn,
  Jaxpr,
  Literal,
  Var,
  effects_of,
)
from gnomon.core.partition_spec import PartitionSpec
from gnomon.core.primitive import Primitive
from gnomon.core.ref_type import AbstractRef, RefMethods
from gnomon.core.rule import effects_rule, typing_rule
from gnomon.core.trace import (
  Trace,
  Tracer,
  check_leaks,
  is_foreign,
  leaked,
  tracing,
)
from gnomon.core.types import canonicalize_handlers, says, typeof
from gnomon.runtime.jaxlib import mlir

_new: Any = object.__new__
_traceback = mlir.traceback
_names = source.name_stack.get
_typed: dict[tuple[Any, ...], tuple[Any, Any]] = {}
_MAX_TYPED = 50_000  # hits must cost nothing, so that a full table is emptied


def infer(
    primitive: Primitive, avals: Sequence[Any], params: dict[str, Any],
) -> tuple[Any, Any]:
  """The result types and effects of an operation, remembered by its types and params."""
  key = (primitive, *avals, *params.items())
  try:
    return _typed[key]
  except KeyError:
    pass
  except TypeError:
    raise unhashable(primitive, params) from None
  found = type_of(primitive, avals, params)
  # A program in the table would live for ever; a spec means another sharding under
  # another mesh.
  if not primitive.call and type(_asked(params)) is not PartitionSpec:
    if len(_typed) >= _MAX_TYPED:
      _typed.clear()
    _typed[key] = found
  return found


def clear() -> None:
  """Forgets the types of all operations."""
  _typed.clear()


def type_of(
    primitive: Primitive, avals: Sequence[Any], params: dict[str, Any],
) -> tuple[Any, Any]:
  """The result types and effects of an operation, by its rules."""
  effects = effects_rule.get(primitive)
  if effects is None and not primitive.call:
    for a in avals:
      if type(a) is AbstractRef:
        raise ValueError(
            f"Attempting to pass a Ref {a} to a primitive: {primitive} -- did you forget "
            "to unpack ([...]) the ref?")
  outs = typing_rule[primitive](*avals, **params)
  if _asked(params) is not None or any(map(says, avals)):
    from gnomon.core import explicit  # programs on one device do without

    outs = explicit.typed(primitive, avals, params, outs)
  return tuple(outs), no_effects if effects is None else effects(*avals, **params)


def _asked(params: dict[str, Any]) -> Any:
  """The sharding that an operation's result is to have, if it says so."""
  found = params.get("out_sharding")
  return params.get("sharding") if found is None else found


def unhashable(primitive: Primitive, params: dict[str, Any]) -> TypeError:
  """The error for a parameter that is not hashable."""
  for name, value in params.items():
    try:
      hash(value)
    except TypeError as e:
      return TypeError(
          f"the parameter {name}={value!r} of {primitive.name} is not hashable ({e}): "
          "programs are remembered by their parameters; pass a tuple in place of a list")
  return TypeError(f"the types of the operands of {primitive.name} are not hashable")


class StageTracer(Tracer):
  """A value of a program that is being recorded."""

  __slots__ = ("_var",)

  def __init__(self, trace: StageTrace, aval: Any, var: Var) -> None:
    self._trace, self.aval, self._var = trace, aval, var

  def __repr__(self) -> str:
    return f"JitTracer({self.aval})"

  def concrete(self) -> Any:
    self._trace.ask()

  def origin(self, *, past: bool = False) -> str:
    from gnomon.core import provenance  # only messages need it

    tell = provenance.where_made if past else provenance.why_unknown
    return tell(self._trace, self._var)


class RefTracer(RefMethods, StageTracer):
  """A mutable reference of a program that is being recorded."""

  __slots__ = ()

  def _is_traced_array(self) -> bool:
    return False

  def returned(self) -> str:
    """Where the reference comes from, for a message."""
    from gnomon.core import provenance  # only messages need it

    return provenance.of_reference(self._trace, self._var)


_SCALARS = frozenset({bool, int, float, complex})


class StageTrace(Trace):
  """Records equations. What is not a tracer of its own is a constant of the jaxpr.

  Where equations come from is looked up for each, unless a transformation that works on
  an operation of the user's sets `source` to that operation's for as long as it does.
  """

  __slots__ = ("consts", "debug_info", "effects", "eqns", "invars", "source")
  records = True

  def __init__(self, debug_info: DebugInfo | None = None) -> None:
    self.done = False
    self.eqns: list[Eqn] = []
    self.consts: dict[int, tuple[Var, Any]] = {}
    self.invars: list[Var] = []
    self.effects: set[Any] = set()
    self.debug_info = debug_info
    self.source: Any = None

  def ask(self) -> None:
    """Is told that someone asked whether a value is known."""

  def new(self, aval: Any) -> StageTracer:
    """A new input."""
    v = Var(aval)
    self.invars.append(v)
    return (RefTracer if type(aval) is AbstractRef else StageTracer)(self, aval, v)

  def atom(self, x: Any) -> Any:
    """The variable or literal that stands for a value."""
    t = type(x)
    if t is StageTracer and x._trace is self:
      return x._var
    if t in _SCALARS:
      return Literal(x, typeof(x))
    found = self.consts.get(id(x))
    if found is not None:
      return found[0]
    if isinstance(x, Tracer):
      if t is RefTracer and x._trace is self:
        return x._var  # type: ignore[attr-defined]
      if is_foreign(x, self):
        raise leaked(x)
    elif isinstance(x, (np.generic, np.ndarray)):
      aval = typeof(x)
      if x.ndim == 0:
        return Literal(np.asarray(x, aval.dtype)[()], aval)
      v = Var(aval)
      self.consts[id(x)] = (v, x)
      return v
    elif hasattr(x, "__jax_array__"):
      return self.atom(x.__jax_array__())
    elif t in canonicalize_handlers:
      return self.atom(canonicalize_handlers[t](x))
    v = Var(typeof(x))
    self.consts[id(x)] = (v, x)  # the value is kept, so that its id stays its own
    return v

  def process(
      self, primitive: Primitive, args: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    n = len(args)
    if n == 1:
      x = args[0]
      v = x._var if type(x) is StageTracer and x._trace is self else self.atom(x)
      invars = [v]
      key = (primitive, v.aval, *params.items()) if params else (primitive, v.aval)
    elif n == 2:
      x, y = args
      v = x._var if type(x) is StageTracer and x._trace is self else self.atom(x)
      w = y._var if type(y) is StageTracer and y._trace is self else self.atom(y)
      invars = [v, w]
      key = (
          (primitive, v.aval, w.aval, *params.items()) if params
          else (primitive, v.aval, w.aval))
    else:
      invars = [
          x._var if type(x) is StageTracer and x._trace is self else self.atom(x)
          for x in args]
      key = (primitive, *[v.aval for v in invars], *params.items())
    try:
      found = _typed.get(key)
    except TypeError:
      raise unhashable(primitive, params) from None
    if found is None:
      found = infer(primitive, [v.aval for v in invars], params)
    avals, effects = found
    if effects:
      self.effects |= effects
    tb = self.source
    if tb is None:
      names = _names()
      tb = _traceback()
      if names:
        tb = source.Source(tb, names)
    if len(avals) != 1:
      outs = [Var(a) for a in avals]
      self.eqns.append(Eqn(primitive, invars, outs, params, effects, tb))
      return tuple([StageTracer(self, v.aval, v) for v in outs])
    # One result is the usual case. Filling slots by hand saves three calls an operation,
    # a fifth of what tracing costs.
    out = _new(Var)
    out.aval = aval = avals[0]
    eqn = _new(Eqn)
    eqn.primitive, eqn.invars, eqn.outvars = primitive, invars, [out]
    eqn.params, eqn.effects, eqn.source = params, effects, tb
    self.eqns.append(eqn)
    tracer = _new(StageTracer)
    tracer._trace, tracer.aval, tracer._var = self, aval, out
    return (tracer,)

  def custom_jvp(self, call: Any, args: Any) -> tuple[Any, ...]:
    return call.stage(self, args)  # type: ignore[no-any-return]

  custom_vjp = custom_jvp

  def finish(self, outs: Sequence[Any]) -> tuple[Jaxpr, list[Any]]:
    """The jaxpr with these results, and the values of its constants."""
    outvars = [self.atom(o) for o in outs]
    constvars = [v for v, _ in self.consts.values()]
    consts = [x for _, x in self.consts.values()]
    self.done = True
    effects = frozenset(self.effects)
    if touches_refs(effects):
      effects = effects_of(self.eqns)
    jaxpr = Jaxpr(
        constvars, self.invars, outvars, self.eqns, effects, self.debug_info)
    return jaxpr, consts


# ---- Python's collector would walk all live equations again and again: hold it back

_gc_lock = threading.Lock()
_gc_depth = 0
_gc_normal: tuple[int, int, int] = gc.get_threshold()
_GC_WHILE_TRACING = 200_000


class _CalmCollector:
  __slots__ = ()

  def __enter__(self) -> None:
    global _gc_depth, _gc_normal
    with _gc_lock:
      if _gc_depth == 0:
        _gc_normal = gc.get_threshold()
        if 0 < _gc_normal[0] < _GC_WHILE_TRACING:
          gc.set_threshold(_GC_WHILE_TRACING, *_gc_normal[1:])
      _gc_depth += 1

  def __exit__(self, *_: object) -> None:
    global _gc_depth
    with _gc_lock:
      _gc_depth -= 1
      if _gc_depth == 0:
        gc.set_threshold(*_gc_normal)


calm_collector = _CalmCollector()


def trace_to_jaxpr(
    f: Callable[..., Sequence[Any]], avals: Sequence[Any],
    debug_info: DebugInfo | None = None,
    make: Callable[[Any], StageTrace] = StageTrace) -> tuple[Jaxpr, list[Any]]:
  """Traces `f`, from flat arguments to a flat list; gives the jaxpr and its constants."""
  trace = make(debug_info)
  # A program may be called from elsewhere too: it does not bear the names of this place.
  token = source.name_stack.set(()) if _names() else None
  with calm_collector:
    try:
      with tracing(trace):
        found = trace.finish(f(*[trace.new(a) for a in avals]))
    finally:
      trace.done = True
      if token is not None:
        source.name_stack.reset(token)
  check_leaks(trace)
  if _config.current().enable_checks:
    from gnomon.core import checking  # a leaf: it is for tests of rules

    checking.check_jaxpr(found[0])
  return found


def trace_to_closed(
    f: Callable[..., Sequence[Any]], avals: Sequence[Any],
    debug_info: DebugInfo | None = None) -> ClosedJaxpr:
  """Like `trace_to_jaxpr`, closed over the constants (which may be no tracers)."""
  return ClosedJaxpr(*trace_to_jaxpr(f, avals, debug_info))


def convert_constvars(jaxpr: Jaxpr) -> Jaxpr:
  """The same program with its constants as leading inputs."""
  return Jaxpr(
      [], jaxpr.constvars + jaxpr.invars, jaxpr.outvars, jaxpr.eqns, jaxpr.effects,
      jaxpr.debug_info)


def close(jaxpr: Jaxpr) -> ClosedJaxpr:
  """A closed jaxpr without constants."""
  return ClosedJaxpr(jaxpr, ())


def has_tracers(values: Sequence[Any]) -> bool:
  """Whether one of the values is a tracer, or a reference: constants they cannot be."""
  return any(
      isinstance(x, Tracer) or type(getattr(x, "aval", None)) is AbstractRef
      for x in values)
