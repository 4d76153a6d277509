"""Convolutions of two arrays, with windows over any number of spatial dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.core import dtypes
from gnomon.core.types import ShapedArray, typeof
from gnomon.lax import _convolution_derivatives as _convolution_derivatives
from gnomon.lax._convolution_numbers import (
  ConvDimensionNumbers,
  conv_dimension_numbers,
  in_order,
)
from gnomon.lax._convolution_primitive import (
  conv_general_dilated_p as conv_general_dilated_p,
)
from gnomon.lax._precision import canonical
from gnomon.lax._windows_shape import (
  Shape,
  Windows,
  dilated,
  padtype_to_pads,
  pairs,
  per_dimension,
)


def conv_general_dilated(
    lhs: Any, rhs: Any, window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]], lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None, dimension_numbers: Any = None,
    feature_group_count: int = 1, batch_group_count: int = 1, precision: Any = None,
    preferred_element_type: Any = None, out_sharding: Any = None) -> Any:
  r"""Correlates an array with filters over its spatial dimensions.

  For each batch element `n`, output feature `o` and window that starts at `p`, the result
  is the sum of products :math:`\sum_{c, k} x_{n, c, p + k} w_{o, c, k}`: the filters are
  not reversed, as in neural networks.

  Args:
    lhs: an array with a batch, a feature and any number of spatial dimensions.
    rhs: the filters, an array of the same dtype and rank, with an output feature, an
      input feature and the spatial dimensions.
    window_strides: steps from one window to the next, one a spatial dimension.
    padding: pairs of numbers of zeros before and after, one a spatial dimension
      (negative ones cut off); or `"VALID"` for none, `"SAME"` or `"SAME_LOWER"` for as
      much as gives the size of `lhs` divided by the strides.
    lhs_dilation: how far the elements of `lhs` are pulled apart, with zeros between:
      "transposed" convolution.
    rhs_dilation: the same for `rhs`: "atrous" convolution.
    dimension_numbers: which dimensions are which, see `conv_dimension_numbers`; None for
      batch, feature, spatial ones, and output feature, input feature, spatial ones.
    feature_group_count: into how many groups the features of both are divided; each
      group of `lhs` meets its own group of filters.
    batch_group_count: into how many groups the batch is divided; each meets its own group
      of filters, and the result has the batch size of one group.
    precision: how exactly accelerators multiply, see `Precision`; None: what
      `gnomon.default_matmul_precision` says.
    preferred_element_type: the dtype of the result, and of the sums; None for that of the
      operands.
    out_sharding: how the result is laid out over devices; None without a mesh.

  Returns:
    An array with a batch, a feature (the filters' output feature) and the spatial
    dimensions.

  >>> from gnomon import lax
  >>> x, w = lax.full((1, 1, 4), 1.0), lax.full((2, 1, 3), 2.0)
  >>> lax.conv_general_dilated(x, w, (1,), "SAME").tolist()
  [[[4.0, 6.0, 6.0, 4.0], [4.0, 6.0, 6.0, 4.0]]]

  Raises:
    TypeError: dtypes or ranks differ, dimension numbers do not fit, or the preferred
      element type is of another kind or narrower.
    ValueError: sizes, strides, dilations, padding or numbers of groups do not fit.
    RuntimeError: there is no padding of that name.
  """
  x, y = typeof(lhs), typeof(rhs)
  numbers = conv_dimension_numbers(x.shape, y.shape, dimension_numbers)
  numbers = ConvDimensionNumbers(*(tuple(map(int, spec)) for spec in numbers))
  _check_numbers(numbers, x, y)
  w = spatial_windows(
      in_order(x.shape, numbers.lhs_spec), in_order(y.shape, numbers.rhs_spec)[2:],
      window_strides, padding, lhs_dilation, rhs_dilation)
  preferred = None
  if preferred_element_type is not None:
    preferred = dtypes.canonicalize_dtype(preferred_element_type)
  return conv_general_dilated_p.apply(
      lhs, rhs, window_strides=w.window_strides, padding=w.padding,
      lhs_dilation=w.base_dilation, rhs_dilation=w.window_dilation,
      dimension_numbers=numbers,
      feature_group_count=int(feature_group_count),
      batch_group_count=int(batch_group_count), precision=canonical(precision),
      preferred_element_type=preferred, out_sharding=out_sharding)[0]


def conv(
    lhs: Any, rhs: Any, window_strides: Sequence[int], padding: str,
    precision: Any = None, preferred_element_type: Any = None) -> Any:
  """A convolution without dilation or groups, see `conv_general_dilated`.

  Args:
    lhs: an array with a batch, a feature and spatial dimensions, in this order.
    rhs: the filters: output feature, input feature, spatial dimensions.
    window_strides: steps from one window to the next.
    padding: `"VALID"`, `"SAME"`, `"SAME_LOWER"`, or pairs of sizes.
    precision: see `conv_general_dilated`.
    preferred_element_type: see `conv_general_dilated`.

  >>> from gnomon import lax
  >>> lax.conv(lax.full((1, 2, 5), 1.0), lax.full((3, 2, 2), 1.0), (1,), "VALID").shape
  (1, 3, 4)

  Raises:
    TypeError: as `conv_general_dilated` does.
    ValueError: likewise.
    RuntimeError: there is no padding of that name.
  """
  return conv_general_dilated(
      lhs, rhs, window_strides, padding, precision=precision,
      preferred_element_type=preferred_element_type)


def conv_with_general_padding(
    lhs: Any, rhs: Any, window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]], lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None, precision: Any = None,
    preferred_element_type: Any = None) -> Any:
  """A convolution without groups, see `conv_general_dilated`.

  Args:
    lhs: an array with a batch, a feature and spatial dimensions, in this order.
    rhs: the filters: output feature, input feature, spatial dimensions.
    window_strides: steps from one window to the next.
    padding: a name, or pairs of numbers of zeros before and after.
    lhs_dilation: how far the elements of `lhs` are pulled apart; None for not at all.
    rhs_dilation: the same for `rhs`.
    precision: see `conv_general_dilated`.
    preferred_element_type: see `conv_general_dilated`.

  >>> from gnomon import lax
  >>> x, w = lax.full((1, 1, 4), 1.0), lax.full((1, 1, 2), 1.0)
  >>> lax.conv_with_general_padding(x, w, (1,), [(0, 1)], None, (2,)).tolist()
  [[[2.0, 2.0, 1.0]]]

  Raises:
    TypeError: as `conv_general_dilated` does.
    ValueError: likewise.
    RuntimeError: there is no padding of that name.
  """
  return conv_general_dilated(
      lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation,
      precision=precision, preferred_element_type=preferred_element_type)


# ---- arguments


def _check_numbers(numbers: ConvDimensionNumbers, x: ShapedArray, y: ShapedArray) -> None:
  if x.ndim != y.ndim:
    raise ValueError(
        "conv_general_dilated lhs and rhs must have the same number of dimensions, got "
        f"{x} and {y}")
  if x.ndim < 2:
    raise TypeError(
        "convolution needs operands with a batch and a feature dimension (output and "
        f"input feature of the filters): got {x} and {y}")
  for field, spec in zip(numbers._fields, numbers):
    if sorted(spec) != list(range(x.ndim)):
      raise TypeError(
          f"convolution dimension_numbers.{field} must name each of the {x.ndim} "
          f"dimensions once, got {tuple(spec)}")


def spatial_windows(
    lhs: Shape, window: Shape, window_strides: Any, padding: Any, lhs_dilation: Any,
    rhs_dilation: Any) -> Windows:
  """The user's windows over the spatial dimensions of an operand.

  `lhs` is its shape in the order batch, feature, spatial dimensions.

  Raises:
    TypeError: a dilation is not positive.
    ValueError: numbers are missing, or strides not positive; or padding is given by name
      for an operand that is pulled apart.
    RuntimeError: there is no padding of that name.
  """
  n = len(lhs) - 2
  strides, base = per_dimension(window_strides, n), per_dimension(lhs_dilation, n)
  gaps = per_dimension(rhs_dilation, n)
  _check_lengths(n, window_strides=strides, lhs_dilation=base, rhs_dilation=gaps)
  if isinstance(padding, str):
    if any(d != 1 for d in base):
      raise ValueError(
          "conv_general_dilated with lhs_dilation takes padding in pairs, not by name: "
          f"got padding={padding!r} and lhs_dilation={base}; conv_transpose takes names")
    extents = tuple(map(dilated, window, gaps))
    padding = padtype_to_pads(lhs[2:], extents, strides, padding)
  return Windows(window, strides, pairs(padding, "conv_general_dilated"), base, gaps)


def _check_lengths(n: int, **given: Shape) -> None:
  for name, values in given.items():
    if len(values) != n:
      raise ValueError(
          f"conv_general_dilated window and {name} must have the same number of "
          f"dimensions, but got {n} and {len(values)}")
    if any(v < 1 for v in values):
      if name == "window_strides":
        raise ValueError(f"conv_general_dilated {name} must be positive, got {values}")
      raise TypeError(
          f"All dilations must be positive, got {values} as {name} of "
          "conv_general_dilated")
