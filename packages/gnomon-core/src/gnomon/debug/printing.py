"""`debug.callback`, `debug.print` and `debug.log`: showing values of running programs."""

from __future__ import annotations

import logging
import string
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gnomon.api import tools
from gnomon.api.callback import host_function
from gnomon.core import logs, refs, source
from gnomon.core.effects import Effect, debug_effect, ordered_debug_effect
from gnomon.core.lax_hook import lax
from gnomon.core.primitive import Primitive
from gnomon.core.rule import (
  batch_rule,
  effects_rule,
  impl_rule,
  jvp_rule,
  lower,
  transpose_rule,
  typing_rule,
)
from gnomon.core.structural import squeeze
from gnomon.core.types import is_array_like, typeof
from gnomon.lowering.callbacks import emit_callback

Values = Sequence[Any]


def callback(
    callback: Callable[..., Any] | None = None, *args: Any, ordered: bool = False,
    partitioned: bool = False, **kwargs: Any) -> Any:
  """Calls a Python function with values of a program when it runs; for looking at them.

  It never changes what a program computes. Under `grad` the function is called in the
  forward pass, under `vmap` for each element. The program may call it in another order
  than it says, or not at all where the values it shows are not computed.

  Args:
    callback: the function; what it returns is ignored. Left out: the result is a function
      that takes the others, so that options and the function's own arguments cannot
      clash: `debug.callback(ordered=True)(f, x, ordered=3)`.
    *args: positional arguments: pytrees of arrays, and of anything else, which is passed
      as it is.
    ordered: whether calls must happen in the order of the program.
    partitioned: in programs over several devices, whether each calls with its own part.
    **kwargs: keyword arguments, as `args`.

  >>> import gnomon
  >>> f = gnomon.jit(lambda x: gnomon.debug.callback(lambda a: print(int(a)), x))
  >>> f(3)
  3

  Raises:
    TypeError: `callback` cannot be called.
    ValueError: it is ordered, and partitioned.
  """
  if callback is None:
    _check_two_calls("debug_callback", args, kwargs)

    def with_options(callback: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
      _call(callback, args, kwargs, ordered, partitioned)

    return with_options
  _call(callback, args, kwargs, ordered, partitioned)
  return None


def _check_two_calls(who: str, args: Any, kwargs: Any) -> None:
  if args or kwargs:
    raise TypeError(
        f"{who} received unexpected arguments in the two-call form: args={args} "
        f"kwargs={kwargs}. The first call takes options alone, the second the rest")


def _call(callback: Any, args: Any, kwargs: Any, ordered: bool, partitioned: bool,
          ) -> None:
  if not callable(callback):
    raise TypeError(
        "first argument to gnomon.debug.callback must be callable, but got an object of "
        f"type {type(callback)}: {callback!r}. For a message use gnomon.debug.print")
  _check_order(ordered, partitioned)
  arrays, tree, static = _split(args, kwargs)
  debug_callback_p.apply(
      *arrays, callback=_Flat(callback, tree, static),
      effect=ordered_debug_effect if ordered else debug_effect, partitioned=partitioned)


def _check_order(ordered: bool, partitioned: bool) -> None:
  if ordered and partitioned:
    raise ValueError(
        "ordered and partitioned cannot both be true: there is no order among devices")


class _Static:
  """An argument that is no array: compared by identity, since it may have no hash."""

  __slots__ = ("value",)

  def __init__(self, value: Any) -> None:
    self.value = value

  def __repr__(self) -> str:
    return repr(self.value)

  def __eq__(self, other: object) -> bool:
    return type(other) is _Static and other.value is self.value

  def __hash__(self) -> int:
    return id(self.value)


Statics = tuple[tuple[int, _Static], ...]


def _split(args: Any, kwargs: Any) -> tuple[list[Any], Any, Statics]:
  """The arrays among flat arguments, the structure of all, and the others by place."""
  leaves, tree = tools.flatten((args, kwargs))
  leaves = refs.read_all(leaves)
  static = tuple([
      (i, _Static(x)) for i, x in enumerate(leaves) if not is_array_like(x)])
  places = {i for i, _ in static}
  return [x for i, x in enumerate(leaves) if i not in places], tree, static


def _join(arrays: Values, tree: Any, static: Statics) -> tuple[Any, Any]:
  """The arguments again."""
  leaves = list(arrays)
  for i, x in static:
    leaves.insert(i, x.value)
  return tree.unflatten(leaves)  # type: ignore[no-any-return]


class _Flat:
  """A user's function, called with the arrays among its arguments."""

  __slots__ = ("fun", "static", "tree")

  def __init__(self, fun: Any, tree: Any, static: Statics) -> None:
    self.fun, self.tree, self.static = fun, tree, static

  def __call__(self, *arrays: Any) -> tuple[Any, ...]:
    args, kwargs = _join(arrays, self.tree, self.static)
    self.fun(*args, **kwargs)
    return ()

  def __repr__(self) -> str:
    return f"<{self.fun}>"


def print_(
    fmt: str | None = None, *args: Any, ordered: bool = False, partitioned: bool = False,
    skip_format_check: bool = False, _use_logging: bool = False, **kwargs: Any) -> Any:
  """Prints values of a program when it runs: `debug.print("x = {x}", x=x)`.

  It never changes what a program computes. Under `grad` it prints in the forward pass,
  under `vmap` for each element; in loops at each step.

  Args:
    fmt: a format as for `str.format`, such as `"loss {:.3f} at {step}"`. It must be no
      f-string, which would be filled in while tracing. Left out: the result is a function
      of the others, so that options and fields cannot clash:
      `debug.print(ordered=True)("{ordered}", ordered=x)`.
    *args: values for the fields: pytrees of arrays, and of anything else.
    ordered: whether lines must appear in the order of the program; otherwise they may
      change places where the compiler likes it better.
    partitioned: in programs over several devices, whether each prints its own part.
    skip_format_check: do not look for arguments that no field uses.
    **kwargs: values for fields by name.

  NumPy's print options in force where it is written are those it prints with.

  >>> import gnomon
  >>> @gnomon.jit
  ... def f(x):
  ...   gnomon.debug.print("x is {x:.1f}", x=x)
  ...   return -x
  >>> y = f(2.0)
  x is 2.0

  Raises:
    TypeError: `fmt` is no string.
    ValueError: an argument is used by no field; it is ordered, and partitioned.
    KeyError, IndexError: a field has no argument.
  """
  options = (ordered, partitioned, skip_format_check, _use_logging)
  if fmt is None:
    _check_two_calls("debug_print", args, kwargs)

    def with_options(fmt: str, *args: Any, **kwargs: Any) -> None:
      _print(fmt, args, kwargs, *options)

    return with_options
  _print(fmt, args, kwargs, *options)
  return None


def log(
    fmt: str | None = None, *args: Any, ordered: bool = False, partitioned: bool = False,
    skip_format_check: bool = False, _use_logging: bool = True, **kwargs: Any) -> Any:
  """As `debug.print`, but the line goes to Python's logging, at the level INFO.

  The logger is `gnomon.debug`; the record names the line of the program that logs.
  """
  return print_(
      fmt, *args, ordered=ordered, partitioned=partitioned,
      skip_format_check=skip_format_check, _use_logging=_use_logging, **kwargs)



def _print(fmt: Any, args: Any, kwargs: Any, ordered: bool, partitioned: bool,
           skip_format_check: bool, use_logging: bool) -> None:
  if not isinstance(fmt, str):
    raise TypeError(f"gnomon.debug.print: fmt should be a string, got {fmt!r}")
  _check_order(ordered, partitioned)
  if skip_format_check:
    placeholders = any(name is not None for _, name, *_ in string.Formatter().parse(fmt))
  else:
    placeholders = _check_format(fmt, args, kwargs)
  arrays, tree, static = _split(args, kwargs)
  debug_print_p.apply(
      *arrays, fmt=fmt, ordered=bool(ordered), partitioned=bool(partitioned),
      in_tree=tree, static_args=static, np_printoptions=_printoptions(),
      has_placeholders=placeholders, logging_record=_record() if use_logging else None)


class _Checking(string.Formatter):
  """Formats nothing; finds out which arguments the fields use."""

  def check_unused_args(
      self, used_args: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    unused = [x for i, x in enumerate(args) if i not in used_args]
    if unused:
      raise ValueError(
          f"Unused positional arguments to `jax.debug.print`: {unused}. Each needs a "
          "field {} in the format")
    names = [k for k in kwargs if k not in used_args]
    if names:
      raise ValueError(
          f"Unused keyword arguments to `jax.debug.print`: {names}. You may be passing "
          'an f-string, f"{x}", whose fields are filled in while tracing; pass "{x}"')

  def get_field(
      self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    first, _ = string._string.formatter_field_name_split(field_name)  # type: ignore[attr-defined]
    self.get_value(first, args, kwargs)  # raises where there is none
    self.any = True
    return "", first

  def convert_field(self, value: Any, conversion: Any) -> Any:
    return value

  def format_field(self, value: Any, format_spec: str) -> str:
    return ""

  any = False


def _check_format(fmt: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
  """Checks fields against arguments; says whether there are fields."""
  checking = _Checking()
  checking.vformat(fmt, args, kwargs)
  return checking.any


def _printoptions() -> tuple[tuple[str, Any], ...]:
  options: dict[str, Any] = dict(np.get_printoptions())
  formatter = options.get("formatter")
  if formatter is not None:
    options["formatter"] = _Static(formatter)
  return tuple(options.items())


def _record() -> logging.LogRecord:
  """A record without its message, which names the caller's line."""
  frame: Any = sys._getframe(1)
  while frame.f_back is not None and not source.is_user_file(frame.f_code.co_filename):
    frame = frame.f_back
  return logging.LogRecord(
      logs.debug.name, logging.INFO, frame.f_code.co_filename, frame.f_lineno, "", (),
      None, frame.f_code.co_name)


def _show(arrays: Values, *, fmt: str, in_tree: Any, static_args: Statics,
          np_printoptions: Any, logging_record: Any, **_: Any) -> tuple[Any, ...]:
  """Prints, with the values."""
  args, kwargs = _join(arrays, in_tree, static_args)
  options = {
      k: v.value if type(v) is _Static else v for k, v in np_printoptions}
  with np.printoptions(**options):
    text = fmt.format(*args, **kwargs)
  if logging_record is None:
    sys.stdout.write(text + "\n")
  else:
    logs.debug.handle(logging.makeLogRecord({**logging_record.__dict__, "msg": text}))
  return ()


# ---- the primitives

debug_callback_p = Primitive("debug_callback", call=True)
debug_print_p = Primitive("debug_print", call=True)


def _effect(params: dict[str, Any]) -> Effect:
  if "effect" in params:
    return params["effect"]  # type: ignore[no-any-return]
  return ordered_debug_effect if params["ordered"] else debug_effect


def _define(p: Primitive, run: Callable[..., tuple[Any, ...]]) -> None:
  """The rules that both have alike; `run` does it, with arrays."""
  typing_rule.define(p)(lambda *_, **__: ())
  effects_rule.define(p)(lambda *_, **params: frozenset({_effect(params)}))
  impl_rule.define(p)(lambda *args, **params: run(args, **params))

  @lower.define(p)
  def _(ctx: Any, *values: Any, **params: Any) -> Values:
    effect = _effect(params)
    if effect.ordered and ctx.meshes is not None:
      raise ValueError(
          "The following ordered effects are not supported for more than 1 device: "
          f"[{effect!r}]. There is no order among devices: leave ordered=True out")
    return emit_callback(
        ctx, values, host_function(lambda *args: run(args, **params), ctx.avals_in),
        effectful=True, ordered=effect if effect.ordered else None,
        partitioned=params["partitioned"])

  @jvp_rule.define(p)
  def _(primals: Values, tangents: Values, **params: Any) -> Any:
    return p.apply(*primals, **params), ()

  @transpose_rule.define(p)
  def _(cts: Values, args: Values, **_: Any) -> Any:
    return [None] * len(args)

  @batch_rule.define(p)
  def _(axis: Any, args: Values, dims: Sequence[int | None], **params: Any) -> Any:
    for i in range(axis.size):
      p.apply(*(_element(x, d, i) for x, d in zip(args, dims)), **params)
    return (), ()


def _element(x: Any, dim: int | None, i: int) -> Any:
  """Element `i` along a mapped dimension."""
  if dim is None:
    return x
  shape = typeof(x).shape
  starts, limits = [0] * len(shape), list(shape)
  starts[dim], limits[dim] = i, i + 1
  return squeeze(lax().slice(x, starts, limits, [1] * len(shape)), (dim,))


_define(debug_callback_p, lambda args, *, callback, **_: callback(*args))
_define(debug_print_p, _show)

