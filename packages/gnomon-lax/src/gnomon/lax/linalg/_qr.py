"""Decomposition into orthogonal and triangular matrices; Householder's reflections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.api.stopping import stop_gradient
from gnomon.core.primitive import Primitive
from gnomon.core.rule import jvp_rule, linearize_rule, lower, typing_rule
from gnomon.core.structural import broadcast_in_dim, convert, full, select_n
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import Zero
from gnomon.lax._arithmetic import add, div, mul, neg, sub
from gnomon.lax._comparison import eq
from gnomon.lax._complex import abs as modulus
from gnomon.lax._complex import complex, imag
from gnomon.lax._control.cond import cond
from gnomon.lax._programs import lower_as
from gnomon.lax._reduction import reduce_max, reduce_or
from gnomon.lax._shape import concatenate
from gnomon.lax.linalg import _lapack
from gnomon.lax.linalg._equal import elsewhere, vanishing, where
from gnomon.lax.linalg._matrix import (
  adjoint,
  batch_leading,
  cast,
  check_matrices,
  check_same,
  columns,
  diagonal,
  eye,
  eye_mask,
  is_complex,
  masked,
  mm,
  number,
  rows,
  tril,
  triu,
  with_diagonal,
)
from gnomon.lax.linalg._order import take_columns
from gnomon.lax.linalg._parts import bottom_rows, left_columns, right_columns, top_rows
from gnomon.lax.linalg._triangular import triangular_solve
from gnomon.lax.linalg._turns import Course, follow

Values = Sequence[Any]
_INT32 = np.dtype(np.int32)


def qr(x: Any, *, pivoting: bool = False, full_matrices: bool = True,
       use_magma: bool | None = None) -> tuple[Any, ...]:
  """Decomposes matrices: `x = q r`, `q` with orthonormal columns, `r` upper triangular.

  Where the diagonal of `r` is zero, the column of `q` has no derivative; but `q r` has,
  and what else does not depend on the choice of that column.

  Args:
    x: an array of shape `(..., m, n)`.
    pivoting: reorders columns, so that the diagonal of `r` does not increase in modulus:
      `x[:, p] = q r`.
    full_matrices: makes `q` square, `(..., m, m)`, and `r` like `x`; otherwise they have
      `min(m, n)` columns and rows.
    use_magma: whether a GPU uses the library MAGMA; without meaning on CPUs.

  Returns:
    `(q, r)`, with pivoting `(q, r, p)`, where `p` is int32 of shape `(..., n)`.

  >>> from gnomon import lax
  >>> import numpy as np
  >>> q, r = lax.linalg.qr(np.float32([[3, 5], [4, 5]]))
  >>> abs(np.round(r, 5)).tolist()
  [[5.0, 7.0], [0.0, 1.0]]

  Raises:
    TypeError: the dtype is none of float32, float64, complex64, complex128.
    ValueError: `x` has less than two dimensions.
  """
  return tuple(qr_p.apply(
      x, pivoting=bool(pivoting), full_matrices=bool(full_matrices), use_magma=use_magma))


qr_p = Primitive("qr")


@typing_rule.define(qr_p)
def _(x: ShapedArray, *, pivoting: bool, full_matrices: bool,
      use_magma: bool | None) -> tuple[ShapedArray, ...]:
  check_matrices("qr", x)
  *batch, m, n = x.shape
  k = m if full_matrices else min(m, n)
  outs = [ShapedArray((*batch, m, k), x.dtype), ShapedArray((*batch, k, n), x.dtype)]
  return (*outs, ShapedArray((*batch, n), _INT32)) if pivoting else tuple(outs)


def _qr(x: Any, *, pivoting: bool, full_matrices: bool,
        use_magma: bool | None) -> list[Any]:
  shape, dtype = typeof(x).shape, typeof(x).dtype
  *batch, m, n = shape
  k = m if full_matrices else min(m, n)
  last: list[Any] = []
  if pivoting:
    start = full((*batch, n), 0, _INT32)
    packed, order, taus = geqp3_p.apply(x, start)
    last = [sub(order, full((*batch, n), 1, _INT32))]
  else:
    packed, taus = geqrf_p.apply(x)
  if m == 0 or n == 0:
    q = eye((*batch, m, k), dtype)
  elif k > n:
    pad = full((*batch, m, k - n), 0, dtype)
    q = householder_product_p.apply(concatenate([packed, pad], len(shape) - 1), taus)[0]
  else:
    q = householder_product_p.apply(left_columns(packed, k), taus)[0]
  return [q, triu(top_rows(packed, k)), *last]


lower_as(qr_p, _qr)
batch_leading(qr_p)


# Of x = q r: q^H dq is antihermitian, and dr upper triangular: S. F. Walter, L. Lehmann,
# R. Lamour, "On evaluating higher-order derivatives of the QR decomposition of tall
# matrices with full column rank in forward and reverse mode algorithmic differentiation",
# Optim. Methods Softw. 27, 2012. The columns that complete a square q turn as little as
# they must. Columns of x beyond a square part only enter r.
#
# Where an element of the diagonal of r is zero, its column of q is any that is orthogonal
# to those before it, and has no derivative. Forward mode takes the one that dx turns to.
# In reverse mode it stays, and what dx would turn it by times the element of r, which
# then grows, joins the product q r: see `_turns`.


@jvp_rule.define(qr_p)
def _(primals: Values, tangents: Values, *, pivoting: bool, full_matrices: bool,
      use_magma: bool | None) -> tuple[Values, Values]:
  params = {"full_matrices": full_matrices, "use_magma": use_magma}
  q, r, *order = qr_p.apply(*primals, pivoting=pivoting, **params)
  zeros = [Zero(typeof(p).to_tangent_aval()) for p in order]
  if type(tangents[0]) is Zero:
    return [q, r, *order], [Zero(typeof(q)), Zero(typeof(r)), *zeros]
  x, dx = (take_columns(y, order[0]) if order else y for y in (primals[0], tangents[0]))
  k = min(typeof(dx).shape[-2:])
  if k:
    zero = _zeros(r, k)

    def part(q: Any, r: Any) -> Any:
      moved = _parted(q, r, x, dx, zero, full_matrices)
      q = qr_p.apply(moved, pivoting=False, **params)[0]
      return q, triu(mm(adjoint(q), x))

    q, r = cond(
        reduce_or(zero, tuple(range(typeof(zero).ndim))), part, lambda *qr: qr, q, r)
  dq, dr, _ = _derivatives(q, r, dx, full_matrices)
  return [q, r, *order], [dq, dr, *zeros]


@linearize_rule.define(qr_p)
def _(primals: Values, tangents: Values, **params: Any) -> tuple[Values, Values]:
  q, r, *order = outs = qr_p.apply(*primals, **params)
  zeros = [Zero(typeof(p).to_tangent_aval()) for p in order]
  if type(tangents[0]) is Zero:
    return outs, [Zero(typeof(q)), Zero(typeof(r)), *zeros]
  dx = take_columns(tangents[0], order[0]) if order else tangents[0]
  dq, dr, rest = _derivatives(q, r, dx, params["full_matrices"])
  shape = typeof(r).shape
  n, k = len(shape), min(typeof(dx).shape[-2:])
  slope = convert(_zeros(r, k), typeof(r).dtype)
  slope = masked(eye_mask(k, k), columns(slope, top_rows(left_columns(r, k), k)))
  slope = _padded(_widened(slope, shape[-1] - k), shape)
  turn = _widened(rest, typeof(q).shape[-1] - k)
  follow([(dq, Course((n - 1,), turn=turn)), (dr, Course((n - 2,), slope=slope))])
  return outs, [dq, dr, *zeros]


def _zeros(r: Any, k: int) -> Any:
  """Which elements of the diagonal are zero, within the error of the decomposition."""
  return vanishing(modulus(diagonal(top_rows(left_columns(r, k), k))))


def _parted(
    q: Any, r: Any, x: Any, dx: Any, zero: Any, full_matrices: bool) -> Any:
  """A matrix whose q is that of `x + t dx` for a small t."""
  q, r, x, dx = (stop_gradient(y) for y in (q, r, x, dx))
  k = typeof(zero).shape[-1]
  dq, dr, _ = _derivatives(q, r, dx, full_matrices)
  kept = left_columns(top_rows(dr, k), k)
  kept = elsewhere(rows(zero, kept), kept)
  rest = sub(
      sub(left_columns(dx, k), mm(left_columns(dq, k), left_columns(top_rows(r, k), k))),
      mm(left_columns(q, k), kept))
  rest = where(columns(zero, rest), rest)
  n = typeof(x).ndim
  size, unit = (reduce_max(modulus(y), (n - 2, n - 1)) for y in (x, rest))
  size, unit = (
      select_n(eq(y, number(y, 0)), y, full(typeof(y).shape, 1, typeof(y).dtype))
      for y in (size, unit))
  scale = broadcast_in_dim(
      cast(div(size, unit), rest), typeof(rest).shape, tuple(range(n - 2)))
  return add(x, _widened(mul(rest, scale), typeof(x).shape[-1] - k))


def _derivatives(q: Any, r: Any, dx: Any, full_matrices: bool) -> tuple[Any, Any, Any]:
  """Those of q and r, and what of dx they leave out, where r has zeros."""
  m, n = typeof(dx).shape[-2:]
  k = min(m, n)
  thin = left_columns(q, k)
  square = left_columns(top_rows(r, k), k)
  dx_1 = left_columns(dx, k)
  zero = _zeros(r, k)
  # What is divided by infinity does not turn.
  endless = number(r, np.inf)
  divisor = with_diagonal(square, select_n(
      zero, diagonal(square), full(typeof(zero).shape, endless, typeof(r).dtype)))
  inner = mm(adjoint(q), dx_1)
  c = triangular_solve(divisor, inner)  # q^H dx r^-1
  turn = _antihermitian(top_rows(c, k))
  dr = triu(sub(top_rows(inner, k), mm(turn, square)))
  dq = mm(thin, turn)
  if m > k:
    outside = triangular_solve(divisor, dx_1)
    dq = add(dq, sub(outside, mm(thin, mm(adjoint(thin), outside))))
  rest = sub(sub(dx_1, mm(dq, square)), mm(thin, dr))
  rest = where(columns(zero, rest), rest)
  if n > k:
    dr = concatenate([dr, sub(
        mm(adjoint(thin), right_columns(dx, k)), mm(turn, right_columns(r, k)))],
        typeof(dr).ndim - 1)
  if full_matrices and m > n:
    return mm(q, _completed(turn, c, k)), _padded(dr, typeof(r).shape), rest
  return dq, dr, rest


def _widened(x: Any, more: int) -> Any:
  """Appends columns of zeros."""
  if not more:
    return x
  shape = typeof(x).shape
  return concatenate(
      [x, full((*shape[:-1], more), 0, typeof(x).dtype)], len(shape) - 1)


def _antihermitian(c: Any) -> Any:
  """The antihermitian matrix with the part of `c` below the diagonal.

  The diagonal is imaginary, so that that of dr is real.
  """
  low = tril(c, -1)
  out = sub(low, adjoint(low))
  if not is_complex(c):
    return out
  part = imag(diagonal(c))
  turned = complex(full(typeof(part).shape, 0, typeof(part).dtype), part)
  n = typeof(c).shape[-1]
  return add(out, masked(eye_mask(n, n), rows(turned, c)))


def _completed(turn: Any, c: Any, k: int) -> Any:
  """The antihermitian matrix of a square q, with zero for the added columns alone."""
  rest = bottom_rows(c, k)
  shape = typeof(rest).shape
  n = len(shape)
  corner = full((*shape[:-1], shape[-2]), 0, typeof(rest).dtype)
  left = concatenate([turn, rest], n - 2)
  right = concatenate([neg(adjoint(rest)), corner], n - 2)
  return concatenate([left, right], n - 1)


def _padded(x: Any, shape: tuple[int, ...]) -> Any:
  """Appends rows of zeros."""
  have = typeof(x).shape
  if have == shape:
    return x
  more = full((*have[:-2], shape[-2] - have[-2], have[-1]), 0, typeof(x).dtype)
  return concatenate([x, more], len(shape) - 2)


# ---- the parts of the algorithm

geqrf_p = Primitive("geqrf")


@typing_rule.define(geqrf_p)
def _(x: ShapedArray) -> tuple[ShapedArray, ...]:
  check_matrices("geqrf", x)
  *batch, m, n = x.shape
  return ShapedArray(x.shape, x.dtype), ShapedArray((*batch, min(m, n)), x.dtype)


@lower.define(geqrf_p)
def _(ctx: Any, x: Any) -> Values:
  out, taus = ctx.avals_out
  if out.size == 0:
    return [x, ctx.b.full(taus, 0)]
  return _lapack.call(ctx, "geqrf", (x,), ctx.avals_in, (out, taus), out.shape[:-2], {})


batch_leading(geqrf_p)
geqp3_p = Primitive("geqp3")


@typing_rule.define(geqp3_p)
def _(x: ShapedArray, order: ShapedArray) -> tuple[ShapedArray, ...]:
  check_matrices("geqp3", x)
  *batch, m, n = x.shape
  return (
      ShapedArray(x.shape, x.dtype), ShapedArray(order.shape, _INT32),
      ShapedArray((*batch, min(m, n)), x.dtype))


@lower.define(geqp3_p)
def _(ctx: Any, x: Any, order: Any) -> Values:
  b, (out, places, taus) = ctx.b, ctx.avals_out
  if out.size == 0:
    start = b.op1("stablehlo.iota", b.tensor(places), (), {
        "iota_dimension": b.i64(places.ndim - 1)})
    one = b.full(places, 1)
    return [x, b.op1("stablehlo.add", b.tensor(places), (start, one)), b.full(taus, 0)]
  return _lapack.call(
      ctx, "geqp3", (x, order), ctx.avals_in, (out, places, taus), out.shape[:-2], {},
      reuse=(0, 1))


batch_leading(geqp3_p)


def householder_product(a: Any, taus: Any) -> Any:
  """The product of Householder reflections, as LAPACK's geqrf describes them.

  Args:
    a: an array of shape `(..., m, n)` with `m >= n`: column i holds, below the diagonal,
      the vector of reflection i, whose element i is 1.
    taus: an array of shape `(..., k)` with `k <= n`: the factors of the reflections.

  Returns:
    The first n columns of the product, an array like `a`.

  >>> from gnomon import lax
  >>> import numpy as np
  >>> vectors = np.zeros((2, 1), np.float32)
  >>> lax.linalg.householder_product(vectors, np.float32([2])).tolist()
  [[-1.0], [-0.0]]

  Raises:
    TypeError: dtypes differ, or are none of float32, float64, complex64, complex128.
    ValueError: the shapes do not fit.
  """
  return householder_product_p.apply(a, taus)[0]


householder_product_p = Primitive("householder_product")


@typing_rule.define(householder_product_p)
def _(a: ShapedArray, taus: ShapedArray) -> tuple[ShapedArray]:
  _check_reflections("householder_product", a, taus)
  if a.shape[-2] < a.shape[-1]:
    raise ValueError(
        f"householder_product: a must have no more columns than rows, got {a}")
  return (ShapedArray(a.shape, a.dtype),)


def _check_reflections(name: str, a: ShapedArray, taus: ShapedArray) -> None:
  check_matrices(name, a, argument="a")
  check_same(name, a, taus=taus)
  if taus.ndim != a.ndim - 1 or taus.shape[:-1] != a.shape[:-2] or (
      taus.shape[-1] > min(a.shape[-2:])):
    raise ValueError(
        f"{name}: for an a of shape (..., m, n), taus must have the shape (..., k), with "
        f"k at most min(m, n): got {a.shape} and {taus.shape}")


@lower.define(householder_product_p)
def _(ctx: Any, a: Any, taus: Any) -> Values:
  out = ctx.avals_out[0]
  if out.size == 0:
    return [a]
  return _lapack.call(
      ctx, "orgqr/ungqr", (a, taus), ctx.avals_in, (out,), out.shape[:-2], {})


batch_leading(householder_product_p)


def ormqr(
    a: Any, taus: Any, c: Any, *, left: bool = True, transpose: bool = False) -> Any:
  """Multiplies with a product of Householder reflections, without making it.

  Args:
    a: an array of shape `(..., m, k)`, as of LAPACK's geqrf; see `householder_product`.
    taus: an array of shape `(..., k)`: the factors of the reflections.
    c: an array of matrices with m rows if `left`, otherwise m columns.
    left: multiplies `q c`, otherwise `c q`.
    transpose: takes the conjugate transpose of q.

  Returns:
    An array like `c`.

  >>> from gnomon import lax
  >>> import numpy as np
  >>> lax.linalg.ormqr(
  ...     np.zeros((1, 1), np.float32), np.float32([2]), np.float32([[3]])).tolist()
  [[-3.0]]

  Raises:
    TypeError: dtypes differ, or are none of float32, float64, complex64, complex128.
    ValueError: the shapes do not fit.
  """
  return ormqr_p.apply(a, taus, c, left=bool(left), transpose=bool(transpose))[0]


ormqr_p = Primitive("ormqr")


@typing_rule.define(ormqr_p)
def _(a: ShapedArray, taus: ShapedArray, c: ShapedArray, *, left: bool,
      transpose: bool) -> tuple[ShapedArray]:
  _check_reflections("ormqr", a, taus)
  check_same("ormqr", a, c=c)
  if c.ndim != a.ndim or c.shape[:-2] != a.shape[:-2] or (
      c.shape[-2 if left else -1] != a.shape[-2]):
    raise ValueError(
        f"ormqr: with left={left}, c must have {'rows' if left else 'columns'} as many "
        f"as a has rows, and the leading dimensions of a: got {a.shape} and {c.shape}")
  return (ShapedArray(c.shape, c.dtype),)


@lower.define(ormqr_p)
def _(ctx: Any, a: Any, taus: Any, c: Any, *, left: bool, transpose: bool) -> Values:
  out = ctx.avals_out[0]
  if out.size == 0 or ctx.avals_in[1].size == 0:
    return [c]
  return _lapack.call(
      ctx, "ormqr/unmqr", (a, taus, c), ctx.avals_in, (out,), out.shape[:-2],
      {"left": left, "transpose": transpose}, reuse=(-1, -1, 0))


batch_leading(ormqr_p)
