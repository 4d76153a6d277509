"""Arrays that become one, and one array cut apart."""

from __future__ import annotations

from itertools import pairwise
from operator import index
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core.structural import broadcast_in_dim, convert
from gnomon.core.trace import Tracer
from gnomon.core.types import typeof
from gnomon.lax import stack_p, unstack_p
from gnomon.numpy._compiled import Array, compiled, freeze
from gnomon.numpy._promotion import canonical_axis, check_arraylike, promote_dtypes
from gnomon.numpy._shape import atleast_1d, atleast_2d, atleast_3d
from gnomon.numpy._values import (
  array_of,
  arrays_of,
  asked_dtype,
  concrete,
  one_array,
  refuse_out,
  sizes_of,
)

_ARRAYS = (Array, Tracer, np.ndarray)

# ---- joining


def _sequence(name: str, arrays: Any) -> list[Any]:
  """The arrays to join; an array stands for its parts along the first axis."""
  if isinstance(arrays, _ARRAYS):
    x = array_of(arrays)
    if not typeof(x).ndim:
      raise ValueError(f"{name} needs a sequence of arrays, got a 0-d array")
    return list(unstack_p.apply(x, axis=0)) if typeof(x).shape[0] else []
  if not isinstance(arrays, (list, tuple)):
    raise TypeError(
        f"{name} needs a sequence of arrays, got {arrays!r} of {type(arrays)}")
  return list(arrays)


def _one_dtype(name: str, arrays: list[Any], dtype: Any) -> list[Any]:
  """Promotes the arrays to join, or converts them to a dtype."""
  check_arraylike(name, *arrays)
  if not arrays:
    raise ValueError(f"{name} needs at least one array, got an empty sequence")
  arrays = [x.__jax_array__() if hasattr(type(x), "__jax_array__") else x for x in arrays]
  if dtype is None:
    return [array_of(x) for x in promote_dtypes(*arrays)]
  dtype = asked_dtype(dtype, name)
  return [convert(array_of(x), dtype) for x in arrays]


def _join(arrays: list[Any], axis: int) -> Any:
  return arrays[0] if len(arrays) == 1 else lax.concatenate(arrays, axis)


@compiled(static=("axis", "dtype"))
def concatenate(arrays: Any, axis: int | None = 0, dtype: Any = None) -> Any:
  """Joins arrays along an axis that they have.

  Args:
    arrays: a sequence of arrays whose other sizes are equal; dtypes are promoted.
    axis: along which; None flattens the arrays first.
    dtype: the result's dtype.

  >>> import gnomon.numpy as gnp
  >>> gnp.concatenate([gnp.zeros(2), gnp.ones(1)]).tolist()
  [0.0, 0.0, 1.0]

  Raises:
    ValueError: there is no array, one has no dimensions, or the axis is out of range.
    TypeError: sizes differ in other axes.
  """
  return _concatenate("concatenate", arrays, axis, dtype)


def _concatenate(name: str, arrays: Any, axis: int | None, dtype: Any) -> Any:
  if isinstance(arrays, _ARRAYS) and axis is not None and typeof(arrays).ndim > 1:
    return _concatenate_parts(name, array_of(arrays), axis, dtype)
  xs = _one_dtype(name, _sequence(name, arrays), dtype)
  if axis is None:
    return _join([lax.reshape(x, (typeof(x).size,)) for x in xs], 0)
  for i, x in enumerate(xs):
    if not typeof(x).ndim:
      raise ValueError(
          f"{name}: zero-dimensional arrays cannot be concatenated, as the one at "
          f"position {i}; use stack, or axis=None")
  return _join(xs, canonical_axis(axis, typeof(xs[0]).ndim, name))


def _concatenate_parts(name: str, x: Any, axis: int, dtype: Any) -> Any:
  """Joins the parts of an array along its first axis: a reshape."""
  if dtype is not None:
    x = convert(x, asked_dtype(dtype, name))
  n, *rest = typeof(x).shape
  d = canonical_axis(axis, len(rest), name)
  order = (*range(1, d + 1), 0, *range(d + 1, len(rest) + 1))
  rest[d] *= n
  return lax.reshape(lax.transpose(x, order), tuple(rest))


@compiled(static=("axis",))
def concat(arrays: Any, /, *, axis: int | None = 0) -> Any:
  """Joins arrays along an axis that they have: as the array API standard calls it.

  Args:
    arrays: a sequence of arrays whose other sizes are equal; dtypes are promoted.
    axis: along which; None flattens the arrays first.

  >>> import gnomon.numpy as gnp
  >>> gnp.concat([gnp.zeros(2), gnp.ones(1)]).tolist()
  [0.0, 0.0, 1.0]

  Raises:
    ValueError: there is no array, one has no dimensions, or the axis is out of range.
    TypeError: sizes differ in other axes.
  """
  return _concatenate("concat", arrays, axis, None)


@compiled(static=("axis", "dtype"))
def stack(arrays: Any, axis: int = 0, out: None = None, dtype: Any = None) -> Any:
  """Joins arrays of one shape along a new axis.

  Args:
    arrays: a sequence of arrays; dtypes are promoted.
    axis: where the new axis stands in the result.
    out: not supported.
    dtype: the result's dtype.

  >>> import gnomon.numpy as gnp
  >>> gnp.stack([gnp.zeros(2), gnp.ones(2)], axis=1).tolist()
  [[0.0, 1.0], [0.0, 1.0]]

  Raises:
    ValueError: there is no array, the shapes differ, or the axis is out of range.
    NotImplementedError: `out` is given.
  """
  refuse_out("stack", out)
  if isinstance(arrays, _ARRAYS) and typeof(arrays).shape[:1] not in ((), (0,)):
    x = array_of(arrays) if dtype is None else convert(
        array_of(arrays), asked_dtype(dtype, "stack"))
    d = canonical_axis(axis, typeof(x).ndim, "stack")
    return lax.transpose(x, (*range(1, d + 1), 0, *range(d + 1, typeof(x).ndim)))
  xs = _one_dtype("stack", _sequence("stack", arrays), dtype)
  shapes = [typeof(x).shape for x in xs]
  if any(s != shapes[0] for s in shapes):
    raise ValueError(
        f"stack needs arrays of one shape, got {', '.join(map(str, shapes))}")
  return stack_p.apply(*xs, axis=canonical_axis(axis, len(shapes[0]) + 1, "stack"))[0]


@compiled(static=("axis",))
def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
  """The parts of an array along an axis, without it.

  Args:
    x: an array of at least one dimension.
    axis: along which.

  >>> import gnomon.numpy as gnp
  >>> a, b = gnp.unstack(gnp.eye(2))
  >>> a.tolist()
  [1.0, 0.0]

  Raises:
    ValueError: the axis is out of range.
  """
  x = one_array("unstack", x)
  axis = canonical_axis(axis, typeof(x).ndim, "unstack")
  return tuple(unstack_p.apply(x, axis=axis)) if typeof(x).shape[axis] else ()


@compiled(static=("dtype",))
def vstack(tup: Any, dtype: Any = None) -> Any:
  """Joins arrays along the first axis; vectors become rows.

  Args:
    tup: a sequence of arrays; dtypes are promoted.
    dtype: the result's dtype.

  >>> import gnomon.numpy as gnp
  >>> gnp.vstack([gnp.zeros(2), gnp.ones(2)]).tolist()
  [[0.0, 0.0], [1.0, 1.0]]

  Raises:
    ValueError: there is no array.
    TypeError: sizes differ in other axes.
  """
  xs = [atleast_2d(x) for x in _one_dtype("vstack", _sequence("vstack", tup), dtype)]
  return _join(xs, 0)


@compiled(static=("dtype",))
def hstack(tup: Any, dtype: Any = None) -> Any:
  """Joins arrays along the second axis; vectors along their only one.

  Args:
    tup: a sequence of arrays; dtypes are promoted.
    dtype: the result's dtype.

  >>> import gnomon.numpy as gnp
  >>> gnp.hstack([gnp.zeros(2), gnp.ones(1)]).tolist()
  [0.0, 0.0, 1.0]

  Raises:
    ValueError: there is no array.
    TypeError: sizes differ in other axes.
  """
  xs = [atleast_1d(x) for x in _one_dtype("hstack", _sequence("hstack", tup), dtype)]
  return _join(xs, 0 if typeof(xs[0]).ndim == 1 else 1)


@compiled(static=("dtype",))
def dstack(tup: Any, dtype: Any = None) -> Any:
  """Joins arrays along the third axis; vectors and matrices get one.

  Args:
    tup: a sequence of arrays; dtypes are promoted.
    dtype: the result's dtype.

  >>> import gnomon.numpy as gnp
  >>> gnp.dstack([gnp.zeros(2), gnp.ones(2)]).shape
  (1, 2, 2)

  Raises:
    ValueError: there is no array.
    TypeError: sizes differ in other axes.
  """
  xs = [atleast_3d(x) for x in _one_dtype("dstack", _sequence("dstack", tup), dtype)]
  return _join(xs, 2)


@compiled()
def column_stack(tup: Any) -> Any:
  """Joins arrays along the second axis; vectors become columns.

  Args:
    tup: a sequence of arrays of at most two dimensions; dtypes are promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.column_stack([gnp.zeros(2), gnp.ones(2)]).tolist()
  [[0.0, 1.0], [0.0, 1.0]]

  Raises:
    ValueError: there is no array.
    TypeError: sizes differ in other axes.
  """
  xs = _one_dtype("column_stack", _sequence("column_stack", tup), None)
  return _join([_column(x) for x in xs], 1)


def _column(x: Any) -> Any:
  old = typeof(x).shape
  if len(old) > 1:
    return x
  return broadcast_in_dim(x, (old[0] if old else 1, 1), tuple(range(len(old))))


@compiled()
def block(arrays: Any) -> Any:
  """An array made of blocks, given as nested lists.

  Args:
    arrays: an array, or lists (not tuples) of them, nested. Innermost lists are joined
      along the last axis, the next ones along the one before it, and so on.

  >>> import gnomon.numpy as gnp
  >>> one, zero = gnp.eye(1), gnp.zeros((1, 1))
  >>> gnp.block([[one, zero], [zero, one]]).tolist()
  [[1.0, 0.0], [0.0, 1.0]]

  Raises:
    TypeError: there is a tuple, or sizes do not fit.
    ValueError: a list is empty, or the depths of lists differ.
  """
  depth, leaves = _depth(arrays)
  xs = iter(_one_dtype("block", leaves, None))
  known = [_fill(arrays, xs)]
  rank = max(depth, *(typeof(x).ndim for x in _leaves(known)))
  return _blocks(known[0], rank, depth)


def _depth(x: Any) -> tuple[int, list[Any]]:
  """How deep lists are nested, and what they hold."""
  if isinstance(x, tuple):
    raise TypeError("block needs lists of arrays, got a tuple: only lists are understood")
  if not isinstance(x, list):
    return 0, [x]
  if not x:
    raise ValueError("block: a list is empty")
  depths, leaves = zip(*map(_depth, x))
  if len(set(depths)) > 1:
    raise ValueError(
        f"block needs lists of one depth, got the depths {sorted(set(depths))}")
  return depths[0] + 1, [leaf for part in leaves for leaf in part]


def _fill(x: Any, values: Any) -> Any:
  return [_fill(y, values) for y in x] if isinstance(x, list) else next(values)


def _leaves(x: Any) -> list[Any]:
  return [leaf for y in x for leaf in _leaves(y)] if isinstance(x, list) else [x]


def _blocks(x: Any, rank: int, depth: int) -> Any:
  if isinstance(x, list):
    return _join([_blocks(y, rank, depth - 1) for y in x], rank - depth)
  return lax.broadcast_to_rank(x, rank)


@compiled(static=("axis",))
def append(arr: Any, values: Any, axis: int | None = None) -> Any:
  """An array with values after its end.

  Args:
    arr: an array.
    values: what comes after it; of the same number of dimensions if an axis is given.
    axis: along which; None flattens both.

  >>> import gnomon.numpy as gnp
  >>> gnp.append(gnp.arange(2), 7).tolist()
  [0, 1, 7]

  Raises:
    ValueError: the axis is out of range.
    TypeError: sizes differ in other axes.
  """
  return _concatenate("append", [arr, values], axis, None)


# ---- cutting apart


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
  """Cuts an array into equal parts, or at given places.

  Args:
    ary: an array.
    indices_or_sections: the number of parts, or the indices before which to cut, as for
      slices: they may be negative. They must be known, not traced.
    axis: along which.

  >>> import gnomon.numpy as gnp
  >>> [x.tolist() for x in gnp.split(gnp.arange(4), [1])]
  [[0], [1, 2, 3]]

  Raises:
    ValueError: the parts would not be equal, or the axis is out of range.
  """
  return _split(ary, _cuts("split", indices_or_sections), index(axis), "split")


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
  """Cuts an array into parts that are equal or differ by one, or at given places.

  Args:
    ary: an array.
    indices_or_sections: the number of parts, or the indices before which to cut. They
      must be known, not traced.
    axis: along which.

  >>> import gnomon.numpy as gnp
  >>> [x.tolist() for x in gnp.array_split(gnp.arange(3), 2)]
  [[0, 1], [2]]

  Raises:
    ValueError: the number of parts is not positive, or the axis is out of range.
  """
  cuts = _cuts("array_split", indices_or_sections)
  return _split(ary, cuts, index(axis), "array_split")


def _cuts(name: str, where: Any) -> Any:
  """The number of parts, or a tuple of indices."""
  if isinstance(where, Tracer):
    where = _known_cut(name, where)
  elif isinstance(where, (list, tuple)):
    where = [_known_cut(name, w) if isinstance(w, Tracer) else w for w in where]
  if hasattr(where, "__index__") and not getattr(where, "ndim", 0):
    return index(where)
  return sizes_of(name, freeze(where))


def _known_cut(name: str, where: Any) -> Any:
  """The value of a tracer, which may be a derivative's, and then floating-point."""
  value = concrete(
      name, "indices_or_sections", where,
      "Give it as Python integers, or make the argument static for jit (static_argnums)")
  return value.astype(np.int64)[()] if (value == np.trunc(value)).all() else value


@compiled(static=("cuts", "axis", "name"))
def _split(ary: Any, cuts: Any, axis: int, name: str) -> list[Any]:
  x = one_array(name, ary)
  axis = canonical_axis(axis, typeof(x).ndim, name)
  n = typeof(x).shape[axis]
  if isinstance(cuts, int):
    if cuts <= 0:
      raise ValueError(
          f"{name}: the number of sections must be larger than 0, got {cuts}")
    size, rest = divmod(n, cuts)
    if rest and name != "array_split":
      raise ValueError(
          f"{name}: an array split into {cuts} parts does not result in an equal "
          f"division of axis {axis} with {n} elements; array_split gives unequal parts")
    sizes = (size + 1,) * rest + (size,) * (cuts - rest)
    return list(lax.split(x, sizes, axis))
  edges = [0, *cuts, n]
  sizes = tuple([b - a for a, b in pairwise(edges)])
  if all(size >= 0 for size in sizes):
    return list(lax.split(x, sizes, axis))
  parts = [slice(a, b).indices(n) for a, b in zip([None, *cuts], [*cuts, None])]
  return [lax.slice_in_dim(x, a, max(a, b), axis=axis) for a, b, _ in parts]


def hsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
  """Cuts along the second axis, a vector along its only one. See `split`.

  Args:
    ary: an array of at least one dimension.
    indices_or_sections: the number of equal parts, or the indices before which to cut.

  >>> import gnomon.numpy as gnp
  >>> [x.shape for x in gnp.hsplit(gnp.zeros((2, 4)), 2)]
  [(2, 2), (2, 2)]

  Raises:
    ValueError: the parts would not be equal, or `ary` has no dimensions.
  """
  (ary,) = arrays_of("hsplit", ary)
  axis = 0 if typeof(ary).ndim == 1 else 1
  return _split(ary, _cuts("hsplit", indices_or_sections), axis, "hsplit")


def vsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
  """Cuts along the first axis. See `split`.

  Args:
    ary: an array of at least one dimension.
    indices_or_sections: the number of equal parts, or the indices before which to cut.

  >>> import gnomon.numpy as gnp
  >>> [x.shape for x in gnp.vsplit(gnp.zeros((2, 4)), 2)]
  [(1, 4), (1, 4)]

  Raises:
    ValueError: the parts would not be equal, or `ary` has no dimensions.
  """
  return _split(ary, _cuts("vsplit", indices_or_sections), 0, "vsplit")


def dsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
  """Cuts along the third axis. See `split`.

  Args:
    ary: an array of at least three dimensions.
    indices_or_sections: the number of equal parts, or the indices before which to cut.

  >>> import gnomon.numpy as gnp
  >>> [x.shape for x in gnp.dsplit(gnp.zeros((2, 4, 2)), 2)]
  [(2, 4, 1), (2, 4, 1)]

  Raises:
    ValueError: the parts would not be equal, or `ary` has fewer than three dimensions.
  """
  return _split(ary, _cuts("dsplit", indices_or_sections), 2, "dsplit")
