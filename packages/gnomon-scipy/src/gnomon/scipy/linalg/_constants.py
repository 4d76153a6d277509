"""Matrices that are made from their size alone."""

from __future__ import annotations

import math
from operator import index
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon.core import dtypes


def _real(values: Any) -> Any:
  """Numbers in the default floating-point dtype, rounded once."""
  with np.errstate(over="ignore"):  # to infinity
    return gnp.asarray(np.asarray(values).astype(dtypes.canonicalize_dtype(float)))


def _size(name: str, n: Any) -> int:
  if not hasattr(n, "__index__"):
    raise TypeError(f"linalg.{name}: n must be an integer, got {n!r}")
  return index(n)


def hilbert(n: int) -> Any:
  """Hilbert's matrix, with `1 / (i + j + 1)` in row i and column j.

  Args:
    n: the number of rows.

  >>> from gnomon.scipy import linalg
  >>> linalg.hilbert(2).round(3).tolist()
  [[1.0, 0.5], [0.5, 0.3330000042915344]]

  Raises:
    TypeError: n is no integer.
  """
  n = _size("hilbert", n)
  places = gnp.arange(n, dtype=float)
  return 1 / (places[:, None] + places[None] + 1)


def invhilbert(n: int) -> Any:
  """The inverse of Hilbert's matrix, whose elements are integers.

  Args:
    n: the number of rows.

  Returns:
    An array of floating-point numbers, each the one next to the integer.

  >>> from gnomon.scipy import linalg
  >>> linalg.invhilbert(2).tolist()
  [[4.0, -6.0], [-6.0, 12.0]]

  Raises:
    TypeError: n is no integer.
  """
  n = _size("invhilbert", n)

  # M.-D. Choi, "Tricks or treats with the Hilbert matrix", Amer. Math. Monthly 90, 1983
  def element(i: int, j: int) -> int:
    binomials: int = (
        math.comb(n + i, n - j - 1) * math.comb(n + j, n - i - 1)
        * math.comb(i + j, i) ** 2)
    return (1 - 2 * ((i + j) % 2)) * (i + j + 1) * binomials

  return _real(_table(element, n))


def _table(element: Any, n: int) -> Any:
  """A matrix of integers of any size, as doubles."""
  rows = [[_double(element(i, j)) for j in range(n)] for i in range(n)]
  return np.array(rows).reshape(max(n, 0), max(n, 0))


def _double(k: int) -> float:
  try:
    return float(k)
  except OverflowError:
    return math.inf if k > 0 else -math.inf


def pascal(n: int, kind: str | None = None) -> Any:
  """Pascal's triangle in a matrix.

  Args:
    n: the number of rows.
    kind: 'symmetric', also None: `comb(i + j, i)` stands in row i and column j; 'lower':
      `comb(i, j)`; 'upper': the transpose of that.

  Returns:
    An array of floating-point numbers.

  >>> from gnomon.scipy import linalg
  >>> linalg.pascal(3).tolist()
  [[1.0, 1.0, 1.0], [1.0, 2.0, 3.0], [1.0, 3.0, 6.0]]

  Raises:
    TypeError: n is no integer.
    ValueError: the kind does not exist.
  """
  n, kind = _size("pascal", n), _kind("pascal", kind)
  if kind == "symmetric":
    return _real(_table(lambda i, j: math.comb(i + j, i), n))
  lower = _table(math.comb, n)
  return _real(lower if kind == "lower" else lower.T)


def _kind(name: str, kind: str | None) -> str:
  if kind not in (None, "symmetric", "lower", "upper"):
    raise ValueError(
        f"linalg.{name}: Expected kind to be one of 'symmetric', 'lower', 'upper' and "
        f"None, got {kind!r}")
  return kind or "symmetric"


def invpascal(n: int, kind: str | None = None) -> Any:
  """The inverse of the matrix that `pascal` makes, whose elements are integers.

  Args:
    n: the number of rows.
    kind: as for `pascal`.

  Returns:
    An array of floating-point numbers, each the one next to the integer.

  >>> from gnomon.scipy import linalg
  >>> linalg.invpascal(3).tolist()
  [[3.0, -3.0, 1.0], [-3.0, 5.0, -2.0], [1.0, -2.0, 1.0]]

  Raises:
    TypeError: n is no integer.
    ValueError: the kind does not exist.
  """
  n, kind = _size("invpascal", n), _kind("invpascal", kind)
  if kind == "symmetric":
    return _real(_table(
        lambda i, j: (-1) ** (i + j) * sum(
            math.comb(k, i) * math.comb(k, j) for k in range(max(i, j), n)), n))
  lower = _table(lambda i, j: (-1) ** (i + j) * math.comb(i, j), n)
  return _real(lower if kind == "lower" else lower.T)


def hadamard(n: int, dtype: Any = int) -> Any:
  """Hadamard's matrix of 1 and -1 with orthogonal rows, by Sylvester's construction.

  Args:
    n: the number of rows, a power of 2.
    dtype: of the result.

  >>> from gnomon.scipy import linalg
  >>> linalg.hadamard(2).tolist()
  [[1, 1], [1, -1]]

  Raises:
    TypeError: n is no integer.
    ValueError: n is not a power of 2.
  """
  n = _size("hadamard", n)
  if n < 1 or n & (n - 1):
    raise ValueError(f"linalg.hadamard: n must be a positive power of 2, got {n}")
  dtype = dtypes.check_user_dtype_supported(dtype, "linalg.hadamard", stacklevel=3)
  out = np.ones((1, 1), int)
  while len(out) < n:
    out = np.block([[out, out], [out, -out]])
  return gnp.asarray(out.astype(dtype))


def helmert(n: int, full: bool = False) -> Any:
  """Helmert's matrix: rows that compare an element with the mean of those before it.

  Args:
    n: the number of columns.
    full: adds a first row of equal numbers, which makes the matrix orthogonal.

  Returns:
    An array of shape `(n - 1, n)`, or `(n, n)` if `full`.

  >>> from gnomon.scipy import linalg
  >>> linalg.helmert(2).round(3).tolist()
  [[0.7070000171661377, -0.7070000171661377]]

  Raises:
    TypeError: n is no integer.
    ValueError: n is not positive.
  """
  n = _size("helmert", n)
  if n < 1:
    raise ValueError(f"linalg.helmert: n must be a positive integer, got {n}")
  k = np.arange(1.0, n)[:, None]
  rows = (np.tril(np.ones((n - 1, n))) - np.eye(n - 1, n, 1) * k) / np.sqrt(k * (k + 1))
  return _real(np.vstack([np.full((1, n), n ** -0.5), rows]) if full else rows)


def dft(n: int, scale: str | None = None, *, dtype: Any = None) -> Any:
  """The matrix of the discrete Fourier transform.

  Args:
    n: the number of rows.
    scale: None; or 'sqrtn' or 'n', by which the matrix is divided.
    dtype: of the result, complex; by default the wider one that is enabled.

  Returns:
    A matrix, whose product with a vector is its `gnomon.numpy.fft.fft`.

  >>> from gnomon.scipy import linalg
  >>> linalg.dft(2).real.tolist()
  [[1.0, 1.0], [1.0, -1.0]]

  Raises:
    TypeError: n is no integer.
    ValueError: the scale does not exist, or the dtype is not complex.
  """
  n = _size("dft", n)
  if scale not in (None, "sqrtn", "n"):
    raise ValueError(
        f"linalg.dft: scale must be None, 'sqrtn' or 'n', got {scale!r}")
  dtype = dtypes.check_user_dtype_supported(
      complex if dtype is None else dtype, "linalg.dft", stacklevel=3)
  dtype = dtypes.canonicalize_dtype(dtype)
  if not dtypes.issubdtype(dtype, np.complexfloating):
    raise ValueError(f"linalg.dft: dtype must be complex, got {dtype}")
  places = np.arange(n)
  # Angles of less than a turn, so that they are exact for large n too.
  turns = (places[:, None] * places) % max(n, 1) / max(n, 1)
  over = {None: 1.0, "sqrtn": math.sqrt(max(n, 1)), "n": max(n, 1)}[scale]
  return gnp.asarray((np.exp(-2j * np.pi * turns) / over).astype(dtype))
