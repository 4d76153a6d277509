"""Positions in sorted arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.structural import convert, select_n
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.numpy._conversion import user_dtype
from gnomon.numpy._promotion import promote_dtypes
from gnomon.numpy._values import arrays_of, scalar, take_rows

_METHODS = ("compare_all", "scan", "scan_unrolled", "sort")


def searchsorted(
    a: Any, v: Any, side: str = "left", sorter: Any = None, *,
    method: str = "scan") -> Any:
  """The positions at which values would have to be inserted to keep an array sorted.

  NaNs count as greater than all numbers, as in sorting.

  Args:
    a: a one-dimensional array, in ascending order.
    v: the values.
    side: `"left"` for the first possible position, `"right"` for the last.
    sorter: integers that bring `a` into ascending order.
    method: how they are found, with equal results: `"scan"` bisects in a loop,
      `"scan_unrolled"` without one, `"sort"` sorts both arrays, `"compare_all"` compares
      all pairs.

  Returns:
    Integers of the shape of `v`.

  >>> import gnomon.numpy as gnp
  >>> gnp.searchsorted(gnp.array([1, 3, 5]), gnp.array([0, 3, 9])).tolist()
  [0, 1, 3]

  Raises:
    TypeError: an argument is no array.
    ValueError: `a` is not one-dimensional; `side` or `method` is unknown.
    OverflowError: `a` has more elements than 32 bits count, and 64 bits are off.
  """
  if side not in ("left", "right"):
    raise ValueError(f"searchsorted: side must be 'left' or 'right', got {side!r}")
  _check_method("searchsorted", method)
  return _searchsorted(a, v, side, sorter, method)


def _check_method(name: str, method: str) -> None:
  if method not in _METHODS:
    raise ValueError(
        f"{name}: method must be one of {', '.join(map(repr, _METHODS))}; got {method!r}")


@compiled(static=("side", "method"))
def _searchsorted(a: Any, v: Any, side: str, sorter: Any, method: str) -> Any:
  a, v = arrays_of("searchsorted", a, v)
  if typeof(a).ndim != 1:
    raise ValueError(
        f"searchsorted: the array a should be 1-dimensional, got shape {typeof(a).shape}")
  if sorter is not None:
    (sorter,) = arrays_of("searchsorted", sorter)
    a = take_rows(a, sorter, 0)
  a, v = promote_dtypes(a, v)
  return search(a, v, side, method)


def search(a: Any, v: Any, side: str, method: str) -> Any:
  """`searchsorted` of arrays of one dtype, without checks."""
  n = typeof(a).shape[0]
  dtype = np.dtype(np.int32 if n < 2**31 else np.int64)
  if n >= 2**31 and user_dtype(dtype, "searchsorted") != dtype:
    raise OverflowError(
        f"Python integer {n} out of bounds for int32: positions in an array of so many "
        "elements need 64 bits. Set jax_enable_x64")
  if not n or not typeof(v).size:
    return lax.full(typeof(v).shape, 0, dtype)
  if method == "compare_all":
    return _compare_all(a, v, side, dtype)
  if method == "sort":
    return _by_sorting(a, v, side, dtype)
  return _bisect(a, v, side, dtype, unrolled=method == "scan_unrolled")


def before(x: Any, y: Any) -> Any:
  """Whether `x` comes before `y` in a sorted array."""
  dtype = typeof(x).dtype
  if dtypes.issubdtype(dtype, np.complexfloating):
    (xr, xi), (yr, yi) = [(lax.real(z), lax.imag(z)) for z in (x, y)]
    same = lax.bitwise_not(lax.bitwise_or(before(xr, yr), before(yr, xr)))
    return lax.bitwise_or(before(xr, yr), lax.bitwise_and(same, before(xi, yi)))
  less = lax.lt(x, y)
  if not dtypes.issubdtype(dtype, np.floating):
    return less
  return lax.bitwise_or(less, lax.bitwise_and(lax.ne(y, y), lax.eq(x, x)))


def _is_right(x: Any, v: Any, side: str) -> Any:
  """Whether `v` is inserted to the right of the element `x`."""
  return before(x, v) if side == "left" else lax.bitwise_not(before(v, x))


def _compare_all(a: Any, v: Any, side: str, dtype: Any) -> Any:
  shape = (typeof(a).shape[0], *typeof(v).shape)
  x = lax.broadcast_in_dim(a, shape, (0,))
  y = lax.broadcast_in_dim(v, shape, tuple(range(1, len(shape))))
  return lax.reduce_sum(convert(_is_right(x, y, side), dtype), (0,))


def _bisect(a: Any, v: Any, side: str, dtype: Any, *, unrolled: bool) -> Any:
  n, shape = typeof(a).shape[0], typeof(v).shape
  rounds = math.ceil(math.log2(n + 1))

  def halve(_: Any, bounds: Any) -> Any:
    low, high = bounds
    middle = lax.add(low, lax.div(lax.sub(high, low), scalar(2, dtype)))
    right = _is_right(take_rows(a, middle, 0), v, side)
    return select_n(right, low, middle), select_n(right, middle, high)

  bounds = (lax.full(shape, 0, dtype), lax.full(shape, n, dtype))
  return lax.fori_loop(0, rounds, halve, bounds, unroll=rounds if unrolled else 1)[1]


def _by_sorting(a: Any, v: Any, side: str, dtype: Any) -> Any:
  """Sorts both together; a value's place less the values before it is its position."""
  n, m = typeof(a).shape[0], typeof(v).size
  flat = lax.reshape(v, (m,))
  first, second = (flat, a) if side == "left" else (a, flat)
  both = lax.concatenate([first, second], 0)
  _, order = lax.sort((both, lax.iota(dtype, n + m)), num_keys=1)
  rank = _inverse(order, n + m, dtype)
  start = 0 if side == "left" else n
  rank = lax.slice_in_dim(rank, start, start + m)
  _, own = lax.sort((flat, lax.iota(dtype, m)), num_keys=1)
  return lax.reshape(lax.sub(rank, _inverse(own, m, dtype)), typeof(v).shape)


def _inverse(order: Any, n: int, dtype: Any) -> Any:
  """The inverse of a permutation."""
  return lax.scatter(
      lax.full((n,), 0, dtype), lax.reshape(order, (n, 1)), lax.iota(dtype, n),
      lax.ScatterDimensionNumbers((), (0,), (0,)), unique_indices=True,
      mode="promise_in_bounds")


@compiled(static=("right", "method"))
def digitize(x: Any, bins: Any, right: bool = False, *, method: str | None = None) -> Any:
  """The number of the bin to which each value belongs.

  Args:
    x: the values.
    bins: the bins' edges: one-dimensional, ascending or descending.
    right: whether bins contain their right edges instead of their left ones.
    method: as of `searchsorted`.

  Returns:
    Integers of the shape of `x`: 0 before the first edge, the number of edges after the
    last.

  >>> import gnomon.numpy as gnp
  >>> gnp.digitize(gnp.array([0.5, 1.0, 7.0]), gnp.array([1.0, 2.0, 3.0])).tolist()
  [0, 1, 3]

  Raises:
    ValueError: `bins` is not one-dimensional.
  """
  x, bins = arrays_of("digitize", x, bins)
  if typeof(bins).ndim != 1:
    raise ValueError(
        f"digitize: bins must be a 1-dimensional array, got shape {typeof(bins).shape}")
  x, bins = promote_dtypes(x, bins)
  n = typeof(bins).shape[0]
  how = method or "scan"
  _check_method("digitize", how)
  up = search(bins, x, "left" if right else "right", how)
  if n < 2:
    return up
  down = search(lax.rev(bins, (0,)), x, "left" if right else "right", how)
  down = lax.sub(scalar(n, typeof(down).dtype), down)
  first, last = [lax.index_in_dim(bins, i, keepdims=False) for i in (0, n - 1)]
  return select_n(lax.lt(last, first), up, down)
