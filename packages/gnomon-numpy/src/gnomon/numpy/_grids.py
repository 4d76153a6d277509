"""Grids of coordinates; numbers of elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.api.vmap import vmap
from gnomon.core import dtypes
from gnomon.core.structural import convert, select_n
from gnomon.core.types import typeof
from gnomon.numpy._arithmetic import add
from gnomon.numpy._compiled import compiled
from gnomon.numpy._creation import arange, dtype_of, shape_of
from gnomon.numpy._power import power
from gnomon.numpy._promotion import promote_dtypes
from gnomon.numpy._selection import nonzero
from gnomon.numpy._values import arrays_of, concrete, is_kind, one_array, scalar

Shape = tuple[int, ...]


def meshgrid(
    *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> list[Any]:
  """The coordinates of the points of a grid, one array a coordinate.

  Args:
    *xi: the coordinates along each dimension: vectors.
    copy: must be true: arrays have memory of their own.
    sparse: whether dimensions along which a coordinate is constant have size 1.
    indexing: `"xy"` if the first two dimensions of the grid count y and x, `"ij"` if they
      come in the order of the arguments.

  >>> import gnomon.numpy as gnp
  >>> x, y = gnp.meshgrid(gnp.array([1, 2]), gnp.array([3, 4]))
  >>> x.tolist(), y.tolist()
  ([[1, 2], [1, 2]], [[3, 3], [4, 4]])

  Raises:
    ValueError: an argument is no vector, `copy` is false, or `indexing` is unknown.
  """
  if not copy:
    raise ValueError("meshgrid only supports copy=True: arrays have memory of their own")
  if indexing not in ("xy", "ij"):
    raise ValueError(f"Valid values for indexing are 'xy' and 'ij', got {indexing!r}")
  args = arrays_of("meshgrid", *xi)
  shapes = [typeof(x).shape for x in args]
  if any(len(s) != 1 for s in shapes):
    raise ValueError(f"Arguments to meshgrid must be 1D, got shapes {shapes}")
  return list(_meshgrid(tuple(args), bool(sparse), indexing))


@compiled(static=("sparse", "indexing"))
def _meshgrid(args: Any, sparse: bool, indexing: str) -> tuple[Any, ...]:
  n = len(args)
  dims = list(range(n))
  if indexing == "xy" and n >= 2:
    dims[:2] = [1, 0]
  sizes = [0] * n
  for x, d in zip(args, dims):
    sizes[d] = typeof(x).shape[0]
  return tuple([
      lax.broadcast_in_dim(
          x, [m if not sparse or e == d else 1 for e, m in enumerate(sizes)], (d,))
      for x, d in zip(args, dims)])


def indices(dimensions: Any, dtype: Any = None, sparse: bool = False) -> Any:
  """The number of each element of an array along each dimension.

  Args:
    dimensions: the array's shape.
    dtype: the dtype; integers by default.
    sparse: return an array for each dimension, with size 1 in the others.

  Returns:
    An array whose first dimension runs over dimensions; or a tuple.

  >>> import gnomon.numpy as gnp
  >>> gnp.indices((2, 2)).tolist()
  [[[0, 0], [1, 1]], [[0, 1], [0, 1]]]

  Raises:
    TypeError: a size is no integer.
  """
  shape = shape_of(dimensions, "indices")
  dtype = dtype_of(dtype, "indices", dtypes.default_int_dtype())
  n = len(shape)
  if sparse:
    return tuple([
        lax.reshape(arange(m, dtype=dtype), [m if e == d else 1 for e in range(n)])
        for d, m in enumerate(shape)])
  return _indices(shape, dtype)


@compiled(static=("shape", "dtype"))
def _indices(shape: Shape, dtype: Any) -> Any:
  if not shape:
    return lax.full((0,), 0, dtype)
  return lax.concatenate(
      [lax.broadcasted_iota(dtype, (1, *shape), d + 1) for d in range(len(shape))], 0)


def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: Any = float,
    **kwargs: Any) -> Any:
  """An array made by a function of the elements' positions.

  Args:
    function: takes a scalar for each dimension, and `kwargs`.
    shape: the array's shape.
    dtype: the dtype of the positions.
    **kwargs: further arguments of the function.

  >>> import gnomon.numpy as gnp
  >>> gnp.fromfunction(lambda i, j: i * 10 + j, (2, 2), dtype=int).tolist()
  [[0, 1], [10, 11]]

  Raises:
    TypeError: a size is no integer.
  """
  shape = shape_of(shape, "fromfunction")
  mapped: Callable[..., Any] = lambda *at: function(*at, **kwargs)  # noqa: E731
  n = len(shape)
  for d in reversed(range(n)):
    mapped = vmap(mapped, in_axes=tuple([0 if e == d else None for e in range(n)]))
  return mapped(*[arange(m, dtype=dtype) for m in shape])


def ix_(*args: Any) -> tuple[Any, ...]:
  """Vectors that index a grid: each gets a dimension of its own.

  Args:
    *args: vectors; bools stand for the positions of those that are true.

  >>> import gnomon.numpy as gnp
  >>> x = gnp.arange(9).reshape(3, 3)
  >>> x[gnp.ix_(gnp.array([0, 2]), gnp.array([1, 2]))].tolist()
  [[1, 2], [7, 8]]

  Raises:
    ValueError: an argument is no vector.
    ConcretizationTypeError: bools are traced.
  """
  found = arrays_of("ix_", *args)
  out = []
  for d, x in enumerate(found):
    aval = typeof(x)
    if aval.ndim != 1:
      raise ValueError(f"Arguments to ix_ must be 1-dimensional, got shape {aval.shape}")
    if aval.dtype == np.bool_:
      (x,) = nonzero(x)
    elif not aval.size and not dtypes.issubdtype(aval.dtype, np.integer):
      x = convert(x, dtypes.default_int_dtype())
    n = typeof(x).shape[0]
    out.append(lax.reshape(x, [n if e == d else 1 for e in range(len(found))]))
  return tuple(out)


# ---- numbers of elements


def unravel_index(indices: Any, shape: Any) -> tuple[Any, ...]:
  """The positions of elements, from their numbers in row-major order.

  Args:
    indices: integers; negative ones count from the end, those outside become the nearest.
    shape: the array's shape.

  Returns:
    An array of integers for each dimension.

  >>> import gnomon.numpy as gnp
  >>> [i.tolist() for i in gnp.unravel_index(gnp.array([1, 5]), (2, 3))]
  [[0, 1], [1, 2]]

  Raises:
    TypeError: the indices are no integers.
  """
  return _unravel(one_array("unravel_index", indices), shape_of(shape, "unravel_index"))


@compiled(static=("shape",))
def _unravel(at: Any, shape: Shape) -> tuple[Any, ...]:
  aval = typeof(at)
  if not is_kind(at, np.integer):
    raise TypeError(f"unravel_index: indices must be integers, got dtype {aval.dtype}")
  total = math.prod(shape)
  info = dtypes.iinfo(aval.dtype)
  dtype = aval.dtype if total <= info.max else np.dtype(np.int32)
  at = convert(at, dtype, aval.weak_type)
  if info.min < 0:
    at = select_n(lax.lt(at, scalar(0, dtype)), at, lax.add(at, scalar(total, dtype)))
  at = lax.clamp(scalar(0, dtype), at, scalar(max(total - 1, 0), dtype))
  found = []
  for d, n in enumerate(shape):
    stride = math.prod(shape[d + 1:])
    i = lax.div(at, scalar(stride, dtype)) if stride > 1 else at
    i = lax.rem(i, scalar(n, dtype)) if d and n else i
    found.append(convert(i, aval.dtype, aval.weak_type))
  return tuple(found)


def ravel_multi_index(
    multi_index: Sequence[Any], dims: Sequence[int], mode: Any = "raise",
    order: str = "C", *, dtype: Any = None) -> Any:
  """The numbers of elements, from their positions.

  Args:
    multi_index: integers for each dimension.
    dims: the array's shape.
    mode: what becomes of positions outside: `"raise"` raises an error (and needs their
      values), `"wrap"` takes them modulo the size, `"clip"` takes the nearest, `"ignore"`
      computes with them as they are; or one of these for each dimension.
    order: `"C"` if the last dimension runs fastest, `"F"` if the first does.
    dtype: the dtype of the result.

  >>> import gnomon.numpy as gnp
  >>> i, j = gnp.array([0, 1]), gnp.array([1, 2])
  >>> gnp.ravel_multi_index((i, j), (2, 3)).tolist()
  [1, 5]

  Raises:
    ValueError: the numbers of dimensions differ; a position is outside; `mode` or `order`
      is unknown; the positions are no integers.
    ConcretizationTypeError: positions are traced, and the mode is `"raise"`.
  """
  shape = shape_of(dims, "ravel_multi_index")
  at = arrays_of("ravel_multi_index", *multi_index)
  modes = (mode,) * len(shape) if isinstance(mode, str) else tuple(mode)
  if len(at) != len(shape) or len(modes) != len(shape):
    raise ValueError(
        f"ravel_multi_index needs as many indices as dims: got {len(at)} for {shape}")
  if order not in ("C", "F"):
    raise ValueError(f"ravel_multi_index: order must be 'C' or 'F', got {order!r}")
  for i, n, how in zip(at, shape, modes):
    if not is_kind(i, np.integer):
      raise ValueError(
          f"ravel_multi_index: indices must be integers, got dtype {typeof(i).dtype}")
    if how == "raise":
      known = concrete(
          "ravel_multi_index", "multi_index", i,
          "The error occurred because ravel_multi_index was jit-compiled with "
          "mode='raise'. Use mode='wrap' or mode='clip' instead.")
      if ((known < 0) | (known >= n)).any():
        raise ValueError(
            f"invalid entry in coordinates array: {known} is not within 0 and {n - 1}; "
            "or use mode='wrap' or mode='clip' of ravel_multi_index")
    elif how not in ("wrap", "clip", "ignore"):
      raise ValueError(
          f"ravel_multi_index: invalid mode={how!r}. Expected 'raise', 'wrap', 'clip', "
          "or 'ignore'")
  given = dtypes.result_type(*at) if dtype is None else dtype_of(
      dtype, "ravel_multi_index")
  if not dtypes.issubdtype(given, np.integer):
    raise ValueError(f"ravel_multi_index: dtype must be an integer type, got {given}")
  if math.prod(shape) - 1 > np.iinfo(given).max:
    raise ValueError(
        f"ravel_multi_index: dtype {given} is not large enough for flat positions in the "
        f"shape {shape}: give another as dtype, such as int32")
  return _ravel(tuple(at), shape, modes, order, given)


@compiled(static=("shape", "modes", "order", "dtype"))
def _ravel(at: Any, shape: Shape, modes: tuple[str, ...], order: str, dtype: Any) -> Any:
  # Sizes may be out of the range of the dtype, where positions are not.
  wide = np.promote_types(dtype, np.int32)
  at = [convert(i, wide) for i in at]
  parts = list(zip(at, shape, modes))
  if order == "C":
    parts.reverse()
  stride = 1
  total = None
  for i, n, how in parts:
    if how == "clip":
      i = lax.clamp(scalar(0, wide), i, scalar(max(n - 1, 0), wide))
    elif how == "wrap" and n:
      i = lax.rem(i, scalar(n, wide))
      i = select_n(lax.lt(i, scalar(0, wide)), i, lax.add(i, scalar(n, wide)))
    i = lax.mul(i, scalar(stride, wide)) if stride != 1 else i
    total = i if total is None else add(total, i)
    stride *= n
  return lax.full((), 0, dtype) if total is None else convert(total, dtype)


@compiled(static=("N", "increasing"))
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
  """The matrix of the powers of the elements of a vector, one power a column.

  Args:
    x: a vector.
    N: the number of columns; as many as rows by default.
    increasing: whether the powers increase, from 0; otherwise they decrease to 0.

  >>> import gnomon.numpy as gnp
  >>> gnp.vander(gnp.array([2, 3]), 3).tolist()
  [[4, 2, 1], [9, 3, 1]]

  Raises:
    ValueError: `x` is no vector, or `N` is negative.
  """
  x = one_array("vander", x)
  if typeof(x).ndim != 1:
    raise ValueError(
        f"vander: x must be a one-dimensional array, got shape {typeof(x).shape}")
  n = typeof(x).shape[0]
  columns = n if N is None else N.__index__()
  if columns < 0:
    raise ValueError(f"vander: N must be nonnegative, got {columns}")
  if not is_kind(x, np.inexact):
    (x,) = promote_dtypes(x) if typeof(x).dtype != np.bool_ else (
        convert(x, dtypes.default_int_dtype()),)
  shape = (n, columns)
  exponents = lax.broadcasted_iota(np.int32, shape, 1)
  if not increasing:
    exponents = lax.sub(np.int32(columns - 1), exponents)
  x = lax.broadcast_in_dim(x, shape, (0,))
  return lax.pow(x, exponents) if is_kind(x, np.inexact) else power(x, exponents)
