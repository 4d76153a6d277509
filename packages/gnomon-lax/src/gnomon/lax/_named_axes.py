"""What collectives share: names of axes, groups of indices, and how names are bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon.api import tools
from gnomon.core.primitive import Primitive
from gnomon.core.rule import axis_rule, lower
from gnomon.core.structural import reshape
from gnomon.core.types import typeof
from gnomon.lax._gather import gather
from gnomon.lax._indexing import GatherDimensionNumbers, GatherScatterMode
from gnomon.lax._shape import concatenate
from gnomon.transform.vmap import Axis, axis_env, to_dim, vmap_flat

Names = tuple[Any, ...]
Groups = tuple[tuple[int, ...], ...]
Values = Sequence[Any]
Dims = Sequence[int | None]
Mapped = tuple[Values, Dims]


def names_of(axis_name: Any) -> Names:
  """The names as a tuple."""
  return tuple(axis_name) if isinstance(axis_name, (tuple, list)) else (axis_name,)


def size_of(name: Any) -> int:
  """The size of the axis of a name, the innermost if several have it.

  Raises:
    NameError: no axis in force has the name.
  """
  for known, size in reversed(axis_env.get()):
    if known == name and type(known) is type(name):
      return size  # type: ignore[no-any-return]
  raise unbound(name)


def sizes_of(names: Names) -> tuple[int, ...]:
  """The sizes of axes."""
  return tuple([size_of(name) for name in names])


def total_size(names: Names) -> int:
  """The number of elements along axes together."""
  return int(np.prod(sizes_of(names), dtype=np.int64))


def unbound(name: Any) -> NameError:
  """The error for a name that no axis has."""
  known = ", ".join(repr(n) for n, _ in axis_env.get())
  return NameError(
      f"unbound axis name: {name}. "
      + (f"The axes in force here are {known}." if known else "No axis is in force here.")
      + f" A collective works inside a function mapped with a name for the axis, such as "
      f"gnomon.vmap(f, axis_name={name!r})")


def unplaced(p: Primitive) -> None:
  """A primitive that has no meaning once no axis has its names."""
  @lower.define(p)
  def _(ctx: Any, *_: Any, axis_name: Any, **__: Any) -> Any:
    raise unbound(names_of(axis_name)[0])


def each_leaf(x: Any, f: Callable[[Any], Any]) -> Any:
  """A pytree with `f` applied to its leaves."""
  leaves, tree = tools.flatten(x)
  return tree.unflatten([f(leaf) for leaf in leaves])


def dimension(who: str, name: str, d: int, ndim: int) -> int:
  if not -ndim <= d < ndim:
    raise ValueError(
        f"{who}: {name} {d} is out of bounds for array of dimension {ndim}")
  return d % ndim


# ---- groups of indices


def checked_groups(groups: Any, names: Names, who: str) -> Groups | None:
  """The groups as tuples; they must cover all indices once."""
  if groups is None:
    return None
  found = tuple([tuple([int(i) for i in group]) for group in groups])
  size = total_size(names)
  if sorted(i for group in found for i in group) != list(range(size)):
    raise ValueError(
        "axis_index_groups must cover all indices exactly once: in "
        f"{who}, the axis has the indices 0 to {size - 1}, got {found}")
  return found


def group_size(groups: Groups | None, names: Names, who: str) -> int:
  """How many elements take part in one collective; all groups must have as many."""
  if groups is None:
    return total_size(names)
  sizes = {len(group) for group in groups}
  if len(sizes) != 1:
    raise ValueError(
        f"{who}: the shape of the result depends on the size of a group, so that all in "
        f"axis_index_groups must have one size; got {groups}")
  return sizes.pop()


def place_in_group(index: Any, names: Names, groups: Groups | None) -> Any:
  """The place of an element in its group, from its index along the axes."""
  if groups is None:
    return index
  places = np.zeros(total_size(names), np.int32)
  for group in groups:
    places[list(group)] = range(len(group))
  return row(places, index)


def rows(x: Any, indices: Sequence[int]) -> Any:
  """The slices of an array at these places along its leading axis."""
  shape = typeof(x).shape
  if list(indices) == list(range(shape[0])):
    return x
  numbers = GatherDimensionNumbers(tuple(range(1, len(shape))), (0,), (0,))
  return gather(
      x, np.asarray(indices, np.int32)[:, None], numbers, (1, *shape[1:]),
      mode=GatherScatterMode.PROMISE_IN_BOUNDS)


def row(x: Any, index: Any) -> Any:
  """The slice of an array at a place (a scalar) along its leading axis."""
  shape = typeof(x).shape
  numbers = GatherDimensionNumbers(tuple(range(len(shape) - 1)), (0,), (0,))
  return gather(
      x, reshape(index, (1,)), numbers, (1, *shape[1:]),
      mode=GatherScatterMode.PROMISE_IN_BOUNDS)


def in_groups(
    p: Primitive, axis: Axis, values: Values, dims: Dims, params: dict[str, Any],
) -> Mapped:
  """A collective within groups: each is mapped as an axis of the name by itself."""
  names = names_of(params.get("axes", params.get("axis_name")))
  if names != (axis.name,):
    raise NotImplementedError(
        f"{p.name} with axis_index_groups over the axes {names}: under vmap, groups of "
        "indices are for one axis; map over one axis of all the elements instead")
  groups: Groups = params["axis_index_groups"]
  params = {**params, "axis_index_groups": None}
  order = [i for group in groups for i in group]
  xs = [rows(to_dim(x, d, 0, axis.size), order) for x, d in zip(values, dims)]

  def within(size: int, *parts: Any) -> list[Any]:
    outs, ds = vmap_flat(
        lambda *ys: p.apply(*ys, **params), Axis(size, axis.name), parts,
        [0] * len(parts))
    return [to_dim(o, d, 0, size) for o, d in zip(outs, ds)]

  sizes = [len(group) for group in groups]
  n = sizes[0]
  if sizes == [n] * len(sizes):
    g = len(sizes)
    parts = [reshape(x, (g, n, *typeof(x).shape[1:])) for x in xs]
    outs, ds = vmap_flat(lambda *ys: within(n, *ys), Axis(g), parts, [0] * len(parts))
    outs = [to_dim(o, d, 0, g) for o, d in zip(outs, ds)]
    outs = [reshape(o, (g * n, *typeof(o).shape[2:])) for o in outs]
  else:
    ends = np.cumsum(sizes)
    found = [
        within(size, *[rows(x, range(end - size, end)) for x in xs])
        for size, end in zip(sizes, ends.tolist())]
    outs = [concatenate(parts, 0) for parts in zip(*found)]
  back = np.argsort(order).tolist()
  return [rows(o, back) for o in outs], [0] * len(outs)


def over_axis(p: Primitive, several: Callable[..., Any]) -> Callable[..., Any]:
  """Enters a rule for one mapped axis as the primitive's; it has no groups to heed.

  `several(*operands, **params)` gives the results for more names than one, by collectives
  over one at a time.
  """
  def register(one: Callable[..., Mapped]) -> Callable[..., Mapped]:
    @axis_rule.define(p)
    def _(axis: Axis, values: Values, dims: Dims, **params: Any) -> Mapped:
      if params.get("axis_index_groups") is not None:
        return in_groups(p, axis, values, dims, params)
      if len(names_of(params["axis_name"])) > 1:
        return vmap_flat(lambda *xs: several(*xs, **params), axis, values, dims)
      return one(axis, values, dims, **params)

    return one

  return register
