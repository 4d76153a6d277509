"""Decomposition of matrices into a lower and an upper triangular one, with pivoting."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as as_int
from typing import Any

import numpy as np

from gnomon.core.derive import move, no_derivative
from gnomon.core.primitive import Primitive
from gnomon.core.rule import jvp_rule, lower, typing_rule
from gnomon.core.structural import broadcast_in_dim, reduce_sum, select_n
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import Zero
from gnomon.lax._arithmetic import add, sub
from gnomon.lax._comparison import eq
from gnomon.lax._control.scan import scan
from gnomon.lax._creation import broadcasted_iota, full_like, iota
from gnomon.lax._dynamic import dynamic_slice, dynamic_update_slice
from gnomon.lax._families import INT, check_dtype
from gnomon.lax._programs import emit, lower_as
from gnomon.lax._shape import concatenate
from gnomon.lax.linalg import _lapack
from gnomon.lax.linalg._matrix import batch_leading, check_matrices, eye, mm, tril, triu
from gnomon.lax.linalg._order import take_rows
from gnomon.lax.linalg._parts import bottom_rows, left_columns, right_columns, top_rows
from gnomon.lax.linalg._triangular import triangular_solve

Values = Sequence[Any]
_INT32 = np.dtype(np.int32)


def lu(x: Any) -> list[Any]:
  """Triangular factors with exchanged rows: `x[permutation] = l u`.

  Args:
    x: an array of shape `(..., m, n)`.

  Returns:
    `[lu, pivots, permutation]`: `u` in the upper triangle of `lu` and, below the
    diagonal, `l`, whose diagonal is 1; row i was exchanged with row `pivots[i]`, for each
    i in turn, which makes the permutation. The last two are int32, of shapes `(...,
    min(m, n))` and `(..., m)`.

  >>> from gnomon import lax
  >>> import numpy as np
  >>> [x.tolist() for x in lax.linalg.lu(np.float32([[1, 2], [4, 4]]))]
  [[[4.0, 4.0], [0.25, 1.0]], [1, 1], [1, 0]]

  Raises:
    TypeError: the dtype is none of float32, float64, complex64, complex128.
    ValueError: `x` has less than two dimensions.
  """
  return list(lu_p.apply(x))


lu_p = Primitive("lu")


@typing_rule.define(lu_p)
def _(x: ShapedArray) -> tuple[ShapedArray, ...]:
  check_matrices("lu", x)
  *batch, m, n = x.shape
  return (
      ShapedArray(x.shape, x.dtype), ShapedArray((*batch, min(m, n)), _INT32),
      ShapedArray((*batch, m), _INT32))


@lower.define(lu_p)
def _(ctx: Any, x: Any) -> Values:
  b, (out, pivots, permutation) = ctx.b, ctx.avals_out
  batch = out.shape[:-2]
  if out.size == 0:
    rows = b.op1("stablehlo.iota", b.tensor(permutation), (), {
        "iota_dimension": b.i64(len(batch))})
    return [x, b.full(pivots, 0), rows]
  value, found, status = _lapack.call(
      ctx, "getrf", (x,), ctx.avals_in, (out, pivots, _lapack.info(batch)), batch, {})
  found = b.op1("stablehlo.subtract", b.tensor(pivots), (found, b.full(pivots, 1)))
  value = _lapack.or_nan(ctx, status, [value], [out], batch, "GE")[0]
  return [value, found, *emit(
      ctx, _permutation, [pivots], [found], permutation_size=permutation.shape[-1])]


@jvp_rule.define(lu_p)
def _(primals: Values, tangents: Values) -> tuple[Values, Values]:
  """With F = l^-1 dx u^-1: dl = l tril(F, -1), du = triu(F) u.

  F. de Hoog, R. Anderssen, M. Lukas, "Differentiation of matrix functionals using
  triangular factorization", Math. Comp. 80, 2011. Rows below, or columns beside the
  square part follow from the product rule.
  """
  packed, pivots, permutation = lu_p.apply(*primals)
  zeros = [Zero(typeof(p).to_tangent_aval()) for p in (pivots, permutation)]
  if type(tangents[0]) is Zero:
    return (packed, pivots, permutation), [tangents[0], *zeros]
  shape = typeof(packed).shape
  m, n = shape[-2:]
  k = min(m, n)
  dx = take_rows(tangents[0], permutation)
  square = top_rows(left_columns(packed, k), k)
  left = add(tril(square, -1), eye(typeof(square).shape, typeof(square).dtype))
  u = triu(square)
  inner = triangular_solve(
      left, top_rows(left_columns(dx, k), k), left_side=True, lower=True,
      unit_diagonal=True)
  inner = triangular_solve(u, inner)
  below, above = tril(inner, -1), triu(inner)
  du = mm(above, u)
  out = add(mm(left, below), du)
  if m > k:
    rest = sub(bottom_rows(dx, k), mm(bottom_rows(packed, k), du))
    out = concatenate([out, triangular_solve(u, rest)], len(shape) - 2)
  elif n > k:
    rest = triangular_solve(
        left, right_columns(dx, k), left_side=True, lower=True, unit_diagonal=True)
    rest = sub(rest, mm(below, right_columns(packed, k)))
    out = concatenate([out, rest], len(shape) - 1)
  return (packed, pivots, permutation), [out, *zeros]


batch_leading(lu_p)


# ---- lu_pivots_to_permutation


def lu_pivots_to_permutation(pivots: Any, permutation_size: int) -> Any:
  """The permutation that a sequence of exchanges makes.

  Args:
    pivots: int32 array of shape `(..., k)`: element i is exchanged with element
      `pivots[i]`, for each i in turn.
    permutation_size: how many elements there are, at least `k`.

  Returns:
    An int32 array of shape `(..., permutation_size)`.

  >>> from gnomon import lax
  >>> import numpy as np
  >>> lax.linalg.lu_pivots_to_permutation(np.int32([2, 2]), 3).tolist()
  [2, 0, 1]

  Raises:
    TypeError: the pivots are not int32.
    ValueError: they have no dimension, or are more than `permutation_size`.
  """
  return lu_pivots_to_permutation_p.apply(
      pivots, permutation_size=as_int(permutation_size))[0]


lu_pivots_to_permutation_p = Primitive("lu_pivots_to_permutation")


@typing_rule.define(lu_pivots_to_permutation_p)
def _(pivots: ShapedArray, *, permutation_size: int) -> tuple[ShapedArray]:
  name = "lu_pivots_to_permutation"
  check_dtype(name, pivots, INT)
  if pivots.dtype != np.int32:
    raise TypeError(f"{name}: the pivots must be int32, got {pivots}")
  if pivots.ndim < 1 or pivots.shape[-1] > permutation_size:
    raise ValueError(
        f"{name}: the pivots must be an array of at least one dimension, with no more of "
        f"them than permutation_size={permutation_size}: got {pivots}")
  return (ShapedArray((*pivots.shape[:-1], permutation_size), _INT32),)


def _permutation(pivots: Any, *, permutation_size: int) -> list[Any]:
  """Exchanges elements one by one, in one loop for the whole stack."""
  *batch, k = typeof(pivots).shape
  shape = (*batch, permutation_size)
  start = broadcasted_iota(_INT32, shape, len(batch))
  if not k or not permutation_size or 0 in batch:
    return [start]
  step = _exchange_batched if batch else _exchange
  out, _ = scan(step, start, (iota(_INT32, k), move(pivots, len(batch), 0)))
  return [out]


def _exchange(order: Any, places: Any) -> Any:
  i, j = places
  x, y = dynamic_slice(order, (i,), (1,)), dynamic_slice(order, (j,), (1,))
  return dynamic_update_slice(dynamic_update_slice(order, y, (i,)), x, (j,)), None


def _exchange_batched(order: Any, places: Any) -> Any:
  i, j = places
  shape = typeof(order).shape
  n = len(shape) - 1
  index = broadcasted_iota(_INT32, shape, n)
  here = eq(index, i)
  there = eq(index, broadcast_in_dim(j, shape, tuple(range(n))))
  x, y = (
      broadcast_in_dim(
          reduce_sum(select_n(at, full_like(order, 0), order), (n,)), shape,
          tuple(range(n)))
      for at in (here, there))
  return select_n(here, select_n(there, order, x), y), None


lower_as(lu_pivots_to_permutation_p, _permutation)
no_derivative(lu_pivots_to_permutation_p)
batch_leading(lu_pivots_to_permutation_p)
