"""Sparse arrays with their elements in other places."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.experimental.sparse._bcoo import BCOO, in_range, sizes_like
from gnomon.numpy._promotion import canonical_axes, canonical_axis, promote_dtypes


def _with(
    mat: BCOO, data: Any, indices: Any, shape: Sequence[int], **flags: bool) -> BCOO:
  flags = {"unique_indices": mat.unique_indices, **flags}
  return BCOO((data, indices), shape=tuple(shape), **flags)


def bcoo_transpose(mat: BCOO, *, permutation: Sequence[int]) -> BCOO:
  """A sparse array with its axes in another order, each kind among themselves.

  Args:
    mat: the sparse array.
    permutation: the axes of `mat` in their new order.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.experimental import sparse
  >>> x = sparse.BCOO.fromdense(gnp.array([[0.0, 1.0]]))
  >>> sparse.bcoo_transpose(x, permutation=(1, 0)).indices.tolist()
  [[1, 0]]

  Raises:
    NotImplementedError: an axis would become one of another kind; see
      `bcoo_update_layout`.
    ValueError: `permutation` is none.
  """
  order = canonical_axes(tuple(permutation), mat.ndim, "bcoo_transpose")
  if len(order) != mat.ndim:
    raise ValueError(
        f"bcoo_transpose: permutation is {permutation}; expected all {mat.ndim} axes")
  n, s = mat.n_batch, mat.n_sparse
  parts = order[:n], order[n:n + s], order[n + s:]
  kinds = range(n), range(n, n + s), range(n + s, mat.ndim)
  if any(set(part) != set(kind) for part, kind in zip(parts, kinds)):
    raise NotImplementedError(
        f"bcoo_transpose: permutation {permutation} mixes the {n} batch, {s} sparse and "
        f"{mat.n_dense} dense axes; use bcoo_update_layout before")
  data = gnp.transpose(mat.data, (*parts[0], n, *(i - s + 1 for i in parts[2])))
  indices = gnp.transpose(mat.indices, (*parts[0], n, n + 1))
  indices = indices[..., [i - n for i in parts[1]]]
  same = parts[1] == tuple(kinds[1])
  return _with(mat, data, indices, [mat.shape[i] for i in order],
               indices_sorted=mat.indices_sorted and same)


def _regrouped(old: Sequence[int], new: Sequence[int], name: str) -> int:
  """How many of the first new sizes have the product of all the old ones."""
  product, total = 1, math.prod(old)
  for i in range(len(new) + 1):
    if product == total and (i == len(new) or new[i] != 1 or i >= len(old)):
      return i
    if i < len(new):
      product *= new[i]
  raise NotImplementedError(
      f"bcoo_reshape: the {name} axes {tuple(old)} would be mixed with others; use "
      "bcoo_update_layout before")


def bcoo_reshape(
    mat: BCOO, *, new_sizes: Sequence[int], dimensions: Sequence[int] | None = None,
    sharding: None = None) -> BCOO:
  """A sparse array with another shape of the same size, each kind of axes by itself.

  Args:
    mat: the sparse array.
    new_sizes: the shape.
    dimensions: must be None, or all axes in order.
    sharding: must be None.

  >>> from gnomon.experimental import sparse
  >>> sparse.bcoo_reshape(sparse.eye(2), new_sizes=(4,)).todense().tolist()
  [1.0, 0.0, 0.0, 1.0]

  Raises:
    NotImplementedError: kinds of axes would be mixed, or `dimensions` reorders them.
    ValueError: the sizes differ.
  """
  del sharding
  if dimensions is not None and tuple(dimensions) != tuple(range(mat.ndim)):
    raise NotImplementedError(
        f"bcoo_reshape: dimensions is {dimensions}; use bcoo_transpose before")
  new = tuple(map(operator.index, new_sizes))
  if math.prod(new) != mat.size:
    raise ValueError(
        f"bcoo_reshape: new_sizes {new} for an array of shape {mat.shape}: the sizes "
        "differ")
  mat = mat.whole()
  n = _regrouped(mat.batch, new, "batch")
  d = _regrouped(mat.dense[::-1], new[:n - 1 if n else None:-1], "dense")
  batch, shape, dense = new[:n], new[n:len(new) - d], new[len(new) - d:]
  data = mat.data.reshape(*batch, mat.nse, *dense)
  indices = mat.indices.reshape(*batch, mat.nse, mat.n_sparse)
  old = mat.sparse
  if old != shape:
    within = in_range(indices, old)
    number = gnp.zeros(indices.shape[:-1], indices.dtype)
    for i, size in enumerate(old):
      number = number * size + indices[..., i]
    parts = []
    for size in reversed(shape):
      parts.append(gnp.where(within, number % max(size, 1), size))
      number = number // max(size, 1)
    indices = (
        gnp.stack(parts[::-1], -1) if parts
        else gnp.zeros((*indices.shape[:-1], 0), indices.dtype))
    if not parts:
      within = within.reshape(within.shape + (1,) * len(dense))
      data = gnp.where(within, data, gnp.zeros((), data.dtype))
  return _with(mat, data, indices, new, indices_sorted=mat.indices_sorted)


def bcoo_broadcast_in_dim(
    mat: BCOO, *, shape: Sequence[int], broadcast_dimensions: Sequence[int],
    sharding: None = None) -> BCOO:
  """A sparse array with more axes, and axes of size 1 repeated.

  A new axis is of the kind of the axis behind which it stands; in front of all, a batch
  axis if there are others, else a sparse one.

  Args:
    mat: the sparse array.
    shape: the new shape.
    broadcast_dimensions: where the axes of `mat` are in it, in ascending order.
    sharding: must be None.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.experimental import sparse
  >>> x = sparse.BCOO.fromdense(gnp.array([0.0, 1.0]))
  >>> sparse.bcoo_broadcast_in_dim(
  ...     x, shape=(2, 2), broadcast_dimensions=(1,)).todense().tolist()
  [[0.0, 1.0], [0.0, 1.0]]

  Raises:
    ValueError: the sizes do not fit.
  """
  del sharding
  shape, at = tuple(shape), tuple(broadcast_dimensions)
  if (len(at) != mat.ndim or list(at) != sorted(set(at))
      or any(not 0 <= i < len(shape) for i in at)
      or any(m not in (1, shape[i]) for m, i in zip(mat.shape, at))):
    raise ValueError(
        f"bcoo_broadcast_in_dim: shape {shape} and broadcast_dimensions {at} for an "
        f"array of shape {mat.shape}")
  mat = mat.whole().clean()
  n, s = mat.n_batch, mat.n_sparse
  ends = (*at, len(shape))
  n_batch = ends[n] if n else 0
  n_sparse = (ends[n + s] if s or not n else n_batch) - n_batch
  batch, dense = shape[:n_batch], shape[n_batch + n_sparse:]
  first = [*at[:n], n_batch]
  moved = [i - n_sparse + 1 for i in at[n + s:]]
  data = lax.broadcast_in_dim(
      mat.data, (*batch, mat.nse, *dense), (*first, *moved))
  indices = lax.broadcast_in_dim(
      mat.indices, (*batch, mat.nse, s), (*first, n_batch + 1))
  # Along a repeated sparse axis each element stands for one at every place.
  old = {i: k for k, i in enumerate(at[n:n + s])}
  repeated = [
      i for i in range(n_batch, n_batch + n_sparse)
      if i not in old or mat.shape[n + old[i]] != shape[i]]
  sizes = [shape[i] for i in repeated]
  count = math.prod(sizes)
  places = np.indices(sizes).reshape(len(sizes), count).T.astype(indices.dtype)
  full = (*batch, mat.nse, count)
  own = gnp.broadcast_to(indices[..., None, :], (*full, s))
  extra = gnp.broadcast_to(places, (*full, len(sizes)))
  if s:  # what did not count still does not
    within = in_range(own, mat.sparse)[..., None]
    extra = gnp.where(within, extra, sizes_like(sizes, extra))
  chosen = [
      extra[..., repeated.index(i)] if i in repeated else own[..., old[i]]
      for i in range(n_batch, n_batch + n_sparse)]
  nse = mat.nse * count
  new = (gnp.stack(chosen, -1) if chosen else gnp.zeros((*full, 0), indices.dtype))
  axis = n_batch + 1
  data = gnp.broadcast_to(gnp.expand_dims(data, axis), (*full, *dense))
  return _with(mat, data.reshape(*batch, nse, *dense), new.reshape(*batch, nse, n_sparse),
               shape)


def bcoo_squeeze(arr: BCOO, *, dimensions: Sequence[int]) -> BCOO:
  """A sparse array without some axes of size 1.

  Args:
    arr: the sparse array.
    dimensions: the axes.

  >>> from gnomon.experimental import sparse
  >>> sparse.bcoo_squeeze(sparse.eye(1, 3), dimensions=(0,)).shape
  (3,)

  Raises:
    ValueError: an axis is out of range, or not of size 1.
  """
  places = canonical_axes(tuple(dimensions), arr.ndim, "bcoo_squeeze")
  if any(arr.shape[i] != 1 for i in places):
    raise ValueError(
        f"bcoo_squeeze: dimensions {tuple(dimensions)} of an array of shape {arr.shape}; "
        "expected axes of size 1")
  n, s = arr.n_batch, arr.n_sparse
  mat = arr.whole().clean()
  batch = tuple(i for i in places if i < n)
  dense = tuple(i - s + 1 for i in places if i >= n + s)
  kept = [i for i in range(s) if n + i not in places]
  return _with(
      arr, gnp.squeeze(mat.data, batch + dense),
      gnp.squeeze(mat.indices[..., kept], batch),
      [m for i, m in enumerate(arr.shape) if i not in places],
      indices_sorted=arr.indices_sorted)


def bcoo_concatenate(operands: Sequence[BCOO], *, dimension: int) -> BCOO:
  """Sparse arrays behind one another, along an axis of any kind.

  Args:
    operands: sparse arrays of equal shapes, but along the axis, and of equal numbers of
      batch and dense axes.
    dimension: the axis.

  >>> from gnomon.experimental import sparse
  >>> x = sparse.eye(1)
  >>> sparse.bcoo_concatenate([x, x], dimension=1).todense().tolist()
  [[1.0, 1.0]]

  Raises:
    ValueError: there are no operands, their shapes or numbers of axes differ, or the axis
      is out of range.
  """
  if not operands:
    raise ValueError("bcoo_concatenate: there are no operands; expected at least one")
  first = operands[0]
  axis = canonical_axis(dimension, first.ndim, "bcoo_concatenate")
  kinds = {(x.n_batch, x.n_dense, x.shape[:axis], x.shape[axis + 1:]) for x in operands}
  if len(kinds) != 1:
    raise ValueError(
        f"bcoo_concatenate: operands {list(operands)} along axis {axis}; expected equal "
        "shapes elsewhere and equal n_batch and n_dense")
  mats = [x.whole().clean() for x in operands]
  sizes = [x.shape[axis] for x in operands]
  starts = np.cumsum([0, *sizes])
  shape = [*first.shape[:axis], int(starts[-1]), *first.shape[axis + 1:]]
  n, s = first.n_batch, first.n_sparse
  data = promote_dtypes(*(x.data for x in mats))
  kind = np.result_type(*(x.indices.dtype for x in mats))
  indices = [x.indices.astype(kind) for x in mats]
  outside = np.array(shape[n:n + s], kind)
  if axis < n:
    most = max(x.nse for x in mats)

    def filled(x: Any, value: Any) -> Any:
      return gnp.concatenate([x, gnp.broadcast_to(
          value, (*x.shape[:n], most - x.shape[n], *x.shape[n + 1:]))], n)

    zero = gnp.zeros((), data[0].dtype)
    return BCOO(
        (gnp.concatenate([filled(x, zero) for x in data], axis),
         gnp.concatenate([filled(i, outside) for i in indices], axis)), shape=shape)
  if axis >= n + s:
    where = axis - s + 1
    data = [
        gnp.pad(x, [(int(start), int(starts[-1]) - int(start) - size)
                    if i == where else (0, 0) for i in range(x.ndim)])
        for x, start, size in zip(data, starts, sizes)]
  else:
    shift = np.eye(s, dtype=kind)[axis - n]
    indices = [
        gnp.where(in_range(i, x.sparse)[..., None],
                  i + sizes_like(shift * int(start), i), sizes_like(outside, i))
        for i, x, start in zip(indices, mats, starts)]
  return BCOO((gnp.concatenate(data, n), gnp.concatenate(indices, n)), shape=shape)


def bcoo_slice(
    mat: BCOO, *, start_indices: Sequence[int], limit_indices: Sequence[int],
    strides: Sequence[int] | None = None) -> BCOO:
  """A part of a sparse array, along each axis from a start to a limit.

  Args:
    mat: the sparse array.
    start_indices: where the part begins, for each axis.
    limit_indices: where it ends.
    strides: the steps; 1 by default.

  >>> from gnomon.experimental import sparse
  >>> sparse.bcoo_slice(
  ...     sparse.eye(3), start_indices=(1, 0), limit_indices=(3, 2)).todense().tolist()
  [[0.0, 1.0], [0.0, 0.0]]

  Raises:
    ValueError: there is not one number for each axis, or one is out of range.
  """
  steps = [1] * mat.ndim if strides is None else list(map(operator.index, strides))
  begin, end = (list(map(operator.index, x)) for x in (start_indices, limit_indices))
  if (not len(begin) == len(end) == len(steps) == mat.ndim or any(
      not 0 <= a <= b <= m or c < 1 for a, b, c, m in zip(begin, end, steps, mat.shape))):
    raise ValueError(
        f"bcoo_slice: start_indices={tuple(begin)}, limit_indices={tuple(end)}, strides="
        f"{tuple(steps)} for an array of shape {mat.shape}")
  shape = [max(-(-(b - a) // c), 0) for a, b, c in zip(begin, end, steps)]
  return _part(mat, begin, shape, steps)


def _part(
    mat: BCOO, begin: Sequence[Any], shape: Sequence[int],
    steps: Sequence[int]) -> BCOO:
  """A part of given shape; where it begins may be traced."""
  n, s = mat.n_batch, mat.n_sparse
  mat = mat.whole()

  def cut(x: Any, axis: int, i: int) -> Any:
    width = (shape[i] - 1) * steps[i] + 1 if shape[i] else 0
    x = lax.dynamic_slice_in_dim(x, begin[i], width, axis)
    return lax.slice_in_dim(x, 0, width, steps[i], axis)

  data, indices = mat.data, mat.indices
  for i in range(n):
    data, indices = cut(data, i, i), cut(indices, i, i)
  for i in range(n + s, mat.ndim):
    data = cut(data, i - s + 1, i)
  within = in_range(indices, mat.sparse)
  parts = []
  for k, i in enumerate(range(n, n + s)):
    offset = indices[..., k] - begin[i]
    parts.append(offset // steps[i])
    within &= (offset % steps[i] == 0) & (offset >= 0) & (parts[-1] < shape[i])
  if s:
    indices = gnp.where(
        within[..., None], gnp.stack(parts, -1).astype(indices.dtype),
        sizes_like(shape[n:n + s], indices))
  return _with(mat, data, indices, shape)


def bcoo_dynamic_slice(
    mat: BCOO, start_indices: Sequence[Any], slice_sizes: Sequence[int]) -> BCOO:
  """A part of a sparse array whose beginning may be traced.

  Args:
    mat: the sparse array.
    start_indices: an integer for each axis: where the part begins; less, where it would
      reach beyond the end.
    slice_sizes: the shape of the part.

  >>> from gnomon.experimental import sparse
  >>> sparse.bcoo_dynamic_slice(sparse.eye(3), (1, 1), (1, 2)).todense().tolist()
  [[1.0, 0.0]]

  Raises:
    ValueError: there is not one number for each axis, or a size is out of range.
  """
  shape = tuple(map(operator.index, slice_sizes))
  if not len(start_indices) == len(shape) == mat.ndim or any(
      not 0 <= a <= m for a, m in zip(shape, mat.shape)):
    raise ValueError(
        f"bcoo_dynamic_slice: {len(start_indices)} start_indices and slice_sizes={shape} "
        f"for an array of shape {mat.shape}")
  begin = [
      gnp.clip(gnp.where(gnp.asarray(i) < 0, i + m, i), 0, m - size)
      for i, m, size in zip(start_indices, mat.shape, shape)]
  return _part(mat, begin, shape, [1] * mat.ndim)


def bcoo_rev(operand: BCOO, dimensions: Sequence[int]) -> BCOO:
  """A sparse array turned round along axes.

  Args:
    operand: the sparse array.
    dimensions: the axes.

  >>> from gnomon.experimental import sparse
  >>> sparse.bcoo_rev(sparse.eye(2), (0,)).todense().tolist()
  [[0.0, 1.0], [1.0, 0.0]]

  Raises:
    ValueError: an axis is out of range.
  """
  places = canonical_axes(tuple(dimensions), operand.ndim, "bcoo_rev")
  mat = operand.whole().clean()
  n, s = mat.n_batch, mat.n_sparse
  batch = [i for i in places if i < n]
  data = lax.rev(mat.data, batch + [i - s + 1 for i in places if i >= n + s])
  indices = lax.rev(mat.indices, batch)
  within = in_range(indices, mat.sparse)
  turned = [
      gnp.where(within, mat.shape[i] - 1 - indices[..., k], indices[..., k])
      if i in places else indices[..., k] for k, i in enumerate(range(n, n + s))]
  return _with(mat, data, gnp.stack(turned, -1) if turned else indices, mat.shape,
               unique_indices=operand.unique_indices)


