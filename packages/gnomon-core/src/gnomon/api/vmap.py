"""`vmap`: a function mapped over axes of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gnomon.api import tools, vmap_types
from gnomon.api.remember import remembering
from gnomon.core.calls import check_aliases, is_ref
from gnomon.core.types import says, typeof
from gnomon.transform import vmappable
from gnomon.transform.vmap import Axis, to_dim, vmap_flat
from gnomon.tree_util import flatten_axes, tree_leaves

flatten = tools.flatten


def vmap(
    fun: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0, axis_name: Any = None,
    axis_size: int | None = None, spmd_axis_name: Any = None, sum_match: bool = False,
) -> Callable[..., Any]:
  """Maps a function over axes of its arguments, all at once.

  Args:
    fun: the function; it sees the arguments without the mapped axes.
    in_axes: for each positional argument which axis is mapped: an integer, None (not
      mapped), or a pytree of those that is a prefix of the argument. Keyword arguments
      are mapped over axis 0.
    out_axes: where the mapped axis goes in the results; None for a result that does not
      depend on it.
    axis_name: a name by which collectives in `fun` refer to the axis.
    axis_size: the size of the mapped axis, needed if no argument has one.
    spmd_axis_name: mesh axes over which the mapped axis is split.
    sum_match: has no effect.

  Returns:
    The mapped function.

  >>> import gnomon
  >>> from gnomon import lax
  >>> gnomon.vmap(lax.neg)(lax.iota('float32', 3)).shape
  (3,)

  Raises:
    TypeError, ValueError: when called: the axes do not fit the arguments; sizes differ.
  """
  tools.check_callable(fun, "vmap")
  del sum_match
  if isinstance(in_axes, list):
    in_axes = tuple(in_axes)
  for what, axes in (("in_axes", in_axes), ("out_axes", out_axes)):
    if not all(isinstance(x, int) or vmappable.is_spec(x) for x in flatten(axes)[0]):
      raise TypeError(
          f"vmap: {what} must be an int, None, or a (nested) container of those, got "
          f"{axes!r}")

  def mapped(*args: Any, **kwargs: Any) -> Any:
    if isinstance(in_axes, tuple) and len(in_axes) != len(args):
      named = "" if not kwargs else (
          f"; the keyword arguments {', '.join(map(repr, kwargs))} have no entry, they "
          "are always mapped over axis 0")
      raise ValueError(
          "vmap in_axes must be an int, None, or a tuple of entries corresponding to the "
          f"positional arguments passed to the function, but got {len(in_axes)} entries "
          f"{in_axes} for {len(args)} positional arguments{named}")
    if vmappable.registered and any(
        map(vmappable.is_own, tree_leaves((args, kwargs), is_leaf=vmappable.is_own))):
      return vmap_types.call(
          fun, args, kwargs, in_axes, out_axes, axis_size, axis_name, spmd_axis_name)
    leaves, tree = flatten((args, kwargs))
    dims = flatten_axes("vmap in_axes", tree, (in_axes, 0), kws=True)
    avals = _mapped_avals(leaves, dims, fun, tree)
    dims = [
        None if d is None else _canonical(d, a, i, fun, tree)
        for i, (d, a) in enumerate(zip(dims, avals))]
    size = _size(dims, avals, axis_size, fun, tree)
    if any(map(is_ref, leaves)):
      check_aliases(
          "vmap", tools.describe_function(fun), leaves, (), tools.leaf_names(fun, tree))
    out_tree: Any = None

    def flat(*xs: Any) -> list[Any]:
      nonlocal out_tree
      a, k = tree.unflatten(xs)
      outs, out_tree = tools.results_to_flat(fun(*a, **k), "vmap", fun)
      return outs

    entry = _entry(dims, avals) if any(map(says, avals)) else None
    axis = Axis(size, axis_name, spmd_axis_name, entry)
    outs, places = vmap_flat(flat, axis, leaves, dims)
    targets = flatten_axes("vmap out_axes", out_tree, out_axes)
    return out_tree.unflatten([
        _place(o, d, t, size, fun) for o, d, t in zip(outs, places, targets)])

  places = tuple([(tuple(a), tree) for a, tree in map(flatten, (in_axes, out_axes))])
  return remembering(
      fun, mapped, ("vmap", places, axis_name, axis_size, spmd_axis_name))


def _mapped_avals(
    leaves: Sequence[Any], dims: Sequence[Any], fun: Any, tree: Any) -> list[Any]:
  """The types of the leaves that are mapped; the others may be anything."""
  names = tools.leaf_names(fun, tree)
  mapped = [i for i, d in enumerate(dims) if d is not None]
  avals = iter(tools.check_leaves(
      [leaves[i] for i in mapped], f"vmap of {tools.function_name(fun)}",
      lambda: [names()[i] for i in mapped]))
  return [None if d is None else next(avals) for d in dims]


def _name(i: int, fun: Any, tree: Any) -> str:
  return tools.leaf_names(fun, tree)()[i]


def _canonical(d: int, aval: Any, i: int, fun: Any, tree: Any) -> int:
  n = len(aval.shape)
  if not -n <= d < n:
    raise ValueError(
        f"vmap was requested to map its argument along axis {d}, which implies that its "
        f"rank should be at least {d + 1 if d >= 0 else -d}, but is only {n} (its shape "
        f"is {aval.shape}): the argument {_name(i, fun, tree)}")
  return d % n


def _size(
    dims: Sequence[int | None], avals: Sequence[Any], given: int | None, fun: Any,
    tree: Any,
) -> int:
  sizes = {a.shape[d] for a, d in zip(avals, dims) if d is not None}
  if given is not None:
    sizes.add(int(given))
  if len(sizes) == 1:
    return sizes.pop()  # type: ignore[no-any-return]
  if not sizes:
    if not dims:
      raise ValueError(
          "vmap wrapped function must be passed at least one argument containing an "
          "array, or axis_size must be given")
    raise ValueError(
        "vmap must have at least one non-None value in in_axes, or axis_size")
  names = tools.leaf_names(fun, tree)()
  lines = [
      f"  * axis {d} of argument {names[i]} of type {a} has size {a.shape[d]}"
      for i, (a, d) in enumerate(zip(avals, dims)) if d is not None]
  if given is not None:
    lines.append(f"  * axis_size says {given}")
  raise ValueError(
      "vmap got inconsistent sizes for array axes to be mapped:\n" + ";\n".join(lines))


def _entry(dims: Sequence[int | None], avals: Sequence[Any]) -> Any:
  """The explicit axes of a mesh over which the mapped axes are divided.

  Raises:
    ValueError: they are divided differently.
  """
  found = {a.sharding.spec[d] for a, d in zip(avals, dims) if d is not None}
  if len(found) > 1:
    raise ValueError(
        "Mapped away dimension of inputs passed to vmap should be sharded the same, got "
        f"{', '.join(map(str, avals))} mapped over {list(dims)}. Bring them to one "
        "sharding with gnomon.reshard")
  return found.pop() if found else None


def _place(x: Any, d: int | None, target: int | None, size: int, fun: Any) -> Any:
  if target is None:
    if d is not None:
      raise ValueError(
          "vmap has mapped output but out_axes is None: a result of "
          f"{tools.describe_function(fun)} depends on the mapped axis; give it an "
          "integer in out_axes")
    return x
  n = typeof(x).ndim - (d is not None)
  if not -(n + 1) <= target <= n:
    raise ValueError(
        f"vmap: in out_axes, axis {target} is out of bounds for a result of {n + 1} "
        "dimensions with the mapped one")
  return to_dim(x, d, target % (n + 1), size)
