"""Eager dispatch: an operation on arrays runs its stored executable, found by types.

The path of a repeated operation is one dictionary hit, then the runtime's own call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gnomon.core.jaxpr import programs_in
from gnomon.core.mesh import placing_mesh
from gnomon.core.partition_spec import PartitionSpec
from gnomon.core.primitive import Primitive
from gnomon.core.ref_type import AbstractRef
from gnomon.core.rule import impl_rule
from gnomon.core.stage import trace_to_closed, unhashable
from gnomon.core.trace import Tracer, get_current, leaked
from gnomon.core.types import WrappedArray, canonicalize_handlers, says, typeof
from gnomon.runtime import backends, watch
from gnomon.runtime.callbacks import CallbackError
from gnomon.runtime.compile import (
  Executable,
  compile_jaxpr,
  physical,
  to_device,
  write_back,
)
from gnomon.runtime.jaxlib import arrays, errors

Array = arrays.Array
_table: dict[Any, Any] = {}  # what the short path runs
_programs: dict[Any, Executable] = {}
_spread_programs: dict[Any, Any] = {}
_scalars: dict[Any, Any] = {}
_MAX_SCALARS = 4096
_MAX_PROGRAMS = 4096  # hits must cost nothing, so that full tables are emptied
_several_devices = False
_careful = False  # whether the short path must not be taken


def _watch(on: bool) -> None:
  global _careful, _watching
  _watching, _careful = on, on or _several_devices


_watching = False
watch.Switch(watch.OPTIONS, _watch)


def dispatch(primitive: Primitive, args: Any, params: dict[str, Any]) -> Any:
  """Computes an operation: `EvalTrace.process`."""
  args = [x if type(x) is Array else as_operand(x) for x in args]
  key = (primitive, *[x.aval for x in args], *params.items())
  try:
    entry = _table.get(key)
  except TypeError:
    raise unhashable(primitive, params) from None
  if entry is None or _careful:
    return _slow(primitive, args, params, key)
  run, plain, committed = entry
  try:
    for x in args:
      if x._committed:
        return tuple(run(args).consume_with_handlers(committed))
    return tuple(run(args).consume_with_handlers(plain))
  except Exception as e:  # noqa: BLE001 -- raised again, in our words
    raise explain(e, args) from None


def replay(steps: Any, env: list[Any]) -> None:
  """Computes a list of operations, whose operands and results are places in `env`.

  Each step is `(primitive, params, key, operands, results, dead)`: the key is the one
  that `dispatch` makes, and what is dead afterwards is let go.
  """
  for primitive, params, key, operands, results, dead in steps:
    args = [env[i] for i in operands]
    entry = _table.get(key)
    if entry is None or _careful:
      outs: Any = dispatch(primitive, args, params)
    else:
      run, plain, committed = entry
      for x in args:
        if x._committed:
          plain = committed
          break
      try:
        outs = run(args).consume_with_handlers(plain)
      except Exception as e:  # noqa: BLE001 -- raised again, in our words
        raise explain(e, args) from None
    for i, out in zip(results, outs):
      env[i] = out
    for i in dead:
      env[i] = None


def as_operand(x: Any, *, own: bool = False) -> Any:
  """An array for an operand that is not one.

  Numbers are kept on the device; `own` makes a new array for one, which may be donated.
  """
  t = type(x)
  if t in _PYTHON and not own:
    plain = x and t is not complex  # -0.0 equals 0.0, 1 - 0j equals 1 + 0j
    return _kept((t, x if plain else repr(x), typeof(x)), x)
  if isinstance(x, Tracer):
    raise leaked(x)
  if isinstance(x, np.generic) and x.dtype.kind in "biufc" and not own:
    return _kept((t, x.tobytes(), typeof(x)), x)
  if isinstance(x, WrappedArray):
    return x
  if hasattr(x, "__jax_array__"):
    return as_operand(x.__jax_array__())
  typeof(x)  # raises for what is no array
  if t is not np.ndarray and t in canonicalize_handlers:
    x = canonicalize_handlers[t](x)
  return to_device(x, backends.default_device())


def _kept(key: Any, x: Any) -> Any:
  found = _scalars.get(key)
  if found is None:
    if len(_scalars) >= _MAX_SCALARS:
      _scalars.clear()
    found = _scalars[key] = to_device(x, backends.default_device())
  return found


_PYTHON = frozenset({bool, int, float, complex})


def _slow(primitive: Primitive, args: list[Any], params: dict[str, Any], key: Any) -> Any:
  """The first time, or whatever the short path cannot do."""
  impl = impl_rule.get(primitive)
  if impl is not None:
    return impl(*args, **params)
  return _compiled(primitive, args, params, key, short=True)


def compute(primitive: Primitive, args: Any, params: dict[str, Any]) -> Any:
  """Computes an operation by compiling it, whether or not it has another way."""
  args = [as_operand(x) for x in args]
  key = (primitive, *[x.aval for x in args], *params.items())
  return _compiled(primitive, args, params, key, short=primitive not in impl_rule)


def _compiled(
    primitive: Primitive, args: list[Any], params: dict[str, Any], key: Any, *,
    short: bool) -> Any:
  global _several_devices, _careful
  if backends.device_count() > 1:
    _several_devices = _careful = True
  if _several_devices and (
      any(map(_is_spread, args)) or _asks_for_devices(primitive, params)):
    return _over_devices(primitive, args, params, key)
  device = common_device(args, primitive.name)
  args, places = _once(args)
  if places is not None:
    key = (*key, places)
  memo = _programs
  if primitive.call:  # what holds programs is remembered with the first of them
    memo = next(programs_in(params)).memo
  exe = memo.get((*key, device))
  if exe is None:
    jaxpr = trace_to_closed(
        lambda *xs: get_current().process(
            primitive, xs if places is None else [xs[i] for i in places], params),
        [x.aval for x in args])
    exe = compile_jaxpr(jaxpr, primitive.name, device, keep_unused=True)
    if len(_programs) >= _MAX_PROGRAMS:
      _programs.clear()
      _table.clear()
    memo[(*key, device)] = exe
  if (short and memo is _programs and exe.plain and not exe.const_args
      and not _several_devices and all(type(x) is Array for x in args)):
    _table[key] = (exe.run, *exe.handlers)
  committed = any(physical(x)._committed for x in args)
  keys = None
  if _watching:
    watch.check_execution(f"the operation {primitive.name}")
    keys = watch.keys()
    checked = keys and keys.check_operation(primitive, params, args, len(exe.out_avals))
  outs = run(exe, [to_device(physical(x), device) for x in args], committed)
  if exe.written:
    outs = write_back(exe, args, outs)
  if _watching:
    watch.check_numbers(outs, primitive.name)
    if keys:
      keys.attach(outs, checked)
  return outs


def _is_spread(x: Any) -> bool:
  x = physical(x)
  return type(x) is Array and len(x._sharding._internal_device_list) > 1


def _asks_for_devices(primitive: Primitive, params: dict[str, Any]) -> bool:
  """Whether an operation, or its program, says where values are to be."""
  asked = params.get("out_sharding")
  asked = params.get("sharding") if asked is None else asked
  if asked is not None:
    mesh = placing_mesh() if isinstance(asked, PartitionSpec) else getattr(
        asked, "mesh", None)
    return mesh is not None and mesh.size > 1
  if not primitive.call:
    return False
  from gnomon.runtime import spread  # few processes have several devices

  return any(map(spread.constraints_of, programs_in(params)))


def _over_devices(
    primitive: Primitive, args: list[Any], params: dict[str, Any], key: Any) -> Any:
  """An operation on arrays of which some are on several devices."""
  from gnomon.runtime import spread  # few programs have such arrays

  jaxpr = _spread_programs.get(key)
  if jaxpr is None:
    if len(_spread_programs) >= _MAX_PROGRAMS:
      _spread_programs.clear()
    jaxpr = _spread_programs[key] = trace_to_closed(
        lambda *xs: get_current().process(primitive, xs, params), [x.aval for x in args])
  outs, _ = spread.run_spread(
      jaxpr, primitive.name, args, [None] * len(args), [None] * len(jaxpr.out_avals),
      constraints=[
          *spread.constraints_of(jaxpr),
          *(a.sharding for a in jaxpr.out_avals if says(a))])
  return outs


def _once(args: list[Any]) -> tuple[list[Any], tuple[int, ...] | None]:
  """Operands in which no mutable reference occurs twice, and places of the given."""
  refs = [id(x) for x in args if type(x.aval) is AbstractRef]
  if len(refs) == len(set(refs)):
    return args, None
  first: dict[int, int] = {}
  once: list[Any] = []
  places = []
  for x in args:
    i = len(once)
    if type(x.aval) is AbstractRef:
      i = first.setdefault(id(x), i)
    if i == len(once):
      once.append(x)
    places.append(i)
  return once, tuple(places)


def clear() -> None:
  """Forgets the executables of all operations."""
  _programs.clear()
  _spread_programs.clear()
  _table.clear()


def clear_scalars() -> None:
  """Forgets the arrays that stand for numbers."""
  _scalars.clear()


def is_watching() -> bool:
  """Whether an option asks for a look at every execution."""
  return _watching


def run(exe: Executable, args: list[Any], committed: bool) -> Any:
  """Runs an executable on arrays."""
  try:
    return exe(args, committed)
  except CallbackError:
    raise
  except Exception as e:  # noqa: BLE001 -- raised again, in our words
    raise explain(e, args) from None


def explain(
    e: Exception, args: Any, name: Callable[[int], str] | None = None) -> BaseException:
  """The runtime's error in our words where we know better: an operand was deleted."""
  for i, x in enumerate(args):
    if type(x) is Array and x.is_deleted():
      return deleted(x, f"the argument {name(i)}" if name else f"operand {i}")
  return errors.normalise(e)


def deleted(x: Any, what: str) -> RuntimeError:
  """The error for an array whose buffer is gone."""
  return RuntimeError(
      f"Array has been deleted with shape={x.aval}: {what} was donated to a jitted "
      "function (donate_argnums), or delete() was called on it. Use the function's "
      "result instead, or do not donate it.")


def common_device(args: Any, what: str) -> Any:
  """The device where an operation runs: that of its committed operands.

  Raises:
    ValueError: the operands are committed to different devices.
  """
  device = None
  for i, x in enumerate(args):
    x = physical(x)
    if type(x) is not Array or not x._committed:
      continue
    own = next(iter(x._sharding.device_set))
    if device is None:
      device = own
    elif own is not device:
      raise ValueError(
          f"{what}: the arguments are committed to different devices: one to {device}, "
          f"argument {i} to {own}. Move them to one device with gnomon.device_put")
  return backends.default_device() if device is None else device

