"""How operations pass on what types say of explicit axes, by kind of operation.

A rule gets for each operand the axes that divide its dimensions (entries of a spec, one a
dimension), the types, and the parameters; it gives such entries for each result. The
table is by name, so that it is loaded, and no operation with it, once a type says
something.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gnomon.core.partition_spec import axes_of
from gnomon.core.shardings import ShardingTypeError

Entries = tuple[Any, ...]
Rule = Callable[..., Any]


def _merged(name: str, entries: Sequence[Any], what: str) -> Any:
  """What divides a dimension that operands share."""
  found = {e for e in entries if e is not None}
  if len(found) > 1:
    raise ShardingTypeError(
        f"{name} got incompatible shardings for broadcasting: {what}. Bring the operands "
        "to one sharding with gnomon.reshard")
  return found.pop() if found else None


def elementwise(name: str, specs: Any, avals: Any, outs: Any, params: Any) -> Any:
  """Operands of one shape, scalars and sizes of 1 among them."""
  shape = outs[0].shape
  what = ", ".join(str(s) for s, a in zip(specs, avals) if a.shape)
  spec = tuple([
      _merged(name, [
          s[d] for s, a in zip(specs, avals) if a.shape and a.shape[d] == n], what)
      for d, n in enumerate(shape)])
  used = [a for e in spec for a in axes_of(e)]
  if len(used) > len(set(used)):
    raise ShardingTypeError(
        f"{name} got incompatible shardings for broadcasting: {what}; an axis divides "
        "one dimension at most. Bring the operands to one sharding with gnomon.reshard")
  return [spec] * len(outs)


def _broadcast(name: str, specs: Any, avals: Any, outs: Any, params: Any) -> Any:
  found = [None] * outs[0].ndim
  for i, d in enumerate(params["broadcast_dimensions"]):
    if avals[0].shape[i] == outs[0].shape[d]:
      found[d] = specs[0][i]
  return [tuple(found)]


def _transpose(name: str, specs: Any, avals: Any, outs: Any, params: Any) -> Any:
  return [tuple([specs[0][d] for d in params["permutation"]])]


def _squeeze(name: str, specs: Any, avals: Any, outs: Any, params: Any) -> Any:
  gone = params["dimensions"]
  return [tuple([e for d, e in enumerate(specs[0]) if d not in gone])]


def _reduce(name: str, specs: Any, avals: Any, outs: Any, params: Any) -> Any:
  axes = params.get("axes", params.get("dimensions"))
  return [tuple([e for d, e in enumerate(specs[0]) if d not in axes])] * len(outs)


def _same(name: str, specs: Any, avals: Any, outs: Any, params: Any) -> Any:
  return list(specs[:len(outs)])


def _along(*keys: str) -> Rule:
  """Works along a dimension, which must not be divided."""
  def rule(name: str, specs: Any, avals: Any, outs: Any, params: Any) -> Any:
    along = next(params[k] for k in keys if k in params)
    for spec, aval in zip(specs, avals):
      for d in along if isinstance(along, tuple) else (along,):
        if spec and spec[d] is not None:
          raise ShardingTypeError(
              f"{name} works along dimension {d}, which must not be divided; the operand "
              f"is {aval}. Bring it together with gnomon.reshard")
    return [_merge_all(name, specs, avals)] * len(outs)

  return rule


def _merge_all(name: str, specs: Any, avals: Any) -> Entries:
  what = ", ".join(map(str, specs))
  return tuple([_merged(name, e, what) for e in zip(*specs, strict=True)])


def _concatenate(name: str, specs: Any, avals: Any, outs: Any, params: Any) -> Any:
  if len(set(specs)) > 1:
    raise ShardingTypeError(
        f"All operands should have the same sharding in {name}, got "
        f"{', '.join(map(str, avals))}. Bring them to one with gnomon.reshard")
  return _fitting(name, [_merge_all(name, specs, avals)], avals, outs, params)


def _fitting(name: str, specs: Any, avals: Any, outs: Any, params: Any) -> Any:
  """Results of other sizes than the operand, which are divided as it is."""
  sizes = params["mesh_sizes"]
  for d, (e, n) in enumerate(zip(specs[0], outs[0].shape)):
    parts = math.prod(sizes[a] for a in axes_of(e))
    if n % parts:
      raise ShardingTypeError(
          f"{name}: dimension {d} of the result, of size {n}, cannot be divided into "
          f"{parts} parts as that of the operand {avals[0]} is. Bring the operand "
          "together along it with gnomon.reshard")
  return [specs[0]] * len(outs)


def _whole_where_cut(
    name: str, specs: Any, avals: Any, outs: Any, params: Any) -> Any:
  """A part is written at places that are not known: the other dimensions stay divided."""
  for d, (e, n, m) in enumerate(zip(specs[0], avals[0].shape, avals[1].shape)):
    if e is not None and n != m:
      raise ShardingTypeError(
          f"{name} cuts dimension {d} of {avals[0]}, which is divided. Bring it together "
          "along it with gnomon.reshard")
  return [specs[0]]


def _reshape(name: str, specs: Any, avals: Any, outs: Any, params: Any) -> Any:
  """Dimensions are merged or split; sizes of 1 come and go."""
  found: list[Any] = []
  for old, new in _groups(avals[0].shape, outs[0].shape):
    entries = [specs[0][d] for d in old if len(old) == 1 or avals[0].shape[d] != 1]
    sizes = [outs[0].shape[d] for d in new]
    if len(old) == len(new) == 1:
      found += entries
    else:
      found += _regrouped(entries, sizes, params["mesh_sizes"], avals[0], outs[0])
  return [tuple(found)]


def _groups(old: Any, new: Any) -> Iterator[tuple[list[int], list[int]]]:
  """Dimensions of two shapes that have the same elements, as few as can be."""
  i = j = 0
  while i < len(old) or j < len(new):
    left, right = list(range(i, min(i + 1, len(old)))), list(
        range(j, min(j + 1, len(new))))
    i, j = i + len(left), j + len(right)
    while True:
      a, b = math.prod(old[d] for d in left), math.prod(new[d] for d in right)
      if a < b and i < len(old):
        left.append(i)
        i += 1
      elif b < a and j < len(new):
        right.append(j)
        j += 1
      else:
        break
    yield left, right


def _regrouped(
    entries: list[Any], new: list[int], sizes: Any, aval: Any, out: Any) -> list[Any]:
  """Entries for dimensions that stand in place of others."""
  axes = [a for e in entries for a in axes_of(e)]
  found: list[list[Any]] = [[] for _ in new]
  k, rest = 0, list(new)
  prefix = entries[:sum(e is not None for e in entries)]
  wide = sum(n != 1 for n in new)
  fits = None not in prefix and (len(entries) == 1 or wide <= 1)
  for a in axes:
    while k < len(rest) - 1 and rest[k] == 1:
      k += 1
    fits = fits and bool(rest) and rest[k] % sizes[a] == 0
    if fits:
      found[k].append(a)
      rest[k] //= sizes[a]
  if axes and not fits:
    raise ShardingTypeError(
        f"this reshape is not supported, of {aval} to the shape {out.shape}: it would "
        "mix the parts. Say how the result is divided with out_sharding, or bring the "
        "operand together with gnomon.reshard")
  return [tuple(x) or None for x in found]


def _dot(name: str, specs: Any, avals: Any, outs: Any, params: Any) -> Any:
  (left, right), (left_batch, right_batch) = params["dimension_numbers"]
  x, y = specs
  if params.get("asked") is None:
    both = [(x[i], y[j]) for i, j in zip(left, right)]
    if any(a is not None and b is not None for a, b in both):
      raise ShardingTypeError(
          "Contracting dimensions are sharded and it is ambiguous how the output should "
          f"be sharded: {', '.join(f'{a} and {b}' for a, b in both)}. Say it with the "
          "`out_sharding` parameter")
  batch = [
      _merged(name, (x[i], y[j]), f"{x[i]} and {y[j]} of a batch dimension")
      for i, j in zip(left_batch, right_batch)]
  own = [e for d, e in enumerate(x) if d not in left and d not in left_batch]
  other = [e for d, e in enumerate(y) if d not in right and d not in right_batch]
  return [(*batch, *own, *other)]


def _convolution(name: str, specs: Any, avals: Any, outs: Any, params: Any) -> Any:
  left, right, out = params["dimension_numbers"]
  free = ({left[0]}, {right[0]})  # the batch of one operand, the features of the other
  for spec, aval, kept in zip(specs, avals, free):
    for d, e in enumerate(spec):
      if e is not None and d not in kept:
        raise ShardingTypeError(
            f"{name} sums along dimension {d} of {aval}, or looks at neighbours there: "
            "it must not be divided. Bring it together with gnomon.reshard")
  found = [None] * outs[0].ndim
  found[out[0]], found[out[1]] = specs[0][left[0]], specs[1][right[0]]
  return [tuple(found)]


def _window(name: str, specs: Any, avals: Any, outs: Any, params: Any) -> Any:
  for d, (e, n) in enumerate(zip(specs[0], params["window_dimensions"])):
    if e is not None and (n != 1 or outs[0].shape[d] != avals[0].shape[d]):
      raise ShardingTypeError(
          f"{name} has windows along dimension {d} of {avals[0]}, which must not be "
          "divided then. Bring it together with gnomon.reshard")
  return [specs[0]]


def _gather(name: str, specs: Any, avals: Any, outs: Any, params: Any) -> Any:
  numbers, cut = params["dimension_numbers"], params["slice_sizes"]
  for d, (e, n, m) in enumerate(zip(specs[0], avals[0].shape, cut)):
    if e is not None and n != m and d not in numbers.operand_batching_dims:
      raise ShardingTypeError(
          f"{name} reads at places along dimension {d} of {avals[0]}, which is divided. "
          "Say how the result is divided with `.at[...].get(out_sharding=...)`, or bring "
          "the operand together with gnomon.reshard")
  gone = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
  window = iter([e for d, e in enumerate(specs[0]) if d not in gone])
  batch = iter(specs[1][:-1])
  return [tuple([
      next(window) if d in numbers.offset_dims else next(batch)
      for d in range(outs[0].ndim)])]


def _scatter(name: str, specs: Any, avals: Any, outs: Any, params: Any) -> Any:
  numbers = params["dimension_numbers"]
  for d in numbers.scatter_dims_to_operand_dims:
    if specs[0][d] is not None:
      raise ShardingTypeError(
          f"{name} writes at places along dimension {d} of {avals[0]}, which is divided. "
          "Bring the operand together with gnomon.reshard")
  return [specs[0]]


def _bits(name: str, specs: Any, avals: Any, outs: Any, params: Any) -> Any:
  n, m = avals[0].ndim, outs[0].ndim
  return [(*specs[0][:min(n, m)], *[None] * (m - n))]


def _stack(name: str, specs: Any, avals: Any, outs: Any, params: Any) -> Any:
  found = list(_merge_all(name, specs, avals))
  found.insert(params["axis"], None)
  return [tuple(found)]


def _unstack(name: str, specs: Any, avals: Any, outs: Any, params: Any) -> Any:
  (spec,) = _along("axis")(name, specs, avals, outs[:1], params)
  d = params["axis"]
  return [(*spec[:d], *spec[d + 1:])] * len(outs)


def _nothing(name: str, specs: Any, avals: Any, outs: Any, params: Any) -> Any:
  return [(None,) * o.ndim for o in outs]


_BY_NAME: dict[str, Rule] = {
    "broadcast_in_dim": _broadcast, "transpose": _transpose, "squeeze": _squeeze,
    "reshape": _reshape, "dot_general": _dot, "concatenate": _concatenate,
    "gather": _gather, "slice": _fitting, "pad": _fitting, "rev": _same,
    "dynamic_slice": _fitting, "dynamic_update_slice": _whole_where_cut,
    "split": _along("axis"), "top_k": _along("axis"), "sort": _along("dimension"),
    "bitcast_convert_type": _bits, "stack": _stack, "unstack": _unstack,
    "optimization_barrier": _same, "select_n": elementwise, "clamp": elementwise,
    "sharding_constraint": _same, "iota": _nothing, "empty": _nothing,
    **dict.fromkeys(
        ("reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_and",
         "reduce_or", "reduce_xor", "argmax", "argmin", "reduce"), _reduce),
    **dict.fromkeys(
        ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"), _along("axis")),
    "conv_general_dilated": _convolution,
    **dict.fromkeys(
        ("reduce_window_sum", "reduce_window_max", "reduce_window_min"), _window),
    **dict.fromkeys(
        ("scatter", "scatter-add", "scatter-sub", "scatter-mul", "scatter-min",
         "scatter-max"), _scatter)}


def rule_of(primitive: Any, is_elementwise: bool) -> Rule | None:
  """The rule of an operation, if it has one."""
  return elementwise if is_elementwise else _BY_NAME.get(primitive.name)
