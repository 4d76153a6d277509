"""Where an equation comes from: the traceback of the user's code, the stack of names."""

from __future__ import annotations

import os
import sys
from contextvars import ContextVar
from types import TracebackType
from typing import Any

from gnomon import _config
from gnomon.runtime.jaxlib import mlir

_excluded: list[str] = []

name_stack: ContextVar[tuple[str, ...]] = ContextVar("gnomon.names", default=())
# The trace that was in force where the innermost scope was entered.
scoped: ContextVar[Any] = ContextVar("gnomon.scoped", default=None)


def under_transformations(name: str, trace: Any) -> str:
  """`vmap(jvp(name))`: a name, and the transformations since the innermost scope.

  They are found where a scope begins or a function is called, so that operations pay
  nothing.
  """
  around = scoped.get()
  while trace is not None and trace is not around:
    if trace.label:
      name = f"{trace.label}({name})"
    trace = getattr(trace, "parent", None)
  return name


class Source:
  """A traceback and the names in force (`named_scope`, transformations)."""

  __slots__ = ("names", "traceback")

  def __init__(self, traceback: Any, names: tuple[str, ...]) -> None:
    self.traceback = traceback
    self.names = names


class NameStack:
  """Names in force, outermost first: of scopes, and of transformations as `jvp()`."""

  __slots__ = ("stack",)

  def __init__(self, stack: tuple[str, ...] = ()) -> None:
    self.stack = stack

  def extend(self, name: str) -> NameStack:
    """The stack with a scope added."""
    return NameStack((*self.stack, name))

  def transform(self, transform_name: str) -> NameStack:
    """The stack with a transformation added."""
    return NameStack((*self.stack, f"{transform_name}()"))

  def __add__(self, other: NameStack) -> NameStack:
    return NameStack(self.stack + other.stack)

  def __eq__(self, other: object) -> bool:
    return isinstance(other, NameStack) and self.stack == other.stack

  def __hash__(self) -> int:
    return hash(self.stack)

  def __len__(self) -> int:
    return len(self.stack)

  def __str__(self) -> str:
    return "/".join(self.stack)

  def __repr__(self) -> str:
    return f"NameStack(stack={self.stack})"


class SourceInfo:
  """Where an operation comes from, as other libraries look at it."""

  __slots__ = ("name_stack", "traceback")

  def __init__(self, traceback: Any, name_stack: NameStack) -> None:
    self.traceback, self.name_stack = traceback, name_stack

  @staticmethod
  def of(source: Any) -> SourceInfo:
    """That of what an equation holds: a traceback, or a `Source`."""
    if type(source) is Source:
      return SourceInfo(source.traceback, NameStack(source.names))
    return SourceInfo(source, NameStack())

  @property
  def source(self) -> Any:
    """What an equation holds."""
    names = self.name_stack.stack
    return Source(self.traceback, names) if names else self.traceback

  def replace(self, **changes: Any) -> SourceInfo:
    """A copy with some fields changed."""
    return SourceInfo(
        changes.get("traceback", self.traceback),
        changes.get("name_stack", self.name_stack))


def register_exclusion(path: str) -> None:
  """Counts the file or folder `path` as the library's own: its frames are not shown."""
  is_user_file(path)  # the library's own folders come first
  _excluded.append(path)


def is_user_file(filename: str) -> bool:
  """Whether a file holds code of the user, not of this library."""
  if not _excluded:  # the folders of all slices, wherever they are installed
    _excluded.extend(p + os.sep for p in sys.modules["gnomon"].__path__)
    _excluded.append("<frozen")
  return not filename.startswith(tuple(_excluded))


def user_frames(traceback: Any) -> list[Any]:
  """The frames of a runtime traceback that belong to the user, innermost first."""
  if traceback is None:
    return []
  return [f for f in traceback.frames if is_user_file(f.file_name)]


def summary(traceback: Any) -> str:
  """`file:line (function)` of the innermost user frame, or an empty string."""
  frames = user_frames(traceback)
  if not frames:
    return ""
  f = frames[0]
  return f"{f.file_name}:{f.line_num} ({f.function_name})"


def transposed(source: Any) -> Any:
  """What an operation of a backward pass comes from: `jvp(name)` is transposed there."""
  if type(source) is not Source:
    return source
  names = list(source.names)
  for i in reversed(range(len(names))):
    before, found, rest = names[i].rpartition("jvp(")
    if found:
      names[i] = f"{before}transpose(jvp({rest})"
      break
  return Source(source.traceback, tuple(names))


def here() -> Any:
  """The traceback of the caller, with the names in force (under a microsecond)."""
  names = name_stack.get()
  return Source(mlir.traceback(), names) if names else mlir.traceback()


_NOTE = (
    "--------------------\nFor simplicity, frames of gnomon's own code are not shown. "
    "The option jax_traceback_filtering (GNOMON_TRACEBACK_FILTERING=off) shows them.")


def filter_traceback(e: BaseException) -> None:
  """Removes this library's frames from the traceback of `e`, keeping the user's.

  The option `traceback_filtering` may forbid it. A note tells of it.
  """
  mode = _config.current().traceback_filtering
  if mode == "off":
    return
  tb, kept = e.__traceback__, []
  total = 0
  while tb is not None:
    total += 1
    if is_user_file(tb.tb_frame.f_code.co_filename):
      kept.append(tb)
    tb = tb.tb_next
  if not kept or len(kept) == total:
    return
  if mode in ("auto", "quiet_remove_frames") and _NOTE not in getattr(
      e, "__notes__", ()):
    e.add_note(_NOTE)
  chain: TracebackType | None = None
  for t in reversed(kept):
    chain = TracebackType(chain, t.tb_frame, t.tb_lasti, t.tb_lineno)
  e.__traceback__ = chain
