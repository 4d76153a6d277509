"""Elements by their numbers: taking and putting."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.structural import broadcast_in_dim, convert
from gnomon.core.types import typeof
from gnomon.lax import GatherScatterMode
from gnomon.numpy._compiled import compiled
from gnomon.numpy._indexing.places import widened, wrapped
from gnomon.numpy._indexing.read import read
from gnomon.numpy._indexing.write import update
from gnomon.numpy._promotion import broadcast_shapes, canonical_axis, check_arraylike
from gnomon.numpy._selection import nonzero
from gnomon.numpy._values import (
  array_of,
  arrays_of,
  choose,
  refuse_out,
  scalar,
  spread,
)

_FILL = GatherScatterMode.FILL_OR_DROP
_MODES = {
    None: _FILL, "fill": _FILL, "clip": GatherScatterMode.CLIP,
    "wrap": GatherScatterMode.PROMISE_IN_BOUNDS,
    "promise_in_bounds": GatherScatterMode.PROMISE_IN_BOUNDS}


def take(
    a: Any, indices: Any, axis: int | None = None, out: None = None,
    mode: str | None = None, unique_indices: bool = False,
    indices_are_sorted: bool = False, fill_value: Any = None) -> Any:
  """The parts of an array along an axis with given numbers.

  Args:
    a: an array.
    indices: integers of any shape, which takes the place of the axis.
    axis: the axis; None for the flattened array.
    out: not supported.
    mode: what becomes of indices outside the axis: `"fill"` (the default) gives
      `fill_value`, `"clip"` takes the nearest, `"wrap"` counts on from the other end,
      `"promise_in_bounds"` assures that there are none. Negative indices count from the
      end, but not in the mode `"clip"`.
    unique_indices: a promise that no index is repeated.
    indices_are_sorted: a promise that indices increase.
    fill_value: NaN by default, the least of signed integers, the greatest of unsigned
      ones, True.

  >>> import gnomon.numpy as gnp
  >>> gnp.take(gnp.array([10, 20, 30]), gnp.array([2, 0])).tolist()
  [30, 10]

  Raises:
    TypeError: an argument is no array, or the indices are no integers.
    ValueError: `axis` is out of range, or the mode unknown.
    IndexError: the axis is empty, but there are indices.
    NotImplementedError: the mode is `"raise"`.
  """
  refuse_out("take", out)
  if mode == "raise":
    raise NotImplementedError(
        "take does not support mode='raise', since an error cannot depend on values in "
        "compiled programs: use 'fill', 'clip' or 'wrap'")
  if mode not in _MODES:
    raise ValueError(
        f"take: mode should be one of 'fill', 'clip', 'wrap', 'promise_in_bounds'; got "
        f"{mode!r}")
  if fill_value is not None and not isinstance(fill_value, (bool, int, float, complex)):
    fill_value = np.asarray(fill_value).item()
  return _take(a, indices, axis, mode, bool(unique_indices), bool(indices_are_sorted),
               fill_value)


@compiled(static=("axis", "mode", "unique", "is_sorted", "fill_value"))
def _take(a: Any, indices: Any, axis: int | None, mode: str | None, unique: bool,
          is_sorted: bool, fill_value: Any) -> Any:
  check_arraylike("take", a, indices)
  a = array_of(a)
  if axis is None:
    a, axis = lax.reshape(a, (typeof(a).size,)), 0
  axis = canonical_axis(axis, typeof(a).ndim, "take")
  n = typeof(a).shape[axis]
  if isinstance(indices, int):
    indices = np.int32(indices + n if indices < 0 and mode != "clip" else indices)
  indices = _integers("take", array_of(indices) if np.ndim(indices) else indices)
  if not n and typeof(indices).size:
    raise IndexError(
        f"Cannot do a non-empty jnp.take() from an empty axis: axis {axis} of an array "
        f"of shape {typeof(a).shape}, indices of shape {typeof(indices).shape}")
  if mode == "wrap" and n:
    indices = lax.rem(indices, scalar(n, typeof(indices).dtype))
  if mode != "clip" and n and not isinstance(indices, np.int32) and _is_signed(indices):
    indices = wrapped(indices, n)
  entries = (*[":"] * axis, "b" if typeof(indices).ndim else "r",
             *[":"] * (typeof(a).ndim - axis - 1))
  how = _MODES[mode]
  return read(a, entries, [indices], how, fill_value, is_sorted, unique)


def _integers(name: str, indices: Any) -> Any:
  dtype = typeof(indices).dtype
  if dtype == np.bool_:
    return convert(indices, np.dtype(np.int32))
  if not dtypes.issubdtype(dtype, np.integer):
    raise TypeError(f"{name}: indices must be of integer type, got {dtype}")
  return widened(indices)


def _is_signed(x: Any) -> bool:
  return bool(dtypes.issubdtype(typeof(x).dtype, np.signedinteger))


# ---- along an axis


@compiled(static=("axis", "mode", "fill_value", "wrap_negative_indices"))
def take_along_axis(
    arr: Any, indices: Any, axis: int | None = -1,
    mode: str | GatherScatterMode | None = None, fill_value: Any = None, *,
    wrap_negative_indices: bool | None = None) -> Any:
  """Elements of an array, each by its number along an axis.

  Args:
    arr: an array.
    indices: integers: one number for each element of the result; its dimensions other
      than `axis` are broadcast with those of `arr`.
    axis: the axis; None for the flattened array, with one-dimensional indices.
    mode: `"fill"` (the default), `"clip"`, `"promise_in_bounds"`, or `"one_hot"`, which
      compares the indices with all numbers instead of gathering; indices outside give 0.
    fill_value: what indices outside give in the mode `"fill"`.
    wrap_negative_indices: whether negative indices count from the end; by default true,
      but in the mode `"promise_in_bounds"`.

  >>> import gnomon.numpy as gnp
  >>> x = gnp.array([[3, 1, 2], [6, 5, 4]])
  >>> gnp.take_along_axis(x, gnp.array([[1], [2]]), axis=1).tolist()
  [[1], [4]]

  Raises:
    TypeError: the indices are no integers.
    ValueError: the numbers of dimensions differ, or the shapes do not fit.
  """
  arr, indices = arrays_of("take_along_axis", arr, indices)
  indices = _along_indices("take_along_axis", indices)
  if axis is None:
    if typeof(indices).ndim != 1:
      raise ValueError(
          f"take_along_axis: indices must be 1-dimensional if axis=None, got shape "
          f"{typeof(indices).shape}")
    arr, axis = lax.reshape(arr, (typeof(arr).size,)), 0
  shape, given = typeof(arr).shape, typeof(indices).shape
  if len(shape) != len(given):
    raise ValueError(
        "take_along_axis: indices and arr must have the same number of dimensions; got "
        f"{len(given)} and {len(shape)}")
  axis = canonical_axis(axis, len(shape), "take_along_axis")
  out = _along_shape("take_along_axis", shape, given, axis)
  if 0 in out:
    return lax.full_like(arr, 0, shape=out)
  how = _FILL if mode is None else GatherScatterMode.from_any(mode)
  if wrap_negative_indices is None:
    wrap_negative_indices = how is not GatherScatterMode.PROMISE_IN_BOUNDS
  if wrap_negative_indices and _is_signed(indices):
    indices = wrapped(indices, shape[axis])
  if how is GatherScatterMode.ONE_HOT:
    return _one_hot_along(arr, indices, axis, out)
  single = [d for d, n in enumerate(given) if d != axis and n == 1]
  window = tuple([d for d in single if shape[d] > 1])
  batching = tuple([d for d in range(len(shape)) if d not in single and d != axis and
                    shape[d] > 1])
  collapsed = tuple([d for d in range(len(shape)) if d not in window + batching])
  kept = [d for d in range(len(shape)) if d not in window]
  vectors = lax.reshape(indices, (*[given[d] for d in kept], 1))
  numbers = lax.GatherDimensionNumbers(
      window, collapsed, (axis,), batching, tuple([kept.index(d) for d in batching]))
  sizes = [shape[d] if d in window else 1 for d in range(len(shape))]
  return lax.gather(arr, vectors, numbers, sizes, mode=how, fill_value=fill_value)


def _one_hot_along(arr: Any, indices: Any, axis: int, out: tuple[int, ...]) -> Any:
  """Elements along an axis, as sums over it in which one element is not 0."""
  aval = typeof(arr)
  full = (*out[:axis + 1], aval.shape[axis], *out[axis + 1:])
  numbers = lax.broadcasted_iota(typeof(indices).dtype, full, axis + 1)
  dims = [d if d <= axis else d + 1 for d in range(aval.ndim)]
  on = lax.eq(numbers, broadcast_in_dim(indices, full, dims))
  dims[axis] = axis + 1
  found = choose(on, broadcast_in_dim(arr, full, dims), scalar(0, aval.dtype))
  if aval.dtype == np.bool_:
    return lax.reduce_or(found, (axis + 1,))
  return lax.reduce_sum(found, (axis + 1,))


def _along_indices(name: str, indices: Any) -> Any:
  if not dtypes.issubdtype(typeof(indices).dtype, np.integer):
    raise TypeError(
        f"{name} indices must be of integer type, got {typeof(indices).dtype}")
  return widened(indices)


def _along_shape(name: str, shape: Any, given: Any, axis: int) -> tuple[int, ...]:
  """The shape of elements at indices along an axis."""
  others = [(*s[:axis], 1, *s[axis + 1:]) for s in (shape, given)]
  whole = list(broadcast_shapes(name, *others))
  whole[axis] = given[axis]
  return tuple(whole)


def _refuse_inplace(
    name: str, inplace: bool, error: type[Exception] = ValueError) -> None:
  if inplace:
    raise error(
        f"{name} cannot modify arrays in-place, because arrays are immutable. Pass "
        "inplace=False, and use the updated array that it returns")


def put_along_axis(
    arr: Any, indices: Any, values: Any, axis: int | None, inplace: bool = True, *,
    mode: str | GatherScatterMode | None = None) -> Any:
  """An array with elements replaced, each by its number along an axis.

  Args:
    arr: an array.
    indices: integers; its dimensions other than `axis` are broadcast with those of `arr`.
    values: what to put there, broadcast to the indices.
    axis: the axis; None for the flattened array, with one-dimensional indices.
    inplace: must be False: arrays do not change.
    mode: `"drop"` (the default), `"clip"` or `"promise_in_bounds"`.

  >>> import gnomon.numpy as gnp
  >>> x = gnp.zeros((2, 3))
  >>> gnp.put_along_axis(x, gnp.array([[1], [2]]), 9.0, axis=1, inplace=False).tolist()
  [[0.0, 9.0, 0.0], [0.0, 0.0, 9.0]]

  Raises:
    ValueError: `inplace` is true; the numbers of dimensions differ, or the shapes do not
      fit.
    TypeError: the indices are no integers.
  """
  _refuse_inplace("put_along_axis", inplace)
  arr, indices, values = arrays_of("put_along_axis", arr, indices, values)
  indices = _along_indices("put_along_axis", indices)
  if axis is None:
    flat = lax.reshape(arr, (typeof(arr).size,))
    done = put_along_axis(flat, indices, values, 0, False, mode=mode)
    return lax.reshape(done, typeof(arr).shape)
  shape, given = typeof(arr).shape, typeof(indices).shape
  if len(shape) != len(given):
    raise ValueError(
        "put_along_axis: indices and arr must have the same number of dimensions; got "
        f"{len(given)} and {len(shape)}")
  axis = canonical_axis(axis, len(shape), "put_along_axis")
  whole = _along_shape("put_along_axis", shape, given, axis)
  index = tuple([
      indices if d == axis else np.arange(n, dtype=np.int32).reshape(
          [-1 if e == d else 1 for e in range(len(shape))])
      for d, n in enumerate(shape)])
  values = spread("put_along_axis", values, given)
  return update("set", arr, index, spread("put_along_axis", values, whole), mode, False,
                False, True)


# ---- in the flattened array


def put(
    a: Any, ind: Any, v: Any, mode: str | None = None, *, inplace: bool = True) -> Any:
  """An array with elements of the flattened array replaced.

  Args:
    a: an array.
    ind: integers.
    v: values; repeated if there are fewer than indices.
    mode: what becomes of indices outside: `"clip"` puts at the nearest, negative ones at
      0; `"wrap"` counts on from the other end. By default negative indices count from the
      end, and those outside go to the nearest.
    inplace: must be False: arrays do not change.

  >>> import gnomon.numpy as gnp
  >>> gnp.put(gnp.zeros(3), gnp.array([0, 2]), 5.0, inplace=False).tolist()
  [5.0, 0.0, 5.0]

  Raises:
    ValueError: `inplace` is true, or the mode unknown.
    NotImplementedError: the mode is `"raise"`.
  """
  _refuse_inplace("put", inplace)
  a, ind, v = arrays_of("put", a, ind, v)
  if mode == "raise":
    raise NotImplementedError(
        "put does not support mode='raise', since an error cannot depend on values in "
        "compiled programs: use 'clip' or 'wrap'")
  if mode not in (None, "clip", "wrap"):
    raise ValueError(f"put: mode should be one of 'wrap' or 'clip'; got {mode!r}")
  shape, n = typeof(a).shape, typeof(a).size
  count, given = typeof(ind).size, typeof(v).size
  if not n or not count or not given:
    return a
  ind = _integers("put", lax.reshape(ind, (count,)))
  if mode == "wrap":
    ind = lax.rem(ind, scalar(n, typeof(ind).dtype))
  if mode != "clip" and _is_signed(ind):
    ind = wrapped(ind, n)
  dtype = typeof(ind).dtype
  ind = lax.clamp(scalar(0, dtype), ind, scalar(n - 1, dtype))
  v = _repeated(lax.reshape(v, (given,)), count)
  done = update(
      "set", lax.reshape(a, (n,)), ind, v, "promise_in_bounds", False, False, False)
  return lax.reshape(done, shape)


def _repeated(v: Any, count: int) -> Any:
  """The first `count` elements of a vector repeated."""
  n = typeof(v).shape[0]
  if n == 1:
    return lax.broadcast_in_dim(v, (count,), (0,))
  if n < count:
    v = lax.tile(v, (-(-count // n),))
  return lax.slice_in_dim(v, 0, count)


def place(arr: Any, mask: Any, vals: Any, *, inplace: bool = True) -> Any:
  """An array with the elements where a mask holds replaced by values, one after another.

  Args:
    arr: an array.
    mask: an array of as many elements.
    vals: the values; repeated if there are fewer than elements.
    inplace: must be False: arrays do not change.

  >>> import gnomon.numpy as gnp
  >>> x = gnp.arange(4)
  >>> gnp.place(x, x > 1, gnp.array([8, 9]), inplace=False).tolist()
  [0, 1, 8, 9]

  Raises:
    ValueError: `inplace` is true, the sizes differ, or there are no values.
  """
  _refuse_inplace("place", inplace)
  arr, mask, vals = arrays_of("place", arr, mask, vals)
  n, count = typeof(arr).size, typeof(vals).size
  if typeof(mask).size != n:
    raise ValueError(
        f"place: arr and mask must be the same size, got {n} and {typeof(mask).size}")
  if not n:
    return arr
  if not count:
    raise ValueError("place: there must be values to place, got an empty array")
  places = nonzero(lax.reshape(mask, (n,)), size=n, fill_value=n)[0]
  values = _repeated(lax.reshape(vals, (count,)), n)
  done = update(
      "set", lax.reshape(arr, (n,)), places, values, "drop", False, False, False)
  return lax.reshape(done, typeof(arr).shape)


def fill_diagonal(a: Any, val: Any, wrap: bool = False, *, inplace: bool = True) -> Any:
  """An array with the elements of the main diagonal replaced.

  Args:
    a: an array of at least two dimensions; if more than two, all of one size.
    val: a number, or values in order; repeated if there are fewer than elements.
    wrap: not supported.
    inplace: must be False: arrays do not change.

  >>> import gnomon.numpy as gnp
  >>> gnp.fill_diagonal(gnp.zeros((2, 2)), 5.0, inplace=False).tolist()
  [[5.0, 0.0], [0.0, 5.0]]

  Raises:
    NotImplementedError: `inplace` or `wrap` is true.
    ValueError: `a` has too few dimensions, or more than two of different sizes.
  """
  _refuse_inplace("fill_diagonal", inplace, NotImplementedError)
  if wrap:
    raise NotImplementedError("fill_diagonal does not support wrap=True: use wrap=False")
  a, val = arrays_of("fill_diagonal", a, val)
  shape = typeof(a).shape
  if len(shape) < 2:
    raise ValueError(
        f"fill_diagonal: the array must be at least 2-d, got shape {shape}")
  if len(shape) > 2 and len(set(shape)) > 1:
    raise ValueError(
        "fill_diagonal: all dimensions of input must be of equal length, got shape "
        f"{shape}")
  n = min(shape)
  if not n or not typeof(val).size:
    return a
  values = _repeated(lax.reshape(val, (typeof(val).size,)), n)
  i = np.arange(n, dtype=np.int32)
  at = (i,) * len(shape)
  return update("set", a, at, values, "promise_in_bounds", True, True, False)
