"""Static slices."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as as_int
from typing import Any

import numpy as np

from gnomon.core.derive import linear, slice_p
from gnomon.core.rule import batch_rule, lower, typing_rule
from gnomon.core.structural import squeeze
from gnomon.core.types import ShapedArray, typeof
from gnomon.lax._shape import pad

Values = Sequence[Any]
Dims = tuple[int, ...]


def slice(
    operand: Any, start_indices: Sequence[int], limit_indices: Sequence[int],
    strides: Sequence[int] | None = None) -> Any:
  """Takes from each dimension the elements `start, start + stride, …` below `limit`.

  Args:
    operand: an array of any dtype.
    start_indices: the first index in each dimension, not negative.
    limit_indices: in each dimension the end (exclusive), at most its size.
    strides: the steps, at least 1; None for steps of 1.

  Returns:
    An array of the operand's dtype and rank, of `ceil((limit - start) / stride)` elements
    in each dimension.

  Raises:
    TypeError: a sequence is not as long as the operand has dimensions, or not
      `0 <= start <= limit <= size`, or a stride is less than 1.

  >>> from gnomon import lax
  >>> lax.slice(lax.iota("int32", 9), [1], [8], [3]).shape
  (3,)
  """
  return slice_p.apply(
      operand, start_indices=_ints(start_indices), limit_indices=_ints(limit_indices),
      strides=None if strides is None else _ints(strides))[0]


def _ints(xs: Sequence[int]) -> Dims:
  return tuple([as_int(x) for x in xs])


@typing_rule.define(slice_p)
def _(x: ShapedArray, *, start_indices: Dims, limit_indices: Dims,
      strides: Dims | None) -> tuple[ShapedArray]:
  steps = (1,) * x.ndim if strides is None else strides
  for name, given in (
      ("start_indices", start_indices), ("limit_indices", limit_indices),
      ("strides", steps)):
    if len(given) != x.ndim:
      raise TypeError(
          f"slice needs one entry of {name} a dimension of the operand: got {given} for "
          f"the operand shape {x.shape}")
  shape = []
  for d, (n, start, limit, step) in enumerate(
      zip(x.shape, start_indices, limit_indices, steps)):
    if not 0 <= start <= limit <= n:
      raise TypeError(
          f"slice needs 0 <= start <= limit <= size in each dimension: got start {start} "
          f"and limit {limit} in dimension {d} of the operand shape {x.shape}")
    if step < 1:
      raise TypeError(f"slice needs strides of at least 1, got {strides}")
    shape.append(-((start - limit) // step))
  return (ShapedArray(tuple(shape), x.dtype, x.weak_type),)


@lower.define(slice_p)
def _(ctx: Any, x: Any, *, start_indices: Dims, limit_indices: Dims,
      strides: Dims | None) -> Values:
  b, out = ctx.b, ctx.avals_out[0]
  tail: Dims = out.dtype.physical_shape if b.key_dims(out) else ()
  return [b.op1("stablehlo.slice", b.tensor(out), (x,), {
      "start_indices": b.i64s((*start_indices, *[0] * len(tail))),
      "limit_indices": b.i64s((*limit_indices, *tail)),
      "strides": b.i64s((*(strides or [1] * out.ndim), *[1] * len(tail)))})]


def _transpose(
    cts: Values, args: Values, *, start_indices: Dims, limit_indices: Dims,
    strides: Dims | None) -> list[Any]:
  ct, shape = cts[0], args[0].aval.shape
  config = []
  for n, size, start, step in zip(
      shape, typeof(ct).shape, start_indices, strides or (1,) * len(shape)):
    reach = start + (size - 1) * step + 1 if size else start
    config.append((start, n - reach, step - 1))
  return [pad(ct, np.zeros((), typeof(ct).dtype)[()], tuple(config))]


linear(slice_p, _transpose)


@batch_rule.define(slice_p)
def _(axis: Any, args: Values, dims: Values, *, start_indices: Dims, limit_indices: Dims,
      strides: Dims | None) -> tuple[Values, Values]:
  d = dims[0]

  def insert(xs: Dims, x: int) -> Dims:
    return (*xs[:d], x, *xs[d:])

  out = slice_p.apply(
      args[0], start_indices=insert(start_indices, 0),
      limit_indices=insert(limit_indices, axis.size),
      strides=None if strides is None else insert(strides, 1))
  return out, (d,)


def axis_within(op: str, axis: int, x: ShapedArray) -> int:
  """An axis that may count from the end, as one that counts from the start."""
  axis = as_int(axis)
  if not -x.ndim <= axis < x.ndim:
    raise ValueError(
        f"{op}: axis {axis} is out of range for an operand of {x.ndim} dimensions, of "
        f"shape {x.shape}")
  return axis + x.ndim if axis < 0 else axis


def slice_in_dim(
    operand: Any, start_index: int | None, limit_index: int | None, stride: int = 1,
    axis: int = 0) -> Any:
  """Slices one dimension: `operand[start_index:limit_index:stride]` along `axis`.

  Indices may count from the end; None is the start or the end.

  Raises:
    ValueError: `axis` is out of range.
    TypeError: the indices are out of range, or `stride` is less than 1.

  >>> from gnomon import lax
  >>> lax.slice_in_dim(lax.iota("int32", 9), -3, None).shape
  (3,)
  """
  x = typeof(operand)
  axis = axis_within("slice_in_dim", axis, x)
  n = x.shape[axis]
  start = 0 if start_index is None else as_int(start_index)
  limit = n if limit_index is None else as_int(limit_index)
  starts, limits, strides = [0] * x.ndim, list(x.shape), [1] * x.ndim
  starts[axis] = start + n if start < 0 else start
  limits[axis] = limit + n if limit < 0 else limit
  strides[axis] = as_int(stride)
  return slice(operand, starts, limits, strides)


def index_in_dim(operand: Any, index: int, axis: int = 0, keepdims: bool = True) -> Any:
  """The slice at `index` along `axis`, which stays, of size 1, or goes (`keepdims`).

  `index` may count from the end.

  Raises:
    ValueError: `axis` is out of range.
    IndexError: `index` is out of range.

  >>> from gnomon import lax
  >>> int(lax.index_in_dim(lax.iota("int32", 9), -1, keepdims=False))
  8
  """
  x = typeof(operand)
  axis = axis_within("index_in_dim", axis, x)
  index, n = as_int(index), x.shape[axis]
  if not -n <= index < n:
    raise IndexError(
        f"index_in_dim: index {index} is out of range for axis {axis} of size {n} of an "
        f"operand of shape {x.shape}")
  index %= n
  found = slice_in_dim(operand, index, index + 1, 1, axis)
  return found if keepdims else squeeze(found, (axis,))
