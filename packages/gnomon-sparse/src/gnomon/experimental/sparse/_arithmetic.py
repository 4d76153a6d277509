"""Products and sums of sparse arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.experimental.sparse._bcoo import (
    BCOO,
    collected,
    columns,
    over_batch,
    picked,
    sizes_like,
)
from gnomon.experimental.sparse._layout import all_sparse, bcoo_sum_duplicates
from gnomon.numpy._promotion import canonical_axes, check_arraylike, promote_dtypes

Dims = tuple[int, ...]


def bcoo_reduce_sum(mat: BCOO, *, axes: Sequence[int]) -> BCOO:
  """The sum of a sparse array over axes: with as many elements, indices may occur again.

  Args:
    mat: the sparse array.
    axes: the axes.

  >>> from gnomon.experimental import sparse
  >>> sparse.bcoo_reduce_sum(sparse.eye(3), axes=(0,)).todense().tolist()
  [1.0, 1.0, 1.0]

  Raises:
    ValueError: an axis is out of range.
  """
  places = canonical_axes(tuple(axes), mat.ndim, "bcoo_reduce_sum")
  mat = mat.whole().clean()
  n, s = mat.n_batch, mat.n_sparse
  data, indices = mat.data, mat.indices
  dense = tuple(i - s + 1 for i in places if i >= n + s)
  if dense:
    data = gnp.sum(data, dense, dtype=data.dtype)
  kept = [i for i in range(s) if n + i not in places]
  if len(kept) < s:
    indices = indices[..., kept]
  batch = tuple(i for i in places if i < n)
  if batch:  # the elements of all places in one list
    left = [i for i in range(n) if i not in batch]
    count = math.prod(mat.shape[i] for i in batch) * mat.nse

    def together(x: Any) -> Any:
      x = gnp.moveaxis(x, left, range(len(left)))
      return x.reshape(*x.shape[:len(left)], count, *x.shape[n + 1:])

    data, indices = together(data), together(indices)
  shape = tuple(m for i, m in enumerate(mat.shape) if i not in places)
  return BCOO((data, indices), shape=shape)


def _entries(v: Any, indices: Any) -> Any:
  """The elements of an array at indices, index 0 along axes of size 1."""
  at = tuple(
      gnp.zeros_like(i) if size == 1 else i
      for i, size in zip(columns(indices), v.shape))
  if not at:
    return gnp.broadcast_to(v, (indices.shape[0], *v.shape))
  return picked(v, at)


def bcoo_multiply_dense(sp_mat: BCOO, v: Any) -> BCOO:
  """The product, element by element, of a sparse array and a dense one.

  Zeros of the sparse array stay zeros, whatever the dense one has there.

  Args:
    sp_mat: the sparse array.
    v: dense array, that is broadcast to its shape.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.experimental import sparse
  >>> sparse.bcoo_multiply_dense(sparse.eye(2), gnp.array([3.0, 4.0])).data.tolist()
  [3.0, 4.0]

  Raises:
    TypeError: `v` is no array.
    ValueError: it cannot be broadcast.
  """
  check_arraylike("bcoo_multiply_dense", v)
  v = v if isinstance(v, (int, float, complex)) else gnp.asarray(v)
  data, v = promote_dtypes(sp_mat.data, v)
  v = gnp.asarray(v)
  if not v.ndim:
    return sp_mat.like(lax.mul(data, v.astype(data.dtype)))
  try:
    fits = np.broadcast_shapes(v.shape, sp_mat.shape) == sp_mat.shape
  except ValueError:
    fits = False
  if not fits:
    raise ValueError(
        f"bcoo_multiply_dense: v has the shape {v.shape}; expected one that can be "
        f"broadcast to {sp_mat.shape}")
  whole = sp_mat.like(data).whole()
  v = v.reshape((1,) * (whole.ndim - v.ndim) + v.shape)
  v = gnp.broadcast_to(v, whole.batch + v.shape[whole.n_batch:])

  def one(data: Any, indices: Any, v: Any) -> Any:
    return data * _entries(v, indices)

  return whole.like(over_batch(one, whole.n_batch)(whole.data, whole.indices, v))


def _same_place(lhs: Any, rhs: Any) -> Any:
  """Whether indices are equal, of shape `(nse of lhs, nse of rhs)`."""
  return gnp.all(lhs[:, None] == rhs[None], -1)


def bcoo_multiply_sparse(lhs: BCOO, rhs: BCOO) -> BCOO:
  """The product, element by element, of two sparse arrays.

  Args:
    lhs: a sparse array.
    rhs: a sparse array of the same shape and numbers of batch and dense axes.

  Returns:
    Sparse array with the indices of the shorter one.

  >>> from gnomon.experimental import sparse
  >>> x = sparse.eye(2)
  >>> sparse.bcoo_multiply_sparse(x, x + x).todense().tolist()
  [[2.0, 0.0], [0.0, 2.0]]

  Raises:
    ValueError: shapes or numbers of axes differ.
  """
  if (lhs.shape, lhs.n_batch, lhs.n_dense) != (rhs.shape, rhs.n_batch, rhs.n_dense):
    raise ValueError(
        f"bcoo_multiply_sparse: lhs is {lhs} with n_batch={lhs.n_batch} and "
        f"n_dense={lhs.n_dense}, rhs {rhs} with {rhs.n_batch} and {rhs.n_dense}; "
        "expected the same")
  if rhs.nse < lhs.nse:
    lhs, rhs = rhs, lhs
  lhs, rhs = lhs.whole(), rhs.whole().clean()
  data, other = promote_dtypes(lhs.data, rhs.data)

  # With l_i at the same index as several r_j, the sums of both multiply out.
  def one(data: Any, indices: Any, other: Any, places: Any) -> Any:
    same = _same_place(indices, places).astype(other.dtype)
    return data * gnp.tensordot(same, other, 1, precision=lax.Precision.HIGHEST)

  return lhs.like(over_batch(one, lhs.n_batch)(data, lhs.indices, other, rhs.indices))


def _free(ndim: int, contract: Dims, batch: Dims) -> list[int]:
  return [i for i in range(ndim) if i not in contract and i not in batch]


def bcoo_dot_general(
    lhs: Any, rhs: Any, *, dimension_numbers: Any, precision: Any = None,
    preferred_element_type: Any = None, out_sharding: None = None) -> Any:
  """The contraction of two arrays, of which one or both are sparse.

  Args:
    lhs: a sparse or a dense array.
    rhs: likewise.
    dimension_numbers: as for `gnomon.lax.dot_general`.
    precision: not used: products are as exact as the dtype.
    preferred_element_type: the dtype of the result.
    out_sharding: must be None.

  Returns:
    Dense array; of two sparse ones a sparse one, with room for each pair of elements, but
    not for more than the dense one has.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.experimental import sparse
  >>> sparse.bcoo_dot_general(
  ...     sparse.eye(2), gnp.array([3.0, 4.0]),
  ...     dimension_numbers=(((1,), (0,)), ((), ()))).tolist()
  [3.0, 4.0]

  Raises:
    TypeError: an argument is no array.
    ValueError: the sizes that belong together differ.
  """
  del precision, out_sharding
  (lc, rc), (lb, rb) = (tuple(tuple(map(int, d)) for d in pair)
                        for pair in dimension_numbers)
  for x in (lhs, rhs):
    if not isinstance(x, BCOO):
      check_arraylike("bcoo_dot_general", x)
  if any(lhs.shape[i] != rhs.shape[j] for i, j in zip((*lc, *lb), (*rc, *rb))):
    raise ValueError(
        f"bcoo_dot_general: lhs and rhs have the shapes {tuple(lhs.shape)} and "
        f"{tuple(rhs.shape)}; expected equal sizes along the axes of dimension_numbers, "
        f"{dimension_numbers}")
  if isinstance(lhs, BCOO) and isinstance(rhs, BCOO):
    out: Any = _both_sparse(lhs, rhs, (lc, rc), (lb, rb))
  elif isinstance(lhs, BCOO):
    out = _one_sparse(lhs, gnp.asarray(rhs), (lc, rc), (lb, rb))
  elif isinstance(rhs, BCOO):
    out = _one_sparse(rhs, gnp.asarray(lhs), (rc, lc), (rb, lb))
    n, m = len(lb), rhs.ndim - len(rc) - len(rb)
    out = gnp.moveaxis(out, range(n, n + m), range(out.ndim - m, out.ndim))
  else:
    out = lax.dot_general(lhs, rhs, ((lc, rc), (lb, rb)))
  wide = preferred_element_type
  return out if wide is None else out.astype(wide)


def _one_sparse(
    mat: BCOO, v: Any, contract: tuple[Dims, Dims], batch: tuple[Dims, Dims]) -> Any:
  """The rows of the dense array that elements meet, times these, added where they go."""
  (lc, rc), (lb, rb) = contract, batch
  mat = all_sparse(mat).clean()
  data, v = promote_dtypes(mat.data, v)
  indices, free = mat.indices, _free(mat.ndim, lc, lb)
  rest = _free(v.ndim, rc, rb)
  v = gnp.transpose(v, (*rb, *rc, *rest))
  rows = _entries(v, indices[:, [*lb, *lc]])
  terms = data.reshape(-1, *(1,) * len(rest)) * rows
  shape = [mat.shape[i] for i in (*lb, *free)]
  if not shape:
    return gnp.sum(terms, 0, dtype=terms.dtype)
  return collected(
      (*shape, *v.shape[len(lb) + len(lc):]), columns(indices[:, [*lb, *free]]), terms)


def _both_sparse(
    lhs: BCOO, rhs: BCOO, contract: tuple[Dims, Dims], batch: tuple[Dims, Dims]) -> BCOO:
  (lc, rc), (lb, rb) = contract, batch
  lhs, rhs = all_sparse(lhs).clean(), all_sparse(rhs).clean()
  left, right = _free(lhs.ndim, lc, lb), _free(rhs.ndim, rc, rb)
  data, other = promote_dtypes(lhs.data, rhs.data)
  meets = _same_place(lhs.indices[:, [*lb, *lc]], rhs.indices[:, [*rb, *rc]])
  shape = tuple(lhs.shape[i] for i in (*lb, *left)) + tuple(rhs.shape[i] for i in right)
  pairs = (lhs.nse, rhs.nse)
  places = gnp.concatenate([
      gnp.broadcast_to(lhs.indices[:, None, [*lb, *left]], (*pairs, len(lb) + len(left))),
      gnp.broadcast_to(rhs.indices[None][:, :, right], (*pairs, len(right)))], -1)
  places = gnp.where(meets[..., None], places, sizes_like(shape, places))
  terms = gnp.where(meets, gnp.outer(data, other), gnp.zeros((), data.dtype))
  count = math.prod(pairs)
  out = BCOO((terms.reshape(count), places.reshape(count, len(shape))), shape=shape)
  size = math.prod(shape)
  return bcoo_sum_duplicates(out, nse=size) if size < count else out


def bcoo_dot_general_sampled(
    A: Any, B: Any, indices: Any, *, dimension_numbers: Any) -> Any:
  """Some elements of the contraction of two dense arrays.

  Args:
    A: dense array.
    B: dense array.
    indices: integers of shape `(nse, n)`: which elements, of the result of `n` axes.
    dimension_numbers: as for `gnomon.lax.dot_general`.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.experimental import sparse
  >>> sparse.bcoo_dot_general_sampled(
  ...     gnp.eye(2), gnp.eye(2), gnp.array([[1, 1]]),
  ...     dimension_numbers=(((1,), (0,)), ((), ()))).tolist()
  [1.0]

  Raises:
    TypeError: an argument is no array.
    ValueError: the sizes that belong together differ, or `indices` is no matrix.
  """
  check_arraylike("bcoo_dot_general_sampled", A, B, indices)
  A, B, indices = gnp.asarray(A), gnp.asarray(B), gnp.asarray(indices)
  (lc, rc), (lb, rb) = dimension_numbers
  left, right = _free(A.ndim, lc, lb), _free(B.ndim, rc, rb)
  n = len(lb) + len(left)
  if indices.ndim != 2 or indices.shape[1] != n + len(right):
    raise ValueError(
        f"bcoo_dot_general_sampled: indices has the shape {indices.shape}; expected "
        f"(nse, {n + len(right)})")
  rows = _entries(gnp.transpose(A, (*lb, *left, *lc)), indices[:, :n])
  at = [*range(len(lb)), *range(n, n + len(right))]
  others = _entries(gnp.transpose(B, (*rb, *right, *rc)), indices[:, at])
  rows, others = promote_dtypes(rows, others)
  return gnp.sum(rows * others, tuple(range(1, rows.ndim)))
