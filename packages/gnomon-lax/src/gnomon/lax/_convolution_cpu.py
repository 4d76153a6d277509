"""Convolutions on CPUs where XLA has no fast code for them: few taps, and groups.

XLA:CPU gives convolutions to Eigen, which is slow where little is summed, and slower
still for groups (0.5 GFLOP/s for depthwise filters). A sum of shifted copies of the
operand, each times one element of the filters, compiles to one loop that runs several
times as fast, for groups up to 80 times. It compiles slower, the more so the more taps
there are: small convolutions, and those with many taps, are left to XLA; but a long
filter of few features takes a part of its taps at a time, in a loop.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.structural import (
  broadcast_in_dim,
  convert,
  full,
  reduce_sum,
  reshape,
  transpose,
)
from gnomon.core.types import ShapedArray, typeof
from gnomon.lax._arithmetic import add, mul
from gnomon.lax._control.while_ import fori_loop
from gnomon.lax._convolution_numbers import ConvDimensionNumbers, in_order
from gnomon.lax._dynamic import dynamic_slice_in_dim
from gnomon.lax._loops import wider
from gnomon.lax._shape import concatenate
from gnomon.lax._slicing import slice as slice_array
from gnomon.lax._windows_shape import Windows, dilated, padded

_WORK = 2 ** 18  # products: fewer are not worth the time to compile
_GROUPED_TAPS = 64
_TAPS = ((4, 128), (32, 32))  # for at most so many output features, at most so many taps
_CHUNK = 16  # taps of a long filter at a time


def suits_taps(
    lhs: ShapedArray, rhs: ShapedArray, out: ShapedArray, numbers: ConvDimensionNumbers,
    lhs_dilation: Sequence[int], feature_group_count: int, batch_group_count: int,
) -> bool:
  """Whether the sum over taps is the faster one."""
  if batch_group_count != 1 or not dtypes.issubdtype(lhs.dtype, np.number):
    return False
  features, inputs, *window = in_order(rhs.shape, numbers.rhs_spec)
  taps = inputs * math.prod(window)
  if out.size * taps < _WORK:
    return False
  if feature_group_count > 1:
    return taps <= _GROUPED_TAPS
  # Eigen is good at products of matrices, which a window of one element makes.
  plain = all(d == 1 for d in lhs_dilation) and taps > inputs
  return plain and any(features <= n and taps <= most for n, most in _TAPS)


def by_taps(
    x: Any, y: Any, *, dimension_numbers: ConvDimensionNumbers, window_strides: Any,
    padding: Any, lhs_dilation: Any, rhs_dilation: Any, feature_group_count: int,
    out_dtype: Any, out_shape: Any) -> list[Any]:
  """The convolution as a sum over the elements of a filter and its input features."""
  numbers = dimension_numbers
  acc = _sums_in(out_dtype)
  y = _filters_last(convert(y, acc), numbers)
  w = Windows(
      typeof(y).shape[:-2], window_strides, padding, lhs_dilation, rhs_dilation)
  x = _like_result(convert(x, acc), numbers)
  whole = padded(x, _everywhere(w, numbers.out_spec), full((), 0, acc))
  total = _sum_of_taps(
      whole, y, w, tuple(numbers.out_spec), out_shape, feature_group_count)
  return [convert(total, out_dtype)]


def _like_result(x: Any, numbers: ConvDimensionNumbers) -> Any:
  """The operand with its dimensions in the order of the result's."""
  place = {d: numbers.lhs_spec[i] for i, d in enumerate(numbers.out_spec)}
  return transpose(x, tuple(place[d] for d in range(len(place))))


def _filters_last(y: Any, numbers: ConvDimensionNumbers) -> Any:
  """The filters with the dimensions of the window, then input and output features."""
  spec = numbers.rhs_spec
  return transpose(y, (*spec[2:], spec[1], spec[0]))


def _sum_of_taps(
    whole: Any, y: Any, w: Windows, out_spec: Any, out_shape: Any, groups: int) -> Any:
  *window, inputs, features = typeof(y).shape
  at = out_spec[1]
  total: Any = None
  for place, offset in zip(np.ndindex(*window), w.offsets()):
    for c in range(inputs):
      shifted = _one_feature_a_group(
          whole, out_spec, out_shape, w.window_strides, offset, c, inputs, groups)
      first = (*place, c)
      tap = slice_array(y, (*first, 0), (*(s + 1 for s in first), features))
      factor = broadcast_in_dim(reshape(tap, (features,)), out_shape, (at,))
      part = mul(_repeated(shifted, at, groups, out_shape), factor)
      total = part if total is None else add(total, part)
  return total


# ---- long filters


def suits_chunks(
    lhs: ShapedArray, rhs: ShapedArray, out: ShapedArray, numbers: ConvDimensionNumbers,
    lhs_dilation: Sequence[int], feature_group_count: int, batch_group_count: int,
) -> bool:
  """Whether a loop over parts of the filter is the faster one."""
  if not dtypes.issubdtype(lhs.dtype, np.number) or rhs.ndim != 3:
    return False
  features, inputs, k = in_order(rhs.shape, numbers.rhs_spec)
  return (feature_group_count == batch_group_count == lhs_dilation[0] == 1
          and features * inputs <= 4 and k > 2 * _CHUNK
          and out.size * inputs * k >= _WORK)


def by_chunks(
    x: Any, y: Any, *, dimension_numbers: ConvDimensionNumbers, window_strides: Any,
    padding: Any, lhs_dilation: Any, rhs_dilation: Any, out_dtype: Any,
    out_shape: Any) -> list[Any]:
  """A convolution along one dimension, some taps after the others."""
  numbers, acc = dimension_numbers, _sums_in(out_dtype)
  y = _filters_last(convert(y, acc), numbers)
  k, (gap,), d = typeof(y).shape[0], rhs_dilation, numbers.out_spec[2]
  w = Windows((_CHUNK,), window_strides, padding, lhs_dilation, rhs_dilation)
  x = _like_result(convert(x, acc), numbers)
  whole = padded(x, _everywhere(w, numbers.out_spec), full((), 0, acc))
  reach = dilated(out_shape[d], window_strides[0]) - 1

  def part(start: Any, taps: int) -> Any:
    xs = dynamic_slice_in_dim(whole, mul(start, gap), reach + dilated(taps, gap), d)
    ys = dynamic_slice_in_dim(y, start, taps, 0)
    return _sum_of_taps(
        xs, ys, w._replace(window_dimensions=(taps,)), tuple(numbers.out_spec),
        out_shape, 1)

  steps, rest = divmod(k, _CHUNK)
  total = fori_loop(
      0, steps, lambda i, total: add(total, part(mul(i, _CHUNK), _CHUNK)),
      full(out_shape, 0, acc))
  if rest:
    total = add(total, part(np.int32(k - rest), rest))
  return [convert(total, out_dtype)]


def _sums_in(dtype: Any) -> Any:
  small = dtypes.issubdtype(dtype, np.floating) and dtypes.itemsize_bits(dtype) < 32
  return wider(dtype) if small else dtype


def _everywhere(w: Windows, spec: Sequence[int]) -> Windows:
  """Windows over the spatial dimensions as windows over all, in an array's order."""
  def spread(values: Any, plain: Any) -> tuple[Any, ...]:
    at = dict(zip(spec[2:], values))
    return tuple(at.get(d, plain) for d in range(len(spec)))

  return w.rearranged(spread)


def _one_feature_a_group(
    x: Any, spec: Any, out_shape: Any, strides: Any, offset: Any, c: int, inputs: int,
    groups: int) -> Any:
  """Feature `c` of each group, at one offset of all windows."""
  starts, stops, steps = [0] * len(spec), list(typeof(x).shape), [1] * len(spec)
  starts[spec[1]], stops[spec[1]] = c, c + dilated(groups, inputs)
  steps[spec[1]] = inputs
  for d, a, s in zip(spec[2:], offset, strides):
    starts[d], stops[d], steps[d] = a, a + dilated(out_shape[d], s), s
  return slice_array(x, starts, stops, steps)


def _repeated(x: Any, at: int, groups: int, out_shape: Any) -> Any:
  """Repeats each group's feature for its output features."""
  shape = typeof(x).shape
  if shape == tuple(out_shape):
    return x
  each = out_shape[at] // groups
  split = (*shape[:at], groups, each, *shape[at + 1:])
  kept = tuple(d + (d > at) for d in range(len(shape)))
  return reshape(broadcast_in_dim(x, split, kept), tuple(out_shape))


# ---- the gradient of depthwise filters


def suits_places(
    lhs: ShapedArray, rhs: ShapedArray, out: ShapedArray, numbers: ConvDimensionNumbers,
    lhs_dilation: Sequence[int], feature_group_count: int, batch_group_count: int,
) -> bool:
  """Whether one sum for each place of the result is the faster one."""
  if not dtypes.issubdtype(lhs.dtype, np.number) or batch_group_count == 1:
    return False
  batch = lhs.shape[numbers.lhs_spec[0]]
  places = math.prod(in_order(out.shape, numbers.out_spec)[2:])
  return (batch == batch_group_count and places <= _GROUPED_TAPS
          and rhs.size * places >= _WORK)


def by_places(
    x: Any, y: Any, *, dimension_numbers: ConvDimensionNumbers, window_strides: Any,
    padding: Any, lhs_dilation: Any, rhs_dilation: Any, batch_group_count: int,
    out_dtype: Any, out_shape: Any) -> list[Any]:
  """For each place of the result one sum over windows, of groups of one batch element."""
  lhs_spec, rhs_spec, out_spec = (tuple(s) for s in dimension_numbers)
  acc = _sums_in(out_dtype)
  x, y = convert(x, acc), convert(y, acc)
  groups, features = batch_group_count, out_shape[out_spec[1]]
  window = in_order(typeof(y).shape, rhs_spec)[2:]
  w = Windows(window, window_strides, padding, lhs_dilation, rhs_dilation)
  whole = padded(x, _everywhere(w, lhs_spec), full((), 0, acc))
  # both as the filters are: groups, output features of a group, then what is summed
  whole = transpose(whole, _like(lhs_spec, rhs_spec))
  at = rhs_spec[0]
  shape = typeof(y).shape
  y = reshape(y, (*shape[:at], groups, features // groups, *shape[at + 1:]))
  summed = tuple(d + (d > at) for d in range(len(shape)) if d != at)
  counts = in_order(out_shape, out_spec)[2:]
  outs = []
  for place in np.ndindex(*counts):
    starts, stops, steps = [0] * len(shape), list(typeof(whole).shape), [1] * len(shape)
    for d, p, s, k, gap in zip(
        rhs_spec[2:], place, window_strides, window, rhs_dilation):
      starts[d], stops[d], steps[d] = p * s, p * s + dilated(k, gap), gap
    part = slice_array(whole, starts, stops, steps)
    kept = tuple(d + (d > at) for d in range(len(shape)))
    part = broadcast_in_dim(part, typeof(y).shape, kept)
    outs.append(reshape(reduce_sum(mul(part, y), summed), (features, 1)))
  out = reshape(concatenate(outs, 1), (1, features, *counts))
  out = transpose(out, tuple(out_spec.index(d) for d in range(len(out_spec))))
  return [convert(out, out_dtype)]


def _like(lhs_spec: Sequence[int], rhs_spec: Sequence[int]) -> tuple[int, ...]:
  """The order in which the left operand's batch stands where the filters' outputs do."""
  place = {d: lhs_spec[i] for i, d in enumerate(rhs_spec)}
  return tuple(place[d] for d in range(len(rhs_spec)))
