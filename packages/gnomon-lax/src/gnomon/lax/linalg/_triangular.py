"""Systems of equations with triangular matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.core.derive import move
from gnomon.core.primitive import Primitive
from gnomon.core.rule import batch_rule, jvp_rule, lower, transpose_rule, typing_rule
from gnomon.core.structural import add_tangents, reshape
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import UndefinedPrimal, Zero
from gnomon.lax._arithmetic import neg
from gnomon.lax._shape import expand_dims
from gnomon.lax.linalg import _lapack
from gnomon.lax.linalg._matrix import (
  check_matrices,
  check_same,
  conj_if_complex,
  flip,
  mm,
  tril,
  triu,
)
from gnomon.transform.vmap import to_dim

Values = Sequence[Any]


def triangular_solve(
    a: Any, b: Any, *, left_side: bool = False, lower: bool = False,
    transpose_a: bool = False, conjugate_a: bool = False,
    unit_diagonal: bool = False) -> Any:
  """Solves equations with a triangular matrix: `op(a) x = b` or `x op(a) = b`.

  Args:
    a: an array of shape `(..., n, n)`: a stack of matrices, of which only one triangle is
      read.
    b: the right-hand sides: an array of shape `(..., n, k)` if `left_side`, otherwise
      `(..., k, n)`. A vector for each matrix, `(..., n)`, is accepted too.
    left_side: solves `op(a) x = b`; otherwise `x op(a) = b`.
    lower: reads the lower triangle, otherwise the upper one.
    transpose_a: `op(a)` is the transpose of the matrix.
    conjugate_a: `op(a)` is conjugated.
    unit_diagonal: takes the diagonal as ones, without reading it.

  Returns:
    The solutions, of the shape and dtype of `b`.

  >>> from gnomon import lax
  >>> a = [[2.0, 0.0], [1.0, 4.0]]
  >>> import numpy as np
  >>> x = lax.linalg.triangular_solve(
  ...     np.float32(a), np.float32([[2.0], [5.0]]), left_side=True, lower=True)
  >>> x.tolist()
  [[1.0], [1.0]]

  Raises:
    TypeError: the dtypes differ, or are none of float32, float64, complex64, complex128.
    ValueError: the shapes do not fit.
  """
  x, y = typeof(a), typeof(b)
  single = y.ndim == x.ndim - 1
  if single:
    b = expand_dims(b, (y.ndim if left_side else y.ndim - 1,))
  conjugate_a = bool(conjugate_a) and x.dtype.kind == "c"
  out = triangular_solve_p.apply(
      a, b, left_side=bool(left_side), lower=bool(lower), transpose_a=bool(transpose_a),
      conjugate_a=conjugate_a, unit_diagonal=bool(unit_diagonal))[0]
  return reshape(out, y.shape) if single else out


triangular_solve_p = Primitive("triangular_solve")


@typing_rule.define(triangular_solve_p)
def _(a: ShapedArray, b: ShapedArray, *, left_side: bool, **_: Any) -> tuple[ShapedArray]:
  name = "triangular_solve"
  check_matrices(name, a, square=True, argument="a")
  check_same(name, a, b=b)
  side = -2 if left_side else -1
  if b.ndim != a.ndim or b.shape[:-2] != a.shape[:-2] or b.shape[side] != a.shape[-1]:
    wanted = "(..., n, k)" if left_side else "(..., k, n)"
    raise ValueError(
        f"{name}: with left_side={left_side}, b must have the shape {wanted} for an a of "
        "the shape (..., n, n), with the same leading dimensions: got a of shape "
        f"{a.shape} and b of shape {b.shape}")
  return (ShapedArray(b.shape, b.dtype),)


@lower.define(triangular_solve_p)
def _(ctx: Any, a: Any, b: Any, *, left_side: bool, lower: bool, transpose_a: bool,
      conjugate_a: bool, unit_diagonal: bool) -> Values:
  (x, y), out = ctx.avals_in, ctx.avals_out[0]
  if out.size == 0:
    return [b]
  if conjugate_a and not transpose_a:
    a = ctx.b.op1("chlo.conj", ctx.b.tensor(x), (a,))
  options = {
      "side": "L" if left_side else "R", "uplo": "L" if lower else "U",
      "trans_x": ("C" if conjugate_a else "T") if transpose_a else "N",
      "diag": "U" if unit_diagonal else "N"}
  return _lapack.call(
      ctx, "trsm", (a, b), (x, y), (out,), y.shape[:-2], options, reuse=(-1, 0))


def _through_a(t: Any, ans: Any, **params: Any) -> Any:
  """`-da x` or `-x da`: from `a x = b`, `a dx = db - da x`."""
  k = 1 if params["unit_diagonal"] else 0
  t = tril(t, -k) if params["lower"] else triu(t, k)
  t = flip(t) if params["transpose_a"] else t
  t = neg(conj_if_complex(t) if params["conjugate_a"] else t)
  return mm(t, ans) if params["left_side"] else mm(ans, t)


@jvp_rule.define(triangular_solve_p)
def _(primals: Values, tangents: Values, **params: Any) -> tuple[Values, Values]:
  (a, _), (ta, tb) = primals, tangents
  ans = triangular_solve_p.apply(*primals, **params)[0]
  right = tb
  if type(ta) is not Zero:
    right = add_tangents(tb, _through_a(ta, ans, **params))
  if type(right) is Zero:
    return [ans], [Zero(typeof(ans))]
  return [ans], triangular_solve_p.apply(a, right, **params)


@transpose_rule.define(triangular_solve_p)
def _(cts: Values, args: Values, *, transpose_a: bool, **params: Any) -> list[Any]:
  a, b = args
  if type(a) is UndefinedPrimal or type(cts[0]) is Zero:
    return [None, Zero(b.aval)]
  return [None, triangular_solve_p.apply(
      a, cts[0], transpose_a=not transpose_a, **params)[0]]


@batch_rule.define(triangular_solve_p)
def _(axis: Any, args: Values, dims: Values, *, left_side: bool,
      **params: Any) -> tuple[Values, Values]:
  (a, b), (da, db) = args, dims
  if da is None and typeof(a).ndim == 2:  # one matrix: only more right-hand sides
    at = 2 if left_side else 0
    b = move(b, db, at)
    shape = typeof(b).shape
    wide = (shape[0], shape[1] * shape[2]) if left_side else (
        shape[0] * shape[1], shape[2])
    out = triangular_solve_p.apply(a, reshape(b, wide), left_side=left_side, **params)[0]
    return [reshape(out, shape)], (at,)
  a, b = (to_dim(x, d, 0, axis.size) for x, d in zip(args, dims))
  return triangular_solve_p.apply(a, b, left_side=left_side, **params), (0,)
