"""Eigenvalues of tridiagonal matrices, by bisection."""

from __future__ import annotations

from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import custom_jvp, lax
from gnomon.core.types import typeof
from gnomon.lax.linalg import _matrix
from gnomon.numpy._compiled import compiled
from gnomon.scipy.linalg._arguments import arrays


@compiled(static=("eigvals_only", "select", "select_range", "tol"))
def eigh_tridiagonal(
    d: Any, e: Any, *, eigvals_only: bool = False, select: str = "a",
    select_range: tuple[int, int] | None = None, tol: float | None = None,
    key: Any = None) -> Any:
  """Eigenvalues and eigenvectors of Hermitian, tridiagonal matrices.

  Eigenvalues alone are found by bisection, in memory for a few vectors. Eigenvectors come
  from `gnomon.lax.linalg.eigh` of the whole matrix. Derivatives are those of `eigh`.

  Args:
    d: an array of shape `(..., n)`: the diagonal, of which the real part is read.
    e: an array of shape `(..., n - 1)`: below the diagonal.
    eigvals_only: gives the eigenvalues alone.
    select: 'a' for all eigenvalues, 'i' for those in a range.
    select_range: `(first, last)`, the eigenvalues to give, both included, counted from
      the least one.
    tol: by how much eigenvalues may be wrong; None for the precision of the dtype.
      Without effect where there are eigenvectors.
    key: without effect: no random numbers are used.

  Returns:
    `(w, v)` or `w`: eigenvalues, real, from the least one; and eigenvectors, the columns
    of `v`, of length 1.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import linalg
  >>> d, e = gnp.array([2.0, 2.0]), gnp.array([1.0])
  >>> linalg.eigh_tridiagonal(d, e, eigvals_only=True).round(4).tolist()
  [1.0, 3.0]

  Raises:
    NotImplementedError: `select` is 'v', for which the number of results is not known.
    TypeError: an argument is no array, or the dtypes differ.
    ValueError: the shapes do not fit, or the range is none.
  """
  del key
  name = "linalg.eigh_tridiagonal"
  given = [gnp.asarray(x).dtype for x in (d, e)]
  if given[0] != given[1]:
    raise TypeError(
        f"{name}: diagonal and off-diagonal values must have same dtype, got {given[0]} "
        f"and {given[1]}")
  d, e = arrays("eigh_tridiagonal", d, e)
  _matrix.check_numbers(name, typeof(d), "d")
  if not d.ndim or e.shape != (*d.shape[:-1], max(d.shape[-1] - 1, 0)):
    raise ValueError(
        f"{name}: d and e must have the shapes (..., n) and (..., n - 1), got {d.shape} "
        f"and {e.shape}")
  first, last = _selected(name, d.shape[-1], select, select_range)
  if not eigvals_only:
    v, w = _eigh(gnp.real(d), e, first, last)
    return w, v
  return _bisected(first, last, tol, gnp.real(d), e)


def _selected(name: str, n: int, select: str, chosen: Any) -> tuple[int, int]:
  if select == "v":
    raise NotImplementedError(
        f"{name}: select='v' is not possible, since the number of results would depend "
        "on values; use select='i', or choose from all eigenvalues")
  if select not in ("a", "i"):
    raise ValueError(f"{name}: select must be 'a' or 'i', got {select!r}")
  if select == "a":
    return 0, n - 1
  if chosen is None or not 0 <= chosen[0] <= chosen[1] < n:
    raise ValueError(
        f"{name}: for select='i', select_range must be (first, last) with 0 <= first <= "
        f"last < {n}, got {chosen!r}")
  return int(chosen[0]), int(chosen[1])


def _eigh(d: Any, e: Any, first: int, last: int) -> tuple[Any, Any]:
  """Eigenvectors and eigenvalues, of whole matrices."""
  lead, n = d.shape[:-1], d.shape[-1]
  below = gnp.zeros((*lead, n, n), e.dtype)
  if n > 1:
    below = below.at[..., gnp.arange(1, n), gnp.arange(n - 1)].set(e)
  x = _matrix.with_diagonal(below + _matrix.adjoint(below), d.astype(e.dtype))
  return lax.linalg.eigh(x, subset_by_index=(first, last + 1))


def _bisected(first: int, last: int, tol: float | None, d: Any, e: Any) -> Any:
  @custom_jvp
  def values(d: Any, e: Any) -> Any:
    return _by_sturm(first, last, tol, d, gnp.abs(e))

  @values.defjvp
  def _(primals: tuple[Any, Any], tangents: tuple[Any, Any]) -> tuple[Any, Any]:
    """The eigenvectors' forms: dw = v^H da v."""
    d, e = primals
    v, _ = _eigh(d, e, first, last)
    squares = gnp.square(gnp.abs(v))
    beside = gnp.conj(v[..., 1:, :]) * v[..., :-1, :] * tangents[1][..., None]
    move = (squares * tangents[0][..., None]).sum(-2) + 2 * gnp.real(beside).sum(-2)
    return values(d, e), move

  return values(d, e)


def _by_sturm(first: int, last: int, tol: float | None, d: Any, e: Any) -> Any:
  """Halves intervals by how many eigenvalues lie below the middle.

  W. Kahan, "Accurate eigenvalues of a symmetric tri-diagonal matrix", Stanford University
  CS41, 1966.
  """
  if not d.size:
    return d
  lead = d.shape[:-1]
  none = gnp.zeros((*lead, 1), d.dtype)
  before = gnp.concatenate([none, e], -1)
  radius = before + gnp.concatenate([e, none], -1)
  info = np.finfo(d.dtype)
  low, high = (d - radius).min(-1), (d + radius).max(-1)
  size = gnp.maximum(gnp.abs(low), gnp.abs(high))
  slack = 2 * info.eps * size + info.tiny
  shape = (*lead, last + 1 - first)
  wanted = first + lax.broadcasted_iota(np.int32, shape, len(lead))
  low, high = (
      gnp.broadcast_to(x[..., None], shape) for x in (low - slack, high + slack))
  squares = gnp.square(before)
  # pivots less than this in modulus count as negative: no element moves by more than eps
  least = info.tiny * gnp.maximum(squares.max(-1), 1)[..., None]
  rows = [gnp.moveaxis(x, -1, 0)[..., None] for x in (d, squares)]

  def below(x: Any) -> Any:
    def row(state: Any, terms: Any) -> Any:
      pivot, count = state
      diagonal, square = terms
      pivot = diagonal - x - square / pivot
      pivot = gnp.where(gnp.abs(pivot) < least, -least, pivot)
      return (pivot, count + (pivot < 0).astype(np.int32)), None

    start = gnp.ones_like(x), gnp.zeros(x.shape, np.int32)
    return lax.scan(row, start, tuple(rows))[0][1]

  # Rounding moves the matrix by as much.
  within = gnp.maximum(tol or 0, info.eps * size[..., None])

  def wide(state: Any) -> Any:
    low, high = state
    middle = low + (high - low) / 2
    return ((high - low > within) & (low < middle) & (middle < high)).any()

  def halve(state: Any) -> Any:
    low, high = state
    middle = low + (high - low) / 2
    less = below(middle) <= wanted
    return gnp.where(less, middle, low), gnp.where(less, high, middle)

  low, high = lax.while_loop(wide, halve, (low, high))
  return low + (high - low) / 2
