"""The current trace, and tracers: values of which a trace knows more than their type."""

from __future__ import annotations

import gc
import operator
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon import _config, errors
from gnomon.runtime.jaxlib import cells

if TYPE_CHECKING:
  from gnomon.core.primitive import Primitive

_set_in_trace = cells.in_trace.set_local


class Trace:
  """What happens to an operation: it is computed, recorded, or transformed first.

  Traces here define `process`, `custom_jvp` and `custom_vjp`. A trace of another library
  defines `process_primitive(primitive, tracers, params)`, which returns the result, or a
  list of them if the primitive has several; functions with rules of their own it sees as
  the function alone, unless it defines `process_custom_jvp_call` and the like.
  """

  __slots__ = ("__weakref__", "done", "name")
  records = False  # whether it writes down where operations come from
  label = ""  # what the names of scopes tell of it
  source: Any  # that place, while a recording trace is told it

  def __init__(self) -> None:
    self.done = False

  def process(
      self, primitive: Primitive, args: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    outs = self.process_primitive(primitive, args, params)
    return tuple(outs) if primitive.multiple_results else (outs,)

  def custom_jvp(self, call: Any, args: Any) -> tuple[Any, ...]:
    return tuple(self.process_custom_jvp_call(
        None, Function(call.fun), call, args, symbolic_zeros=False))

  def custom_vjp(self, call: Any, args: Any) -> tuple[Any, ...]:
    return tuple(self.process_custom_vjp_call(
        None, Function(call.fun), call, call, args, out_trees=None,
        symbolic_zeros=False))

  # ---- as other libraries know it

  def process_primitive(
      self, primitive: Primitive, tracers: Any, params: dict[str, Any], /) -> Any:
    """What an operation gives on these operands: one result, or a list of several."""
    if type(self).process is Trace.process:
      raise NotImplementedError(
          f"the trace {type(self).__name__} must define process_primitive")
    outs = self.process(primitive, tracers, params)
    return list(outs) if primitive.multiple_results else outs[0]

  def process_custom_jvp_call(
      self, primitive: Any, fun: Any, jvp: Any, tracers: Any, /, *,
      symbolic_zeros: bool) -> Any:
    """What a function with a forward rule of its own gives: by default, the function."""
    del primitive, jvp, symbolic_zeros
    with tracing(self):
      return fun.call_wrapped(*tracers)

  def process_custom_vjp_call(
      self, primitive: Any, fun: Any, fwd: Any, bwd: Any, tracers: Any, /, *,
      out_trees: Any, symbolic_zeros: bool) -> Any:
    """What a function with a reverse rule of its own gives: by default, the function."""
    del primitive, fwd, bwd, out_trees, symbolic_zeros
    with tracing(self):
      return fun.call_wrapped(*tracers)

  def process_call(
      self, call_primitive: Any, f: Any, tracers: Any, params: dict[str, Any], /) -> Any:
    """What a function gives that a primitive calls: by default, as if it were inline."""
    del call_primitive, params
    with tracing(self):
      return f.call_wrapped(*tracers)

  def full_raise(self, x: Any) -> Any:
    """The value itself: there are no levels."""
    return x

  def stage_value(self, val: Any) -> Any:
    """A value as an operand of this trace: the value itself."""
    return val

  def invalidate(self) -> None:
    """Ends the trace: its tracers must not be used any more."""
    self.done = True

  def is_valid(self) -> bool:
    """Whether the trace has not ended."""
    return not self.done

  @property
  def main(self) -> Any:
    """What traces of one transformation have in common: here the trace itself."""
    return self

  @property
  def requires_low(self) -> bool:
    """Whether types must be lowered to arrays before this trace sees them."""
    return False


class Function:
  """A function of flat values, called as other libraries call wrapped functions."""

  __slots__ = ("call_wrapped",)

  def __init__(self, fun: Any) -> None:
    self.call_wrapped = fun

  def __call__(self, *args: Any) -> Any:
    return self.call_wrapped(*args)


class EvalTrace(Trace):
  """The bottom: computes. `runtime.execute` supplies how."""

  __slots__ = ("process",)

  process: Any

  def custom_jvp(self, call: Any, args: Any) -> tuple[Any, ...]:
    return tuple(call.fun(*args))

  custom_vjp = custom_jvp


EVAL = EvalTrace()
current: ContextVar[Trace] = ContextVar("gnomon.trace", default=EVAL)
get_current = current.get
set_current = current.set
reset_current = current.reset


class tracing:
  """Makes a trace the current one; a class with slots, since this happens at every op."""

  __slots__ = ("switched", "token", "trace")

  def __init__(self, trace: Any) -> None:
    self.trace = trace

  def __enter__(self) -> Any:
    trace = self.trace
    token = self.token = set_current(trace)
    old = token.old_value
    was_eval = old is EVAL or old is Token.MISSING
    # The C++ cache of `jit` must know whether it may answer.
    if was_eval is not (trace is EVAL):
      self.switched = True
      _set_in_trace(was_eval)
    else:
      self.switched = False
    return trace

  def __exit__(self, *_: object) -> None:
    if self.switched:
      _set_in_trace(self.trace is EVAL)
    reset_current(self.token)


def eval_context() -> tracing:
  """A context manager in which operations are evaluated, also while tracing."""
  return tracing(EVAL)


class Tracer:
  """A value inside a transformation. Its type is known, often nothing else.

  Operators and methods come from the NumPy slice through `core.array_hook`.
  """

  __slots__ = ("__weakref__", "_trace", "aval")

  aval: Any
  _trace: Any
  is_box = False  # whether it is a mutable reference that holds a traced value
  __array_priority__ = 100  # NumPy's operators give way to those of tracers

  def __init__(self, trace: Any) -> None:
    self._trace = trace

  def _is_traced_array(self) -> bool:
    return True

  def concrete(self) -> Any:
    """The value, where this trace knows it; otherwise None."""
    return None

  def origin(self, *, past: bool = False) -> str:
    """Which function was being traced, where, and what this value depends on.

    `past`: in words for a value that is not where it belongs.
    """
    return ""

  def _origin_message(self) -> str:
    return self.origin()

  # ---- as other libraries know it

  def full_lower(self) -> Any:
    """The tracer itself: there are no levels."""
    return self

  def get_referent(self) -> Any:
    """What this value stands for, where its trace knows it; else the tracer itself."""
    value = self.concrete()
    return self if value is None else value

  def to_concrete_value(self) -> Any:
    """The value, where this trace knows it; otherwise None."""
    return self.concrete()

  @property
  def dimension_as_value(self) -> Any:
    """The value of a tracer that stands for a size, where its trace knows it."""
    return self.concrete()

  # ---- what the type knows

  @property
  def shape(self) -> tuple[int, ...]:
    return self.aval.shape  # type: ignore[no-any-return]

  @property
  def dtype(self) -> Any:
    return self.aval.dtype

  @property
  def ndim(self) -> int:
    return len(self.aval.shape)

  @property
  def size(self) -> int:
    return self.aval.size  # type: ignore[no-any-return]

  @property
  def weak_type(self) -> bool:
    return self.aval.weak_type  # type: ignore[no-any-return]

  @property
  def sharding(self) -> Any:
    raise AttributeError("sharding")  # `array_hook` says why: a type's may be known

  @property
  def committed(self) -> bool:
    return False

  def __len__(self) -> int:
    shape = self.aval.shape
    if not shape:
      raise TypeError("len() of a 0-d array: it has no axes")
    return shape[0]  # type: ignore[no-any-return]

  def block_until_ready(self) -> Tracer:
    """The tracer itself: there is nothing to wait for."""
    return self

  # ---- what only a value can answer

  def _value(self, error: Any, what: str) -> Any:
    value = self.concrete()
    if value is None:
      raise error(self, what) if what else error(self)
    return value

  def _on_host(self, error: Any, what: str) -> Any:
    return np.asarray(self._value(error, what), self.aval.dtype)

  def _called(self, method: str) -> Any:
    return self._on_host(
        errors.ConcretizationTypeError,
        f"The {method}() method was called on traced array {self.aval}")

  def __bool__(self) -> bool:
    _check_scalar(self, "the truth value")
    return bool(self._value(errors.TracerBoolConversionError, ""))

  def __int__(self) -> int:
    return int(self._value(errors.ConcretizationTypeError, "int() was called on it"))

  def __float__(self) -> float:
    return float(self._value(errors.ConcretizationTypeError, "float() was called on it"))

  def __complex__(self) -> complex:
    return complex(
        self._value(errors.ConcretizationTypeError, "complex() was called on it"))

  def __index__(self) -> int:
    return operator.index(self._value(errors.TracerIntegerConversionError, ""))

  def __array__(self, *args: Any, **kwargs: Any) -> Any:
    return self._on_host(errors.TracerArrayConversionError, "").__array__(
        *args, **kwargs)

  def item(self, *args: Any) -> Any:
    """The value as a Python scalar, where it is known."""
    return self._called("item").item(*args)

  def tolist(self) -> Any:
    """The value as nested lists, where it is known."""
    return self._called("tolist").tolist()

  def tobytes(self, order: Any = "C") -> bytes:
    """The elements' bytes, where the value is known."""
    found: bytes = self._called("tobytes").tobytes(order)
    return found

  def __hash__(self) -> int:
    raise TypeError(
        f"unhashable type: {type(self).__name__}; a traced array has no hash, since its "
        "value is not known. Use id(x), or its shape and dtype")

  def __format__(self, spec: str) -> str:
    value = self.concrete() if spec else None
    return repr(self) if value is None else format(value, spec)

  def __repr__(self) -> str:
    return f"{type(self).__name__}({self.aval})"

  def __reduce__(self) -> Any:
    raise errors.ConcretizationTypeError(
        self, "it was to be pickled: the error occurred in the __reduce__ method")

  def __copy__(self) -> Tracer:
    return self

  def __deepcopy__(self, memo: object) -> Tracer:
    return self


def _check_scalar(x: Tracer, what: str) -> None:
  if x.aval.shape and x.aval.size != 1:
    raise ValueError(
        f"{what} of an array with {x.aval.size} elements is ambiguous (its shape is "
        f"{x.aval.shape}): use x.any() or x.all()")


class KnownTrace(Trace):
  """Computes what depends on no tracer, and leaves the rest to the trace around it."""

  __slots__ = ("parent",)

  def __init__(self, parent: Any) -> None:
    super().__init__()
    self.parent = parent

  def process(
      self, primitive: Primitive, args: Any, params: dict[str, Any]) -> tuple[Any, ...]:
    trace = self._trace_of(args)
    return trace.process(primitive, args, params)  # type: ignore[no-any-return]

  def custom_jvp(self, call: Any, args: Any) -> tuple[Any, ...]:
    with tracing(self._trace_of(args)) as trace:
      return trace.custom_jvp(call, args)  # type: ignore[no-any-return]

  def custom_vjp(self, call: Any, args: Any) -> tuple[Any, ...]:
    with tracing(self._trace_of(args)) as trace:
      return trace.custom_vjp(call, args)  # type: ignore[no-any-return]

  def _trace_of(self, args: Any) -> Any:
    return self.parent if any(isinstance(x, Tracer) for x in args) else EVAL


def recorder_of(trace: Any) -> Any:
  """The trace that records what `trace` makes of an operation, or None."""
  while trace is not None and not trace.records:
    trace = getattr(trace, "parent", None)
  return trace


def is_foreign(x: Tracer, trace: Any) -> bool:
  """Whether a tracer may not be an operand of `trace`: its own ended, or runs inside."""
  inner: Any = x._trace
  if inner.done:
    return True
  while inner is not None:
    inner = getattr(inner, "parent", None)
    if inner is trace:
      return True
  return False


def leaked(x: Tracer) -> errors.UnexpectedTracerError:
  """The error for a tracer outside of its trace."""
  if x._trace.done:
    what = "outlived the transformation that it belongs to"
    fix = (
        "Most often a function under a transformation stores a value in a global, an "
        "attribute, or a list that lives on; return it from the function instead.")
  else:
    what = "was used outside of the transformation that it belongs to"
    fix = (
        "Most often a function with a custom derivative, or its rule, closes over a "
        "value that is being differentiated, or has it among its nondiff_argnums; pass "
        "it as a differentiable argument.")
  return errors.UnexpectedTracerError(
      "Encountered an unexpected tracer: an intermediate value of type "
      f"{x.aval} {what}. {x.origin(past=True)}".rstrip() + f"\n{fix}")


def check_leaks(trace: Trace) -> None:
  """Looks for tracers that outlive an ended trace, while the option for it is on.

  Raises:
    UnexpectedTracerError: there is one.
  """
  if not _config.current().check_tracer_leaks:
    return
  gc.collect()
  for x in gc.get_objects():
    if issubclass(type(x), Tracer) and x._trace is trace:
      holders = {type(r).__name__ for r in gc.get_referrers(x)} - {"frame"}
      raise errors.UnexpectedTracerError(
          f"Leaked trace: a traced value of type {x.aval} is still referred to after the "
          f"transformation has ended, by an object of type {', '.join(sorted(holders))}. "
          f"{x.origin(past=True)}".rstrip() + "\nReturn it from the function instead.")
