"""Diagonals and triangles of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.structural import convert, select_n
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.numpy._conversion import on_device
from gnomon.numpy._creation import check_diagonal, dtype_of, matrix_shape, ones
from gnomon.numpy._promotion import canonical_axis
from gnomon.numpy._reductions import sum as sum_of
from gnomon.numpy._selection import nonzero
from gnomon.numpy._values import one_array, refuse_out, scalar

Pair = tuple[Any, Any]


# ---- diagonals


@compiled(static=("k",))
def diag(v: Any, k: int = 0) -> Any:
  """A diagonal of a matrix; or the matrix with a given diagonal, and zeros elsewhere.

  Args:
    v: a matrix, or a vector.
    k: which diagonal: 0 the main one, above it if positive.

  >>> import gnomon.numpy as gnp
  >>> gnp.diag(gnp.array([[1, 2], [3, 4]])).tolist()
  [1, 4]
  >>> gnp.diag(gnp.array([5, 6])).tolist()
  [[5, 0], [0, 6]]

  Raises:
    ValueError: `v` has neither one nor two dimensions.
  """
  v = one_array("diag", v)
  aval = typeof(v)
  if aval.ndim == 2:
    return diagonal(v, k)
  if aval.ndim != 1:
    raise ValueError(f"diag input must be 1d or 2d, got shape {aval.shape}")
  k = k.__index__()
  n = aval.shape[0] + abs(k)
  if k:
    config = ((max(k, 0), max(-k, 0), 0),)
    v = lax.pad(v, scalar(0, aval.dtype), config)
  columns = lax.broadcast_in_dim(v, (n, n), (1,))
  here = _on_diagonal(n, n, k)
  zeros = lax.full((n, n), 0, aval.dtype)
  return select_n(here, convert(zeros, aval.dtype, aval.weak_type), columns)


def _on_diagonal(n: int, m: int, k: Any) -> Any:
  rows = lax.broadcasted_iota(np.int32, (n, m), 0)
  columns = lax.broadcasted_iota(np.int32, (n, m), 1)
  return lax.eq(_shifted(rows, k), columns)


def _shifted(rows: Any, k: Any) -> Any:
  if isinstance(k, (int, np.integer)):
    return rows if k == 0 else lax.add(rows, np.int32(k))
  return lax.add(rows, convert(k, np.dtype(np.int32)))


def diagflat(v: Any, k: int = 0) -> Any:
  """The matrix with the elements of an array on a diagonal, and zeros elsewhere.

  Args:
    v: an array; it is flattened.
    k: which diagonal.

  >>> import gnomon.numpy as gnp
  >>> gnp.diagflat(gnp.array([[1, 2]])).tolist()
  [[1, 0], [0, 2]]

  Raises:
    TypeError: `v` is no array.
  """
  v = one_array("diagflat", v)
  v = convert(v, typeof(v).dtype)
  return diag(lax.reshape(v, (typeof(v).size,)), k)


@compiled(static=("offset", "axis1", "axis2"))
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
  """A diagonal of each matrix in an array.

  Args:
    a: an array of at least two dimensions.
    offset: which diagonal: 0 the main one, above it if positive.
    axis1: the axis that counts rows.
    axis2: the axis that counts columns.

  Returns:
    An array without the two axes; its last axis runs along the diagonals.

  >>> import gnomon.numpy as gnp
  >>> gnp.diagonal(gnp.array([[1, 2], [3, 4]]), offset=1).tolist()
  [2]

  Raises:
    ValueError: `a` has fewer than two dimensions; an axis is out of range; the axes are
      equal.
  """
  a = one_array("diagonal", a)
  shape = typeof(a).shape
  if len(shape) < 2:
    raise ValueError(
        f"diagonal requires an array of at least two dimensions, got shape {shape}")
  row = canonical_axis(axis1, len(shape), "diagonal")
  column = canonical_axis(axis2, len(shape), "diagonal")
  if row == column:
    raise ValueError(f"axis1 and axis2 can not be same: got {axis1} and {axis2}")
  offset = offset.__index__()
  first = (max(-offset, 0), max(offset, 0))
  size = max(min(shape[row] - first[0], shape[column] - first[1]), 0)
  others = [d for d in range(len(shape)) if d not in (row, column)]
  if not size:
    return lax.full_like(a, 0, shape=(*[shape[d] for d in others], 0))
  at = lax.broadcasted_iota(np.int32, (size, 2), 0)
  if any(first):
    at = lax.add(at, lax.broadcast_in_dim(np.asarray(first, np.int32), (size, 2), (1,)))
  numbers = lax.GatherDimensionNumbers(
      tuple(range(len(others))), tuple(sorted((row, column))), (row, column))
  sizes = [1 if d in (row, column) else n for d, n in enumerate(shape)]
  return lax.gather(
      a, at, numbers, sizes, indices_are_sorted=True, unique_indices=True,
      mode="promise_in_bounds")


@compiled(static=("offset", "axis1", "axis2", "dtype", "out"))
def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None,
    out: None = None) -> Any:
  """The sum along a diagonal of each matrix in an array.

  Args:
    a: an array of at least two dimensions.
    offset: which diagonal: 0 the main one, above it if positive.
    axis1: the axis that counts rows.
    axis2: the axis that counts columns.
    dtype: the dtype of the result and of the sum.
    out: not supported.

  >>> import gnomon.numpy as gnp
  >>> gnp.trace(gnp.array([[1, 2], [3, 4]])).item()
  5

  Raises:
    ValueError: `a` has fewer than two dimensions; an axis is out of range; the axes are
      equal.
  """
  refuse_out("trace", out)
  return sum_of(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype)


# ---- triangles


def tri(N: int, M: int | None = None, k: Any = 0, dtype: Any = None) -> Any:
  """A matrix with ones on and below a diagonal, and zeros above it.

  Args:
    N: the number of rows.
    M: the number of columns; as many as rows by default.
    k: which diagonal: 0 the main one, above it if positive.
    dtype: the dtype; float32 by default.

  >>> import gnomon.numpy as gnp
  >>> gnp.tri(2, dtype=int).tolist()
  [[1, 0], [1, 1]]

  Raises:
    TypeError: a size is no integer.
    ValueError: a size is negative, or `k` is no scalar integer.
  """
  shape = matrix_shape("tri", N, M)
  check_diagonal("tri", k)
  return _tri(shape, k, dtype_of(dtype, "tri", np.dtype(np.float32)))


@compiled(static=("shape", "dtype"))
def _tri(shape: tuple[int, int], k: Any, dtype: Any) -> Any:
  return convert(_below(shape, k), dtype)


def _below(shape: tuple[int, ...], k: Any) -> Any:
  rows = lax.broadcasted_iota(np.int32, shape, len(shape) - 2)
  columns = lax.broadcasted_iota(np.int32, shape, len(shape) - 1)
  return lax.ge(_shifted(rows, k), columns)


@compiled()
def tril(m: Any, k: Any = 0) -> Any:
  """The lower triangle of each matrix; zeros above it.

  Args:
    m: an array of at least two dimensions.
    k: the diagonal up to which elements stay: 0 the main one, above it if positive.

  >>> import gnomon.numpy as gnp
  >>> gnp.tril(gnp.ones((2, 2), int)).tolist()
  [[1, 0], [1, 1]]

  Raises:
    ValueError: `m` has fewer than two dimensions.
  """
  return _triangle("tril", m, k, lower=True)


@compiled()
def triu(m: Any, k: Any = 0) -> Any:
  """The upper triangle of each matrix; zeros below it.

  Args:
    m: an array of at least two dimensions.
    k: the diagonal from which elements stay: 0 the main one, above it if positive.

  >>> import gnomon.numpy as gnp
  >>> gnp.triu(gnp.ones((2, 2), int)).tolist()
  [[1, 1], [0, 1]]

  Raises:
    ValueError: `m` has fewer than two dimensions.
  """
  return _triangle("triu", m, k, lower=False)


def _triangle(name: str, m: Any, k: Any, *, lower: bool) -> Any:
  m = one_array(name, m)
  aval = typeof(m)
  if aval.ndim < 2:
    raise ValueError(f"Argument to {name} must be at least 2D, got shape {aval.shape}")
  check_diagonal(name, k)
  if isinstance(k, (int, np.integer)):
    k = k if lower else k - 1
  elif not lower:
    k = lax.sub(convert(k, np.dtype(np.int32)), np.int32(1))
  mask = _below(aval.shape, k)
  zeros = lax.full(aval.shape, 0, aval.dtype)
  zeros = convert(zeros, aval.dtype, aval.weak_type)
  return select_n(mask, zeros, m) if lower else select_n(mask, m, zeros)


# ---- positions


def _known_positions(mask: Any) -> Pair:
  dtype = dtypes.default_int_dtype()
  rows, columns = [on_device(i.astype(dtype)) for i in mask.nonzero()]
  return rows, columns


def tril_indices(n: int, k: int = 0, m: int | None = None) -> Pair:
  """The rows and columns of the elements of a lower triangle.

  Args:
    n: the number of rows.
    k: the diagonal up to which elements count.
    m: the number of columns; as many as rows by default.

  >>> import gnomon.numpy as gnp
  >>> [i.tolist() for i in gnp.tril_indices(2)]
  [[0, 1, 1], [0, 0, 1]]

  Raises:
    TypeError: an argument is no integer.
    ValueError: a size is negative.
  """
  rows, columns = matrix_shape("tril_indices", n, m)
  below = np.tri(rows, columns, k.__index__(), dtype=bool)
  return _known_positions(below)


def triu_indices(n: int, k: int = 0, m: int | None = None) -> Pair:
  """The rows and columns of the elements of an upper triangle.

  Args:
    n: the number of rows.
    k: the diagonal from which elements count.
    m: the number of columns; as many as rows by default.

  >>> import gnomon.numpy as gnp
  >>> [i.tolist() for i in gnp.triu_indices(2)]
  [[0, 0, 1], [0, 1, 1]]

  Raises:
    TypeError: an argument is no integer.
    ValueError: a size is negative.
  """
  rows, columns = matrix_shape("triu_indices", n, m)
  below = np.tri(rows, columns, k.__index__() - 1, dtype=bool)
  return _known_positions(~below)


def _matrix_sizes(name: str, arr: Any) -> tuple[int, ...]:
  shape: tuple[int, ...] = typeof(one_array(name, arr)).shape
  if len(shape) != 2:
    raise ValueError(f"{name}: Only 2-D inputs are accepted, got shape {shape}")
  return shape


def tril_indices_from(arr: Any, k: int = 0) -> Pair:
  """The rows and columns of the elements of a matrix's lower triangle.

  Args:
    arr: a matrix; only its shape matters.
    k: the diagonal up to which elements count.

  >>> import gnomon.numpy as gnp
  >>> [i.tolist() for i in gnp.tril_indices_from(gnp.ones((2, 2)))]
  [[0, 1, 1], [0, 0, 1]]

  Raises:
    ValueError: `arr` is no matrix.
  """
  n, m = _matrix_sizes("tril_indices_from", arr)
  return tril_indices(n, k, m)


def triu_indices_from(arr: Any, k: int = 0) -> Pair:
  """The rows and columns of the elements of a matrix's upper triangle.

  Args:
    arr: a matrix; only its shape matters.
    k: the diagonal from which elements count.

  >>> import gnomon.numpy as gnp
  >>> [i.tolist() for i in gnp.triu_indices_from(gnp.ones((2, 2)))]
  [[0, 0, 1], [0, 1, 1]]

  Raises:
    ValueError: `arr` is no matrix.
  """
  n, m = _matrix_sizes("triu_indices_from", arr)
  return triu_indices(n, k, m)


def diag_indices(n: int, ndim: int = 2) -> tuple[Any, ...]:
  """The positions of the elements of the main diagonal of an array of `ndim` dimensions.

  Args:
    n: the size of each dimension.
    ndim: the number of dimensions.

  >>> import gnomon.numpy as gnp
  >>> [i.tolist() for i in gnp.diag_indices(2)]
  [[0, 1], [0, 1]]

  Raises:
    TypeError: an argument is no integer.
    ValueError: an argument is negative.
  """
  n, ndim = n.__index__(), ndim.__index__()
  for name, value in (("n", n), ("ndim", ndim)):
    if value < 0:
      raise ValueError(
          f"{name} argument to diag_indices must be nonnegative, got {value}")
  return (on_device(np.arange(n).astype(dtypes.default_int_dtype())),) * ndim


def diag_indices_from(arr: Any) -> tuple[Any, ...]:
  """The positions of the elements of an array's main diagonal.

  Args:
    arr: an array of at least two dimensions, all of one size; only its shape matters.

  >>> import gnomon.numpy as gnp
  >>> [i.tolist() for i in gnp.diag_indices_from(gnp.ones((2, 2)))]
  [[0, 1], [0, 1]]

  Raises:
    ValueError: `arr` has fewer than two dimensions, or different sizes.
  """
  shape = typeof(one_array("diag_indices_from", arr)).shape
  if len(shape) < 2:
    raise ValueError(
        f"diag_indices_from: input array must be at least 2-d, got shape {shape}")
  if len(set(shape)) > 1:
    raise ValueError(
        "diag_indices_from: All dimensions of input must be of equal length, got shape "
        f"{shape}")
  return diag_indices(shape[0], len(shape))


def mask_indices(
    n: int, mask_func: Callable[..., Any], k: Any = 0, *,
    size: int | None = None) -> Pair:
  """The rows and columns of the elements that a function such as `triu` leaves.

  Args:
    n: the number of rows and columns.
    mask_func: from a matrix and `k` to a matrix.
    k: the second argument of `mask_func`.
    size: as of `nonzero`.

  >>> import gnomon.numpy as gnp
  >>> [i.tolist() for i in gnp.mask_indices(2, gnp.triu)]
  [[0, 0, 1], [0, 1, 1]]

  Raises:
    TypeError: `n` is no integer.
  """
  rows, columns = nonzero(mask_func(ones((n, n)), k), size=size)
  return rows, columns
