"""What a Python function depends on besides its arguments, where that can be told.

A derivative of a function may be remembered only if calling the function again could do
nothing else. That holds if its code stores nothing outside of itself, and if all that it
reads besides its arguments is immutable: numbers, strings, arrays, functions of the same
kind, and the functions of this library. Whatever is not known to be so counts as impure,
and is never remembered.
"""

from __future__ import annotations

import builtins
import dis
import functools
import math
import sys
import types
from typing import Any, NamedTuple

import numpy as np

from gnomon.runtime.jaxlib import arrays, fastpath

_PACKAGE = __name__.partition(".")[0]

# Instructions by which a function changes something that outlives its call, or reads
# something that no name tells.
_STORES = frozenset({
    "STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR", "STORE_NAME",
    "DELETE_NAME", "IMPORT_NAME", "LOAD_NAME", "LOAD_BUILD_CLASS"})
_CELL_STORES = frozenset({"STORE_DEREF", "DELETE_DEREF"})
_ITEM_STORES = frozenset({"STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"})
_MUTATORS = frozenset({
    "append", "clear", "extend", "insert", "pop", "popitem", "remove", "reverse",
    "setdefault", "sort", "update", "add", "discard"})
# Parts of the library whose functions do something, or tell something, outside of a
# program. Callbacks and printing are effects of the program, and are seen there.
_UNSAFE = frozenset({
    "block_until_ready", "clear_backends", "clear_caches", "config", "core", "device_get",
    "devices", "distributed", "experimental", "extend", "interpreters", "live_arrays",
    "load", "make_user_context", "monitoring", "print_environment_info",
    "print_saved_residuals", "printoptions", "profiler", "save",
    "save_device_memory_profile", "savez", "savez_compressed", "set_mesh",
    "set_printoptions", "stages", "test_util", "use_mesh", "ffi", "util"})
_BUILTINS = frozenset(
    getattr(builtins, name) for name in (
        "abs", "all", "any", "bool", "callable", "complex", "dict", "divmod", "enumerate",
        "filter", "float", "frozenset", "hasattr", "int", "isinstance", "issubclass",
        "len", "list", "map", "max", "min", "pow", "range", "reversed", "round", "set",
        "slice", "sorted", "str", "sum", "tuple", "type", "zip"))
_CONSTANTS = frozenset({
    bool, int, float, complex, str, bytes, type(None), type(Ellipsis), range, slice})
_LIBRARIES = frozenset({np, math})  # of these, numbers, ufuncs, types and math functions
_NONE: frozenset[str] = frozenset()
_MOST = 64  # functions that one may call


class Facts(NamedTuple):
  """What the code of a function, with those defined in it, does and reads."""

  pure: bool  # nothing that outlives the call is stored, as far as names tell
  mutates: bool  # items are stored, or methods called that change what they belong to
  names: tuple[str, ...]  # global names, in order
  attributes: frozenset[str]


_facts: dict[int, tuple[types.CodeType, Facts]] = {}


def facts(code: types.CodeType) -> Facts:
  """The facts of a function's code; remembered."""
  found = _facts.get(id(code))
  if found is None:
    if len(_facts) >= 4096:
      _facts.clear()
    found = _facts[id(code)] = (code, _read(code))
  return found[1]


def _read(code: types.CodeType) -> Facts:
  pure, mutates = True, False
  names: dict[str, None] = {}
  attributes: set[str] = set()
  for instruction in dis.get_instructions(code):
    op, arg = instruction.opname, instruction.argval
    if op in _STORES or (op in _CELL_STORES and arg in code.co_freevars):
      pure = False
    elif op in _ITEM_STORES:
      mutates = True
    elif op == "LOAD_GLOBAL":
      names[arg] = None
    elif op.startswith("LOAD_") and isinstance(arg, str) and arg in code.co_names:
      attributes.add(arg)
  for inner in code.co_consts:
    if isinstance(inner, types.CodeType):
      found = facts(inner)
      pure, mutates = pure and found.pure, mutates or found.mutates
      names.update(dict.fromkeys(found.names))
      attributes |= found.attributes
  mutates = mutates or not _MUTATORS.isdisjoint(attributes)
  return Facts(pure, mutates, tuple(names), frozenset(attributes))


class Dependencies:
  """All that a function reads besides its arguments, in a fixed order.

  `objects` has the code of functions in place of functions, so that a function that is
  defined anew with the same contents is the same. `known` is False where that cannot be
  told; then the rest says nothing. `mutates` is whether containers among the arguments
  might be changed.
  """

  __slots__ = ("_seen", "known", "mutates", "objects")

  def __init__(self, fun: Any) -> None:
    self.objects: list[Any] = []
    self.mutates = False
    self._seen: dict[int, int] = {}  # functions, and their numbers
    self.known = self._value(fun, _NONE)

  def _value(self, x: Any, attributes: frozenset[str]) -> bool:
    """Notes one thing that is read; whether it is known to stay as it is."""
    t = type(x)
    objects = self.objects
    if t is types.FunctionType:
      seen = self._seen
      if id(x) in seen:
        objects.append(seen[id(x)])  # a small number, which is always the same object
        return True
      seen[id(x)] = len(seen)
      memo = x.__dict__.get("_memo")
      if memo is not None and memo.owner() is x:  # the gradient of a function, say
        objects.append(memo.key)
        return self._value(memo.fun, _NONE)
      own = _is_own(x.__globals__.get("__name__"))
      if own and (x.__closure__ is None or _is_public(x)):
        objects.append(x)  # not its code: those that a factory made share it
        return True
      objects.append(x.__code__)
      return len(seen) <= _MOST and self._function(x, own=own)
    objects.append(x)
    if t in _CONSTANTS or t is arrays.Array:
      return True
    if t is types.ModuleType or isinstance(x, types.ModuleType):
      return self._module(x, attributes)
    if t is tuple:
      return all(
          type(y) is not arrays.Array and self._value(y, attributes) for y in x)
    if t is functools.partial:
      objects.append(len(x.args))
      return all(
          self._value(y, _NONE)
          for y in (x.func, *x.args, *x.keywords, *x.keywords.values()))
    return _constant(x)

  def _function(self, fun: types.FunctionType, *, own: bool) -> bool:
    for cell in fun.__closure__ or ():
      try:
        held = cell.cell_contents
      except ValueError:  # not assigned yet
        return False
      if not self._value(held, _NONE):
        return False
    if own:
      return True
    for default in (*(fun.__defaults__ or ()), *(fun.__kwdefaults__ or {}).values()):
      if not self._value(default, _NONE):
        return False
    found = facts(fun.__code__)
    self.mutates = self.mutates or found.mutates
    if not found.pure:
      return False
    space, missing = fun.__globals__, self
    for name in found.names:
      x = space.get(name, missing)
      if x is missing:
        x = getattr(builtins, name, missing)
        if x is missing or x in _BUILTINS:
          continue  # one that is missing raises, whoever calls
      if not self._value(x, found.attributes):
        return False
    return True

  def _module(self, module: types.ModuleType, attributes: frozenset[str]) -> bool:
    if _is_own(module.__name__):
      return attributes.isdisjoint(_UNSAFE)
    space = vars(module)
    shallow = module in _LIBRARIES
    for attribute in _sorted(attributes):
      if attribute in space:
        x = space[attribute]
        if shallow and (type(x) is types.ModuleType or isinstance(x, types.FunctionType)):
          return False
        if module is math and type(x) is types.BuiltinFunctionType:
          self.objects.append(x)
        elif not self._value(x, attributes):
          return False
    return True


@functools.lru_cache(1024)
def _sorted(attributes: frozenset[str]) -> tuple[str, ...]:
  return tuple(sorted(attributes))


def _is_own(module: Any) -> bool:
  """Whether a module's name is one of this library's."""
  return module == _PACKAGE or str(module).startswith(_PACKAGE + ".")


def _is_public(x: Any) -> bool:
  """Whether something is what a module of this library has by that name."""
  home, name = getattr(x, "__module__", None), getattr(x, "__name__", None)
  return (
      isinstance(name, str) and _is_own(home)
      and getattr(sys.modules.get(home), name, None) is x)  # type: ignore[arg-type]


def is_plain_tuple(cls: type) -> bool:
  """Whether a class is a tuple with named fields and no methods of its own."""
  return issubclass(cls, tuple) and hasattr(cls, "_fields") and all(
      f.__code__.co_filename.startswith("<") or f.__globals__["__name__"] == "collections"
      for f in map(_function_of, vars(cls).values()) if f is not None)


def _function_of(x: Any) -> types.FunctionType | None:
  if isinstance(x, (staticmethod, classmethod)):
    x = x.__func__
  if isinstance(x, property):
    x = x.fget
  return x if isinstance(x, types.FunctionType) else None


def _constant(x: Any) -> bool:
  """Whether an object of another type stays as it is, and does nothing when called."""
  if isinstance(x, type):
    home = x.__module__
    return (
        x in _BUILTINS or issubclass(x, np.generic) or _is_own(home)
        or (issubclass(x, BaseException) and home == "builtins") or is_plain_tuple(x))
  if isinstance(x, (np.generic, np.dtype, np.ufunc, fastpath.JitFunction)):
    return True
  if type(x) is types.BuiltinFunctionType:
    return x in _BUILTINS
  return _is_public(x)
