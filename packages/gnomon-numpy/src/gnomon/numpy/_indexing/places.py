"""Where an index points: the dimensions and places that a gather or scatter needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.structural import broadcast_in_dim, convert
from gnomon.core.types import typeof
from gnomon.numpy._indexing.parse import ARRAYS, SCALARS, Entries

Dims = tuple[int, ...]


class Layout(NamedTuple):
  """The geometry of an index; `entries` without new dimensions run over dimensions.

  Attributes:
    shape: the result's shape without new dimensions.
    window: the dimensions of the result that run within windows.
    reversed: the dimensions of the result that run backwards.
    collapsed: the dimensions of the operand that are indexed and no part of windows.
    sizes: the window's size in each dimension of the operand.
    new: positions of new dimensions in the final result.
    vectors: one index vector for each window, or None if there is one window, at 0.
    map: the dimension of the operand of each element of the vectors.
    single: whether there is one window only or windows that do not overlap.
  """

  shape: Dims
  window: Dims
  reversed: Dims
  collapsed: Dims
  sizes: Dims
  new: Dims
  vectors: Any
  map: Dims
  single: bool

  @property
  def full_shape(self) -> Dims:
    """The result's shape with new dimensions."""
    sizes = iter(self.shape)
    n = len(self.shape) + len(self.new)
    return tuple([1 if d in self.new else next(sizes) for d in range(n)])


def is_basic(entries: Entries) -> bool:
  """Whether an index has no arrays and no bools: only slices, places, new dimensions."""
  return not any(e in ARRAYS or e in ("t", "f") for e in entries if type(e) is str)


def _group(entries: Entries) -> tuple[int, bool]:
  """The position of the first array, and whether all arrays stand together.

  Places are arrays here too, as in NumPy.
  """
  at = [
      k for k, e in enumerate(entries)
      if type(e) is str and (e in ARRAYS or e in SCALARS or e in ("t", "f"))]
  return at[0], at[-1] - at[0] == len(at) - 1


def layout(x: Any, entries: Entries, numbers: Sequence[Any]) -> Layout:
  """The geometry of an index into `x`.

  Raises:
    ValueError: the arrays of the index cannot be broadcast together.
  """
  operand = typeof(x).shape
  basic = is_basic(entries)
  common = () if basic else _common_shape(entries, numbers)
  first, together = (-1, True) if basic else _group(entries)
  shape: list[int] = []
  tags: list[Any] = []  # for each dimension of the result: what runs along it
  new: list[int] = []
  backwards: list[int] = []
  sizes: list[int] = list(operand)
  collapsed: list[int] = []
  parts: list[Any] = []
  d, number = 0, iter(numbers)

  def put_common() -> None:
    tags.extend(("common", j) for j in range(len(common)))
    shape.extend(common)

  if not together:
    put_common()
  for k, e in enumerate(entries):
    if k == first and together:
      put_common()
    if e is None:
      new.append(len(shape) + len(new))
    elif e == ":":
      tags.append("window")
      shape.append(operand[d])
      d += 1
    elif type(e) is tuple:
      count, step = e
      low = next(number)
      if step < 0:
        backwards.append(len(shape))
      if abs(step) == 1:
        tags.append("window")
        sizes[d] = count
        parts.append((d, None, low))
      else:
        tags.append(("strided", d))
        sizes[d] = 1
        collapsed.append(d)
        parts.append((d, (count, abs(step)), low))
      shape.append(count)
      d += 1
    elif e not in ("t", "f", "."):
      sizes[d] = 1
      collapsed.append(d)
      parts.append((d, e, next(number)))
      d += 1
  vectors = None
  if parts and 0 not in shape:
    vectors = _vectors(operand, parts, common, tags, shape)
  return Layout(
      tuple(shape), tuple([i for i, t in enumerate(tags) if t == "window"]),
      tuple(backwards), tuple(collapsed), tuple(sizes), tuple(new), vectors,
      tuple([p[0] for p in parts]), basic)


def _common_shape(entries: Entries, numbers: Sequence[Any]) -> Dims:
  """The shape of all arrays of an index together."""
  shapes: list[Dims] = []
  number = iter(numbers)
  for e in entries:
    if e in ("t", "f"):
      shapes.append((int(e == "t"),))
    elif type(e) is tuple:
      next(number)
    elif type(e) is str and e in ARRAYS:
      shapes.append(tuple(next(number).shape))
    elif type(e) is str and e in SCALARS:
      next(number)
      shapes.append(())
  return broadcast_index_shapes(shapes)


def broadcast_index_shapes(shapes: Sequence[Dims]) -> Dims:
  """The common shape by NumPy's rule."""
  n = max(map(len, shapes))
  out = [1] * n
  for s in shapes:
    for i, size in enumerate(s, n - len(s)):
      if size != 1:
        if out[i] not in (1, size):
          raise ValueError(
              "the arrays of an index have incompatible shapes for broadcasting: "
              f"{', '.join(map(str, shapes))}")
        out[i] = size
  return tuple(out)


def _vectors(
    operand: Dims, parts: Sequence[Any], common: Dims, tags: Sequence[Any],
    shape: Sequence[int]) -> Any:
  """Index vectors along a new last dimension; the others run over windows."""
  outer = [i for i, t in enumerate(tags) if t != "window"]
  batch = tuple([shape[i] for i in outer])
  axis_of = {tags[i]: j for j, i in enumerate(outer)}
  columns = []
  for d, kind, value in parts:
    if kind is None:
      dims: Dims = ()
    elif type(kind) is tuple:
      count, step = kind
      value = _strided(count, step, value)
      dims = (axis_of["strided", d],)
    else:
      value = wrapped(value, operand[d]) if kind in ("a", "i") else value
      dims = tuple([
          axis_of["common", j] for j in range(len(common) - np.ndim(value), len(common))])
    columns.append((value, dims))
  dtype = _index_dtype([v for v, _ in columns])
  columns = [
      (_as_places(v, dtype, operand[p[0]]), dims) for (v, dims), p in zip(columns, parts)]
  if all(isinstance(v, (int, np.ndarray, np.generic)) for v, _ in columns):
    return _known_vectors(columns, batch, dtype)
  made = [_spread(v, dims, batch, dtype) for v, dims in columns]
  return made[0] if len(made) == 1 else lax.concatenate(made, len(batch))


def _known_vectors(columns: Any, batch: Dims, dtype: Any) -> Any:
  out = np.empty((*batch, len(columns)), dtype)
  for c, (v, dims) in enumerate(columns):
    view = np.asarray(v).reshape([
        v.shape[dims.index(j)] if j in dims else 1 for j in range(len(batch))])
    out[..., c] = view
  if out.size == 1 and not batch:  # a literal, and not a constant
    return lax.broadcast_in_dim(out[0], (1,), ())
  return out


def _spread(v: Any, dims: Dims, batch: Dims, dtype: Any) -> Any:
  if isinstance(v, int):
    v = np.asarray(v, dtype)[()]
  s = typeof(v).shape
  kept = [j for j in range(len(s)) if s[j] == batch[dims[j]]]
  if len(kept) < len(s):
    v = lax.reshape(v, [s[j] for j in kept])
  return broadcast_in_dim(v, (*batch, 1), tuple([dims[j] for j in kept]))


def _strided(count: int, step: int, low: Any) -> Any:
  if isinstance(low, int):
    return low + step * np.arange(count, dtype=np.int32)
  low = convert(low, np.dtype(np.int32))
  return lax.add(lax.mul(lax.iota(np.int32, count), np.int32(step)), low)


def wrapped(i: Any, n: int) -> Any:
  """Places that count from the start, of traced ones that may count from the end."""
  i = widened(i)
  size = np.asarray(n, typeof(i).dtype)[()]
  return lax.select_n(lax.lt(i, np.zeros((), size.dtype)[()]), i, lax.add(i, size))


def widened(i: Any) -> Any:
  """Indices in at least 32 bits."""
  if dtypes.itemsize_bits(typeof(i).dtype) < 32:
    return convert(i, np.dtype(np.int32))
  return i


def _index_dtype(values: Sequence[Any]) -> Any:
  """The dtype for the index vectors: that of all, or else one that is signed."""
  found = {
      typeof(v).dtype for v in values
      if not isinstance(v, int) and dtypes.itemsize_bits(typeof(v).dtype) >= 32}
  if len(found) == 1:
    return found.pop()
  wide = any(d.itemsize == 8 for d in found)
  return np.dtype(np.int64 if wide else np.int32)


def _as_places(v: Any, dtype: Any, n: int) -> Any:
  if isinstance(v, int):
    return np.asarray(v, np.int64).clip(
        dtypes.iinfo(dtype).min, dtypes.iinfo(dtype).max).astype(dtype)
  if isinstance(v, (np.ndarray, np.generic)):
    return np.asarray(v).astype(dtype)
  own = typeof(v).dtype
  if own != dtype and own.kind == "u" and own.itemsize >= dtype.itemsize:
    v = lax.min(v, np.asarray(n, own)[()])  # outside, as before
  return v if own == dtype else convert(v, dtype)
