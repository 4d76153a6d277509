"""Moving elements: repeating, joining, cutting apart, padding, reversing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index as as_int
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.derive import linear, slice_p
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, jvp_rule, lower, transpose_rule, typing_rule
from gnomon.core.structural import (
  broadcast_in_dim,
  full,
  instantiate,
  reduce_sum,
  reshape,
  select_n,
  zeros_like_aval,
)
from gnomon.core.types import ShapedArray, physical_aval, typeof
from gnomon.core.zero import UndefinedPrimal, Zero
from gnomon.lax._creation import sizes
from gnomon.transform.vmap import to_dim

Shape = tuple[int, ...]
Padding = tuple[tuple[int, int, int], ...]
Values = Sequence[Any]


def ints(xs: Any) -> Shape:
  """Integers given by the user as a tuple of Python integers."""
  return tuple([as_int(x) for x in xs])


def axis_of(axis: Any, ndim: int, name: str) -> int:
  """A dimension given by the user, negative ones from the end, as one from the start.

  Raises:
    ValueError: there is no such dimension.
  """
  axis = as_int(axis)
  if not -ndim <= axis < ndim:
    raise ValueError(
        f"{name}: the axis {axis} is out of bounds for an array of {ndim} dimensions")
  return int(axis % ndim)


def same_dim(axis: Any, args: Values, dims: Values) -> tuple[list[Any], int]:
  """Operands of one rank, all mapped along one and the same dimension."""
  d = next(d for d in dims if d is not None)
  return [to_dim(x, at, d, axis.size) for x, at in zip(args, dims)], d


# ---- broadcasting


def broadcast(operand: Any, sizes: Sequence[int], *, out_sharding: Any = None) -> Any:
  """Repeats an array along new leading dimensions.

  Args:
    operand: an array.
    sizes: the sizes of the new dimensions.
    out_sharding: how the result is laid out over devices; None without a mesh.

  >>> from gnomon import lax
  >>> lax.broadcast(lax.iota("int32", 3), (2,)).shape
  (2, 3)

  Raises:
    ValueError: a size is negative.
  """
  shape, lead = typeof(operand).shape, ints(sizes)
  n = len(lead)
  kept = tuple(range(n, n + len(shape)))
  return broadcast_in_dim(operand, (*lead, *shape), kept, out_sharding=out_sharding)


def broadcast_shapes(*shapes: Sequence[int]) -> Shape:
  """The shape that arrays of these shapes have together, by NumPy's rule.

  Shapes are aligned at their ends; sizes must be equal, or 1.

  >>> from gnomon import lax
  >>> lax.broadcast_shapes((2, 1), (3,))
  (2, 3)

  Raises:
    ValueError: sizes differ and none of them is 1.
  """
  given = [ints(s) for s in shapes]
  rank = max(map(len, given), default=0)
  out = []
  for column in zip(*((1,) * (rank - len(s)) + s for s in given)):
    wide = {n for n in column if n != 1}
    if len(wide) > 1:
      raise ValueError(
          f"Incompatible shapes for broadcasting: {', '.join(map(str, given))}. Aligned "
          "at their ends, sizes must be equal, or 1")
    out.append(wide.pop() if wide else 1)
  return tuple(out)


def broadcast_to_rank(x: Any, rank: int) -> Any:
  """Adds leading dimensions of size 1 until an array has `rank` dimensions.

  >>> from gnomon import lax
  >>> lax.broadcast_to_rank(lax.iota("int32", 3), 3).shape
  (1, 1, 3)

  An array of at least so many dimensions stays as it is.
  """
  return expand_dims(x, range(max(rank - typeof(x).ndim, 0)))


def expand_dims(array: Any, dimensions: Sequence[int]) -> Any:
  """Inserts dimensions of size 1.

  Args:
    array: an array.
    dimensions: where they stand in the result; negative ones count from its end.

  >>> from gnomon import lax
  >>> lax.expand_dims(lax.iota("int32", 3), (0, -1)).shape
  (1, 3, 1)

  Raises:
    ValueError: a dimension is repeated or not in the result.
  """
  dimensions = ints(dimensions)
  x = typeof(array)
  rank = x.ndim + len(dimensions)
  new = {axis_of(d, rank, "expand_dims") for d in dimensions}
  if len(new) < len(dimensions):
    raise ValueError(f"expand_dims: repeated dimensions in {dimensions}")
  old = tuple(d for d in range(rank) if d not in new)
  it = iter(x.shape)
  return broadcast_in_dim(
      array, tuple(1 if d in new else next(it) for d in range(rank)), old)


def collapse(
    operand: Any, start_dimension: int, stop_dimension: int | None = None) -> Any:
  """Merges the dimensions `start_dimension` to `stop_dimension` (exclusive) into one.

  Args:
    operand: an array.
    start_dimension: the first; negative ones count from the end.
    stop_dimension: the end, exclusive; None for all that follow.

  >>> from gnomon import lax
  >>> lax.collapse(lax.full((2, 3, 4), 0.0), 1).shape
  (2, 12)

  Raises:
    ValueError: the range is empty the wrong way round.
  """
  shape = typeof(operand).shape
  low, high, _ = slice(start_dimension, stop_dimension).indices(len(shape))
  if low > high:
    raise ValueError(
        f"collapse: the dimensions {start_dimension} to {stop_dimension} of the shape "
        f"{shape} are no range")
  return reshape(operand, (*shape[:low], math.prod(shape[low:high]), *shape[high:]))


# ---- concatenate


def concatenate(operands: Any, dimension: int) -> Any:
  """Joins arrays along a dimension.

  Args:
    operands: a sequence of arrays of one dtype; their shapes differ at most in
      `dimension`.
    dimension: where, counted from 0.

  >>> from gnomon import lax
  >>> lax.concatenate([lax.iota("int32", 2), lax.iota("int32", 3)], 0).tolist()
  [0, 1, 0, 1, 2]

  Raises:
    TypeError: dtypes, ranks or sizes differ, or there is no such dimension.
    ValueError: there are no operands.
  """
  xs = list(operands)
  if not xs:
    raise ValueError("concatenate needs at least one array, got an empty sequence")
  return concatenate_p.apply(*xs, dimension=as_int(dimension))[0]


concatenate_p = Primitive("concatenate")


@typing_rule.define(concatenate_p)
def _(*xs: ShapedArray, dimension: int) -> tuple[ShapedArray]:
  first = xs[0]
  listed = ", ".join(str(x) for x in xs[:8])
  if any(x.ndim != first.ndim for x in xs):
    raise TypeError(f"concatenate needs arrays of one rank, got {listed}")
  if not 0 <= dimension < first.ndim:
    raise TypeError(
        f"concatenate: dimension {dimension} is out of bounds for {listed}; negative "
        "ones are not understood")
  if any(x.dtype != first.dtype for x in xs):
    raise TypeError(
        f"lax.concatenate requires arguments to have the same dtypes, got {listed}. "
        "(gnomon.numpy.concatenate promotes them)")
  rest = first.shape[:dimension] + first.shape[dimension + 1:]
  if any(x.shape[:dimension] + x.shape[dimension + 1:] != rest for x in xs):
    raise TypeError(
        f"concatenate along dimension {dimension} needs sizes that are equal in all "
        f"other dimensions, got {listed}")
  total = sum(x.shape[dimension] for x in xs)
  shape = (*first.shape[:dimension], total, *first.shape[dimension + 1:])
  return (ShapedArray(shape, first.dtype, all(x.weak_type for x in xs)),)


@lower.define(concatenate_p)
def _(ctx: Any, *xs: Any, dimension: int) -> Values:
  if len(xs) == 1:
    return xs
  return [ctx.b.op1(
      "stablehlo.concatenate", ctx.b.tensor(ctx.avals_out[0]), xs,
      {"dimension": ctx.b.i64(dimension)})]


@jvp_rule.define(concatenate_p)
def _(primals: Values, tangents: Values, *, dimension: int) -> tuple[Values, Values]:
  outs = concatenate_p.apply(*primals, dimension=dimension)
  if all(type(t) is Zero for t in tangents):
    return outs, (Zero(typeof(outs[0]).to_tangent_aval()),)
  return outs, concatenate_p.apply(*map(instantiate, tangents), dimension=dimension)


@transpose_rule.define(concatenate_p)
def _(cts: Values, args: Values, *, dimension: int) -> list[Any]:
  avals: list[Any] = [x.aval if type(x) is UndefinedPrimal else typeof(x) for x in args]
  parts = pieces(cts[0], [a.shape[dimension] for a in avals], dimension)
  return [
      p if type(x) is UndefinedPrimal else None for p, x in zip(parts, args)]


def pieces(x: Any, lengths: Sequence[int], axis: int) -> list[Any]:
  """Cuts an array (or a zero) into slices along an axis."""
  aval: Any = x.aval if type(x) is Zero else typeof(x)
  shape, at, out = aval.shape, 0, []
  for n in lengths:
    if type(x) is Zero:
      out.append(Zero(aval.update(shape=(*shape[:axis], n, *shape[axis + 1:]))))
    else:
      start = tuple(at if d == axis else 0 for d in range(len(shape)))
      limit = tuple(at + n if d == axis else m for d, m in enumerate(shape))
      out.append(slice_p.apply(
          x, start_indices=start, limit_indices=limit, strides=None)[0])
    at += n
  return out


@batch_rule.define(concatenate_p)
def _(axis: Any, args: Values, dims: Values, *, dimension: int) -> tuple[Values, Values]:
  xs, d = same_dim(axis, args, dims)
  return concatenate_p.apply(*xs, dimension=dimension + (d <= dimension)), (d,)


# ---- split


def split(operand: Any, sizes: Sequence[int], axis: int = 0) -> Sequence[Any]:
  """Cuts an array into pieces along an axis.

  Args:
    operand: an array.
    sizes: the sizes of the pieces; their sum is the size of the axis.
    axis: where; negative ones count from the end.

  Returns:
    A list of arrays.

  >>> from gnomon import lax
  >>> [x.tolist() for x in lax.split(lax.iota("int32", 3), (1, 2))]
  [[0], [1, 2]]

  Raises:
    ValueError: a size is negative, their sum is another, or there is no such axis.
  """
  axis = axis_of(axis, typeof(operand).ndim, "split")
  return list(split_p.apply(operand, sizes=ints(sizes), axis=axis))


split_p = Primitive("split")


@typing_rule.define(split_p)
def _(x: ShapedArray, *, sizes: Shape, axis: int) -> tuple[ShapedArray, ...]:
  if any(n < 0 for n in sizes):
    raise ValueError(f"Sizes passed to split must be nonnegative, got {sizes}")
  if sum(sizes) != x.shape[axis]:
    raise ValueError(
        f"split: Sum of sizes {sum(sizes)} must be equal to the size of axis {axis}, got "
        f"{sizes} for the shape {x.shape}, which has {x.shape[axis]}")
  return tuple(
      ShapedArray((*x.shape[:axis], n, *x.shape[axis + 1:]), x.dtype, x.weak_type)
      for n in sizes)


@lower.define(split_p)
def _(ctx: Any, x: Any, *, sizes: Shape, axis: int) -> Values:
  b, out, at = ctx.b, [], 0
  shape = physical_aval(ctx.avals_in[0]).shape
  for n, aval in zip(sizes, ctx.avals_out):
    start = [at if d == axis else 0 for d in range(len(shape))]
    limit = [at + n if d == axis else m for d, m in enumerate(shape)]
    out.append(b.op1("stablehlo.slice", b.tensor(aval), (x,), {
        "start_indices": b.i64s(start), "limit_indices": b.i64s(limit),
        "strides": b.i64s([1] * len(shape))}))
    at += n
  return out


def _transpose_split(cts: Values, args: Values, *, sizes: Shape, axis: int) -> list[Any]:
  return [concatenate_p.apply(*map(instantiate, cts), dimension=axis)[0]]


linear(split_p, _transpose_split)


@batch_rule.define(split_p)
def _(axis_: Any, args: Values, dims: Values, *, sizes: Shape,
      axis: int) -> tuple[Values, Values]:
  d = dims[0]
  outs = split_p.apply(args[0], sizes=sizes, axis=axis + (d <= axis))
  return outs, (d,) * len(sizes)


# ---- pad


def pad(operand: Any, padding_value: Any, padding_config: Any) -> Any:
  """Puts copies of a value around and between the elements of an array.

  Args:
    operand: an array.
    padding_value: a scalar of the same dtype.
    padding_config: for each dimension `(low, high, interior)`: how many go before the
      first element, after the last one, and between neighbours. Negative `low` and `high`
      cut elements off instead.

  >>> from gnomon import lax
  >>> lax.pad(lax.iota("int32", 3), 9, [(1, -1, 1)]).tolist()
  [9, 0, 9, 1, 9]

  Raises:
    TypeError: the dtypes differ.
    ValueError: `padding_value` is no scalar, there is not one entry a dimension, or a
      resulting size is negative.
  """
  config = tuple(ints(c) for c in padding_config)
  x = typeof(operand)
  if type(padding_value) in (int, float, bool, complex) and isinstance(x.dtype, np.dtype):
    value = typeof(padding_value)
    if value.dtype != x.dtype and dtypes.promote_types(value.dtype, x.dtype) == x.dtype:
      padding_value = np.asarray(padding_value, x.dtype)[()]
  return pad_p.apply(operand, padding_value, padding_config=config)[0]


pad_p = Primitive("pad")


@typing_rule.define(pad_p)
def _(
    x: ShapedArray, value: ShapedArray, *, padding_config: Padding,
) -> tuple[ShapedArray]:
  if x.dtype != value.dtype:
    raise TypeError(
        f"pad needs an operand and a padding value of one dtype, got {x} and {value}")
  if value.shape:
    raise ValueError(f"pad: padding_value must be a scalar, got {value}")
  if len(padding_config) != x.ndim or any(len(c) != 3 for c in padding_config):
    raise ValueError(
        "pad needs one (low, high, interior) a dimension of the operand as "
        f"padding_config: got {padding_config} for the shape {x.shape}")
  if any(c[2] < 0 for c in padding_config):
    raise ValueError(
        "pad: interior padding in padding_config must be nonnegative, got "
        f"{padding_config}")
  shape = tuple(
      low + high + (n + max(n - 1, 0) * inner)
      for n, (low, high, inner) in zip(x.shape, padding_config))
  if any(n < 0 for n in shape):
    raise ValueError(
        f"pad: Dimension size after padding is not at least 0: {padding_config} cuts off "
        f"more than the shape {x.shape} has, and would give the shape {shape}")
  return (ShapedArray(shape, x.dtype, x.weak_type and value.weak_type),)


def emit_pad(b: Any, x: Any, value: Any, out: ShapedArray, config: Padding) -> Any:
  """`stablehlo.pad` to a type without trailing physical dimensions."""
  low, high, interior = zip(*config) if config else ((), (), ())
  return b.op1("stablehlo.pad", b.tensor(out), (x, value), {
      "edge_padding_low": b.i64s(low), "edge_padding_high": b.i64s(high),
      "interior_padding": b.i64s(interior)})


@lower.define(pad_p)
def _(ctx: Any, x: Any, value: Any, *, padding_config: Padding) -> Values:
  b, out = ctx.b, ctx.avals_out[0]
  tail = b.key_dims(out)
  if not tail:
    return [emit_pad(b, x, value, out, padding_config)]
  # the padding of a key is not one number: pad with zeros, then choose
  words, flags = physical_aval(out), ShapedArray(out.shape, np.dtype(bool))
  config = (*padding_config, *((0, 0, 0),) * tail)
  zero = b.constant(0, words.dtype)
  padded = emit_pad(b, x, zero, words, config)
  inside = emit_pad(
      b, b.full(ShapedArray(ctx.avals_in[0].shape, flags.dtype), True),
      b.constant(False, flags.dtype), flags, padding_config)
  rank = len(out.shape)
  filled = b.broadcast_in_dim(value, words, range(rank, rank + tail))
  return [b.select_n(inside, (filled, padded), flags, out)]


@jvp_rule.define(pad_p)
def _(
    primals: Values, tangents: Values, *, padding_config: Padding,
) -> tuple[Values, Values]:
  outs = pad_p.apply(*primals, padding_config=padding_config)
  if all(type(t) is Zero for t in tangents):
    return outs, (Zero(typeof(outs[0]).to_tangent_aval()),)
  return outs, pad_p.apply(*map(instantiate, tangents), padding_config=padding_config)


@transpose_rule.define(pad_p)
def _(cts: Values, args: Values, *, padding_config: Padding) -> list[Any]:
  (x, value), ct = args, cts[0]
  to_x = to_value = None
  aval: Any = x.aval if type(x) is UndefinedPrimal else typeof(x)
  if type(x) is UndefinedPrimal:
    to_x = _unpad(ct, aval, padding_config)
  if type(value) is UndefinedPrimal:
    none = zeros_like_aval(typeof(ct))
    kept = select_n(_inside(aval.shape, padding_config), ct, none)
    to_value = reduce_sum(kept, tuple(range(typeof(ct).ndim)))
  return [to_x, to_value]


def _inside(shape: Shape, config: Padding) -> Any:
  """Where a padded array holds elements of its operand, which has this shape."""
  yes = full(shape, True, np.bool_)
  return pad_p.apply(yes, np.False_, padding_config=config)[0]


def _unpad(ct: Any, aval: ShapedArray, config: Padding) -> Any:
  """Takes out of a padded array the elements of the operand; zero where they were cut."""
  zero = np.zeros((), aval.dtype)[()]
  edges = tuple((-low, -high, 0) for low, high, _ in config)
  if any(e != (0, 0, 0) for e in edges):
    ct = pad_p.apply(ct, zero, padding_config=edges)[0]
  if all(c[2] == 0 for c in config):
    return ct
  shape = typeof(ct).shape
  return slice_p.apply(
      ct, start_indices=(0,) * len(shape), limit_indices=shape,
      strides=tuple(c[2] + 1 for c in config))[0]


@batch_rule.define(pad_p)
def _(axis: Any, args: Values, dims: Values, *,
      padding_config: Padding) -> tuple[Values, Values]:
  (x, value), (d, dv) = args, dims
  if dv is None:
    config = (*padding_config[:d], (0, 0, 0), *padding_config[d:])
    return pad_p.apply(x, value, padding_config=config), (d,)
  x = to_dim(x, d, 0, axis.size)
  config = ((0, 0, 0), *padding_config)
  filler = zeros_like_aval(typeof(value).update(shape=()))
  out = pad_p.apply(x, filler, padding_config=config)[0]
  shape = typeof(out).shape
  inside = _inside(typeof(x).shape, config)
  return [select_n(inside, broadcast_in_dim(value, shape, (0,)), out)], (0,)


# ---- rev


def rev(operand: Any, dimensions: Sequence[int]) -> Any:
  """Reverses the order of elements along dimensions.

  Args:
    operand: an array.
    dimensions: which, counted from 0.

  >>> from gnomon import lax
  >>> lax.rev(lax.iota("int32", 3), (0,)).tolist()
  [2, 1, 0]

  Raises:
    TypeError: a dimension is repeated or does not exist.
  """
  dimensions = ints(dimensions)
  return rev_p.apply(operand, dimensions=dimensions)[0]


rev_p = Primitive("rev")


@typing_rule.define(rev_p)
def _(x: ShapedArray, *, dimensions: Shape) -> tuple[ShapedArray]:
  if len(set(dimensions)) != len(dimensions):
    raise TypeError(f"rev: repeated dimensions in {dimensions}")
  if any(not 0 <= d < x.ndim for d in dimensions):
    raise TypeError(
        f"rev: the dimensions {dimensions} must be between 0 and {x.ndim - 1}, for the "
        f"operand {x}")
  return (x,)


@lower.define(rev_p)
def _(ctx: Any, x: Any, *, dimensions: Shape) -> Values:
  return [ctx.b.op1(
      "stablehlo.reverse", ctx.b.tensor(ctx.avals_out[0]), (x,),
      {"dimensions": ctx.b.i64s(dimensions)})]


linear(rev_p, lambda cts, args, dimensions: [rev(cts[0], dimensions)])


@batch_rule.define(rev_p)
def _(
    axis: Any, args: Values, dims: Values, *, dimensions: Shape) -> tuple[Values, Values]:
  d = dims[0]
  return rev_p.apply(args[0], dimensions=tuple(n + (d <= n) for n in dimensions)), (d,)


# ---- tile


def tile(operand: Any, reps: Sequence[int]) -> Any:
  """Repeats an array as a whole along each of its dimensions.

  Args:
    operand: an array.
    reps: how often, one a dimension.

  >>> from gnomon import lax
  >>> lax.tile(lax.iota("int32", 2), (2,)).tolist()
  [0, 1, 0, 1]

  Raises:
    TypeError: there is not one number a dimension, or one is negative.
  """
  return tile_p.apply(operand, reps=sizes(reps, "tile"))[0]


tile_p = Primitive("tile")


@typing_rule.define(tile_p)
def _(x: ShapedArray, *, reps: Shape) -> tuple[ShapedArray]:
  if len(reps) != x.ndim:
    raise TypeError(
        f"tile needs one number of repetitions a dimension: got {reps} for {x}")
  return (x.update(shape=tuple(n * r for n, r in zip(x.shape, reps))),)


@lower.define(tile_p)
def _(ctx: Any, x: Any, *, reps: Shape) -> Values:
  b, (x_aval,), (out,) = ctx.b, ctx.avals_in, ctx.avals_out
  words = physical_aval(x_aval)
  reps = (*reps, *(1,) * (len(words.shape) - len(reps)))
  apart = tuple(m for pair in zip(reps, words.shape) for m in pair)
  grown = b.broadcast_in_dim(
      x, ShapedArray(apart, words.dtype), range(1, len(apart), 2))
  return [b.reshape(grown, out)]


def _transpose_tile(cts: Values, args: Values, *, reps: Shape) -> list[Any]:
  shape = args[0].aval.shape
  apart = reshape(cts[0], tuple(m for pair in zip(reps, shape) for m in pair))
  return [reduce_sum(apart, tuple(range(0, 2 * len(shape), 2)))]


linear(tile_p, _transpose_tile)


@batch_rule.define(tile_p)
def _(axis: Any, args: Values, dims: Values, *, reps: Shape) -> tuple[Values, Values]:
  d = dims[0]
  return tile_p.apply(args[0], reps=(*reps[:d], 1, *reps[d:])), (d,)
