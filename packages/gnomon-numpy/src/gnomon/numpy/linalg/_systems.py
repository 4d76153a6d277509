"""Systems of equations, inverses, powers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.types import typeof
from gnomon.lax.linalg import _matrix, _solve
from gnomon.numpy._compiled import compiled
from gnomon.numpy._products import matmul
from gnomon.numpy._promotion import broadcast_shapes, canonical_axes
from gnomon.numpy._values import one_array, spread
from gnomon.numpy.linalg._arguments import inexact, one_matrix


@compiled()
def solve(a: Any, b: Any) -> Any:
  """Solves `a x = b` for square matrices.

  Args:
    a: an array of shape `(..., n, n)`.
    b: a vector of shape `(n,)`; or an array of shape `(..., n, k)`, whose leading axes
      broadcast with those of `a`.

  Returns:
    The solution, of the shape of `b` with the leading axes of both.

  >>> import gnomon.numpy as gnp
  >>> a = gnp.array([[2.0, 0.0], [0.0, 4.0]])
  >>> gnp.linalg.solve(a, gnp.array([2.0, 2.0])).tolist()
  [1.0, 0.5]

  Raises:
    ValueError: the shapes do not fit.
    TypeError: an argument is no array, or of half precision.
  """
  a, b = inexact("solve", a, b)
  x, y = typeof(a), typeof(b)
  _matrix.check_matrices("linalg.solve", x, square=True, argument="a")
  n = x.shape[-1]
  if y.ndim < 1 or y.shape[max(y.ndim - 2, 0)] != n:
    raise ValueError(
        f"linalg.solve: for an a of shape {x.shape}, b must be a vector of shape ({n},) "
        f"or matrices of shape (..., {n}, k), got {y.shape}; a stack of vectors is "
        "solved by solve(a, b[..., None])[..., 0]")
  if y.ndim == 1:
    if x.ndim == 2:
      return _solve.solve_vector(a, b)
    b = lax.broadcast_in_dim(b, (*x.shape[:-1], 1), (x.ndim - 2,))
    return lax.squeeze(_solve.solve(a, b), (x.ndim - 1,))
  if x.ndim == 2:
    return _solve.solve(a, b)
  lead = broadcast_shapes("linalg.solve", x.shape[:-2], y.shape[:-2])
  return _solve.solve(
      spread("linalg.solve", a, (*lead, n, n)),
      spread("linalg.solve", b, (*lead, *y.shape[-2:])))


@compiled()
def inv(a: Any) -> Any:
  """Inverses of square matrices.

  To solve equations, `solve` is faster and more exact.

  Args:
    a: an array of shape `(..., n, n)`; integers and booleans are converted to floats.

  Returns:
    An array of the shape of `a`; of a singular matrix, infinities and nan.

  >>> import gnomon.numpy as gnp
  >>> gnp.linalg.inv(gnp.array([[2.0, 0.0], [0.0, 4.0]])).tolist()
  [[0.5, 0.0], [0.0, 0.25]]

  Raises:
    ValueError: `a` has no square matrices.
    TypeError: `a` is no array, or of half precision.
  """
  x = one_matrix("inv", a, square=True)
  return _solve.solve(x, _matrix.eye(typeof(x).shape, typeof(x).dtype))


@compiled(static=("n",))
def matrix_power(a: Any, n: int) -> Any:
  """Powers of square matrices with an integer exponent.

  Args:
    a: an array of shape `(..., m, m)`.
    n: the exponent; if it is negative, the inverse is taken first.

  >>> import gnomon.numpy as gnp
  >>> gnp.linalg.matrix_power(gnp.array([[1, 1], [0, 1]]), 5).tolist()
  [[1, 5], [0, 1]]

  Raises:
    TypeError: the exponent is no integer, or `a` no array.
    ValueError: `a` has no square matrices.
  """
  x = one_array("linalg.matrix_power", a)
  aval = typeof(x)
  if not hasattr(n, "__index__"):
    raise TypeError(f"linalg.matrix_power: the exponent must be an integer, got {n!r}")
  n = index(n)
  if aval.ndim < 2 or aval.shape[-1] != aval.shape[-2]:
    raise ValueError(
        f"linalg.matrix_power: the argument a must be a square matrix, or a stack "
        f"(..., m, m) of them, got {aval}")
  if n == 0:
    return _matrix.eye(aval.shape, aval.dtype)
  if n < 0:
    x, n = inv(x), -n
  out = None
  while True:
    if n & 1:
      out = x if out is None else matmul(out, x)
    n >>= 1
    if not n:
      return out
    x = matmul(x, x)


@compiled(static=("ind",))
def tensorinv(a: Any, ind: int = 2) -> Any:
  """The inverse of an array as a linear map between arrays.

  Args:
    a: an array; the product of its first `ind` sizes is that of the others.
    ind: how many of the axes count rows, at least 1.

  Returns:
    An array of shape `a.shape[ind:] + a.shape[:ind]`: contracting it with an array over
    the latter axes undoes `tensordot(a, x, a.ndim - ind)`.

  >>> import gnomon.numpy as gnp
  >>> a = 2 * gnp.eye(6).reshape(6, 2, 3)
  >>> gnp.linalg.tensorinv(a, ind=1).shape
  (2, 3, 6)

  Raises:
    ValueError: `ind` is not positive, or the products of sizes differ.
    TypeError: `a` is no array, or of half precision.
  """
  (x,) = inexact("tensorinv", a)
  shape = typeof(x).shape
  ind = index(ind)
  if ind <= 0:
    raise ValueError(f"linalg.tensorinv: ind must be positive, got {ind}")
  rows, columns = math.prod(shape[:ind]), math.prod(shape[ind:])
  if rows != columns:
    raise ValueError(
        "linalg.tensorinv: the product of the first ind sizes must be that of the "
        f"others, got the shape {shape} with ind={ind}")
  out = inv(lax.reshape(x, (rows, columns)))
  return lax.reshape(out, (*shape[ind:], *shape[:ind]))


@compiled(static=("axes",))
def tensorsolve(a: Any, b: Any, axes: Sequence[int] | None = None) -> Any:
  """Solves `tensordot(a, x, x.ndim) == b` for the array x.

  Args:
    a: an array of shape `b.shape + s`, where the product of `s` is the size of `b`.
    b: an array.
    axes: axes of `a` to move to its end first.

  Returns:
    An array of shape `s`.

  >>> import gnomon.numpy as gnp
  >>> a = 2 * gnp.eye(6).reshape(6, 2, 3)
  >>> gnp.linalg.tensorsolve(a, gnp.ones(6)).tolist()
  [[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]]

  Raises:
    ValueError: the shapes do not fit.
    TypeError: an argument is no array, or of half precision.
  """
  x, y = inexact("tensorsolve", a, b)
  if axes is not None:
    moved = canonical_axes(axes, typeof(x).ndim, "linalg.tensorsolve")
    x = lax.transpose(x, (*[d for d in range(typeof(x).ndim) if d not in moved], *moved))
  shape, wanted = typeof(x).shape, typeof(y).shape
  size = typeof(y).size
  rest = shape[len(wanted):]
  if shape[:len(wanted)] != wanted or math.prod(rest) != size:
    raise ValueError(
        "linalg.tensorsolve: the first axes of a (after those in axes were moved to the "
        "end) must be those of b, and the product of the others must be the size of b: "
        f"got the shapes {shape} and {wanted}")
  out = _solve.solve_vector(lax.reshape(x, (size, size)), lax.reshape(y, (size,)))
  return lax.reshape(out, rest)


@compiled(static=("rcond",))
def _lstsq(a: Any, b: Any, rcond: Any) -> tuple[Any, Any, Any, Any]:
  a, b = inexact("lstsq", a, b)
  x, y = typeof(a), typeof(b)
  _matrix.check_matrices("linalg.lstsq", x, argument="a")
  if x.ndim != 2 or y.ndim not in (1, 2) or y.shape[0] != x.shape[0]:
    raise ValueError(
        "linalg.lstsq: a must be a matrix of shape (m, n), and b a vector of shape (m,) "
        f"or a matrix of shape (m, k), got {x.shape} and {y.shape}; for stacks of them "
        "use vmap")
  m, n = x.shape
  if y.ndim == 1:
    b = lax.reshape(b, (m, 1))
  k = typeof(b).shape[1]
  dtype = _matrix.real_dtype(x.dtype)
  if not x.size:
    s, rank = lax.full((0,), 0, dtype), lax.full((), 0, np.int32)
    out = lax.full((n, k), 0, x.dtype)
  else:
    u, s, vh = lax.linalg.svd(a, full_matrices=False)
    keep = _large(s, rcond, max(m, n))
    rank = lax.reduce_sum(lax.convert_element_type(keep, np.int32), (0,))
    zero = lax.full_like(s, 0)
    safe = lax.select_n(keep, lax.full_like(s, 1), s)
    inverse = lax.select_n(keep, zero, lax.div(lax.full_like(s, 1), safe))
    part = _matrix.mm(_matrix.adjoint(u), b)
    part = lax.mul(part, _matrix.cast(_matrix.rows(inverse, part), part))
    out = _matrix.mm(_matrix.adjoint(vh), part)
  resid = _squares(lax.sub(b, _matrix.mm(a, out)))
  if y.ndim == 1:
    out = lax.reshape(out, (n,))
  return out, resid, rank, s


def _large(s: Any, rcond: Any, size: int) -> Any:
  """Which singular values count as not 0."""
  dtype = typeof(s).dtype
  precision = float(np.finfo(dtype).eps)
  if rcond is None:
    rcond = precision * size
  elif rcond < 0:
    rcond = precision
  first = lax.squeeze(lax.slice(s, (0,), (1,)), (0,))
  bound = lax.mul(first, np.asarray(rcond, dtype)[()])
  bound = lax.broadcast_in_dim(bound, typeof(s).shape, ())
  return lax.bitwise_and(lax.gt(s, np.asarray(0, dtype)[()]), lax.ge(s, bound))


def _squares(x: Any) -> Any:
  """The sum of squared moduli of each column."""
  if dtypes.issubdtype(typeof(x).dtype, np.complexfloating):
    re, im = lax.real(x), lax.imag(x)
    return lax.reduce_sum(lax.add(lax.mul(re, re), lax.mul(im, im)), (0,))
  return lax.reduce_sum(lax.mul(x, x), (0,))


def lstsq(a: Any, b: Any, rcond: float | None = None, *,
          numpy_resid: bool = False) -> tuple[Any, Any, Any, Any]:
  """Solves `a x = b` as well as possible: with the least sum of squared errors.

  Of several such solutions it is the shortest one.

  Args:
    a: a matrix of shape `(m, n)`.
    b: a vector of shape `(m,)`, or a matrix of shape `(m, k)`.
    rcond: singular values less than `rcond` times the largest one count as 0; None stands
      for machine precision times `max(m, n)`, a negative number for machine precision.
    numpy_resid: gives no sums of squared errors where NumPy does not: if `a` has not rank
      n, or if it has not more rows than columns. Then the shape of a result depends on
      values, and the function cannot be compiled.

  Returns:
    `(x, residuals, rank, s)`: the solution, the sums of squared errors, of shape `(1,)`
    or `(k,)`, the rank, and the singular values of `a`.

  >>> import gnomon.numpy as gnp
  >>> a = gnp.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
  >>> x = gnp.linalg.lstsq(a, gnp.array([1.0, 3.0, 5.0]))[0]
  >>> gnp.round(x, 4).tolist()
  [1.0, 2.0]

  Raises:
    ValueError: the shapes do not fit.
    TypeError: an argument is no array, or of half precision.
  """
  out, resid, rank, s = _lstsq(a, b, rcond)
  if numpy_resid:
    m, n = typeof(a).shape
    if m <= n or int(rank) != n:
      resid = lax.full((0,), 0, typeof(resid).dtype)
  return out, resid, rank, s
