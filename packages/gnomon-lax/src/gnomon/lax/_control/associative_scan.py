"""`associative_scan`: all prefixes of an associative operation, in parallel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gnomon.core.types import typeof
from gnomon.lax._arithmetic import add
from gnomon.lax._bitwise import or_p
from gnomon.lax._control.common import check_functions, flatten
from gnomon.lax._shape import concatenate, pad, rev
from gnomon.lax._slicing import slice_in_dim

Arrays = list[Any]
Combine = Callable[[Arrays, Arrays], Arrays]


def associative_scan(fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False,
                     axis: int = 0) -> Any:
  """Combines the slices of arrays with all slices before them, in logarithmic depth.

  The result at position i is `fn(fn(x[0], x[1]), …, x[i])`. Since `fn` is associative,
  it can be evaluated in any grouping: about `2 log2(n)` rounds, in each of which it is
  applied to many slices at once.

  Args:
    fn: an associative function `fn(a, b)` of two pytrees like `elems`, whose arrays may
      have any size along `axis` and are combined elementwise along it; it gives another
      such pytree.
    elems: a pytree of arrays of one size along `axis`.
    reverse: combine from the end to the beginning.
    axis: the axis along which to combine.

  Returns:
    A pytree like `elems`.

  >>> import numpy as np
  >>> from gnomon import lax
  >>> np.asarray(lax.associative_scan(lax.add, np.arange(4.))).tolist()
  [0.0, 1.0, 3.0, 6.0]

  Raises:
    TypeError: `fn` cannot be called.
    ValueError: `elems` holds no arrays, `axis` is out of range, the sizes along it
      differ, or `fn` gives another structure.
  """
  check_functions("associative_scan", fn=fn)
  leaves, tree = flatten(elems)
  if not leaves:
    raise ValueError("associative_scan needs at least one array in elems, got none")
  axis = _axis(leaves, axis)
  sizes = [typeof(x).shape[axis] for x in leaves]
  if len(set(sizes)) > 1:
    raise ValueError(
        "Array inputs to associative_scan must have the same size along the axis "
        f"{axis}; their shapes are {[typeof(x).shape for x in leaves]}")

  def combine(a: Arrays, b: Arrays) -> Arrays:
    found: Arrays
    found, out_tree = flatten(fn(tree.unflatten(a), tree.unflatten(b)))
    if out_tree != tree:
      raise ValueError(
          f"associative_scan: fn must return a pytree like elems, {tree}, but it "
          f"returned {out_tree}")
    return found

  if reverse:
    leaves = [rev(x, (axis,)) for x in leaves]
  leaves = _prefixes(combine, leaves, axis)
  if reverse:
    leaves = [rev(x, (axis,)) for x in leaves]
  return tree.unflatten(leaves)


def _axis(leaves: Arrays, axis: int) -> int:
  rank: int = typeof(leaves[0]).ndim
  for x in leaves:
    n = typeof(x).ndim
    if not -n <= axis < n:
      raise ValueError(
          f"associative_scan: axis {axis} is out of bounds for an array of shape "
          f"{typeof(x).shape}, which has {n} dimensions")
  return axis % rank


def _prefixes(combine: Combine, xs: Arrays, axis: int) -> Arrays:
  """Combines pairs, scans those, and fills in what lies between.

  The scan of the pairs gives all results at odd positions; one more round gives those at
  even positions.
  """
  n = typeof(xs[0]).shape[axis]
  if n < 2:
    return xs
  pairs = combine(
      [slice_in_dim(x, 0, n - 1, 2, axis) for x in xs],
      [slice_in_dim(x, 1, n, 2, axis) for x in xs])
  odd = _prefixes(combine, pairs, axis)
  before = odd if n % 2 else [slice_in_dim(x, 0, n // 2 - 1, 1, axis) for x in odd]
  even = [slice_in_dim(x, 0, 1, 1, axis) for x in xs]
  if n > 2:
    later = combine(before, [slice_in_dim(x, 2, n, 2, axis) for x in xs])
    even = [concatenate([x, y], axis) for x, y in zip(even, later)]
  return [_interleave(a, b, axis) for a, b in zip(even, odd)]


def _interleave(even: Any, odd: Any, axis: int) -> Any:
  """Puts arrays at even and odd positions, as a sum of padded ones."""
  a, b = typeof(even), typeof(odd)
  n, m = a.shape[axis], b.shape[axis]
  zero = np.zeros((), a.dtype)[()]
  config = [(0, 0, 0)] * a.ndim

  def spaced(x: Any, low: int, high: int) -> Any:
    return pad(x, zero, [*config[:axis], (low, high, 1), *config[axis + 1:]])

  first, second = spaced(even, 0, int(n == m)), spaced(odd, 1, int(n != m))
  if a.dtype == np.bool_:
    return or_p.apply(first, second)[0]
  return add(first, second)
