"""Executables: a closed jaxpr lowered and compiled, with what is needed to run it."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from gnomon import _config
from gnomon.core import dtypes, events, logs
from gnomon.core.jaxpr import ClosedJaxpr
from gnomon.core.types import ShapedArray, Valueless, WrappedArray, physical_aval, typeof
from gnomon.lowering.module import lower_module
from gnomon.runtime import backends, callbacks
from gnomon.runtime.jaxlib import arrays, clients, programs, pytrees

# Handlers for results that are not plain arrays: keys wrap the array of their words.
result_wrappers: dict[type, Any] = {}
# The classes of such arrays that the C++ call path takes apart and puts together.
call_nodes: dict[type, type] = {}


def wrap_results(
    dtype: type, wrapper: Callable[[Any], Callable[[Any], Any]], node: type,
    static: Callable[[Any], Hashable], make: Callable[[Any, Any], Any]) -> None:
  """Says how results whose dtype is a `dtype` are made from the arrays behind them.

  Args:
    dtype: a class of dtypes.
    wrapper: gives, for a type, what makes a result of it.
    node: the class of the results, a `WrappedArray`.
    static: what such an array has besides its `physical` one; hashable.
    make: `make(static, physical)` is the array again.
  """
  result_wrappers[dtype] = wrapper
  call_nodes[dtype] = node
  pytrees.register_for_calls(
      node, lambda x: ((x.physical,), static(x)), lambda s, children: make(s, *children))


class Executable:
  """A compiled program: `run` on the kept arguments, `handlers` for its results."""

  __slots__ = (
      "anew", "const_args", "device", "fast", "handlers", "kept", "loaded", "lowered",
      "out_avals", "plain", "run", "sharding", "written")

  def __init__(self, loaded: Any, lowered: Any, device: Any) -> None:
    out_avals = lowered.out_avals
    self.anew: Callable[[], Any] | None = None
    self.loaded, self.lowered, self.device = loaded, lowered, device
    self.sharding = backends.sharding_of(device)
    self.out_avals = list(out_avals)
    self.kept, self.written = lowered.kept, lowered.written
    self.const_args = [to_device(physical(c), device) for c in lowered.const_args]
    self.run = loaded.execute_sharded
    # Whether no result needs wrapping, and whether C++ can make them all by itself.
    plain = [
        isinstance(a.dtype, np.dtype) and a.dtype != dtypes.float0 for a in out_avals]
    self.plain = not self.written and all(plain)
    self.fast = not self.written and all(
        p or type(a.dtype) in call_nodes for p, a in zip(plain, out_avals))
    self.handlers = (
        [make_handler(a, self.sharding, False) for a in out_avals],
        [make_handler(a, self.sharding, True) for a in out_avals])

  @property
  def in_shardings(self) -> list[Any]:
    """Where the arguments live."""
    return [self.sharding] * len(self.kept)

  @property
  def out_shardings(self) -> list[Any]:
    """Where the results live."""
    return [self.sharding] * len(self.out_avals)

  @property
  def in_avals(self) -> list[Any]:
    """The types of all that the program takes: constants, then arguments."""
    return [*map(typeof, self.const_args), *self.lowered.in_avals]

  def __call__(self, args: Sequence[Any], committed: bool = False) -> Any:
    """Runs on arrays that are on the right device; one for each input, kept or not."""
    kept = [x for x, k in zip(args, self.kept) if k]
    if self.const_args:
      kept = self.const_args + kept
    return tuple(self.run(kept).consume_with_handlers(self.handlers[committed]))


class CallingExecutable(Executable):
  """A compiled program that calls Python functions.

  A call returns when the program has ended: only then is it known whether a function
  raised, and what it prints is printed before what the caller does next. It also keeps
  programs with ordered effects in their order.
  """

  __slots__ = ()

  def __init__(self, loaded: Any, lowered: Any, device: Any) -> None:
    super().__init__(loaded, lowered, device)
    self.plain = self.fast = False  # C++ would not wait

  def __call__(self, args: Sequence[Any], committed: bool = False) -> Any:
    kept = [x for x, k in zip(args, self.kept) if k]
    return callbacks.run(self.run, self.const_args + kept, self.handlers[committed])


def executable(
    loaded: Any, lowered: Any, device: Any,
    anew: Callable[[], Any] | None = None) -> Executable:
  """What runs a compiled module; `anew` comes from `compile_module`."""
  cls = CallingExecutable if lowered.callbacks else Executable
  exe = cls(loaded, lowered, device)
  exe.anew = anew
  return exe


def write_back(exe: Any, operands: Sequence[Any], outs: Sequence[Any]) -> Any:
  """Gives references their new contents, which follow the results; returns these."""
  n = len(outs) - len(exe.written)
  for i, x in zip(exe.written, outs[n:]):
    operands[i]._update(x)
  return outs[:n]


def physical(x: Any) -> Any:
  """The plain array behind an array of keys."""
  return x.physical if isinstance(x, WrappedArray) else x


def make_handler(aval: Any, sharding: Any, committed: bool) -> Any:
  """What makes a result of a compiled program an array of type `aval`."""
  if aval.dtype == dtypes.float0:
    return lambda _: np.zeros(aval.shape, dtypes.float0)
  handler = arrays.make_handler(physical_aval(aval), sharding, committed)
  wrapper = result_wrappers.get(type(aval.dtype))
  return handler if wrapper is None else handler.wrap(wrapper(aval))


def compile_jaxpr(
    jaxpr: ClosedJaxpr, name: str, device: Any, *, donated: Sequence[bool] = (),
    keep_unused: bool = False, options: dict[str, Any] | None = None) -> Executable:
  """Lowers and compiles a program for one device."""
  if backends.forked():
    raise RuntimeError(
        "this process was forked after gnomon had started its runtime, whose threads do "
        "not survive a fork: start processes with the 'spawn' or 'forkserver' method")
  level = logs.level_of_compiles()
  if logs.compiling.isEnabledFor(level):
    logs.compiling.log(
        level, "Compiling jit(%s) with global shapes and types (%s), for %s", name,
        ", ".join(map(str, jaxpr.in_avals)), device)
  with events.timed(events.LOWER, fun_name=f"jit({name})"):
    lowered = lower_module(jaxpr, name, donated=donated, keep_unused=keep_unused)
  with events.timed(events.COMPILE, fun_name=f"jit({name})"):
    loaded, anew = compile_module(lowered.module, device, options, lowered.callbacks)
  return executable(loaded, lowered, device, anew)


def compile_module(
    module: Any, device: Any, options: dict[str, Any] | None = None,
    callbacks: Sequence[Any] = (), *, shown: bool = False,
) -> tuple[Any, Callable[[], Any] | None]:
  """Compiles a module for one device, or finds it in the cache of compiled programs.

  `callbacks` are the functions that it calls; such a program is never kept. What was
  found cannot be written down again: with it comes a function that compiles it anew.
  `shown`: users may look at the program, so that it must tell the lines it comes from.
  """
  devices = clients.DeviceList((device,))
  compile_options = programs.compile_options([device], options or {})
  entry = None if callbacks else _kept_program(
      module, compile_options, device.platform, shown=shown)
  if entry is not None:
    found = entry.load(device.client, devices, compile_options)
    if found is not None:
      return found, lambda: programs.compile(
          device.client, module, devices, compile_options)
  began = time.perf_counter()
  loaded = programs.compile(device.client, module, devices, compile_options, callbacks)
  if entry is not None:
    entry.save(loaded, time.perf_counter() - began)
  return loaded, None


def _kept_program(module: Any, options: Any, platform: str, *, shown: bool) -> Any:
  """The place of a program in a folder of compiled ones; None without such a folder."""
  config = _config.current()
  folder = config.compilation_cache_dir
  if not config.enable_compilation_cache or not (folder or config.keep_programs):
    return None
  from gnomon.runtime import disk_cache  # what it imports takes some milliseconds

  if folder:
    return disk_cache.entry(folder, module, options)
  return disk_cache.own_entry(module, options, shown) if platform == "cpu" else None


def to_device(x: Any, device: Any) -> Any:
  """An array on `device`, from an array, a NumPy array or a Python number."""
  sharding = backends.sharding_of(device)
  if type(x) is arrays.Array:
    if x._sharding is sharding or x._sharding == sharding:
      return x
    if len(x._sharding._internal_device_list) > 1:
      return arrays.put(x.aval, sharding, [np.asarray(x)], [device], committed=True)
    return arrays.copy_to(x, device, sharding)
  aval = typeof(x)
  if isinstance(x, Valueless):
    raise x.refused()
  if aval.dtype == dtypes.float0:  # programs have bools in its place
    aval, x = ShapedArray(aval.shape, np.bool_), np.zeros(aval.shape, np.bool_)
  if isinstance(x, (np.ndarray, np.generic, bool, int, float, complex)):
    x = np.asarray(x, aval.dtype)
  return arrays.put(aval, sharding, [x], [device], committed=False, copy=True)

