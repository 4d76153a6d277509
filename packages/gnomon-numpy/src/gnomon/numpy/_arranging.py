"""Elements repeated, shifted, reversed, turned."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core.structural import broadcast_in_dim
from gnomon.core.types import typeof
from gnomon.numpy._arithmetic import remainder
from gnomon.numpy._compiled import compiled, freeze
from gnomon.numpy._promotion import canonical_axes, canonical_axis, check_arraylike
from gnomon.numpy._values import (
  Shape,
  concrete,
  flat_unless,
  is_concrete,
  is_kind,
  one_array,
  promise_index,
  sizes_of,
  take_rows,
)

# ---- repeating


def tile(A: Any, reps: Any) -> Any:
  """Repeats an array as a whole, along each of its axes.

  Args:
    A: an array or number.
    reps: how often, one a dimension (the last ones first, as in broadcasting), or one
      integer for the last axis.

  >>> import gnomon.numpy as gnp
  >>> gnp.tile(gnp.arange(2), (2, 2)).tolist()
  [[0, 1, 0, 1], [0, 1, 0, 1]]

  Raises:
    TypeError: the repetitions are no integers known now, or one is negative.
  """
  return _tile(A, sizes_of("tile", reps))


@compiled(static=("reps",))
def _tile(A: Any, reps: Shape) -> Any:
  A = one_array("tile", A)
  rank = max(typeof(A).ndim, len(reps))
  A = lax.broadcast_to_rank(A, rank)
  reps = (*(1,) * (rank - len(reps)), *reps)
  return A if all(n == 1 for n in reps) else lax.tile(A, reps)


def repeat(
    a: Any, repeats: Any, axis: int | None = None, *,
    total_repeat_length: int | None = None,
    out_sharding: Any = None) -> Any:
  """Repeats each element, or each part along an axis, after itself.

  Args:
    a: an array or number.
    repeats: how often: one integer, or an array with one for each part.
    axis: along which; None flattens the array first.
    total_repeat_length: the size of the result along the axis. It allows `repeats` to be
      traced: the result is cut, or its last part repeated, to have this size.
    out_sharding: not supported.

  >>> import gnomon.numpy as gnp
  >>> gnp.repeat(gnp.arange(2), 2).tolist()
  [0, 0, 1, 1]
  >>> gnp.repeat(gnp.arange(2), gnp.array([1, 3])).tolist()
  [0, 1, 1, 1]

  Raises:
    ConcretizationTypeError: `repeats` is traced, without `total_repeat_length`.
    ValueError: there is not one number a part, or one is negative.
  """
  if out_sharding is not None:
    raise NotImplementedError("repeat does not support the argument 'out_sharding'")
  check_arraylike("repeat", a, repeats)
  axis = None if axis is None else index(axis)
  if total_repeat_length is not None:
    return _repeat_to_length(a, repeats, axis, index(total_repeat_length))
  counts = concrete(
      "repeat", "repeats", repeats,
      "Give total_repeat_length, the size of the result, to "
      "have it traced")
  if counts.dtype.kind not in "iub" or counts.ndim > 1:
    raise TypeError(
        f"repeat: repeats must be an integer or a vector of them, got {repeats!r}")
  if (counts < 0).any():
    raise ValueError(f"repeat: repeats may not contain negative values, got {repeats!r}")
  if counts.size == 1:
    return _repeat_each(a, int(counts.reshape(())), axis)
  n = typeof(a).size if axis is None else typeof(a).shape[axis]
  if counts.size != n:
    raise ValueError(
        f"repeat: repeats must have one number for each of the {n} parts along the axis "
        f"{axis}, got the shape {counts.shape}")
  rows = np.repeat(np.arange(n, dtype=promise_index(n)), counts)
  return _repeat_rows(a, rows, axis)


@compiled(static=("count", "axis"))
def _repeat_each(a: Any, count: int, axis: int | None) -> Any:
  x, axis = flat_unless("repeat", one_array("repeat", a), axis)
  if not typeof(x).ndim:
    x = lax.reshape(x, (1,))
  old = typeof(x).shape
  apart = (*old[:axis + 1], count, *old[axis + 1:])
  dims = (*range(axis + 1), *range(axis + 2, len(apart)))
  new = (*old[:axis], old[axis] * count, *old[axis + 1:])
  return x if count == 1 else lax.reshape(broadcast_in_dim(x, apart, dims), new)


@compiled(static=("axis",))
def _repeat_rows(a: Any, rows: Any, axis: int | None) -> Any:
  x, axis = flat_unless("repeat", one_array("repeat", a), axis)
  return take_rows(x, rows, axis, sorted_=True)


@compiled(static=("axis", "length"))
def _repeat_to_length(a: Any, repeats: Any, axis: int | None, length: int) -> Any:
  x, axis = flat_unless("repeat", one_array("repeat", a), axis)
  n = typeof(x).shape[axis]
  counts = one_array("repeat", repeats)
  if not is_kind(counts, np.integer) and not is_kind(counts, np.bool_):
    raise TypeError(f"repeat: repeats must be integers, got {typeof(counts)}")
  if typeof(counts).shape not in ((), (1,), (n,)):
    raise ValueError(
        f"repeat: repeats must have one number for each of the {n} parts along the axis "
        f"{axis}, got the shape {typeof(counts).shape}")
  if not length:
    return lax.slice_in_dim(x, 0, 0, axis=axis)
  # Part i ends where the parts up to it have filled the axis; the number of parts that
  # end at or before a place is the number of the part there.
  counts = lax.convert_element_type(lax.reshape(counts, (typeof(counts).size,)), np.int32)
  counts = broadcast_in_dim(counts, (n,), (0,))
  ends = lax.cumsum(counts, axis=0)
  numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
  marks = lax.scatter_add(
      lax.full((length,), 0, np.int32), broadcast_in_dim(ends, (n, 1), (0,)),
      lax.full((n,), 1, np.int32), numbers, indices_are_sorted=True, mode="drop")
  rows = lax.min(lax.cumsum(marks, axis=0), np.int32(n - 1))
  return take_rows(x, rows, axis, sorted_=True)


@compiled(static=("new_shape",))
def _resize(a: Any, new_shape: Shape) -> Any:
  a = one_array("resize", a)
  flat = lax.reshape(a, (typeof(a).size,))
  wanted = int(np.prod(new_shape, dtype=object))
  if any(n < 0 for n in new_shape):
    raise ValueError(f"resize: all sizes must be non-negative, got {new_shape}")
  if not typeof(a).size:
    return lax.full(new_shape, 0, typeof(a).dtype)
  times = -(-wanted // typeof(a).size)
  if times > 1:
    flat = lax.tile(flat, (times,))
  if typeof(flat).size != wanted:
    flat = lax.slice_in_dim(flat, 0, wanted)
  return lax.reshape(flat, new_shape)


def resize(a: Any, new_shape: Any) -> Any:
  """The elements over and over, until they fill a shape.

  Args:
    a: an array or number; of no elements, zeros are given.
    new_shape: the sizes of the result.

  >>> import gnomon.numpy as gnp
  >>> gnp.resize(gnp.arange(3), (2, 2)).tolist()
  [[0, 1], [2, 0]]

  Raises:
    ValueError: a size is negative.
    TypeError: the sizes are no integers known now.
  """
  return _resize(a, sizes_of("resize", new_shape))


# ---- shifting, reversing, turning


def roll(a: Any, shift: Any, axis: int | Sequence[int] | None = None) -> Any:
  """Shifts elements along axes; those pushed out come in again on the other side.

  Args:
    a: an array or number.
    shift: by how much, one an axis or one for all; traced integers are allowed.
    axis: along which axes; None shifts the flattened array.

  >>> import gnomon.numpy as gnp
  >>> gnp.roll(gnp.arange(4), 1).tolist()
  [3, 0, 1, 2]

  Raises:
    ValueError: an axis is out of range, or there is not one shift an axis.
    TypeError: `a` is no array and no number.
  """
  check_arraylike("roll", a)
  steps = shift if isinstance(shift, (list, tuple)) else [shift]
  if all(is_concrete(s) for s in steps):
    return _roll(a, freeze(np.asarray(shift).tolist()), freeze(axis))
  return _roll_traced(a, shift, freeze(axis))


def _pairs(name: str, steps: list[Any], axis: Any, rank: int) -> list[tuple[Any, int]]:
  """One shift an axis; an axis may come twice, as its shifts add up."""
  given = (axis,) if hasattr(axis, "__index__") else tuple(axis)
  axes = [canonical_axis(d, rank, name) for d in given]
  count = max(len(steps), len(axes))
  if len(steps) not in (1, count) or len(axes) not in (1, count):
    raise ValueError(
        f"{name}: shift and axis must have one length or be scalars, got {len(steps)} "
        f"shifts and {len(axes)} axes")
  return list(zip(steps * (count // max(len(steps), 1)),
      axes * (count // max(len(axes), 1))))


@compiled(static=("shift", "axis"))
def _roll(a: Any, shift: Any, axis: Any) -> Any:
  a = one_array("roll", a)
  old = typeof(a).shape
  if axis is None:
    x = lax.reshape(a, (typeof(a).size,))
    total = sum(shift) if isinstance(shift, tuple) else shift
    return lax.reshape(_roll_by(x, index(total), 0), old)
  steps = list(shift) if isinstance(shift, tuple) else [shift]
  for step, d in _pairs("roll", steps, axis, len(old)):
    a = _roll_by(a, index(step), d)
  return a


def _roll_by(x: Any, step: int, axis: int) -> Any:
  n = typeof(x).shape[axis]
  step = step % n if n else 0
  if not step:
    return x
  last = lax.slice_in_dim(x, n - step, n, axis=axis)
  return lax.concatenate([last, lax.slice_in_dim(x, 0, n - step, axis=axis)], axis)


@compiled(static=("axis",))
def _roll_traced(a: Any, shift: Any, axis: Any) -> Any:
  a = one_array("roll", a)
  old = typeof(a).shape
  if isinstance(shift, (list, tuple)):
    steps = [one_array("roll", s) for s in shift]
  else:
    whole = one_array("roll", shift)
    if typeof(whole).ndim > 1:
      raise ValueError(f"roll: shift must be a scalar or a vector, got {typeof(whole)}")
    steps = [whole] if not typeof(whole).ndim else [
        lax.index_in_dim(whole, i, keepdims=False) for i in range(typeof(whole).shape[0])]
  if axis is None:
    x = lax.reshape(a, (typeof(a).size,))
    for step in steps:
      x = _roll_by_traced(x, step, 0)
    return lax.reshape(x, old)
  for step, d in _pairs("roll", steps, axis, len(old)):
    a = _roll_by_traced(a, step, d)
  return a


def _roll_by_traced(x: Any, step: Any, axis: int) -> Any:
  n = typeof(x).shape[axis]
  if not n:
    return x
  if not is_kind(step, np.integer):
    raise TypeError(f"roll: shift must be an integer, got {typeof(step)}")
  start = lax.sub(np.asarray(n, typeof(step).dtype), remainder(step, n))
  twice = lax.concatenate([x, x], axis)
  return lax.dynamic_slice_in_dim(twice, start, n, axis)


@compiled(static=("axis",))
def flip(m: Any, axis: int | Sequence[int] | None = None) -> Any:
  """Reverses the order of elements along axes.

  Args:
    m: an array or number.
    axis: which axes; None for all.

  >>> import gnomon.numpy as gnp
  >>> gnp.flip(gnp.arange(3)).tolist()
  [2, 1, 0]

  Raises:
    ValueError: an axis is out of range or repeated.
  """
  m = one_array("flip", m)
  axes = canonical_axes(axis, typeof(m).ndim, "flip")
  return lax.rev(m, axes) if axes else m


@compiled()
def fliplr(m: Any) -> Any:
  """Reverses the order along the second axis.

  >>> import gnomon.numpy as gnp
  >>> gnp.fliplr(gnp.eye(2)).tolist()
  [[0.0, 1.0], [1.0, 0.0]]

  Raises:
    ValueError: `m` has fewer than two dimensions.
  """
  m = one_array("fliplr", m)
  return lax.rev(m, (canonical_axis(1, typeof(m).ndim, "fliplr"),))


@compiled()
def flipud(m: Any) -> Any:
  """Reverses the order along the first axis.

  >>> import gnomon.numpy as gnp
  >>> gnp.flipud(gnp.eye(2)).tolist()
  [[0.0, 1.0], [1.0, 0.0]]

  Raises:
    ValueError: `m` has no dimensions.
  """
  m = one_array("flipud", m)
  return lax.rev(m, (canonical_axis(0, typeof(m).ndim, "flipud"),))


@compiled(static=("k", "axes"))
def rot90(m: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
  """Turns an array by right angles in the plane of two axes.

  Args:
    m: an array of at least two dimensions.
    k: by how many right angles, from the first axis towards the second.
    axes: the plane.

  >>> import gnomon.numpy as gnp
  >>> gnp.rot90(gnp.array([[1, 2], [3, 4]])).tolist()
  [[2, 4], [1, 3]]

  Raises:
    ValueError: there are not two different axes, or one is out of range.
  """
  m = one_array("rot90", m)
  rank = typeof(m).ndim
  if rank < 2:
    raise ValueError(
        "rot90 requires its first argument to have ndim at least two, but got first "
        f"argument of ndim {rank}, shape {typeof(m).shape}")
  pair = canonical_axes(axes, rank, "rot90")
  if len(pair) != 2:
    raise ValueError(f"rot90 needs two different axes, got {axes}")
  k = index(k) % 4
  if k == 0:
    return m
  if k == 2:
    return lax.rev(m, pair)
  order = list(range(rank))
  order[pair[0]], order[pair[1]] = pair[1], pair[0]
  if k == 1:
    return lax.transpose(lax.rev(m, (pair[1],)), order)
  return lax.rev(lax.transpose(m, order), (pair[1],))
