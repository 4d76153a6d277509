"""Programs over several devices: one program, which the compiler partitions.

The shardings of arguments and results are written into the module as Shardy's attributes;
the compiler finds those of everything between, and of results that nobody asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gnomon.core import events
from gnomon.core.jaxpr import ClosedJaxpr, Jaxpr, programs_in
from gnomon.core.mesh import Mesh, mesh_like, placing_mesh
from gnomon.core.partition_spec import UNCONSTRAINED, PartitionSpec
from gnomon.core.ref_type import AbstractRef
from gnomon.core.reshard import reshard_p
from gnomon.core.rule import impl_rule
from gnomon.core.shardings import (
  NamedSharding,
  as_named,
  attribute,
  is_abstract,
  is_equivalent_to,
  spec_in,
)
from gnomon.core.stage import trace_to_closed
from gnomon.core.types import ShapedArray, WrappedArray, physical_aval, typeof
from gnomon.lowering.module import Lowered, lower_module
from gnomon.runtime import callbacks
from gnomon.runtime.callbacks import CallbackError
from gnomon.runtime.compile import make_handler, physical, write_back
from gnomon.runtime.execute import as_operand, explain
from gnomon.runtime.jaxlib import arrays, clients, mlir, programs

ir = mlir.ir
Array = arrays.Array


def is_spread(x: Any) -> bool:
  """Whether an operand is on several devices."""
  x = physical(x)
  return type(x) is Array and len(x._sharding._internal_device_list) > 1


def spans(sharding: Any) -> bool:
  """Whether a sharding is over several devices."""
  return isinstance(sharding, arrays.Sharding) and sharding.num_devices > 1


def constraints_of(program: ClosedJaxpr | Jaxpr) -> list[Any]:
  """The shardings over several devices that a program asks for, at any depth."""
  found: list[Any] | None = program.memo.get("constraints")
  if found is None:
    found = program.memo["constraints"] = []
    inner = program.jaxpr if isinstance(program, ClosedJaxpr) else program
    if isinstance(program, ClosedJaxpr):
      found += [physical(c)._sharding for c in program.consts if is_spread(c)]
    for e in inner.eqns:
      name, params = e.primitive.name, e.params
      if name == "sharding_constraint" and spans(params["sharding"]):
        found.append(params["sharding"])
      elif e.primitive is reshard_p and params["dst_sharding"].mesh.size > 1:
        mesh, own = params["concrete_mesh"], params["dst_sharding"]
        found.append(own if mesh is None else NamedSharding(mesh, own.spec))
      elif e.primitive.call:
        for inside in programs_in(params):
          found += constraints_of(inside)
  return found


# ---- where operands go ----------------------------------------------------------------


def mesh_of(
    operands: Sequence[Any], shardings: Sequence[Any], what: str) -> Mesh:
  """The mesh of a program: that of its operands and of the shardings asked for.

  Raises:
    ValueError: they are on different devices.
    NotImplementedError: no operand and no sharding says over which mesh.
  """
  mesh: Mesh | None = None
  devices: Any = None
  origin = ""
  shapes = [s.mesh for s in shardings if s is not None and is_abstract(s)]
  if shapes:
    shardings = [s for s in shardings if s is None or not is_abstract(s)]
    known = mesh_like(shapes[0])
    if known is not None:
      shardings.append(replicated(known))
  for i, x in enumerate(operands):
    x = physical(x)
    if type(x) is Array and x._committed:
      mesh, devices, origin = _same(
          mesh, devices, origin, x._sharding, f"argument {i}, of type {x.aval}", what)
  for s in shardings:
    if s is not None:
      mesh, devices, origin = _same(
          mesh, devices, origin, s, f"the sharding {s}", what)
  here = placing_mesh()
  if here.size > 1:
    mesh, devices, origin = _same(
        mesh, devices, origin, replicated(here), "the mesh in force", what)
  if mesh is None:
    raise NotImplementedError(
        f"{what}: no argument says over which mesh its devices form; put one there with "
        "device_put(x, NamedSharding(mesh, spec))")
  return mesh


def _same(
    mesh: Any, devices: Any, origin: str, sharding: Any, name: str, what: str,
) -> tuple[Any, Any, str]:
  own = list(sharding._internal_device_list)
  if devices is not None and own != devices:
    raise ValueError(
        f"Received incompatible devices for jitted computation. {what}: {origin} is on "
        f"the devices {[d.id for d in devices]}, {name} on {[d.id for d in own]}. Move "
        "them to the same devices with gnomon.device_put")
  if isinstance(sharding, NamedSharding) and (
      mesh is None or (sharding.mesh.explicit_axes and not mesh.explicit_axes)):
    mesh = sharding.mesh
  return mesh, own, origin or name


def place(x: Any, sharding: Any) -> Any:
  """An array, a NumPy array or a number where a sharding says; its values are kept.

  Raises:
    IndivisibleError: a dimension cannot be divided evenly.
  """
  if type(x) is Array:
    if is_equivalent_to(x._sharding, sharding, x.ndim):
      return _renamed(x, sharding)
    if _on_same_devices(x._sharding, sharding):
      return _moved(x, sharding)
    aval, value = x.aval, np.asarray(x)
  else:
    aval = typeof(x)
    value = np.asarray(x, aval.dtype)
  check_fits(aval, sharding)
  aval = aval_at(aval, sharding)
  indices = arrays.shard_indices(sharding, aval.shape)
  here = [
      (d, i) for d, i in zip(sharding._internal_device_list, indices, strict=True)
      if d.process_index == d.client.process_index()]
  parts = [np.array(value[i], order="C") for _, i in here]
  return arrays.put(aval, sharding, parts, [d for d, _ in here], committed=True)


def _renamed(x: Any, sharding: Any) -> Any:
  """An array that is there already, by whatever name, with the type that it has there."""
  aval = aval_at(x.aval, sharding)
  if aval is x.aval:
    return x
  if sharding.num_devices == 1:
    return arrays.make_handler(aval, sharding, True)(x)
  return arrays.from_shards(aval, sharding, arrays.shards_of(x))


def _on_same_devices(own: Any, other: Any) -> bool:
  return own.num_devices > 1 and bool(
      own.memory_kind == other.memory_kind
      and own._internal_device_list == other._internal_device_list)


_moves: dict[Any, ClosedJaxpr] = {}


def _moved(x: Any, sharding: Any) -> Any:
  """An array divided otherwise over the same devices, by a program that exchanges parts.

  Raises:
    IndivisibleError: a dimension cannot be divided evenly.
  """
  sharding.check_compatible_aval(x.shape)
  sharding.shard_shape(x.shape)
  aval = x.aval.update(sharding=None)
  jaxpr = _moves.get(aval)
  if jaxpr is None:
    if len(_moves) > 1000:
      _moves.clear()
    jaxpr = _moves[aval] = trace_to_closed(lambda y: [y], [aval])
  (found,), _ = run_spread(jaxpr, "device_put", [x], [None], [sharding])
  there = aval_at(aval, sharding)
  return found if there is found.aval else arrays.rewrap(found, there)


def check_fits(aval: Any, sharding: Any, what: str = "") -> None:
  """Whether arrays of a type can be divided so.

  Raises:
    IndivisibleError: a dimension cannot be divided evenly.
    ValueError: the spec has more entries than the type dimensions.
  """
  try:
    sharding.check_compatible_aval(aval.shape)
    sharding.shard_shape(aval.shape)
  except ValueError as e:
    if not what:
      raise
    raise type(e)(f"One of pjit {what}, of type {aval}: {e}") from None


def aval_at(aval: Any, sharding: Any) -> Any:
  """The type of an array at a place: it says what the place says of explicit axes."""
  if isinstance(sharding, NamedSharding) and sharding.mesh.explicit_axes:
    return aval.update(sharding=sharding)
  return aval if aval._sharding is None else aval.update(sharding=None)


def operand_sharding(x: Any, asked: Any, mesh: Mesh, name: str) -> Any:
  """Where an operand is to be: as it is, or as asked; None: as the compiler likes it.

  Raises:
    ValueError: it is committed to another place than asked.
  """
  x = physical(x)
  if type(x) is not Array or not is_spread(x):
    if asked is None and (type(x) is not Array or mesh.are_all_axes_explicit):
      return replicated(mesh)
    return asked
  if asked is None:
    return x._sharding
  check_same(x._sharding, asked, x.aval, name)
  return asked


def check_same(own: Any, asked: Any, aval: Any, name: str) -> None:
  """Whether an argument is where `in_shardings` says.

  Raises:
    ValueError: it is elsewhere.
  """
  if not is_equivalent_to(own, asked, aval.ndim):
    raise ValueError(
        f"Sharding passed to jit does not match the sharding on the respective arg: "
        f"in_shardings says {asked}, but {name} has {own}, for the type {aval}. Move it "
        "with gnomon.device_put, or leave its entry of in_shardings None")


# ---- the module ------------------------------------------------------------------------


def annotate(
    lowered: Lowered, in_shardings: Sequence[Any], out_shardings: Sequence[Any],
    meshes: dict[Mesh, str], devices: int) -> None:
  """Writes shardings of arguments and results into a module, and their meshes."""
  module = lowered.module
  with module.context, ir.Location.unknown():
    (main,) = [
        op for op in module.body.operations
        if "sym_name" in op.attributes and op.attributes["sym_name"].value == "main"]
    i32 = ir.IntegerType.get_signless(32)
    module.operation.attributes["mhlo.num_partitions"] = ir.IntegerAttr.get(i32, devices)
    module.operation.attributes["mhlo.num_replicas"] = ir.IntegerAttr.get(i32, 1)
    kind = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
    _annotate(main, "arg_attrs", kind.inputs, in_shardings, meshes)
    _annotate(main, "res_attrs", kind.results, out_shardings, meshes)
    for mesh, symbol in meshes.items():
      axes = ", ".join(f'"{n}"={k}' for n, k in mesh.shape_tuple)
      op = ir.Operation.parse(f"sdy.mesh @{symbol} = <[{axes}]>", context=module.context)
      ir.InsertionPoint.at_block_begin(module.body).insert(op)


def _annotate(
    main: Any, name: str, types: Sequence[Any], shardings: Sequence[Any],
    meshes: dict[Mesh, str]) -> None:
  given = [ir.DictAttr.get({})] * len(types)
  if name in main.attributes:
    given = list(main.attributes[name])
  attributes = []
  for old, kind, s in zip(given, types, shardings, strict=True):
    new = {a.name: a.attr for a in ir.DictAttr(old)}
    if s is not None:
      rank = ir.RankedTensorType(kind).rank
      s = as_named(s, rank)
      text = attribute(s, rank, meshes)
      new["sdy.sharding"] = ir.Attribute.parse(text)
    attributes.append(ir.DictAttr.get(new))
  main.attributes[name] = ir.ArrayAttr.get(attributes)


@impl_rule.define(reshard_p)
def _(x: Any, *, dst_sharding: Any, concrete_mesh: Any) -> tuple[Any]:
  if concrete_mesh is None:
    own = getattr(x, "_sharding", None)
    concrete_mesh = own.mesh if isinstance(own, NamedSharding) else None
  if concrete_mesh is None or concrete_mesh.shape_tuple != dst_sharding.mesh.shape_tuple:
    concrete_mesh = mesh_like(dst_sharding.mesh)
  if concrete_mesh is None:
    raise ValueError(
        f"reshard to {dst_sharding}: its devices are not known; put their mesh in force "
        "with gnomon.set_mesh")
  x = as_operand(x)
  there = _concrete(dst_sharding, concrete_mesh, getattr(x, "_sharding", None))
  return (
      x.with_physical(place(x.physical, there)) if isinstance(x, WrappedArray)
      else place(x, there),)


def _concrete(wanted: Any, mesh: Mesh, own: Any) -> Any:
  """A sharding over devices; what is left to the compiler stays as it is."""
  if mesh.axis_types != wanted.mesh.axis_types:
    mesh = mesh.update(axis_types=wanted.mesh.axis_types)
  entries = list(wanted.spec)
  if UNCONSTRAINED in entries:
    known = own.spec if isinstance(own, NamedSharding) else ()
    now = [*known, *[None] * (len(entries) - len(known))]
    entries = [n if e is UNCONSTRAINED else e for e, n in zip(entries, now)]
  return NamedSharding(mesh, PartitionSpec(*entries))


# ---- running ---------------------------------------------------------------------------


class SpreadExecutable:
  """A compiled program over several devices."""

  __slots__ = (
      "calls", "const_args", "handlers", "in_shardings", "kept", "loaded", "out_avals",
      "out_shardings", "written")

  def __init__(
      self, loaded: Any, lowered: Lowered, in_shardings: Sequence[Any],
      out_shardings: Sequence[Any], replicated: Any) -> None:
    self.loaded, self.kept, self.written = loaded, lowered.kept, lowered.written
    self.calls = lowered.callbacks
    self.in_shardings, self.out_shardings = list(in_shardings), list(out_shardings)
    self.out_avals = lowered.out_avals
    self.const_args = [place(physical(c), replicated) for c in lowered.const_args]
    self.handlers = [
        make_handler(a, s, True) for a, s in zip(lowered.out_avals, out_shardings)]

  def __call__(self, args: Sequence[Any]) -> tuple[Any, ...]:
    """Runs on operands that are where `in_shardings` says."""
    kept = [x for x, k in zip(args, self.kept) if k]
    if self.calls:
      return callbacks.run(
          self.loaded.execute_sharded, [*self.const_args, *kept], self.handlers,
          self.calls)
    results = self.loaded.execute_sharded([*self.const_args, *kept])
    return tuple(results.consume_with_handlers(self.handlers))


class SpreadModule(NamedTuple):
  """A lowered program for the devices of a mesh, with the shardings asked for."""

  lowered: Lowered
  in_avals: Sequence[Any]
  mesh: Mesh
  in_shardings: Sequence[Any]
  out_shardings: Sequence[Any]


def lower_spread(
    jaxpr: ClosedJaxpr, name: str, mesh: Mesh, in_shardings: Sequence[Any],
    out_shardings: Sequence[Any], *, donated: Sequence[bool] = (),
    keep_unused: bool = False) -> SpreadModule:
  """Lowers and annotates a program for the devices of a mesh.

  Shardings are None where the compiler chooses. The new contents of references are where
  the old ones were.
  """
  meshes: dict[Mesh, str] = {mesh: "mesh"}
  with events.timed(events.LOWER, fun_name=f"jit({name})"):
    lowered = lower_module(
        jaxpr, name, donated=donated, keep_unused=keep_unused, meshes=meshes)
  out_shardings = [
      _of_type(a, mesh) if s is None else s
      for s, a in zip(out_shardings, jaxpr.out_avals)]
  out_shardings += [in_shardings[i] for i in lowered.written]
  kept = [s for s, k in zip(in_shardings, lowered.kept) if k]
  annotate(
      lowered, [replicated(mesh)] * len(lowered.const_args) + kept, out_shardings,
      meshes, int(mesh.size))
  avals = [a.inner_aval if type(a) is AbstractRef else a for a in jaxpr.in_avals]
  return SpreadModule(lowered, avals, mesh, in_shardings, out_shardings)


def compile_spread(
    module: SpreadModule, options: dict[str, Any] | None = None) -> SpreadExecutable:
  """Compiles a lowered program for the devices of its mesh."""
  lowered, in_avals, mesh, in_shardings, out_shardings = module
  devices = list(mesh._internal_device_list)
  fixed = len(lowered.const_args)
  asked = [s for s, k in zip(in_shardings, lowered.kept) if k]
  compile_options = programs.compile_options(devices, options or {}, len(devices))
  build = compile_options.executable_build_options
  build.allow_spmd_sharding_propagation_to_output = [s is None for s in out_shardings]
  build.allow_spmd_sharding_propagation_to_parameters = (
      [False] * fixed + [s is None for s in asked])
  loaded = programs.compile(
      devices[0].client, lowered.module, clients.DeviceList(tuple(devices)),
      compile_options, lowered.callbacks)
  found = loaded.get_parameter_shardings() or [None] * (fixed + len(asked))
  chosen = iter(found[fixed:])
  ins = [
      _kept_sharding(s, next(chosen), a, mesh) if k
      else replicated(mesh) if s is None else s
      for s, k, a in zip(in_shardings, lowered.kept, in_avals, strict=True)]
  found = loaded.get_output_shardings() or [None] * len(out_shardings)
  found = found[:len(out_shardings)]  # without results there is one all the same
  outs = [
      _kept_sharding(s, op, a, mesh)
      for s, op, a in zip(out_shardings, found, lowered.out_avals, strict=True)]
  return SpreadExecutable(loaded, lowered, ins, outs, replicated(mesh))


def _of_type(aval: Any, mesh: Mesh) -> Any:
  """Where a result is by its type; None if that does not say."""
  if type(aval) is not ShapedArray or not mesh.explicit_axes:
    return None
  if aval._sharding is None and not mesh.are_all_axes_explicit:
    return None
  return NamedSharding(mesh, aval.sharding.spec)


def replicated(mesh: Mesh) -> Any:
  """The sharding that puts whole arrays on each device of a mesh."""
  return NamedSharding(mesh, PartitionSpec())


def _kept_sharding(asked: Any, op: Any, aval: Any, mesh: Mesh) -> Any:
  return _chosen(op, aval, mesh) if asked is None else asked


def _chosen(op: Any, aval: Any, mesh: Mesh) -> Any:
  """The sharding that the compiler chose for a result, in terms of the mesh."""
  ndim = len(physical_aval(aval).shape)
  if op is None:
    return NamedSharding(mesh, PartitionSpec())
  hlo = arrays.HloSharding.from_proto(op)
  spec = spec_in(hlo, mesh, ndim)
  if spec is not None:
    return NamedSharding(mesh, spec)
  return arrays.GSPMDSharding(mesh._internal_device_list, hlo)


def run_spread(
    jaxpr: ClosedJaxpr, name: str, operands: Sequence[Any], asked_in: Sequence[Any],
    asked_out: Sequence[Any], *, constraints: Sequence[Any] = (),
    donated: Sequence[bool] = (), keep_unused: bool = False,
    options: dict[str, Any] | None = None,
) -> tuple[tuple[Any, ...], SpreadExecutable]:
  """Runs a program on operands of which some are on several devices.

  The executable is remembered with the program, by where its operands are.
  """
  mesh = mesh_of(operands, [*asked_in, *asked_out, *constraints], name)
  ins = tuple([
      operand_sharding(x, s, mesh, f"argument {i}")
      for i, (x, s) in enumerate(zip(operands, asked_in, strict=True))])
  key = (
      "spread", mesh, ins, tuple(asked_out), tuple(donated), keep_unused,
      tuple(sorted((options or {}).items())))
  exe: SpreadExecutable | None = jaxpr.memo.get(key)
  if exe is None:
    module = lower_spread(
        jaxpr, name, mesh, ins, asked_out, donated=donated, keep_unused=keep_unused)
    with events.timed(events.COMPILE, fun_name=f"jit({name})"):
      exe = jaxpr.memo[key] = compile_spread(module, options)
  placed = [place(physical(x), s) for x, s in zip(operands, exe.in_shardings)]
  return run_compiled(exe, operands, placed, donated), exe


def run_compiled(
    exe: SpreadExecutable, operands: Sequence[Any], placed: Sequence[Any],
    donated: Sequence[bool]) -> tuple[Any, ...]:
  """Runs a program on operands, of which copies are where it wants them."""
  try:
    outs = exe(placed)
  except CallbackError:
    raise
  except Exception as e:  # noqa: BLE001 -- raised again, in our words
    raise explain(e, operands) from None
  for x, y, gone in zip(operands, placed, donated):
    if gone and type(x) is Array and y is not x:
      x.delete()  # a copy of it was given to the program
  return write_back(exe, operands, outs) if exe.written else outs
