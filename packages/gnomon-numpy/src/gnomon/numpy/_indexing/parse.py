"""Indices as users write them, taken apart: their structure, and the numbers in it.

The structure is hashable, one program serves all indices that have it. Its entries are

* `None`: a new dimension;
* `":"`: a whole dimension;
* `(count, step)`: `count` elements, `step` apart, from a lowest one on: a number of its
  own;
* `"n"`: one place, known to be inside; a number of its own;
* `"i"`: one place that may count from the end; `"r"`: one that may not; a number each;
* `"a"`: an array of places that may count from the end; `"b"`: that may not; an array
  each;
* `"t"`, `"f"`: the indices True and False, which take no dimension;
* `"."`: an ellipsis that stands for no dimension, but separates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon import errors
from gnomon.core import dtypes
from gnomon.core.trace import Tracer
from gnomon.core.types import typeof
from gnomon.numpy._conversion import asarray
from gnomon.runtime.jaxlib import arrays

Array = arrays.Array
Entries = tuple[Any, ...]
SCALARS = frozenset("nir")
ARRAYS = frozenset("ab")


def parse(
    index: Any, shape: tuple[int, ...], wrap: bool = True) -> tuple[Entries, list[Any]]:
  """The structure of an index into an array of `shape`, and its numbers and arrays.

  Args:
    index: what stands between the brackets.
    shape: the array's shape.
    wrap: whether negative places count from the end.

  Raises:
    IndexError: there are too many indices, a mask has another shape than the dimensions
      that it masks, a place of an empty dimension is asked for, or an index is of a type
      that is not allowed.
    TypeError: an index is no integer.
  """
  parts = index if type(index) is tuple else _only(index)
  entries: list[Any] = []
  numbers: list[Any] = []
  d, ndim = 0, len(shape)
  for k, e in enumerate(parts):
    t = type(e)
    if t is int:
      if d >= ndim:
        raise _too_many(parts, ndim)
      _add_integer(entries, numbers, e, shape[d], wrap, d)
      d += 1
    elif t is slice:
      if d >= ndim:
        raise _too_many(parts, ndim)
      _add_slice(entries, numbers, e, shape[d], k)
      d += 1
    elif e is None:
      entries.append(None)
    elif e is Ellipsis:
      m = ndim - d - _dims_of_rest(parts, k)
      if m < 0:
        raise _too_many(parts, ndim)
      entries += [":"] * m or ["."]
      d += m
    else:
      d = _add_other(entries, numbers, e, shape, d, wrap, parts)
  if d < ndim:
    entries += [":"] * (ndim - d)
  return tuple(entries), numbers


def has_mask(index: Any) -> bool:
  """Whether an index contains an array of bools with at least one dimension."""
  if type(index) is tuple:
    return any(has_mask(e) for e in index)
  return getattr(index, "dtype", None) == np.bool_ and index.ndim > 0


def _only(index: Any) -> tuple[Any, ...]:
  if isinstance(index, tuple):
    return tuple(index)
  if isinstance(index, str):
    raise TypeError(
        f"JAX does not support string indexing; got {index!r}: arrays have no fields")
  if isinstance(index, (list, range, bytes, bytearray)):
    several = any(
        e is None or isinstance(e, (slice, list, tuple, np.ndarray)) for e in index)
    raise TypeError(
        "Using a non-tuple sequence for multidimensional indexing is not allowed; use "
        f"`arr[{'tuple' if several else 'array'}(seq)]` instead of `arr[seq]`: got "
        f"{index!r}")
  return (index,)


def _too_many(parts: Sequence[Any], ndim: int) -> IndexError:
  count = sum(_dims_of(e) for e in parts)
  return IndexError(
      f"Too many indices: array is {ndim}-dimensional, but {count} were indexed")


def _dims_of(e: Any) -> int:
  if e is None or e is Ellipsis or isinstance(e, (bool, np.bool_)):
    return 0
  if getattr(e, "dtype", None) == np.bool_:
    return int(e.ndim)
  if isinstance(e, list):
    e = np.asarray(e)
    return int(e.ndim) if e.dtype == np.bool_ else 1
  return 1


def _dims_of_rest(parts: Sequence[Any], k: int) -> int:
  rest = parts[k + 1:]
  if any(e is Ellipsis for e in rest):
    raise IndexError("an index can only have a single ellipsis ('...')")
  return sum(map(_dims_of, rest))


def _add_integer(
    entries: list[Any], numbers: list[Any], i: int, n: int, wrap: bool, d: int) -> None:
  if n == 0:
    raise IndexError(f"index {i} is out of bounds for axis {d} with size 0")
  if i < 0 and wrap:
    i += n
  entries.append("n" if 0 <= i < n else "r")
  numbers.append(max(min(i, 2**31 - 1), -2**31))


def _add_slice(entries: list[Any], numbers: list[Any], s: slice, n: int, k: int) -> None:
  try:
    start, stop, step = s.indices(n)
  except (errors.TracerIntegerConversionError, TypeError) as e:
    if any(isinstance(x, Tracer) for x in (s.start, s.stop, s.step)):
      raise IndexError(
          "Slice entries must be static integers, since the shape of the result "
          f"depends on them. Got {s} at position {k}. For a slice of fixed size at a "
          "traced place, use lax.dynamic_slice or lax.dynamic_slice_in_dim (and "
          "lax.dynamic_update_slice)"
      ) from e
    raise TypeError(
        f"slices need integers or None, got {s} at position {k}: {e}") from None
  count = len(range(start, stop, step))
  if count == n and step == 1:
    entries.append(":")
    return
  if count <= 1:
    step = 1
  entries.append((count, step))
  numbers.append(0 if count == 0 else start if step > 0 else start + (count - 1) * step)


def _add_other(
    entries: list[Any], numbers: list[Any], e: Any, shape: tuple[int, ...], d: int,
    wrap: bool, parts: Sequence[Any]) -> int:
  """Adds an index that is no int, slice, None or ellipsis; the dimension after it."""
  e = _as_index(e)
  if isinstance(e, bool):
    entries.append("t" if e else "f")
    return d
  if not isinstance(e, int) and e.dtype == np.bool_:
    return _add_mask(entries, numbers, e, shape, d, parts)
  if d >= len(shape):
    raise _too_many(parts, len(shape))
  n = shape[d]
  if isinstance(e, int):
    _add_integer(entries, numbers, e, n, wrap, d)
    return d + 1
  if n == 0 and typeof(e).size:
    raise IndexError(
        f"an index of shape {e.shape} is out of bounds for axis {d} with size 0")
  if isinstance(e, np.ndarray):
    e, wrap = _places(e, n, wrap), False
  wrap = wrap and not dtypes.issubdtype(e.dtype, np.unsignedinteger)
  entries.append(("a" if wrap else "b") if e.ndim else "i" if wrap else "r")
  numbers.append(e)
  return d + 1


def _as_index(e: Any) -> Any:
  """An index as an int, a bool, or an array of integers or bools."""
  if isinstance(e, (bool, np.bool_)):
    return bool(e)
  if isinstance(e, (int, np.integer)):
    return int(e)
  if hasattr(e, "__jax_array__"):
    e = e.__jax_array__()
  if isinstance(e, (list, range)):
    e = _from_list(e)
  if type(e) is Array or isinstance(e, (Tracer, np.ndarray, np.generic)):
    if e.dtype == np.bool_:
      return e
    if not dtypes.issubdtype(e.dtype, np.integer):
      raise TypeError(
          f"Indexer must have integer or boolean type, got indexer with type {e.dtype}"
          + (" (an empty list is one of floats: give it an integer dtype)"
             if not e.size else ""))
    return int(e) if isinstance(e, np.ndarray) and not e.ndim else e
  if isinstance(e, (float, complex)):
    raise TypeError(
        "Indexer must have integer or boolean type, got indexer with type "
        f"{type(e).__name__}: {e!r}")
  if isinstance(e, str):
    raise TypeError(
        f"JAX does not support string indexing; got {e!r}: arrays have no fields")
  if hasattr(type(e), "__index__"):
    return int(e.__index__())
  raise IndexError(
      "only integers, slices (`:`), ellipsis (`...`), newaxis (`None`) and integer or "
      f"boolean arrays are valid indices. Got {e!r}")


def _from_list(e: Any) -> Any:
  try:
    found = np.asarray(e)
  except errors.TracerArrayConversionError:
    return asarray(e)
  return found if found.size else found.astype(np.int32)


def _places(e: Any, n: int, wrap: bool) -> Any:
  """Known places, none of which counts from the end, in 32 bits."""
  if wrap and e.dtype.kind == "i":
    e = np.where(e < 0, e + np.asarray(n, np.int64), e)
  return np.clip(e, -2**31, 2**31 - 1).astype(np.int32)


def _add_mask(
    entries: list[Any], numbers: list[Any], e: Any, shape: tuple[int, ...], d: int,
    parts: Sequence[Any]) -> int:
  if isinstance(e, Tracer):
    value = e.concrete()
    if value is None:
      raise errors.NonConcreteBooleanIndexError(e)
    e = value
  mask = np.asarray(e)
  if not mask.ndim:
    entries.append("t" if mask else "f")
    return d
  if d + mask.ndim > len(shape):
    raise _too_many(parts, len(shape))
  expected = shape[d:d + mask.ndim]
  # As in NumPy, a mask may have no elements along an axis: it selects nothing.
  if any(m not in (n, 0) for m, n in zip(mask.shape, expected)):
    raise IndexError(
        f"boolean index did not match shape of indexed array in index {d}: got "
        f"{mask.shape}, expected {list(expected)}")
  for places in mask.nonzero():
    entries.append("b")
    numbers.append(places.astype(np.int32))
  return d + mask.ndim
