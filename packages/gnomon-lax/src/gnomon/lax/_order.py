"""Numbers as integers of the same order: integers compare and sort much faster on CPUs."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.structural import full, select_n
from gnomon.core.types import typeof
from gnomon.lax._bitwise import bitwise_xor
from gnomon.lax._comparison import eq, lt, ne
from gnomon.lax._conversion import bitcast_convert_type_p

_SIGNED = {8: np.dtype("int8"), 16: np.dtype("int16"), 32: np.dtype("int32"),
           64: np.dtype("int64")}


def has_keys(dtype: Any) -> bool:
  """Whether numbers of a dtype have integer keys: floats of 16 to 64 bits."""
  return dtypes.issubdtype(dtype, np.floating) and dtypes.itemsize_bits(dtype) in (16, 32, 64)


def keys(x: Any, *, nan_last: bool = True) -> Any:
  """Signed integers that compare as floating-point numbers do.

  Zeros of both signs have one key, and so have all NaNs: the greatest integer, or the
  least one.
  """
  aval = typeof(x)
  kind = _SIGNED[dtypes.itemsize_bits(aval.dtype)]
  info = np.iinfo(kind)
  bits = bitcast_convert_type_p.bind(x, new_dtype=kind)[0]
  key = _flip_negative(bits)
  zero = full(aval.shape, 0, kind)
  nan = full(aval.shape, info.max if nan_last else info.min, kind)
  return select_n(ne(x, x), select_n(eq(x, _scalar(aval.dtype, 0)), key, zero), nan)


def exact_keys(x: Any) -> Any:
  """Keys that tell apart zeros of both signs and NaNs: `from_exact_keys` undoes them."""
  kind = _SIGNED[dtypes.itemsize_bits(typeof(x).dtype)]
  return _flip_negative(bitcast_convert_type_p.bind(x, new_dtype=kind)[0])


def from_exact_keys(key: Any, dtype: Any) -> Any:
  """The numbers that have these keys."""
  return bitcast_convert_type_p.bind(_flip_negative(key), new_dtype=dtype)[0]


def _flip_negative(bits: Any) -> Any:
  """Reverses the order of negative integers; the same again gives them back."""
  kind = typeof(bits).dtype
  flipped = bitwise_xor(bits, _scalar(kind, np.iinfo(kind).max))
  return select_n(lt(bits, _scalar(kind, 0)), bits, flipped)


def _scalar(dtype: Any, value: Any) -> Any:
  return np.asarray(value, dtype)[()]
