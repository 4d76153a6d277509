"""The operators and methods of sparse arrays, and functions that make some."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import random, vmap
from gnomon.core import dtypes
from gnomon.experimental.sparse import _arithmetic as arithmetic
from gnomon.experimental.sparse import _layout as layout
from gnomon.experimental.sparse import _shapes as shapes
from gnomon.experimental.sparse._base import JAXSparse
from gnomon.experimental.sparse._bcoo import BCOO
from gnomon.experimental.sparse._sparsify import (
  add,
  is_sparse,
  multiply,
  negative,
  sparsify,
)


def todense(arr: Any) -> Any:
  """The dense array of a sparse one; a dense one as it is.

  Args:
    arr: array of either kind.

  >>> from gnomon.experimental import sparse
  >>> sparse.todense(sparse.eye(1)).tolist()
  [[1.0]]
  """
  return arr.todense() if is_sparse(arr) else gnp.asarray(arr)


def _dot_numbers(left: int, right: int) -> Any:
  """What of a matrix product of given ranks is contracted, and what mapped over."""
  batch = tuple(range(min(left, right) - 2)) if min(left, right) > 2 else ()
  return ((left - 1,), (max(right - 2, 0),)), (batch, batch)


def _matmul(x: Any, y: Any) -> Any:
  if not is_sparse(y):
    y = gnp.asarray(y)
  if not is_sparse(x):
    x = gnp.asarray(x)
  if not x.ndim or not y.ndim:
    raise ValueError("matmul of sparse arrays: an operand has no axes; use *")
  if (min(x.ndim, y.ndim) <= 2 < max(x.ndim, y.ndim) and min(x.ndim, y.ndim) == 2) or (
      min(x.ndim, y.ndim) > 2 and x.shape[:-2] != y.shape[:-2]):
    return sparsify(gnp.matmul)(x, y)
  return arithmetic.bcoo_dot_general(
      x, y, dimension_numbers=_dot_numbers(x.ndim, y.ndim))


def _getitem(mat: Any, idx: Any) -> Any:
  return sparsify(lambda x: x[idx])(mat)


def _sum(mat: Any, *args: Any, **kwargs: Any) -> Any:
  """The sum over axes: see `gnomon.numpy.sum`."""
  return sparsify(lambda x: x.sum(*args, **kwargs))(mat)


def _reshape(mat: Any, *args: Any, **kwargs: Any) -> Any:
  """The array with another shape: see `bcoo_reshape`."""
  return sparsify(lambda x: x.reshape(*args, **kwargs))(mat)


def _transpose(mat: BCOO, axes: Any = None) -> BCOO:
  """The array with its axes in another order; reversed by default."""
  order = range(mat.ndim)[::-1] if axes is None else axes
  return shapes.bcoo_transpose(mat, permutation=tuple(order))


def _sum_duplicates(
    mat: BCOO, nse: int | None = None, remove_zeros: bool = True) -> BCOO:
  """The array with each index once: see `bcoo_sum_duplicates`."""
  if remove_zeros:  # also those that come from the sums
    mat = layout.without_zeros(layout.bcoo_sum_duplicates(mat, mat.nse))
  return layout.bcoo_sum_duplicates(mat, nse)


def _update_layout(
    mat: BCOO, *, n_batch: int | None = None, n_dense: int | None = None,
    on_inefficient: str | None = "error") -> BCOO:
  """The array with other numbers of axes: see `bcoo_update_layout`."""
  return layout.bcoo_update_layout(
      mat, n_batch=n_batch, n_dense=n_dense, on_inefficient=on_inefficient)


def _sort_indices(mat: BCOO) -> BCOO:
  """The array with sorted indices: see `bcoo_sort_indices`."""
  return layout.bcoo_sort_indices(mat)


_METHODS: dict[str, Any] = {
    "__neg__": negative, "__pos__": lambda x: x, "__add__": add, "__radd__": add,
    "__sub__": lambda x, y: add(x, -y), "__rsub__": lambda x, y: add(-x, y),
    "__mul__": multiply, "__rmul__": multiply,
    "__truediv__": lambda x, y: multiply(x, 1 / gnp.asarray(y)),
    "__matmul__": _matmul, "__rmatmul__": lambda x, y: _matmul(y, x),
    "__getitem__": _getitem, "__abs__": sparsify(gnp.abs),
    "sum": _sum, "reshape": _reshape, "transpose": _transpose,
    "sum_duplicates": _sum_duplicates, "update_layout": _update_layout,
    "sort_indices": _sort_indices,
}


def provide() -> None:
  """Gives sparse arrays their operators, which are defined above them."""
  for name, method in _METHODS.items():
    setattr(BCOO, name, method)
  JAXSparse.sum = _sum  # type: ignore[attr-defined]


def _check_format(name: str, sparse_format: str) -> None:
  if sparse_format != "bcoo":
    raise ValueError(
        f"{name}: sparse_format is {sparse_format!r}; expected 'bcoo'")


def empty(
    shape: Any, dtype: Any = None, index_dtype: Any = "int32",
    sparse_format: str = "bcoo", **kwds: Any) -> BCOO:
  """A sparse array of zeros, with room for no elements.

  Args:
    shape: its shape.
    dtype: its dtype; the default one of floats.
    index_dtype: the dtype of indices.
    sparse_format: must be `"bcoo"`.
    kwds: `n_batch`, `n_dense` and `nse`; zero by default.

  >>> from gnomon.experimental import sparse
  >>> sparse.empty((2,)).todense().tolist()
  [0.0, 0.0]

  Raises:
    ValueError: `sparse_format` is unknown.
  """
  _check_format("empty", sparse_format)
  shape = tuple(shape)
  n, d, nse = (kwds.get(k, 0) for k in ("n_batch", "n_dense", "nse"))
  places = len(shape) - d
  outside = np.array(shape[n:places], np.dtype(index_dtype))
  data = gnp.zeros((*shape[:n], nse, *shape[places:]), dtype or float)
  indices = gnp.broadcast_to(outside, (*shape[:n], nse, places - n))
  return BCOO(
      (data, indices), shape=shape, indices_sorted=True, unique_indices=True)


def eye(
    N: int, M: int | None = None, k: int = 0, dtype: Any = None,
    index_dtype: Any = "int32", sparse_format: str = "bcoo", **kwds: Any) -> BCOO:
  """A sparse matrix with ones on a diagonal.

  Args:
    N: the number of rows.
    M: the number of columns; as many by default.
    k: how far the diagonal is above the main one.
    dtype: the dtype; the default one of floats.
    index_dtype: the dtype of indices.
    sparse_format: must be `"bcoo"`.
    kwds: `n_batch` and `n_dense`, zero by default.

  >>> from gnomon.experimental import sparse
  >>> sparse.eye(2, 3, k=1).todense().tolist()
  [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]

  Raises:
    ValueError: `sparse_format` is unknown.
  """
  _check_format("eye", sparse_format)
  M = N if M is None else M
  n, d = kwds.get("n_batch", 0), kwds.get("n_dense", 0)
  if n or d:
    room = kwds.get("nse", max(min(N + min(k, 0), M - max(k, 0)), 0) if not n else 1)
    return BCOO.fromdense(
        gnp.eye(N, M, k, dtype), nse=room, n_batch=n, n_dense=d,
        index_dtype=np.dtype(index_dtype))
  first = np.arange(max(min(N + min(k, 0), M - max(k, 0)), 0)) + max(-k, 0)
  indices = np.stack([first, first + k], 1).astype(index_dtype)
  return BCOO(
      (gnp.ones(len(first), dtype or float), indices), shape=(N, M),
      indices_sorted=True, unique_indices=True)


def random_bcoo(
    key: Any, shape: Any, *, dtype: Any = np.float64, indices_dtype: Any = None,
    nse: float = 0.2, n_batch: int = 0, n_dense: int = 0, unique_indices: bool = True,
    sorted_indices: bool = False, generator: Any = random.uniform, **kwds: Any) -> BCOO:
  """A sparse array of random elements at random places.

  Args:
    key: the key.
    shape: the shape.
    dtype: the dtype of elements.
    indices_dtype: that of indices; int32 by default.
    nse: how many elements, for each place of the batch: below one, as a part of the size.
    n_batch: the number of batch axes.
    n_dense: the number of dense axes.
    unique_indices: whether no indices occur twice.
    sorted_indices: whether indices are in order.
    generator: makes the elements, of a key, a shape and a dtype, as `gnomon.random` does.
    kwds: more arguments of the generator.

  >>> import gnomon
  >>> from gnomon.experimental import sparse
  >>> sparse.random_bcoo(gnomon.random.key(0), (4, 5), dtype="float32", nse=0.5).nse
  10

  Raises:
    ValueError: there are fewer axes or places than said.
  """
  shape = tuple(shape)
  n_sparse = len(shape) - n_batch - n_dense
  if min(n_sparse, n_batch, n_dense) < 0:
    raise ValueError(
        f"random_bcoo: n_batch={n_batch} and n_dense={n_dense} for the shape {shape}")
  places = shape[n_batch:n_batch + n_sparse]
  size = math.prod(places)
  count = math.ceil(nse * size) if 0 <= nse < 1 else int(nse)
  if count < 0 or (unique_indices and count > size):
    raise ValueError(
        f"random_bcoo: nse={nse} for {size} places; expected at most as many")
  data_key, place_key = random.split(key)
  batch = shape[:n_batch]

  def one(key: Any) -> Any:
    if unique_indices:
      flat = random.choice(key, size, (count,), replace=False)
    else:
      flat = random.randint(key, (count,), 0, size)
    if sorted_indices:
      flat = gnp.sort(flat)
    found = gnp.unravel_index(flat, places) if places else ()
    return gnp.stack(found, -1) if places else gnp.zeros((count, 0), np.int32)

  keys = random.split(place_key, math.prod(batch))
  indices = vmap(one)(keys).astype(indices_dtype or np.int32)
  indices = indices.reshape(*batch, count, n_sparse)
  data = generator(
      data_key, (*batch, count, *shape[n_batch + n_sparse:]),
      dtypes.canonicalize_dtype(dtype), **kwds)
  return BCOO(
      (data, indices), shape=shape, indices_sorted=sorted_indices,
      unique_indices=unique_indices)
