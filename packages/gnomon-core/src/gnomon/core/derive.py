"""Rules derived from properties: linear, elementwise, one derivative an operand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, jvp_rule, transpose_rule
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import Zero

Derivative = Callable[..., Any]

# What derived rules bind themselves; their own rules stand in `structural`.
add_any_p = Primitive("add_any")
broadcast_in_dim_p = Primitive("broadcast_in_dim")
reduce_sum_p = Primitive("reduce_sum")
slice_p = Primitive("slice")  # Jacobians cut with it; its rules stand in lax
transpose_p = Primitive("transpose")


def broadcast(x: Any, shape: tuple[int, ...], dims: tuple[int, ...]) -> Any:
  """`broadcast_in_dim` without checks."""
  return broadcast_in_dim_p.apply(
      x, shape=shape, broadcast_dimensions=dims, sharding=None)[0]


def expand(x: Any, size: int, axis: int = 0) -> Any:
  """Repeats `x` along a new axis."""
  s = typeof(x).shape
  return broadcast(
      x, (*s[:axis], size, *s[axis:]), tuple(i + (i >= axis) for i in range(len(s))))


def linear(p: Primitive, transpose: Callable[..., Sequence[Any]]) -> None:
  """A primitive of one operand that is linear: its own derivative, and its transpose."""

  @jvp_rule.define(p)
  def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    outs = p.apply(*primals, **params)
    if type(tangents[0]) is Zero:
      return outs, [Zero(typeof(o).to_tangent_aval()) for o in outs]
    return outs, p.apply(*tangents, **params)

  transpose_rule.define(p)(transpose)


def defjvp(
    p: Primitive, *rules: Derivative | None, elementwise: bool = False,
    shared: Callable[..., Any] | None = None) -> None:
  """The derivative of a primitive with one result, one function an operand.

  `rule(t, ans, *primals, **params)` maps the operand's tangent to its part of the
  result's; None says that the derivative in that operand is zero. The rules of an
  elementwise primitive see operands of the result's shape, or scalars: sizes of 1 are
  broadcast before. What several rules need, `shared(ans, *primals, **params)` computes
  once; they get it in place of `ans`.
  """

  @jvp_rule.define(p)
  def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    outs = p.apply(*primals, **params)
    ans = outs[0]
    out: ShapedArray = ans.aval  # what `bind` gives is an array or a tracer
    total: Any = None
    if out.to_tangent_aval() is out:
      shape = out.shape
      if elementwise and len(primals) > 1 and shape:
        for x in primals:
          own = typeof(x).shape
          if own != shape and own:  # sizes of 1 among the operands: rules need not know
            primals = [grow(x, shape) for x in primals]
            tangents = [t if type(t) is Zero else grow(t, shape) for t in tangents]
            break
      if shared is not None:
        ans = shared(ans, *primals, **params)
      for rule, t in zip(rules, tangents):
        if rule is not None and type(t) is not Zero:
          part = rule(t, ans, *primals, **params)
          if type(part) is Zero:
            continue
          if typeof(part).shape != shape:
            part = broadcast(part, shape, ())
          total = part if total is None else add_any_p.apply(total, part)[0]
    return outs, (Zero(out.to_tangent_aval()) if total is None else total,)


def no_derivative(p: Primitive) -> None:
  """A primitive whose derivative is zero everywhere: comparisons, roundings, integers."""

  @jvp_rule.define(p)
  def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    outs = p.apply(*primals, **params)
    return outs, [Zero(typeof(o).to_tangent_aval()) for o in outs]


def grow(x: Any, shape: tuple[int, ...]) -> Any:
  """An operand of an elementwise operation in the result's shape; a scalar stays one."""
  own = typeof(x).shape
  return broadcast(x, shape, tuple(range(len(own)))) if own and own != shape else x


def unbroadcast(ct: Any, aval: Any) -> Any:
  """The cotangent of an operand that may have been a scalar or have had sizes of 1."""
  if type(ct) is Zero:
    return Zero(aval)
  shape = typeof(ct).shape
  if shape == aval.shape:
    return ct
  kept = tuple(d for d, n in enumerate(aval.shape) if n == shape[d])
  axes = tuple(d for d in range(len(shape)) if d not in kept)
  ct = reduce_sum_p.apply(ct, axes=axes, out_sharding=None)[0]
  return ct if not aval.shape else broadcast(ct, aval.shape, kept)


def move(x: Any, source: int, destination: int) -> Any:
  """Moves one dimension."""
  if source == destination:
    return x
  n = typeof(x).ndim
  order = [d for d in range(n) if d != source]
  order.insert(destination, source)
  return transpose_p.apply(x, permutation=tuple(order))[0]


elementwise: set[Primitive] = set()  # operands of one shape, scalars among them


def elementwise_batch(p: Primitive) -> None:
  """The batching rule of operands of one shape, scalars among them."""
  elementwise.add(p)

  @batch_rule.define(p)
  def _(axis: Any, args: Sequence[Any], dims: Sequence[Any], **params: Any) -> Any:
    if len(args) == 1:
      outs = p.apply(*args, **params)
      return outs, [dims[0]] * len(outs)
    aligned, d = align(axis, args, dims)
    outs = p.apply(*aligned, **params)
    return outs, [d] * len(outs)


def align(axis: Any, args: Sequence[Any], dims: Sequence[Any]) -> tuple[list[Any], int]:
  """Brings operands of an elementwise operation to one mapped dimension."""
  ranks = [typeof(x).ndim - (d is not None) for x, d in zip(args, dims)]
  rank = max(ranks)
  mapped = {d for d, r in zip(dims, ranks) if d is not None and (r or not rank)}
  plain = all((d is not None and r == rank) or (d is None and not r)
              for d, r in zip(dims, ranks))
  if plain and len(mapped) == 1:
    return list(args), mapped.pop()
  out: list[Any] = []
  for x, d, r in zip(args, dims, ranks):
    if d is None:
      out.append(expand(x, axis.size) if r else x)
      continue
    x = move(x, d, 0)
    if r < rank:  # a scalar that is mapped now stands beside arrays
      full = next(a for a, q in zip(args, ranks) if q == rank)
      fd = dims[ranks.index(rank)]
      inner = [n for i, n in enumerate(typeof(full).shape) if i != fd]
      x = broadcast(x, (axis.size, *inner), (0,))
    out.append(x)
  return out, 0
