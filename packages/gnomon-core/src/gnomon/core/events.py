"""What happens inside, told to listeners: the registry behind `gnomon.monitoring`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from gnomon.core import logs

Listener = Callable[..., None]
KINDS = ("event", "duration", "scalar", "span")

_lock = threading.Lock()
_listeners: dict[str, tuple[Listener, ...]] = dict.fromkeys(KINDS, ())
listening = False  # whether there is a listener; nothing is measured otherwise


def register(kind: str, callback: Listener) -> None:
  """Adds a listener.

  Raises:
    TypeError: it cannot be called.
  """
  if not callable(callback):
    raise TypeError(
        f"a listener of monitoring should be callable, got {callback!r} of type "
        f"{type(callback).__name__}")
  _change(kind, lambda found: (*found, callback))


def unregister(kind: str, callback: Listener) -> None:
  """Removes a listener.

  Raises:
    AssertionError: there is no such listener.
  """
  def without(found: tuple[Listener, ...]) -> tuple[Listener, ...]:
    if callback not in found:
      raise AssertionError(f"{callback!r} is no registered listener of this kind")
    i = found.index(callback)
    return found[:i] + found[i + 1:]

  _change(kind, without)


def clear() -> None:
  """Removes all listeners."""
  for kind in KINDS:
    _change(kind, lambda _: ())


def _change(kind: str, change: Callable[..., tuple[Listener, ...]]) -> None:
  global listening
  with _lock:
    _listeners[kind] = change(_listeners[kind])
    listening = any(_listeners.values())


def tell(kind: str, *args: Any, **metadata: Any) -> None:
  """Calls the listeners of a kind."""
  for callback in _listeners[kind]:
    callback(*args, **metadata)


class timed:
  """Tells how long its body takes, and when, if anybody listens or reads the log."""

  __slots__ = ("began", "clock", "event", "level", "metadata", "on")

  def __init__(self, event: str, **metadata: Any) -> None:
    self.event, self.metadata = event, metadata
    self.level = logs.level_of_compiles()
    self.on = listening or logs.timing.isEnabledFor(self.level)

  def __enter__(self) -> None:
    if self.on:
      self.began, self.clock = time.time(), time.perf_counter()
      tell("scalar", self.event, self.began, **self.metadata)

  def __exit__(self, kind: object, *_: object) -> None:
    if self.on and kind is None:
      took = time.perf_counter() - self.clock
      tell("duration", self.event, took, **self.metadata)
      tell("span", self.event, self.began, self.began + took, **self.metadata)
      text = _FINISHED.get(self.event)
      if text is not None:
        logs.timing.log(self.level, text, self.metadata["fun_name"], took)


# The names of events are those that tools know.
TRACE = "/jax/core/compile/jaxpr_trace_duration"
LOWER = "/jax/core/compile/jaxpr_to_mlir_module_duration"
COMPILE = "/jax/core/compile/backend_compile_duration"

_FINISHED = {
    TRACE: "Finished tracing %s for jit in %.9f sec",
    LOWER: "Finished jaxpr to MLIR module conversion %s in %.9f sec",
    COMPILE: "Finished XLA compilation of %s in %.9f sec",
}
