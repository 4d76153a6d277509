"""What functions that transform functions share: flat calls, argument numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gnomon.api import tools
from gnomon.api.evaluate import shaped_abstractify as _abstractify
from gnomon.core.jaxpr import DebugInfo
from gnomon.extend.linear_util import (
  WrappedFun,
  transformation2,
  transformation_with_aux2,
)
from gnomon.tree_util import flatten_axes as _flatten_axes
from gnomon.tree_util import tree_flatten, tree_unflatten

__all__ = [
    "argnums_partial", "debug_info", "donation_vector", "flatten_axes", "flatten_fun",
    "flatten_fun_nokwargs", "rebase_donate_argnums", "safe_map", "shaped_abstractify"]


@transformation_with_aux2
def flatten_fun(f: Callable[..., Any], store: Any, in_tree: Any, *args: Any) -> Any:
  """The function of flat arguments, `in_tree` that of `(args, kwargs)`, to a flat list.

  The second result, called after the function, gives the structure of what it returned.

  >>> from gnomon import api_util, tree_util
  >>> from gnomon.extend import linear_util as lu
  >>> leaves, tree = tree_util.tree_flatten(((1, [2]), {'k': 3}))
  >>> f = lu.wrap_init(lambda x, y, k: {'sum': x + y[0] + k})
  >>> flat, out_tree = api_util.flatten_fun(f, tree)
  >>> flat.call_wrapped(*leaves), out_tree()
  ([6], PyTreeDef({'sum': *}))
  """
  positional, named = tree_unflatten(in_tree, args)
  leaves, out_tree = tree_flatten(f(*positional, **named))
  store.store(out_tree)
  return leaves


@transformation_with_aux2
def flatten_fun_nokwargs(
    f: Callable[..., Any], store: Any, in_tree: Any, *args: Any) -> Any:
  """Like `flatten_fun`, where `in_tree` is the structure of positional arguments."""
  leaves, out_tree = tree_flatten(f(*tree_unflatten(in_tree, args)))
  store.store(out_tree)
  return leaves


@transformation2
def _with_fixed(
    f: Callable[..., Any], positions: tuple[int, ...], fixed: tuple[Any, ...],
    *args: Any, **kwargs: Any) -> Any:
  rest, given = iter(fixed), iter(args)
  total = len(fixed) + len(args)
  full = [next(given) if i in positions else next(rest).value for i in range(total)]
  return f(*full, **kwargs)


class _Fixed:
  """An argument that stays: equal by value, or for what has no hash by identity."""

  __slots__ = ("hash", "value")

  def __init__(self, value: Any) -> None:
    self.value = value
    try:
      self.hash = hash(value)
    except TypeError:
      self.hash = id(value)

  def __hash__(self) -> int:
    return self.hash

  def __eq__(self, other: object) -> bool:
    return isinstance(other, _Fixed) and (
        self.value is other.value
        or (self.hash == other.hash and bool(self.value == other.value)))


def argnums_partial(
    f: WrappedFun, dyn_argnums: int | Sequence[int], args: Sequence[Any],
    require_static_args_hashable: bool = True) -> tuple[WrappedFun, tuple[Any, ...]]:
  """A function of some of its positional arguments, the others being fixed.

  Args:
    f: the function.
    dyn_argnums: which arguments remain.
    args: all positional arguments.
    require_static_args_hashable: whether the fixed ones must be hashable.

  Returns:
    The function, and the arguments that remain.

  Raises:
    ValueError: a fixed argument is not hashable, or a number is out of range.
  """
  n = len(args)
  wanted = (dyn_argnums,) if isinstance(dyn_argnums, int) else tuple(dyn_argnums)
  for i in wanted:
    if not -n <= i < n:
      raise ValueError(
          f"argnums_partial: the number {i} among dyn_argnums={dyn_argnums} is out of "
          f"range for {n} positional arguments")
  positions = tuple(i % n for i in wanted)
  fixed = []
  for i, x in enumerate(args):
    if i in positions:
      continue
    if require_static_args_hashable:
      try:
        hash(x)
      except TypeError:
        raise ValueError(
            "Non-hashable static arguments are not supported, as this can lead to "
            f"unexpected cache-misses. Static argument (index {i}) of type {type(x)} for "
            f"function {f.__name__} is non-hashable.") from None
    fixed.append(_Fixed(x))
  dynamic = tuple(args[i] for i in sorted(positions))
  return _with_fixed(f, positions, tuple(fixed)), dynamic


def debug_info(
    traced_for: str, fun: Callable[..., Any], args: Sequence[Any],
    kwargs: dict[str, Any], *, static_argnums: Sequence[int] = (),
    static_argnames: Sequence[str] = (),
    result_paths_thunk: Callable[[], tuple[str, ...]] | None = None,
    sourceinfo: str | None = None, signature: Any = None) -> DebugInfo:
  """What messages say of a function that is traced with these arguments.

  Args:
    traced_for: what it is traced for, such as `"jit"`.
    fun: the function.
    args: its positional arguments.
    kwargs: its keyword arguments.
    static_argnums: which of `args` are no part of the traced program.
    static_argnames: which of `kwargs` are none.
    result_paths_thunk: gives the places of the results once it has run.
    sourceinfo: `name at file:line`, where `fun` does not tell.
    signature: not needed; the function tells its own.
  """
  del signature
  static = {i % len(args) for i in static_argnums if -len(args) <= i < len(args)}
  tree = tools.flatten((
      tuple(x for i, x in enumerate(args) if i not in static),
      {k: v for k, v in kwargs.items() if k not in static_argnames}))[1]
  info = tools.debug_info(traced_for, fun, tree, tuple(sorted(static)))
  return DebugInfo(
      traced_for, sourceinfo or info.func_src_info, tuple(info.names()),
      result_paths_thunk)


def donation_vector(
    donate_argnums: Sequence[int], donate_argnames: Sequence[str], in_tree: Any,
    kws: bool = True) -> tuple[bool, ...]:
  """Which flat arguments are donated.

  Args:
    donate_argnums: positional arguments that are.
    donate_argnames: keyword arguments that are.
    in_tree: the structure of `(args, kwargs)`, or of `args` alone.
    kws: whether it is that of `(args, kwargs)`.
  """
  if kws:
    positional, named = in_tree.children()
    keys = (named.node_data() or (None, ()))[1]
    by_name = zip(keys, named.children(), strict=True)
  else:
    positional, by_name = in_tree, zip((), (), strict=True)
  out: list[bool] = []
  for i, t in enumerate(positional.children()):
    out += [i in donate_argnums] * t.num_leaves
  for name, t in by_name:
    out += [name in donate_argnames] * t.num_leaves
  return tuple(out)


def rebase_donate_argnums(
    donate_argnums: Sequence[int], static_argnums: Sequence[int]) -> tuple[int, ...]:
  """The numbers of donated arguments among those that are not static.

  Raises:
    ValueError: an argument is both.
  """
  both = sorted(set(donate_argnums) & set(static_argnums))
  if both:
    raise ValueError(
        f"`static_argnums` {list(static_argnums)} and `donate_argnums` "
        f"{list(donate_argnums)} cannot intersect.")
  return tuple(sorted(
      i - sum(s < i for s in static_argnums) for i in donate_argnums))


def flatten_axes(
    name: str, treedef: Any, axis_tree: Any, *, kws: bool = False,
    tupled_args: bool = False) -> list[Any]:
  """One entry of `axis_tree`, a prefix of `treedef`, for each leaf; None is an entry.

  Args:
    name: what the entries are, for messages.
    treedef: the structure.
    axis_tree: the prefix.
    kws: whether `treedef` is that of `(args, kwargs)`; the message is the same.
    tupled_args: whether `axis_tree` is a tuple of arguments; the message is the same.

  Raises:
    ValueError: it is no prefix.
  """
  del kws, tupled_args
  return list(_flatten_axes(name, treedef, axis_tree))


def safe_map(f: Callable[..., Any], /, *args: Any) -> list[Any]:
  """`list(map(f, *args))`, whose sequences must be of one length.

  >>> from gnomon import api_util
  >>> api_util.safe_map(max, [1, 5], [2, 3])
  [2, 5]

  Raises:
    ValueError: they are not.
  """
  sequences = list(map(list, args))
  for i, s in enumerate(sequences):
    if len(s) != len(sequences[0]):
      word = "shorter" if len(s) < len(sequences[0]) else "longer"
      raise ValueError(f"safe_map() argument {i + 1} is {word} than argument 1")
  return list(map(f, *sequences))


def shaped_abstractify(x: Any) -> Any:
  """The type of an array, or of anything with a shape and a dtype.

  >>> from gnomon import api_util
  >>> api_util.shaped_abstractify(1.5)
  ShapedArray(float32[], weak_type=True)

  Raises:
    TypeError: `x` has none.
  """
  try:
    return _abstractify(x)
  except TypeError:
    raise TypeError(
        f"Argument '{x}' of type {type(x)} is not a valid JAX type: expected an array, a "
        "NumPy array, a number, or something with a shape and a dtype") from None
