"""Contractions of two arrays: `dot_general` and what is written with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.primitive import Primitive
from gnomon.core.rule import (
  batch_rule,
  jvp_rule,
  lower,
  shown_params,
  transpose_rule,
  typing_rule,
)
from gnomon.core.strong import masks_nothing
from gnomon.core.structural import add_tangents, convert, transpose
from gnomon.core.types import (
  ShapedArray,
  sharding_of_cotangent,
  sharding_with,
  typeof,
)
from gnomon.core.zero import UndefinedPrimal, Zero
from gnomon.lax._precision import (
  Canonical,
  DotAlgorithmPreset,
  algorithm_attr,
  canonical,
  precision_attr,
)
from gnomon.lax._shape import ints

Dims = tuple[int, ...]
Pairs = tuple[tuple[Dims, Dims], tuple[Dims, Dims]]
Values = Sequence[Any]

DotDimensionNumbers = tuple[
    tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]]


def dot_general(
    lhs: Any, rhs: Any, dimension_numbers: Any, precision: Any = None,
    preferred_element_type: Any = None, *, out_sharding: Any = None) -> Any:
  """Sums products of elements of two arrays over pairs of dimensions.

  Args:
    lhs: an array.
    rhs: an array.
    dimension_numbers: `((lhs_contract, rhs_contract), (lhs_batch, rhs_batch))`, sequences
      of dimensions. Contracted dimensions are summed over; batch dimensions are paired,
      and kept.
    precision: how exactly accelerators multiply, see `Precision`; None: what
      `gnomon.default_matmul_precision` says.
    preferred_element_type: the dtype of the result, and of the sums; None for that of the
      operands (the wider one's).
    out_sharding: how the result is laid out over devices; None without a mesh.

  Returns:
    An array with the batch dimensions, then the other dimensions of `lhs`, then those of
    `rhs`.

  >>> from gnomon import lax
  >>> x, y = lax.full((2, 3), 1.0), lax.full((3, 4), 2.0)
  >>> lax.dot_general(x, y, (((1,), (0,)), ((), ()))).tolist()
  [[6.0, 6.0, 6.0, 6.0], [6.0, 6.0, 6.0, 6.0]]

  Raises:
    TypeError: paired dimensions differ in number or size, or do not exist; or the
      preferred element type is narrower than the operands' type.
  """
  (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = dimension_numbers
  preferred = None
  if preferred_element_type is not None:
    preferred = dtypes.canonicalize_dtype(preferred_element_type)
  return dot_general_p.apply(
      lhs, rhs,
      dimension_numbers=((ints(lhs_contract), ints(rhs_contract)),
                         (ints(lhs_batch), ints(rhs_batch))),
      precision=canonical(precision), preferred_element_type=preferred,
      out_sharding=out_sharding)[0]


def dot(
    lhs: Any, rhs: Any, *, dimension_numbers: Any = None, precision: Any = None,
    preferred_element_type: Any = None, out_sharding: Any = None) -> Any:
  """Product of vectors and matrices; with `dimension_numbers`, `dot_general`.

  Args:
    lhs: a vector or matrix: its last dimension is contracted.
    rhs: a vector or matrix: its first dimension is contracted.
    dimension_numbers: see `dot_general`; then operands may have any dimensions.
    precision: see `dot_general`.
    preferred_element_type: see `dot_general`.
    out_sharding: how the result is laid out over devices; None without a mesh.

  >>> from gnomon import lax
  >>> float(lax.dot(lax.full((3,), 1.0), lax.full((3,), 2.0)))
  6.0

  Raises:
    TypeError: the contracted sizes differ.
    ValueError: an operand has not 1 or 2 dimensions and `dimension_numbers` is not given.
  """
  if dimension_numbers is None:
    x, y = typeof(lhs), typeof(rhs)
    if not (1 <= x.ndim <= 2 and 1 <= y.ndim <= 2) or x.shape[-1] != y.shape[0]:
      raise ValueError(
          "dot without dimension_numbers multiplies vectors and matrices, the last "
          "dimension of lhs with the first of rhs, of equal sizes: got the shapes "
          f"{x.shape} and {y.shape}")
    dimension_numbers = (((x.ndim - 1,), (0,)), ((), ()))
  return dot_general(
      lhs, rhs, dimension_numbers, precision, preferred_element_type,
      out_sharding=out_sharding)


def batch_matmul(lhs: Any, rhs: Any, precision: Any = None) -> Any:
  """Products of matrices in the last two dimensions, one for each leading index.

  Args:
    lhs: an array of shape `(..., m, k)`.
    rhs: an array of shape `(..., k, n)`, with the same leading sizes.
    precision: see `dot_general`.

  Returns:
    An array of shape `(..., m, n)`.

  >>> from gnomon import lax
  >>> lax.batch_matmul(lax.full((5, 2, 3), 1.0), lax.full((5, 3, 4), 1.0)).shape
  (5, 2, 4)

  Raises:
    TypeError: sizes do not agree.
    ValueError: an operand has less than two dimensions, or they have different numbers.
  """
  x, y = typeof(lhs), typeof(rhs)
  if min(x.ndim, y.ndim) < 2 or x.ndim != y.ndim:
    raise ValueError(
        "batch_matmul needs operands of equal rank, at least 2: got the shapes "
        f"{x.shape} and {y.shape}")
  n = x.ndim
  batch = tuple(range(n - 2))
  return dot_general(lhs, rhs, (((n - 1,), (n - 2,)), (batch, batch)), precision)


# ---- the primitive

dot_general_p = Primitive("dot_general")
masks_nothing(dot_general_p)


def free(ndim: int, contract: Dims, batch: Dims) -> Dims:
  """The dimensions of an operand that are neither contracted nor paired."""
  return tuple(d for d in range(ndim) if d not in contract and d not in batch)


@typing_rule.define(dot_general_p)
def _(x: ShapedArray, y: ShapedArray, *, dimension_numbers: Pairs, precision: Canonical,
      preferred_element_type: Any, out_sharding: Any) -> tuple[ShapedArray]:
  (cx, cy), (bx, by) = dimension_numbers
  _check_side("lhs", x, cx, bx)
  _check_side("rhs", y, cy, by)
  for kind, dx, dy in (("contracting", cx, cy), ("batch", bx, by)):
    if [x.shape[d] for d in dx] != [y.shape[d] for d in dy]:
      raise TypeError(
          f"dot_general requires {kind} dimensions of equal number and sizes: got {dx} "
          f"of {x} and {dy} of {y}, of sizes {tuple(x.shape[d] for d in dx)} and "
          f"{tuple(y.shape[d] for d in dy)}")
  shape = (
      *(x.shape[d] for d in bx), *(x.shape[d] for d in free(x.ndim, cx, bx)),
      *(y.shape[d] for d in free(y.ndim, cy, by)))
  common = common_dtype(x.dtype, y.dtype)
  if preferred_element_type is None:
    return (ShapedArray(shape, common, x.weak_type and y.weak_type),)
  if (dtypes.issubdtype(common, np.integer)
      and dtypes.issubdtype(preferred_element_type, np.integer)
      and dtypes.itemsize_bits(preferred_element_type) < dtypes.itemsize_bits(common)):
    raise TypeError(
        "dot_general's preferred_element_type must not be narrower than the operands' "
        f"type {common}, got {preferred_element_type}")
  return (ShapedArray(shape, preferred_element_type),)


def _check_side(side: str, x: ShapedArray, contract: Dims, batch: Dims) -> None:
  if isinstance(x.dtype, dtypes.ExtendedDType):
    raise TypeError(f"dot_general does not accept dtype {x.dtype} for {side}")
  both = (*contract, *batch)
  if any(not 0 <= d < x.ndim for d in both):
    raise TypeError(
        f"dot_general requires {side} dimension numbers between 0 and {x.ndim - 1} for "
        f"{x}: got contracting {contract} and batch {batch}")
  if len(set(both)) != len(both):
    raise TypeError(
        f"dot_general requires {side} dimension numbers to be distinct: got contracting "
        f"{contract} and batch {batch}")


_KINDS = (np.bool_, np.integer, np.floating, np.complexfloating)


def common_dtype(x: Any, y: Any) -> Any:
  """The dtype in which operands of two dtypes are multiplied: that of the greater one.

  Complex numbers, floats, integers, bools in this order; then the wider; then signed
  integers and bfloat16.
  """
  if x == y:
    return x

  def rank(dtype: Any) -> tuple[int, int, bool]:
    kind = next(i for i, k in enumerate(_KINDS) if dtypes.issubdtype(dtype, k))
    first = dtype == dtypes.bfloat16 or dtypes.issubdtype(dtype, np.signedinteger)
    return kind, dtypes.itemsize_bits(dtype), first

  return max(x, y, key=rank)


@lower.define(dot_general_p)
def _(ctx: Any, x: Any, y: Any, *, dimension_numbers: Pairs, precision: Canonical,
      preferred_element_type: Any, out_sharding: Any) -> Values:
  b, (ax, ay), out = ctx.b, ctx.avals_in, ctx.avals_out[0]
  common = common_dtype(ax.dtype, ay.dtype)
  result = out.dtype
  if isinstance(precision, DotAlgorithmPreset):
    accepted = precision.supported_lhs_types
    if accepted is not None and common not in map(np.dtype, accepted):
      common, result = np.dtype(accepted[0]), np.dtype(precision.accumulation_type)
  if not common == ax.dtype == ay.dtype and not (
      _is_small_float(ax.dtype) and _is_small_float(ay.dtype)):
    x = b.convert(x, ax, ShapedArray(ax.shape, common))
    y = b.convert(y, ay, ShapedArray(ay.shape, common))

  def make() -> dict[str, Any]:
    (cx, cy), (bx, by) = dimension_numbers
    attrs = {
        "dot_dimension_numbers": b.attr(
            f"#stablehlo.dot<lhs_batching_dimensions = {list(bx)}, "
            f"rhs_batching_dimensions = {list(by)}, lhs_contracting_dimensions = "
            f"{list(cx)}, rhs_contracting_dimensions = {list(cy)}>"),
        "precision_config": precision_attr(b, precision)}
    algorithm = algorithm_attr(ctx, precision, common, common)
    if algorithm is not None:
      attrs["algorithm"] = algorithm
    return attrs

  attrs = b.attrs(
      (dot_general_p, dimension_numbers, precision, common, ctx.platforms), make)
  kind = out if out.dtype == result else ShapedArray(out.shape, result)
  return [b.convert(
      b.op1("stablehlo.dot_general", b.tensor(kind), (x, y), attrs), kind, out)]


def _is_small_float(dtype: Any) -> bool:
  """Whether a dtype is one of 8 bits: none of these holds the numbers of another."""
  return dtypes.issubdtype(dtype, np.floating) and dtypes.itemsize_bits(dtype) <= 8


def _shifted(dims: Dims, new: int | None) -> Dims:
  """Dimensions after a new one was inserted."""
  return dims if new is None else tuple(d + (d >= new) for d in dims)


@batch_rule.define(dot_general_p)
def _(axis: Any, args: Values, dims: Values, *, dimension_numbers: Pairs,
      out_sharding: Any, **params: Any) -> tuple[Values, Values]:
  (x, y), (dx, dy) = args, dims
  (cx, cy), (bx, by) = dimension_numbers
  cx, bx, cy, by = _shifted(cx, dx), _shifted(bx, dx), _shifted(cy, dy), _shifted(by, dy)
  if dx is not None and dy is not None:  # mapped in both: one more pair
    bx, by, at = (dx, *bx), (dy, *by), 0
  elif dx is not None:  # in one: a free dimension of it
    at = len(bx) + free(typeof(x).ndim, cx, bx).index(dx)
  else:
    at = typeof(x).ndim - len(cx) + free(typeof(y).ndim, cy, by).index(dy)
  mapped, d = (x, dx) if dx is not None else (y, dy)
  return dot_general_p.apply(
      x, y, dimension_numbers=((cx, cy), (bx, by)),
      out_sharding=sharding_with(out_sharding, at, mapped, d), **params), (at,)




@jvp_rule.define(dot_general_p)
def _(primals: Values, tangents: Values, **params: Any) -> tuple[Values, Values]:
  (x, y), (tx, ty) = primals, tangents
  outs = dot_general_p.apply(x, y, **params)
  total: Any = Zero(typeof(outs[0]).to_tangent_aval())
  if total.aval.dtype != dtypes.float0:
    if type(tx) is not Zero:
      total = dot_general_p.apply(tx, y, **params)[0]
    if type(ty) is not Zero:
      total = add_tangents(total, dot_general_p.apply(x, ty, **params)[0])
  return outs, (total,)


@transpose_rule.define(dot_general_p)
def _(cts: Values, args: Values, *, dimension_numbers: Pairs, precision: Canonical,
      preferred_element_type: Any, out_sharding: Any) -> list[Any]:
  (x, y), ct = args, cts[0]
  left = type(x) is UndefinedPrimal
  aval = x.aval if left else y.aval
  if type(ct) is Zero:
    part: Any = Zero(aval)
  else:
    (cx, cy), (bx, by) = dimension_numbers
    if not left:  # exchange the operands, and their dimensions in the result
      n, m = len(bx), typeof(x).ndim - len(cx)
      ct = transpose(ct, (*range(n), *range(m, typeof(ct).ndim), *range(n, m)))
      cx, cy, bx, by = cy, cx, by, bx
    part = _contract_back(ct, aval, y if left else x, ((cx, cy), (bx, by)), precision, (
        None if preferred_element_type is None else aval.dtype))
  return [part, None] if left else [None, part]


def _contract_back(
    ct: Any, x: ShapedArray, y: Any, dimension_numbers: Pairs, precision: Canonical,
    preferred: Any) -> Any:
  """The cotangent of the first operand: contracts what the second has and it has not."""
  (cx, cy), (bx, by) = dimension_numbers
  n, own = len(bx), free(x.ndim, cx, bx)
  theirs = free(typeof(y).ndim, cy, by)
  last = typeof(ct).ndim
  numbers = ((tuple(range(n + len(own), last)), theirs), (tuple(range(n)), by))
  # the result has its pairs, its own dimensions, then those contracted, in y's order
  order = (*bx, *own, *(d for _, d in sorted(zip(cy, cx))))
  out = dot_general_p.apply(
      ct, y, dimension_numbers=numbers, precision=precision,
      preferred_element_type=preferred,
      out_sharding=sharding_of_cotangent(x, order, ct, y))[0]
  place = sorted(range(x.ndim), key=lambda i: order[i])
  return convert(transpose(out, place), x.dtype, x.weak_type)


@shown_params.define(dot_general_p)
def _(params: dict[str, Any]) -> list[tuple[str, Any]]:
  pairs = tuple(tuple(list(d) for d in pair) for pair in params["dimension_numbers"])
  return [("dimension_numbers", pairs), *(
      (k, params[k]) for k in ("out_sharding", "precision", "preferred_element_type")
      if params[k] is not None)]
