"""`pmap`: a function mapped over an axis, each element on a device of its own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.api import tools
from gnomon.api.constraint import constrain
from gnomon.api.jit import jit
from gnomon.api.vmap import vmap
from gnomon.core.trace import EVAL, get_current
from gnomon.core.types import typeof
from gnomon.runtime import backends
from gnomon.runtime.execute import as_operand
from gnomon.runtime.shardings import NamedSharding
from gnomon.runtime.spread import place
from gnomon.sharding import Mesh, PartitionSpec
from gnomon.tree_util import flatten_axes, tree_map


def pmap(
    fun: Callable[..., Any], axis_name: Any = None, *, in_axes: Any = 0,
    out_axes: Any = 0, static_broadcasted_argnums: int | Iterable[int] = (),
    devices: Sequence[Any] | None = None, backend: str | None = None,
    axis_size: int | None = None, donate_argnums: int | Iterable[int] = (),
) -> Callable[..., Any]:
  """Maps a function over an axis of its arguments, with an element on each device.

  It is `vmap`, compiled, with the mapped axis divided over devices.

  Args:
    fun: the function of one element.
    axis_name: a name of the axis, for collectives such as `lax.psum`.
    in_axes: which axis of each argument is mapped: a number or None, or a pytree of
      those that is a prefix of the arguments. Keyword arguments are mapped over axis 0.
    out_axes: where the axis is in the results, likewise.
    static_broadcasted_argnums: positional arguments that are part of the program.
    devices: the devices; the first ones by default, as many as are needed.
    backend: the platform of the devices.
    axis_size: the size of the mapped axis, where no argument says it.
    donate_argnums: positional arguments whose buffers the program may reuse.

  >>> import gnomon
  >>> double = gnomon.pmap(lambda x: x + x)
  >>> double(gnomon.numpy.ones((1, 3))).shape
  (1, 3)

  Raises:
    TypeError: `fun` is not callable.
    ValueError: when called: there are fewer devices than elements, or the sizes differ.
  """
  tools.check_callable(fun, "pmap")
  static = tools.int_tuple(static_broadcasted_argnums, "static_broadcasted_argnums")
  donated = tools.int_tuple(donate_argnums, "donate_argnums")
  programs: dict[Any, Any] = {}

  @functools.wraps(fun)
  def mapped(*args: Any, **kwargs: Any) -> Any:
    dynamic = [a for i, a in enumerate(args) if i not in static]
    axes = _dynamic_axes(in_axes, len(args), static)
    leaves, tree = tools.flatten((tuple(dynamic), kwargs))
    arg_tree, kwarg_tree = tree.children()
    leaf_axes = [
        *flatten_axes("pmap in_axes", arg_tree, axes), *[0] * kwarg_tree.num_leaves]
    size = _size(leaves, leaf_axes, axis_size)
    mesh = _mesh(devices, backend, size, axis_name)
    placed = [_put(x, a, mesh) for x, a in zip(leaves, leaf_axes)]
    count, fixed = len(args), {i: args[i] for i in static}
    key = (mesh, tuple(fixed.values()), count)
    program = programs.get(key)
    if program is None:
      def body(positional: tuple[Any, ...], named: Any) -> Any:
        rest = iter(positional)
        given = [fixed[i] if i in fixed else next(rest) for i in range(count)]
        return fun(*given, **named)

      each = vmap(
          body, in_axes=(axes, 0), out_axes=_over_none(out_axes, lambda _: 0),
          axis_name=axis_name, axis_size=size)
      program = programs[key] = jit(
          lambda *given: _first_of_equal(each(*given), out_axes),
          out_shardings=_over_none(
              out_axes, lambda _: None, lambda a: NamedSharding(mesh, _spec(a, mesh))))
    result = program(*tree.unflatten(placed))
    for x, y, i in _donated(leaves, placed, dynamic, donated, static):
      if x is not y and i:
        x.delete()
    return result

  return mapped


def _over_none(
    axes: Any, none: Callable[[Any], Any], other: Callable[[Any], Any] = int) -> Any:
  return tree_map(
      lambda a: none(a) if a is None else other(a), axes, is_leaf=lambda a: a is None)


def _first_of_equal(result: Any, out_axes: Any) -> Any:
  """The results, of those that are not mapped the first device's."""
  leaves, tree = tools.flatten(result)
  axes = flatten_axes("pmap out_axes", tree, out_axes)
  return tree.unflatten([
      lax.index_in_dim(x, 0, 0, keepdims=False) if a is None else x
      for x, a in zip(leaves, axes)])


def _dynamic_axes(in_axes: Any, count: int, static: tuple[int, ...]) -> Any:
  if isinstance(in_axes, (list, tuple)):
    if len(in_axes) == count:
      return tuple(a for i, a in enumerate(in_axes) if i not in static)
    return tuple(in_axes)
  return in_axes


def _size(leaves: Sequence[Any], axes: Sequence[Any], given: int | None) -> int:
  for x, a in zip(leaves, axes):
    if a is not None and not -typeof(x).ndim <= a < typeof(x).ndim:
      raise ValueError(
          f"pmap was asked to map over axis {a} of an argument, whose shape is "
          f"{typeof(x).shape}: it has {typeof(x).ndim} axes")
  sizes = {typeof(x).shape[a] for x, a in zip(leaves, axes) if a is not None}
  if given is not None:
    sizes.add(given)
  if len(sizes) != 1:
    raise ValueError(
        "pmap needs arguments whose mapped axes have one size, got "
        + (f"the sizes {sorted(sizes)}" if sizes else
           "none that is mapped: give axis_size"))
  return int(sizes.pop())


def _mesh(
    devices: Sequence[Any] | None, backend: str | None, size: int, name: Any) -> Mesh:
  found = list(backends.devices(backend) if devices is None else devices)
  if size > len(found):
    raise ValueError(
        f"compiling computation that requires {size} logical devices, but only "
        f"{len(found)} XLA devices are available: pmap puts each element of the mapped "
        "axis on a device of its own; use vmap on one device")
  grid = np.empty(size, object)
  grid[:] = found[:size]
  return Mesh(grid, ("_internal_pmap_axis_name" if name is None else name,))


def _spec(axis: int | None, mesh: Mesh) -> PartitionSpec:
  return PartitionSpec() if axis is None else PartitionSpec(
      *[None] * axis, *mesh.axis_names)


def _put(x: Any, axis: int | None, mesh: Mesh) -> Any:
  """An argument with its mapped axis over the devices."""
  if axis is not None and axis < 0:
    axis += typeof(x).ndim
  sharding = NamedSharding(mesh, _spec(axis, mesh))
  if get_current() is not EVAL:
    return constrain(x, sharding)
  return place(as_operand(x), sharding)


def _donated(
    leaves: Sequence[Any], placed: Sequence[Any], dynamic: Sequence[Any],
    donated: tuple[int, ...], static: tuple[int, ...]) -> list[tuple[Any, Any, bool]]:
  """Arguments given away of which a copy was made: these are deleted as well."""
  if not donated:
    return []
  positions = [i for i in range(len(dynamic) + len(static)) if i not in static]
  owners: list[bool] = []
  for i, x in zip(positions, dynamic):
    owners += [i in donated] * len(tools.flatten(x)[0])
  return [
      (x, y, own) for x, y, own in zip(leaves, placed, owners) if hasattr(x, "delete")]
