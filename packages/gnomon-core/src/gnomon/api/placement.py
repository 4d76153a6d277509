"""The `in_shardings` and `out_shardings` of `jit`, and programs over several devices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gnomon.api.constraint import constrain
from gnomon.core.mesh import placing_mesh
from gnomon.core.partition_spec import UNCONSTRAINED, PartitionSpec
from gnomon.core.shardings import is_abstract, is_equivalent_to
from gnomon.runtime import spread
from gnomon.runtime.compile import physical
from gnomon.runtime.jaxlib import arrays, fastpath
from gnomon.runtime.shardings import resolve
from gnomon.tree_util import flatten_axes, tree_flatten


def device_of(in_shardings: Any, out_shardings: Any, device: Any) -> Any:
  """The device where a function with these shardings runs; None where none says.

  Raises:
    TypeError: a leaf is neither a sharding nor None.
    ValueError: they are on different devices.
  """
  for name, tree in (("in_shardings", in_shardings), ("out_shardings", out_shardings)):
    for leaf in _leaves(tree):
      own = _one_device(name, leaf)
      if device is not None and own is not device:
        raise ValueError(
            f"jit: {name} has {leaf} on {own}, but other arguments or results are on "
            f"{device}; a function runs on one device")
      device = own
  return device


def _leaves(tree: Any) -> Iterator[Any]:
  if isinstance(tree, (list, tuple)):
    for x in tree:
      yield from _leaves(x)
  elif isinstance(tree, dict):
    yield from _leaves(list(tree.values()))
  elif tree is not None:
    yield tree


def _one_device(name: str, leaf: Any) -> Any:
  if not isinstance(leaf, arrays.Sharding):
    raise TypeError(
        f"{name} leaf specifications are expected to be shardings or None, but got "
        f"{leaf!r} of type {type(leaf)}")
  return leaf._internal_device_list[0]


# ---- several devices -----------------------------------------------------------------


def over_several(in_shardings: Any, out_shardings: Any) -> tuple[Any, Any] | None:
  """Both, if one of them says several devices, or leaves the mesh to the call."""
  leaves = [*_leaves(in_shardings), *_leaves(out_shardings)]
  for s in leaves:
    spec = s if isinstance(s, PartitionSpec) else getattr(s, "spec", ())
    if UNCONSTRAINED in tuple(spec):
      raise ValueError(
          "Unconstrained dims are not allowed when passed to in_shardings or "
          f"out_shardings of jit, got {s}; leave the entry out, or use None for all")
  if any(isinstance(x, PartitionSpec) or spread.spans(x) for x in leaves):
    return in_shardings, out_shardings
  return None


def key_of(both: tuple[Any, Any]) -> Any:
  """What tells two pairs of shardings apart: their leaves and their structure."""
  leaves, tree = tree_flatten(both, is_leaf=lambda x: x is None)
  return tuple(leaves), tree


def is_spread(info: Any, traced: Any, operands: Sequence[Any]) -> bool:
  """Whether a call is for a program over several devices."""
  return (
      info.shardings is not None or placing_mesh().size > 1
      or any(map(spread.is_spread, operands))
      or bool(spread.constraints_of(traced.jaxpr)))


def run_spread(
    info: Any, traced: Any, operands: Sequence[Any], tree: Any, donated: Sequence[bool],
) -> tuple[Any, Any]:
  """Answers a call of a jitted function over several devices, as `JitInfo.miss` does.

  Raises:
    ValueError: an argument is elsewhere than its sharding says; trees do not fit.
  """
  asked_in, asked_out = _asked_in(info, tree), _asked_out(info, traced.out_tree)
  _check_fit(traced, asked_in, asked_out)
  results, exe = spread.run_spread(
      traced.jaxpr, info.name, operands, asked_in, asked_out,
      constraints=spread.constraints_of(traced.jaxpr), donated=donated,
      keep_unused=info.keep_unused, options=info.options)
  n = len(exe.const_args)
  plain = all(type(x) is arrays.Array for x in [*operands, *results])
  kept_in = [s for s, k in zip(exe.in_shardings, exe.kept) if k]
  fast = fastpath.FastpathData(
      exe.loaded, traced.out_tree,
      [c._sharding for c in exe.const_args] + kept_in, exe.out_shardings, exe.out_avals,
      [True] * len(exe.out_avals), [True] * n + list(exe.kept),
      [None] * (n + len(kept_in)), exe.const_args)
  return traced.out_tree.unflatten(results), fast if plain else None


def _check_fit(traced: Any, ins: Sequence[Any], outs: Sequence[Any]) -> None:
  """Whether arguments and results can be divided as is asked for.

  Raises:
    ValueError: one cannot.
  """
  avals = traced.jaxpr.in_avals[len(traced.outer):]
  for what, types, asked in (
      ("arguments", avals, ins), ("outputs", traced.jaxpr.out_avals, outs)):
    for a, s in zip(types, asked):
      if s is not None:
        spread.check_fits(a, s, what)


def of_stages(
    info: Any, traced: Any, leaves: Sequence[Any], tree: Any,
) -> tuple[Any, list[Any], list[Any]] | None:
  """The mesh and shardings of a program that is compiled ahead, over several devices.

  Arguments are where `in_shardings` says, or where they are, or are said to be. None for
  a program on one device.

  Raises:
    ValueError: an argument is elsewhere than its sharding says.
  """
  said = [_said(x) for x in leaves]
  constraints = spread.constraints_of(traced.jaxpr)
  if not (info.shardings or constraints or placing_mesh().size > 1
          or any(map(spread.spans, said))):
    return None
  asked_in, asked_out = _asked_in(info, tree), _asked_out(info, traced.out_tree)
  avals = traced.jaxpr.in_avals[len(traced.outer):]
  for i, (own, asked, aval) in enumerate(zip(said, asked_in, avals)):
    if own is not None and asked is not None:
      spread.check_same(own, asked, aval, f"argument {i}")
  _check_fit(traced, asked_in, asked_out)
  ins = [a if s is None else s for s, a in zip(said, asked_in)]
  mesh = spread.mesh_of([], [*ins, *asked_out, *constraints], info.name)
  here = [spread.replicated(mesh)] * len(traced.outer)
  return mesh, [*here, *ins], asked_out


def _said(x: Any) -> Any:
  """The sharding of a committed array, or of what stands for an array."""
  if getattr(x, "committed", True) is False:
    return None
  found = getattr(x, "sharding", None)
  known = isinstance(found, arrays.Sharding) and not is_abstract(found)
  return found if known else None


def check_given(
    exe: Any, operands: Sequence[Any], outer: int, names: Any, what: str) -> None:
  """Whether committed operands are where a compiled program wants them.

  Raises:
    ValueError: one is elsewhere.
  """
  wrong = []
  for i, (x, wanted) in enumerate(zip(operands, exe.in_shardings)):
    x = physical(x)
    if type(x) is arrays.Array and x._committed and not is_equivalent_to(
        x._sharding, wanted, x.ndim):
      wrong.append(
          f"Argument {names()[i - outer]} of type {x.aval}:\n"
          f"  Passed sharding: {x._sharding}\n  Required sharding: {wanted}")
  if wrong:
    raise ValueError(
        f"{what}: Computation was compiled for input shardings that disagree with the "
        "shardings of arguments passed to it. Move them with gnomon.device_put. Here are "
        f"the {len(wrong)} mismatches:\n" + "\n".join(wrong))


def constrained_in(info: Any, leaves: Sequence[Any], tree: Any) -> list[Any]:
  """The arguments of a jitted function inside a traced one, where they are to be."""
  return [
      x if s is None else constrain(x, s) for x, s in zip(leaves, _asked_in(info, tree))]


def constrained_out(info: Any, outs: Sequence[Any], tree: Any) -> list[Any]:
  """The results of a jitted function inside a traced one, where they are to be."""
  return [
      x if s is None else constrain(x, s) for x, s in zip(outs, _asked_out(info, tree))]


def _asked_in(info: Any, tree: Any) -> list[Any]:
  args, kwargs = tree.children()
  ins = (info.shardings or (None, None))[0]
  if ins is not None and kwargs.num_leaves:
    raise ValueError(
        "pjit does not support kwargs when in_shardings is specified: in_shardings of "
        f"{info.name} has entries for positional arguments only; pass them so")
  return [*_asked("jit in_shardings", args, ins), *[None] * kwargs.num_leaves]


def _asked_out(info: Any, tree: Any) -> list[Any]:
  return _asked("jit out_shardings", tree, (info.shardings or (None, None))[1])


def _asked(name: str, tree: Any, shardings: Any) -> list[Any]:
  """A sharding or None for each leaf."""
  if shardings is None or isinstance(shardings, (arrays.Sharding, PartitionSpec)):
    leaves = [shardings] * tree.num_leaves
  else:
    leaves = flatten_axes(name, tree, shardings)
  for s in leaves:
    if s is not None and not isinstance(s, (arrays.Sharding, PartitionSpec)):
      raise TypeError(
          f"{name} leaf specifications are expected to be shardings, PartitionSpecs or "
          f"None, but got {s!r}")
  return [None if s is None else resolve(s, what="jit") for s in leaves]


def device_of_arguments(leaves: Sequence[Any], name: str) -> Any:
  """The device that arguments without values, or committed arrays, are said to be on.

  Raises:
    ValueError: they are on different devices.
  """
  device = None
  for x in leaves:
    sharding = getattr(x, "sharding", None)
    free = getattr(x, "committed", True) is False
    if free or not isinstance(sharding, arrays.Sharding) or is_abstract(sharding):
      continue
    own = sharding._internal_device_list
    if len(own) != 1:
      continue
    if device is not None and own[0] is not device:
      raise ValueError(
          f"the arguments of {name} are on different devices, one on {device}, another "
          f"on {own[0]}")
    device = own[0]
  return device
