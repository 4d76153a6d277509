"""Arrays from nothing: constants, ranges; and the dtype of a value."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as as_int
from typing import Any

import numpy as np

from gnomon.api.device import device_put
from gnomon.core import dtypes
from gnomon.core.primitive import Primitive
from gnomon.core.rule import lower, typing_rule
from gnomon.core.structural import broadcast_in_dim, convert
from gnomon.core.types import ShapedArray, typeof
from gnomon.lax._families import NUMBER, check_dtype
from gnomon.runtime.jaxlib import arrays

Shape = tuple[int, ...]


def sizes(shape: Sequence[int], name: str) -> Shape:
  """A shape given by the user as a tuple of Python integers.

  Raises:
    TypeError: `shape` is no sequence of integers, or a size is negative.
  """
  try:
    out = tuple([as_int(n) for n in shape])
  except TypeError as e:
    raise TypeError(
        f"{name} needs a sequence of integers as shape, got {shape!r}: sizes are part of "
        "an array's type and must be known, not traced") from e
  if any(n < 0 for n in out):
    raise TypeError(f"{name} needs sizes that are not negative, got {out}")
  return out


def dtype(x: Any) -> Any:
  """The dtype of an array or number; a dtype or scalar type stands for itself.

  >>> from gnomon import lax
  >>> lax.dtype(1.0), lax.dtype("int8")
  (dtype('float32'), dtype('int8'))

  Raises:
    TypeError: `x` is no array, no number and no dtype.
    ValueError: `x` is None.
  """
  return dtypes.dtype(x)


# ---- iota


def iota(dtype: Any, size: int) -> Any:
  """The numbers 0, 1, …, `size - 1`.

  Args:
    dtype: the result's dtype: not bool.
    size: how many.

  Returns:
    An array of shape `(size,)`.

  >>> from gnomon import lax
  >>> lax.iota("int32", 3).tolist()
  [0, 1, 2]

  Raises:
    TypeError: `size` is negative, or the dtype is bool.
  """
  return broadcasted_iota(dtype, (size,), 0)


def broadcasted_iota(
    dtype: Any, shape: Sequence[int], dimension: int, *, out_sharding: Any = None) -> Any:
  """The index along one dimension, at each place of an array.

  Args:
    dtype: the result's dtype: not bool.
    shape: the result's shape.
    dimension: the dimension whose index is given.
    out_sharding: how the result is laid out over devices; None without a mesh.

  >>> from gnomon import lax
  >>> lax.broadcasted_iota("int32", (2, 3), 1).tolist()
  [[0, 1, 2], [0, 1, 2]]

  Raises:
    TypeError: a size is negative, or the dtype is bool.
    ValueError: `dimension` is not in the shape.
  """
  return iota_p.apply(
      dtype=dtypes.canonicalize_dtype(dtype), shape=sizes(shape, "iota"),
      dimension=as_int(dimension), sharding=out_sharding)[0]


iota_p = Primitive("iota")


@typing_rule.define(iota_p)
def _(*, dtype: Any, shape: Shape, dimension: int, sharding: Any) -> tuple[ShapedArray]:
  out = ShapedArray(shape, dtype)
  check_dtype("iota", out, NUMBER)
  if not 0 <= dimension < len(shape):
    raise ValueError(
        f"iota needs a dimension of the shape {shape}, between 0 and {len(shape) - 1}; "
        f"got {dimension}")
  return (out,)


@lower.define(iota_p)
def _(ctx: Any, *, dtype: Any, shape: Shape, dimension: int,
      sharding: Any) -> Sequence[Any]:
  b = ctx.b
  return [b.op1(
      "stablehlo.iota", b.tensor(ctx.avals_out[0]), (),
      {"iota_dimension": b.i64(dimension)})]


# ---- constants


def full(shape: Sequence[int], fill_value: Any, dtype: Any = None, *,
         sharding: Any = None) -> Any:
  """An array in which every element is `fill_value`.

  Args:
    shape: the result's shape.
    fill_value: a scalar.
    dtype: the result's dtype; None for that of `fill_value`, weak if that is weak.
    sharding: how the result is laid out over devices; None without a mesh.

  >>> from gnomon import lax
  >>> lax.full((2,), 7.0).tolist()
  [7.0, 7.0]

  Raises:
    TypeError: `fill_value` is not a scalar, or a size is negative.
  """
  shape = sizes(shape, "full")
  if dtype is not None and isinstance(fill_value, (bool, int, float, complex)):
    dtype = dtypes.canonicalize_dtype(dtype, allow_extended_dtype=True)
    if isinstance(dtype, dtypes.ExtendedDType):
      return dtype.full(shape, fill_value)
    value = ShapedArray((), dtype)  # the number may fit it, but not the usual dtype
  else:
    value = typeof(fill_value)
  if value.shape:
    raise TypeError(
        f"full needs a scalar fill_value, got an array of shape {value.shape}; "
        "lax.broadcast_in_dim repeats arrays")
  if dtype is None:
    weak, dtype = value.weak_type, value.dtype
  else:
    weak, dtype = False, dtypes.canonicalize_dtype(dtype, allow_extended_dtype=True)
  scalar = _scalar(fill_value, value, dtype, weak)
  if not shape and isinstance(scalar, (np.generic, float, int, complex)):
    return convert(scalar, dtype, weak)
  return broadcast_in_dim(scalar, shape, (), out_sharding=sharding)


def _scalar(fill_value: Any, value: ShapedArray, dtype: Any, weak: bool) -> Any:
  """A scalar of a dtype; numbers are converted here and now, to be literals."""
  if isinstance(fill_value, (bool, int, float, complex, np.generic)):
    if weak:
      return fill_value
    if isinstance(dtype, np.dtype):
      with np.errstate(all="ignore"):
        if np.iscomplexobj(fill_value) and dtype.kind != "c":
          fill_value = fill_value.real
        return np.asarray(fill_value).astype(dtype)[()]
  return convert(fill_value, dtype, weak)


def full_like(
    x: Any, fill_value: Any, dtype: Any = None, shape: Sequence[int] | None = None,
    sharding: Any = None) -> Any:
  """An array like `x` in which every element is `fill_value`.

  Args:
    x: an array: its shape and dtype are taken.
    fill_value: a scalar.
    dtype: another dtype.
    shape: another shape.
    sharding: how the result is laid out over devices; by default, an array that is
      committed to its place and has the same shape decides.

  >>> from gnomon import lax
  >>> lax.full_like(lax.iota("int32", 2), 7).tolist()
  [7, 7]

  Raises:
    TypeError: `fill_value` is not a scalar, or a size is negative.
  """
  like = typeof(x)
  shape = like.shape if shape is None else shape
  if dtype is not None:
    out = full(shape, fill_value, dtype, sharding=sharding)
  else:
    out = full(shape, fill_value, like.dtype, sharding=sharding)
    out = convert(out, like.dtype, True) if like.weak_type else out
  stays = (
      sharding is None and type(x) is arrays.Array is type(out) and x._committed
      and tuple(shape) == like.shape)
  return device_put(out, x.sharding) if stays else out


def empty(shape: Sequence[int], dtype: Any, *, out_sharding: Any = None) -> Any:
  """An array whose elements are unspecified, to be overwritten; they are zeros.

  Args:
    shape: the shape.
    dtype: the dtype.
    out_sharding: how the result is laid out over devices; None without a mesh.

  >>> from gnomon import lax
  >>> lax.empty((2, 3), "float32").shape
  (2, 3)

  Raises:
    TypeError: a size is negative.
  """
  return empty_p.apply(
      shape=sizes(shape, "empty"),
      dtype=dtypes.canonicalize_dtype(dtype, allow_extended_dtype=True),
      out_sharding=out_sharding)[0]


empty_p = Primitive("empty")
typing_rule.define(empty_p)(
    lambda *, shape, dtype, out_sharding: (ShapedArray(shape, dtype),))
lower.define(empty_p)(lambda ctx, **_: [ctx.b.full(ctx.avals_out[0], 0)])
