"""Reductions: products, extrema, bits, places of extrema."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import index as as_int
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.derive import defjvp, no_derivative, slice_p
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, lower, typing_rule
from gnomon.core.structural import (
  broadcast_in_dim,
  convert,
  full,
  reduce_sum,
  reshape,
  select_n,
  transpose,
  zeros_like_aval,
)
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import Zero
from gnomon.lax import _order
from gnomon.lax._arithmetic import add, mul
from gnomon.lax._bitwise import bitwise_or
from gnomon.lax._comparison import eq, ne
from gnomon.lax._creation import iota_p
from gnomon.lax._families import ANY, INT_OR_BOOL, NUMBER, REAL_OR_BOOL, check_dtype
from gnomon.lax._programs import lower_as
from gnomon.lax._shape import concatenate, ints
from gnomon.lax._strong import over, times

Axes = tuple[int, ...]
Values = Sequence[Any]


# ---- what reductions share


def check_axes(name: str, axes: Axes, x: ShapedArray) -> None:
  """Raises `ValueError` unless the axes are distinct dimensions, counted from 0."""
  if any(not 0 <= a < x.ndim for a in axes):
    raise ValueError(
        f"{name}: the axes {axes} must be between 0 and {x.ndim - 1}, for {x}")
  if len(set(axes)) != len(axes):
    raise ValueError(f"{name}: duplicate value in 'axes' of reduction: {axes}")


def dropped(x: ShapedArray, axes: Axes) -> tuple[int, ...]:
  """The shape without some axes."""
  return tuple(n for d, n in enumerate(x.shape) if d not in axes)


def shift_axes(axes: Axes, d: int) -> tuple[Axes, int]:
  """Axes beside a mapped dimension, and the dimension's place in the result."""
  moved = tuple(a + (a >= d) for a in axes)
  return moved, d - sum(a < d for a in moved)


def greatest(dtype: Any) -> Any:
  """What no element exceeds: infinity, the greatest integer, True."""
  if dtype == np.bool_:
    return True
  if dtypes.issubdtype(dtype, np.integer):
    return dtypes.iinfo(dtype).max
  if dtypes.issubdtype(dtype, np.complexfloating):
    return complex(np.inf, np.inf)
  return np.inf if dtypes.supports_inf(dtype) else dtypes.finfo(dtype).max


def least(dtype: Any) -> Any:
  """What no element falls below: minus infinity, the least integer, False."""
  if dtype == np.bool_:
    return False
  if dtypes.issubdtype(dtype, np.integer):
    return dtypes.iinfo(dtype).min
  if dtypes.issubdtype(dtype, np.complexfloating):
    return complex(-np.inf, -np.inf)
  return -np.inf if dtypes.supports_inf(dtype) else dtypes.finfo(dtype).min


def extremum(op: str) -> Callable[..., Any]:
  """Emits the larger or the smaller of two scalars (or arrays) of type `aval`.

  Complex numbers are ordered by their real parts, then by their imaginary parts.
  """
  direction = "GT" if op == "maximum" else "LT"

  def emit(b: Any, x: Any, y: Any, aval: ShapedArray) -> Any:
    if not dtypes.issubdtype(aval.dtype, np.complexfloating):
      return b.op1(f"stablehlo.{op}", b.tensor(aval), (x, y))
    part = ShapedArray(aval.shape, np.finfo(aval.dtype).dtype)
    rx, ry, ix, iy = (
        b.op1(f"stablehlo.{name}", b.tensor(part), (z,))
        for name in ("real", "imag") for z in (x, y))
    flag = b.tensor_of(aval.shape, np.dtype(bool))
    by_real, by_imag = (b.compare(direction, p, q, part) for p, q in ((rx, ry), (ix, iy)))
    same = b.compare("EQ", rx, ry, part)
    first = b.op1("stablehlo.select", flag, (same, by_imag, by_real))
    return b.op1("stablehlo.select", b.tensor(aval), (first, x, y))

  return emit


def operation(op: str) -> Callable[..., Any]:
  """Emits a StableHLO operation of two operands of type `aval`."""
  return lambda b, x, y, aval: b.op1(f"stablehlo.{op}", b.tensor(aval), (x, y))


def _reduction(
    name: str, kinds: tuple[type, ...], combine: Callable[..., Any],
    start: Callable[[Any], Any]) -> Primitive:
  """A reduction over `axes` without its derivative."""
  p = Primitive(name)

  @typing_rule.define(p)
  def _(x: ShapedArray, *, axes: Axes) -> tuple[ShapedArray]:
    check_dtype(name, x, kinds)
    check_axes(name, axes, x)
    return (x.update(shape=dropped(x, axes)),)

  @lower.define(p)
  def _(ctx: Any, x: Any, *, axes: Axes) -> Values:
    b, (source,), (out,) = ctx.b, ctx.avals_in, ctx.avals_out
    one = ShapedArray((), source.dtype)
    op = b.region_op(
        "stablehlo.reduce", [b.tensor(out)], (x, b.constant(start(one.dtype), one.dtype)),
        {"dimensions": b.i64s(axes)},
        [((b.tensor(one),) * 2, lambda u, v: [combine(b, u, v, one)])])
    return [op.result]

  @batch_rule.define(p)
  def _(axis: Any, args: Values, dims: Values, *, axes: Axes) -> tuple[Values, Values]:
    moved, d = shift_axes(axes, dims[0])
    return p.apply(args[0], axes=moved), (d,)

  return p


# ---- extrema


def reduce_max(operand: Any, axes: Sequence[int]) -> Any:
  """The largest element along axes; nan if there is one.

  Of bools, whether any is true. Complex numbers compare by real part, then by imaginary
  part. Of no elements, minus infinity (or the least integer). Elements that attain the
  maximum share its derivative in equal parts.

  Args:
    operand: an array.
    axes: the axes to reduce, counted from 0.

  >>> from gnomon import lax
  >>> int(lax.reduce_max(lax.iota("int32", 3), (0,)))
  2

  Raises:
    ValueError: an axis is repeated or does not exist.
  """
  return reduce_max_p.apply(operand, axes=ints(axes))[0]


def reduce_min(operand: Any, axes: Sequence[int]) -> Any:
  """The smallest element along axes; nan if there is one.

  Of bools, whether all are true. Complex numbers compare by real part, then by imaginary
  part. Of no elements, infinity (or the greatest integer). Elements that attain the
  minimum share its derivative in equal parts.

  Args:
    operand: an array.
    axes: the axes to reduce, counted from 0.

  >>> from gnomon import lax
  >>> int(lax.reduce_min(lax.iota("int32", 3), (0,)))
  0

  Raises:
    ValueError: an axis is repeated or does not exist.
  """
  return reduce_min_p.apply(operand, axes=ints(axes))[0]


def _mean_of_ties(t: Any, ans: Any, x: Any, *, axes: Axes) -> Any:
  """The mean of the tangents of the elements that attain the extremum."""
  out = typeof(x)
  kept = tuple(d for d in range(out.ndim) if d not in axes)
  chosen = eq(x, broadcast_in_dim(ans, out.shape, kept))
  zero = zeros_like_aval(out)
  count = reduce_sum(convert(chosen, out.dtype), axes)
  return over(reduce_sum(select_n(chosen, zero, t), axes), count)


reduce_max_p = _reduction("reduce_max", ANY, extremum("maximum"), least)
reduce_min_p = _reduction("reduce_min", ANY, extremum("minimum"), greatest)
defjvp(reduce_max_p, _mean_of_ties)
defjvp(reduce_min_p, _mean_of_ties)


# ---- products


def reduce_prod(operand: Any, axes: Sequence[int]) -> Any:
  """The product of the elements along axes; of no elements, 1.

  Args:
    operand: an array of numbers (not bool).
    axes: the axes to reduce, counted from 0.

  >>> from gnomon import lax
  >>> float(lax.reduce_prod(lax.full((3,), 2.0), (0,)))
  8.0

  Raises:
    TypeError: the operand is bool.
    ValueError: an axis is repeated or does not exist.
  """
  return reduce_prod_p.apply(operand, axes=ints(axes))[0]


reduce_prod_p = _reduction("reduce_prod", NUMBER, operation("multiply"), lambda dtype: 1)


def tree_reduce(
    combine: Callable[[list[Any], list[Any]], list[Any]], xs: list[Any]) -> list[Any]:
  """Combines neighbours along axis 0 until one entry is left; there must be one."""
  n = typeof(xs[0]).shape[0]
  while n > 1:
    pairs = n - n % 2
    merged = combine(
        [_rows(x, 0, pairs, 2) for x in xs], [_rows(x, 1, pairs, 2) for x in xs])
    if n % 2:
      merged = [
          concatenate([m, _rows(x, n - 1, n, 1)], 0) for m, x in zip(merged, xs)]
    xs, n = merged, n - pairs // 2
  return xs


def _rows(x: Any, start: int, stop: int, step: int) -> Any:
  shape = typeof(x).shape
  others = (1,) * (len(shape) - 1)
  return slice_p.apply(
      x, start_indices=(start, *(0,) * (len(shape) - 1)),
      limit_indices=(stop, *shape[1:]), strides=(step, *others))[0]


def axes_first(x: Any, axes: Axes) -> Any:
  """Moves axes to the front and makes one of them."""
  shape = typeof(x).shape
  kept = tuple(d for d in range(len(shape)) if d not in axes)
  count = math.prod(shape[a] for a in axes)
  return reshape(transpose(x, (*axes, *kept)), (count, *(shape[d] for d in kept)))


def _prod_derivative(t: Any, ans: Any, x: Any, *, axes: Axes) -> Any:
  """Products of values with tangents, in a tree: right where elements are zero, too."""
  if typeof(x).size == 0 or not axes:
    return t if not axes else Zero(typeof(ans))

  def combine(left: list[Any], right: list[Any]) -> list[Any]:
    (x, tx), (y, ty) = left, right
    return [mul(x, y), add(times(tx, y), times(ty, x))]

  _, tangent = tree_reduce(combine, [axes_first(x, axes), axes_first(t, axes)])
  return reshape(tangent, typeof(ans).shape)


defjvp(reduce_prod_p, _prod_derivative)


# ---- bits


def reduce_and(operand: Any, axes: Sequence[int]) -> Any:
  """The bitwise and of the elements along axes; of bools, whether all are true.

  Args:
    operand: an array of integers or bools.
    axes: the axes to reduce, counted from 0.

  >>> from gnomon import lax
  >>> int(lax.reduce_and(lax.full((2,), 6), (0,)))
  6

  Raises:
    TypeError: the operand is neither of integers nor of bools.
    ValueError: an axis is repeated or does not exist.
  """
  return reduce_and_p.apply(operand, axes=ints(axes))[0]


def reduce_or(operand: Any, axes: Sequence[int]) -> Any:
  """The bitwise or of the elements along axes; of bools, whether any is true.

  Args:
    operand: an array of integers or bools.
    axes: the axes to reduce, counted from 0.

  >>> from gnomon import lax
  >>> int(lax.reduce_or(lax.iota("int32", 3), (0,)))
  3

  Raises:
    TypeError: the operand is neither of integers nor of bools.
    ValueError: an axis is repeated or does not exist.
  """
  return reduce_or_p.apply(operand, axes=ints(axes))[0]


def reduce_xor(operand: Any, axes: Sequence[int]) -> Any:
  """The bitwise exclusive or of the elements along axes; of bools, the parity.

  Args:
    operand: an array of integers or bools.
    axes: the axes to reduce, counted from 0.

  >>> from gnomon import lax
  >>> int(lax.reduce_xor(lax.iota("int32", 4), (0,)))
  0

  Raises:
    TypeError: the operand is neither of integers nor of bools.
    ValueError: an axis is repeated or does not exist.
  """
  return reduce_xor_p.apply(operand, axes=ints(axes))[0]


def all_bits(dtype: Any) -> Any:
  """The identity of `and`."""
  if dtype == np.bool_:
    return True
  return -1 if dtypes.issubdtype(dtype, np.signedinteger) else dtypes.iinfo(dtype).max


reduce_and_p = _reduction("reduce_and", INT_OR_BOOL, operation("and"), all_bits)
reduce_or_p = _reduction("reduce_or", INT_OR_BOOL, operation("or"), lambda dtype: 0)
reduce_xor_p = _reduction("reduce_xor", INT_OR_BOOL, operation("xor"), lambda dtype: 0)
for _p in (reduce_and_p, reduce_or_p, reduce_xor_p):
  no_derivative(_p)


# ---- places of extrema


def argmax(operand: Any, axis: int, index_dtype: Any) -> Any:
  """The index of the largest element along an axis: of the first of several.

  A nan counts as larger than everything.

  Args:
    operand: an array of real numbers or bools.
    axis: the axis, counted from 0, which has elements.
    index_dtype: the integer dtype of the result.

  >>> from gnomon import lax
  >>> int(lax.argmax(lax.iota("int32", 3), 0, "int32"))
  2

  Raises:
    TypeError: the operand is complex, or `index_dtype` is no integer dtype.
    ValueError: the axis does not exist or has no elements.
  """
  return argmax_p.apply(operand, axes=(as_int(axis),), index_dtype=_index(index_dtype))[0]


def argmin(operand: Any, axis: int, index_dtype: Any) -> Any:
  """The index of the smallest element along an axis: of the first of several.

  A nan counts as smaller than everything.

  Args:
    operand: an array of real numbers or bools.
    axis: the axis, counted from 0, which has elements.
    index_dtype: the integer dtype of the result.

  >>> from gnomon import lax
  >>> int(lax.argmin(lax.iota("int32", 3), 0, "int32"))
  0

  Raises:
    TypeError: the operand is complex, or `index_dtype` is no integer dtype.
    ValueError: the axis does not exist or has no elements.
  """
  return argmin_p.apply(operand, axes=(as_int(axis),), index_dtype=_index(index_dtype))[0]


def _index(dtype: Any) -> Any:
  return dtypes.canonicalize_dtype(dtype)


def _first_extreme(name: str, best: Primitive, nan_last: bool) -> Primitive:
  """`argmax` or `argmin`: the extremum, then the first place where it is attained."""
  p = Primitive(name)

  @typing_rule.define(p)
  def _(x: ShapedArray, *, axes: Axes, index_dtype: Any) -> tuple[ShapedArray]:
    check_dtype(name, x, REAL_OR_BOOL)
    if not dtypes.issubdtype(index_dtype, np.integer):
      raise TypeError(
          f"{name}: index_dtype must be an integer type, but got {index_dtype}")
    if not 0 <= axes[0] < x.ndim:
      raise ValueError(f"{name}: Invalid axis {axes[0]} for operand of type {x}")
    if x.shape[axes[0]] == 0:
      raise ValueError(
          f"argmin and argmax require non-empty reduced dimension: in {name}, axis "
          f"{axes[0]} of {x} has no elements")
    return (ShapedArray(dropped(x, axes), index_dtype),)

  def program(x: Any, *, axes: Axes, index_dtype: Any) -> list[Any]:
    shape, axis = typeof(x).shape, axes[0]
    wide = np.dtype("int32" if shape[axis] < 2 ** 31 else "int64")
    if _order.has_keys(typeof(x).dtype):
      x = _order.keys(x, nan_last=nan_last)
    kept = tuple(d for d in range(len(shape)) if d != axis)
    chosen = eq(x, broadcast_in_dim(best.apply(x, axes=axes)[0], shape, kept))
    if dtypes.issubdtype(typeof(x).dtype, np.floating):  # small floats have no keys
      chosen = bitwise_or(chosen, ne(x, x))
    places = iota_p.apply(dtype=wide, shape=shape, dimension=axis, sharding=None)[0]
    beyond = full(shape, shape[axis], wide)
    first = reduce_min_p.apply(select_n(chosen, beyond, places), axes=axes)[0]
    return [convert(first, index_dtype)]

  lower_as(p, program)
  no_derivative(p)

  @batch_rule.define(p)
  def _(axis: Any, args: Values, dims: Values, *, axes: Axes,
        index_dtype: Any) -> tuple[Values, Values]:
    moved, d = shift_axes(axes, dims[0])
    return p.apply(args[0], axes=moved, index_dtype=index_dtype), (d,)

  return p


argmax_p = _first_extreme("argmax", reduce_max_p, True)
argmin_p = _first_extreme("argmin", reduce_min_p, False)
