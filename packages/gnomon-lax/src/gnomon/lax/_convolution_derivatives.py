"""Derivatives, transposes and vectorised forms of convolutions.

A convolution is linear in each operand, and both transposes are convolutions: with
respect to the left operand one by the reversed filters, whose features have changed
places, with strides and dilations exchanged; with respect to the filters one of the left
operand by the cotangent, features in the place of the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.core import dtypes
from gnomon.core.rule import batch_rule, jvp_rule, transpose_rule, typing_rule
from gnomon.core.structural import add_tangents, convert, full, reshape, transpose
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import UndefinedPrimal, Zero
from gnomon.lax._convolution_numbers import ConvDimensionNumbers, in_order
from gnomon.lax._convolution_primitive import conv_general_dilated_p, windows_of
from gnomon.lax._shape import rev_p
from gnomon.lax._windows_shape import Pads, Shape, Windows, dilated

Values = Sequence[Any]


@jvp_rule.define(conv_general_dilated_p)
def _(primals: Values, tangents: Values, **params: Any) -> tuple[Values, Values]:
  (x, y), (tx, ty) = primals, tangents
  outs = conv_general_dilated_p.apply(x, y, **params)
  total: Any = Zero(typeof(outs[0]).to_tangent_aval())
  if total.aval.dtype != dtypes.float0:
    if type(tx) is not Zero:
      total = conv_general_dilated_p.apply(tx, y, **params)[0]
    if type(ty) is not Zero:
      total = add_tangents(total, conv_general_dilated_p.apply(x, ty, **params)[0])
  return outs, (total,)


# ---- transposes


@transpose_rule.define(conv_general_dilated_p)
def _(cts: Values, args: Values, *, dimension_numbers: ConvDimensionNumbers,
      window_strides: Shape, padding: Pads, lhs_dilation: Shape, rhs_dilation: Shape,
      **params: Any) -> list[Any]:
  (x, y), ct = args, cts[0]
  left = type(x) is UndefinedPrimal
  aval, other = (x.aval, y) if left else (y.aval, x)
  lhs, rhs = (x.aval, typeof(y)) if left else (typeof(x), y.aval)
  if type(ct) is Zero or typeof(ct).size == 0 or typeof(other).size == 0:
    part: Any = Zero(aval)
  else:
    w = windows_of(
        rhs, dimension_numbers, window_strides, padding, lhs_dilation, rhs_dilation)
    wide = typeof(ct).dtype  # that of the sums, if it was asked for
    other = convert(other, wide)
    back = _wrt_lhs if left else _wrt_rhs
    part = back(ct, lhs, rhs, other, w, dimension_numbers, **params)
    part = convert(part, aval.dtype, aval.weak_type)
  return [part, None] if left else [None, part]


def _swapped(spec: Sequence[int]) -> tuple[int, ...]:
  return (spec[1], spec[0], *spec[2:])


def _bind(
    x: Any, y: Any, numbers: ConvDimensionNumbers, w: Windows, **params: Any) -> Any:
  return conv_general_dilated_p.apply(
      x, y, dimension_numbers=numbers,
      window_strides=w.window_strides, padding=w.padding, lhs_dilation=w.base_dilation,
      rhs_dilation=w.window_dilation, **params)[0]


def _wrt_lhs(
    ct: Any, lhs: ShapedArray, rhs: ShapedArray, y: Any, w: Windows,
    numbers: ConvDimensionNumbers, *, feature_group_count: int, batch_group_count: int,
    **params: Any) -> Any:
  spec, sizes = numbers.rhs_spec, in_order(lhs.shape, numbers.lhs_spec)
  groups = feature_group_count * batch_group_count  # at most one of them is not 1
  if groups > 1:  # the groups' filters side by side, as input features
    y = merge(*split(y, spec[0], groups), spec[1])
  y = rev_p.apply(y, dimensions=tuple(spec[2:]))[0] if spec[2:] else y
  back = Windows(
      w.window_dimensions, w.base_dilation, w.back(sizes[2:]), w.window_strides,
      w.window_dilation)
  exchanged = ConvDimensionNumbers(numbers.out_spec, _swapped(spec), numbers.lhs_spec)
  out = _bind(
      ct, y, exchanged, back, feature_group_count=groups, batch_group_count=1, **params)
  if batch_group_count > 1:  # the groups of features there are parts of the batch
    out = merge(*split(out, numbers.lhs_spec[1], batch_group_count), numbers.lhs_spec[0])
  return out


def _wrt_rhs(
    ct: Any, lhs: ShapedArray, rhs: ShapedArray, x: Any, w: Windows,
    numbers: ConvDimensionNumbers, *, feature_group_count: int, batch_group_count: int,
    **params: Any) -> Any:
  sizes = in_order(lhs.shape, numbers.lhs_spec)[2:]
  counts = map(dilated, w.counts(sizes), w.window_strides)
  padding = tuple(
      (low, extent - 1 + m - n - low)
      for n, (low, _), extent, m in zip(w.base(sizes), w.padding, w.extents, counts))
  back = Windows(
      in_order(typeof(ct).shape, numbers.out_spec)[2:], w.window_dilation, padding,
      w.base_dilation, w.window_strides)
  exchanged = ConvDimensionNumbers(*(
      _swapped(spec) for spec in (numbers.lhs_spec, numbers.out_spec, numbers.rhs_spec)))
  return _bind(
      x, ct, exchanged, back, feature_group_count=batch_group_count,
      batch_group_count=feature_group_count, **params)


# ---- dimensions that are split and merged


def split(x: Any, d: int, n: int) -> tuple[Any, int]:
  """Cuts dimension `d` into `n` parts: a new dimension stands before it, at `d`."""
  shape = typeof(x).shape
  return reshape(x, (*shape[:d], n, shape[d] // n, *shape[d + 1:])), d


def merge(x: Any, d: int, into: int) -> Any:
  """Merges dimension `d` into another, the outer of the two.

  `into` counts the dimensions without `d`.
  """
  shape = typeof(x).shape
  order = [i for i in range(len(shape)) if i != d]
  sizes = [shape[i] for i in order]
  sizes[into] *= shape[d]
  order.insert(into, d)
  return reshape(transpose(x, tuple(order)), tuple(sizes))


def _interleave(x: Any, d: int, into: int, groups: int) -> Any:
  """Merges dimension `d` into another, within each of its groups."""
  if groups == 1:
    return merge(x, d, into)
  at = into + (d <= into)
  x, _ = split(x, at, groups)
  d += d > at
  # without d, the groups stand at `into` and what is in them behind
  return merge(merge(x, d, into + 1), into, into)


def _separate(x: Any, at: int, size: int, groups: int) -> tuple[Any, int]:
  """Undoes `_interleave`: the dimension that was merged stands at `at`."""
  if groups == 1:
    return split(x, at, size)
  x, _ = split(x, at, groups)
  x, _ = split(x, at + 1, size)
  return merge(x, at, at + 1), at


# ---- batching


def _example(x: Any, d: int | None) -> ShapedArray:
  aval: ShapedArray = typeof(x)
  if d is None:
    return aval
  return ShapedArray((*aval.shape[:d], *aval.shape[d + 1:]), aval.dtype, aval.weak_type)


@batch_rule.define(conv_general_dilated_p)
def _(axis: Any, args: Values, dims: Values, *, dimension_numbers: ConvDimensionNumbers,
      feature_group_count: int, batch_group_count: int,
      **params: Any) -> tuple[Values, Values]:
  (x, y), (dx, dy) = args, dims
  lhs_spec, rhs_spec, out_spec = dimension_numbers
  features, batches, size = feature_group_count, batch_group_count, axis.size
  at, groups = out_spec[1], 1
  if size == 0:
    (out,) = typing_rule[conv_general_dilated_p](
        _example(x, dx), _example(y, dy), dimension_numbers=dimension_numbers,
        feature_group_count=features, batch_group_count=batches, **params)
    return (full((0, *out.shape), 0, out.dtype),), (0,)
  if dx is not None and dy is not None:  # each example has a group of its own
    into = lhs_spec[0] if batches > 1 else lhs_spec[1]
    x, y = merge(x, dx, into), merge(y, dy, rhs_spec[0])
    if batches > 1:
      batches *= size
    else:
      features *= size
  elif dx is not None:  # more elements of the batch
    x = _interleave(x, dx, lhs_spec[0], batches)
    at, groups = out_spec[0], 1
  else:  # more filters
    groups = features * batches
    y = _interleave(y, dy, rhs_spec[0], groups)
  out = conv_general_dilated_p.apply(
      x, y, dimension_numbers=dimension_numbers, feature_group_count=features,
      batch_group_count=batches, **params)[0]
  out, at = _separate(out, at, size, groups)
  return (out,), (at,)
