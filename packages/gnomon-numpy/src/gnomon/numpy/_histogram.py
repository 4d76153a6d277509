"""Histograms: how many samples lie in each of a row of bins."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.structural import broadcast_in_dim, convert, reduce_sum, select_n
from gnomon.core.types import typeof
from gnomon.numpy._compiled import Array, compiled
from gnomon.numpy._promotion import check_arraylike, promote_dtypes_inexact
from gnomon.numpy._searching import search
from gnomon.numpy._spaces import linspace
from gnomon.numpy._values import array_of, choose, is_kind, one_array, scalar

# ---- edges


def _is_count(bins: Any) -> bool:
  return hasattr(bins, "__index__") and not (
      isinstance(bins, (np.ndarray, Array)) and bins.ndim) and not getattr(bins, "shape",
      ())


def _range_of(x: Any, limits: Any) -> tuple[Any, Any]:
  """The ends of the bins: given, or the extremes; apart by 1 if they are equal."""
  dtype = typeof(x).dtype
  if limits is not None:
    low, high = (convert(one_array("range", e), dtype) for e in limits)
  elif not typeof(x).size:
    low, high = array_of(scalar(0, dtype)), array_of(scalar(1, dtype))
  else:
    axes = tuple(range(typeof(x).ndim))
    low, high = lax.reduce_min(x, axes), lax.reduce_max(x, axes)
  half = scalar(0.5, dtype)
  same = lax.eq(low, high)
  return (
      select_n(same, low, lax.sub(low, half)), select_n(same, high, lax.add(high, half)))


def _edges(x: Any, bins: Any, limits: Any) -> Any:
  if _is_count(bins):
    count = index(bins)
    if count < 1:
      raise ValueError(f"histogram: bins must be positive, got {count}")
    low, high = _range_of(x, limits)
    return linspace(low, high, count + 1, dtype=typeof(x).dtype)
  edges = convert(one_array("bins", bins), typeof(x).dtype)
  if typeof(edges).ndim != 1:
    raise ValueError(
        f"histogram: bins must be a number or a vector of edges, got {edges}")
  return edges


def _check_bins(name: str, bins: Any) -> None:
  if isinstance(bins, str):
    raise NotImplementedError(
        f"{name}: string values for `bins` are not implemented, got {bins!r}: the number "
        "of bins would depend on the data. Give a number, or "
        "numpy.histogram_bin_edges(...)")


def _static(bins: Any) -> Any:
  """The number of bins as it can be static; edges are not."""
  return index(bins) if _is_count(bins) else None


def histogram_bin_edges(
    a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
  """The edges of bins for a histogram.

  Args:
    a: an array of samples.
    bins: how many bins of equal width; or the edges themselves.
    range: the first and the last edge; by default the extremes of the samples.
    weights: not used.

  >>> import gnomon.numpy as gnp
  >>> gnp.histogram_bin_edges(gnp.array([0, 1, 4]), bins=2).tolist()
  [0.0, 2.0, 4.0]

  Raises:
    TypeError: `a` is no array and no number.
    ValueError: the number of bins is not positive, or the edges are no vector.
    NotImplementedError: `bins` names a method of choosing their number.
  """
  _check_bins("histogram_bin_edges", bins)
  check_arraylike("histogram_bin_edges", a)
  count = _static(bins)
  return _bin_edges(a, None if count is not None else bins, range, count)


@compiled(static=("count",))
def _bin_edges(a: Any, bins: Any, limits: Any, count: int | None) -> Any:
  x = one_array("histogram_bin_edges", a)
  (x,) = promote_dtypes_inexact(x)
  return _edges(array_of(x), bins if count is None else count, limits)


# ---- counting


def _bin_of(x: Any, edges: Any) -> Any:
  """The bin of each sample; the last edge belongs to the last bin, others to none."""
  n = typeof(edges).shape[0] - 1
  at = search(edges, x, "right", "scan")
  dtype = typeof(at).dtype
  at = lax.sub(at, scalar(1, dtype))
  last = lax.index_in_dim(edges, n, keepdims=False)
  on_last = lax.eq(x, broadcast_in_dim(last, typeof(x).shape, ()))
  at = choose(lax.bitwise_not(on_last), at, scalar(n - 1, dtype))
  return choose(lax.ge(at, scalar(0, dtype)), at, scalar(n, dtype))


def _count(at: Any, amounts: Any, n: int) -> Any:
  numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
  return lax.scatter_add(
      lax.full((n,), 0, typeof(amounts).dtype),
      broadcast_in_dim(at, (typeof(at).shape[0], 1), (0,)), amounts, numbers, mode="drop")


def histogram(
    a: Any, bins: Any = 10, range: Any = None, weights: Any = None,
    density: bool | None = None) -> tuple[Any, Any]:
  """How many samples lie in each of a row of bins.

  A bin holds its left edge, and the last one its right edge too.

  Args:
    a: an array of samples, flattened.
    bins: how many bins of equal width; or a vector of increasing edges.
    range: the first and the last edge; by default the extremes of the samples.
    weights: what each sample counts, instead of 1.
    density: whether to divide by the number of samples and the width of the bin.

  >>> import gnomon.numpy as gnp
  >>> counts, edges = gnp.histogram(gnp.array([0.0, 1.0, 4.0]), bins=2)
  >>> counts.tolist(), edges.tolist()
  ([2.0, 1.0], [0.0, 2.0, 4.0])

  Returns:
    The counts, floats, and the edges: one more than counts.

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: `weights` have another shape, or the bins are wrong.
    NotImplementedError: `bins` names a method of choosing their number.
  """
  _check_bins("histogram", bins)
  check_arraylike("histogram", a, bins)
  if weights is not None:
    check_arraylike("histogram", weights)
    if typeof(weights).shape != typeof(a).shape:
      raise ValueError(
          f"histogram: weights should have the same shape as a, {typeof(a).shape}; got "
          f"{typeof(weights).shape}")
  count = _static(bins)
  return _histogram(a, None if count is not None else bins, range, weights, count,
                    bool(density))


@compiled(static=("count", "density"))
def _histogram(
    a: Any, bins: Any, limits: Any, weights: Any, count: int | None,
    density: bool) -> tuple[Any, Any]:
  x = one_array("histogram", a)
  if weights is None:
    (x,) = [array_of(v) for v in promote_dtypes_inexact(x)]
    amounts = lax.full((typeof(x).size,), 1, typeof(x).dtype)
  else:
    x, w = [array_of(v) for v in promote_dtypes_inexact(x,
        one_array("histogram", weights))]
    amounts = lax.reshape(w, (typeof(w).size,))
  if is_kind(x, np.complexfloating) and weights is not None:
    x = lax.real(x)
  edges = _edges(x, bins if count is None else count, limits)
  n = typeof(edges).shape[0] - 1
  at = _bin_of(lax.reshape(x, (typeof(x).size,)), edges)
  counts = _count(at, amounts, n)
  if density:
    widths = convert(_widths(edges), typeof(counts).dtype)
    total = reduce_sum(counts, (0,))
    counts = lax.div(lax.div(counts, widths), broadcast_in_dim(total, (n,), ()))
  return counts, edges


def _widths(edges: Any) -> Any:
  n = typeof(edges).shape[0]
  return lax.sub(lax.slice_in_dim(edges, 1, n), lax.slice_in_dim(edges, 0, n - 1))


# ---- several dimensions


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, weights: Any = None,
    density: bool | None = None) -> tuple[Any, Any, Any]:
  """How many pairs of samples lie in each of a field of bins.

  Args:
    x: a vector of samples.
    y: the same.
    bins: how many bins along both; a vector of edges for both; or a pair of those.
    range: the ends of the bins: `((x_low, x_high), (y_low, y_high))`.
    weights: what each pair counts, instead of 1.
    density: whether to divide by the number of pairs and the area of the bin.

  >>> import gnomon.numpy as gnp
  >>> v = gnp.array([0.0, 1.0, 4.0])
  >>> gnp.histogram2d(v, v, bins=2)[0].tolist()
  [[2, 0], [0, 1]]

  Returns:
    The counts, and the edges along both.

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the sizes differ, or the bins are wrong.
  """
  check_arraylike("histogram2d", x, y)
  if typeof(x).ndim != 1 or typeof(x).shape != typeof(y).shape:
    raise ValueError(
        "histogram2d: x and y must be vectors of one size, got the shapes "
        f"{typeof(x).shape} and {typeof(y).shape}")
  edges = not _is_count(bins) and not isinstance(bins, str)
  pair = bins if edges and isinstance(bins, (list, tuple)) and len(bins) == 2 else (bins,
      bins)
  counts, (first, second) = _histogram_of([x, y], pair, range, weights, density)
  return counts, first, second


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, weights: Any = None,
    density: bool | None = None) -> tuple[Any, list[Any]]:
  """How many points lie in each of a block of bins.

  Args:
    sample: a matrix with a point in each row; or a sequence of vectors, one a dimension.
    bins: how many bins along all dimensions; or a sequence with a number or a vector of
      edges for each.
    range: the ends of the bins, a pair for each dimension, which may be None.
    weights: what each point counts, instead of 1.
    density: whether to divide by the number of points and the volume of the bin.

  >>> import gnomon.numpy as gnp
  >>> gnp.histogramdd(gnp.array([[0.0, 0.0], [1.0, 1.0]]), bins=2)[0].tolist()
  [[1, 0], [0, 1]]

  Returns:
    The counts, and a list of the edges along each dimension.

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: there are not as many bins as dimensions, or the bins are wrong.
  """
  if isinstance(sample, (list, tuple)):
    check_arraylike("histogramdd", *sample)
    columns = [array_of(x) for x in sample]
  else:
    x = one_array("histogramdd", sample)
    if typeof(x).ndim == 1:
      columns = [x]
    else:
      columns = [lax.index_in_dim(x, d, 1,
          keepdims=False) for d in _upto(typeof(x).shape[1])]
  many = (bins,) * len(columns) if _is_count(bins) else bins
  if isinstance(many, str) or len(many) != len(columns):
    raise ValueError(
        f"histogramdd: there should be a bin for each dimension, {len(columns)}; got "
        f"{bins!r}")
  return _histogram_of(columns, many, range, weights, density)


_upto = range


def _histogram_of(
    columns: Sequence[Any], bins: Sequence[Any], limits: Any, weights: Any,
    density: bool | None) -> tuple[Any, list[Any]]:
  for b in bins:
    _check_bins("histogramdd", b)
  if limits is not None and len(limits) != len(columns):
    raise ValueError(
        f"histogramdd: range must have a pair for each of {len(columns)} dimensions, got "
        f"{limits!r}")
  counts = tuple([_static(b) for b in bins])
  edges = [None if c is not None else b for b, c in zip(bins, counts)]
  limits = [None] * len(columns) if limits is None else list(limits)
  return _histogram_nd(list(columns), edges, limits, weights, counts, bool(density))


@compiled(static=("counts", "density"))
def _histogram_nd(
    columns: list[Any], bins: list[Any], limits: list[Any], weights: Any,
    counts: tuple[int | None, ...], density: bool) -> tuple[Any, list[Any]]:
  xs = [array_of(x) for x in promote_dtypes_inexact(*map(array_of, columns))]
  edges = [
      _edges(x, b if c is None else c, limit)
      for x, b, c, limit in zip(xs, bins, counts, limits)]
  sizes = [typeof(e).shape[0] - 1 for e in edges]
  shape = typeof(xs[0]).shape
  if weights is None:
    amounts = lax.full(shape, 1, dtypes.default_int_dtype())
  else:
    amounts = one_array("histogramdd", weights)
    if typeof(amounts).shape != shape:
      raise ValueError(
          f"histogramdd: should have one weight for each sample, {shape}; got "
          f"{typeof(amounts).shape}")
  at = lax.full(shape, 0, np.int32)
  inside = lax.full(shape, True, np.bool_)
  for x, e, n in zip(xs, edges, sizes):
    own = convert(_bin_of(x, e), np.dtype(np.int32))
    inside = lax.bitwise_and(inside, lax.lt(own, scalar(n, np.int32)))
    at = lax.add(lax.mul(at, scalar(n, np.int32)), own)
  total = int(np.prod(sizes, dtype=object))
  at = choose(inside, at, scalar(total, np.int32))
  out = lax.reshape(_count(at, amounts, total), tuple(sizes))
  if density:
    out = _density(out, edges)
  return out, edges


def _density(counts: Any, edges: Sequence[Any]) -> Any:
  (out,) = [array_of(x) for x in promote_dtypes_inexact(counts)]
  shape, dtype = typeof(out).shape, typeof(out).dtype
  total = reduce_sum(out, tuple(_upto(len(shape))))
  out = lax.div(out, broadcast_in_dim(total, shape, ()))
  for d, e in enumerate(edges):
    out = lax.div(out, broadcast_in_dim(convert(_widths(e), dtype), shape, (d,)))
  return out
