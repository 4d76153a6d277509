"""Indices of references: parsed once, applied to arrays by NumPy's indexing."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as as_int
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.lax_hook import lax
from gnomon.core.slices import Slice
from gnomon.core.types import typeof


class Window:
  """A range of one axis: static, or with a start that is an operand (`start` is None)."""

  __slots__ = ("size", "start", "stride")

  def __init__(self, start: int | None, size: int, stride: int = 1) -> None:
    self.start, self.size, self.stride = start, size, stride

  @property
  def key(self) -> tuple[int | None, int, int]:
    return (self.start, self.size, self.stride)

  def __eq__(self, other: object) -> bool:
    return type(other) is Window and other.key == self.key

  def __hash__(self) -> int:
    return hash(self.key)

  def covers(self, n: int) -> bool:
    """Whether it is a whole axis of size `n`."""
    return self.key == (0, n, 1)


class Picked:
  """Elements of one axis at positions that are an operand: a scalar, or an array."""

  __slots__ = ()

  def __eq__(self, other: object) -> bool:
    return type(other) is Picked

  def __hash__(self) -> int:
    return hash(Picked)


Entry = int | Window | Picked


class Indexer:
  """An index into an array of a known shape: one entry an axis."""

  __slots__ = ("entries", "shape")

  def __init__(self, entries: tuple[Entry, ...], shape: tuple[int, ...]) -> None:
    self.entries, self.shape = entries, shape

  def __eq__(self, other: object) -> bool:
    return type(other) is Indexer and (
        (other.entries, other.shape) == (self.entries, self.shape))

  def __hash__(self) -> int:
    return hash((self.entries, self.shape))

  def __repr__(self) -> str:
    return self.shown(iter(["_"] * self.num_operands))

  def shown(self, names: Any) -> str:
    """As it is written behind a reference; `names` gives those of the operands."""
    return f"[{self.text(names)}]"

  @property
  def num_operands(self) -> int:
    return sum(map(_is_dynamic, self.entries))

  @property
  def is_whole(self) -> bool:
    """Whether it is all of the array."""
    return all(
        type(e) is Window and e.covers(n) for e, n in zip(self.entries, self.shape))

  def text(self, names: Any) -> str:
    """What is written in brackets: `0,1:3`."""
    if self.is_whole:
      return "..."
    parts = []
    for e, n in zip(self.entries, self.shape):
      if type(e) is not Window:
        parts.append(str(e) if isinstance(e, int) else next(names))
        continue
      if e.start is None:
        name = next(names)
        parts.append(f"{name}:{name}+{e.size * e.stride}")
      else:
        end = e.start + e.size * e.stride
        parts.append(
            (str(e.start) if e.start else "") + ":" + (str(end) if end < n else ""))
      if e.stride != 1:
        parts[-1] += f":{e.stride}"
    return ",".join(parts)

  # ---- on arrays

  def result_type(self, aval: Any, avals: Sequence[Any]) -> Any:
    """The type of what the index selects, for operands of the types `avals`."""
    return aval.update(shape=self.result_shape(avals))

  def result_shape(self, avals: Sequence[Any]) -> tuple[int, ...]:
    """The shape of what the index selects, for operands of these types."""
    it = iter(avals)
    idx: list[Any] = []
    for e in self.entries:
      aval = next(it) if _is_dynamic(e) else None
      if type(e) is Window:
        idx.append(slice(0, e.size))
      else:
        idx.append(0 if aval is None else np.zeros(aval.shape, np.int8))
    # Every position of the stand-in is valid, and it has no elements of its own.
    stand_in = np.broadcast_to(np.int8(0), [
        max(e.size if type(e) is Window else 1, 1) for e in self.entries])
    return stand_in[tuple(idx)].shape  # type: ignore[no-any-return]

  def _split(self, operands: Sequence[Any]) -> tuple[list[tuple[int, Any, int]], Any]:
    """Axes to cut at a start that is an operand, and the rest as NumPy's index."""
    it = iter(operands)
    cuts, idx = [], []
    for axis, e in enumerate(self.entries):
      if type(e) is not Window:
        idx.append(e if isinstance(e, int) else next(it))
      elif e.start is None:
        cuts.append((axis, next(it), e.size * e.stride))
        idx.append(slice(None, None, e.stride))
      else:
        idx.append(slice(e.start, e.start + e.size * e.stride, e.stride))
    return cuts, tuple(idx)

  def read(self, x: Any, operands: Sequence[Any]) -> Any:
    """What the index selects of an array."""
    if self.is_whole:
      return x
    cuts, idx = self._split(operands)
    for axis, start, size in cuts:
      x = lax().dynamic_slice_in_dim(x, start, size, axis)
    return x[idx]

  def write(self, x: Any, operands: Sequence[Any], value: Any, *, add: bool) -> Any:
    """The array with a value written, or added, where the index selects.

    Positions of arrays that are out of range are dropped; single ones are moved to the
    nearest that is there, as in `dynamic_update_slice`.
    """
    if self.is_whole:
      return lax().add(x, value) if add else value
    cuts, idx = self._split(operands)
    parts = [x]
    for axis, start, size in cuts:
      parts.append(lax().dynamic_slice_in_dim(parts[-1], start, size, axis))
    picked = [i for i, e in zip(idx, self.entries) if type(e) is Picked]
    mode = "clip" if picked and not any(np.ndim(i) for i in picked) else None
    at = parts.pop().at[idx]
    new = at.add(value, mode=mode) if add else at.set(value, mode=mode)
    for (axis, start, _), whole in zip(reversed(cuts), reversed(parts)):
      new = lax().dynamic_update_slice_in_dim(whole, new, start, axis)
    return new


def _is_dynamic(e: Entry) -> bool:
  return type(e) is Picked or (type(e) is Window and e.start is None)


def parse(idx: Any, shape: tuple[int, ...]) -> tuple[Indexer, list[Any]]:
  """An index, as written in brackets, for arrays of a shape; and its operands.

  Raises:
    IndexError: an integer is out of range, or there are more entries than axes.
    TypeError: an entry is no index of references.
  """
  if idx is None:
    idx = ...
  given = list(idx) if isinstance(idx, tuple) else [idx]
  holes = [i for i, e in enumerate(given) if e is Ellipsis]
  if len(holes) > 1:
    raise IndexError("an index of a reference can have one ellipsis ('...') at most")
  hole = holes[0] if holes else len(given)
  n = len(given) - len(holes)
  if any(e is None for e in given):
    raise TypeError("an index of a reference cannot add axes: reshape what was read")
  if n > len(shape):
    raise IndexError(
        f"`indices` must not be longer than `shape`: {n} indices for a reference of the "
        f"shape {shape}")
  rest = [slice(None)] * (len(shape) - n)
  full = [*given[:hole], *rest, *given[hole + len(holes):]]
  entries, operands = [], []
  for axis, (e, size) in enumerate(zip(full, shape)):
    entry, operand = _entry(e, size, axis)
    entries.append(entry)
    if operand is not None:
      operands.append(operand)
  return Indexer(tuple(entries), shape), operands


def _entry(e: Any, n: int, axis: int) -> tuple[Entry, Any]:
  if isinstance(e, slice):
    return _window(e, n), None
  if isinstance(e, Slice):
    if isinstance(e.start, int):
      return Window(e.start, int(e.size), e.stride), None
    return Window(None, int(e.size), e.stride), e.start
  if isinstance(e, (int, np.integer)) and not isinstance(e, (bool, np.bool_)):
    i = as_int(e)
    if not -n <= i < n:
      raise IndexError(
          f"the index {i} is out of range for axis {axis} of size {n} of a reference")
    return i, None
  if isinstance(e, (list, tuple)):
    e = np.asarray(e)
  aval = typeof(e)
  if aval.dtype == np.bool_:
    raise TypeError(
        "an index of a reference cannot be a mask of bools: index with the positions, "
        "numpy.nonzero(mask)[0]")
  if not dtypes.issubdtype(aval.dtype, np.integer):
    raise TypeError(f"an index of a reference must be integers, got {aval}")
  return Picked(), e


def _window(e: slice, n: int) -> Window:
  for name in ("start", "stop", "step"):
    x = getattr(e, name)
    if x is not None and not hasattr(x, "__index__"):
      raise TypeError(f"a slice of a reference needs integers, got {name}={x!r}")
  start, stop, step = e.indices(n)
  if step < 0:
    raise TypeError(
        f"a slice of a reference needs a positive step, got {step}: reverse what was "
        "read")
  return Window(start, len(range(start, stop, step)), step)
