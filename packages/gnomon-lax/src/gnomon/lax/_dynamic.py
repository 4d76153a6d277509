"""Slices whose place is computed: dynamic_slice, dynamic_update_slice."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.api.jit import jit
from gnomon.core import dtypes
from gnomon.core.derive import expand, move
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, jvp_rule, lower, transpose_rule, typing_rule
from gnomon.core.structural import (
  broadcast_in_dim,
  convert,
  instantiate,
  reshape,
  select_n,
  squeeze,
  zeros_like_aval,
)
from gnomon.core.trace import EVAL, get_current
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import UndefinedPrimal, Zero
from gnomon.lax._arithmetic import add
from gnomon.lax._comparison import lt
from gnomon.lax._indexing import (
  GatherDimensionNumbers,
  GatherScatterMode,
  ScatterDimensionNumbers,
  as_elements,
  gather_p,
  linear_aval,
  linear_in_operand,
  scatter_overwrite,
  signed_indices,
)
from gnomon.lax._shape import concatenate
from gnomon.lax._slicing import axis_within, index_in_dim

Values = Sequence[Any]
Dims = tuple[int, ...]


# ---- start indices


def _starts(
    op: str, operand: ShapedArray, start_indices: Any,
    allow_negative: bool | Sequence[bool]) -> list[Any]:
  """One scalar index a dimension, of one integer dtype, none counting from the end."""
  if isinstance(start_indices, (tuple, list)):
    starts = list(start_indices)
  else:
    aval = typeof(start_indices)
    if aval.ndim != 1:
      raise ValueError(
          f"{op}: start_indices must be a sequence of scalars or a 1-d array, got {aval}")
    starts = [
        index_in_dim(start_indices, i, keepdims=False) for i in range(aval.shape[0])]
  n = operand.ndim
  if len(starts) != n:
    raise ValueError(
        f"{op} needs one start index a dimension of the operand: got {len(starts)} for "
        f"the operand shape {operand.shape}")
  dtype = _index_dtype(op, starts)
  negative = (
      list(allow_negative) if isinstance(allow_negative, Sequence)
      else [bool(allow_negative)] * n)
  if len(negative) != n:
    raise ValueError(
        f"{op}: allow_negative_indices must be a bool or one a dimension of the operand "
        f"shape {operand.shape}, got {allow_negative}")
  return [
      _start(op, i, size, neg, dtype)
      for i, size, neg in zip(starts, operand.shape, negative)]


def _index_dtype(op: str, starts: Sequence[Any]) -> Any:
  """The dtype of the indices that are arrays; Python ints follow them."""
  avals = [typeof(i) for i in starts if type(i) is not int]
  found = {a.dtype for a in avals if not a.weak_type} or {a.dtype for a in avals}
  if not found:
    return _INT32
  dtype = found.pop()
  if found or not dtypes.issubdtype(dtype, np.integer):
    raise TypeError(
        f"index arguments to {op} must be integers of the same type, got "
        f"{', '.join(str(typeof(i).dtype) for i in starts)}")
  if any(a.shape for a in avals):
    raise TypeError(
        f"{op} needs scalar start indices, got "
        f"{', '.join(str(typeof(i)) for i in starts)}")
  return dtype


_INT32 = np.dtype(np.int32)


@functools.cache
def _limits(dtype: Any) -> tuple[int, int, int]:
  """The least and greatest number of an integer dtype, and its bits."""
  info = dtypes.iinfo(dtype)
  return int(info.min), int(info.max), int(info.bits)


@functools.lru_cache(4096)
def _scalar(value: int, dtype: Any) -> Any:
  return np.asarray(value, dtype)[()]


def _start(op: str, i: Any, size: int, negative: bool, dtype: Any) -> Any:
  """A start index that does not count from the end."""
  low, high, bits = _limits(dtype)
  if isinstance(i, (int, np.integer)):
    if i < 0 and not negative and isinstance(i, int):
      raise ValueError(
          f"{op}: the index {i} is negative, and allow_negative_indices is False")
    i = int(i)
    i = i + size if i < 0 and negative else i
    if i > high and bits < 32:
      dtype, (low, high, _) = _INT32, _limits(_INT32)
    return _scalar(min(max(i, low), high), dtype)
  if not negative or low == 0:
    return convert(i, dtype)
  if size > high:  # such as int8 indices into 300 elements
    return _start(op, convert(i, _INT32), size, negative, _INT32)
  if get_current() is EVAL:
    return _from_end_at_once(convert(i, dtype), _scalar(size, dtype))
  return _from_end(i, _scalar(size, dtype))


def _from_end(i: Any, size: Any) -> Any:
  """An index that counts from the end if it is negative, as one that never does."""
  dtype = size.dtype
  behind, i = lt(i, _like(i, 0)), convert(i, dtype)
  return select_n(behind, i, add(i, size))


_from_end_at_once = jit(_from_end)  # one program instead of three


def _like(i: Any, value: int) -> Any:
  return _scalar(value, typeof(i).dtype)


def _one_dtype(starts: Sequence[Any]) -> list[Any]:
  """Widens indices to one dtype, where some had to be wider to count from the end."""
  found = {typeof(i).dtype for i in starts}
  if len(found) <= 1:
    return list(starts)
  return [convert(i, _INT32) for i in starts]


def _type_starts(op: str, x: ShapedArray, starts: Sequence[ShapedArray]) -> None:
  if len(starts) != x.ndim:
    raise ValueError(
        f"{op} needs one start index a dimension of the operand: got {len(starts)} for "
        f"the operand shape {x.shape}")
  if any(i.shape for i in starts):
    raise TypeError(f"{op} needs scalar start indices, got {', '.join(map(str, starts))}")
  if any(not dtypes.issubdtype(i.dtype, np.integer) for i in starts) or len(
      {i.dtype for i in starts}) > 1:
    raise TypeError(
        f"index arguments to {op} must be integers of the same type, got "
        f"{', '.join(str(i.dtype) for i in starts)}")


def _lower_starts(ctx: Any, starts: Values, avals: Sequence[ShapedArray]) -> list[Any]:
  """Starts in a signed type, and those of the words of keys."""
  x = ctx.avals_in[0]
  pairs = [signed_indices(ctx, v, a, x.shape) for v, a in zip(starts, avals)]
  tail = ctx.b.key_dims(x)
  if not tail:
    return [v for v, _ in pairs]
  dtype = pairs[0][1].dtype if pairs else np.dtype(np.int32)
  return [v for v, _ in pairs] + [ctx.b.constant(0, dtype)] * tail


def _stack(axis: Any, starts: Values, dims: Sequence[Any]) -> Any:
  """Mapped and other scalar indices as index vectors `[axis.size, len(starts)]`."""
  columns = [
      broadcast_in_dim(i, (axis.size, 1), () if d is None else (0,))
      for i, d in zip(starts, dims)]
  return columns[0] if len(columns) == 1 else concatenate(columns, 1)


# ---- dynamic_slice


def dynamic_slice(
    operand: Any, start_indices: Any, slice_sizes: Sequence[int], *,
    allow_negative_indices: bool | Sequence[bool] = True) -> Any:
  """Takes a slice of static size from a place that is computed.

  A slice that would reach over the end is moved back until it fits.

  Args:
    operand: an array of any dtype.
    start_indices: one scalar integer a dimension, or a 1-d integer array.
    slice_sizes: the size of the slice in each dimension.
    allow_negative_indices: whether negative indices count from the end (in each
      dimension); if not, they count as 0. False saves three small operations.

  Returns:
    An array of shape `slice_sizes` and the operand's dtype.

  Raises:
    ValueError: not one index a dimension.
    TypeError: an index is not a scalar integer, dtypes of indices differ, or a slice is
      larger than the operand.

  >>> from gnomon import lax
  >>> lax.dynamic_slice(lax.iota("int32", 5), [4], [2])
  Array([3, 4], dtype=int32)
  """
  starts = _starts(
      "dynamic_slice", typeof(operand), start_indices, allow_negative_indices)
  return dynamic_slice_p.apply(
      operand, *_one_dtype(starts), slice_sizes=tuple([int(n) for n in slice_sizes]))[0]


dynamic_slice_p = Primitive("dynamic_slice")


@typing_rule.define(dynamic_slice_p)
def _(x: ShapedArray, *starts: ShapedArray, slice_sizes: Dims) -> tuple[ShapedArray]:
  _type_starts("dynamic_slice", x, starts)
  if len(slice_sizes) != x.ndim:
    raise ValueError(
        f"dynamic_slice needs one entry of slice_sizes a dimension of the operand: got "
        f"{slice_sizes} for the operand shape {x.shape}")
  if any(not 0 <= n <= size for n, size in zip(slice_sizes, x.shape)):
    raise TypeError(
        f"dynamic_slice needs slice_sizes from 0 to the operand's sizes: got "
        f"{slice_sizes} for the operand shape {x.shape}")
  return (ShapedArray(slice_sizes, x.dtype, x.weak_type),)


@lower.define(dynamic_slice_p)
def _(ctx: Any, x: Any, *starts: Any, slice_sizes: Dims) -> Values:
  b, out = ctx.b, ctx.avals_out[0]
  tail = out.dtype.physical_shape if b.key_dims(out) else ()
  indices = _lower_starts(ctx, starts, ctx.avals_in[1:])
  return [b.op1(
      "stablehlo.dynamic_slice", b.tensor(out), (x, *indices),
      {"slice_sizes": b.i64s((*slice_sizes, *tail))})]


linear_in_operand(dynamic_slice_p, lambda t, *starts, **params: dynamic_slice_p.apply(
    t, *starts, **params)[0])


@transpose_rule.define(dynamic_slice_p)
def _(cts: Values, args: Values, *, slice_sizes: Dims) -> list[Any]:
  x, *starts = args
  zeros = zeros_like_aval(x.aval)
  return [dynamic_update_slice_p.apply(zeros, cts[0], *starts)[0], *[None] * len(starts)]


@batch_rule.define(dynamic_slice_p)
def _(axis: Any, args: Values, dims: Values, *,
      slice_sizes: Dims) -> tuple[Values, Values]:
  (x, *starts), (xd, *ds) = args, dims
  sizes = [n for d, n in enumerate(typeof(x).shape) if d != xd]
  # Where the slice is as large as the operand, it starts at 0 whatever the index.
  free = [d for d, n in enumerate(sizes) if slice_sizes[d] < n and ds[d] is not None]
  if not free:
    starts = [_like(i, 0) if d is not None else i for i, d in zip(starts, ds)]
    if xd is None:
      return dynamic_slice_p.apply(x, *starts, slice_sizes=slice_sizes), (None,)
    zero = _like(starts[0], 0) if starts else np.int32(0)
    out = dynamic_slice_p.apply(
        x, *starts[:xd], zero, *starts[xd:],
        slice_sizes=(*slice_sizes[:xd], axis.size, *slice_sizes[xd:]))
    return out, (xd,)
  used = [d for d, n in enumerate(sizes) if slice_sizes[d] < n]
  mapped = xd is not None
  numbers = GatherDimensionNumbers(
      tuple(range(1, len(sizes) + 1)), (), tuple([d + mapped for d in used]),
      (0,) if mapped else (), (0,) if mapped else ())
  out = gather_p.apply(
      move(x, xd, 0) if mapped else x,
      _stack(axis, [starts[d] for d in used], [ds[d] for d in used]),
      dimension_numbers=numbers,
      slice_sizes=(min(1, axis.size), *slice_sizes) if mapped else slice_sizes,
      unique_indices=mapped, indices_are_sorted=mapped, mode=GatherScatterMode.CLIP,
      fill_value=None)
  return out, (0,)


# ---- dynamic_update_slice


def dynamic_update_slice(
    operand: Any, update: Any, start_indices: Any, *,
    allow_negative_indices: bool | Sequence[bool] = True) -> Any:
  """A copy of `operand` with `update` written at a place that is computed.

  An update that would reach over the end is moved back until it fits.

  Args:
    operand: an array of any dtype.
    update: an array of the same rank and dtype, in no dimension larger.
    start_indices: one scalar integer a dimension, or a 1-d integer array.
    allow_negative_indices: as for `dynamic_slice`.

  Returns:
    An array of the operand's type.

  Raises:
    ValueError: not one index a dimension.
    TypeError: dtype, rank or size of `update` do not suit `operand`, an index is not a
      scalar integer, or dtypes of indices differ.

  >>> from gnomon import lax
  >>> lax.dynamic_update_slice(lax.iota("int32", 4), lax.iota("int32", 2), [1])
  Array([0, 0, 1, 3], dtype=int32)
  """
  starts = _starts(
      "dynamic_update_slice", typeof(operand), start_indices, allow_negative_indices)
  update = as_elements(update, operand)
  return dynamic_update_slice_p.apply(operand, update, *_one_dtype(starts))[0]


dynamic_update_slice_p = Primitive("dynamic_update_slice")


@typing_rule.define(dynamic_update_slice_p)
def _(x: ShapedArray, u: ShapedArray, *starts: ShapedArray) -> tuple[ShapedArray]:
  _type_starts("dynamic_update_slice", x, starts)
  if x.dtype != u.dtype:
    raise TypeError(
        f"dynamic_update_slice needs an update of the operand's dtype: got the operand "
        f"{x} and the update {u}")
  if x.ndim != u.ndim:
    raise TypeError(
        f"dynamic_update_slice needs an update of the operand's rank: got the operand "
        f"{x} and the update {u}")
  if any(n > size for n, size in zip(u.shape, x.shape)):
    raise TypeError(
        f"dynamic_update_slice needs an update no larger than the operand: got the "
        f"operand {x} and the update {u}")
  return (ShapedArray(x.shape, x.dtype, x.weak_type and u.weak_type),)


@lower.define(dynamic_update_slice_p)
def _(ctx: Any, x: Any, u: Any, *starts: Any) -> Values:
  indices = _lower_starts(ctx, starts, ctx.avals_in[2:])
  return [ctx.b.dynamic_update_slice(x, u, indices, ctx.avals_out[0])]


@jvp_rule.define(dynamic_update_slice_p)
def _(primals: Values, tangents: Values) -> tuple[Values, Values]:
  outs = dynamic_update_slice_p.apply(*primals)
  t_x, t_u = tangents[:2]
  if type(t_x) is Zero and type(t_u) is Zero:
    return outs, (Zero(typeof(outs[0]).to_tangent_aval()),)
  return outs, dynamic_update_slice_p.apply(
      instantiate(t_x), instantiate(t_u), *primals[2:])


@transpose_rule.define(dynamic_update_slice_p)
def _(cts: Values, args: Values) -> list[Any]:
  ct, (x, u, *starts) = cts[0], args
  ct_x = ct_u = None
  if type(x) is UndefinedPrimal:
    zeros = zeros_like_aval(linear_aval(u))
    ct_x = dynamic_update_slice_p.apply(ct, zeros, *starts)[0]
  if type(u) is UndefinedPrimal:
    ct_u = dynamic_slice_p.apply(ct, *starts, slice_sizes=linear_aval(u).shape)[0]
  return [ct_x, ct_u, *[None] * len(starts)]


@batch_rule.define(dynamic_update_slice_p)
def _(axis: Any, args: Values, dims: Values) -> tuple[Values, Values]:
  (x, u, *starts), (xd, ud, *ds) = args, dims
  x = expand(x, axis.size) if xd is None else move(x, xd, 0)
  u = expand(u, axis.size) if ud is None else move(u, ud, 0)
  sizes, windows = typeof(x).shape[1:], typeof(u).shape[1:]
  used = [d for d, n in enumerate(sizes) if windows[d] < n]
  if all(ds[d] is None for d in used):
    starts = [_like(i, 0) if d is not None else i for i, d in zip(starts, ds)]
    zero = _like(starts[0], 0) if starts else np.int32(0)
    return dynamic_update_slice_p.apply(x, u, zero, *starts), (0,)
  numbers = ScatterDimensionNumbers(
      tuple(range(1, len(sizes) + 1)), (), tuple([d + 1 for d in used]), (0,), (0,))
  indices = _stack(axis, [starts[d] for d in used], [ds[d] for d in used])
  out = scatter_overwrite(
      x, indices, u, numbers, GatherScatterMode.CLIP, sorted_=True, unique=True)
  return (out,), (0,)


# ---- one dimension


def dynamic_slice_in_dim(
    operand: Any, start_index: Any, slice_size: int, axis: int = 0, *,
    allow_negative_indices: bool = True) -> Any:
  """`slice_size` elements from `start_index` on along `axis`; see `dynamic_slice`.

  >>> from gnomon import lax
  >>> lax.dynamic_slice_in_dim(lax.iota("int32", 5), 1, 3)
  Array([1, 2, 3], dtype=int32)
  """
  x = typeof(operand)
  axis = axis_within("dynamic_slice_in_dim", axis, x)
  starts: list[Any] = [0] * x.ndim
  starts[axis] = start_index
  sizes = (*x.shape[:axis], int(slice_size), *x.shape[axis + 1:])
  return dynamic_slice(
      operand, starts, sizes, allow_negative_indices=allow_negative_indices)


def dynamic_index_in_dim(
    operand: Any, index: Any, axis: int = 0, keepdims: bool = True, *,
    allow_negative_indices: bool = True) -> Any:
  """The slice at `index` along `axis`, which stays, of size 1, or goes (`keepdims`).

  >>> from gnomon import lax
  >>> lax.dynamic_index_in_dim(lax.iota("int32", 5), 3, keepdims=False)
  Array(3, dtype=int32)
  """
  rule = _index_at_once if get_current() is EVAL else _index
  return rule(operand, index, axis, keepdims, allow_negative_indices)


def _index(
    operand: Any, index: Any, axis: int, keepdims: bool,
    allow_negative_indices: bool) -> Any:
  axis = axis_within("dynamic_index_in_dim", axis, typeof(operand))
  found = dynamic_slice_in_dim(
      operand, index, 1, axis, allow_negative_indices=allow_negative_indices)
  return found if keepdims else squeeze(found, (axis,))


_index_at_once = jit(_index, static_argnums=(2, 3, 4))


def dynamic_update_slice_in_dim(
    operand: Any, update: Any, start_index: Any, axis: int, *,
    allow_negative_indices: bool = True) -> Any:
  """Writes `update` from `start_index` on along `axis`; see `dynamic_update_slice`.

  >>> from gnomon import lax
  >>> lax.dynamic_update_slice_in_dim(lax.iota("int32", 4), lax.iota("int32", 2), 1, 0)
  Array([0, 0, 1, 3], dtype=int32)
  """
  x = typeof(operand)
  axis = axis_within("dynamic_update_slice_in_dim", axis, x)
  starts: list[Any] = [0] * x.ndim
  starts[axis] = start_index
  return dynamic_update_slice(
      operand, update, starts, allow_negative_indices=allow_negative_indices)


def dynamic_update_index_in_dim(
    operand: Any, update: Any, index: Any, axis: int, *,
    allow_negative_indices: bool = True) -> Any:
  """Writes `update` at `index` along `axis`.

  `update` may lack that dimension; a Python number takes the operand's dtype.

  >>> from gnomon import lax
  >>> lax.dynamic_update_index_in_dim(lax.iota("int32", 3), 7, 1, 0)
  Array([0, 7, 2], dtype=int32)
  """
  rule = _update_index_at_once if get_current() is EVAL else _update_index
  return rule(operand, as_elements(update, operand), index, axis, allow_negative_indices)


def _update_index(
    operand: Any, update: Any, index: Any, axis: int,
    allow_negative_indices: bool) -> Any:
  x, u = typeof(operand), typeof(update)
  axis = axis_within("dynamic_update_index_in_dim", axis, x)
  if u.ndim == x.ndim - 1:
    update = reshape(update, (*u.shape[:axis], 1, *u.shape[axis:]))
  elif u.ndim != x.ndim:
    raise TypeError(
        f"dynamic_update_index_in_dim needs an update of the operand's rank, or of one "
        f"dimension less: got the operand {x} and the update {u}")
  return dynamic_update_slice_in_dim(
      operand, update, index, axis, allow_negative_indices=allow_negative_indices)


_update_index_at_once = jit(_update_index, static_argnums=(3, 4))
