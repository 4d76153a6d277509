"""Sums and products of all elements up to each one."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core.structural import convert
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import canonical_axis
from gnomon.numpy._reductions import sum_dtype
from gnomon.numpy._values import asked_dtype, flat_unless, one_array, refuse_out


def _cumulate(
    name: str, a: Any, axis: int | None, dtype: Any, promote_integers: bool) -> Any:
  x, axis = flat_unless(name, one_array(name, a), axis)
  dtype = asked_dtype(dtype, name)
  if dtype is None:
    dtype = sum_dtype(x, None, promote_integers)
  total = "sum" in name
  if dtype == np.bool_:
    # A sum of booleans says whether one was true, a product whether all were.
    marks = convert(convert(x, dtype), np.dtype(np.int8))
    return convert((lax.cummax if total else lax.cummin)(marks, axis=axis), dtype)
  return (lax.cumsum if total else lax.cumprod)(convert(x, dtype), axis=axis)


@compiled(static=("axis", "dtype"))
def cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Any:
  """Sums of all elements up to each one, along an axis.

  Args:
    a: an array or number.
    axis: along which; None flattens the array first.
    dtype: the dtype of the sums; by default that of `a`, of booleans int32.
    out: not supported.

  >>> import gnomon.numpy as gnp
  >>> gnp.cumsum(gnp.array([1, 2, 3])).tolist()
  [1, 3, 6]

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: the axis is out of range.
    NotImplementedError: `out` is given.
  """
  refuse_out("cumsum", out)
  return _cumulate("cumsum", a, axis, dtype, promote_integers=False)


@compiled(static=("axis", "dtype"))
def cumprod(a: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Any:
  """Products of all elements up to each one, along an axis.

  Args:
    a: an array or number.
    axis: along which; None flattens the array first.
    dtype: the dtype of the products; by default that of `a`, of booleans int32.
    out: not supported.

  >>> import gnomon.numpy as gnp
  >>> gnp.cumprod(gnp.array([1, 2, 3])).tolist()
  [1, 2, 6]

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: the axis is out of range.
    NotImplementedError: `out` is given.
  """
  refuse_out("cumprod", out)
  return _cumulate("cumprod", a, axis, dtype, promote_integers=False)


def _cumulative(
    name: str, x: Any, axis: int | None, dtype: Any, include_initial: bool) -> Any:
  x = one_array(name, x)
  shape = typeof(x).shape
  if not shape:
    raise ValueError(
        f"The input must be non-scalar to take {name}, got a scalar: use atleast_1d(x)")
  if axis is None:
    if len(shape) > 1:
      raise ValueError(
          f"The input array has rank {len(shape)}, however the argument axis of {name} "
          "is not given: it may be left out for one dimension only")
    axis = 0
  axis = canonical_axis(axis, len(shape), name)
  out = _cumulate(name, x, axis, dtype, promote_integers=True)
  if not include_initial:
    return out
  first = lax.full(
      (*shape[:axis], 1, *shape[axis + 1:]), 0 if "sum" in name else 1, typeof(out).dtype)
  return lax.concatenate([first, out], axis)


@compiled(static=("axis", "dtype", "include_initial"))
def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None,
    include_initial: bool = False) -> Any:
  """Sums of all elements up to each one: as the array API standard has it.

  Args:
    x: an array of at least one dimension.
    axis: along which; may be left out for a vector.
    dtype: the dtype of the sums; by default that of `x`, of integers and booleans int32
      or uint32 (64 bits with x64).
    include_initial: whether a 0 comes first.

  >>> import gnomon.numpy as gnp
  >>> gnp.cumulative_sum(gnp.array([1, 2, 3]), include_initial=True).tolist()
  [0, 1, 3, 6]

  Raises:
    TypeError: `x` is no array and no number.
    ValueError: `x` is a scalar, or the axis is missing or out of range.
  """
  return _cumulative("cumulative_sum", x, axis, dtype, include_initial)


@compiled(static=("axis", "dtype", "include_initial"))
def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None,
    include_initial: bool = False) -> Any:
  """Products of all elements up to each one: as the array API standard has it.

  Args:
    x: an array of at least one dimension.
    axis: along which; may be left out for a vector.
    dtype: the dtype of the products; by default that of `x`, of integers and booleans
      int32 or uint32 (64 bits with x64).
    include_initial: whether a 1 comes first.

  >>> import gnomon.numpy as gnp
  >>> gnp.cumulative_prod(gnp.array([1, 2, 3]), include_initial=True).tolist()
  [1, 1, 2, 6]

  Raises:
    TypeError: `x` is no array and no number.
    ValueError: `x` is a scalar, or the axis is missing or out of range.
  """
  return _cumulative("cumulative_prod", x, axis, dtype, include_initial)
