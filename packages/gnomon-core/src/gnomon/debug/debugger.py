"""`debug.breakpoint`: a debugger in the terminal, with values of running programs."""

from __future__ import annotations

import cmd
import inspect
import linecache
import pprint
import sys
import traceback
import types
from collections.abc import Sequence
from typing import IO, Any

from gnomon.core import source
from gnomon.core.calls import is_ref
from gnomon.core.effects import debug_effect, ordered_debug_effect
from gnomon.core.trace import Tracer
from gnomon.debug.printing import debug_callback_p
from gnomon.tree_util import tree_flatten

_CANNOT_FLATTEN = "<cant_flatten>"


class _Shown:
  """Stands for a value that cannot be had; prints as its text."""

  __slots__ = ("_text",)

  def __init__(self, text: str) -> None:
    self._text = text

  def __repr__(self) -> str:
    return self._text


class Frame:
  """A frame of the stack at a breakpoint: its place, its source, and its variables."""

  __slots__ = ("file", "first", "line", "lines", "names", "scope", "values")

  def __init__(self, frame: Any, line: int) -> None:
    code = frame.f_code
    self.file, self.line = code.co_filename, line
    self.lines, self.first = _source(frame)
    self.values: dict[str, Any] = dict(frame.f_locals)
    # Data among the globals may have changed since the program was traced: it would be
    # shown as if it belonged to the program.
    self.scope = {
        k: v for k, v in frame.f_globals.items()
        if isinstance(v, types.ModuleType) or callable(v)}
    self.scope["__builtins__"] = __builtins__

  def with_values(self, values: dict[str, Any]) -> Frame:
    """The frame with other values of its variables."""
    found: Frame = object.__new__(Frame)
    found.file, found.line = self.file, self.line
    found.lines, found.first, found.scope = self.lines, self.first, self.scope
    found.values = values
    return found

  def evaluate(self, expression: str) -> Any:
    """The value of an expression among the frame's variables."""
    # Comprehensions and lambdas look names up in the globals.
    return eval(expression, {**self.scope, **self.values})  # noqa: S307 -- as debuggers do

  def context(self, around: int = 5) -> str:
    """The lines around the present one, which has an arrow."""
    at = self.line - self.first
    low = max(at - around, 0)
    shown = [
        f"{'->  ' if i == at else '    '}{text}"
        for i, text in enumerate(self.lines[low:at + around + 1], low)]
    return "\n".join([f"> {self.file}({self.line})", *shown, ""])

  def summary(self) -> str:
    """Two lines, as in a traceback."""
    text = linecache.getline(self.file, self.line).strip()
    return f'  File "{self.file}", line {self.line}\n    {text}'


def _source(frame: Any) -> tuple[list[str], int]:
  """The source of the function of a frame, and the number of its first line."""
  try:
    lines, first = inspect.getsourcelines(frame.f_code)
  except (OSError, TypeError):
    return [], frame.f_code.co_firstlineno
  return [text.rstrip("\n") for text in lines], max(first, 1)


def frames_here(filter_frames: bool, num_frames: int | None) -> list[Frame]:
  """The frames of the caller's stack, innermost first."""
  found = []
  for frame, line in traceback.walk_stack(sys._getframe(1)):
    name = frame.f_code.co_filename
    if name == __file__ or (filter_frames and not source.is_user_file(name)):
      continue
    found.append(Frame(frame, line))
    if num_frames is not None and len(found) >= num_frames:
      break
  return found


class _Stack:
  """Frames whose traced values are operands of the program: filled in when it runs."""

  __slots__ = ("frames", "options", "parts")

  def __init__(self, frames: Sequence[Frame], options: dict[str, Any]) -> None:
    self.frames, self.options = frames, options
    # For each variable: its leaves, with places among the operands, and its structure.
    self.parts: list[dict[str, tuple[list[Any], Any]]] = []

  def collect(self) -> list[Any]:
    """The traced values, each once."""
    operands: list[Any] = []
    places: dict[int, int] = {}
    for frame in self.frames:
      part = {}
      for name, value in frame.values.items():
        try:
          leaves, tree = tree_flatten(value)
        except Exception:  # noqa: BLE001 -- a user's class: any error means it cannot be
          leaves, tree = [_Shown(_CANNOT_FLATTEN)], None
        part[name] = ([_leaf(x, operands, places) for x in leaves], tree)
      self.parts.append(part)
      frame.values = {}  # tracers must not live on
    return operands

  def __call__(self, *arrays: Any) -> tuple[Any, ...]:
    frames = []
    for frame, part in zip(self.frames, self.parts):
      values = {}
      for name, (leaves, tree) in part.items():
        found = [arrays[x.place] if type(x) is _Place else x for x in leaves]
        values[name] = found[0] if tree is None else tree.unflatten(found)
      frames.append(frame.with_values(values))
    Debugger(frames, **self.options).run()
    return ()

  def __repr__(self) -> str:
    return "<breakpoint>"


class _Place:
  """Stands for an operand of the program."""

  __slots__ = ("place",)

  def __init__(self, place: int) -> None:
    self.place = place


def _leaf(x: Any, operands: list[Any], places: dict[int, int]) -> Any:
  if not isinstance(x, Tracer):
    return x
  if is_ref(x) or x._trace.done:
    return _Shown(f"<{x.aval}, not available>")
  place = places.setdefault(id(x), len(operands))
  if place == len(operands):
    operands.append(x)
  return _Place(place)


class Debugger(cmd.Cmd):
  """Reads commands and shows frames and values."""

  prompt = "(jdb) "

  def __init__(
      self, frames: Sequence[Frame], stdin: IO[str] | None = None,
      stdout: IO[str] | None = None, completekey: str = "tab") -> None:
    super().__init__(completekey, stdin, stdout)
    self.use_rawinput = stdin is None and stdout is None
    self._frames, self._at = list(frames), 0
    self._left = False

  @property
  def frame(self) -> Frame:
    return self._frames[self._at]

  def run(self) -> None:
    """Reads and obeys commands until one says to go on, or to quit."""
    self._say("Entering jdb:")
    self.cmdloop()

  def _say(self, text: str) -> None:
    self.stdout.write(text + "\n")

  def _value(self, expression: str) -> Any:
    try:
      return self.frame.evaluate(expression)
    except Exception as e:  # noqa: BLE001 -- shown to the user
      self._say(f"*** {_one_line(e)}")
    return _nothing

  def emptyline(self) -> bool:
    return False

  def default(self, line: str) -> None:
    """Any other line is an expression: shows its value."""
    self.do_p(line)

  def do_p(self, arg: str) -> None:
    """Shows a value: `p expression`."""
    value = self._value(arg)
    if value is not _nothing:
      self._say(repr(value))

  def do_pp(self, arg: str) -> None:
    """Shows a value, over several lines where it is large: `pp expression`."""
    value = self._value(arg)
    if value is not _nothing:
      self._say(pprint.pformat(value))

  def do_up(self, _: str) -> None:
    """Goes to the calling frame: `u` or `up`."""
    if self._at + 1 == len(self._frames):
      self._say("At topmost frame.")
    else:
      self._at += 1
    self._say(self.frame.context())

  def do_down(self, _: str) -> None:
    """Goes to the called frame: `d` or `down`."""
    if self._at == 0:
      self._say("At bottommost frame.")
    else:
      self._at -= 1
    self._say(self.frame.context())

  def do_list(self, _: str) -> None:
    """Shows the source around the present line: `l` or `list`."""
    self._say(self.frame.context())

  def do_where(self, _: str) -> None:
    """Shows the stack, innermost frame last: `w`, `where` or `bt`."""
    self._say("\n".join(["Traceback:", *(f.summary() for f in reversed(self._frames))]))

  def do_continue(self, _: str) -> bool:
    """Lets the program go on: `c`, `cont` or `continue`."""
    return True

  def do_quit(self, _: str) -> None:
    """Ends the program, with SystemExit: `q` or `quit`."""
    sys.exit(0)

  def do_EOF(self, arg: str) -> None:
    """End of the input: as quit."""
    self.do_quit(arg)

  do_u, do_d, do_l = do_up, do_down, do_list
  do_w = do_bt = do_where
  do_c = do_cont = do_continue
  do_q = do_quit


_nothing = object()


def _one_line(e: Exception) -> str:
  return traceback.format_exception_only(type(e), e)[-1].strip()


def breakpoint(
    *, backend: str | None = None, filter_frames: bool = True,
    num_frames: int | None = None, ordered: bool = False, token: Any = None,
    **kwargs: Any) -> Any:
  r"""Stops a running program here, and opens a debugger in the terminal.

  The program stops when it runs, not when it is traced, and shows the values it has then.
  Under `vmap` it stops for each element, in loops at each step.

  Commands: `p` and `pp` show the value of an expression, `l` the source, `w` or `bt` the
  stack; `u` and `d` go to the calling or the called frame; `c` lets the program go on,
  `q` ends it. In expressions one can use the frame's variables, and the modules,
  functions and classes among its globals.

  Args:
    backend: the kind of debugger: `"cli"`.
    filter_frames: leave out frames of libraries.
    num_frames: how many frames to keep, innermost first; None for all.
    ordered: whether breakpoints stop in the order of the program.
    token: returned as it is.
    **kwargs: for the debugger: `stdin` and `stdout`, streams instead of the terminal's.

  >>> import io
  >>> import gnomon
  >>> out = io.StringIO()
  >>> @gnomon.jit
  ... def f(x):
  ...   y = x + 1.0
  ...   gnomon.debug.breakpoint(stdin=io.StringIO("p y\nc\n"), stdout=out)
  ...   return y
  >>> y = f(2.0)
  >>> print(out.getvalue())
  Entering jdb:
  (jdb) Array(3., dtype=float32, weak_type=True)
  (jdb)

  Raises:
    ValueError: `backend` is unknown.
  """
  if backend not in (None, "cli"):
    raise ValueError(
        f"gnomon.debug.breakpoint: unknown backend {backend!r}; there is 'cli'")
  stack = _Stack(frames_here(filter_frames, num_frames), kwargs)
  operands = stack.collect()
  debug_callback_p.apply(
      *operands, callback=stack,
      effect=ordered_debug_effect if ordered else debug_effect, partitioned=False)
  return token
