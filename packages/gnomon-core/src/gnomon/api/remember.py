"""Transformations of functions that are not jitted, remembered by program.

`grad(f)(x)` runs `f` under tracers, derives and evaluates, all anew in each call. Where
`f` could do nothing else when it is called again (`purity`), the first call records what
is evaluated as a program, and later calls with arguments of the same types evaluate that,
operation by operation as before: the results are the same to the last bit.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from gnomon import _config
from gnomon.api import purity, tools
from gnomon.core.stage import StageTrace, StageTracer, has_tracers, trace_to_jaxpr
from gnomon.core.trace import EVAL, get_current
from gnomon.core.types import AbstractValue, typeof
from gnomon.runtime.compile import call_nodes
from gnomon.runtime.execute import as_operand, is_watching
from gnomon.runtime.jaxlib import arrays, fastpath
from gnomon.runtime.replay import Plan
from gnomon.transform.dce import dce_jaxpr

F = TypeVar("F", bound=Callable[..., Any])
Array = arrays.Array

_CALL_NODES = call_nodes.values()  # keys; of references, the contents vary
_UNKNOWN = object()
_CONTAINERS = frozenset({tuple, list, dict, OrderedDict})
_SCALARS = frozenset({bool, int, float, complex})
_IMMUTABLE = frozenset({*_SCALARS, Array})
_HELD_WEAKLY = (Array, fastpath.JitFunction)
_MOST = 512  # programs; a full table is emptied
_PATIENCE = 16  # programs made in vain until a function is left alone
_entries: dict[Any, _Entry] = {}
_vain: dict[Any, list[int]] = {}  # by code: how many were made since one was of use
_keys: dict[Any, Any] = {}
_trees: dict[Any, tuple[bool, bool]] = {}


class _Recording(StageTrace):
  """Records a program, and whether someone asked for a value that it does not know."""

  asked = False

  def ask(self) -> None:
    self.asked = True


class _Entry:
  """A remembered program, or that there is none.

  It holds what the function depends on, which is known by its identity; arrays are held
  weakly, and when one goes the entry goes.
  """

  __slots__ = (
      "constants", "dynamic", "fixed", "held", "of_function", "out_tree", "plan", "vain")

  def __init__(self, held: list[Any], vain: list[int]) -> None:
    self.held, self.vain = held, vain
    self.plan: Plan | None = None
    self.constants: list[Any] = []
    self.of_function: list[tuple[int, int]] = []  # constants that are among `objects`
    self.dynamic: list[int] = []  # which leaves of the arguments are inputs
    self.fixed: list[Any] = []  # leaves of the result; `_UNKNOWN`: the program's next one
    self.out_tree: Any = None

  def __call__(self, plan: Plan, leaves: list[Any], objects: list[Any]) -> Any:
    self.vain[0] = 0
    constants = self.constants
    if self.of_function:
      constants = list(constants)
      for i, j in self.of_function:
        constants[i] = objects[j]
    inputs = [
        x if type(x) is Array else as_operand(x)
        for x in [leaves[i] for i in self.dynamic]]
    results = iter(plan(constants, inputs))
    return self.out_tree.unflatten([
        next(results) if x is _UNKNOWN else x for x in self.fixed])


class Memo:
  """What remembers the calls of one transformed function."""

  __slots__ = ("compute", "fun", "key", "numbers", "owner")

  owner: Callable[[], Any]  # the function that the user has, if it lives

  def __init__(
      self, fun: Any, compute: Callable[..., Any], key: Any,
      numbers: Callable[[Any, Any], list[bool]] | None) -> None:
    self.fun, self.compute, self.numbers = fun, compute, numbers
    if len(_keys) >= _MOST:
      _keys.clear()
    self.key = _keys.setdefault(key, key)  # equal ones are one object

  def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a call."""
    if get_current() is EVAL:
      out = self._recall(args, kwargs)
      if out is not _UNKNOWN:
        return out
    return self.compute(*args, **kwargs)

  def _recall(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a call, or `_UNKNOWN` if it must be done in the usual way."""
    found = purity.Dependencies(self.fun)
    if not found.known or is_watching():
      return _UNKNOWN
    config = _config.current()
    if config.disable_jit or config.check_tracer_leaks:
      return _UNKNOWN
    leaves, tree = tools.flatten((args, kwargs))
    simple = _trees.get(tree)
    if simple is None:
      simple = _trees[tree] = _look_at(tree)
    if not simple[0] or (simple[1] and found.mutates):
      return _UNKNOWN
    kinds = self._kinds(leaves, args, kwargs)
    if kinds is None:
      return _UNKNOWN
    objects = found.objects
    key = (
        self.key, tuple([id(x) for x in objects]), tree, tuple(kinds), config,
        _config.trace_key())
    entry = _entries.get(key) or self._remember(key, objects, leaves, tree, kinds)
    if entry is None or entry.plan is None:
      return _UNKNOWN
    return entry(entry.plan, leaves, objects)

  def _kinds(self, leaves: list[Any], args: Any, kwargs: Any) -> list[Any] | None:
    """The type of each leaf, or its value if it is not traced; None: not to remember."""
    kinds: list[Any] = []
    traced: list[bool] | None = None
    for i, x in enumerate(leaves):
      t = type(x)
      if t is Array or t in _CALL_NODES:
        kinds.append(x.aval)
      elif t is str:
        kinds.append(x)
      elif t in _SCALARS or isinstance(x, (np.generic, np.ndarray)):
        if traced is None:
          traced = self.numbers(args, kwargs) if self.numbers else [False] * len(leaves)
        if traced[i]:
          kinds.append(typeof(x))
        elif isinstance(x, np.ndarray):
          return None
        else:
          kinds.append((t, repr(x)))
      else:
        return None
    return kinds

  def _remember(
      self, key: Any, objects: list[Any], leaves: list[Any], tree: Any, kinds: list[Any],
  ) -> _Entry | None:
    code = (self.key, id(objects[0]))
    vain = _vain.setdefault(code, [0])
    vain[0] += 1
    if vain[0] > _PATIENCE:
      return None
    if len(_entries) >= _MOST:
      _entries.clear()
      _vain.clear()

    def forget(_: Any) -> None:
      _entries.pop(key, None)

    entry = _entries[key] = _Entry([
        weakref.ref(x, forget) if isinstance(x, _HELD_WEAKLY) else x
        for x in objects], vain)
    try:
      self._record(entry, objects, leaves, tree, kinds)
    except Exception:  # noqa: BLE001 -- the usual way raises it, to the user
      entry.plan = None
    return entry

  def _record(
      self, entry: _Entry, objects: list[Any], leaves: list[Any], tree: Any,
      kinds: list[Any]) -> None:
    """Traces a call into the entry, if what it evaluates depends on types alone."""
    dynamic = [i for i, k in enumerate(kinds) if isinstance(k, AbstractValue)]
    trace: Any = None

    def make(debug_info: Any) -> _Recording:
      nonlocal trace
      trace = _Recording(debug_info)
      return trace  # type: ignore[no-any-return]

    def call(*tracers: Any) -> list[Any]:
      full = list(leaves)
      for i, x in zip(dynamic, tracers):
        full[i] = x
      args, kwargs = tree.unflatten(full)
      outs, entry.out_tree = tools.flatten(self.compute(*args, **kwargs))
      entry.fixed = [_UNKNOWN if isinstance(x, StageTracer) else x for x in outs]
      return [x for x in outs if isinstance(x, StageTracer)]

    jaxpr, consts = trace_to_jaxpr(call, [kinds[i] for i in dynamic], None, make)
    if trace.asked or jaxpr.effects or has_tracers(consts):
      return
    for x in entry.fixed:
      if x is not _UNKNOWN and type(x) not in _IMMUTABLE:
        return
    jaxpr, _ = dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars), True)
    entry.dynamic = dynamic
    for i, x in enumerate(consts):
      own = next((j for j, y in enumerate(objects) if y is x), None)
      if own is not None and type(x) is Array:
        entry.of_function.append((i, own))
        entry.constants.append(None)
      else:
        entry.constants.append(as_operand(x))
    entry.plan = Plan(jaxpr)


def _look_at(tree: Any) -> tuple[bool, bool]:
  """Whether arguments are in Python's containers, and whether those can be changed."""
  data = tree.node_data()
  if data is None:  # a leaf, or None
    return True, False
  cls = data[0]
  plain = cls in _CONTAINERS or (cls is not None and purity.is_plain_tuple(cls))
  parts = [_look_at(t) for t in tree.children()]
  mutable = cls in (list, dict, OrderedDict)
  return plain and all(p for p, _ in parts), mutable or any(m for _, m in parts)


def remembering(
    fun: Any, compute: F, key: Any,
    numbers: Callable[[Any, Any], list[bool]] | None = None) -> F:
  """`compute`, a transformation of `fun`, that remembers what it does.

  Args:
    fun: the user's function.
    compute: does a call; in what it returns all leaves are arrays or numbers.
    key: what besides `fun` and the arguments decides what `compute` does.
    numbers: says of each leaf of the arguments whether `compute` has it traced, also if
      it is a number; a number that is not is part of the program. None is by default.
  """
  try:
    hash(key)
  except TypeError:  # an axis name, say, that has no hash: nothing can be found by it
    return tools.wraps(fun)(tools.filtered(compute))
  memo = Memo(fun, compute, key, numbers)

  @tools.wraps(fun)
  @tools.filtered
  def call(*args: Any, **kwargs: Any) -> Any:
    return memo(args, kwargs)

  memo.owner = weakref.ref(call)
  call._memo = memo  # type: ignore[attr-defined]
  return call  # type: ignore[return-value]
