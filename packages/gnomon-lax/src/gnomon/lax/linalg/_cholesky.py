"""Cholesky's decomposition, its update, and products of a matrix with its transpose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.core.derive import defjvp, move
from gnomon.core.primitive import Primitive
from gnomon.core.rule import jvp_rule, lower, typing_rule
from gnomon.core.structural import add_tangents, broadcast_in_dim, instantiate, select_n
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import Zero
from gnomon.lax._arithmetic import add, div, mul, sub
from gnomon.lax._arithmetic import max as maximum
from gnomon.lax._comparison import eq
from gnomon.lax._complex import abs as modulus
from gnomon.lax._control.scan import scan
from gnomon.lax._creation import full_like, iota
from gnomon.lax._families import FLOAT, check_dtype
from gnomon.lax._power import sqrt
from gnomon.lax._programs import lower_as
from gnomon.lax._reduction import reduce_max
from gnomon.lax.linalg import _lapack
from gnomon.lax.linalg._matrix import (
  batch_leading,
  check_matrices,
  check_same,
  eye_mask,
  flip,
  lower_mask,
  masked,
  mm,
  number,
  symmetrized,
  tril,
  triu,
)
from gnomon.lax.linalg._triangular import triangular_solve

Values = Sequence[Any]


# ---- cholesky


def cholesky(x: Any, *, symmetrize_input: bool = True) -> Any:
  """Cholesky's decomposition: the lower triangular `l` with `l l^H = x`.

  Args:
    x: an array of shape `(..., n, n)`: Hermitian, positive definite matrices.
    symmetrize_input: first takes the mean of `x` and its conjugate transpose, so that the
      derivative is that of a function of any matrix; otherwise only the lower triangle is
      read.

  Returns:
    An array like `x`, with zeros above the diagonal, and a positive diagonal; nan for a
    matrix that is not positive definite.

  >>> from gnomon import lax
  >>> import numpy as np
  >>> lax.linalg.cholesky(np.float32([[4, 2], [2, 5]])).tolist()
  [[2.0, 0.0], [1.0, 2.0]]

  Raises:
    TypeError: the dtype is none of float32, float64, complex64, complex128.
    ValueError: `x` has no square matrices.
  """
  check_matrices("cholesky", typeof(x), square=True)
  if symmetrize_input:
    x = symmetrized(x)
  return tril(cholesky_p.apply(x)[0])


cholesky_p = Primitive("cholesky")


@typing_rule.define(cholesky_p)
def _(x: ShapedArray) -> tuple[ShapedArray]:
  check_matrices("cholesky", x, square=True)
  return (ShapedArray(x.shape, x.dtype),)


@lower.define(cholesky_p)
def _(ctx: Any, x: Any) -> Values:
  out = ctx.avals_out[0]
  if out.size == 0:
    return [x]
  batch = out.shape[:-2]
  out_value, status = _lapack.call(
      ctx, "potrf", (x,), ctx.avals_in, (out, _lapack.info(batch)), batch, {"uplo": "L"})
  return _lapack.or_nan(ctx, status, [out_value], [out], batch)


def _cholesky_derivative(t: Any, ans: Any, x: Any) -> Any:
  """`l Φ(l^-1 dx l^-H)`, where Φ takes the lower triangle and half of the diagonal.

  S. P. Smith, "Differentiation of the Cholesky algorithm", J. Comput. Graph. Stat. 4,
  1995.
  """
  left = tril(ans)
  inner = triangular_solve(left, t, left_side=True, lower=True)
  inner = triangular_solve(left, inner, lower=True, transpose_a=True, conjugate_a=True)
  return mm(left, _lower_half(inner))


def _lower_half(x: Any) -> Any:
  """The lower triangle with half of the diagonal."""
  n = typeof(x).shape[-1]
  half = broadcast_in_dim(
      eye_mask(n, n), typeof(x).shape, (typeof(x).ndim - 2, typeof(x).ndim - 1))
  return masked(lower_mask(n, n), select_n(half, x, div(x, number(x, 2))))


defjvp(cholesky_p, _cholesky_derivative)
batch_leading(cholesky_p)


# ---- cholesky_update


def cholesky_update(r_matrix: Any, w_vector: Any) -> Any:
  """The upper triangular `q` with `q^T q = r^T r + w w^T`, in about `2 n^2` steps.

  Args:
    r_matrix: an upper triangular matrix of real numbers, of shape `(n, n)`.
    w_vector: a vector of shape `(n,)`, of the same dtype.

  Returns:
    A matrix like `r_matrix`, with a positive diagonal.

  >>> from gnomon import lax
  >>> import numpy as np
  >>> lax.linalg.cholesky_update(np.float32([[3.0]]), np.float32([4.0])).tolist()
  [[5.0]]

  Raises:
    TypeError: an argument is not real, has another number of dimensions, or dtypes
      differ.
    ValueError: the sizes do not fit.
  """
  r, w = typeof(r_matrix), typeof(w_vector)
  if r.ndim != 2 or w.ndim != 1:
    raise TypeError(
        f"cholesky_update takes one matrix and one vector, got {r} and {w}; for stacks "
        "of them use vmap")
  return cholesky_update_p.apply(r_matrix, w_vector)[0]


cholesky_update_p = Primitive("cholesky_update")


@typing_rule.define(cholesky_update_p)
def _(r: ShapedArray, w: ShapedArray) -> tuple[ShapedArray]:
  check_dtype("cholesky_update", r, FLOAT)
  check_same("cholesky_update", r, w_vector=w)
  if r.shape[-1] != r.shape[-2] or r.shape[:-1] != w.shape:
    raise ValueError(
        "cholesky_update takes a square matrix and a vector of its size, got the shapes "
        f"{r.shape} and {w.shape}")
  return (ShapedArray(r.shape, r.dtype),)


def _rotations(r: Any, w: Any) -> list[Any]:
  """One rotation a row turns an element of `w` to zero."""
  shape = typeof(r).shape
  rank, n = len(shape), shape[-1]
  if not n:
    return [r]
  spread = tuple(range(rank - 2))
  r = triu(r)

  def step(w: Any, row_and_index: Any) -> Any:
    row, i = row_and_index
    here = eq(iota("int32", n), i)
    x, y = (
        reduce_max(select_n(
            broadcast_in_dim(here, typeof(v).shape, (rank - 2,)),
            full_like(v, -float("inf")), v), (rank - 2,)) for v in (row, w))
    length = _hypot(x, y)
    c, s = (
        broadcast_in_dim(select_n(eq(length, 0.0), div(v, length), full_like(v, one)),
                         typeof(row).shape, spread) for v, one in ((x, 1.0), (y, 0.0)))
    return sub(mul(c, w), mul(s, row)), add(mul(c, row), mul(s, w))

  _, out = scan(step, w, (move(r, rank - 2, 0), iota("int32", n)))
  return [move(out, 0, rank - 2)]


def _hypot(x: Any, y: Any) -> Any:
  """The length of (x, y), without overflow."""
  scale = maximum(modulus(x), modulus(y))
  safe = select_n(eq(scale, 0.0), scale, full_like(scale, 1.0))
  x, y = div(x, safe), div(y, safe)
  return mul(scale, sqrt(add(mul(x, x), mul(y, y))))


lower_as(cholesky_update_p, _rotations)
batch_leading(cholesky_update_p)


@jvp_rule.define(cholesky_update_p)
def _(primals: Values, tangents: Values) -> tuple[Values, Values]:
  """The derivative of Cholesky's decomposition at `q^T q`, for that of the sum."""
  r, w = primals
  dr, dw = map(instantiate, tangents)
  r, dr = triu(r), triu(dr)
  q = cholesky_update_p.apply(r, w)[0]
  half = add(mm(flip(dr), r), _outer(dw, w))
  inner = add(half, flip(half))
  inner = triangular_solve(q, inner, left_side=True, transpose_a=True)
  inner = triangular_solve(q, inner)
  return [q], [mm(flip(_lower_half(flip(inner))), q)]


def _outer(x: Any, y: Any) -> Any:
  n = typeof(x).ndim
  shape = (*typeof(x).shape, typeof(y).shape[-1])
  return mul(
      broadcast_in_dim(x, shape, tuple(range(n))),
      broadcast_in_dim(y, shape, (*range(n - 1), n)))


# ---- symmetric_product


def symmetric_product(
    a_matrix: Any, c_matrix: Any, *, alpha: float = 1.0, beta: float = 0.0,
    symmetrize_output: bool = False) -> Any:
  """`alpha a a^T + beta c`, where `c` is symmetric.

  Args:
    a_matrix: an array of real numbers, of shape `(..., n, k)`.
    c_matrix: an array of shape `(..., n, n)`, of the same dtype.
    alpha: a number.
    beta: a number.
    symmetrize_output: makes the upper triangle equal to the lower one; otherwise only the
      lower triangle of the result is meant.

  Returns:
    An array like `c_matrix`.

  >>> from gnomon import lax
  >>> import numpy as np
  >>> lax.linalg.symmetric_product(
  ...     np.float32([[1], [2]]), np.zeros((2, 2), np.float32)).tolist()
  [[1.0, 2.0], [2.0, 4.0]]

  Raises:
    TypeError: an argument is not real, or dtypes differ.
    ValueError: the sizes do not fit.
  """
  out = symmetric_product_p.apply(
      a_matrix, c_matrix, alpha=float(alpha), beta=float(beta))[0]
  return add(tril(out), flip(tril(out, -1))) if symmetrize_output else out


symmetric_product_p = Primitive("symmetric_product")


@typing_rule.define(symmetric_product_p)
def _(a: ShapedArray, c: ShapedArray, *, alpha: float, beta: float) -> tuple[ShapedArray]:
  name = "symmetric_product"
  check_dtype(name, a, FLOAT)
  check_same(name, a, c_matrix=c)
  if a.ndim < 2 or c.ndim < 2 or c.shape != (*a.shape[:-1], a.shape[-2]):
    raise ValueError(
        f"{name}: for an a_matrix of shape (..., n, k), c_matrix must have the shape "
        f"(..., n, n): got {a.shape} and {c.shape}")
  return (ShapedArray(c.shape, c.dtype),)


def _symmetric_product(a: Any, c: Any, *, alpha: float, beta: float) -> list[Any]:
  out = mm(a, flip(a))
  if alpha != 1:
    out = mul(out, number(out, alpha))
  return [add(out, mul(c, number(c, beta))) if beta else out]


lower_as(symmetric_product_p, _symmetric_product)
batch_leading(symmetric_product_p)


@jvp_rule.define(symmetric_product_p)
def _(primals: Values, tangents: Values, *, alpha: float, beta: float) -> tuple[
    Values, Values]:
  (a, _), (ta, tc) = primals, tangents
  out = symmetric_product_p.apply(*primals, alpha=alpha, beta=beta)[0]
  total: Any = Zero(typeof(out))
  if type(ta) is not Zero:
    half = mul(mm(ta, flip(a)), number(out, alpha))
    total = add(half, flip(half))
  if type(tc) is not Zero and beta:
    total = add_tangents(total, mul(tc, number(out, beta)))
  return [out], [total]
