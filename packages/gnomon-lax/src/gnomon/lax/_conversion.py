"""Primitives that reinterpret elements: bits as another dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.derive import move, no_derivative
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, lower, typing_rule
from gnomon.core.types import ShapedArray


def bitcast_convert_type(operand: Any, new_dtype: Any) -> Any:
  """Reads the bits of elements as another dtype.

  Where the new dtype is narrower, each element becomes several along a new last
  dimension, the lowest bits first; where it is wider, the last dimension holds the parts
  of an element and goes. The derivative is zero.

  Args:
    operand: array of integers or floating-point numbers.
    new_dtype: the dtype to read.

  >>> from gnomon import lax
  >>> hex(int(lax.bitcast_convert_type(1.0, 'int32')))
  '0x3f800000'
  >>> lax.bitcast_convert_type(1.0, 'uint8').shape
  (4,)

  Raises:
    TypeError: a dtype is bool or complex, and they differ.
    ValueError: the last dimension does not hold the parts of one element.
  """
  return bitcast_convert_type_p.apply(
      operand, new_dtype=dtypes.canonicalize_dtype(new_dtype))[0]


bitcast_convert_type_p = Primitive("bitcast_convert_type")


def _bits(dtype: Any) -> int:
  if dtypes.issubdtype(dtype, np.integer):
    return int(dtypes.iinfo(dtype).bits)
  if dtypes.issubdtype(dtype, np.floating):
    return int(dtypes.finfo(dtype).bits)
  return int(dtype.itemsize * 8)


@typing_rule.define(bitcast_convert_type_p)
def _(x: ShapedArray, *, new_dtype: Any) -> tuple[ShapedArray]:
  kinds = (np.integer, np.floating)
  if x.dtype != new_dtype and not all(
      any(dtypes.issubdtype(d, k) for k in kinds) for d in (x.dtype, new_dtype)):
    raise TypeError(
        "bitcast_convert_type reads integers and floating-point numbers only: got the "
        f"operand dtype {x.dtype} and new_dtype={new_dtype}")
  old, new = _bits(x.dtype), _bits(new_dtype)
  if old == new:
    shape = x.shape
  elif old > new:
    shape = (*x.shape, old // new)
  elif x.shape and x.shape[-1] * old == new:
    shape = x.shape[:-1]
  else:
    raise ValueError(
        f"bitcast_convert_type from {x.dtype} ({old} bits) to {new_dtype} ({new} bits) "
        f"needs a last dimension of size {new // old}, got the shape {x.shape}")
  return (ShapedArray(shape, new_dtype),)


@lower.define(bitcast_convert_type_p)
def _(ctx: Any, x: Any, *, new_dtype: Any) -> Sequence[Any]:
  if ctx.avals_in[0].dtype == new_dtype:
    return [x]
  return [ctx.b.op1("stablehlo.bitcast_convert", ctx.b.tensor(ctx.avals_out[0]), (x,))]


no_derivative(bitcast_convert_type_p)


@batch_rule.define(bitcast_convert_type_p)
def _(axis: Any, args: Sequence[Any], dims: Sequence[Any], *, new_dtype: Any) -> Any:
  x = move(args[0], dims[0], 0)
  return bitcast_convert_type_p.apply(x, new_dtype=new_dtype), (0,)
