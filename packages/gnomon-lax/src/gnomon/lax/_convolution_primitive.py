"""The primitive of convolutions: its type, and how it is lowered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.primitive import Primitive
from gnomon.core.rule import lower, typing_rule
from gnomon.core.types import ShapedArray
from gnomon.lax._convolution_cpu import (
  by_chunks,
  by_places,
  by_taps,
  suits_chunks,
  suits_places,
  suits_taps,
)
from gnomon.lax._convolution_numbers import (
  ConvDimensionNumbers,
  from_order,
  in_order,
  result_shape,
)
from gnomon.lax._loops import on_cpu
from gnomon.lax._precision import Canonical, precision_attr
from gnomon.lax._programs import emit
from gnomon.lax._windows_shape import Pads, Shape, Windows

Values = Sequence[Any]

conv_general_dilated_p = Primitive("conv_general_dilated")


def windows_of(
    rhs: ShapedArray, numbers: ConvDimensionNumbers, window_strides: Shape,
    padding: Pads, lhs_dilation: Shape, rhs_dilation: Shape) -> Windows:
  """The windows of a convolution over the spatial dimensions."""
  return Windows(
      in_order(rhs.shape, numbers.rhs_spec)[2:], window_strides, padding, lhs_dilation,
      rhs_dilation)


@typing_rule.define(conv_general_dilated_p)
def _(x: ShapedArray, y: ShapedArray, *, dimension_numbers: ConvDimensionNumbers,
      window_strides: Shape, padding: Pads, lhs_dilation: Shape, rhs_dilation: Shape,
      feature_group_count: int, batch_group_count: int, precision: Canonical,
      preferred_element_type: Any, out_sharding: Any) -> tuple[ShapedArray]:
  if x.dtype != y.dtype:
    raise TypeError(
        "lax.conv_general_dilated requires arguments to have the same dtypes, got "
        f"{x.dtype}, {y.dtype}. (Convert one with lax.convert_element_type)")
  if isinstance(x.dtype, dtypes.ExtendedDType):
    raise TypeError(f"conv_general_dilated does not accept dtype {x.dtype}")
  lhs = in_order(x.shape, dimension_numbers.lhs_spec)
  rhs = in_order(y.shape, dimension_numbers.rhs_spec)
  _check_groups(lhs, rhs, feature_group_count, batch_group_count)
  w = windows_of(
      y, dimension_numbers, window_strides, padding, lhs_dilation, rhs_dilation)
  shape = from_order(
      result_shape(lhs, rhs, w, batch_group_count), dimension_numbers.out_spec)
  dtype = x.dtype
  if preferred_element_type is not None:
    _check_preferred(dtype, preferred_element_type)
    dtype = preferred_element_type
  return (ShapedArray(shape, dtype, x.weak_type and y.weak_type),)


def _check_groups(lhs: Shape, rhs: Shape, features: int, batches: int) -> None:
  for name, n in (("feature_group_count", features), ("batch_group_count", batches)):
    if n < 1:
      raise ValueError(
          f"conv_general_dilated {name} must be a positive integer, got {n}.")
    if rhs[0] % n:
      raise ValueError(
          "conv_general_dilated rhs output feature dimension size must be a multiple of "
          f"{name}, but {rhs[0]} is not a multiple of {n}.")
  if features > 1 and batches > 1:
    raise ValueError(
        "At most one of batch_group_count and feature_group_count may be > 1, got "
        f"batch_group_count={batches} and feature_group_count={features}")
  if lhs[1] % features:
    raise ValueError(
        "conv_general_dilated feature_group_count must divide lhs feature dimension "
        f"size, but {features} does not divide {lhs[1]}.")
  if lhs[1] // features != rhs[1]:
    raise ValueError(
        "conv_general_dilated lhs feature dimension size divided by feature_group_count "
        f"must equal the rhs input feature dimension size, but {lhs[1]} // {features} != "
        f"{rhs[1]}.")


_WIDENINGS = (
    (np.integer, np.integer), (np.integer, np.floating), (np.floating, np.floating),
    (np.complexfloating, np.complexfloating))


def _check_preferred(dtype: Any, preferred: Any) -> None:
  if dtype == preferred:
    return
  got = f"preferred_element_type {preferred} for operands of dtype {dtype}"
  if not any(dtypes.issubdtype(dtype, a) and dtypes.issubdtype(preferred, b)
             for a, b in _WIDENINGS):
    raise TypeError(
        "Input type is incompatible with `preferred_element_type`. The compatible "
        "combinations are integers with integers or floats, floats with floats, complex "
        f"numbers with complex ones; got {got}")
  if dtypes.issubdtype(preferred, np.integer) and (
      dtypes.issubdtype(dtype, np.signedinteger)
      != dtypes.issubdtype(preferred, np.signedinteger)):
    raise TypeError(
        "`preferred_element_type` must have the same signedness as the original type; "
        f"got {got}")
  if dtypes.itemsize_bits(preferred) < dtypes.itemsize_bits(dtype):
    raise TypeError(
        "`preferred_element_type` must not be narrower than the original type; got "
        f"{got}")


# ---- lowering


@lower.define(conv_general_dilated_p)
def _(ctx: Any, x: Any, y: Any, **params: Any) -> Values:
  b, (lhs, rhs), out = ctx.b, ctx.avals_in, ctx.avals_out[0]
  if out.size == 0 or rhs.size == 0:  # no windows, or empty sums
    return [b.full(out, 0)]
  faster = _on_cpus(ctx, x, y, **params) if on_cpu(ctx) else None
  if faster is not None:
    return faster
  if not dtypes.issubdtype(lhs.dtype, np.complexfloating):
    return [_emit(b, x, y, out, params)]
  # Products of complex numbers from real convolutions: compilers have fast ones.
  part = np.finfo(lhs.dtype).dtype
  left, right = ShapedArray(lhs.shape, part), ShapedArray(rhs.shape, part)
  result = ShapedArray(out.shape, np.finfo(out.dtype).dtype)

  def op(name: str, *xs: Any, of: ShapedArray = result) -> Any:
    return b.op1(f"stablehlo.{name}", b.tensor(of), xs)

  xr, xi = (op(name, x, of=left) for name in ("real", "imag"))
  yr, yi = (op(name, y, of=right) for name in ("real", "imag"))
  rr, ii, ri, ir = (
      _emit(b, p, q, result, params)
      for p, q in ((xr, yr), (xi, yi), (xr, yi), (xi, yr)))
  return [op("complex", op("subtract", rr, ii), op("add", ri, ir), of=out)]


def _on_cpus(
    ctx: Any, x: Any, y: Any, *, feature_group_count: int, batch_group_count: int,
    precision: Canonical, preferred_element_type: Any, out_sharding: Any,
    **params: Any) -> Values | None:
  """What is faster than XLA's own convolution, or None."""
  (lhs, rhs), out = ctx.avals_in, ctx.avals_out[0]
  which = (lhs, rhs, out, params["dimension_numbers"], params["lhs_dilation"],
           feature_group_count, batch_group_count)
  kind = {"out_dtype": out.dtype, "out_shape": out.shape, **params}
  if suits_chunks(*which):
    return emit(ctx, by_chunks, ctx.avals_in, (x, y), **kind)
  if suits_taps(*which):
    return emit(ctx, by_taps, ctx.avals_in, (x, y),
                feature_group_count=feature_group_count, **kind)
  if suits_places(*which):
    return emit(ctx, by_places, ctx.avals_in, (x, y),
                batch_group_count=batch_group_count, **kind)
  return None


def _emit(b: Any, x: Any, y: Any, out: ShapedArray, params: dict[str, Any]) -> Any:
  return b.op1("stablehlo.convolution", b.tensor(out), (x, y), {
      "window_strides": b.i64s(params["window_strides"]),
      "padding": b.i64_matrix(params["padding"]),
      "lhs_dilation": b.i64s(params["lhs_dilation"]),
      "rhs_dilation": b.i64s(params["rhs_dilation"]),
      "dimension_numbers": b.attr(_numbers_text(params["dimension_numbers"])),
      "feature_group_count": b.i64(params["feature_group_count"]),
      "batch_group_count": b.i64(params["batch_group_count"]),
      "precision_config": precision_attr(b, params["precision"])})


def _numbers_text(numbers: ConvDimensionNumbers) -> str:
  sides = []
  for spec, letters in zip(numbers, ("bf", "oi", "bf")):
    names = [*letters, *map(str, range(len(spec) - 2))]
    sides.append(f"[{', '.join(names[spec.index(d)] for d in range(len(spec)))}]")
  return f"#stablehlo.conv<{sides[0]}x{sides[1]}->{sides[2]}>"
