"""Tridiagonal matrices: reduction to them, and their systems of equations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.core.primitive import Primitive
from gnomon.core.rule import jvp_rule, lower, transpose_rule, typing_rule
from gnomon.core.structural import broadcast_in_dim, full, instantiate
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import Zero
from gnomon.lax._arithmetic import add, mul, sub
from gnomon.lax._shape import concatenate
from gnomon.lax._slicing import slice_in_dim
from gnomon.lax.linalg import _lapack
from gnomon.lax.linalg._matrix import (
  batch_leading,
  check_matrices,
  check_numbers,
  check_same,
  real_dtype,
)

Values = Sequence[Any]


def tridiagonal(a: Any, *, lower: bool = True) -> tuple[Any, Any, Any, Any]:
  """Reduces Hermitian matrices to real tridiagonal ones, by reflections.

  Args:
    a: an array of shape `(..., n, n)`, `n > 0`.
    lower: reads the lower triangle, otherwise the upper one.

  Returns:
    `(arr, d, e, taus)`: the vectors of the reflections, in the place of the triangle that
    was read, and their factors `taus`, see `householder_product`; the diagonal `d` of
    shape `(..., n)` and the diagonal beside it `e`, `(..., n - 1)`. nan where the
    algorithm fails.

  >>> from gnomon import lax
  >>> import numpy as np
  >>> arr, d, e, taus = lax.linalg.tridiagonal(np.float32([[1, 2], [2, 3]]))
  >>> d.tolist(), abs(np.asarray(e)).tolist()
  ([1.0, 3.0], [2.0])

  Raises:
    TypeError: the dtype is none of float32, float64, complex64, complex128.
    ValueError: `a` has no square matrices, or empty ones.
  """
  arr, d, e, taus = tridiagonal_p.apply(a, lower=bool(lower))[:4]
  return arr, d, e, taus


tridiagonal_p = Primitive("tridiagonal")


@typing_rule.define(tridiagonal_p)
def _(a: ShapedArray, *, lower: bool) -> tuple[ShapedArray, ...]:
  check_matrices("tridiagonal", a, square=True, argument="a")
  *batch, n, _ = a.shape
  if n == 0:
    raise ValueError(f"tridiagonal: the matrices must not be empty, got {a}")
  part = real_dtype(a.dtype)
  return (
      ShapedArray(a.shape, a.dtype), ShapedArray((*batch, n), part),
      ShapedArray((*batch, n - 1), part), ShapedArray((*batch, n - 1), a.dtype))


@lower.define(tridiagonal_p)
def _(ctx: Any, a: Any, *, lower: bool) -> Values:
  b, outs = ctx.b, ctx.avals_out
  aval = ctx.avals_in[0]
  batch = aval.shape[:-2]
  if aval.size == 0:
    return [a, *(b.full(x, 0) for x in outs[1:])]
  if aval.shape[-1] == 1:
    d = b.reshape(b.convert(a, aval, ShapedArray(aval.shape, outs[1].dtype)), outs[1])
    return [a, d, *(b.full(x, 0) for x in outs[2:])]
  *values, status = _lapack.call(
      ctx, "sytrd/hetrd", (a,), (aval,), (*outs, _lapack.info(batch)), batch,
      {"uplo": "L" if lower else "U"})
  return _lapack.or_nan(ctx, status, values, outs, batch)


batch_leading(tridiagonal_p)


# ---- tridiagonal_solve


def tridiagonal_solve(
    dl: Any, d: Any, du: Any, b: Any, *, perturb_singular: bool = False) -> Any:
  """Solves equations with tridiagonal matrices.

  Args:
    dl: an array of shape `(..., m)`: below the diagonal; element 0 is not read.
    d: an array of shape `(..., m)`: the diagonal.
    du: an array of shape `(..., m)`: above the diagonal; the last element is not read.
    b: the right-hand sides, an array of shape `(..., m, k)`.
    perturb_singular: replaces pivots that are nearly 0 by small numbers, so that the
      result stays finite: for inverse iterations.

  Returns:
    The solutions, an array like `b`.

  >>> from gnomon import lax
  >>> import numpy as np
  >>> one = np.ones(2, np.float32)
  >>> lax.linalg.tridiagonal_solve(0 * one, 2 * one, one, np.float32([[3], [2]])).tolist()
  [[1.0], [1.0]]

  Raises:
    TypeError: dtypes differ, or are none of float32, float64, complex64, complex128.
    ValueError: the shapes do not fit.
  """
  return tridiagonal_solve_p.apply(
      dl, d, du, b, perturb_singular=bool(perturb_singular))[0]


tridiagonal_solve_p = Primitive("tridiagonal_solve")


@typing_rule.define(tridiagonal_solve_p)
def _(dl: ShapedArray, d: ShapedArray, du: ShapedArray, b: ShapedArray, *,
      perturb_singular: bool) -> tuple[ShapedArray]:
  name = "tridiagonal_solve"
  check_numbers(name, d, "d")
  check_same(name, d, dl=dl, du=du, b=b)
  if dl.shape != d.shape or du.shape != d.shape or b.ndim != d.ndim + 1 or (
      b.shape[:-1] != d.shape):
    raise ValueError(
        f"{name}: dl, d and du must have one shape (..., m), and b the shape (..., m, "
        f"k): got {dl.shape}, {d.shape}, {du.shape} and {b.shape}")
  return (ShapedArray(b.shape, b.dtype),)


@lower.define(tridiagonal_solve_p)
def _(ctx: Any, dl: Any, d: Any, du: Any, b: Any, *, perturb_singular: bool) -> Values:
  avals, out = ctx.avals_in, ctx.avals_out[0]
  batch = out.shape[:-2]
  if out.size == 0:
    return [b]
  if perturb_singular:
    return _lapack.call(
        ctx, "tridiagonal_solve_perturbed_ffi", (dl, d, du, b), avals, (out,), batch, {},
        reuse=())
  *_, x, status = _lapack.call(
      ctx, "gtsv", (dl, d, du, b), avals, (*avals[:3], out, _lapack.info(batch)), batch,
      {}, reuse=(0, 1, 2, 3))
  return _lapack.or_nan(ctx, status, [x], [out], batch)


@jvp_rule.define(tridiagonal_solve_p)
def _(primals: Values, tangents: Values, *,
      perturb_singular: bool) -> tuple[Values, Values]:
  """From a x = b: a dx = db - da x."""
  dl, d, du, _ = primals
  x = tridiagonal_solve_p.apply(*primals, perturb_singular=perturb_singular)[0]
  right = tangents[3]
  if any(type(t) is not Zero for t in tangents[:3]):
    ddl, dd, ddu = map(instantiate, tangents[:3])
    right = sub(instantiate(right), _product(ddl, dd, ddu, x))
  if type(right) is Zero:
    return [x], [Zero(typeof(x))]
  return [x], tridiagonal_solve_p.apply(
      dl, d, du, right, perturb_singular=perturb_singular)


def _product(dl: Any, d: Any, du: Any, x: Any) -> Any:
  """A tridiagonal matrix times x."""
  shape = typeof(x).shape
  n = len(shape)
  dl, d, du = (broadcast_in_dim(v, shape, tuple(range(n - 1))) for v in (dl, d, du))
  below, above = shifted(x, n - 2, 1), shifted(x, n - 2, -1)
  return add(add(mul(dl, below), mul(d, x)), mul(du, above))


def shifted(x: Any, axis: int, by: int) -> Any:
  """Moves elements one place on (1) or back (-1) along an axis; a zero enters."""
  shape = typeof(x).shape
  edge = full(
      tuple(1 if i == axis else n for i, n in enumerate(shape)), 0, typeof(x).dtype)
  n = shape[axis]
  if by > 0:
    return concatenate([edge, slice_in_dim(x, 0, n - 1, axis=axis)], axis)
  return concatenate([slice_in_dim(x, 1, n, axis=axis), edge], axis)


@transpose_rule.define(tridiagonal_solve_p)
def _(cts: Values, args: Values, *, perturb_singular: bool) -> list[Any]:
  dl, d, du, b = args
  if type(cts[0]) is Zero:
    return [None, None, None, Zero(b.aval)]
  axis = typeof(d).ndim - 1
  return [None, None, None, tridiagonal_solve_p.apply(
      shifted(du, axis, 1), d, shifted(dl, axis, -1), cts[0],
      perturb_singular=perturb_singular)[0]]


batch_leading(tridiagonal_solve_p)
