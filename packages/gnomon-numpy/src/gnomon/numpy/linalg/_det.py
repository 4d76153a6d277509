"""Determinants."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon import custom_jvp, lax
from gnomon.core.structural import convert, reduce_sum, select_n
from gnomon.core.types import typeof
from gnomon.lax.linalg import _matrix, _solve
from gnomon.numpy._compiled import compiled
from gnomon.numpy._values import scalar
from gnomon.numpy.linalg._arguments import eps, is_complex, one_matrix


class SlogdetResult(NamedTuple):
  """The determinant as its sign and the logarithm of its modulus."""

  sign: Any
  logabsdet: Any


@compiled()
def det(a: Any) -> Any:
  """Determinants of square matrices.

  The derivative, the matrix of cofactors, is right for singular matrices too.

  Args:
    a: an array of shape `(..., n, n)`; integers and booleans are converted to floats.

  Returns:
    An array of shape `(...)`.

  >>> import gnomon.numpy as gnp
  >>> gnp.linalg.det(gnp.array([[1.0, 2.0], [3.0, 4.0]])).item()
  -2.0

  Raises:
    ValueError: `a` has no square matrices.
    TypeError: `a` is no array, or of half precision.
  """
  x = one_matrix("det", a, square=True)
  n = typeof(x).shape[-1]
  if n in (2, 3):
    return _expanded(x, n)
  return _det(x)


def _expanded(x: Any, n: int) -> Any:
  """The sum of signed products, for two or three rows."""
  def at(i: int, j: int) -> Any:
    rank = typeof(x).ndim
    start, shape = [0] * (rank - 2) + [i, j], typeof(x).shape
    limit = [*shape[:-2], i + 1, j + 1]
    return lax.squeeze(lax.slice(x, start, limit), (rank - 2, rank - 1))

  def minor(i: int, j: int) -> Any:
    """Of the last two rows, without the other columns."""
    up, down = n - 2, n - 1
    return lax.sub(lax.mul(at(up, i), at(down, j)), lax.mul(at(up, j), at(down, i)))

  if n == 2:
    return minor(0, 1)
  first = lax.sub(lax.mul(at(0, 0), minor(1, 2)), lax.mul(at(0, 1), minor(0, 2)))
  return lax.add(first, lax.mul(at(0, 2), minor(0, 1)))


def _diagonal_and_sign(packed: Any, pivots: Any) -> tuple[Any, Any]:
  """The diagonal of u, and the sign of the permutation as a number."""
  diagonal = _matrix.diagonal(packed)
  return diagonal, _sign(pivots, typeof(diagonal).dtype)


def _sign(pivots: Any, dtype: Any) -> Any:
  aval = typeof(pivots)
  moved = lax.ne(pivots, lax.broadcasted_iota(aval.dtype, aval.shape, aval.ndim - 1))
  count = reduce_sum(convert(moved, aval.dtype), (aval.ndim - 1,))
  odd = lax.bitwise_and(count, np.int32(1))
  return lax.sub(scalar(1, dtype), lax.mul(scalar(2, dtype), convert(odd, dtype)))


@custom_jvp
def _det(x: Any) -> Any:
  packed, pivots, _ = lax.linalg.lu(x)
  diagonal, sign = _diagonal_and_sign(packed, pivots)
  return lax.mul(sign, lax.reduce_prod(diagonal, (typeof(diagonal).ndim - 1,)))


@_det.defjvp
def _(primals: Any, tangents: Any) -> Any:
  (x,), (t,) = primals, tangents
  n = typeof(x).ndim
  return _det(x), reduce_sum(lax.mul(_cofactors(x), t), (n - 2, n - 1))


@custom_jvp
def _cofactors(x: Any) -> Any:
  """The determinant times the transposed inverse.

  A pivot that is 0 is replaced by a tiny one, as if by rounding of the matrix: the
    cofactors,
  polynomials of its elements, hardly change. With two such pivots they are 0.
  """
  packed, pivots, permutation = lax.linalg.lu(x)
  diagonal, sign = _diagonal_and_sign(packed, pivots)
  rank = typeof(diagonal).ndim
  size = lax.abs(diagonal)
  reduction = lax.reduce_max if typeof(x).size else reduce_sum
  top = reduction(size, (rank - 1,))
  zero = lax.eq(size, scalar(0, typeof(size).dtype))
  tiny = convert(lax.mul(top, scalar(eps(size), typeof(size).dtype)), typeof(x).dtype)
  tiny = select_n(lax.eq(tiny, _zero(tiny)), tiny, lax.full_like(tiny, 1))
  filled = select_n(zero, diagonal, lax.broadcast_in_dim(
      tiny, typeof(diagonal).shape, tuple(range(rank - 1))))
  packed = _matrix.with_diagonal(packed, filled)
  product = lax.mul(sign, lax.reduce_prod(filled, (rank - 1,)))
  lost = reduce_sum(convert(zero, np.dtype(np.int32)), (rank - 1,))
  product = select_n(lax.gt(lost, np.int32(1)), product, lax.full_like(product, 0))
  one = _matrix.eye(typeof(x).shape, typeof(x).dtype)
  inverse = _matrix.flip(_solve.lu_solve(packed, permutation, one))
  product = lax.broadcast_in_dim(product, typeof(x).shape, tuple(range(rank - 1)))
  return lax.mul(product, inverse)


def _zero(x: Any) -> Any:
  return scalar(0, typeof(x).dtype)


@_cofactors.defjvp
def _(primals: Any, tangents: Any) -> Any:
  (x,), (t,) = primals, tangents
  diagonal = lax.abs(_matrix.diagonal(lax.linalg.lu(lax.stop_gradient(x))[0]))
  if not typeof(x).size:
    return _cofactors(x), _change_by_inverse(x, t)
  last = (typeof(diagonal).ndim - 1,)
  ratio = scalar(np.sqrt(eps(diagonal)), typeof(diagonal).dtype)
  bound = lax.mul(lax.reduce_max(diagonal, last), ratio)
  singular = lax.le(lax.reduce_min(diagonal, last), bound)
  singular = lax.reduce_or(singular, tuple(range(typeof(singular).ndim)))
  change = lax.cond(singular, _change_by_svd, _change_by_inverse, x, t)
  return _cofactors(x), change


def _change_by_inverse(x: Any, t: Any) -> Any:
  """Of the cofactors c = det(x) x^-T: dc = tr(x^-1 dx) c - c (x^-1 dx)^T."""
  c = _cofactors(x)
  inner = _solve.solve(x, t)
  rank = typeof(x).ndim
  trace = reduce_sum(_matrix.diagonal(inner), (rank - 2,))
  trace = lax.broadcast_in_dim(trace, typeof(x).shape, tuple(range(rank - 2)))
  return lax.sub(lax.mul(trace, c), _matrix.mm(c, _matrix.flip(inner)))


def _change_by_svd(x: Any, t: Any) -> Any:
  """The same for any matrix, by sums of products of singular values, without two of them.

  Those that are 0 are replaced by tiny ones, as if by rounding: no differences are
    formed.
  """
  u, s, vh = lax.linalg.svd(x)
  rank = typeof(x).ndim
  top = lax.stop_gradient(lax.slice_in_dim(s, 0, 1, axis=rank - 2))
  tiny = lax.max(lax.mul(top, scalar(eps(s), typeof(s).dtype)), lax.full_like(
      top, np.finfo(typeof(s).dtype).tiny))
  s = lax.max(s, lax.broadcast_in_dim(tiny, typeof(s).shape, tuple(range(rank - 1))))
  product = lax.reduce_prod(s, (rank - 2,))
  product = lax.broadcast_in_dim(product, typeof(x).shape, tuple(range(rank - 2)))
  products = lax.div(lax.div(product, _matrix.rows(s, x)), _matrix.columns(s, x))
  products = _matrix.with_diagonal(products, lax.full_like(s, 0))
  products = _matrix.cast(products, x)
  inner = _matrix.mm(_matrix.adjoint(u), _matrix.mm(t, _matrix.adjoint(vh)))
  diagonal = _matrix.diagonal(inner)
  traces = reduce_sum(lax.mul(products, _matrix.columns(diagonal, x)), (rank - 1,))
  moved = _matrix.with_diagonal(lax.neg(lax.mul(products, _matrix.flip(inner))), traces)
  sign = _det(_matrix.mm(u, vh))
  sign = lax.broadcast_in_dim(sign, typeof(x).shape, tuple(range(rank - 2)))
  conj = _matrix.conj_if_complex
  return lax.mul(sign, _matrix.mm(conj(u), _matrix.mm(moved, conj(vh))))


@compiled(static=("method",))
def slogdet(a: Any, *, method: str | None = None) -> SlogdetResult:
  """Sign and logarithm of the modulus of determinants: no overflow, no underflow.

  Args:
    a: an array of shape `(..., n, n)`; integers and booleans are converted to floats.
    method: 'lu' or 'qr', the decomposition by which it is computed; None for 'lu'.

  Returns:
    `SlogdetResult(sign, logabsdet)`: the determinant is `sign * exp(logabsdet)`. Of a
    singular matrix, 0 and minus infinity.

  >>> import gnomon.numpy as gnp
  >>> [float(x) for x in gnp.linalg.slogdet(-gnp.eye(3))]
  [-1.0, 0.0]

  Raises:
    ValueError: `a` has no square matrices, or the method does not exist.
    TypeError: `a` is no array, or of half precision.
  """
  if method not in (None, "lu", "qr"):
    raise ValueError(
        f"linalg.slogdet: unknown method {method!r}; expected 'lu', 'qr' or None")
  x = one_matrix("slogdet", a, square=True)
  return SlogdetResult(*(_slogdet_qr(x) if method == "qr" else _slogdet(x)))


def _parts(diagonal: Any, sign: Any) -> tuple[Any, Any]:
  """The sign and the logarithm of a product, times a sign."""
  last = (typeof(diagonal).ndim - 1,)
  signs = lax.reduce_prod(lax.sign(diagonal), last)
  return lax.mul(sign, signs), reduce_sum(lax.log(lax.abs(diagonal)), last)


@custom_jvp
def _slogdet(x: Any) -> tuple[Any, Any]:
  packed, pivots, _ = lax.linalg.lu(x)
  return _parts(*_diagonal_and_sign(packed, pivots))


def _slogdet_derivative(f: Any, primals: Any, tangents: Any) -> Any:
  (x,), (t,) = primals, tangents
  sign, log = f(x)
  n = typeof(x).ndim
  inverse = _solve.solve(x, _matrix.eye(typeof(x).shape, typeof(x).dtype))
  change = reduce_sum(lax.mul(_matrix.flip(inverse), t), (n - 2, n - 1))
  if not is_complex(x):
    return (sign, log), (lax.full_like(sign, 0), change)
  phase = lax.complex(lax.full_like(log, 0), lax.imag(change))
  return (sign, log), (lax.mul(phase, sign), lax.real(change))


_slogdet.defjvp(
    lambda primals, tangents: _slogdet_derivative(_slogdet, primals, tangents))


@custom_jvp
def _slogdet_qr(x: Any) -> tuple[Any, Any]:
  """The determinant of q is the product of those of its reflections."""
  packed, taus = lax.linalg.geqrf_p.apply(x)
  diagonal = _matrix.diagonal(packed)
  last = typeof(x).ndim - 2
  vectors = _matrix.tril(packed, -1)
  length = reduce_sum(_square(vectors), (last,))
  # A reflection 1 - tau v v^H has the determinant 1 - tau |v|^2.
  full_length = convert(lax.add(length, scalar(1, typeof(length).dtype)), typeof(x).dtype)
  factors = lax.sub(lax.full_like(taus, 1), lax.mul(taus, full_length))
  return _parts(diagonal, lax.sign(lax.reduce_prod(factors, (last,))))


def _square(x: Any) -> Any:
  if not is_complex(x):
    return lax.mul(x, x)
  return lax.add(
      lax.mul(lax.real(x), lax.real(x)), lax.mul(lax.imag(x), lax.imag(x)))


_slogdet_qr.defjvp(
    lambda primals, tangents: _slogdet_derivative(_slogdet_qr, primals, tangents))
