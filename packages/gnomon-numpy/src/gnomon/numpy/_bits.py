"""Bits packed into bytes, and bytes unpacked into bits."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core.structural import broadcast_in_dim, convert, reduce_sum
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.numpy._values import flat_unless, is_kind, one_array, scalar

_BYTE = np.dtype(np.uint8)


def _shifts(name: str, bitorder: str) -> Any:
  if bitorder not in ("big", "little"):
    raise ValueError(f"{name}: bitorder must be 'little' or 'big', got {bitorder!r}")
  up = lax.iota(_BYTE, 8)
  return lax.rev(up, (0,)) if bitorder == "big" else up


@compiled(static=("axis", "bitorder"))
def packbits(a: Any, axis: int | None = None, bitorder: str = "big") -> Any:
  """Packs eight elements each, as to whether they are zero, into the bits of a byte.

  Args:
    a: an array of integers or booleans.
    axis: along which; None flattens the array first. Missing bits at its end are 0.
    bitorder: whether the first element is the highest bit ("big") or the lowest
      ("little").

  >>> import gnomon.numpy as gnp
  >>> gnp.packbits(gnp.array([1, 0, 1])).tolist()
  [160]

  Returns:
    An array of uint8.

  Raises:
    TypeError: `a` holds neither integers nor booleans.
    ValueError: the axis is out of range, or `bitorder` is unknown.
  """
  x = one_array("packbits", a)
  if not is_kind(x, np.integer) and not is_kind(x, np.bool_):
    raise TypeError(
        "packbits: Expected an input array of integer or boolean data type, got "
        f"{typeof(x)}")
  shifts = _shifts("packbits", bitorder)
  x, axis = flat_unless("packbits", x, axis)
  shape = typeof(x).shape
  bits = convert(lax.ne(x, scalar(0, typeof(x).dtype)), _BYTE)
  rest = -shape[axis] % 8
  if rest:
    config = [(0, rest if d == axis else 0, 0) for d in range(len(shape))]
    bits = lax.pad(bits, scalar(0, _BYTE), config)
  apart = (*shape[:axis], (shape[axis] + rest) // 8, 8, *shape[axis + 1:])
  bits = lax.reshape(bits, apart)
  return reduce_sum(
      lax.shift_left(bits, broadcast_in_dim(shifts, apart, (axis + 1,))), (axis + 1,))


@compiled(static=("axis", "count", "bitorder"))
def unpackbits(
    a: Any, axis: int | None = None, count: int | None = None,
    bitorder: str = "big") -> Any:
  """Takes bytes apart into bits: eight elements 0 or 1 for each.

  Args:
    a: an array of uint8.
    axis: along which; None flattens the array first.
    count: how many bits to keep along the axis, or if negative, to cut off at its end;
      zeros are added if there are fewer.
    bitorder: whether the first element is the highest bit ("big") or the lowest
      ("little").

  >>> import gnomon.numpy as gnp
  >>> gnp.unpackbits(gnp.array([160], dtype="uint8"), count=3).tolist()
  [1, 0, 1]

  Returns:
    An array of uint8.

  Raises:
    TypeError: the dtype of `a` is not uint8.
    ValueError: the axis is out of range, `bitorder` is unknown, or a negative `count`
      cuts off more than there is.
  """
  x = one_array("unpackbits", a)
  if typeof(x).dtype != _BYTE:
    raise TypeError(
        "unpackbits: Expected an input array of unsigned byte data type, got "
        f"{typeof(x)}")
  shifts = _shifts("unpackbits", bitorder)
  x, axis = flat_unless("unpackbits", x, axis)
  shape = typeof(x).shape
  apart = (*shape[:axis + 1], 8, *shape[axis + 1:])
  kept = tuple([d for d in range(len(apart)) if d != axis + 1])
  bits = lax.bitwise_and(
      lax.shift_right_logical(
          broadcast_in_dim(x, apart, kept), broadcast_in_dim(shifts, apart, (axis + 1,))),
      lax.full(apart, 1, _BYTE))
  total = shape[axis] * 8
  bits = lax.reshape(bits, (*shape[:axis], total, *shape[axis + 1:]))
  if count is None:
    return bits
  size = index(count) if count >= 0 else total + index(count)
  if size < 0:
    raise ValueError(
        f"unpackbits: count={count} cuts off more than the {total} bits there are")
  if size <= total:
    return lax.slice_in_dim(bits, 0, size, axis=axis)
  config = [(0, size - total if d == axis else 0, 0) for d in range(len(shape))]
  return lax.pad(bits, scalar(0, _BYTE), config)
