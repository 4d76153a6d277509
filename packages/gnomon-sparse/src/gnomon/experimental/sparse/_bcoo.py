"""Sparse arrays by the indices of their elements: `BCOO`."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import vmap
from gnomon.experimental.sparse._base import JAXSparse
from gnomon.numpy._promotion import check_arraylike
from gnomon.numpy._values import is_kind
from gnomon.tree_util import register_pytree_node_class

Shape = tuple[int, ...]


@register_pytree_node_class
class BCOO(JAXSparse):
  """A sparse array as a list of elements and their indices.

  Its axes are, in this order: `n_batch` axes, along which there is such a list for each
  place; `n_sparse` axes, to which indices refer; `n_dense` axes of the elements. Elements
  with equal indices are added; ones whose indices are out of range do not count.

  Args:
    args: the pair of `data`, of shape `(*batch, nse, *dense)`, and `indices`, integers of
      shape `(*batch, nse, n_sparse)`. A batch axis of size 1 stands for any size.
    shape: the shape of the array.
    indices_sorted: says that indices are in lexicographic order.
    unique_indices: says that no indices occur twice.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.experimental.sparse import BCOO
  >>> x = BCOO((gnp.array([2.0, 5.0]), gnp.array([[1], [3]])), shape=(4,))
  >>> x.todense().tolist()
  [0.0, 2.0, 0.0, 5.0]

  Raises:
    TypeError: `data` or `indices` is no array.
    ValueError: the shapes do not suit each other.
  """

  indices: Any
  indices_sorted: bool
  unique_indices: bool

  def __init__(
      self, args: tuple[Any, Any], *, shape: Sequence[int], indices_sorted: bool = False,
      unique_indices: bool = False) -> None:
    super().__init__(args, shape=shape)
    data, indices = args
    check_arraylike("BCOO", data, indices)
    self.data, self.indices = gnp.asarray(data), gnp.asarray(indices)
    self.indices_sorted = bool(indices_sorted)
    self.unique_indices = bool(unique_indices)
    self._check()

  def _check(self) -> None:
    data, indices = self.data.shape, self.indices.shape
    n = len(indices) - 2
    fits = (
        n >= 0 and is_kind(self.indices, np.integer) and len(data) > n
        and data[n] == indices[n]
        and len(self.shape) == n + indices[-1] + len(data) - n - 1
        and data[n + 1:] == self.shape[n + indices[-1]:]
        and all({a, b} <= {1, s} for a, b, s in zip(data[:n], indices[:n], self.shape)))
    if not fits:
      raise ValueError(
          f"BCOO: data has the shape {data} and indices {indices} of "
          f"{self.indices.dtype}, "
          f"shape is {self.shape}; expected (*batch, nse, *dense), integers of shape "
          "(*batch, nse, n_sparse), and (*batch, *sparse, *dense)")

  @property
  def nse(self) -> int:
    """How many elements there is room for at each place of the batch."""
    return int(self.indices.shape[-2])

  @property
  def n_batch(self) -> int:
    """The number of batch axes."""
    return int(self.indices.ndim - 2)

  @property
  def n_sparse(self) -> int:
    """The number of axes that indices refer to."""
    return int(self.indices.shape[-1])

  @property
  def n_dense(self) -> int:
    """The number of axes of the elements."""
    return int(self.data.ndim - 1 - self.n_batch)

  @property
  def batch(self) -> Shape:
    """The sizes of the batch axes."""
    return self.shape[:self.n_batch]

  @property
  def sparse(self) -> Shape:
    """The sizes of the axes that indices refer to."""
    return self.shape[self.n_batch:self.n_batch + self.n_sparse]

  @property
  def dense(self) -> Shape:
    """The sizes of the axes of the elements."""
    return self.shape[self.n_batch + self.n_sparse:]

  def tree_flatten(self) -> tuple[tuple[Any, Any], tuple[Any, ...]]:
    """The elements and their indices, and the rest."""
    n_batch = self.indices.ndim - 2 if hasattr(self.indices, "ndim") else 0
    rest = (self.shape, n_batch, self.indices_sorted, self.unique_indices)
    return (self.data, self.indices), rest

  @classmethod
  def tree_unflatten(cls, aux_data: tuple[Any, ...], children: Any) -> BCOO:
    """The array of what `tree_flatten` gave: leaves may be anything.

    Where `vmap` has taken away batch axes, or put some there, the shape follows.
    """
    out = object.__new__(cls)
    shape, n_batch, out.indices_sorted, out.unique_indices = aux_data
    out.data, out.indices = children
    if hasattr(out.data, "ndim") and hasattr(out.indices, "ndim"):
      n = out.indices.ndim - 2
      if n != n_batch:
        found = tuple(map(max, out.data.shape[:n], out.indices.shape[:n]))
        shape = _batch_of(shape[:n_batch], found) + shape[n_batch:]
    out.shape = shape
    return out

  @classmethod
  def fromdense(
      cls, mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32,
      n_dense: int = 0, n_batch: int = 0) -> BCOO:
    """The elements of a dense array that are not zero: see `bcoo_fromdense`."""
    return bcoo_fromdense(
        mat, nse=nse, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch)

  @classmethod
  def from_scipy_sparse(
      cls, mat: Any, *, index_dtype: Any = None, n_dense: int = 0,
      n_batch: int = 0) -> BCOO:
    """A matrix of `scipy.sparse`.

    Raises:
      NotImplementedError: there are batch or dense axes.
    """
    if n_dense or n_batch:
      raise NotImplementedError(
          f"BCOO.from_scipy_sparse: n_batch is {n_batch} and n_dense {n_dense}; "
          "matrices of SciPy have sparse axes only: use update_layout")
    mat = mat.tocoo()
    indices = np.stack([mat.row, mat.col], 1).astype(index_dtype or np.int32)
    return cls((gnp.asarray(mat.data), gnp.asarray(indices)), shape=mat.shape)

  def todense(self) -> Any:
    """The dense array."""
    return bcoo_todense(self)

  def astype(self, *args: Any, **kwargs: Any) -> BCOO:
    """The array with another dtype."""
    return self.like(self.data.astype(*args, **kwargs))

  def like(self, data: Any) -> BCOO:
    """An array with the same indices."""
    return BCOO(
        (data, self.indices), shape=self.shape, indices_sorted=self.indices_sorted,
        unique_indices=self.unique_indices)

  def whole(self) -> BCOO:
    """The same with batch axes of full size."""
    n, data, indices = self.n_batch, self.data, self.indices
    if data.shape[:n] == indices.shape[:n] == self.batch:
      return self
    data = gnp.broadcast_to(data, self.batch + data.shape[n:])
    indices = gnp.broadcast_to(indices, self.batch + indices.shape[n:])
    return BCOO(
        (data, indices), shape=self.shape, indices_sorted=self.indices_sorted,
        unique_indices=self.unique_indices)

  def clean(self) -> BCOO:
    """The same, where elements that do not count are zero, with sizes for indices."""
    if not self.n_sparse:
      return self
    within = in_range(self.indices, self.sparse)
    indices = gnp.where(
        within[..., None], self.indices, sizes_like(self.sparse, self.indices))
    within = within.reshape(within.shape + (1,) * self.n_dense)
    return BCOO(
        (gnp.where(within, self.data, gnp.zeros((), self.data.dtype)), indices),
        shape=self.shape)


def _batch_of(old: Shape, found: Shape) -> Shape:
  """The batch axes that are left of old ones, by the sizes found; 1 stands for any."""
  for kept in reversed(list(itertools.combinations(old, len(found)))):
    if all(n in (1, size) for n, size in zip(found, kept)):
      return kept
  return found


def in_range(indices: Any, shape: Shape) -> Any:
  """Whether indices, along the last axis, count."""
  return gnp.all((indices >= 0) & (indices < sizes_like(shape, indices)), -1)


def sizes_like(shape: Any, indices: Any) -> Any:
  """Sizes as indices that are out of range, with the rank of some indices."""
  sizes = np.array(shape, indices.dtype)
  return sizes.reshape((1,) * (indices.ndim - 1) + (-1,))


def over_batch(f: Callable[..., Any], n: int) -> Callable[..., Any]:
  """A function of the arrays of one place, for all places of `n` batch axes."""
  for _ in range(n):
    f = vmap(f)
  return f


def columns(indices: Any) -> tuple[Any, ...]:
  """Indices, of shape `(nse, n)`, as n vectors."""
  return tuple(indices[:, i] for i in range(indices.shape[1]))


def collected(shape: Shape, at: tuple[Any, ...], values: Any) -> Any:
  """Values added to zeros at indices, of which those out of range do not count."""
  zeros = gnp.zeros(shape, values.dtype)
  if 0 in shape[:len(at)]:  # no index is in range
    return zeros
  where = zeros.at[at]
  return (where.max if values.dtype == bool else where.add)(values, mode="drop")


def bcoo_todense(mat: BCOO) -> Any:
  """The dense array that a sparse one stands for.

  Args:
    mat: the sparse array.

  >>> from gnomon.experimental import sparse
  >>> sparse.bcoo_todense(sparse.eye(2)).tolist()
  [[1.0, 0.0], [0.0, 1.0]]
  """
  shape = mat.sparse + mat.dense
  boolean = mat.dtype == bool

  def one(data: Any, indices: Any) -> Any:
    if not indices.shape[1]:
      return gnp.any(data, 0) if boolean else gnp.sum(data, 0, dtype=data.dtype)
    return collected(shape, columns(indices), data)

  mat = mat.whole()
  return over_batch(one, mat.n_batch)(mat.data, mat.indices)


def bcoo_fromdense(
    mat: Any, *, nse: int | None = None, n_batch: int = 0, n_dense: int = 0,
    index_dtype: Any = np.int32) -> BCOO:
  """The elements of a dense array that are not zero, as a sparse array.

  Args:
    mat: the dense array.
    nse: for how many elements there shall be room; by default for those there are, which
      must not be traced.
    n_batch: how many of the first axes are batch axes.
    n_dense: how many of the last axes are dense.
    index_dtype: the dtype of indices.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.experimental import sparse
  >>> sparse.bcoo_fromdense(gnp.array([0.0, 4.0])).indices.tolist()
  [[1]]

  Raises:
    TypeError: `mat` is no array.
    ValueError: it has fewer axes than said.
  """
  check_arraylike("bcoo_fromdense", mat)
  mat = gnp.asarray(mat)
  n_sparse = mat.ndim - n_batch - n_dense
  if min(n_batch, n_dense, n_sparse) < 0:
    raise ValueError(
        f"bcoo_fromdense: mat has {mat.ndim} axes; expected at least "
        f"n_batch={n_batch} and n_dense={n_dense}, both not negative")
  shape = mat.shape[n_batch:n_batch + n_sparse]
  mask = gnp.any(mat != 0, tuple(range(mat.ndim - n_dense, mat.ndim)))
  if nse is None:
    counts = gnp.sum(mask, tuple(range(n_batch, mask.ndim)))
    nse = operator.index(counts.max(initial=0))

  def places(mask: Any) -> Any:
    if not shape:
      return gnp.zeros((nse, 0), index_dtype)
    found = gnp.nonzero(mask, size=nse, fill_value=shape)
    return gnp.stack(found, -1).astype(index_dtype)

  indices = over_batch(places, n_batch)(mask)
  data = over_batch(_gathered, n_batch)(mat, indices)
  if not shape:  # all copies of the one element but the first are too many
    first = (np.arange(nse) == 0).reshape((nse,) + (1,) * n_dense)
    data = gnp.where(first, data, gnp.zeros((), data.dtype))
  return BCOO(
      (data, indices), shape=mat.shape, indices_sorted=True, unique_indices=True)


def _gathered(mat: Any, indices: Any) -> Any:
  if not indices.shape[1]:
    return gnp.broadcast_to(mat, (indices.shape[0], *mat.shape))
  return picked(mat, columns(indices))


def picked(x: Any, at: tuple[Any, ...]) -> Any:
  """The elements of an array at indices, zero for those out of range."""
  if 0 in x.shape[:len(at)]:
    return gnp.zeros((at[0].shape[0], *x.shape[len(at):]), x.dtype)
  return x.at[at].get(mode="fill", fill_value=0)


def bcoo_extract(
    sparr: BCOO, arr: Any, *, assume_unique: bool | None = None) -> BCOO:
  """The elements of a dense array at the indices of a sparse one.

  Args:
    sparr: the sparse array whose indices to take.
    arr: dense array of the same shape.
    assume_unique: whether to take every element, though its indices occur before; by
      default, what the sparse array says of them.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.experimental import sparse
  >>> dense = gnp.array([[1.0, 2.0], [3.0, 4.0]])
  >>> sparse.bcoo_extract(sparse.eye(2), dense).data.tolist()
  [1.0, 4.0]

  Raises:
    TypeError: `arr` is no array.
    ValueError: the shapes differ.
  """
  check_arraylike("bcoo_extract", arr)
  arr = gnp.asarray(arr)
  if arr.shape != sparr.shape:
    raise ValueError(
        f"bcoo_extract: arr has the shape {arr.shape}; expected {sparr.shape}, as sparr")
  whole = sparr.whole()
  data = over_batch(_gathered, whole.n_batch)(arr, whole.indices)
  if not (sparr.unique_indices if assume_unique is None else assume_unique):
    first = over_batch(_first, whole.n_batch)(whole.indices)
    first = first.reshape(first.shape + (1,) * whole.n_dense)
    data = gnp.where(first, data, gnp.zeros((), data.dtype))
  return whole.like(data)


def order_of(indices: Any) -> Any:
  """What sorts indices lexicographically, equal ones as they stood."""
  if not indices.shape[1]:
    return gnp.arange(indices.shape[0])
  return gnp.lexsort(columns(indices)[::-1])


def starts(indices: Any) -> Any:
  """Whether sorted indices differ from those before them."""
  if not indices.shape[0]:
    return gnp.zeros(0, bool)
  new = gnp.any(indices[1:] != indices[:-1], 1)
  return gnp.concatenate([gnp.ones(1, bool), new])


def _first(indices: Any) -> Any:
  """Whether indices occur for the first time."""
  order = order_of(indices)
  return gnp.zeros(indices.shape[0], bool).at[order].set(starts(indices[order]))
