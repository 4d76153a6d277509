"""Python functions that compiled programs call: how the runtime finds and calls them."""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Callable, Sequence
from typing import Any

TARGET = "xla_ffi_python_cpu_callback"
"""The custom call that calls a program's Python function.

Its attribute `index` chooses among those that the program was compiled with.
"""

PARTITIONED_TARGET = "xla_ffi_partitioned_python_cpu_callback"
"""The same, called on each device of a partitioned program with its parts."""

HostFunction = Callable[..., tuple[Any, ...]]

# The runtime keeps the text of an exception and drops the object. So the text is a number
# under which the object is found again where the failed execution is noticed.
_MARK = "gnomon-callback-failure"
_FOUND = re.compile(rf"{_MARK}-(\d+)")
_KEPT = 64  # of failures that nobody asked for: a program may fail in several functions
_failures: dict[int, BaseException] = {}
_numbers = itertools.count()
_inside = threading.local()


class _Failure(Exception):
  """What the runtime sees of an exception in a Python function."""


def remembering(function: HostFunction) -> HostFunction:
  """A function whose exceptions `failure_of` finds again."""
  def call(*args: Any) -> tuple[Any, ...]:
    _inside.depth = getattr(_inside, "depth", 0) + 1
    try:
      return function(*args)
    except BaseException as e:  # noqa: BLE001 -- raised again where it can be caught
      number = next(_numbers)
      _failures[number] = e
      while len(_failures) > _KEPT:
        _failures.pop(next(iter(_failures)), None)
      raise _Failure(f"{_MARK}-{number}") from None
    finally:
      _inside.depth -= 1

  return call


class Deferring:
  """A function whose exceptions are kept until the program has ended.

  In a program over several devices the others may wait for what this one is to give: an
  exception on the way would leave them waiting. So it gives `instead`.
  """

  __slots__ = ("failures", "function", "instead")

  def __init__(self, function: HostFunction, instead: tuple[Any, ...]) -> None:
    self.function, self.instead = function, instead
    self.failures: list[BaseException] = []

  def __call__(self, *args: Any) -> tuple[Any, ...]:
    _inside.depth = getattr(_inside, "depth", 0) + 1
    try:
      return self.function(*args)
    except BaseException as e:  # noqa: BLE001 -- raised when the program has ended
      self.failures.append(e)
      return self.instead
    finally:
      _inside.depth -= 1


def deferred(functions: Sequence[Any]) -> BaseException | None:
  """The first exception that was kept, if there is one; forgets them all."""
  found = None
  for f in functions:
    if type(f) is Deferring and f.failures:
      found = found or f.failures[0]
      f.failures.clear()
  return found


def failure_of(error: BaseException) -> BaseException | None:
  """The exception in a Python function that made an execution fail, if one did."""
  found = _FOUND.search(str(error))
  return None if found is None else _failures.pop(int(found[1]), None)


def is_inside() -> bool:
  """Whether this thread is in a function that a compiled program called."""
  return getattr(_inside, "depth", 0) > 0
