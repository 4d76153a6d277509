"""The dimensions of convolutions: which is which, and the shapes that follow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gnomon.lax._shape import ints
from gnomon.lax._windows_shape import Windows, padtype_to_pads, pairs

Shape = tuple[int, ...]
Spec = tuple[int, ...]


class ConvDimensionNumbers(NamedTuple):
  """Which dimensions of a convolution's arrays are which.

  Attributes:
    lhs_spec: of the left operand: batch, feature, then the spatial dimensions.
    rhs_spec: of the right operand: output feature, input feature, spatial dimensions.
    out_spec: of the result: batch, feature, spatial dimensions.

  >>> from gnomon import lax
  >>> lax.ConvDimensionNumbers((0, 2, 1), (2, 1, 0), (0, 2, 1)).rhs_spec
  (2, 1, 0)
  """

  lhs_spec: Sequence[int]
  rhs_spec: Sequence[int]
  out_spec: Sequence[int]


ConvGeneralDilatedDimensionNumbers = tuple[str, str, str] | ConvDimensionNumbers | None

_LETTERS = (("lhs", "N", "C"), ("rhs", "O", "I"), ("out", "N", "C"))


def conv_dimension_numbers(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int],
    dimension_numbers: Any) -> ConvDimensionNumbers:
  """Dimension numbers in whichever form, as `ConvDimensionNumbers`.

  Args:
    lhs_shape: the shape of the left operand.
    rhs_shape: the shape of the right operand, of the same rank.
    dimension_numbers: three strings with a letter a dimension, such as
      `("NHWC", "HWIO", "NHWC")`: `N` batch, `C` feature, `O` output feature, `I` input
      feature, other letters for spatial dimensions; or `ConvDimensionNumbers`; or None
      for `("NCHW", "OIHW", "NCHW")` and the like.

  >>> from gnomon import lax
  >>> lax.conv_dimension_numbers((1, 8, 3), (3, 3, 5), ("NHC", "HIO", "NHC"))
  ConvDimensionNumbers(lhs_spec=(0, 2, 1), rhs_spec=(2, 1, 0), out_spec=(0, 2, 1))

  Raises:
    TypeError: ranks differ, or the dimension numbers do not fit them.
  """
  if isinstance(dimension_numbers, ConvDimensionNumbers):
    return dimension_numbers
  rank = len(lhs_shape)
  if rank != len(rhs_shape):
    raise TypeError(
        "convolution requires lhs and rhs ndim to be equal, got "
        f"{rank} and {len(rhs_shape)}.")
  if dimension_numbers is None:
    return ConvDimensionNumbers(*(tuple(range(rank)),) * 3)
  _check_three(dimension_numbers)
  for i, spec in enumerate(dimension_numbers):
    if len(spec) != rank:
      raise TypeError(
          f"convolution dimension_numbers[{i}] must have len equal to the ndim of lhs "
          f"and rhs, got {len(spec)} for lhs and rhs shapes {tuple(lhs_shape)} and "
          f"{tuple(rhs_shape)}.")
  return ConvDimensionNumbers(*conv_general_permutations(dimension_numbers))


def _check_three(dimension_numbers: Any) -> None:
  if not isinstance(dimension_numbers, (tuple, list)):
    raise TypeError(
        "convolution dimension_numbers must be tuple/list or None, got "
        f"{type(dimension_numbers)}.")
  if len(dimension_numbers) != 3:
    raise TypeError(
        "convolution dimension_numbers list/tuple must be length 3, got "
        f"{len(dimension_numbers)}.")
  for i, spec in enumerate(dimension_numbers):
    if not isinstance(spec, str):
      raise TypeError(
          f"convolution dimension_numbers[{i}] must be a string with a letter a "
          f"dimension, got {spec!r}; numbers are given as ConvDimensionNumbers")


def conv_general_permutations(dimension_numbers: Any) -> tuple[Spec, Spec, Spec]:
  """Where the dimensions named by strings stand: batch, feature, spatial ones.

  The spatial dimensions come in the order of their letters in the right operand.

  Args:
    dimension_numbers: three strings, see `conv_dimension_numbers`.

  >>> from gnomon import lax
  >>> lax.conv_general_permutations(("NHWC", "HWIO", "NCHW"))
  ((0, 3, 1, 2), (3, 2, 0, 1), (0, 1, 2, 3))

  Raises:
    TypeError: there are not three strings, letters are missing or repeated, or spatial
      letters differ.
  """
  _check_three(dimension_numbers)
  for i, (spec, (_, first, second)) in enumerate(zip(dimension_numbers, _LETTERS)):
    if spec.count(first) != 1 or spec.count(second) != 1:
      raise TypeError(
          f"convolution dimension_numbers[{i}] must contain the characters '{first}' and "
          f"'{second}' exactly once, got {spec}.")
    if len(set(spec)) != len(spec):
      raise TypeError(
          f"convolution dimension_numbers[{i}] cannot have duplicate characters, got "
          f"{spec}.")
  spatial = [c for c in dimension_numbers[1] if c not in "OI"]
  out: list[Spec] = []
  for spec, (_, first, second) in zip(dimension_numbers, _LETTERS):
    if sorted(set(spec) - {first, second}) != sorted(spatial):
      raise TypeError(
          "convolution dimension_numbers elements must each have the same set of spatial "
          f"characters, got {tuple(dimension_numbers)}.")
    out.append(tuple(spec.index(c) for c in (first, second, *spatial)))
  return out[0], out[1], out[2]


# ---- shapes


def conv_shape_tuple(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], strides: Sequence[int],
    pads: Any, batch_group_count: int = 1) -> Shape:
  """The shape of a convolution of arrays in the order batch, feature, spatial.

  Args:
    lhs_shape: batch, feature and spatial sizes of the left operand.
    rhs_shape: output feature, input feature and spatial sizes of the right operand.
    strides: steps from one window to the next.
    pads: a name, see `padtype_to_pads`, or pairs of sizes before and after.
    batch_group_count: see `conv_general_dilated`.

  >>> from gnomon import lax
  >>> lax.conv_shape_tuple((2, 4, 8, 9), (6, 4, 2, 3), (2, 1), [(0, 0), (1, 1)])
  (2, 6, 4, 9)

  Raises:
    TypeError: the number of strides or of pairs is not that of spatial dimensions.
    ValueError: the batch size is no multiple of `batch_group_count`, or padding cuts off
      more than there is.
  """
  lhs, rhs = ints(lhs_shape), ints(rhs_shape)
  strides = ints(strides)
  if isinstance(pads, str):
    pads = padtype_to_pads(lhs[2:], rhs[2:], strides, pads)
  ones = (1,) * len(strides)
  w = Windows(rhs[2:], strides, pairs(pads, "conv_shape_tuple"), ones, ones)
  return result_shape(lhs, rhs, w, batch_group_count)


def result_shape(lhs: Shape, rhs: Shape, w: Windows, batch_group_count: int) -> Shape:
  """The shape of a convolution, in the order batch, feature, spatial dimensions."""
  n = len(lhs) - 2
  if len(w.padding) != n:
    raise TypeError(
        f"Wrong number of explicit pads for convolution: expected {n}, got "
        f"{len(w.padding)}.")
  if len(w.window_strides) != n:
    raise TypeError(
        f"convolution needs one stride a spatial dimension, {n}: got window_strides "
        f"{w.window_strides}")
  if any(m + low + high < 0 for m, (low, high) in zip(w.base(lhs[2:]), w.padding)):
    raise ValueError(
        "Negative padding is larger than the size of the corresponding dimension: got "
        f"padding={w.padding} for the spatial sizes {lhs[2:]} of lhs, dilated to "
        f"{w.base(lhs[2:])}")
  if lhs[0] % batch_group_count:
    raise ValueError(
        "conv_general_dilated batch_group_count must divide lhs batch dimension size, "
        f"but {batch_group_count} does not divide {lhs[0]}.")
  return (lhs[0] // batch_group_count, rhs[0], *w.counts(lhs[2:]))


def conv_general_shape_tuple(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], window_strides: Sequence[int],
    padding: Any, dimension_numbers: Any) -> Shape:
  """The shape of a convolution of arrays in any order of dimensions.

  Args:
    lhs_shape: the shape of the left operand.
    rhs_shape: the shape of the right operand.
    window_strides: steps from one window to the next.
    padding: a name, see `padtype_to_pads`, or pairs of sizes before and after.
    dimension_numbers: three strings, see `conv_dimension_numbers`.

  >>> from gnomon import lax
  >>> lax.conv_general_shape_tuple(
  ...     (2, 8, 9, 4), (2, 3, 4, 6), (2, 1), "SAME", ("NHWC", "HWIO", "NHWC"))
  (2, 4, 9, 6)

  Raises:
    TypeError: arguments do not fit each other.
  """
  lhs, rhs, out = conv_general_permutations(dimension_numbers)
  shape = conv_shape_tuple(
      in_order(lhs_shape, lhs), in_order(rhs_shape, rhs), window_strides, padding)
  return from_order(shape, out)


def conv_transpose_shape_tuple(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], window_strides: Sequence[int],
    padding: Any, dimension_numbers: Any) -> Shape:
  """The shape of a transposed convolution, see `conv_transpose`.

  Args:
    lhs_shape: the shape of the left operand.
    rhs_shape: the shape of the right operand.
    window_strides: how far the left operand's elements are pulled apart.
    padding: `"SAME"`, `"VALID"`, or pairs of sizes that are padded before and after.
    dimension_numbers: three strings, see `conv_dimension_numbers`.

  >>> from gnomon import lax
  >>> lax.conv_transpose_shape_tuple(
  ...     (2, 8, 9, 4), (2, 3, 4, 6), (2, 1), "SAME", ("NHWC", "HWIO", "NHWC"))
  (2, 16, 9, 6)

  Raises:
    TypeError: arguments do not fit each other.
  """
  lhs, rhs, out = conv_general_permutations(dimension_numbers)
  sizes, kernel = in_order(lhs_shape, lhs), in_order(rhs_shape, rhs)
  strides = ints(window_strides)
  if isinstance(padding, str):
    padding = [transposed_pads(k, s, padding) for k, s in zip(kernel[2:], strides)]
  ones = (1,) * len(strides)
  w = Windows(
      kernel[2:], ones, pairs(padding, "conv_transpose_shape_tuple"), strides, ones)
  return from_order(result_shape(sizes, kernel, w, 1), out)


def transposed_pads(k: int, stride: int, padding: str) -> tuple[int, int]:
  """The padding of a transposed convolution along a dimension, for a name.

  The result has `stride` times the operand's size with `"SAME"`; with `"VALID"`, the size
  that a convolution without padding maps to the operand's.

  Raises:
    ValueError: the name is neither.
  """
  name = padding.upper()
  if name == "SAME":
    total = k + stride - 2
    before = k - 1 if stride > k - 1 else -(-total // 2)
  elif name == "VALID":
    total = k + stride - 2 + max(k - stride, 0)
    before = k - 1
  else:
    raise ValueError(
        f"padding of a transposed convolution must be 'SAME', 'VALID' or pairs, got "
        f"{padding!r}")
  return before, total - before


def in_order(shape: Sequence[int], spec: Sequence[int]) -> Shape:
  """A shape in the order of a specification."""
  shape = ints(shape)
  return tuple(shape[d] for d in spec)


def from_order(shape: Sequence[int], spec: Sequence[int]) -> Shape:
  """A shape in the order batch, feature, spatial, as the array has it."""
  return tuple(shape[spec.index(d)] for d in range(len(spec)))
