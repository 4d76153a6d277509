"""Sparse arrays with the same values in another form: sorted, summed, other axes."""

from __future__ import annotations

import math
import operator
import warnings
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon.experimental.sparse._base import (
  SparseEfficiencyError,
  SparseEfficiencyWarning,
)
from gnomon.experimental.sparse._bcoo import (
  BCOO,
  bcoo_fromdense,
  bcoo_todense,
  collected,
  in_range,
  order_of,
  over_batch,
  sizes_like,
  starts,
)


def bcoo_sort_indices(mat: BCOO) -> BCOO:
  """A sparse array with its indices in lexicographic order.

  Args:
    mat: the sparse array.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.experimental import sparse
  >>> x = sparse.BCOO((gnp.array([1.0, 2.0]), gnp.array([[3], [0]])), shape=(4,))
  >>> sparse.bcoo_sort_indices(x).data.tolist()
  [2.0, 1.0]
  """
  def one(data: Any, indices: Any) -> Any:
    order = order_of(indices)
    return data[order], indices[order]

  whole = mat.whole()
  return BCOO(
      over_batch(one, whole.n_batch)(whole.data, whole.indices), shape=mat.shape,
      indices_sorted=True, unique_indices=mat.unique_indices)


def bcoo_sum_duplicates(mat: BCOO, nse: int | None = None) -> BCOO:
  """A sparse array with each index once, in order: elements with equal ones are added.

  Args:
    mat: the sparse array.
    nse: for how many elements there shall be room; by default for those there are, which
      must not be traced. Of more than that the last ones are lost.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.experimental import sparse
  >>> x = sparse.BCOO((gnp.array([1.0, 2.0]), gnp.array([[3], [3]])), shape=(4,))
  >>> sparse.bcoo_sum_duplicates(x).data.tolist()
  [3.0]
  """
  return _summed(mat.whole().clean(), nse)


def _summed(mat: BCOO, nse: int | None) -> BCOO:
  """Of an array whose elements that do not count have sizes for indices."""
  n, outside = mat.n_batch, np.array(mat.sparse, mat.indices.dtype)
  if nse is None:
    def count(indices: Any) -> Any:
      indices = indices[order_of(indices)]
      return gnp.sum(starts(indices) & in_range(indices, mat.sparse))

    counts = over_batch(count, n)(mat.indices)
    nse = operator.index(counts.max(initial=0))

  def one(data: Any, indices: Any) -> Any:
    order = order_of(indices)
    data, indices = data[order], indices[order]
    # Those that do not count come last: in a group that is written nowhere.
    group = gnp.where(
        in_range(indices, mat.sparse), gnp.cumsum(starts(indices)) - 1, nse)
    total = collected((nse, *data.shape[1:]), (group,), data)
    places = gnp.broadcast_to(outside, (nse, outside.shape[0]))
    return total, places.at[group].set(indices, mode="drop") if nse else places

  return BCOO(
      over_batch(one, n)(mat.data, mat.indices), shape=mat.shape, indices_sorted=True,
      unique_indices=True)


def without_zeros(mat: BCOO) -> BCOO:
  """A sparse array where elements that are zero do not count."""
  mat = mat.whole().clean()
  kept = gnp.any(mat.data != 0, tuple(range(mat.n_batch + 1, mat.data.ndim)))
  indices = gnp.where(
      kept[..., None], mat.indices, sizes_like(mat.sparse, mat.indices))
  return BCOO((mat.data, indices), shape=mat.shape)


def bcoo_update_layout(
    mat: BCOO, *, n_batch: int | None = None, n_dense: int | None = None,
    on_inefficient: str | None = "error") -> BCOO:
  """A sparse array with other numbers of batch and dense axes.

  Args:
    mat: the sparse array.
    n_batch: the number of batch axes; by default as it was.
    n_dense: the number of dense axes; likewise.
    on_inefficient: what to do if one of them grows, since then there has to be room for
      more elements than before: `"error"`, `"warn"`, or None.

  >>> from gnomon.experimental import sparse
  >>> x = sparse.eye(3, n_batch=1)
  >>> sparse.bcoo_update_layout(x, n_batch=0).indices.tolist()
  [[0, 0], [1, 1], [2, 2]]

  Raises:
    SparseEfficiencyError: a number grows.
    ValueError: there are not as many axes, or `on_inefficient` is something else.
  """
  n = mat.n_batch if n_batch is None else operator.index(n_batch)
  d = mat.n_dense if n_dense is None else operator.index(n_dense)
  if min(n, d) < 0 or n + d > mat.ndim:
    raise ValueError(
        f"bcoo_update_layout: n_batch={n} and n_dense={d}; expected together at most "
        f"{mat.ndim}, the number of axes")
  if on_inefficient not in ("error", "warn", None):
    raise ValueError(
        f"bcoo_update_layout: on_inefficient is {on_inefficient!r}; expected 'error', "
        "'warn' or None")
  grows = n > mat.n_batch or d > mat.n_dense
  if grows and on_inefficient is not None:
    message = (
        f"bcoo_update_layout: n_batch from {mat.n_batch} to {n}, n_dense from "
        f"{mat.n_dense} to {d} may need room for many more elements; pass "
        "on_inefficient=None for it")
    if on_inefficient == "error":
      raise SparseEfficiencyError(message)
    warnings.warn(message, SparseEfficiencyWarning, stacklevel=2)
  mat = _less_dense(_less_batch(mat, min(n, mat.n_batch)), min(d, mat.n_dense))
  if not grows:
    return mat
  # No place has more elements than there were in all.
  return bcoo_fromdense(
      bcoo_todense(mat), nse=mat.nse, n_batch=n, n_dense=d, index_dtype=mat.indices.dtype)


def _less_batch(mat: BCOO, n: int) -> BCOO:
  """The last batch axes as sparse ones, the first."""
  moved = mat.batch[n:]
  if not moved:
    return mat
  mat = mat.whole()
  places = np.indices(moved).reshape(len(moved), *moved, 1)
  places = np.moveaxis(places, 0, -1).astype(mat.indices.dtype)
  shape = mat.indices.shape[:-1]
  places = gnp.broadcast_to(places, (*shape, len(moved)))
  indices = gnp.concatenate([places, mat.indices], -1)
  nse = math.prod(moved) * mat.nse
  return BCOO(
      (mat.data.reshape(*mat.batch[:n], nse, *mat.dense),
       indices.reshape(*mat.batch[:n], nse, indices.shape[-1])),
      shape=mat.shape, indices_sorted=mat.indices_sorted,
      unique_indices=mat.unique_indices)


def _less_dense(mat: BCOO, d: int) -> BCOO:
  """The first dense axes as sparse ones, the last."""
  moved = mat.dense[:mat.n_dense - d]
  if not moved:
    return mat
  mat, n = mat.whole(), mat.n_batch
  count = math.prod(moved)
  places = np.indices(moved).reshape(len(moved), count).T.astype(mat.indices.dtype)
  shape = (*mat.batch, mat.nse, count)
  indices = gnp.concatenate([
      gnp.broadcast_to(mat.indices[..., None, :], (*shape, mat.n_sparse)),
      gnp.broadcast_to(places, (*shape, len(moved)))], -1)
  rest = mat.data.shape[n + 1 + len(moved):]
  return BCOO(
      (mat.data.reshape(*mat.batch, mat.nse * count, *rest),
       indices.reshape(*mat.batch, mat.nse * count, indices.shape[-1])),
      shape=mat.shape, indices_sorted=mat.indices_sorted,
      unique_indices=mat.unique_indices)


def all_sparse(mat: BCOO) -> BCOO:
  """The same without batch and dense axes."""
  return _less_dense(_less_batch(mat, 0), 0)


