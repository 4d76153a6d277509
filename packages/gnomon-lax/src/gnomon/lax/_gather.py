"""`gather`: slices taken from computed places, as many as there are index vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.derive import move
from gnomon.core.rule import batch_rule, lower, transpose_rule, typing_rule
from gnomon.core.structural import broadcast_in_dim, convert, select_n, zeros_like_aval
from gnomon.core.types import ShapedArray, physical_aval, typeof
from gnomon.lax._arithmetic import add, rem
from gnomon.lax._comparison import lt
from gnomon.lax._indexing import (
  Dims,
  GatherDimensionNumbers,
  GatherScatterMode,
  along_vectors,
  check_dims,
  check_indices,
  gather_p,
  inserted,
  linear_in_operand,
  scatter_sum,
  signed_indices,
  usable_mode,
)
from gnomon.lax._shape import concatenate

Values = Sequence[Any]


def gather(
    operand: Any, start_indices: Any, dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[int], *, unique_indices: bool = False,
    indices_are_sorted: bool = False, mode: str | GatherScatterMode | None = None,
    fill_value: Any = None) -> Any:
  """Takes a slice of `operand` for each index vector.

  The last dimension of `start_indices` holds index vectors: where a slice starts, in the
  dimensions `start_index_map` of the operand; in its other dimensions it starts at 0.
  `gnomon.numpy` indexing is easier to write and does the same.

  Args:
    operand: an array of any dtype.
    start_indices: integers, of at least one dimension.
    dimension_numbers: which dimensions belong together.
    slice_sizes: the size of a slice in each dimension of the operand.
    unique_indices: a promise that no two slices overlap; helps the derivative.
    indices_are_sorted: a promise that index vectors increase.
    mode: what becomes of slices that reach outside the operand: `"clip"`, `"fill"`,
      `"promise_in_bounds"` (the default), or a `GatherScatterMode`.
    fill_value: what fills them in the mode `"fill"`. By default NaN, the least number of
      signed integers, the greatest of unsigned ones, True.

  Returns:
    An array of the operand's dtype. Its dimensions `offset_dims` run within slices
    (without the dimensions collapsed or batched); the others are those of the indices but
    the last.

  Raises:
    TypeError: dimension numbers, slice sizes and shapes do not fit together.
    ValueError: the indices are no integers, or the mode is unknown.
    NotImplementedError: the mode is `ONE_HOT`.

  >>> import numpy as np
  >>> from gnomon import lax
  >>> rows = lax.GatherDimensionNumbers((1,), (0,), (0,))
  >>> x = np.float32([[1, 2], [3, 4]])
  >>> lax.gather(x, np.int32([[1], [9]]), rows, (1, 2), mode="fill", fill_value=0)
  Array([[3., 4.],
         [0., 0.]], dtype=float32)
  """
  mode = usable_mode("gather", mode, GatherScatterMode.PROMISE_IN_BOUNDS)
  if mode is not GatherScatterMode.FILL_OR_DROP:
    fill_value = None
  elif fill_value is not None:
    fill_value = _hashable(fill_value)
  return gather_p.apply(
      operand, start_indices,
      dimension_numbers=GatherDimensionNumbers(*dimension_numbers).of_ints(),
      slice_sizes=tuple([int(n) for n in slice_sizes]),
      unique_indices=bool(unique_indices), indices_are_sorted=bool(indices_are_sorted),
      mode=mode, fill_value=fill_value)[0]


def _hashable(fill_value: Any) -> Any:
  """The fill value as a Python number: it is a parameter, and not an operand."""
  if not isinstance(fill_value, (bool, int, float, complex)):
    aval = typeof(fill_value)
    if aval.shape:
      raise TypeError(f"gather: fill_value must be a scalar, got {aval}")
    fill_value = fill_value.item()  # says of a traced value that it is not known
  return np.nan if np.isnan(fill_value) else fill_value  # one NaN: it hashes by identity


def _promised(
    operand: Any, indices: Any, numbers: GatherDimensionNumbers, sizes: Dims,
    mode: GatherScatterMode, *, sorted_: bool, unique: bool) -> Any:
  """The gather of a linear map: what lies outside is zero."""
  fill = 0 if mode is GatherScatterMode.FILL_OR_DROP else None
  return gather_p.apply(
      operand, indices, dimension_numbers=numbers, slice_sizes=sizes,
      unique_indices=unique, indices_are_sorted=sorted_, mode=mode, fill_value=fill)[0]


@typing_rule.define(gather_p)
def _(x: ShapedArray, indices: ShapedArray, *, dimension_numbers: GatherDimensionNumbers,
      slice_sizes: Dims, **params: Any) -> tuple[ShapedArray]:
  check_indices("gather", x, indices, GatherDimensionNumbers._fields, dimension_numbers)
  offset, collapsed, _, batching, _ = dimension_numbers
  if len(slice_sizes) != x.ndim:
    raise TypeError(
        "Gather op must have one slice size for every input dimension: got "
        f"{slice_sizes} for the operand {x}")
  for d, (n, size) in enumerate(zip(slice_sizes, x.shape)):
    if not 0 <= n <= size:
      raise TypeError(
          f"Slice size at index {d} in gather op is out of range, which is from 0 to "
          f"{size}: got {slice_sizes} for the operand {x}")
  for name, dims in (("collapse", collapsed), ("batch", batching)):
    for d in dims:
      if slice_sizes[d] > 1:
        raise TypeError(
            f"gather can only {name} dimensions of slice size 1: dimension {d} has the "
            f"slice size {slice_sizes[d]}")
  within = [n for d, n in enumerate(slice_sizes) if d not in (*collapsed, *batching)]
  ndim = indices.ndim - 1 + len(offset)
  check_dims("gather", "offset_dims", offset, ndim)
  if len(offset) != len(within):
    raise TypeError(
        f"gather needs one entry of offset_dims a dimension of the operand that is "
        f"neither collapsed nor batched: got {offset} for the {len(within)} that are "
        f"left of {x}")
  sizes, outer = iter(within), iter(indices.shape[:-1])
  shape = tuple([next(sizes) if d in offset else next(outer) for d in range(ndim)])
  return (ShapedArray(shape, x.dtype, x.weak_type),)


@lower.define(gather_p)
def _(ctx: Any, x: Any, indices: Any, *, dimension_numbers: GatherDimensionNumbers,
      slice_sizes: Dims, unique_indices: bool, indices_are_sorted: bool,
      mode: GatherScatterMode, fill_value: Any) -> Values:
  b, (operand, given), out = ctx.b, ctx.avals_in, ctx.avals_out[0]
  offset, collapsed, index_map, batching, index_batching = dimension_numbers
  tail: Dims = out.dtype.physical_shape if b.key_dims(out) else ()
  words = tuple(range(out.ndim, out.ndim + len(tail)))
  indices, aval = signed_indices(ctx, indices, given, operand.shape)
  numbers = b.attr(
      f"#stablehlo.gather<offset_dims = {[*offset, *words]}, "
      f"collapsed_slice_dims = {list(collapsed)}, operand_batching_dims = "
      f"{list(batching)}, start_indices_batching_dims = {list(index_batching)}, "
      f"start_index_map = {list(index_map)}, index_vector_dim = {aval.ndim - 1}>")
  found = b.op1("stablehlo.gather", b.tensor(out), (x, indices), {
      "dimension_numbers": numbers, "slice_sizes": b.i64s((*slice_sizes, *tail)),
      "indices_are_sorted": b.flag(indices_are_sorted)})
  if mode is not GatherScatterMode.FILL_OR_DROP or not index_map:
    return [found]
  last = [operand.shape[d] - slice_sizes[d] for d in index_map]
  inside = _emit_inside(ctx, indices, aval, last)
  kept = [d for d in range(out.ndim) if d not in offset]
  mask = ShapedArray(physical_aval(out).shape, np.dtype(bool))
  inside = b.broadcast_in_dim(inside, mask, kept)
  fill = b.full(out, default_fill(out.dtype) if fill_value is None else fill_value)
  return [b.op1("stablehlo.select", b.tensor(out), (inside, found, fill))]


def _emit_inside(ctx: Any, indices: Any, aval: ShapedArray, last: Sequence[int]) -> Any:
  """Which index vectors lie between 0 and `last` in all their elements."""
  b, flags = ctx.b, ShapedArray(aval.shape, np.dtype(bool))
  low = b.compare("GE", indices, b.full(aval, 0), aval)
  high = b.compare("LE", indices, along_vectors(ctx, last, aval), aval)
  both = b.op1("stablehlo.and", b.tensor(flags), (low, high))
  result = ShapedArray(aval.shape[:-1], np.dtype(bool))
  if aval.shape[-1] == 1:
    return b.reshape(both, result)
  return b.reduce(both, flags, result, (aval.ndim - 1,), "stablehlo.and", True)


def default_fill(dtype: Any) -> Any:
  """What a gather fills with unless told otherwise."""
  if isinstance(dtype, dtypes.ExtendedDType):
    dtype = dtype.physical_dtype
  if dtypes.issubdtype(dtype, np.inexact):
    return np.nan
  if dtypes.issubdtype(dtype, np.bool_):
    return True
  info = dtypes.iinfo(dtype)
  return int(info.min) if info.min < 0 else int(info.max)


def _tangent(
    t: Any, indices: Any, *, dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Dims, unique_indices: bool, indices_are_sorted: bool,
    mode: GatherScatterMode, fill_value: Any) -> Any:
  return _promised(
      t, indices, dimension_numbers, slice_sizes, mode, sorted_=indices_are_sorted,
      unique=unique_indices)


linear_in_operand(gather_p, _tangent)


@transpose_rule.define(gather_p)
def _(cts: Values, args: Values, *, dimension_numbers: GatherDimensionNumbers,
      slice_sizes: Dims, unique_indices: bool, indices_are_sorted: bool,
      mode: GatherScatterMode, fill_value: Any) -> list[Any]:
  x, indices = args
  zeros = zeros_like_aval(x.aval)
  return [scatter_sum(
      zeros, indices, cts[0], dimension_numbers.as_scatter(), mode,
      sorted_=indices_are_sorted, unique=unique_indices), None]


@batch_rule.define(gather_p)
def _(axis: Any, args: Values, dims: Values, *, dimension_numbers: GatherDimensionNumbers,
      slice_sizes: Dims, unique_indices: bool, indices_are_sorted: bool,
      mode: GatherScatterMode, fill_value: Any) -> tuple[Values, Values]:
  (x, indices), (xd, d) = args, dims
  offset, collapsed, index_map, batching, index_batching = dimension_numbers
  if xd is not None:
    x = move(x, xd, 0)
    collapsed, index_map, batching = map(inserted, (collapsed, index_map, batching))
  if d is None:  # whole slices run along the mapped dimension
    offset, slice_sizes = (0, *inserted(offset)), (axis.size, *slice_sizes)
  else:
    indices = move(indices, d, 0)
    offset, index_batching = inserted(offset), inserted(index_batching)
    if xd is None:
      unique_indices = indices_are_sorted = False
    else:
      batching, index_batching = (0, *batching), (0, *index_batching)
      slice_sizes = (min(1, axis.size), *slice_sizes)
  out = gather_p.apply(
      x, indices, dimension_numbers=GatherDimensionNumbers(
          offset, collapsed, index_map, batching, index_batching),
      slice_sizes=slice_sizes, unique_indices=unique_indices,
      indices_are_sorted=indices_are_sorted, mode=mode, fill_value=fill_value)
  return out, (0,)


def index_take(src: Any, idxs: Sequence[Any], axes: Sequence[int]) -> Any:
  """Takes the elements of `src` at 1-d arrays of indices, one array for each of `axes`.

  Indices wrap around: they are taken modulo the sizes.

  Returns:
    An array whose first dimension runs over the indices, the others being those of `src`
    not in `axes`.

  Raises:
    TypeError: not one array of indices an axis, or they differ in shape or dtype, or
      are no integers.

  >>> import numpy as np
  >>> from gnomon import lax
  >>> x = np.int32([[1, 2], [3, 4]])
  >>> lax.index_take(x, [np.int32([0, -1]), np.int32([1, 0])], (0, 1))
  Array([2, 3], dtype=int32)
  """
  x, axes = typeof(src), tuple(axes)
  avals = [typeof(i) for i in idxs]
  one = len({(a.shape, a.dtype) for a in avals}) == 1 and avals[0].ndim == 1
  if len(avals) != len(axes) or not one or not dtypes.issubdtype(
      avals[0].dtype, np.integer):
    raise TypeError(
        f"index_take needs one 1-d array of integers for each of the axes {axes}, all of "
        f"one type: got {', '.join(map(str, avals))}")
  columns = []
  dtype = avals[0].dtype
  dtype = dtype if dtypes.iinfo(dtype).bits >= 32 else np.dtype(np.int32)
  for i, a, d in zip(idxs, avals, axes):
    size = np.asarray(x.shape[d], dtype)[()]
    r = rem(convert(i, dtype), size)
    r = select_n(lt(r, np.zeros((), dtype)[()]), r, add(r, size))
    columns.append(broadcast_in_dim(r, (*a.shape, 1), (0,)))
  vectors = columns[0] if len(columns) == 1 else concatenate(columns, 1)
  others = x.ndim - len(axes)
  numbers = GatherDimensionNumbers(
      tuple(range(1, 1 + others)), tuple(sorted(axes)), axes)
  sizes = [1 if d in axes else n for d, n in enumerate(x.shape)]
  return gather(src, vectors, numbers, sizes)
