"""Reading at an index."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon import jit, lax
from gnomon.api.device import device_put
from gnomon.core.structural import convert
from gnomon.core.trace import EVAL, get_current
from gnomon.core.types import typeof
from gnomon.lax import GatherScatterMode
from gnomon.numpy._conversion import on_device
from gnomon.numpy._indexing.parse import SCALARS, Entries, has_mask, parse
from gnomon.numpy._indexing.places import is_basic, layout
from gnomon.numpy._replay import plan_of
from gnomon.runtime.jaxlib import arrays

Array = arrays.Array
PROMISE = GatherScatterMode.PROMISE_IN_BOUNDS
FILL = GatherScatterMode.FILL_OR_DROP


def getitem(self: Any, index: Any) -> Any:
  """`x[index]`, by NumPy's rules; places that lie outside move to the nearest inside.

  >>> import gnomon.numpy as gnp
  >>> x = gnp.arange(12).reshape(3, 4)
  >>> x[1, ::-2].tolist()
  [7, 5]
  >>> x[gnp.array([0, 2]), 1:3].tolist()
  [[1, 2], [9, 10]]

  Raises:
    IndexError: too many indices, a mask of another shape, or a traced slice.
    TypeError: an index is no integer.
  """
  trace = get_current()
  if trace is EVAL and type(self) is Array:
    if type(index) is int:
      shape = self.shape
      if shape and shape[0]:
        n = shape[0]
        if not 0 <= index < n:
          index = min(max(index + n if index < 0 else index, 0), n - 1)
        return _row(self, index)
    return _eager(self, index)
  known = static_index(index)
  if known is UNKNOWN:
    return read(self, *parse(index, typeof(self).shape))
  key = (self.aval, known)
  plan = _plans.get(key, UNKNOWN)
  if plan is UNKNOWN:
    _make_room(_plans)
    plan = _plans[key] = plan_of(
        lambda x: read(x, *parse(index, x.shape)), (self,), {}, [self])
  if plan is None:  # what goes wrong says so here
    return read(self, *parse(index, typeof(self).shape))
  return plan.record(trace, [self])


UNKNOWN: Any = object()
_LIMITS = frozenset((int, type(None)))
_plans: dict[Any, Any] = {}  # what a traced read records


def static_index(index: Any) -> Any:
  """A hashable form of an index of plain integers, slices, new axes; or `UNKNOWN`."""
  t = type(index)
  if t is int or index is None or index is Ellipsis:
    return index
  if t is slice:
    start, stop, step = index.start, index.stop, index.step
    if type(start) in _LIMITS and type(stop) in _LIMITS and type(step) in _LIMITS:
      return (slice, start, stop, step)
    return UNKNOWN
  if t is not tuple:
    return UNKNOWN
  found = []
  for e in index:
    if type(e) is tuple:
      return UNKNOWN
    part = static_index(e)
    if part is UNKNOWN:
      return UNKNOWN
    found.append(part)
  return tuple(found)


def index_of(known: Any) -> Any:
  """The index of which `static_index` makes this."""
  if type(known) is not tuple:
    return known
  if known and known[0] is slice:
    return slice(*known[1:])
  return tuple(map(index_of, known))


def _make_room(table: dict[Any, Any]) -> None:
  if len(table) >= _MOST:
    table.clear()


def _row_of(x: Any, i: Any) -> Any:
  n = x.ndim
  found = lax.dynamic_slice(
      x, (i, *[0] * (n - 1)), (1, *x.shape[1:]), allow_negative_indices=False)
  return lax.squeeze(found, (0,))


_row = jit(_row_of)
_plain: dict[Entries, Any] = {}  # the program of each structure
_MOST = 4096


_parsed: dict[Any, tuple[Any, Any]] = {}  # the program and numbers of a known index


def _eager(x: Any, index: Any) -> Any:
  known = static_index(index)
  if known is UNKNOWN:
    if has_mask(index) and _on_host(x):
      return _masked(x, index)
    run, numbers = _program_of(x, index)
    return run(x, *numbers)
  key = (x.shape, known)
  found = _parsed.get(key)
  if found is None:
    _make_room(_parsed)
    found = _parsed[key] = _program_of(x, index)
  return found[0](x, *found[1])


def _program_of(x: Any, index: Any) -> tuple[Any, Any]:
  """The program that reads at an index, and the numbers that it takes besides `x`."""
  entries, numbers = parse(index, x.shape)
  run = _plain.get(entries)
  if run is None:
    if not numbers and all(e == ":" for e in entries):
      return _same, ()
    _make_room(_plain)
    run = _plain[entries] = jit(lambda x, *numbers: read(x, entries, numbers))
  return run, numbers


def _same(x: Any) -> Any:
  return x


def _read(
    entries: Entries, mode: Any, fill_value: Any, is_sorted: bool, unique: bool, x: Any,
    *numbers: Any) -> Any:
  return read(x, entries, numbers, mode, fill_value, is_sorted, unique)


program = jit(_read, static_argnums=(0, 1, 2, 3, 4))


def _on_host(x: Any) -> bool:
  """Whether the values lie in the host's memory."""
  devices = x.sharding._internal_device_list
  return len(devices) == 1 and bool(devices[0].platform == "cpu")


def _masked(x: Any, index: Any) -> Any:
  """A selection by masks, whose size depends on values: no program for each size."""
  entries, numbers = parse(index, x.shape)  # checks it
  known = tuple(map(_host, index)) if type(index) is tuple else _host(index)
  try:
    value = np.asarray(x)[known]
  except IndexError:  # NumPy refuses places outside
    return program(entries, PROMISE, None, False, False, x, *numbers)
  out = on_device(np.ascontiguousarray(value), x.aval.weak_type)
  return device_put(out, x.sharding) if x._committed else out


def _host(e: Any) -> Any:
  return np.asarray(e) if type(e) is Array else e


def read(
    x: Any, entries: Entries, numbers: Sequence[Any], mode: GatherScatterMode = PROMISE,
    fill_value: Any = None, is_sorted: bool = False, unique: bool = False) -> Any:
  """The elements at a parsed index."""
  basic = is_basic(entries)
  if basic and (mode is not FILL or not any(e in ("i", "r") for e in entries)):
    return _slice(x, entries, numbers)
  return _gather(
      x, entries, numbers, mode, fill_value, is_sorted or basic, unique or basic)


# ---- slices and places


def _slice(x: Any, entries: Entries, numbers: Sequence[Any]) -> Any:
  shape = typeof(x).shape
  starts: list[Any] = []
  counts, steps, dropped, new, backwards, negative = [], [], [], [], [], []
  number, result = iter(numbers), 0
  for e in entries:
    d = len(starts)
    if e is None:
      new.append(result)
      result += 1
      continue
    if e == ".":
      continue
    if e == ":":
      start, count, step = 0, shape[d], 1
    elif type(e) is tuple:
      start, (count, step) = next(number), e
    else:
      start, count, step = next(number), 1, 1
      dropped.append(d)
      if isinstance(start, (int, np.integer)):
        start = min(max(start, 0), shape[d] - 1)
    if step < 0:
      backwards.append(d)
    negative.append(e == "i")
    starts.append(start)
    counts.append(count)
    steps.append(abs(step))
    result += not (type(e) is str and e in SCALARS)
  out = _window(x, starts, counts, steps, negative)
  if backwards:
    out = lax.rev(out, backwards)
  if dropped:
    out = lax.squeeze(out, dropped)
  return lax.expand_dims(out, new) if new else out


def _window(
    x: Any, starts: list[Any], counts: list[int], steps: list[int],
    negative: list[bool]) -> Any:
  shape = typeof(x).shape
  spans = [(c - 1) * s + 1 if c else 0 for c, s in zip(counts, steps)]
  strides = steps if any(s != 1 for s in steps) else None
  if all(isinstance(s, (int, np.integer)) for s in starts):
    if tuple(counts) == shape and strides is None:
      return x
    return lax.slice(x, starts, [s + n for s, n in zip(starts, spans)], strides)
  found = lax.dynamic_slice(
      x, one_dtype(starts, shape), spans, allow_negative_indices=negative)
  return found if strides is None else lax.slice(found, [0] * len(spans), spans, strides)


def one_dtype(starts: Sequence[Any], shape: Sequence[int]) -> list[Any]:
  """Start indices whose arrays have one dtype, of at least 32 bits."""
  traced = [typeof(s).dtype for s in starts if not isinstance(s, (int, np.integer))]
  if len({*traced}) == 1 and traced[0].itemsize >= 4:
    return list(starts)
  dtype = np.dtype(np.int64 if any(
      d.itemsize == 8 and d.kind == "i" for d in traced) else np.int32)
  out = []
  for s, n in zip(starts, shape):
    if not isinstance(s, (int, np.integer)):
      own = typeof(s).dtype
      if own.kind == "u" and own.itemsize >= dtype.itemsize:
        s = lax.min(s, np.asarray(n, own)[()])  # outside, as before
      s = convert(s, dtype)
    out.append(s)
  return out


# ---- arrays


def _gather(
    x: Any, entries: Entries, numbers: Sequence[Any], mode: GatherScatterMode,
    fill_value: Any, is_sorted: bool, unique: bool) -> Any:
  p = layout(x, entries, numbers)
  if math.prod(p.shape) == 0:
    return lax.full_like(x, 0, shape=p.full_shape)
  if p.vectors is None:  # only bools
    out = lax.broadcast_in_dim(x, p.shape, p.window)
  else:
    out = lax.gather(
        x, p.vectors, lax.GatherDimensionNumbers(p.window, p.collapsed, p.map), p.sizes,
        unique_indices=unique, indices_are_sorted=is_sorted, mode=mode,
        fill_value=fill_value)
  if p.reversed:
    out = lax.rev(out, p.reversed)
  return lax.expand_dims(out, p.new) if p.new else out


# ---- iteration

_FEW = 16  # rows that one program returns; compiling it takes longer the more there are


def iterate(self: Any) -> Any:
  """The iterator over the rows of an array.

  Raises:
    TypeError: the array has no dimensions.
  """
  shape = typeof(self).shape
  if not shape:
    raise TypeError("iteration over a 0-d array")
  if get_current() is EVAL and type(self) is Array:
    if 0 < shape[0] <= _FEW:
      return iter(_unstack(self))
    return map(functools.partial(_row, self), range(shape[0]))
  return iter([
      lax.index_in_dim(self, i, keepdims=False) for i in range(shape[0])])


@jit
def _unstack(x: Any) -> Any:
  return tuple([lax.index_in_dim(x, i, keepdims=False) for i in range(x.shape[0])])
