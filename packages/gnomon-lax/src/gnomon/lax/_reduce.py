"""`reduce`: a reduction with any associative function."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.derive import reduce_sum_p
from gnomon.core.jaxpr import ClosedJaxpr, eval_jaxpr
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, jvp_rule, lower, typing_rule
from gnomon.core.stage import has_tracers, trace_to_closed
from gnomon.core.structural import broadcast_in_dim, convert, instantiate, reshape
from gnomon.core.trace import Tracer
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import Zero
from gnomon.lax._arithmetic import add_p, max_p, min_p, mul_p
from gnomon.lax._bitwise import and_p, or_p, xor_p
from gnomon.lax._control.common import trace_body
from gnomon.lax._reduction import (
  all_bits,
  axes_first,
  check_axes,
  dropped,
  greatest,
  least,
  reduce_and_p,
  reduce_max_p,
  reduce_min_p,
  reduce_or_p,
  reduce_prod_p,
  reduce_xor_p,
  shift_axes,
  tree_reduce,
)
from gnomon.lax._shape import ints, same_dim
from gnomon.transform.jvp import jvp_jaxpr
from gnomon.transform.vmap import Axis, batch_jaxpr, to_dim
from gnomon.tree_util import tree_flatten, tree_unflatten

Axes = tuple[int, ...]
Values = Sequence[Any]


def reduce(
    operands: Any, init_values: Any, computation: Callable[[Any, Any], Any],
    dimensions: Sequence[int], out_sharding: Any = None) -> Any:
  """Combines the elements along dimensions with a function of two scalars.

  Sums, products, extrema and the like are recognised, and computed as by `reduce_sum` and
  its kin.

  Args:
    operands: an array, or a pytree of arrays of one shape.
    init_values: the scalars to begin with, in the same structure: an identity of the
      computation. It may enter several times or not at all.
    computation: an associative function of two pytrees of scalars.
    dimensions: the dimensions to reduce, counted from 0; if there are none, the result is
      the operand.
    out_sharding: how the result is laid out over devices; None without a mesh.

  >>> from gnomon import lax
  >>> int(lax.reduce(lax.iota("int32", 5), 0, lax.add, (0,)))
  10

  Raises:
    TypeError: shapes of operands differ, or the computation returns other types.
    ValueError: structures differ, an initial value is not a scalar, or a dimension is
      repeated or does not exist.
    NotImplementedError: the computation depends on other traced values.
  """
  xs, tree = tree_flatten(operands)
  inits, init_tree = tree_flatten(init_values)
  if tree != init_tree:
    raise ValueError(
        "reduce: Operands must have the same tree structure as init_values, got "
        f"{tree} and {init_tree}")
  if not xs:
    raise ValueError("reduce needs at least one operand")
  inits = [initial_value("reduce", x, v) for x, v in zip(xs, inits)]
  axes = ints(dimensions)
  scalars = [
      ShapedArray((), typeof(x).dtype, typeof(x).weak_type and typeof(v).weak_type)
      for x, v in zip(xs, inits)]
  jaxpr = scalar_program("reduce", computation, tree, scalars)
  if not axes:  # nothing is combined, not even the initial values
    return tree_unflatten(
        tree, [convert(x, a.dtype, a.weak_type) for x, a in zip(xs, scalars)])
  if len(xs) == 1:
    known = _known_reduction(jaxpr, xs[0], inits[0], axes)
    if known is not None:
      return tree_unflatten(tree, [known])
  outs = reduce_p.apply(*xs, *inits, jaxpr=jaxpr, dimensions=axes)
  return tree_unflatten(tree, outs)


def initial_value(name: str, x: Any, init: Any) -> Any:
  """An initial value, Python numbers in the dtype of the operand."""
  aval, own = typeof(x), typeof(init)
  if own.shape:
    raise ValueError(f"{name} found non-scalar initial value: got {own}")
  if type(init) in (bool, int, float, complex):
    weak = aval.weak_type and own.dtype == aval.dtype
    if type(init) is float and math.isinf(init) and aval.dtype.kind in "iu":
      limits = dtypes.iinfo(aval.dtype)  # infinities stand for the identities of max, min
      init = int(limits.max if init > 0 else limits.min)
    return init if weak else np.asarray(init).astype(aval.dtype)[()]
  if own.dtype != aval.dtype:
    raise TypeError(
        f"{name} needs init_values of the dtypes of the operands: got {own} for {aval}")
  return init


def scalar_program(
    name: str, computation: Any, tree: Any, scalars: list[ShapedArray]) -> ClosedJaxpr:
  """The computation as a jaxpr of two times the scalars."""
  n = len(scalars)
  _, in_tree = tree_flatten(((tree_unflatten(tree, [0] * n),) * 2, {}))
  body = trace_body(computation, name, in_tree, scalars * 2)
  if has_tracers(body.consts):
    raise NotImplementedError(
        f"the computation of {name} may depend on its arguments only: it closes over a "
        "traced value, which is not supported")
  got = [a.strip_weak_type() for a in body.out_avals]
  if body.out_tree != tree:
    raise ValueError(
        f"{name} output must have the same tree structure as the operands: the "
        f"computation returned {body.out_tree}, for {tree}")
  if got != [a.strip_weak_type() for a in scalars]:
    raise TypeError(
        f"the computation of {name} must return what it is given, scalars of types "
        f"{', '.join(map(str, scalars))}: it returned {', '.join(map(str, got))}")
  jaxpr, consts = body.jaxpr, body.consts
  weak = [a.weak_type for a in body.out_avals]
  if not consts and weak == [a.weak_type for a in scalars]:
    return jaxpr
  return trace_to_closed(
      lambda *xs: [
          convert(o, a.dtype, a.weak_type)
          for o, a in zip(eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *consts, *xs), scalars)],
      scalars * 2)


_KNOWN: dict[Primitive | None, tuple[Primitive, Callable[[Any], Any]]] = {
    add_p: (reduce_sum_p, lambda dtype: 0), mul_p: (reduce_prod_p, lambda dtype: 1),
    max_p: (reduce_max_p, least), min_p: (reduce_min_p, greatest),
    or_p: (reduce_or_p, lambda dtype: 0), and_p: (reduce_and_p, all_bits),
    xor_p: (reduce_xor_p, lambda dtype: 0)}


def only_operation(jaxpr: ClosedJaxpr) -> Primitive | None:
  """The primitive that a program of two scalars applies to them, if it does only that."""
  eqns, invars = jaxpr.jaxpr.eqns, jaxpr.jaxpr.invars
  if len(eqns) != 1 or len(invars) != 2 or set(eqns[0].invars) != set(invars):
    return None
  if jaxpr.jaxpr.outvars != eqns[0].outvars:
    return None
  if any(v is not None for v in eqns[0].params.values()):
    return None
  return eqns[0].primitive


def _known_reduction(jaxpr: ClosedJaxpr, x: Any, init: Any, axes: Axes) -> Any:
  """The result of a reduction with a primitive of its own, or None."""
  known = _KNOWN.get(only_operation(jaxpr))
  if known is None or isinstance(init, Tracer):
    return None
  p, start = known
  dtype = typeof(x).dtype
  if np.asarray(init) != np.asarray(start(dtype)).astype(dtype):
    return None
  params: dict[str, Any] = {"out_sharding": None} if p is reduce_sum_p else {}
  return p.apply(x, axes=axes, **params)[0]


reduce_p = Primitive("reduce", call=True)


@typing_rule.define(reduce_p)
def _(*avals: ShapedArray, jaxpr: ClosedJaxpr,
      dimensions: Axes) -> tuple[ShapedArray, ...]:
  n = len(avals) // 2
  first = avals[0]
  for x in avals[:n]:
    if x.shape != first.shape:
      raise TypeError(f"reduce needs operands of one shape, got {first} and {x}")
  check_axes("reduce", dimensions, first)
  shape = dropped(first, dimensions)
  return tuple(a.update(shape=shape) for a in jaxpr.out_avals)


@lower.define(reduce_p)
def _(ctx: Any, *values: Any, jaxpr: ClosedJaxpr, dimensions: Axes) -> Values:
  b = ctx.b
  scalars = [b.tensor(a) for a in jaxpr.in_avals]
  op = b.region_op(
      "stablehlo.reduce", [b.tensor(a) for a in ctx.avals_out], values,
      {"dimensions": b.i64s(dimensions)},
      [(scalars, lambda *xs: ctx.inline(jaxpr, xs))])
  return list(op.results)


def in_tree(
    jaxpr: ClosedJaxpr, axes: Axes, xs: Values, starts: Values, ts: Values,
    t_starts: Values) -> list[Any]:
  """Reduces in a tree; returns values, then the tangents of those that have any.

  `starts` are initial values in the shape of the result, so that here everything may be
  mapped or differentiated, which `reduce_p` itself does not allow.
  """
  kept = dropped(typeof(xs[0]), axes)
  moves = tuple(
      bool(ts) and dtypes.issubdtype(typeof(x).dtype, np.inexact) for x in xs)
  n, width = len(xs), _size(kept)

  def moving(values: Values) -> list[Any]:
    return [instantiate(t) for t, m in zip(values, moves) if m]

  def combine(left: list[Any], right: list[Any]) -> list[Any]:
    shape = typeof(left[0]).shape
    size = (_size(shape),)
    mapped, _ = batch_jaxpr(jaxpr, Axis(*size), (0,) * (2 * n), (0,) * n)
    both, _ = jvp_jaxpr(mapped, moves + moves, moves) if any(moves) else (mapped, moves)
    left, right = [[reshape(x, size) for x in side] for side in (left, right)]
    args = [*left[:n], *right[:n], *left[n:], *right[n:]]
    return [reshape(o, shape) for o in eval_jaxpr(both.jaxpr, both.consts, *args)]

  rows = [axes_first(x, axes) for x in (*xs, *moving(ts))]
  count = typeof(rows[0]).shape[0]
  outs = [reshape(x, (1, width)) for x in (*starts, *moving(t_starts))]
  if count and width:
    outs = combine(outs, tree_reduce(combine, [reshape(x, (count, width)) for x in rows]))
  return [reshape(o, kept) for o in outs]


def _size(shape: tuple[int, ...]) -> int:
  return int(np.prod(shape))


@jvp_rule.define(reduce_p)
def _(primals: Values, tangents: Values, *, jaxpr: ClosedJaxpr,
      dimensions: Axes) -> tuple[Values, Values]:
  n = len(primals) // 2
  outs = reduce_p.apply(*primals, jaxpr=jaxpr, dimensions=dimensions)
  shape = typeof(outs[0]).shape
  starts = [broadcast_in_dim(v, shape, ()) for v in primals[n:]]
  t_starts = [
      Zero(typeof(o)) if type(t) is Zero else broadcast_in_dim(t, shape, ())
      for t, o in zip(tangents[n:], outs)]
  both = in_tree(jaxpr, dimensions, primals[:n], starts, tangents[:n], t_starts)
  moving = iter(both[n:])
  return outs, [
      next(moving) if dtypes.issubdtype(typeof(o).dtype, np.inexact)
      else Zero(typeof(o).to_tangent_aval()) for o in outs]


@batch_rule.define(reduce_p)
def _(axis: Any, args: Values, dims: Values, *, jaxpr: ClosedJaxpr,
      dimensions: Axes) -> tuple[Values, Values]:
  n = len(args) // 2
  xs, inits, places = args[:n], args[n:], dims[n:]
  if all(d is None for d in places):
    xs, d = same_dim(axis, xs, dims[:n])
    axes, at = shift_axes(dimensions, d)
    return reduce_p.apply(*xs, *inits, jaxpr=jaxpr, dimensions=axes), (at,) * n
  xs = [to_dim(x, d, 0, axis.size) for x, d in zip(xs, dims[:n])]
  axes, _ = shift_axes(dimensions, 0)
  shape = dropped(typeof(xs[0]), axes)
  starts = [
      broadcast_in_dim(v, shape, () if d is None else (0,))
      for v, d in zip(inits, places)]
  return in_tree(jaxpr, axes, xs, starts, (), ()), (0,) * n
