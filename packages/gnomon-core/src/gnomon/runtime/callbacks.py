"""Programs that call Python: each is waited for, and raises what the function raised."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from gnomon.runtime.jaxlib import callbacks, errors


class CallbackError(errors.JaxRuntimeError):  # type: ignore[misc]
  """A Python function that a compiled program called has raised an exception.

  It is an instance of the exception's class too, with its message and attributes; the
  exception itself is the cause.
  """

  text = ""

  def __str__(self) -> str:
    return self.text


def _raised(failure: BaseException) -> BaseException:
  """What the caller of a program gets for an exception in a function that it called."""
  if not isinstance(failure, Exception):
    return failure  # KeyboardInterrupt, SystemExit: nobody would catch them otherwise
  kind = type(failure)
  found: CallbackError
  try:
    cls = type(kind.__name__, (CallbackError, kind), {"__module__": kind.__module__})
    found = kind.__new__(cls, *failure.args)
  except TypeError:  # a class that cannot be derived from, or made anew
    found = CallbackError.__new__(CallbackError)
  errors.JaxRuntimeError.__init__(found, str(failure), _INTERNAL)
  found.args = failure.args
  found.__dict__.update(failure.__dict__)
  found.text = str(failure)
  found.__cause__ = failure
  return found


_INTERNAL = 13

_running: set[Run] = set()


class Run:
  """An execution of a program that calls Python; it has not ended."""

  __slots__ = ("done", "thread")

  def __init__(self) -> None:
    self.thread = threading.get_ident()
    self.done = threading.Event()

  def __enter__(self) -> None:
    _running.add(self)

  def __exit__(self, *_: object) -> None:
    _running.discard(self)
    self.done.set()


def failure(error: Exception) -> BaseException:
  """What to raise for a failed execution of a program that calls Python."""
  raised = callbacks.failure_of(error)
  return error if raised is None else _raised(raised)


def run(
    execute: Any, args: list[Any], handlers: Any, functions: Sequence[Any] = (),
) -> tuple[Any, ...]:
  """Runs a program that calls Python, until it has ended.

  `functions` are those that it calls and that keep their exceptions.

  Raises:
    CallbackError: a function has raised an exception.
  """
  with Run():
    try:
      results = execute(args, with_tokens=True)
      token = results.consume_token()
      outs = tuple(results.consume_with_handlers(handlers))
      token.block_until_ready()
    except Exception as e:
      found = failure(e)
      if found is e:
        raise
      raise found from found.__cause__
    kept = callbacks.deferred(functions)
    if kept is not None:
      raise _raised(kept) from kept
  return outs


def effects_barrier() -> None:
  """Waits until the effects of all programs that were called before have happened.

  A program that calls Python (`debug.print`, `io_callback`) is waited for by the thread
  that calls it. This waits for those of other threads.

  >>> import gnomon
  >>> gnomon.effects_barrier()
  """
  if callbacks.is_inside():
    return  # the program around would wait for itself
  me = threading.get_ident()
  for run in list(_running):
    if run.thread != me:
      run.done.wait()

