"""Rules of vectorisation, and helpers that make them.

`primitive_batchers[p] = rule` enters `rule(args, dims, **params)`, which returns the
result and its mapped dimension; a dimension is None for what is not mapped. With several
results there are lists of both. `fancy_primitive_batchers[p]` holds rules that also see
the axis: `rule(axis_data, args, dims, **params)`; those of operations with a parameter
`axis_name` or `axes` that names the axis are asked even if no operand is mapped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gnomon.core.derive import align, broadcast_in_dim_p, expand, move
from gnomon.core.primitive import Primitive
from gnomon.core.rule import axis_rule, batch_rule
from gnomon.core.trace import get_current
from gnomon.core.types import typeof
from gnomon.interpreters._views import View, packed, unpacked
from gnomon.transform import vmappable
from gnomon.transform.vmap import Axis

__all__ = [
    "axis_primitive_batchers", "bdim_at_front", "broadcast", "defbroadcasting",
    "defreducer", "defvectorized", "fancy_primitive_batchers", "not_mapped",
    "primitive_batchers", "register_vmappable", "unregister_vmappable"]

Rule = Callable[..., Any]
not_mapped = None


def _packed_dims(p: Primitive, dims: Any) -> Sequence[Any]:
  return list(dims) if p.multiple_results else [dims]


def _unpacked(p: Primitive, found: Any) -> Any:
  outs, dims = found
  return unpacked(p, outs), unpacked(p, list(dims))


def _size(args: Sequence[Any], dims: Sequence[Any]) -> int:
  for x, d in zip(args, dims, strict=True):
    if d is not None:
      return typeof(x).shape[d]  # type: ignore[no-any-return]
  raise ValueError("a batching rule needs an operand that is mapped; all dims are None")


def _inward(p: Primitive, rule: Rule) -> Rule:
  def inner(axis: Any, args: Any, dims: Any, **params: Any) -> Any:
    out, out_dims = rule(tuple(args), tuple(dims), **params)
    return packed(p, out), _packed_dims(p, out_dims)

  return inner


def _outward(p: Primitive, rule: Rule) -> Rule:
  def outer(args: Sequence[Any], dims: Sequence[Any], **params: Any) -> Any:
    return _unpacked(p, rule(Axis(_size(args, dims)), list(args), list(dims), **params))

  return outer


def _fancy_inward(p: Primitive, rule: Rule) -> Rule:
  def inner(axis: Any, args: Any, dims: Any, **params: Any) -> Any:
    out, out_dims = rule(axis, tuple(args), tuple(dims), **params)
    return packed(p, out), _packed_dims(p, out_dims)

  return inner


def _fancy_outward(p: Primitive, rule: Rule) -> Rule:
  def outer(axis_data: Any, args: Any, dims: Any, **params: Any) -> Any:
    return _unpacked(p, rule(axis_data, list(args), list(dims), **params))

  return outer


def _axis_inward(p: Primitive, rule: Rule) -> Rule:
  return _fancy_inward(
      p, lambda axis, args, dims, **params: rule(
          axis.size, axis.name, None, args, dims, **params))


def _axis_outward(p: Primitive, rule: Rule) -> Rule:
  outer = _fancy_outward(p, rule)
  return lambda size, name, _, args, dims, **params: outer(
      Axis(size, name), args, dims, **params)


primitive_batchers = View("primitive_batchers", (batch_rule,), _inward, _outward)
fancy_primitive_batchers = View(
    "fancy_primitive_batchers", (axis_rule, batch_rule), _fancy_inward, _fancy_outward)
# Rules `(axis_size, axis_name, None, args, dims, **params)`, the older form of those.
axis_primitive_batchers = View(
    "axis_primitive_batchers", (axis_rule, batch_rule), _axis_inward, _axis_outward)


# ---- makers of rules


def _apply(p: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Sequence[Any]:
  return get_current().process(p, list(args), params)


def defvectorized(prim: Primitive) -> None:
  """An operation that acts elementwise: its operands are mapped along one dimension.

  Operands that are not mapped, or along another dimension, are brought to it.
  """
  def rule(axis: Any, args: Sequence[Any], dims: Sequence[Any], **params: Any) -> Any:
    d = next(d for d in dims if d is not None)
    outs = _apply(prim, [
        expand(x, axis.size, d) if b is None else move(x, b, d)
        for x, b in zip(args, dims, strict=True)], params)
    return outs, [d] * len(outs)

  batch_rule.replace(prim, rule)


def defbroadcasting(prim: Primitive) -> None:
  """An elementwise operation whose operands may be scalars beside arrays."""
  def rule(axis: Any, args: Sequence[Any], dims: Sequence[Any], **params: Any) -> Any:
    aligned, d = align(axis, args, dims)
    outs = _apply(prim, aligned, params)
    return outs, [d] * len(outs)

  batch_rule.replace(prim, rule)


def defreducer(prim: Primitive) -> None:
  """A reduction of one operand over the dimensions in its parameter `axes`."""
  def rule(
      axis: Any, args: Sequence[Any], dims: Sequence[Any], *, axes: Sequence[int],
      **params: Any) -> Any:
    del axis
    (x,), (d,) = args, dims
    moved = tuple(a + (a >= d) for a in axes)
    outs = _apply(prim, [x], {**params, "axes": moved})
    return outs, [d - sum(a < d for a in moved)] * len(outs)

  batch_rule.replace(prim, rule)


# ---- moving the mapped dimension


def broadcast(x: Any, sz: int, axis: int, mesh_axis: Any) -> Any:
  """Repeats `x` along a new axis.

  >>> import numpy
  >>> from gnomon.interpreters import batching
  >>> batching.broadcast(numpy.ones(2), 3, 1, None).shape
  (2, 3)
  """
  del mesh_axis
  shape = list(typeof(x).shape)
  if axis < 0:
    axis += len(shape) + 1
  shape.insert(axis, sz)
  return broadcast_in_dim_p.apply(
      x, shape=tuple(shape), sharding=None, broadcast_dimensions=tuple(
          i + (i >= axis) for i in range(len(shape) - 1)))[0]


def bdim_at_front(x: Any, bdim: int | None, size: int, mesh_axis: Any = None) -> Any:
  """The value with its mapped dimension in front, repeated if it is not mapped.

  >>> import numpy
  >>> from gnomon.interpreters import batching
  >>> batching.bdim_at_front(numpy.ones((2, 3)), 1, 3).shape
  (3, 2)
  """
  return broadcast(x, size, 0, mesh_axis) if bdim is None else move(x, bdim, 0)


# ---- types that are mapped in a way of their own

register_vmappable = vmappable.register
unregister_vmappable = vmappable.unregister
