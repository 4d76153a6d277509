"""Types of values, and what is a value."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from gnomon.core import dtypes
from gnomon.core.types import AbstractValue, ShapedArray, is_array_like

_EXTENDED = (
    "bfloat16", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4",
    "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz",
    "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "int1", "int2", "int4", "uint1",
    "uint2", "uint4")

# The types of arrays and scalars of NumPy that are taken for arrays.
array_types: set[type] = {
    np.ndarray, np.bool_, *(np.dtype(c).type for c in "bhilqBHILQefdFD"),
    *(getattr(ml_dtypes, n) for n in _EXTENDED if hasattr(ml_dtypes, n))}


class Token:
  """What effects of a program are waited for by; holds arrays that are ready after."""

  __slots__ = ("_buf",)

  def __init__(self, buf: Any) -> None:
    self._buf = buf

  def block_until_ready(self) -> None:
    """Waits."""
    self._buf.block_until_ready()


def primal_dtype_to_tangent_dtype(primal_dtype: Any) -> Any:
  """The dtype of tangents: the same for inexact ones, else float0."""
  inexact = dtypes.issubdtype(primal_dtype, np.inexact)
  return primal_dtype if inexact else dtypes.float0


def valid_jaxtype(x: Any) -> bool:
  """Whether `x` can be an argument of a jitted function.

  >>> from gnomon.extend.core import valid_jaxtype
  >>> valid_jaxtype(1.0), valid_jaxtype('a')
  (True, False)
  """
  return is_array_like(x)


def mapped_aval(size: int, axis: int | None, aval: AbstractValue) -> AbstractValue:
  """The type of an element along an axis; the type itself if the axis is None.

  Raises:
    ValueError: the axis has another size.
  """
  if axis is None or not isinstance(aval, ShapedArray):
    return aval
  if aval.shape[axis] != size:
    raise ValueError(
        f"mapped_aval: axis {axis} of {aval} has size {aval.shape[axis]}, not {size}")
  axis %= aval.ndim
  return aval.update(shape=aval.shape[:axis] + aval.shape[axis + 1:])


def unmapped_aval(
    size: int, axis: int | None, aval: AbstractValue,
    explicit_mesh_axis: Any = None) -> AbstractValue:
  """The type of values stacked along a new axis; the type itself if the axis is None."""
  del explicit_mesh_axis
  if axis is None or not isinstance(aval, ShapedArray):
    return aval
  if axis < 0:
    axis += aval.ndim + 1
  return aval.update(shape=(*aval.shape[:axis], size, *aval.shape[axis:]))
