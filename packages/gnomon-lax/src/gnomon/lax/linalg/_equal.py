"""Which eigenvalues or singular values are equal; a basis that parts their vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.api.stopping import stop_gradient
from gnomon.core.structural import broadcast_in_dim, convert, full, reduce_sum, select_n
from gnomon.core.types import typeof
from gnomon.lax._arithmetic import add, mul, sub
from gnomon.lax._comparison import eq, gt, le
from gnomon.lax._complex import abs as modulus
from gnomon.lax._cumulative import cumsum
from gnomon.lax._reduction import reduce_max, reduce_or
from gnomon.lax._shape import concatenate
from gnomon.lax._slicing import slice_in_dim
from gnomon.lax.linalg._matrix import (
  cast,
  columns,
  eye,
  eye_mask,
  number,
  rows,
  symmetrized,
)

_INT32 = np.dtype(np.int32)
_MARGIN = 4


def groups(w: Any) -> Any:
  """The number of the group of equal values that each of sorted values is in, from 0.

  Neighbours are equal whose distance is within the error of LAPACK's eigenvalues, which
  is a small multiple of n times the rounding error of the largest.
  """
  w = stop_gradient(w)
  shape = typeof(w).shape
  axis, n = len(shape) - 1, shape[-1]
  first = full((*shape[:-1], min(n, 1)), 0, _INT32)
  if n < 2:
    return first
  error = _error(w)
  gaps = modulus(sub(
      slice_in_dim(w, 1, n, axis=axis), slice_in_dim(w, 0, n - 1, axis=axis)))
  apart = gt(gaps, rows(error, gaps))
  return concatenate([first, cumsum(convert(apart, _INT32), axis)], axis)


def vanishing(s: Any) -> Any:
  """Whether singular values are zero, within the error of LAPACK's."""
  s = stop_gradient(s)
  return le(s, rows(_error(s), s))


def _error(w: Any) -> Any:
  """The error of the values of each matrix."""
  shape = typeof(w).shape
  eps = float(np.finfo(typeof(w).dtype).eps)
  largest = reduce_max(modulus(w), (len(shape) - 1,))
  return mul(largest, number(w, _MARGIN * shape[-1] * eps))


def equal(group: Any) -> Any:
  """True between the members of a group: a square matrix."""
  square = full((*typeof(group).shape, typeof(group).shape[-1]), 0, _INT32)
  return eq(rows(group, square), columns(group, square))


def off_diagonal(mask: Any) -> Any:
  """A mask of square matrices without its diagonal."""
  shape = typeof(mask).shape
  n = len(shape)
  here = broadcast_in_dim(eye_mask(*shape[-2:]), shape, (n - 2, n - 1))
  return select_n(here, mask, full(shape, False, np.dtype(bool)))


def repeated(group: Any) -> Any:
  """Whether any group, of all stacks, has two members."""
  shape = typeof(group).shape
  axis, n = len(shape) - 1, shape[-1]
  same = eq(
      slice_in_dim(group, 1, n, axis=axis), slice_in_dim(group, 0, n - 1, axis=axis))
  return reduce_or(same, tuple(range(len(shape))))


def alone(group: Any) -> Any:
  """Whether each value is the only one of its group."""
  mask = convert(equal(group), _INT32)
  return eq(reduce_sum(mask, (typeof(mask).ndim - 1,)), np.int32(1))


def where(mask: Any, x: Any) -> Any:
  """Elements where a mask of the same shape holds, zero elsewhere."""
  return select_n(mask, full(typeof(x).shape, 0, typeof(x).dtype), x)


def elsewhere(mask: Any, x: Any) -> Any:
  """Elements where a mask of the same shape does not hold, zero where it does."""
  return select_n(mask, x, full(typeof(x).shape, 0, typeof(x).dtype))


def parting(inner: Any, group: Any, eigenvectors: Any) -> Any:
  """A unitary matrix that only mixes members of groups, and makes `inner` diagonal there.

  `eigenvectors(x)` gives those of Hermitian matrices. Constant in derivatives: any
  basis is as good where they exist.
  """
  inner, group = stop_gradient(inner), stop_gradient(group)
  mask = equal(group)
  x = where(mask, symmetrized(inner))
  n = typeof(x).ndim
  size = reduce_max(modulus(x), (n - 2, n - 1))
  # Steps of more than twice the norm: eigenvalues then come group by group.
  step = mul(rows(size, group), number(size, 4 * typeof(x).shape[-1]))
  level = mul(convert(group, typeof(step).dtype), step)
  ones = eye(typeof(x).shape, typeof(x).dtype)
  basis = where(mask, eigenvectors(add(x, mul(ones, cast(columns(level, x), x)))))
  return select_n(columns(alone(group), x), basis, ones)
