"""Configuration: one frozen value for the process, and overrides local to a thread.

`gnomon.config` changes the value for all threads; context managers override options in
the thread that enters them. Not a context variable: jaxlib's fast path reads its cells by
thread, and an override that it does not see would make it run another program.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, TypeVar

from gnomon._options import OPTIONS, Option
from gnomon.runtime.jaxlib import cells, guards

F = TypeVar("F", bound=Callable[..., Any])

_options: dict[str, Option] = {o.name: o for o in OPTIONS}
# Every accepted spelling of an option's name.
_spellings: dict[str, Option] = {
    spelling: o for o in OPTIONS
    for spelling in (o.name, o.short, f"gnomon_{o.short}", f"jax_{o.short}")}
_hooks: dict[str, list[Callable[[Any], None]]] = {}
_lock = threading.Lock()


class Values:
  """The frozen values of all options: attributes by short name, `values.enable_x64`."""

  __slots__ = ("__dict__",)

  def __init__(self, values: Mapping[str, Any]) -> None:
    self.__dict__.update(values)

  def __getattr__(self, name: str) -> Any:  # found options never get here
    raise AttributeError(f"there is no option {name!r}")

  def __setattr__(self, name: str, value: object) -> None:
    raise AttributeError("configuration values are frozen; use gnomon.config.update")

  def replace(self, changes: Mapping[str, Any]) -> Values:
    """A copy with some values changed."""
    return Values({**self.__dict__, **changes})


# ---- checking values ---------------------------------------------------------------

_TRUE = frozenset(("1", "t", "true", "y", "yes", "on"))
_FALSE = frozenset(("0", "f", "false", "n", "no", "off"))
_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,), "float": (float, int), "str": (str,)}


def _checked(option: Option, value: Any) -> Any:
  """The value to store for `option`; raises if it is none."""
  if option.kind == "any" or (value is None and option.optional):
    return value
  if option.kind == "bool":
    if value is True or value is False or (isinstance(value, int) and value in (0, 1)):
      return bool(value)
    if type(value).__name__ in ("bool", "bool_"):  # NumPy's
      return bool(value)
    raise TypeError(f"option {option.name} must be True or False; got {value!r}.")
  if option.kind == "enum":
    if isinstance(value, str):
      if value in option.values:
        return value
      if value.islower() and value.upper() in option.values:  # how JAX writes some
        return value.upper()
    raise ValueError(
        f"option {option.name} must be one of {', '.join(map(repr, option.values))}"
        f"{' or None' if option.optional else ''}; got {value!r}.")
  if option.kind == "device":
    if isinstance(value, str) or hasattr(value, "device_kind"):
      return value
    raise ValueError(
        f"option {option.name} must be a device, such as gnomon.devices()[0], or the "
        f"name of a platform, such as 'cpu'; got {value!r}.")
  types = _TYPES[option.kind]
  if isinstance(value, types) and not isinstance(value, bool):
    return float(value) if isinstance(value, int) and option.kind == "float" else value
  raise ValueError(
      f"option {option.name} must be of type {option.kind}"
      f"{' or None' if option.optional else ''}; got {value!r}.")


def _parsed(option: Option, text: str, origin: str) -> Any:
  """The value that `text`, from the environment or a command line, denotes."""
  lower = text.lower()
  if option.kind == "bool":
    if lower in _TRUE or lower in _FALSE:
      return lower in _TRUE
    raise ValueError(
        f"{origin} must be a truth value such as 1, 0, true or false; got {text!r}.")
  try:
    if option.kind in ("int", "float"):
      return int(text) if option.kind == "int" else float(text)
    return _checked(option, text)
  except ValueError as error:
    raise ValueError(f"{origin}={text!r} is not valid: {error}") from None


def _initial(option: Option, environ: Mapping[str, str]) -> Any:
  if option.env:
    for prefix in ("GNOMON_", "JAX_", ""):
      name = prefix + option.short.upper()
      if name in environ and (prefix or option.name == option.short):
        return _parsed(option, environ[name], f"environment variable {name}")
  return option.default


# ---- the values, and where they are mirrored ---------------------------------------

class _Thread(threading.local):
  overrides: tuple[tuple[str, Any], ...] = ()
  base: Values | None = None  # the shared values that `values` was made from
  values: Values | None = None


_thread = _Thread()
_traced: dict[str, Any] = {o.short: o.default for o in OPTIONS if o.traced}
_shared = Values({o.short: _initial(o, os.environ) for o in OPTIONS})
_GUARDS = (
    "transfer_guard", "transfer_guard_host_to_device", "transfer_guard_device_to_device",
    "transfer_guard_device_to_host")
if _shared.transfer_guard is not None:  # it stands for all directions not set themselves
  _shared = _shared.replace({
      name: _shared.transfer_guard for name in _GUARDS if getattr(_shared, name) is None})


def current() -> Values:
  """The values in force in this thread."""
  values = _thread.values
  if values is None:
    return _shared
  if _thread.base is _shared:
    return values
  return _renew()  # another thread changed the shared values


def _renew() -> Values:
  """Recomputes this thread's values from the shared ones and its overrides."""
  overrides = dict(_thread.overrides)
  if not overrides:
    _thread.values = _thread.base = None
    _mirror_local(None, overrides)
    return _shared
  _thread.base = base = _shared
  _thread.values = values = base.replace(overrides)
  _mirror_local(values, overrides)
  return values


def _key(values: Values) -> tuple[tuple[str, Any], ...] | None:
  """A hashable that says how the values that traces depend on differ from defaults."""
  own = values.__dict__
  changed = tuple((n, own[n]) for n, default in _traced.items() if own[n] != default)
  return changed or None


# Options that C++ reads: their values are copied to these cells.
_mirrors: dict[str, Any] = {
    "enable_x64": cells.x64, "disable_jit": cells.disable_jit,
    "array_garbage_collection_guard": guards.garbage_collection,
    **{f"transfer_guard_{name}": guard for name, guard in guards.TRANSFERS.items()}}


def _mirror_local(values: Values | None, overrides: Mapping[str, Any]) -> None:
  for name, cell in _mirrors.items():
    cell.set_local(overrides.get(name, cells.unset))
  local_key = values is not None and not _traced.keys().isdisjoint(overrides)
  cells.trace_key.set_local(_key(values) if values and local_key else cells.unset)


def _mirror_shared() -> None:
  for name, cell in _mirrors.items():
    cell.set_global(getattr(_shared, name))
  cells.trace_key.set_global(_key(_shared))
  if _thread.overrides:
    _renew()


_mirror_shared()


def x64() -> bool:
  """Whether 64-bit types are on in this thread; cheap."""
  return cells.x64.value  # type: ignore[no-any-return]


def trace_key() -> object:
  """A hashable part of the key of every cache of traced programs; None at defaults."""
  return cells.trace_key.value


def mirror(name: str, cell: Any) -> None:
  """Keeps `cell` at the value of an option: `set_global` and `set_local` are called.

  `set_local` gets the thread's override, or `cells.unset` when there is none.

  Raises:
    ValueError: another cell follows the option.
  """
  short = _find(name).short
  if short in _mirrors:
    raise ValueError(f"the option {short} is mirrored already")
  _mirrors[short] = cell
  cell.set_global(getattr(_shared, short))


def context_value(name: str, default: Any) -> Manager:
  """A value, no option, on which traces depend, and that context managers set.

  It is part of `trace_key` where it is not the default; it must be hashable.

  Raises:
    ValueError: there is an option or a context value of this name.
  """
  global _shared
  with _lock:
    if hasattr(_shared, name):
      raise ValueError(f"there is already a value named {name!r} in the configuration")
    _traced[name] = default
    _shared = _shared.replace({name: default})
  return Manager(Option(name, "any", default))


def on_update(name: str, hook: Callable[[Any], None]) -> None:
  """Calls `hook(value)` before an update of the option; it may refuse by raising."""
  _hooks.setdefault(_find(name).name, []).append(hook)


def _find(name: object) -> Option:
  option = _spellings.get(name) if isinstance(name, str) else None
  if option is None:
    raise AttributeError(
        f"Unrecognized config option: {name!r}.{_suggestion(name)} The names of all "
        "options are the keys of gnomon.config.values.")
  return option


def _suggestion(name: object) -> str:
  from difflib import get_close_matches  # only an error needs it
  close = get_close_matches(str(name), _spellings, n=1)
  return f" Did you mean {close[0]!r}?" if close else ""


# ---- gnomon.config -----------------------------------------------------------------

class Config:
  """The process-wide configuration, `gnomon.config`.

  An option is read as an attribute and set with `update`; its name may be written
  `jax_enable_x64`, `gnomon_enable_x64` or `enable_x64`. Initial values come from the
  environment: GNOMON_ENABLE_X64, or JAX_ENABLE_X64.

  Example:
    >>> import gnomon
    >>> gnomon.config.update("jax_debug_nans", True)
    >>> gnomon.config.jax_debug_nans
    True
    >>> gnomon.config.update("jax_debug_nans", False)
  """

  __slots__ = ()

  def update(self, name: str, val: Any) -> None:
    """Sets an option for all threads, except where a context manager overrides it.

    Args:
      name: the name of the option.
      val: the new value.

    Raises:
      AttributeError: there is no such option.
      TypeError, ValueError: the option does not admit this value.
    """
    global _shared
    option = _find(name)
    value = _checked(option, val)
    for hook in _hooks.get(option.name, ()):
      hook(value)
    # The option for all transfers stands for those in each direction.
    names = _GUARDS if option.short == "transfer_guard" else (option.short,)
    with _lock:
      _shared = _shared.replace(dict.fromkeys(names, value))
      _mirror_shared()

  def read(self, name: str) -> Any:
    """The value of an option in this thread; AttributeError if there is none so named."""
    return getattr(current(), _find(name).short)

  def add_option(
      self, name: str, holder: Any, opt_type: Any, meta_args: Any,
      meta_kwargs: Mapping[str, Any]) -> None:
    """Adds an option of a library's own, to be set by `update` and read as the others.

    Args:
      name: its name.
      holder: has the value, `holder.value`, and is told of changes, `holder.set(value)`.
      opt_type: bool, int, float, str, or "enum".
      meta_args: the default and a text, as for a flag of absl; for "enum" the accepted
        values may follow the default.
      meta_kwargs: for "enum" may hold `enum_values`.

    Raises:
      ValueError: there is an option of this name, or `opt_type` is none of those.
    """
    global _shared
    kinds = {bool: "bool", int: "int", float: "float", str: "str", "enum": "enum"}
    if opt_type not in kinds:
      raise ValueError(
          "add_option: opt_type must be bool, int, float, str or 'enum', got "
          f"{opt_type!r}")
    default, *rest = meta_args
    values = meta_kwargs.get("enum_values") or next(
        (v for v in rest if isinstance(v, (list, tuple))), ())
    option = Option(
        name, kinds[opt_type], default, tuple(values), optional=default is None)
    with _lock:
      if name in _spellings or option.short in _spellings:
        raise ValueError(f"add_option: there is an option named {name!r} already")
      _options[name] = _spellings[name] = _spellings[option.short] = option
      _shared = _shared.replace({option.short: getattr(holder, "value", default)})
    on_update(name, holder.set)

  @property
  def values(self) -> dict[str, Any]:
    """The values of all options in this thread, by their `jax_` names; a copy."""
    now = current()
    return {name: getattr(now, o.short) for name, o in _options.items()}

  @property
  def x64_enabled(self) -> bool:
    """Whether 64-bit types are on."""
    return x64()

  def config_with_absl(self) -> None:
    """Defines a flag of absl for each option; `absl.app.run` then sets those given.

    Raises:
      ImportError: absl is not installed.
    """
    from absl import app, flags  # an optional dependency of the user's program
    define: dict[str, Any] = {
        "bool": flags.DEFINE_bool, "int": flags.DEFINE_integer,
        "float": flags.DEFINE_float}
    for option in OPTIONS:
      if option.name in flags.FLAGS:
        continue
      now, text = self.read(option.name), f"The option {option.name} of gnomon.config."
      if option.kind == "enum":
        flags.DEFINE_enum(option.name, now, option.values, text)
      else:
        define.get(option.kind, flags.DEFINE_string)(option.name, now, text)
    app.call_after_init(lambda: self.complete_absl_config(flags))

  def complete_absl_config(self, absl_flags: Any) -> None:
    """Takes over the flags that the command line gave.

    Args:
      absl_flags: the module `absl.flags`, after parsing.
    """
    for option in OPTIONS:
      flag = absl_flags.FLAGS[option.name]
      if flag.present:
        self.update(option.name, flag.value)

  def parse_flags_with_absl(self) -> None:
    """Sets the options that `sys.argv` gives as `--jax_enable_x64=1`, through absl."""
    from absl import flags
    self.config_with_absl()
    ours = [a for a in sys.argv[1:] if a.lstrip("-").removeprefix("no").startswith("jax")]
    flags.FLAGS([sys.argv[0], *ours], known_only=True)
    self.complete_absl_config(flags)

  def __getattr__(self, name: str) -> Any:
    return self.read(name)

  def __setattr__(self, name: str, value: object) -> None:
    raise AttributeError(
        f"options are not set by assignment; use gnomon.config.update({name!r}, ...)")

  def __dir__(self) -> list[str]:
    return [*super().__dir__(), *_options]


config = Config()


# ---- overrides in a thread ---------------------------------------------------------

class Override:
  """Overrides options while entered, in the thread that enters; also a decorator."""

  __slots__ = ("_changes", "_saved")

  def __init__(self, changes: Mapping[str, Any]) -> None:
    self._changes = tuple(changes.items())
    self._saved: list[tuple[tuple[str, Any], ...]] = []

  def __enter__(self) -> None:
    self._saved.append(_thread.overrides)
    _thread.overrides = (*_thread.overrides, *self._changes)
    _renew()

  def __exit__(
      self, kind: type[BaseException] | None, error: BaseException | None,
      traceback: TracebackType | None) -> None:
    _thread.overrides = self._saved.pop()
    _renew()

  def __call__(self, fun: F) -> F:
    @functools.wraps(fun)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
      with Override(dict(self._changes)):
        return fun(*args, **kwargs)

    return wrapped  # type: ignore[return-value]


class Manager:
  """Makes context managers that override one option: `with enable_x64(True): ...`."""

  def __init__(self, option: Option) -> None:
    self._option = option
    self.__name__ = option.short
    self.__doc__ = (
        f"Context manager that sets `{option.name}` in a `with` block, for its thread.")

  def __call__(self, *new_val: Any) -> Override:
    if len(new_val) > 1 or (not new_val and self._option.kind != "bool"):
      raise TypeError(
          f"{self.__name__}() takes the value that {self._option.name} has in the `with` "
          f"block: one argument, got {len(new_val)}.")
    value = _checked(self._option, new_val[0] if new_val else True)
    return Override({self._option.short: value})

  @property
  def value(self) -> Any:
    """The value in force in this thread."""
    return getattr(current(), self._option.short)

  def __bool__(self) -> bool:
    raise TypeError(f"use gnomon.config.{self._option.name} to read the option")

  def __repr__(self) -> str:
    return f"<context manager of the option {self._option.name}: {self.value!r}>"


def manager(name: str) -> Manager:
  """The maker of context managers for the option `name`."""
  return Manager(_find(name))


allow_f16_reductions = manager("allow_f16_reductions")
array_garbage_collection_guard = manager("array_garbage_collection_guard")
auto_pcast = manager("auto_pcast")
check_tracer_leaks = manager("check_tracer_leaks")
debug_infs = manager("debug_infs")
debug_key_reuse = manager("debug_key_reuse")
debug_nans = manager("debug_nans")
default_device = manager("default_device")
default_matmul_precision = manager("default_matmul_precision")
default_prng_impl = manager("default_prng_impl")
enable_checks = manager("enable_checks")
enable_custom_prng = manager("enable_custom_prng")
enable_x64 = manager("enable_x64")
explain_cache_misses = manager("explain_cache_misses")
jax2tf_associative_scan_reductions = manager("jax2tf_associative_scan_reductions")
legacy_prng_key = manager("legacy_prng_key")
log_compiles = manager("log_compiles")
no_execution = manager("no_execution")
no_tracing = manager("no_tracing")
numpy_dtype_promotion = manager("numpy_dtype_promotion")
numpy_rank_promotion = manager("numpy_rank_promotion")
remove_size_one_mesh_axis_from_type = manager("remove_size_one_mesh_axis_from_type")
softmax_custom_jvp = manager("softmax_custom_jvp")
thread_guard = manager("thread_guard")
threefry_partitionable = manager("threefry_partitionable")
transfer_guard_device_to_device = manager("transfer_guard_device_to_device")
transfer_guard_device_to_host = manager("transfer_guard_device_to_host")
transfer_guard_host_to_device = manager("transfer_guard_host_to_device")


def checking_leaks() -> Override:
  """A context manager in which a traced value that outlives its trace is an error."""
  return check_tracer_leaks(True)


def disable_jit(disable: bool = True) -> Override:
  """A context manager in which `jit` runs functions op by op, so that one can step in.

  Args:
    disable: False switches `jit` on again within a block where it is off.

  Example:
    >>> import gnomon
    >>> @gnomon.jit
    ... def f(x):
    ...   return "a value" if x > 0 else "no tracer"
    >>> with gnomon.disable_jit():
    ...   f(1)
    'a value'
  """
  return Override({"disable_jit": _checked(_find("disable_jit"), disable)})


def transfer_guard(new_val: str) -> Override:
  """A context manager that sets what transfers between host and devices do.

  Args:
    new_val: `"allow"`, `"log"`, `"disallow"`: for implicit transfers; or
      `"log_explicit"`, `"disallow_explicit"`: for those that were asked for, too.
  """
  value = _checked(_find("transfer_guard"), new_val)
  return Override(dict.fromkeys(_GUARDS, value))
