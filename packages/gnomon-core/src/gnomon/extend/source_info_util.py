"""Where operations come from: names in force, lines of the user's code."""

from __future__ import annotations

from typing import Any

from gnomon.core import source
from gnomon.core.source import NameStack as NameStack
from gnomon.core.source import SourceInfo as SourceInfo
from gnomon.core.source import register_exclusion as register_exclusion
from gnomon.core.stage import StageTrace
from gnomon.core.trace import get_current

__all__ = [
    "NameStack", "SourceInfo", "current", "current_name_stack", "extend_name_stack",
    "new_name_stack", "new_source_info", "register_exclusion", "reset_name_stack",
    "set_name_stack", "summarize", "transform_name_stack", "user_context"]


def current() -> SourceInfo:
  """The line that calls, and the names in force."""
  return SourceInfo.of(source.here())


def new_source_info() -> SourceInfo:
  """No line, and no names."""
  return SourceInfo(None, NameStack())


def current_name_stack() -> NameStack:
  """The names in force."""
  return NameStack(source.name_stack.get())


def new_name_stack(name: str = "") -> NameStack:
  """A stack of one name, or of none."""
  return NameStack((name,)) if name else NameStack()


def summarize(source_info: Any, num_frames: int = 1) -> str:
  """`file:line (function)` of the user's innermost frames, a line each.

  Args:
    source_info: a `SourceInfo`, or a traceback.
    num_frames: how many frames to tell of.
  """
  frames = source.user_frames(getattr(source_info, "traceback", source_info))
  return "\n".join(
      f"{f.file_name}:{f.line_num} ({f.function_name})"
      for f in frames[:num_frames])


class set_name_stack:
  """A context manager in which these names are in force, and no others.

  >>> from gnomon.extend import source_info_util as info
  >>> with info.set_name_stack(info.new_name_stack('layer')):
  ...   str(info.current_name_stack())
  'layer'
  """

  __slots__ = ("_stack", "_token")

  def __init__(self, name_stack: NameStack) -> None:
    self._stack = name_stack

  def __enter__(self) -> NameStack:
    self._token = source.name_stack.set(self._stack.stack)
    return self._stack

  def __exit__(self, *_: object) -> None:
    source.name_stack.reset(self._token)


class extend_name_stack(set_name_stack):
  """A context manager that adds the name of a scope."""

  __slots__ = ("_name",)

  def __init__(self, name: str) -> None:
    self._name = name

  def __enter__(self) -> NameStack:
    self._stack = current_name_stack().extend(self._name)
    return super().__enter__()


class transform_name_stack(extend_name_stack):
  """A context manager that adds the name of a transformation."""

  __slots__ = ()

  def __init__(self, name: str) -> None:
    super().__init__(f"{name}()")


def reset_name_stack() -> set_name_stack:
  """A context manager in which no names are in force."""
  return set_name_stack(NameStack())


class user_context:
  """A context manager in which operations come from another place than they do.

  What is recorded in it, in the trace that is the current one, gets this traceback and
  these names.

  Args:
    traceback: as an equation's `source_info.traceback`; None leaves the place alone.
    name_stack: the names; None for those in force.
  """

  __slots__ = ("_names", "_saved", "_source", "_trace")

  def __init__(
      self, traceback: Any, *, name_stack: NameStack | None = None) -> None:
    names = current_name_stack() if name_stack is None else name_stack
    self._names = None if name_stack is None else set_name_stack(name_stack)
    self._source = None if traceback is None else SourceInfo(traceback, names).source

  def __enter__(self) -> None:
    if self._names is not None:
      self._names.__enter__()
    self._trace = get_current()
    if isinstance(self._trace, StageTrace) and self._source is not None:
      self._saved, self._trace.source = self._trace.source, self._source

  def __exit__(self, *_: object) -> None:
    if isinstance(self._trace, StageTrace) and self._source is not None:
      self._trace.source = self._saved
    if self._names is not None:
      self._names.__exit__()
