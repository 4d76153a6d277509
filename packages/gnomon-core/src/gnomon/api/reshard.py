"""Explicit axes: saying anew how values are divided, and leaving it to the compiler."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from gnomon.api import tools
from gnomon.api.jit import jit
from gnomon.core.mesh import (
  AbstractMesh,
  AxisType,
  Mesh,
  current_abstract_mesh,
  use_abstract_mesh,
)
from gnomon.core.partition_spec import UNCONSTRAINED, PartitionSpec, axes_of
from gnomon.core.reshard import reshard_p
from gnomon.core.shardings import NamedSharding
from gnomon.core.trace import EVAL, get_current
from gnomon.core.types import typeof
from gnomon.runtime import spread as spread  # it evaluates the primitive
from gnomon.runtime.shardings import is_place
from gnomon.tree_util import flatten_axes, tree_map


def reshard(xs: Any, out_shardings: Any) -> Any:
  """Values divided otherwise over the explicit axes of a mesh.

  Args:
    xs: a pytree of arrays.
    out_shardings: a `PartitionSpec` over the mesh in force, or a `NamedSharding`; or a
      pytree of those that is a prefix of `xs`.

  >>> import gnomon
  >>> mesh = gnomon.make_mesh((1,), ("x",))
  >>> with gnomon.set_mesh(mesh):
  ...   gnomon.typeof(gnomon.reshard(gnomon.numpy.ones(2), gnomon.P("x")))
  ShapedArray(float32[2@x])

  Raises:
    ValueError: there is no mesh, the spec names an axis that is not explicit, or it does
      not fit the array.
    TypeError: what is given is no sharding.
  """
  leaves, tree = tools.flatten(xs)
  places = (
      [out_shardings] * len(leaves) if is_place(out_shardings)
      else flatten_axes("reshard out_shardings", tree, out_shardings))
  return tree.unflatten([_reshard(x, s) for x, s in zip(leaves, places)])


def _reshard(x: Any, place: Any) -> Any:
  aval = tools.check_leaf(x, "reshard", lambda: "xs")
  concrete: Any = None
  if isinstance(place, PartitionSpec):
    mesh, spec = mesh_of([aval]), place
  elif isinstance(place, NamedSharding):
    mesh, spec = place.mesh.abstract_mesh, place.spec
    concrete = place.mesh if isinstance(place.mesh, Mesh) else None
  else:
    raise TypeError(
        f"reshard takes PartitionSpecs and NamedShardings, got {place!r} of type "
        f"{type(place).__name__}")
  if mesh.empty:
    raise ValueError(
        f"reshard to {place}: there is no mesh; put one in force with gnomon.set_mesh, "
        "or give a NamedSharding")
  types = mesh._name_to_type
  for axis in (a for e in spec for a in axes_of(e)):
    if axis in types and types[axis] is not AxisType.Explicit:
      raise ValueError(
          f"reshard to {spec}: the axis {axis!r} of {mesh} is {types[axis]!r}, and types "
          "speak of explicit axes only; use with_sharding_constraint for the others")
  if spec.unreduced or spec.reduced:
    raise NotImplementedError(
        f"reshard to {spec}: there are no values whose parts are still to be summed")
  sharding = NamedSharding(mesh, spec)
  sharding.check_compatible_aval(aval.shape)
  sharding.shard_shape(aval.shape)
  full = PartitionSpec(
      *spec, *[None] * (aval.ndim - len(spec)), unreduced=spec.unreduced,
      reduced=spec.reduced)
  return reshard_p.apply(
      x, dst_sharding=NamedSharding(mesh, full), concrete_mesh=concrete)[0]


def mesh_of(avals: Sequence[Any]) -> AbstractMesh:
  """The mesh in force, or else that of which the types speak."""
  mesh = current_abstract_mesh()
  if mesh.empty:
    for a in avals:
      if getattr(a, "_sharding", None) is not None:
        return a._sharding.mesh  # type: ignore[no-any-return]
  return mesh


# ---- a function that sees other types of axes


def _names(what: str, axes: Any, mesh: AbstractMesh) -> tuple[Any, ...]:
  names = mesh.axis_names if axes is None else (axes,) if isinstance(axes, str) else axes
  strange = [a for a in names if a not in mesh.axis_names]
  if strange:
    raise ValueError(f"{what} names the axes {strange}, which {mesh} does not have")
  return tuple(names)


def _cast(x: Any, mesh: AbstractMesh) -> Any:
  """A value whose type says nothing of axes that are not explicit any more."""
  aval = typeof(x)
  spec = () if aval._sharding is None else aval._sharding.spec
  types = mesh._name_to_type
  kept = [tuple([a for a in axes_of(e) if types[a] is AxisType.Explicit]) for e in spec]
  entries = [e or UNCONSTRAINED for e in kept] or [UNCONSTRAINED] * aval.ndim
  return reshard_p.apply(
      x, dst_sharding=NamedSharding(mesh, PartitionSpec(*entries)),
      concrete_mesh=None)[0]


def auto_axes(
    f: Callable[..., Any] | None = None, /, *, axes: str | tuple[str, ...] | None = None,
    out_sharding: Any = None) -> Any:
  """A function inside of which the compiler divides arrays over axes of the mesh.

  Args:
    f: the function. Left out, `auto_axes` returns a decorator.
    axes: the axes; all of the mesh's by default.
    out_sharding: how the results are divided: `PartitionSpec`s, a prefix of the results.
      It may be given in each call as well.

  >>> import gnomon
  >>> from gnomon.sharding import auto_axes
  >>> mesh = gnomon.make_mesh((1,), ("x",))
  >>> with gnomon.set_mesh(mesh):
  ...   x = gnomon.reshard(gnomon.numpy.arange(2.0), gnomon.P("x"))
  ...   auto_axes(lambda x: x[::-1], out_sharding=gnomon.P("x"))(x)
  Array([1., 0.], dtype=float32)

  Raises:
    TypeError: when called: how results are divided is not said.
    ValueError: there is no mesh, or it lacks an axis.
  """
  if f is None:
    return functools.partial(auto_axes, axes=axes, out_sharding=out_sharding)
  fun = f

  def inside(args: Any, kwargs: Any, mesh: AbstractMesh, where: Any) -> Any:
    names = _names("auto_axes", axes, mesh)
    inner = mesh.update_axis_types(dict.fromkeys(names, AxisType.Auto))
    with use_abstract_mesh(inner):
      args, kwargs = tree_map(lambda x: _cast(x, inner), (args, kwargs))
      outs = fun(*args, **kwargs)
    with use_abstract_mesh(mesh):
      return reshard(outs, where)

  @functools.wraps(fun)
  def wrapped(*args: Any, **kwargs: Any) -> Any:
    where = kwargs.pop("out_sharding", out_sharding)
    if where is None:
      raise TypeError("auto_axes needs out_sharding: how the results are divided")
    mesh = _mesh("auto_axes", (args, kwargs))
    return _compiled(
        lambda args, kwargs: inside(args, kwargs, mesh, where), args, kwargs)

  return wrapped


def explicit_axes(
    f: Callable[..., Any] | None = None, /, *, axes: str | tuple[str, ...] | None = None,
    in_sharding: Any = None) -> Any:
  """A function inside of which types say how arrays are divided over axes of the mesh.

  Args:
    f: the function. Left out, `explicit_axes` returns a decorator.
    axes: the axes; all of the mesh's by default.
    in_sharding: how the arguments are divided: `PartitionSpec`s, a prefix of the
      arguments. It may be given in each call as well.

  >>> import gnomon
  >>> from gnomon.sharding import AxisType, explicit_axes
  >>> mesh = gnomon.make_mesh((1,), ("x",), (AxisType.Auto,))
  >>> def show(x):
  ...   print(gnomon.typeof(x))
  ...   return x
  >>> with gnomon.set_mesh(mesh):
  ...   explicit_axes(show, in_sharding=gnomon.P("x"))(gnomon.numpy.arange(2.0))
  float32[2@x]
  Array([0., 1.], dtype=float32)

  Raises:
    TypeError: when called: how arguments are divided is not said.
    ValueError: there is no mesh, or it lacks an axis.
  """
  if f is None:
    return functools.partial(explicit_axes, axes=axes, in_sharding=in_sharding)
  fun = f

  def inside(args: Any, kwargs: Any, mesh: AbstractMesh, where: Any) -> Any:
    names = _names("explicit_axes", axes, mesh)
    inner = mesh.update_axis_types(dict.fromkeys(names, AxisType.Explicit))
    with use_abstract_mesh(inner):
      args = reshard(args, where)
      outs = fun(*args, **kwargs)
    with use_abstract_mesh(mesh):
      return tree_map(lambda x: _cast(x, mesh), outs)

  @functools.wraps(fun)
  def wrapped(*args: Any, **kwargs: Any) -> Any:
    where = kwargs.pop("in_sharding", in_sharding)
    if where is None:
      raise TypeError("explicit_axes needs in_sharding: how the arguments are divided")
    mesh = _mesh("explicit_axes", (args, kwargs))
    return _compiled(
        lambda args, kwargs: inside(args, kwargs, mesh, where), args, kwargs)

  return wrapped


def _mesh(what: str, args: Any) -> AbstractMesh:
  mesh = mesh_of([typeof(x) for x in tools.flatten(args)[0]])
  if mesh.empty:
    raise ValueError(
        f"{what}: there is no mesh; put one in force with gnomon.set_mesh")
  return mesh


def _compiled(f: Callable[..., Any], args: Any, kwargs: Any) -> Any:
  """Calls a function as one program: its operations run on values as they lie."""
  return f(args, kwargs) if get_current() is not EVAL else jit(f)(args, kwargs)
