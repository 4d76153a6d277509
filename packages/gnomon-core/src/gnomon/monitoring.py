"""Listening to what happens inside: tracing, lowering, compiling, and events of others.

A listener gets the name of the event, then its value or times, and metadata by keyword.
gnomon tells how long it traces, lowers and compiles; libraries may tell events of theirs.
"""

from __future__ import annotations

from collections.abc import Callable

from gnomon.core import events

__all__ = [
    "clear_event_listeners", "record_event", "record_event_duration_secs",
    "record_event_time_span", "record_scalar", "register_event_duration_secs_listener",
    "register_event_listener", "register_event_time_span_listener",
    "register_scalar_listener", "unregister_event_duration_listener",
    "unregister_event_listener", "unregister_event_time_span_listener",
    "unregister_scalar_listener"]

Listener = Callable[..., None]


def record_event(event: str, **kwargs: str | int) -> None:
  """Tells the listeners of events that one has happened.

  >>> from gnomon import monitoring
  >>> monitoring.register_event_listener(print)
  >>> monitoring.record_event("/mine/saved")
  /mine/saved
  >>> monitoring.unregister_event_listener(print)
  """
  events.tell("event", event, **kwargs)


def record_event_duration_secs(event: str, duration: float, **kwargs: str | int) -> None:
  """Tells the listeners of durations how many seconds something took."""
  events.tell("duration", event, duration, **kwargs)


def record_event_time_span(
    event: str, start_time: float, end_time: float, **kwargs: str | int) -> None:
  """Tells the listeners of time spans when something began and ended, in seconds."""
  events.tell("span", event, start_time, end_time, **kwargs)


def record_scalar(event: str, value: float, **kwargs: str | int) -> None:
  """Tells the listeners of scalars a value."""
  events.tell("scalar", event, value, **kwargs)


def register_event_listener(callback: Listener) -> None:
  """Has `callback(event, **metadata)` called for each event."""
  events.register("event", callback)


def register_event_duration_secs_listener(callback: Listener) -> None:
  """Has `callback(event, seconds, **metadata)` called for each duration.

  >>> import gnomon
  >>> from gnomon import monitoring
  >>> seen = []
  >>> listener = lambda event, seconds, **_: seen.append(event.split("/")[-1])
  >>> monitoring.register_event_duration_secs_listener(listener)
  >>> y = gnomon.jit(lambda x: x)(1.0)
  >>> monitoring.unregister_event_duration_listener(listener)
  >>> seen
  ['jaxpr_trace_duration', 'jaxpr_to_mlir_module_duration', 'backend_compile_duration']
  """
  events.register("duration", callback)


def register_event_time_span_listener(callback: Listener) -> None:
  """Has `callback(event, start, end, **metadata)` called for each time span."""
  events.register("span", callback)


def register_scalar_listener(callback: Listener) -> None:
  """Has `callback(event, value, **metadata)` called for each scalar."""
  events.register("scalar", callback)


def unregister_event_listener(callback: Listener) -> None:
  """Takes back `register_event_listener`.

  Raises:
    AssertionError: it was not registered; also in the other functions of this kind.
  """
  events.unregister("event", callback)


def unregister_event_duration_listener(callback: Listener) -> None:
  """Takes back `register_event_duration_secs_listener`."""
  events.unregister("duration", callback)


def unregister_event_time_span_listener(callback: Listener) -> None:
  """Takes back `register_event_time_span_listener`."""
  events.unregister("span", callback)


def unregister_scalar_listener(callback: Listener) -> None:
  """Takes back `register_scalar_listener`."""
  events.unregister("scalar", callback)


def clear_event_listeners() -> None:
  """Removes all listeners of all kinds."""
  events.clear()
