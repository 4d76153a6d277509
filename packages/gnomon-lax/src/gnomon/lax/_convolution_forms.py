"""What is written with convolutions: transposed ones, patches, filters of each place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.structural import convert, full, reshape, transpose
from gnomon.core.types import typeof
from gnomon.lax._convolution import conv_general_dilated, spatial_windows
from gnomon.lax._convolution_numbers import (
  ConvDimensionNumbers,
  conv_dimension_numbers,
  from_order,
  in_order,
  result_shape,
  transposed_pads,
)
from gnomon.lax._dot import dot_general
from gnomon.lax._shape import ints, pad, rev
from gnomon.lax._slicing import slice_in_dim
from gnomon.lax._stack import stack
from gnomon.lax._windows_shape import Shape, Windows, dilated, pairs, per_dimension

_DEFAULTS: dict[int, tuple[str, str, str]] = {
    2: ("NC", "IO", "NC"), 3: ("NHC", "HIO", "NHC"), 4: ("NHWC", "HWIO", "NHWC"),
    5: ("NHWDC", "HWDIO", "NHWDC")}


def conv_transpose(
    lhs: Any, rhs: Any, strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]], rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None, transpose_kernel: bool = False, precision: Any = None,
    preferred_element_type: Any = None, use_consistent_padding: bool = False) -> Any:
  """A "transposed" convolution: the left operand is pulled apart by the strides.

  With `transpose_kernel` it is the transpose of a convolution with the same filters and
  strides, so the gradient of that convolution.

  Args:
    lhs: an array with a batch, a feature and spatial dimensions.
    rhs: the filters.
    strides: how far the elements of `lhs` are pulled apart, with zeros between.
    padding: `"SAME"`: the result has the size of `lhs` times the strides. `"VALID"`: the
      size that a convolution without padding maps to that of `lhs`. Or pairs of numbers
      of zeros before and after.
    rhs_dilation: how far the elements of `rhs` are pulled apart.
    dimension_numbers: see `conv_dimension_numbers`; None for features at the end:
      `("NHWC", "HWIO", "NHWC")` and the like, of at most three spatial dimensions.
    transpose_kernel: whether the filters are reversed, and their features exchanged.
    precision: see `conv_general_dilated`.
    preferred_element_type: see `conv_general_dilated`.
    use_consistent_padding: whether pairs say how much the convolution was padded that
      this one is the transpose of, rather than how much `lhs` is padded here.

  Returns:
    An array with a batch, a feature and the spatial dimensions.

  >>> from gnomon import lax
  >>> x, w = lax.full((1, 2, 1), 1.0), lax.full((2, 1, 1), 3.0)
  >>> lax.conv_transpose(x, w, (2,), "SAME").tolist()
  [[[3.0], [3.0], [3.0], [3.0]]]

  Raises:
    TypeError: ranks differ, or dimension numbers do not fit.
    ValueError: there is no such padding, or there are no default dimension numbers for
      that rank.
  """
  x, y = typeof(lhs), typeof(rhs)
  if dimension_numbers is None:
    if x.ndim != y.ndim:
      raise TypeError(
          "convolution requires lhs and rhs ndim to be equal, got "
          f"{x.ndim} and {y.ndim}.")
    if x.ndim not in _DEFAULTS:
      raise ValueError(
          "conv_transpose has default dimension_numbers for at most three spatial "
          f"dimensions: give some for operands of rank {x.ndim}")
    dimension_numbers = _DEFAULTS[x.ndim]
  numbers = conv_dimension_numbers(x.shape, y.shape, dimension_numbers)
  steps = ints(strides)
  n = x.ndim - 2
  gaps = per_dimension(rhs_dilation, n)
  if len(steps) != n or len(gaps) != n:
    raise TypeError(
        f"conv_transpose needs a stride and a dilation for each of {n} spatial "
        f"dimensions: got strides {steps} and rhs_dilation {gaps}")
  extents = list(map(dilated, in_order(y.shape, numbers.rhs_spec)[2:], gaps))
  if isinstance(padding, str):
    pads: Any = [transposed_pads(k, s, padding) for k, s in zip(extents, steps)]
  else:
    pads = pairs(padding, "conv_transpose")
    if use_consistent_padding:
      pads = [(k - 1 - low, k - 1 - high) for k, (low, high) in zip(extents, pads)]
  if transpose_kernel:
    spec = numbers.rhs_spec
    rhs = rev(rhs, tuple(spec[2:]))
    numbers = ConvDimensionNumbers(
        numbers.lhs_spec, (spec[1], spec[0], *spec[2:]), numbers.out_spec)
  return conv_general_dilated(
      lhs, rhs, (1,) * n, pads, steps, gaps, numbers, precision=precision,
      preferred_element_type=preferred_element_type)


def conv_general_dilated_patches(
    lhs: Any, filter_shape: Sequence[int], window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]], lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None, dimension_numbers: Any = None,
    precision: Any = None, preferred_element_type: Any = None) -> Any:
  """The windows that a convolution looks at, as features.

  Args:
    lhs: an array with a batch, a feature and spatial dimensions.
    filter_shape: sizes of the windows.
    window_strides: see `conv_general_dilated`.
    padding: see `conv_general_dilated`.
    lhs_dilation: see `conv_general_dilated`.
    rhs_dilation: how far the elements of a window are apart.
    dimension_numbers: see `conv_dimension_numbers`; only those of `lhs` and of the result
      matter.
    precision: has no effect: elements are copied, not multiplied.
    preferred_element_type: see `conv_general_dilated`.

  Returns:
    An array with a batch, a feature and the spatial dimensions. The features are those of
    `lhs`, and for each the elements of the window in row-major order.

  >>> from gnomon import lax
  >>> import numpy as np
  >>> x = np.arange(4, dtype="float32").reshape(1, 1, 4)
  >>> lax.conv_general_dilated_patches(x, (2,), (1,), "VALID").tolist()
  [[[0.0, 1.0, 2.0], [1.0, 2.0, 3.0]]]

  Raises:
    TypeError: as `conv_general_dilated` does.
    ValueError: likewise.
    RuntimeError: there is no padding of that name.
  """
  x, window = typeof(lhs), ints(filter_shape)
  numbers = conv_dimension_numbers(x.shape, (1, 1, *window), dimension_numbers)
  spec, out_spec = tuple(numbers.lhs_spec), tuple(numbers.out_spec)
  sizes = in_order(x.shape, spec)
  w = spatial_windows(
      sizes, window, window_strides, padding, lhs_dilation, rhs_dilation)
  _, _, *counts = result_shape(sizes, (1, 1, *window), w, 1)
  elements = math.prod(window)
  dtype = x.dtype
  if preferred_element_type is not None:
    dtype = dtypes.canonicalize_dtype(preferred_element_type)
  shape = from_order((sizes[0], sizes[1] * elements, *counts), out_spec)
  if 0 in shape:
    return full(shape, 0, dtype)
  return convert(_gather_windows(lhs, spec, out_spec, w, shape), dtype)


def _gather_windows(
    x: Any, spec: Shape, out_spec: Shape, w: Windows, shape: Shape) -> Any:
  """Slices along each spatial dimension in turn: as many as windows are long.

  A convolution with one filter an element, all zeros but one, would turn infinities into
  nans.
  """
  rank = len(spec)
  config = [(0, 0, 0)] * rank
  for d, (low, high), gap in zip(spec[2:], w.padding, w.base_dilation):
    config[d] = (low, high, gap - 1)
  x = pad(x, np.zeros((), typeof(x).dtype)[()], config)
  for i, (d, k, step, gap) in enumerate(zip(
      spec[2:], w.window_dimensions, w.window_strides, w.window_dilation)):
    length = dilated(shape[out_spec[2 + i]], step)
    x = stack([
        slice_in_dim(x, j, j + length, step, d + i) for j in range(0, k * gap, gap)])
  n = rank - 2  # the elements of windows now stand in front, the last dimension's first
  names: dict[int, Shape] = {
      d: (n + spec[i],) for i, d in enumerate(out_spec)}
  names[out_spec[1]] += tuple(range(n - 1, -1, -1))
  x = transpose(x, tuple(a for d in range(rank) for a in names[d]))
  return reshape(x, shape)


def conv_general_dilated_local(
    lhs: Any, rhs: Any, window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]], filter_shape: Sequence[int],
    lhs_dilation: Sequence[int] | None = None, rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None, precision: Any = None) -> Any:
  """A convolution with filters of its own for each place.

  Args:
    lhs: an array with a batch, a feature and spatial dimensions.
    rhs: the filters: its spatial dimensions are those of the result, its input feature
      dimension has the features of `lhs`, and for each the elements of a window in
      row-major order.
    window_strides: see `conv_general_dilated`.
    padding: see `conv_general_dilated`.
    filter_shape: sizes of the windows.
    lhs_dilation: see `conv_general_dilated`.
    rhs_dilation: how far the elements of a window are apart.
    dimension_numbers: see `conv_dimension_numbers`.
    precision: see `conv_general_dilated`.

  Returns:
    An array with a batch, a feature (the filters' output feature) and the spatial
    dimensions.

  >>> from gnomon import lax
  >>> x, w = lax.full((1, 1, 4), 1.0), lax.full((2, 3, 2), 1.0)
  >>> lax.conv_general_dilated_local(x, w, (1,), "VALID", (3,)).tolist()
  [[[3.0, 3.0], [3.0, 3.0]]]

  Raises:
    TypeError: the filters' sizes do not fit; or as `conv_general_dilated` does.
    ValueError: likewise.
    RuntimeError: there is no padding of that name.
  """
  y = typeof(rhs)
  numbers = conv_dimension_numbers(typeof(lhs).shape, y.shape, dimension_numbers)
  patches = conv_general_dilated_patches(
      lhs, filter_shape, window_strides, padding, lhs_dilation, rhs_dilation, numbers)
  out_spec, rhs_spec = tuple(numbers.out_spec), tuple(numbers.rhs_spec)
  if in_order(typeof(patches).shape, out_spec)[1:] != in_order(y.shape, rhs_spec)[1:]:
    raise TypeError(
        "conv_general_dilated_local needs filters with as many input features as windows "
        "have elements, times features, and with the spatial sizes of the result: "
        f"{in_order(typeof(patches).shape, out_spec)[1:]}, got "
        f"{in_order(y.shape, rhs_spec)[1:]}")
  out = dot_general(
      patches, rhs, (((out_spec[1],), (rhs_spec[1],)), (out_spec[2:], rhs_spec[2:])),
      precision)
  n = len(out_spec) - 2  # the product has the spatial dimensions, batch, feature
  place = {d: (*range(n, n + 2), *range(n))[i] for i, d in enumerate(out_spec)}
  return transpose(out, tuple(place[d] for d in range(n + 2)))
