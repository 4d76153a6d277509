"""The trace in force, looked at and replaced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon import errors
from gnomon.core.stage import StageTrace
from gnomon.core.trace import EVAL, Trace, Tracer, get_current, tracing
from gnomon.transform.vmap import BatchTrace, axis_env


class set_current_trace:
  """A context manager in which another trace sees the operations.

  Args:
    trace: the trace; None for evaluation.
    check_leaks: whether its tracers must not outlive it; `checking_leaks` looks for that.
  """

  def __init__(self, trace: Trace | None, check_leaks: bool = False) -> None:
    del check_leaks
    self._tracing = tracing(EVAL if trace is None else trace)

  def __enter__(self) -> None:
    self._tracing.__enter__()

  def __exit__(self, *error: object) -> None:
    self._tracing.__exit__(*error)


class take_current_trace:
  """A context manager that gives the trace in force, and evaluates within.

  >>> from gnomon.extend import core
  >>> with core.take_current_trace() as outer, core.set_current_trace(outer):
  ...   pass
  """

  def __enter__(self) -> Trace:
    trace: Trace = get_current()
    self._tracing = tracing(EVAL)
    self._tracing.__enter__()
    return trace

  def __exit__(self, *error: object) -> None:
    self._tracing.__exit__(*error)


class TraceTag:
  """Tells the traces of one transformation from others. All tags are equal."""

  __slots__ = ()

  def __eq__(self, other: object) -> bool:
    return isinstance(other, TraceTag)

  def __hash__(self) -> int:
    return hash(TraceTag)


def find_top_trace(_: Sequence[Any]) -> Trace:
  """The trace in force; it does not depend on the arguments."""
  return get_current()


class OpaqueTraceState:
  """Equal to another one if the same trace was in force."""

  __slots__ = ("_trace",)

  def __init__(self, trace: Trace) -> None:
    self._trace = trace

  def __eq__(self, other: object) -> bool:
    return isinstance(other, OpaqueTraceState) and self._trace is other._trace

  def __hash__(self) -> int:
    return hash(id(self._trace))


def get_opaque_trace_state(convention: Any = None) -> OpaqueTraceState:
  """What can be compared, later, to see whether the same trace is in force."""
  del convention
  return OpaqueTraceState(get_current())


def concrete_or_error(force: Any, val: Any, context: str = "") -> Any:
  """A value that must be known while tracing, converted by `force` (None: as it is).

  >>> from gnomon.extend.core import concrete_or_error
  >>> concrete_or_error(int, 3.0)
  3

  Raises:
    ConcretizationTypeError: `val` is traced; `context` says what it is needed for.
  """
  if isinstance(val, Tracer):
    known = val.concrete()
    if known is None:
      raise errors.ConcretizationTypeError(val, context)
    val = known
  return val if force is None else force(val)


def _chain() -> list[Any]:
  """The trace in force, and those around it."""
  found: list[Any] = []
  trace: Any = get_current()
  while trace is not None:
    found.append(trace)
    trace = getattr(trace, "parent", None)
  return found


def nonempty_axis_env_DO_NOT_USE() -> bool:
  """Whether a named axis is in force."""
  return bool(axis_env.get())


def unsafe_get_axis_names_DO_NOT_USE() -> list[Any]:
  """The names of the axes in force."""
  return [name for name, _ in axis_env.get()]


def unsafe_am_i_under_a_jit_DO_NOT_USE() -> bool:
  """Whether operations are being recorded."""
  return any(isinstance(t, StageTrace) for t in _chain())


def unsafe_am_i_under_a_vmap_DO_NOT_USE() -> bool:
  """Whether operations are being mapped."""
  return any(isinstance(t, BatchTrace) for t in _chain())
