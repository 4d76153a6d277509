"""Pseudo-inverses, ranks and condition numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon import custom_jvp, lax
from gnomon.core.structural import convert, reduce_sum, select_n
from gnomon.core.types import typeof
from gnomon.lax.linalg import _matrix
from gnomon.numpy._compiled import compiled
from gnomon.numpy._values import scalar, spread
from gnomon.numpy.linalg._arguments import eps, inexact, one_matrix
from gnomon.numpy.linalg._factors import svd, svdvals
from gnomon.numpy.linalg._norms import norm
from gnomon.numpy.linalg._systems import inv


def _check_one(name: str, rtol: Any, other: str, value: Any) -> None:
  if rtol is not None and value is not None:
    both = "tol or rtol" if other == "tol" else f"rtol and {other}"
    raise ValueError(f"{name}: only one of {both} may be specified.")


def _at_each(tolerance: Any, s: Any) -> Any:
  """A tolerance, one for all or one a matrix, at each singular value."""
  aval = typeof(s)
  (tolerance,) = inexact("matrix_rank", tolerance)
  tolerance = convert(tolerance, aval.dtype)
  own = typeof(tolerance)
  if own.ndim:
    tolerance = lax.expand_dims(tolerance, (own.ndim,))
  return spread("linalg.matrix_rank", tolerance, aval.shape)


def _bound(rtol: Any, s: Any) -> Any:
  """A tolerance times the largest singular value, at each singular value."""
  aval = typeof(s)
  first = lax.slice_in_dim(s, 0, 1, axis=aval.ndim - 1)
  return lax.mul(_at_each(rtol, s), spread("linalg", first, aval.shape))


def pinv(
    a: Any, rtol: Any = None, hermitian: bool = False, *, rcond: Any = None) -> Any:
  """Pseudo-inverses of matrices, by Moore and Penrose.

  Args:
    a: an array of shape `(..., m, n)`.
    rtol: singular values not above `rtol` times the largest one count as 0; a number, or
      one for each matrix. None stands for 10 times machine precision times `max(m, n)`.
    hermitian: says that `a` is Hermitian, which is faster.
    rcond: another name of `rtol`.

  Returns:
    An array of shape `(..., n, m)`.

  >>> import gnomon.numpy as gnp
  >>> gnp.linalg.pinv(gnp.array([[2.0, 0.0], [0.0, 0.0]])).tolist()
  [[0.5, 0.0], [0.0, 0.0]]

  Raises:
    ValueError: `a` has less than two axes; or both names of the tolerance are given.
    TypeError: `a` is no array, or of half precision.
  """
  _check_one("pinv", rtol, "rcond", rcond)
  return _pinv_of(a, rcond if rtol is None else rtol, bool(hermitian))


@compiled(static=("hermitian",))
def _pinv_of(a: Any, rtol: Any, hermitian: bool) -> Any:
  x = one_matrix("pinv", a, square=hermitian)
  *batch, m, n = typeof(x).shape
  if not typeof(x).size:
    return lax.full((*batch, n, m), 0, typeof(x).dtype)
  if rtol is None:
    rtol = 10.0 * max(m, n) * eps(x)
  return _pinv(x, rtol, hermitian)


def _pinv_value(x: Any, rtol: Any, hermitian: bool) -> Any:
  u, s, vh = svd(x, full_matrices=False, hermitian=hermitian)
  keep = lax.gt(s, _bound(rtol, s))
  inverse = _matrix.safe_divide(
      lax.full_like(s, 1), select_n(keep, lax.full_like(s, 0), s))
  uh = _matrix.adjoint(u)
  return _matrix.mm(
      _matrix.adjoint(vh), lax.mul(uh, _matrix.cast(_matrix.rows(inverse, uh), uh)))


_pinv = custom_jvp(_pinv_value, nondiff_argnums=(2,))


@_pinv.defjvp
def _(hermitian: bool, primals: Any, tangents: Any) -> Any:
  """`-p dx p + p p^H dx^H (1 - x p) + (1 - p x) dx^H p^H p`, where the rank stays.

  G. H. Golub, V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least
  squares problems whose variables separate", SIAM J. Numer. Anal. 10, 1973, theorem 4.3.
  """
  x, rtol = primals
  t = tangents[0]
  p = _pinv(x, rtol, hermitian)
  ph, th = _matrix.adjoint(p), _matrix.adjoint(t)
  mm = _matrix.mm
  out = lax.neg(mm(mm(p, t), p))
  first = mm(p, mm(ph, th))
  first = lax.sub(first, mm(mm(first, x), p))
  second = mm(mm(th, ph), p)
  second = lax.sub(second, mm(p, mm(x, second)))
  return p, lax.add(out, lax.add(first, second))


@compiled(static=("hermitian",))
def _rank_of(M: Any, rtol: Any, tol: Any, hermitian: bool) -> Any:
  (x,) = inexact("matrix_rank", M)
  if typeof(x).ndim < 2:
    some = lax.ne(x, scalar(0, typeof(x).dtype))
    some = lax.reduce_or(some, tuple(range(typeof(x).ndim)))
    return convert(some, np.dtype(np.int32))
  *batch, m, n = typeof(x).shape
  if not m or not n:
    return lax.full(tuple(batch), 0, np.int32)
  s = svd(x, full_matrices=False, compute_uv=False, hermitian=hermitian)
  if tol is not None:
    bound = _at_each(tol, s)
  else:
    bound = _bound(max(m, n) * eps(s) if rtol is None else rtol, s)
  above = convert(lax.gt(s, bound), np.dtype(np.int32))
  return reduce_sum(above, (typeof(s).ndim - 1,))


def matrix_rank(
    M: Any, rtol: Any = None, *, hermitian: bool = False, tol: Any = None) -> Any:
  """Ranks of matrices: the number of singular values that are not 0.

  Args:
    M: an array of shape `(..., m, n)`; of a vector or scalar, whether it is not 0.
    rtol: singular values not above `rtol` times the largest one count as 0; a number, or
      one for each matrix. None stands for machine precision times `max(m, n)`.
    hermitian: says that `M` is Hermitian, which is faster.
    tol: an absolute tolerance instead: singular values not above it count as 0.

  Returns:
    An array of shape `(...)`, int32.

  >>> import gnomon.numpy as gnp
  >>> gnp.linalg.matrix_rank(gnp.ones((3, 3))).item()
  1

  Raises:
    ValueError: both tolerances are given.
    TypeError: `M` is no array, or of half precision.
  """
  _check_one("matrix_rank", rtol, "tol", tol)
  return _rank_of(M, rtol, tol, bool(hermitian))


@compiled(static=("p",))
def cond(x: Any, p: float | str | None = None) -> Any:
  """Condition numbers of matrices: how much errors grow when equations are solved.

  Args:
    x: an array of shape `(..., m, n)`; square for other norms than 2 and -2.
    p: the norm of the matrix and its inverse, see `norm`; None stands for 2.

  Returns:
    An array of shape `(...)`; infinity for singular matrices.

  >>> import gnomon.numpy as gnp
  >>> gnp.linalg.cond(gnp.array([[2.0, 0.0], [0.0, 1.0]])).item()
  2.0

  Raises:
    ValueError: `x` has less than two axes or is empty, is not square, or `p` does not
      exist.
    TypeError: `x` is no array, or of half precision.
  """
  a = one_matrix("cond", x)
  shape = typeof(a).shape
  if 0 in shape[-2:]:
    raise ValueError(
        f"linalg.cond: the matrices must not be empty, got the shape {shape}")
  if p in (None, 2, -2):
    s = svdvals(a)
    last = typeof(s).ndim - 1
    top = lax.index_in_dim(s, 0, last, keepdims=False)
    low = lax.index_in_dim(s, typeof(s).shape[last] - 1, last, keepdims=False)
    out = lax.div(low, top) if p == -2 else lax.div(top, low)
  else:
    if shape[-1] != shape[-2]:
      raise ValueError(
          f"linalg.cond: for p={p} the matrices must be square, got the shape {shape}")
    axes = (len(shape) - 2, len(shape) - 1)
    out = lax.mul(norm(a, p, axes), norm(inv(a), p, axes))
  # Only a nan in the matrix makes a nan: 0 / 0 and 0 * inf belong to singular matrices.
  wrong = lax.reduce_or(lax.ne(a, a), (len(shape) - 2, len(shape) - 1))
  lost = lax.bitwise_and(lax.ne(out, out), lax.bitwise_not(wrong))
  return select_n(lost, out, lax.full_like(out, np.inf))
