"""The key-reuse checker: programs are followed with the keys that flow through them.

Each key is a cell, and an array of keys an array of cells, on which operations that only
move keys act as they do on the keys. What draws or splits marks its cells as used, with
the line; a cell that is used already is an error. It works on the programs of calls and
on single operations, before they run, while the option `debug_key_reuse` is on.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from gnomon import make_jaxpr
from gnomon.core import source
from gnomon.core.jaxpr import ClosedJaxpr, Eqn, Literal, programs_in
from gnomon.errors import KeyReuseError
from gnomon.random._keys import KeyType, PRNGKeyArray

View = Any  # an array of cells, or None for what is no key
_MOST = 1 << 16  # larger arrays of keys are not followed
_steps = itertools.count(1)


class Use(NamedTuple):
  """When and where a key was used."""

  step: int
  place: str


class Cell:
  """A key: its use, if it was used."""

  __slots__ = ("use",)

  def __init__(self) -> None:
    self.use: Use | None = None


def fresh(shape: tuple[int, ...]) -> View:
  """New keys."""
  cells = np.empty(shape, object)
  if cells.size <= _MOST:
    for i in np.ndindex(shape):
      cells[i] = Cell()
  return cells


class Tracked:
  """What an array of keys remembers: its cells."""

  __slots__ = ("cells",)

  def __init__(self, cells: View) -> None:
    self.cells = cells

  @property
  def mask(self) -> Any:
    """Whether each key was used."""
    used = np.vectorize(lambda c: c is not None and c.use is not None, otypes=[bool])
    return used(self.cells)[()] if self.cells.size else np.zeros(self.cells.shape, bool)


def view_of(x: Any) -> View:
  """The cells of an array of keys; None for anything else."""
  if not isinstance(x, PRNGKeyArray):
    return None
  if x.use is None:
    x.use = Tracked(fresh(x.shape))
  return x.use.cells


class Frame(NamedTuple):
  """A program that is being followed: what it is called, with which operands, since when.

  `second` is the step at which the second round of a loop began.
  """

  name: str
  views: Sequence[View]
  since: int
  place: str | None = None  # of programs of the library: the line of the call
  second: int | None = None


class Checker:
  """Follows one call."""

  def __init__(self, root: Frame) -> None:
    self.frames = [root]
    self.used: list[Cell] = []  # in order: what a branch used can be taken back
    self.repeats_before = 0  # of a checkpoint that computes again: when it began

  # ---- use

  def consume(self, e: Any, view: View, index: int) -> None:
    """Marks keys as used by an operand of an operation."""
    place, step = self.place(e), next(_steps)
    cells = {id(c): c for c in view.flat if c is not None}.values()
    for c in cells:
      u = c.use
      if u is not None and u.step >= self.repeats_before:
        self.refuse(c, u, e.primitive.name, index, place)
    for c in cells:
      c.use = Use(step, place)
      self.used.append(c)

  def place(self, e: Any) -> str:
    for frame in self.frames:
      if frame.place is not None:
        return frame.place
    tb = e.source
    return source.summary(tb.traceback if type(tb) is source.Source else tb)

  def refuse(self, c: Cell, use: Use, name: str, index: int, place: str) -> NoReturn:
    """Raises the error, in terms of the program in which both uses are."""
    headline = f"In {name}, argument {index} is already consumed"
    for frame in reversed(self.frames):
      if use.step >= frame.since:
        if frame.second is not None and use.step < frame.second:
          headline = f"The {frame.name} function leads to key reuse in its second round"
        break
      index = next(
          (i for i, v in enumerate(frame.views)
           if v is not None and any(x is c for x in v.flat)), 0)
      headline = f"In {frame.name}, argument {index} is already consumed"
      if frame is self.frames[0]:
        headline = f"Previously-consumed key passed to {frame.name} at index {index}"
        place = source.summary(source.here()) or place
    raise KeyReuseError(
        f"{headline}: the key was used at {use.place or 'an unknown line'}, and is used "
        f"again at {place or 'an unknown line'}. Derive a key for each use "
        "(gnomon.random.split, fold_in), or say that it is meant to be used again "
        "(gnomon.random.clone)")

  # ---- programs

  def program(self, closed: ClosedJaxpr, views: Sequence[View]) -> list[View]:
    """Follows a program; returns the keys among its results."""
    jaxpr = closed.jaxpr
    env: dict[Any, View] = {}
    for v, c in zip(jaxpr.constvars, closed.consts):
      env[v] = view_of(c)
    env.update(zip(jaxpr.invars, views))
    for e in jaxpr.eqns:
      ins = [None if type(v) is Literal else env.get(v) for v in e.invars]
      outs = self.equation(e, ins)
      for v, out in zip(e.outvars, outs):
        if is_key_type(v.aval):
          env[v] = fresh(v.aval.shape) if out is None else out
    return [None if type(v) is Literal else env.get(v) for v in jaxpr.outvars]

  def equation(self, e: Any, ins: list[View]) -> Sequence[View]:
    """Follows an operation; None among its results stands for new keys."""
    name = e.primitive.name
    nothing = [None] * len(e.outvars)
    rule = _PROGRAMS.get(name)
    if rule is not None:
      return rule(self, e, ins)
    if e.primitive.call:
      inner = next(iter(programs_in(e.params)), None)
      fits = inner is not None and len(_invars(inner)) == len(e.invars)
      if not fits or not isinstance(inner, ClosedJaxpr):
        return nothing
      outs = self.inside(Frame(name, ins, next(_steps)), inner, ins)
      return outs if len(outs) == len(e.outvars) else nothing
    if name in _CONSUMERS and ins[0] is not None:
      self.consume(e, ins[0], 0)
      return nothing
    move = _MOVES.get(name)
    if move is None or any(x is None for x in ins):
      return nothing
    return [move(e.params, *ins)]

  def inside(
      self, frame: Frame, closed: ClosedJaxpr, views: Sequence[View]) -> list[View]:
    self.frames.append(frame)
    try:
      return self.program(closed, views)
    finally:
      self.frames.pop()


def _invars(program: Any) -> Any:
  return (program.jaxpr if isinstance(program, ClosedJaxpr) else program).invars


def is_key_type(aval: Any) -> bool:
  """Whether a type is of keys."""
  return isinstance(getattr(aval, "dtype", None), KeyType)


# ---- operations that use keys, or only move them

_CONSUMERS = frozenset({"random_bits", "random_split", "random_gamma"})


def _broadcast(params: Any, x: View) -> View:
  shape, dims = params["shape"], params["broadcast_dimensions"]
  aligned = [1] * len(shape)
  for size, d in zip(x.shape, dims):
    aligned[d] = size
  return np.broadcast_to(x.reshape(aligned), shape)


def _slice(params: Any, x: View) -> View:
  strides = params["strides"] or (1,) * x.ndim
  bounds = zip(params["start_indices"], params["limit_indices"], strides)
  return x[tuple(slice(*b) for b in bounds)]


_MOVES: dict[str, Callable[..., View]] = {  # of one result
    "broadcast_in_dim": _broadcast,
    "concatenate": lambda p, *xs: np.concatenate(xs, p["dimension"]),
    "convert_element_type": lambda p, x: x,
    "copy": lambda p, x: x,
    "device_put": lambda p, *xs: xs[0],
    "optimization_barrier": lambda p, *xs: xs[0],
    "reshape": lambda p, x: x.reshape(p["new_sizes"]),
    "rev": lambda p, x: np.flip(x, p["dimensions"]),
    "slice": _slice,
    "squeeze": lambda p, x: np.squeeze(x, tuple(p["dimensions"])),
    "stack": lambda p, *xs: np.stack(xs, p["axis"]),
    "transpose": lambda p, x: np.transpose(x, p["permutation"])}


# ---- operations with programs


def _jit(self: Checker, e: Eqn, ins: list[View]) -> Sequence[View]:
  name = e.params["name"]
  place = self.place(e) if name.startswith("_") else None  # a sampler
  frame = Frame("jit", ins, next(_steps), place)
  return self.inside(frame, e.params["jaxpr"], ins)


def _remat(self: Checker, e: Eqn, ins: list[View]) -> Sequence[View]:
  """In a derivative, it draws again what was drawn before it, as it must."""
  jaxpr = e.params["jaxpr"]
  closed = jaxpr if isinstance(jaxpr, ClosedJaxpr) else ClosedJaxpr(jaxpr, ())
  frame, outer = Frame("checkpoint", ins, next(_steps)), self.repeats_before
  if e.params["differentiated"]:
    self.repeats_before = max(outer, frame.since)
  try:
    return self.inside(frame, closed, ins)
  finally:
    self.repeats_before = outer


def _cond(self: Checker, e: Eqn, ins: list[View]) -> Sequence[View]:
  """Either branch may run: the keys that one of them uses are used."""
  found: list[tuple[Cell, Use | None]] = []
  results = []
  for branch in e.params["branches"]:
    start = len(self.used)
    results.append(self.inside(Frame("cond", ins[1:], next(_steps)), branch, ins[1:]))
    mine, self.used[start:] = self.used[start:], []
    found += [(c, c.use) for c in mine]
    for c in mine:
      c.use = None
  for c, use in found:
    c.use = use
    self.used.append(c)
  return [
      parts[0] if all(p is parts[0] for p in parts) else None for parts in zip(*results)]


def _rounds(
    self: Checker, name: str, ins: list[View], run: Callable[[int], None]) -> None:
  """Runs a loop's body twice: what the first round used, the second must not."""
  frame = Frame(name, ins, next(_steps))
  self.frames.append(frame)
  try:
    run(0)
    self.frames[-1] = frame._replace(second=next(_steps))
    run(1)
  finally:
    self.frames.pop()


def _scan(self: Checker, e: Eqn, ins: list[View]) -> Sequence[View]:
  p = e.params
  n, m = p["num_consts"], p["num_consts"] + p["num_carry"]
  carry, xs = list(ins[n:m]), ins[m:]

  def body(i: int) -> None:
    if i >= p["length"]:
      return
    rows = [None if x is None else x[i, ...] for x in xs]
    outs = self.program(p["jaxpr"], [*ins[:n], *carry, *rows])
    carry[:] = outs[:p["num_carry"]]
    for x, row in zip(xs, rows):
      if x is not None and i == 1:  # each later round uses what this one did
        _use_alike(self, x[2:], row)

  _rounds(self, "scan body", ins, body)
  return [*carry, *[None] * (len(e.outvars) - len(carry))]


def _use_alike(self: Checker, rest: View, row: View) -> None:
  for other in rest:
    for c, like in zip(np.ravel(other), np.ravel(row)):
      if c is not None and like is not None and like.use is not None and c.use is None:
        c.use = like.use
        self.used.append(c)


def _while(self: Checker, e: Eqn, ins: list[View]) -> Sequence[View]:
  p = e.params
  n = p["cond_nconsts"]
  m = n + p["body_nconsts"]
  carry = list(ins[m:])

  def step(_: int) -> None:
    self.program(p["cond_jaxpr"], [*ins[:n], *carry])
    self.frames[-1] = self.frames[-1]._replace(name="while_loop body")
    carry[:] = self.program(p["body_jaxpr"], [*ins[n:m], *carry])
    self.frames[-1] = self.frames[-1]._replace(name="while_loop cond")

  _rounds(self, "while_loop cond", ins, step)
  return carry


_PROGRAMS: dict[str, Callable[[Checker, Any, list[View]], Sequence[View]]] = {
    "cond": _cond, "jit": _jit, "remat2": _remat, "scan": _scan, "while": _while}


# ---- what the runtime calls


def check_call(name: str, closed: ClosedJaxpr, args: Sequence[Any]) -> list[View]:
  """Follows the program of a call, on the keys among its arguments and constants.

  Raises:
    KeyReuseError: a key is used twice.
  """
  views = [view_of(x) for x in args]
  outer = [view_of(c) for c in closed.consts]
  place = source.summary(source.here()) if name.startswith("_") else None
  root = Frame("jit-compiled function", [*outer, *views], next(_steps), place)
  return Checker(root).program(closed, views)


class _Operation(NamedTuple):
  """An operation outside programs, in the form of an equation."""

  primitive: Any
  params: Any
  invars: Sequence[Any]
  outvars: Sequence[Any]
  source: Any


def check_operation(
    primitive: Any, params: Any, args: Sequence[Any], outs: int) -> Sequence[View]:
  """Follows an operation that runs by itself.

  Raises:
    KeyReuseError: a key is used twice.
  """
  views = [view_of(x) for x in args]
  e = _Operation(primitive, params, args, [None] * outs, source.here())
  root = Frame(primitive.name, views, next(_steps))
  return Checker(root).equation(e, views)


def attach(outs: Sequence[Any], views: Sequence[View]) -> None:
  """Lets arrays of keys remember their cells."""
  for x, view in zip(outs, views):
    if isinstance(x, PRNGKeyArray) and view is not None:
      x.use = Tracked(view)


def check_function(fun: Callable[..., Any], *args: Any) -> None:
  """Follows a function on new keys, without running it."""
  closed = make_jaxpr(fun)(*args)
  views = [
      fresh(v.aval.shape) if is_key_type(v.aval) else None for v in closed.jaxpr.invars]
  Checker(Frame("the function", views, next(_steps))).program(closed, views)

