"""Polar decomposition by dynamically weighted iterations."""

from __future__ import annotations

import math
from operator import index
from typing import Any

import numpy as np

from gnomon.api.custom import custom_jvp
from gnomon.api.stopping import stop_gradient
from gnomon.core.structural import broadcast_in_dim, convert, reduce_sum
from gnomon.core.types import typeof
from gnomon.lax._arithmetic import add, div, mul, sub
from gnomon.lax._bitwise import bitwise_and, bitwise_or
from gnomon.lax._comparison import ge, gt, le, lt
from gnomon.lax._complex import abs as modulus
from gnomon.lax._control.cond import cond
from gnomon.lax._control.while_ import while_loop
from gnomon.lax._creation import broadcasted_iota
from gnomon.lax._dynamic import dynamic_index_in_dim
from gnomon.lax._power import sqrt
from gnomon.lax._reduction import reduce_max
from gnomon.lax._shape import concatenate
from gnomon.lax.linalg._cholesky import cholesky
from gnomon.lax.linalg._eigh import eigh
from gnomon.lax.linalg._matrix import (
    adjoint,
    cast,
    check_matrices,
    columns,
    eye,
    masked,
    mm,
    number,
    real_dtype,
    rows,
    safe_divide,
    symmetrized,
)
from gnomon.lax.linalg._parts import bottom_rows, top_rows
from gnomon.lax.linalg._qr import qr
from gnomon.lax.linalg._triangular import triangular_solve

_MOST_STEPS = 10  # six are enough for double precision, from any matrix of full rank
_LARGE_WEIGHT = 100.0  # beyond it, only the step by a QR decomposition is stable


def qdwh(
    x: Any, *, is_hermitian: bool = False, max_iterations: int | None = None,
    eps: float | None = None, dynamic_shape: tuple[Any, Any] | None = None,
) -> tuple[Any, Any, Any, Any]:
  """Polar decomposition: `x = u h`, `u` with orthonormal columns, `h` Hermitian.

  Args:
    x: a matrix of full rank, of shape `(m, n)` with `m >= n`.
    is_hermitian: says that `x` is Hermitian; nothing depends on it.
    max_iterations: how many steps to do at most; None for 10.
    eps: steps end when one changes `u` by less than `(4 eps) ** (1 / 3)` times its size;
      None for the precision of the dtype.
    dynamic_shape: the shape `(m, n)` of the part of `x` that is meant, at its upper left;
      its sizes may be traced. The rest of `u` and `h` is 0.

  Returns:
    `(u, h, num_iters, is_converged)`: `h` is positive semidefinite; the number of steps,
    and whether they ended before there were too many.

  >>> from gnomon import lax
  >>> import numpy as np
  >>> u, h, num_iters, is_converged = lax.linalg.qdwh(np.float32([[0, -2], [3, 0]]))
  >>> np.round(u, 4).tolist()
  [[0.0, -1.0], [1.0, 0.0]]

  Raises:
    TypeError: the dtype is none of float32, float64, complex64, complex128.
    ValueError: `x` is no matrix, or has less rows than columns.
  """
  aval = typeof(x)
  check_matrices("qdwh", aval)
  if aval.ndim != 2 or aval.shape[0] < aval.shape[1]:
    raise ValueError(
        f"qdwh: x must be one matrix of shape (m, n) with m >= n, got {aval}; of a wider "
        "one take the conjugate transpose, for stacks use vmap")
  if dynamic_shape is not None:
    x = _part(x, dynamic_shape)
  dtype = real_dtype(aval.dtype)
  eps = float(np.finfo(dtype).eps) if eps is None else float(eps)
  most = _MOST_STEPS if max_iterations is None else index(max_iterations)
  u, steps, converged = _iterated(stop_gradient(x), eps, most)
  h = symmetrized(mm(adjoint(u), stop_gradient(x)))
  u, h = _polar(x, u, h)
  return u, h, steps, converged


def _part(x: Any, shape: tuple[Any, Any]) -> Any:
  """The upper left part of a matrix, zero elsewhere."""
  inside = [
      lt(broadcasted_iota(np.dtype(np.int32), typeof(x).shape, d), convert(
          size, np.dtype(np.int32))) for d, size in enumerate(shape)]
  return masked(bitwise_and(*inside), x)


def _iterated(x: Any, eps: float, most: int) -> tuple[Any, Any, Any]:
  """The orthogonal factor, the number of steps, and whether they converged."""
  dtype = real_dtype(typeof(x).dtype)
  if not typeof(x).size:
    return x, np.int32(0), np.bool_(True)
  size = modulus(x)
  length = mul(*(reduce_max(reduce_sum(size, (d,)), (0,)) for d in (0, 1)))
  scale = sqrt(length)
  scale = broadcast_in_dim(cast(scale, x), typeof(x).shape, ())
  x = safe_divide(x, scale)
  table, least = _weights(float(np.finfo(dtype).eps), max(most, _MOST_STEPS))
  weights = table.astype(dtype)
  tolerance = (4 * eps) ** (1 / 3)

  def unfinished(carry: Any) -> Any:
    i, _, change = carry
    # The first steps hardly move what has no small singular values.
    moving = bitwise_or(
        lt(i, np.int32(least)), gt(change, np.asarray(tolerance, dtype)[()]))
    return bitwise_and(lt(i, np.int32(most)), moving)

  def step(carry: Any) -> Any:
    i, u, _ = carry
    a, b, c = (
        dynamic_index_in_dim(weights[:, j], i, keepdims=False) for j in range(3))
    new = cond(gt(c, number(c, _LARGE_WEIGHT)), _by_qr, _by_cholesky, u, a, b, c)
    return add(i, np.int32(1)), new, div(_length(sub(new, u)), _length(new))

  start = (np.int32(0), x, np.asarray(np.inf, dtype)[()])
  steps, u, change = while_loop(unfinished, step, start)
  # One step of Newton and Schulz makes up for the rounding of the others.
  u = sub(mul(u, number(u, 1.5)), mul(mm(u, mm(adjoint(u), u)), number(u, 0.5)))
  settled = le(change, np.asarray(tolerance, dtype)[()])
  return u, steps, bitwise_and(settled, ge(steps, np.int32(least)))


def _length(x: Any) -> Any:
  size = modulus(x)
  return sqrt(reduce_sum(mul(size, size), (0, 1)))


def _weights(low: float, n: int) -> tuple[np.ndarray[Any, Any], int]:
  """The weights a, b, c of each step, for singular values between `low` and 1.

  Also, after how many steps all of these are near 1.

  Y. Nakatsukasa, Z. Bai, F. Gygi, "Optimizing Halley's iteration for computing the matrix
  polar decomposition", SIAM J. Matrix Anal. Appl. 31, 2010, section 3.
  """
  out, least = [], 0
  for _ in range(n):
    least += low < 0.99
    square = low * low
    d = max(4 * (1 - square) / (square * square), 0.0) ** (1 / 3)
    root = math.sqrt(1 + d)
    inner = 8 - 4 * d + 8 * (2 - square) / (square * root)
    a = root + math.sqrt(max(inner, 0.0)) / 2
    b = (a - 1) ** 2 / 4
    c = a + b - 1
    low = min(low * (a + b * square) / (1 + c * square), 1.0)
    out.append((a, b, c))
  return np.array(out), least


def _combined(u: Any, inner: Any, a: Any, b: Any, c: Any, root: bool) -> Any:
  ratio = div(b, c)
  rest = sub(a, ratio)
  rest = div(rest, sqrt(c)) if root else rest
  return add(mul(u, cast(ratio, u)), mul(inner, cast(rest, u)))


def _by_qr(u: Any, a: Any, b: Any, c: Any) -> Any:
  m, n = typeof(u).shape
  below = eye((n, n), typeof(u).dtype)
  q = qr(concatenate([mul(u, cast(sqrt(c), u)), below], 0), full_matrices=False)[0]
  return _combined(u, mm(top_rows(q, m), adjoint(bottom_rows(q, m))), a, b, c, True)


def _by_cholesky(u: Any, a: Any, b: Any, c: Any) -> Any:
  n = typeof(u).shape[1]
  z = add(mul(mm(adjoint(u), u), cast(c, u)), eye((n, n), typeof(u).dtype))
  low = cholesky(z, symmetrize_input=False)
  inner = triangular_solve(low, u, lower=True, transpose_a=True, conjugate_a=True)
  inner = triangular_solve(low, inner, lower=True)
  return _combined(u, inner, a, b, c, False)


@custom_jvp
def _polar(x: Any, u: Any, h: Any) -> tuple[Any, Any]:
  """The decomposition as a function of x alone, whatever computed it."""
  return u, h


@_polar.defjvp
def _(primals: Any, tangents: Any) -> Any:
  """With w = u^H du: w h + h w = u^H dx - dx^H u.

  N. J. Higham, "Functions of Matrices", 2008, section 8.1; what of du the columns of u do
  not span is that of dx h^-1.
  """
  x, t = primals[0], tangents[0]
  u, h = _polar(*primals)
  inner = mm(adjoint(u), t)
  turn = _sylvester(h, sub(inner, adjoint(inner)))
  du = mm(u, turn)
  if typeof(x).shape[0] > typeof(x).shape[1]:
    du = add(du, _quotient(h, sub(t, mm(u, inner))))
  return (u, h), (du, symmetrized(sub(inner, mm(turn, h))))


@custom_jvp
def _sylvester(h: Any, k: Any) -> Any:
  """Solves `w h + h w = k` for a Hermitian, positive h.

  It has its own derivative, since eigenvectors have none where values are repeated.
  """
  v, values = eigh(h, symmetrize_input=False)
  k = mm(adjoint(v), mm(k, v))
  sums = cast(add(rows(values, h), columns(values, h)), h)
  return mm(v, mm(safe_divide(k, sums), adjoint(v)))


@_sylvester.defjvp
def _(primals: Any, tangents: Any) -> Any:
  (h, _), (dh, dk) = primals, tangents
  w = _sylvester(*primals)
  return w, _sylvester(h, sub(dk, add(mm(w, dh), mm(dh, w))))


@custom_jvp
def _quotient(h: Any, k: Any) -> Any:
  """`k h^-1` for a Hermitian, positive h."""
  v, values = eigh(h, symmetrize_input=False)
  k = mm(k, v)
  return mm(safe_divide(k, cast(columns(values, k), k)), adjoint(v))


@_quotient.defjvp
def _(primals: Any, tangents: Any) -> Any:
  (h, _), (dh, dk) = primals, tangents
  out = _quotient(*primals)
  return out, _quotient(h, sub(dk, mm(out, dh)))
