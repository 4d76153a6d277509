"""What the front ends share: names for messages, argument numbers, flat functions."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from gnomon.core import source
from gnomon.core.jaxpr import DebugInfo
from gnomon.core.ref_type import RefMethods
from gnomon.core.trace import Tracer
from gnomon.core.types import typeof
from gnomon.runtime.jaxlib import pytrees
from gnomon.tree_util import keystr, tree_flatten_with_path
from gnomon.tree_util._flatten import explain_unsortable

F = TypeVar("F", bound=Callable[..., Any])

registry = pytrees.default_registry
flatten = registry.flatten


def check_callable(fun: Any, who: str) -> None:
  """Raises `TypeError` unless `fun` can be transformed."""
  if not callable(fun):
    raise TypeError(f"{who} expects a function, got {fun!r} of type {type(fun).__name__}")
  if inspect.isgeneratorfunction(fun):
    raise TypeError(
        f"{who} does not work on generator functions, got {function_name(fun)}")


def function_name(fun: Any) -> str:
  """The bare name of a callable."""
  name = getattr(fun, "__name__", None)
  if name is None and isinstance(fun, functools.partial):
    return function_name(fun.func)
  return name if type(name) is str and name else type(fun).__name__


def wraps(fun: Any) -> Callable[[F], F]:
  """`functools.wraps` for callables whose attributes may be of any type."""
  def decorate(wrapper: F) -> F:
    try:
      functools.update_wrapper(wrapper, fun)
    except TypeError:  # a function's name must be a string, an object's need not be
      named = [
          n for n in functools.WRAPPER_ASSIGNMENTS if type(getattr(fun, n, None)) is str]
      functools.update_wrapper(wrapper, fun, named)
    return wrapper

  return decorate


def filtered(fun: F) -> F:
  """A function of the library, whose errors show the user's frames alone."""
  @functools.wraps(fun)
  def call(*args: Any, **kwargs: Any) -> Any:
    try:
      return fun(*args, **kwargs)
    except Exception as e:
      source.filter_traceback(e)
      if type(e) is ValueError:
        for x in (*args, *kwargs.values()):
          explain_unsortable(e, x, None)
      raise

  return call  # type: ignore[return-value]


def unwrapped(fun: Any) -> Any:
  """The function inside wrappers and partial applications."""
  inner = inspect.unwrap(fun) if hasattr(fun, "__wrapped__") else fun
  while isinstance(inner, functools.partial):
    inner = inner.func
  return inner


def describe_function(fun: Any) -> str:
  """`name at file:line`, for messages."""
  code = getattr(unwrapped(fun), "__code__", None)
  name = function_name(fun)
  return f"{name} at {code.co_filename}:{code.co_firstlineno}" if code else name


def signature_of(fun: Any) -> inspect.Signature | None:
  """The signature, where Python can tell it."""
  try:
    return inspect.signature(fun)
  except (ValueError, TypeError):
    return None


def inner_rule(function: Any, name: str) -> Any:
  """`defjvp`, `defvjp`, `def_vmap` of the function inside one that has other rules.

  Raises:
    AttributeError: it has none.
  """
  if name in ("defjvp", "defjvps", "defvjp", "def_vmap"):
    return getattr(function.fun, name)
  raise AttributeError(
      f"{type(function).__name__!r} object has no attribute {name!r}")


def bound_arguments(
    fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any], decorator: str,
) -> tuple[Any, ...]:
  """The arguments of a call as positional ones, defaults filled in.

  Raises:
    TypeError: they do not fit, or some can be given by keyword only.
  """
  sig = signature_of(fun)
  if sig is None:
    if kwargs:
      raise TypeError(
          f"{function_name(fun)} is {decorator}-decorated and has no signature that "
          f"Python can tell: pass its arguments by position, not {', '.join(kwargs)}")
    return args
  try:
    bound = sig.bind(*args, **kwargs)
  except TypeError as e:
    raise TypeError(
        f"The input arguments to the {decorator}-decorated function "
        f"{function_name(fun)}{sig} do not fit its signature:\n{e}") from None
  if bound.kwargs:
    raise TypeError(
        f"{function_name(fun)} is {decorator}-decorated. The following keyword arguments "
        f"could not be resolved to positions: {', '.join(bound.kwargs)}; its rule is "
        "given arguments by position only")
  bound.apply_defaults()  # also of keyword-only arguments, which the rule is not given
  return bound.args


def leaf_names(
    fun: Any, tree: Any, skipped: Sequence[int] = ()) -> Callable[[], list[str]]:
  """Names for the leaves of `(args, kwargs)` of a call, made only for a message."""
  def names() -> list[str]:
    args, kwargs = tree.unflatten([object()] * tree.num_leaves)
    positions = [i for i in range(len(args) + len(skipped)) if i not in skipped]
    found = positional(fun, positions)
    out = []
    for name, x in zip(found, args):
      out += [name + keystr(path) for path, _ in tree_flatten_with_path(x)[0]]
    for name, x in sorted(kwargs.items()):
      out += [name + keystr(path) for path, _ in tree_flatten_with_path(x)[0]]
    return out

  return names


def positional(fun: Any, positions: Sequence[int]) -> list[str]:
  """Names for positional arguments, by the signature where there is one."""
  sig = signature_of(fun)
  if sig is None:
    return [f"args[{i}]" for i in positions]
  names: list[str] = []
  rest = None
  for p in sig.parameters.values():
    if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
      names.append(p.name)
    elif p.kind is p.VAR_POSITIONAL:
      rest = p.name

  def name(i: int) -> str:
    if i < len(names):
      return names[i]
    return f"{rest}[{i - len(names)}]" if rest else f"args[{i}]"

  return [name(i) for i in positions]


def debug_info(
    traced_for: str, fun: Any, tree: Any, skipped: Sequence[int] = ()) -> DebugInfo:
  """What messages say of a function that is being traced."""
  found = _held_weakly(fun)

  def names() -> list[str]:
    return leaf_names(found(), tree, skipped)()

  return DebugInfo(traced_for, describe_function(fun), names, None)


def _held_weakly(fun: Any) -> Callable[[], Any]:
  """What is traced is remembered with the function, and must not keep it alive."""
  try:
    return weakref.ref(fun)
  except TypeError:
    return lambda: fun


def int_tuple(value: int | Iterable[int] | None, name: str) -> tuple[int, ...]:
  """Argument numbers as a tuple.

  Raises:
    TypeError: they are not integers.
  """
  if value is None:
    return ()
  if isinstance(value, int):
    return (value,)
  out: tuple[Any, ...] = (None,)
  if isinstance(value, Iterable) and not isinstance(value, str):
    out = tuple(value)
  if not all(hasattr(v, "__index__") for v in out):
    raise TypeError(f"{name} must be an int or a sequence of ints, got {value!r}")
  return tuple(v.__index__() for v in out)


def str_tuple(value: str | Iterable[str] | None, name: str) -> tuple[str, ...]:
  """Argument names as a tuple.

  Raises:
    TypeError: they are not strings.
  """
  if value is None:
    return ()
  if isinstance(value, str):
    return (value,)
  out = tuple(value) if isinstance(value, Iterable) else None
  if out is None or not all(isinstance(v, str) for v in out):
    raise TypeError(f"{name} must be a str or a sequence of strs, got {value!r}")
  return out


def check_leaf(x: Any, who: str, path: Callable[[], str]) -> Any:
  """The type of an argument.

  Raises:
    TypeError: it is no array; names the argument.
  """
  try:
    return typeof(x)
  except TypeError:
    pass
  raise TypeError(
      f"the argument {path()} of {who} is not a valid array type: {x!r} of type "
      f"{type(x)}. Arguments are arrays, NumPy arrays, numbers, or pytrees of them; pass "
      "anything else as a static argument (static_argnums or static_argnames of jit), or "
      "close over it")


def check_leaves(
    leaves: Sequence[Any], who: str, names: Callable[[], Sequence[str]]) -> list[Any]:
  """The types of flat arguments; `names` gives all their names, for a message.

  Raises:
    TypeError: one is no array; names it.
  """
  try:
    return [typeof(x) for x in leaves]
  except TypeError:
    return [
        check_leaf(x, who, functools.partial(_nth, names, i))
        for i, x in enumerate(leaves)]


def _nth(names: Callable[[], Sequence[str]], i: int) -> str:
  return names()[i]


def _returned_reference(x: Any, i: int, out: Any, who: str, fun: Any) -> str:
  path = keystr(tree_flatten_with_path(out)[0][i][0])
  place = f" at output tree path result{path}" if path else ""
  text = (
      f"function {describe_function(fun)} traced for {who} returned a mutable array "
      f"reference of type {x.aval}{place}, but mutable array references cannot be "
      "returned. Return what it holds, ref[...]")
  origin = x.returned() if isinstance(x, Tracer) and hasattr(x, "returned") else ""
  return f"{text}\n\nThe returned mutable array {origin}" if origin else text


def results_to_flat(out: Any, who: str, fun: Any) -> tuple[list[Any], Any]:
  """Flattens what a traced function returned.

  Raises:
    TypeError: a result is no array; names its place.
  """
  try:
    leaves, tree = flatten(out)
  except ValueError as e:
    explain_unsortable(e, out, None)
    raise
  for i, x in enumerate(leaves):
    if isinstance(x, RefMethods):
      raise ValueError(  # noqa: TRY004 -- as JAX does
          _returned_reference(x, i, out, who, fun))
    if x is None or not hasattr(x, "aval"):
      try:
        typeof(x)
      except TypeError:
        path = keystr(tree_flatten_with_path(out)[0][i][0])
        start = (
            f"Output from batched function {x!r} with type {type(x)} is not a valid JAX "
            "type: " if who == "vmap" else "")
        raise TypeError(
            f"{start}the function {describe_function(fun)} traced for {who} returned a "
            f"value of type {type(x)}{' at ' + path if path else ''}: {x!r}. Results "
            "must be arrays, numbers, or pytrees of them") from None
  return leaves, tree
