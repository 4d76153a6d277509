"""`smap`: `shard_map` over one axis of the mesh."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from gnomon.api import tools
from gnomon.core.mesh import current_mesh
from gnomon.core.partition_spec import axes_of
from gnomon.core.types import typeof
from gnomon.sharding import PartitionSpec
from gnomon.spmd._shard_map import shard_map
from gnomon.tree_util import flatten_axes, tree_map

_INFER: Any = object()


def smap(
    f: Callable[..., Any] | None = None, /, *, in_axes: Any = _INFER, out_axes: Any,
    axis_name: Any) -> Any:
  """Maps a function over the parts of arrays along one axis of the mesh in force.

  Args:
    f: a function of the parts on one device. Left out, `smap` returns a decorator.
    in_axes: the dimension of each argument that the axis divides: an integer, None (each
      device has the whole), or a pytree of those that is a prefix of the arguments. By
      default as the arguments' types say.
    out_axes: the dimension of each result that the parts make up, likewise.
    axis_name: the axis of the mesh.

  Returns:
    The function of whole arrays.

  >>> import gnomon
  >>> from gnomon import lax
  >>> with gnomon.set_mesh(gnomon.make_mesh((1,), ("x",))):
  ...   gnomon.smap(lambda part: part * 2, in_axes=0, out_axes=0, axis_name="x")(
  ...     gnomon.numpy.ones(2))
  Array([2., 2.], dtype=float32)

  Raises:
    TypeError: `f` is not callable.
    ValueError: when called: there is no mesh in force, or it lacks the axis.
  """
  if f is None:
    return functools.partial(
        smap, in_axes=in_axes, out_axes=out_axes, axis_name=axis_name)
  tools.check_callable(f, "smap")
  fun = f

  @functools.wraps(fun)
  def whole(*args: Any) -> Any:
    mesh = current_mesh()
    if mesh.empty:
      raise ValueError(
          "The context mesh cannot be empty: smap maps over an axis of the mesh in "
          "force. Put one there with gnomon.set_mesh(mesh)")
    leaves, tree = tools.flatten(args)
    if in_axes is _INFER:
      specs = [_said(x, axis_name) for x in leaves]
    else:
      axes = tuple(in_axes) if isinstance(in_axes, list) else in_axes
      specs = [_spec(a, axis_name) for a in flatten_axes("smap in_axes", tree, axes)]
    outs = tree_map(lambda a: _spec(a, axis_name), out_axes, is_leaf=lambda a: a is None)
    return shard_map(
        fun, mesh=mesh, in_specs=tree.unflatten(specs), out_specs=outs,
        axis_names={axis_name})(*args)

  return whole


def _spec(axis: int | None, name: Any) -> PartitionSpec:
  return PartitionSpec() if axis is None else PartitionSpec(*[None] * axis, name)


def _said(x: Any, name: Any) -> PartitionSpec:
  for d, entry in enumerate(typeof(x).sharding.spec):
    if name in axes_of(entry):
      return _spec(d, name)
  return PartitionSpec()
