"""Arrays whose bytes are read as another dtype, or in another order."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled

_numpy: Any = sys.modules["gnomon.numpy"]  # complete by the time that a method is called


@compiled(static=("dtype",))
def view(x: Any, dtype: Any) -> Any:
  """The bytes of an array read as a canonical dtype; the last dimension takes the change.

  Raises:
    ValueError: sizes differ, and the last dimension is missing or does not fit.
  """
  own = typeof(x).dtype
  if own == dtype:
    return x
  if own == np.bool_:
    return view(lax.convert_element_type(x, np.uint8), dtype)
  if dtype == np.bool_:
    return lax.ne(view(x, np.dtype(np.uint8)), 0)
  _check_fits(typeof(x), dtype)
  if own.kind == "c":
    parts = _numpy.stack([lax.real(x), lax.imag(x)], axis=-1)
    return view(_numpy.reshape(parts, (*x.shape[:-1], -1)), dtype)
  if dtype.kind == "c":
    part = dtypes.to_floating_dtype(dtype)
    pairs = _numpy.reshape(view(x, part), (*x.shape[:-1], -1, 2))
    return lax.complex(pairs[..., 0], pairs[..., 1])
  return _reinterpreted(x, dtype)


def _check_fits(aval: Any, dtype: Any) -> None:
  old, new = dtypes.itemsize_bits(aval.dtype), dtypes.itemsize_bits(dtype)
  if old == new:
    return
  if not aval.ndim:
    raise ValueError(
        f"view: an array without dimensions, of dtype {aval.dtype}, has no last "
        f"dimension to hold elements of another size, of dtype {dtype}")
  if aval.shape[-1] * old % new:
    raise ValueError(
        f"view: the last dimension, {aval.shape[-1]} elements of dtype {aval.dtype}, "
        f"does not hold whole elements of dtype {dtype}")


def _reinterpreted(x: Any, dtype: Any) -> Any:
  old, new = dtypes.itemsize_bits(typeof(x).dtype), dtypes.itemsize_bits(dtype)
  shape = typeof(x).shape
  if old == new:
    return lax.bitcast_convert_type(x, dtype)
  if old > new:
    parts = lax.bitcast_convert_type(x, dtype)
    return lax.reshape(parts, (*shape[:-1], shape[-1] * (old // new)))
  grouped = lax.reshape(x, (*shape[:-1], shape[-1] * old // new, new // old))
  return lax.bitcast_convert_type(grouped, dtype)


@compiled()
def byteswap(x: Any) -> Any:
  """The elements with their bytes in reverse order."""
  aval = typeof(x)
  if aval.dtype.itemsize == 1:
    return x
  if aval.dtype.kind == "c":
    return lax.complex(byteswap(lax.real(x)), byteswap(lax.imag(x)))
  raw = lax.bitcast_convert_type(x, np.dtype(np.uint8))
  return lax.bitcast_convert_type(lax.rev(raw, (aval.ndim,)), aval.dtype)
