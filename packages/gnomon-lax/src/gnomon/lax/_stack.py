"""Joining arrays along a new axis, and taking them apart; choosing, repeating like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core.derive import linear
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, jvp_rule, lower, transpose_rule, typing_rule
from gnomon.core.structural import broadcast_to, instantiate, select_n
from gnomon.core.types import ShapedArray, physical_aval, typeof
from gnomon.core.zero import UndefinedPrimal, Zero
from gnomon.lax._creation import sizes
from gnomon.lax._shape import axis_of, same_dim

Values = Sequence[Any]


def select(pred: Any, on_true: Any, on_false: Any) -> Any:
  """Chooses elements: of `on_true` where `pred` is true, else of `on_false`.

  Args:
    pred: an array of bools, of the shape of the others, or a scalar.
    on_true: an array.
    on_false: an array of the same shape and dtype.

  >>> from gnomon import lax
  >>> float(lax.select(True, 1.0, 2.0))
  1.0

  Raises:
    TypeError: shapes or dtypes differ, or `pred` is not of bools.
  """
  return select_n(pred, on_false, on_true)


def broadcast_like(arr: Any, like_arr: Any) -> Any:
  """Repeats an array to the shape of another, by NumPy's rule.

  Args:
    arr: an array.
    like_arr: an array of the wanted shape; the shapes are aligned at their ends.

  >>> from gnomon import lax
  >>> lax.broadcast_like(lax.iota("int32", 3), lax.full((2, 3), 0.0)).shape
  (2, 3)

  Raises:
    ValueError: the shapes do not fit.
  """
  have, want = typeof(arr).shape, typeof(like_arr).shape
  if len(have) > len(want):
    raise ValueError(
        f"broadcast_like cannot repeat an array of shape {have} to the shape {want}, of "
        "fewer dimensions")
  return broadcast_to(arr, want)


def shape_as_value(shape: Sequence[int]) -> Any:
  """A shape as an array of integers.

  >>> from gnomon import lax
  >>> lax.shape_as_value((2, 3)).tolist()
  [2, 3]

  Raises:
    TypeError: `shape` is no sequence of integers that are not negative.
  """
  return np.asarray(sizes(shape, "shape_as_value"), np.int32)


# ---- stack


def stack(operands: Any, axis: int = 0) -> Any:
  """Joins arrays along a new axis.

  Args:
    operands: a sequence of arrays of one shape and dtype.
    axis: the place of the axis in the result; negative ones count from its end.

  >>> from gnomon import lax
  >>> lax.stack([lax.iota("int32", 2), lax.full((2,), 7)], 1).tolist()
  [[0, 7], [1, 7]]

  Raises:
    TypeError: shapes or dtypes differ.
    ValueError: there are no operands, or `axis` is out of bounds.
  """
  xs = list(operands)
  if not xs:
    raise ValueError("stack needs at least one array, got an empty sequence")
  return stack_p.apply(*xs, axis=axis_of(axis, typeof(xs[0]).ndim + 1, "stack"))[0]


stack_p = Primitive("stack")


def _grown(x: ShapedArray, n: int, axis: int) -> ShapedArray:
  return x.update(shape=(*x.shape[:axis], n, *x.shape[axis:]))


@typing_rule.define(stack_p)
def _(*xs: ShapedArray, axis: int) -> tuple[ShapedArray]:
  first = xs[0]
  for i, x in enumerate(xs):
    if x.shape != first.shape or x.dtype != first.dtype:
      raise TypeError(
          f"stack needs arrays of one shape and dtype: the first is {first}, that at {i} "
          f"is {x}")
  weak = all(x.weak_type for x in xs)
  return (_grown(first, len(xs), axis).update(weak_type=weak),)


@lower.define(stack_p)
def _(ctx: Any, *xs: Any, axis: int) -> Values:
  b = ctx.b
  apart = _grown(ctx.avals_in[0], 1, axis)
  parts = [b.reshape(x, apart) for x in xs]
  if len(parts) == 1:
    return parts
  return [b.op1(
      "stablehlo.concatenate", b.tensor(ctx.avals_out[0]), parts,
      {"dimension": b.i64(axis)})]


@jvp_rule.define(stack_p)
def _(primals: Values, tangents: Values, *, axis: int) -> tuple[Values, Values]:
  outs = stack_p.apply(*primals, axis=axis)
  if all(type(t) is Zero for t in tangents):
    return outs, (Zero(typeof(outs[0]).to_tangent_aval()),)
  return outs, stack_p.apply(*map(instantiate, tangents), axis=axis)


@transpose_rule.define(stack_p)
def _(cts: Values, args: Values, *, axis: int) -> list[Any]:
  if type(cts[0]) is Zero:
    return [Zero(x.aval) if type(x) is UndefinedPrimal else None for x in args]
  parts = unstack_p.apply(cts[0], axis=axis)
  return [p if type(x) is UndefinedPrimal else None for p, x in zip(parts, args)]


@batch_rule.define(stack_p)
def _(axis_: Any, args: Values, dims: Values, *, axis: int) -> tuple[Values, Values]:
  xs, d = same_dim(axis_, args, dims)
  # the new axis stands before the mapped one, or after it
  before = axis <= d
  return stack_p.apply(*xs, axis=axis if before else axis + 1), (d + before,)


# ---- unstack


def unstack(x: Any, axis: int = 0) -> tuple[Any, ...]:
  """The slices of an array along an axis, without it.

  Args:
    x: an array.
    axis: which; negative ones count from the end.

  >>> from gnomon import lax
  >>> [int(x) for x in lax.unstack(lax.iota("int32", 3))]
  [0, 1, 2]

  Raises:
    ValueError: there is no such axis.
  """
  return tuple(unstack_p.apply(x, axis=axis_of(axis, typeof(x).ndim, "unstack")))


unstack_p = Primitive("unstack")


@typing_rule.define(unstack_p)
def _(x: ShapedArray, *, axis: int) -> tuple[ShapedArray, ...]:
  part = x.update(shape=(*x.shape[:axis], *x.shape[axis + 1:]))
  return (part,) * x.shape[axis]


@lower.define(unstack_p)
def _(ctx: Any, x: Any, *, axis: int) -> Values:
  b, whole = ctx.b, ctx.avals_in[0]
  words = physical_aval(whole)
  row = whole.update(
      shape=tuple(1 if d == axis else n for d, n in enumerate(whole.shape)))
  ones, out = b.i64s((1,) * words.ndim), []
  for i, aval in enumerate(ctx.avals_out):
    start = [i if d == axis else 0 for d in range(words.ndim)]
    limit = [i + 1 if d == axis else n for d, n in enumerate(words.shape)]
    out.append(b.reshape(b.op1("stablehlo.slice", b.tensor(row), (x,), {
        "start_indices": b.i64s(start), "limit_indices": b.i64s(limit),
        "strides": ones}), aval))
  return out


linear(unstack_p, lambda cts, args, axis: stack_p.apply(
    *map(instantiate, cts), axis=axis))


@batch_rule.define(unstack_p)
def _(axis_: Any, args: Values, dims: Values, *, axis: int) -> tuple[Values, Values]:
  d = dims[0]
  moved = axis + (d <= axis)
  outs = unstack_p.apply(args[0], axis=moved)
  return outs, (d - (moved < d),) * len(outs)
