"""Numbers as integers of the same order, which CPUs compare and sort much faster."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.structural import convert_element_type_p, full, real_p, select_n
from gnomon.core.types import typeof
from gnomon.lax._arithmetic import neg
from gnomon.lax._bitwise import (
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  shift_right_arithmetic,
)
from gnomon.lax._comparison import eq, gt, lt
from gnomon.lax._complex import imag_p
from gnomon.lax._conversion import bitcast_convert_type_p

_SIGNED: dict[int, Any] = {
    8: np.dtype("int8"), 16: np.dtype("int16"), 32: np.dtype("int32"),
    64: np.dtype("int64")}


def has_keys(dtype: Any) -> bool:
  """Whether numbers of a dtype have integer keys: floats of 16 to 64 bits."""
  return (
      dtypes.issubdtype(dtype, np.floating)
      and dtypes.itemsize_bits(dtype) in (16, 32, 64))


def keys(x: Any, *, nan_last: bool = True) -> Any:
  """Signed integers that compare as floating-point numbers do.

  Zeros of both signs have one key, and so have all nans: the greatest integer, or the
  least one. Only bits are looked at: CPUs may take denormal numbers for zeros.
  """
  aval = typeof(x)
  kind = _SIGNED[dtypes.itemsize_bits(aval.dtype)]
  info = np.iinfo(kind)
  bits = bitcast_convert_type_p.apply(x, new_dtype=kind)[0]
  size = bitwise_and(bits, _scalar(kind, info.max))
  key = select_n(lt(bits, _scalar(kind, 0)), bits, neg(size))
  nan = full(aval.shape, info.max if nan_last else info.min, kind)
  return select_n(gt(size, _scalar(kind, infinity_bits(aval.dtype))), key, nan)


def numbers(key: Any, dtype: Any) -> Any:
  """The numbers that have these keys, zeros as 0.0."""
  kind = typeof(key).dtype
  minus = bitwise_or(neg(key), _scalar(kind, np.iinfo(kind).min))
  bits = select_n(lt(key, _scalar(kind, 0)), key, minus)
  return bitcast_convert_type_p.apply(bits, new_dtype=dtype)[0]


def lost_by_keys(x: Any) -> Any:
  """Whether an element is not the number that its key stands for: -0.0, and nans."""
  dtype = typeof(x).dtype
  kind = _SIGNED[dtypes.itemsize_bits(dtype)]
  info = np.iinfo(kind)
  bits = bitcast_convert_type_p.apply(x, new_dtype=kind)[0]
  size = bitwise_and(bits, _scalar(kind, info.max))
  return bitwise_or(
      eq(bits, _scalar(kind, info.min)), gt(size, _scalar(kind, infinity_bits(dtype))))


def infinity_bits(dtype: Any) -> int:
  """The bits of infinity as an integer: those of nans are greater."""
  kind = _SIGNED[dtypes.itemsize_bits(dtype)]
  return int(np.asarray(np.inf, dtype).view(kind))


def _scalar(dtype: Any, value: Any) -> Any:
  return np.asarray(value, dtype)[()]


def to(x: Any, dtype: Any) -> Any:
  """Converts to any dtype, within programs even of 64 bits where users have them off."""
  return convert_element_type_p.apply(
      x, new_dtype=dtype, weak_type=False, sharding=None)[0]


def words(x: Any) -> list[Any]:
  """int32 arrays of the same order as the elements of `x`, compared one after another."""
  dtype, narrow = typeof(x).dtype, _SIGNED[32]
  if dtypes.issubdtype(dtype, np.complexfloating):
    return [*words(real_p.apply(x)[0]), *words(imag_p.apply(x)[0])]
  if dtypes.issubdtype(dtype, np.floating):
    x = keys(x)
  elif dtypes.issubdtype(dtype, np.unsignedinteger) and dtype.itemsize >= 4:
    kind = _SIGNED[8 * dtype.itemsize]
    x = bitcast_convert_type_p.apply(x, new_dtype=kind)[0]
    x = bitwise_xor(x, _scalar(kind, np.iinfo(kind).min))
  if typeof(x).dtype.itemsize < 8:
    return [to(x, narrow)]
  kind = _SIGNED[64]
  high = to(shift_right_arithmetic(x, _scalar(kind, 32)), narrow)
  return [high, bitwise_xor(to(x, narrow), _scalar(narrow, np.iinfo(narrow).min))]


def total_keys(x: Any) -> Any:
  """Signed integers in the total order of numbers, one for each: of bits, for floats.

  They have the width of the numbers; those of unsigned integers of less than 32 bits and
  of bools are int32.
  """
  dtype = typeof(x).dtype
  if dtypes.issubdtype(dtype, np.floating):
    kind = _SIGNED[dtypes.itemsize_bits(dtype)]
    return reflected(bitcast_convert_type_p.apply(x, new_dtype=kind)[0])
  if dtypes.issubdtype(dtype, np.unsignedinteger) and dtype.itemsize >= 4:
    kind = _SIGNED[8 * dtype.itemsize]
    x = bitcast_convert_type_p.apply(x, new_dtype=kind)[0]
    return bitwise_xor(x, _scalar(kind, np.iinfo(kind).min))
  return x if dtype in (_SIGNED[32], _SIGNED[64]) else to(x, _SIGNED[32])


def of_total_keys(key: Any, dtype: Any) -> Any:
  """The numbers of at most 32 bits with these keys, which are int32."""
  if dtypes.issubdtype(dtype, np.floating):
    kind = _SIGNED[dtypes.itemsize_bits(dtype)]
    return bitcast_convert_type_p.apply(reflected(to(key, kind)), new_dtype=dtype)[0]
  if dtype == np.uint32:
    key = bitwise_xor(key, _scalar(_SIGNED[32], np.iinfo(np.int32).min))
    return bitcast_convert_type_p.apply(key, new_dtype=np.dtype(dtype))[0]
  return to(key, dtype)


def reflected(bits: Any) -> Any:
  """The bits of floats as integers of their order, and these as bits again.

  The order of those with a sign is turned round.
  """
  kind = typeof(bits).dtype
  turned = bitwise_xor(bits, _scalar(kind, np.iinfo(kind).max))
  return select_n(lt(bits, _scalar(kind, 0)), bits, turned)
