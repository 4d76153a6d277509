"""Matrices whose elements repeat in a pattern, made from vectors."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_dtypes_inexact
from gnomon.numpy._values import arrays_of, is_kind
from gnomon.scipy.linalg._arguments import given


def _arrays(name: str, *args: Any) -> list[Any]:
  return arrays_of(name, *map(given, args))


def _vectors(name: str, *args: Any) -> list[Any]:
  """Arguments as stacks of vectors; a number is a vector of one element."""
  return [x if typeof(x).ndim else lax.reshape(x, (1,)) for x in _arrays(name, *args)]


def _together(*vectors: Any) -> list[Any]:
  """Stacks of vectors with one dtype and the same leading axes."""
  lead = np.broadcast_shapes(*(typeof(v).shape[:-1] for v in vectors))
  dtype = gnp.result_type(*vectors)
  return [
      gnp.broadcast_to(lax.convert_element_type(v, dtype), (*lead, typeof(v).shape[-1]))
      for v in vectors]


def _banded(values: Any, rows: int, columns: int, step: int) -> Any:
  """Matrices with `values[rows - 1 - i + j]` in row i, or `values[i + j]` for step 1."""
  i, j = gnp.arange(rows)[:, None], gnp.arange(columns)[None]
  places = (i if step > 0 else rows - 1 - i) + j
  return gnp.take(values, places, axis=-1, mode="clip")


@compiled()
def block_diag(*arrs: Any) -> Any:
  """A matrix with given matrices on its diagonal, and zeros elsewhere.

  Args:
    *arrs: arrays of at most two axes; a number or vector is a matrix of one row.

  Returns:
    A matrix whose sizes are the sums of theirs, of their common dtype.

  >>> from gnomon.scipy import linalg
  >>> linalg.block_diag([[1, 2]], 3).tolist()
  [[1, 2, 0], [0, 0, 3]]

  Raises:
    ValueError: an array has more than two axes.
  """
  blocks = [gnp.atleast_2d(x) for x in _arrays("linalg.block_diag", *arrs)]
  blocks = blocks or [gnp.zeros((1, 0))]
  for i, x in enumerate(blocks):
    if x.ndim != 2:
      raise ValueError(
          "linalg.block_diag: the arguments must be numbers, vectors or matrices, got "
          f"the shape {x.shape} at position {i}")
  dtype = gnp.result_type(*blocks)
  columns = sum(x.shape[1] for x in blocks)
  rows, before = [], 0
  zero = np.zeros((), dtype)
  for x in blocks:
    after = columns - before - x.shape[1]
    rows.append(lax.pad(
        x.astype(dtype), zero, ((0, 0, 0), (before, after, 0))))
    before += x.shape[1]
  return gnp.concatenate(rows)


@compiled()
def toeplitz(c: Any, r: Any = None) -> Any:
  """Matrices that are constant along each diagonal.

  Args:
    c: an array of shape `(..., m)`: the first column. A number is one of size 1.
    r: an array of shape `(..., n)`: the first row, of which element 0 is not read; by
      default the conjugate of the column, for a Hermitian matrix.

  Returns:
    An array of shape `(..., m, n)`.

  >>> from gnomon.scipy import linalg
  >>> linalg.toeplitz([1, 2, 3], [0, 4]).tolist()
  [[1, 4], [2, 1], [3, 2]]

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the leading axes do not broadcast.
  """
  if r is None:
    (c,) = _vectors("linalg.toeplitz", c)
    r = gnp.conj(c)
  else:
    c, r = _vectors("linalg.toeplitz", c, r)
  c, r = _together(c, r)
  m, n = c.shape[-1], r.shape[-1]
  if not m or not n:
    return gnp.zeros((*c.shape[:-1], m, n), c.dtype)
  return _banded(gnp.concatenate([c[..., ::-1], r[..., 1:]], -1), m, n, -1)


@compiled()
def hankel(c: Any, r: Any = None) -> Any:
  """Matrices that are constant along each antidiagonal.

  Args:
    c: an array of shape `(..., m)`: the first column.
    r: an array of shape `(..., n)`: the last row, of which element 0 is not read; zeros
      by default, as many as there are in the column.

  Returns:
    An array of shape `(..., m, n)`.

  >>> from gnomon.scipy import linalg
  >>> linalg.hankel([1, 2, 3], [0, 4]).tolist()
  [[1, 2], [2, 3], [3, 4]]

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the leading axes do not broadcast.
  """
  if r is None:
    (c,) = _vectors("linalg.hankel", c)
    r = gnp.zeros_like(c)
  else:
    c, r = _vectors("linalg.hankel", c, r)
  c, r = _together(c, r)
  m, n = c.shape[-1], r.shape[-1]
  if not m or not n:
    return gnp.zeros((*c.shape[:-1], m, n), c.dtype)
  return _banded(gnp.concatenate([c, r[..., 1:]], -1), m, n, 1)


@compiled()
def circulant(c: Any) -> Any:
  """Matrices whose columns are a vector, turned by one more place each.

  Args:
    c: an array of shape `(..., n)`: the first column.

  Returns:
    An array of shape `(..., n, n)`.

  >>> from gnomon.scipy import linalg
  >>> linalg.circulant([1, 2, 3]).tolist()
  [[1, 3, 2], [2, 1, 3], [3, 2, 1]]

  Raises:
    TypeError: `c` is no array and no number.
  """
  (c,) = _vectors("linalg.circulant", c)
  n = c.shape[-1]
  places = (gnp.arange(n)[:, None] - gnp.arange(n)[None]) % max(n, 1)
  return gnp.take(c, places, axis=-1, mode="clip") if n else gnp.zeros(
      (*c.shape, 0), c.dtype)


@compiled()
def companion(a: Any) -> Any:
  """Companion matrices: their characteristic polynomials are given.

  Args:
    a: an array of shape `(..., n)` of coefficients, that of the highest power first,
      which is not 0; n is at least 2.

  Returns:
    An array of shape `(..., n - 1, n - 1)`: its first row is `-a[1:] / a[0]`, and ones
    stand below the diagonal.

  >>> from gnomon.scipy import linalg
  >>> linalg.companion([2, 4, 6]).tolist()
  [[-2.0, -3.0], [1.0, 0.0]]

  Raises:
    TypeError: `a` is no array.
    ValueError: there are less than two coefficients.
  """
  (a,) = promote_dtypes_inexact(*_arrays("linalg.companion", a))
  n = a.shape[-1] if a.ndim else 0
  if n < 2:
    raise ValueError(
        "linalg.companion: the length of `a` along the last axis must be at least 2, got "
        f"the shape {a.shape}")
  places = np.eye(n - 1, k=-1, dtype=int)
  places[0] = 2 + np.arange(1, n)
  return _placed(places, -a / a[..., :1])


def _placed(places: Any, values: Any) -> Any:
  """Matrices with `values[k - 2]` where an integer k stands; for k of 0 and 1, these."""
  lead = values.shape[:-1]
  constants = gnp.broadcast_to(np.array([0, 1], values.dtype), (*lead, 2))
  return gnp.take(
      gnp.concatenate([constants, values], -1), places, axis=-1, mode="clip")


@compiled(static=("n", "mode"))
def convolution_matrix(a: Any, n: int, mode: str = "full") -> Any:
  """The matrix of the convolution with a vector.

  Args:
    a: an array of shape `(..., m)`.
    n: the size of the vectors to be convolved with `a`.
    mode: which part of the convolution: 'full', 'valid' or 'same', as in
      `gnomon.numpy.convolve`.

  Returns:
    An array of shape `(..., k, n)`: its product with v is `convolve(a, v, mode)`.

  >>> from gnomon.scipy import linalg
  >>> linalg.convolution_matrix([1, 2], 3).tolist()
  [[1, 0, 0], [2, 1, 0], [0, 2, 1], [0, 0, 2]]

  Raises:
    TypeError: `a` is no array.
    ValueError: `n` or the size of `a` is not positive, or the mode does not exist.
  """
  n = index(n)
  if n <= 0:
    raise ValueError(
        f"linalg.convolution_matrix: n must be a positive integer, got {n}")
  if mode not in ("full", "valid", "same"):
    raise ValueError(
        "linalg.convolution_matrix: mode must be one of 'full', 'valid' and 'same', got "
        f"{mode!r}")
  (a,) = _arrays("linalg.convolution_matrix", a)
  if a.ndim < 1:
    raise ValueError(
        "linalg.convolution_matrix: a must be at least 1-dimensional, got a number")
  m = a.shape[-1]
  if not m:
    raise ValueError(
        "linalg.convolution_matrix: len(a) must be at least 1, got the shape "
        f"{a.shape}")
  first, end = 0, m + n - 1
  if mode == "valid":
    first, end = min(m, n) - 1, max(m, n)
  elif mode == "same":
    first = (min(m, n) - 1) // 2
    end = first + max(m, n)
  pad = [(0, 0)] * (a.ndim - 1) + [(n - 1, n - 1)]
  values = gnp.pad(a, pad)[..., ::-1]
  return _banded(values, m + n - 1, n, -1)[..., first:end, :]


@compiled()
def fiedler(a: Any) -> Any:
  """Matrices of distances between numbers: `abs(a[i] - a[j])`.

  Args:
    a: an array of shape `(..., n)`.

  Returns:
    An array of shape `(..., n, n)`.

  >>> from gnomon.scipy import linalg
  >>> linalg.fiedler([1, 4, 9]).tolist()
  [[0, 3, 8], [3, 0, 5], [8, 5, 0]]

  Raises:
    TypeError: `a` is no array and no number.
  """
  (a,) = _vectors("linalg.fiedler", a)
  left, right = a[..., :, None], a[..., None, :]
  if is_kind(a, np.unsignedinteger):  # a negative difference would wrap around
    return gnp.maximum(left, right) - gnp.minimum(left, right)
  return gnp.abs(left - right)


@compiled()
def fiedler_companion(a: Any) -> Any:
  """Companion matrices with five diagonals.

  M. Fiedler, "A note on companion matrices", Linear Algebra Appl. 372, 2003.

  Args:
    a: an array of shape `(..., n)` of coefficients, that of the highest power first,
      which is not 0.

  Returns:
    An array of shape `(..., n - 1, n - 1)` with the characteristic polynomial `a / a[0]`.

  >>> from gnomon.scipy import linalg
  >>> linalg.fiedler_companion([1, 2, 3]).tolist()
  [[-2.0, -3.0], [1.0, 0.0]]

  Raises:
    TypeError: `a` is no array.
    ValueError: there is no coefficient.
  """
  name = "linalg.fiedler_companion"
  (a,) = promote_dtypes_inexact(*_arrays(name, a))
  if not a.ndim or not a.shape[-1]:
    raise ValueError(
        f"{name}: the length of `a` along the last axis must be nonzero, got the shape "
        f"{a.shape}")
  n = a.shape[-1] - 1
  places = np.zeros((n, n), int)
  for i in range(n):
    if i % 2 == 0:
      places[i, i + 1:i + 2] = i + 4
      places[i, i + 2:i + 3] = 1
      places[i, max(i - 1, 0)] = i + 3
    else:
      places[i, max(i - 2, 0)] = 1
  return _placed(places, -a / a[..., :1])


@compiled()
def leslie(f: Any, s: Any) -> Any:
  """Leslie's matrices: how a population of several ages goes on.

  Args:
    f: an array of shape `(..., n)`: the births, which become the first row; n is at
      least 2.
    s: an array of shape `(..., n - 1)`: who survives, which stands below the diagonal.

  Returns:
    An array of shape `(..., n, n)`, of the common dtype.

  >>> from gnomon.scipy import linalg
  >>> linalg.leslie([1, 2], [3]).tolist()
  [[1, 2], [3, 0]]

  Raises:
    TypeError: an argument is no array.
    ValueError: the sizes do not fit, or the leading axes do not broadcast.
  """
  name = "linalg.leslie"
  f, s = _vectors(name, f, s)
  n = f.shape[-1]
  if n < 2:
    raise ValueError(
        f"{name}: the length of f along the last axis must be at least 2, got the shape "
        f"{f.shape}")
  if s.shape[-1] != n - 1:
    raise ValueError(
        f"{name}: Incorrect lengths for f and s: s must have one element less than f, "
        f"got the shapes {f.shape} and {s.shape}")
  f, s = _together(f, s)
  places = np.zeros((n, n), int)
  places[0] = 2 + np.arange(n)
  places[np.arange(1, n), np.arange(n - 1)] = 2 + n + np.arange(n - 1)
  return _placed(places, gnp.concatenate([f, s], -1))
