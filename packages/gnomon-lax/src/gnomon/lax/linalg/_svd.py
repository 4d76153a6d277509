"""Decomposition of matrices into singular values and vectors."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.api.stopping import stop_gradient
from gnomon.core.primitive import Primitive
from gnomon.core.rule import jvp_rule, linearize_rule, lower, typing_rule
from gnomon.core.structural import convert, full, select_n
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import Zero
from gnomon.lax._arithmetic import add, div, mul, neg, sub
from gnomon.lax._bitwise import bitwise_and as and_
from gnomon.lax._bitwise import bitwise_or as or_
from gnomon.lax._complex import abs as modulus
from gnomon.lax._control.cond import cond
from gnomon.lax._creation import full_like
from gnomon.lax._reduction import reduce_max, reduce_or
from gnomon.lax._shape import concatenate
from gnomon.lax._slicing import slice_in_dim
from gnomon.lax.linalg import _lapack
from gnomon.lax.linalg._eigh import subset_range
from gnomon.lax.linalg._equal import (
  alone,
  elsewhere,
  equal,
  groups,
  off_diagonal,
  repeated,
  vanishing,
  where,
)
from gnomon.lax.linalg._matrix import (
  adjoint,
  batch_leading,
  cast,
  check_matrices,
  columns,
  diagonal,
  eye,
  mm,
  number,
  real_dtype,
  real_part,
  rows,
  safe_divide,
  symmetrized,
)
from gnomon.lax.linalg._parts import left_columns, right_columns, top_rows
from gnomon.lax.linalg._turns import Course, follow

Values = Sequence[Any]


class SvdAlgorithm(enum.Enum):
  """The algorithm of `svd`.

  >>> from gnomon import lax
  >>> lax.linalg.SvdAlgorithm("QR").name
  'QR'
  """

  DEFAULT = "default"
  """The one that suits the hardware; on CPUs, divide and conquer."""
  QR = "QR"
  """Iterations of QR decompositions: slower on CPUs, sometimes more exact."""
  JACOBI = "Jacobi"
  """Jacobi's rotations; not on CPUs."""
  POLAR = "polar"
  """By a polar decomposition; not on CPUs."""
  DIVIDE_AND_CONQUER = "divide_and_conquer"
  """LAPACK's divide and conquer."""


def svd(
    x: Any, *, full_matrices: bool = True, compute_uv: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    algorithm: SvdAlgorithm | None = None) -> Any:
  """Singular values and vectors of matrices: `x = u diag(s) vh`.

  The derivative of singular vectors is that of the vectors which turn least. Those of a
  singular value that occurs several times (or is 0) have none; functions that do not
  depend on their choice, as `(u f(s)) @ vh` for an odd function f, have the right one
  also there, if the function that is differentiated writes them with products, sums and
  elementwise functions of singular values.

  Args:
    x: an array of shape `(..., m, n)`.
    full_matrices: makes `u` and `vh` square; otherwise they have `k = min(m, n)` columns
      and rows.
    compute_uv: gives `u` and `vh` too.
    subset_by_index: the range `(first, end)` of singular values to give, counted from the
      largest one; None for all of them. CPUs compute all in any case.
    algorithm: the algorithm; None for the best.

  Returns:
    `(u, s, vh)` or `s`: the singular values are real, of shape `(..., k)`, from the
    largest one. nan where the algorithm fails.

  >>> from gnomon import lax
  >>> import numpy as np
  >>> u, s, vh = lax.linalg.svd(np.float32([[0, 2], [3, 0]]))
  >>> s.tolist()
  [3.0, 2.0]

  Raises:
    TypeError: the dtype is none of float32, float64, complex64, complex128.
    ValueError: `x` has less than two dimensions; a subset is to have full matrices,
      or is no range.
    NotImplementedError: an algorithm that CPUs have not.
  """
  if full_matrices and subset_by_index is not None:
    raise ValueError(
        f"svd: full_matrices and subset_by_index={subset_by_index} exclude each other; "
        "pass full_matrices=False")
  outs = svd_p.apply(
      x, full_matrices=bool(full_matrices), compute_uv=bool(compute_uv),
      subset_by_index=None, algorithm=algorithm)
  if subset_by_index is not None:
    n = typeof(outs[0]).ndim - 1
    first, end = subset_range("svd", subset_by_index, typeof(outs[0]).shape[-1])
    outs = tuple([
        slice_in_dim(v, first, end, axis=axis) for v, axis in zip(outs, (n, n + 1, n))])
  if not compute_uv:
    return outs[0]
  s, u, vh = outs
  return u, s, vh


svd_p = Primitive("svd")


@typing_rule.define(svd_p)
def _(x: ShapedArray, *, full_matrices: bool, compute_uv: bool,
      **_: Any) -> list[ShapedArray]:
  check_matrices("svd", x)
  *batch, m, n = x.shape
  k = min(m, n)
  s = ShapedArray((*batch, k), real_dtype(x.dtype))
  if not compute_uv:
    return [s]
  p, q = (m, n) if full_matrices else (k, k)
  return [s, ShapedArray((*batch, m, p), x.dtype), ShapedArray((*batch, q, n), x.dtype)]


_ROUTINES = {
    None: "gesdd", SvdAlgorithm.DEFAULT: "gesdd",
    SvdAlgorithm.DIVIDE_AND_CONQUER: "gesdd", SvdAlgorithm.QR: "gesvd"}


@lower.define(svd_p)
def _(ctx: Any, x: Any, *, full_matrices: bool, compute_uv: bool, algorithm: Any,
      **_: Any) -> Values:
  if algorithm not in _ROUTINES:
    raise NotImplementedError(
        f"svd: {algorithm} is not possible on CPUs; take SvdAlgorithm.QR, "
        "SvdAlgorithm.DIVIDE_AND_CONQUER, or None")
  b, aval, outs = ctx.b, ctx.avals_in[0], ctx.avals_out
  batch = aval.shape[:-2]
  if aval.size == 0:
    return [b.full(outs[0], 0), *(_eye(b, a) for a in outs[1:])]
  vectors = outs[1:]
  if not compute_uv:
    *_, m, n = aval.shape
    k = min(m, n)
    vectors = [
        ShapedArray((*batch, *size), aval.dtype) for size in ((m, k), (k, n))]
  mode = ("A" if full_matrices else "S") if compute_uv else "N"
  _, s, u, vh, status = _lapack.call(
      ctx, _ROUTINES[algorithm], (x,), (aval,),
      (aval, outs[0], *vectors, _lapack.info(batch)), batch, {"mode": mode})
  return _lapack.or_nan(ctx, status, [s, u, vh][:len(outs)], outs, batch)


def _eye(b: Any, aval: ShapedArray) -> Any:
  """Identity matrices, the vectors of an empty matrix."""
  one = b.constant(np.eye(*aval.shape[-2:], dtype=aval.dtype))
  return b.broadcast_in_dim(one, aval, (aval.ndim - 2, aval.ndim - 1))


# With p = u^H dx v, h and k its Hermitian and antihermitian part: ds = diag(h); vectors
# of u and v turn together by h_ij / (s_j - s_i), against each other by k_ij / (s_i + s_j)
# (J. Townsend, "Differentiating the singular value decomposition", 2016). Columns that
# complete a square u or v turn as little as they must. Between equal singular values the
# former has no meaning, nor the latter between zeros, and what that leaves out is got as
# in `_eigh`: in forward mode by other vectors, in reverse mode by `_turns`.


@jvp_rule.define(svd_p)
def _(primals: Values, tangents: Values, *, full_matrices: bool, compute_uv: bool,
      **params: Any) -> tuple[Values, Values]:
  full_matrices = full_matrices and compute_uv
  s, u, vh = svd_p.apply(
      *primals, full_matrices=full_matrices, compute_uv=True, **params)
  dx = tangents[0]
  if type(dx) is not Zero and typeof(s).shape[-1]:
    group, zero = groups(s), vanishing(s)

    def part(u: Any, vh: Any) -> Any:
      x = _parted(left_columns(u, typeof(s).shape[-1]), s, top_rows(
          vh, typeof(s).shape[-1]), dx, group, zero)
      found = svd_p.apply(x, full_matrices=full_matrices, compute_uv=True, **params)
      stay = elsewhere(zero, alone(group))
      return _replaced(stay, u, found[1], -1), _replaced(stay, vh, found[2], -2)

    special = or_(repeated(group), reduce_or(zero, tuple(range(typeof(zero).ndim))))
    u, vh = cond(special, part, lambda *xs: xs, u, vh)
  outs, touts, _ = _derivatives(s, u, vh, dx, full_matrices)
  return (outs, touts) if compute_uv else (outs[:1], touts[:1])


@linearize_rule.define(svd_p)
def _(primals: Values, tangents: Values, *, full_matrices: bool, compute_uv: bool,
      **params: Any) -> tuple[Values, Values]:
  full_matrices = full_matrices and compute_uv
  s, u, vh = svd_p.apply(
      *primals, full_matrices=full_matrices, compute_uv=True, **params)
  outs, touts, turns = _derivatives(s, u, vh, tangents[0], full_matrices)
  if not compute_uv:
    return outs[:1], touts[:1]
  if turns is not None:
    n = typeof(s).ndim
    follow([
        (touts[0], Course((n - 1,), slope=full_like(s, 1.0))),
        (touts[1], Course((n,), turn=turns[0])),
        (touts[2], Course((n - 1,), turn=turns[1]))])
  return outs, touts


def _derivatives(
    s: Any, u: Any, vh: Any, dx: Any, full_matrices: bool) -> tuple[Values, Values, Any]:
  """The results, their tangents, and the `turn` of u and vh, for `_turns`."""
  outs = [s, u, vh]
  if type(dx) is Zero:
    return outs, [Zero(typeof(o)) for o in outs], None
  m, n = typeof(dx).shape[-2:]
  k = min(m, n)
  thin, v = left_columns(u, k), adjoint(top_rows(vh, k))
  right = mm(dx, v)
  inner = mm(adjoint(thin), right)
  common = symmetrized(inner)
  against = sub(inner, common)
  together, zero = equal(groups(s)), vanishing(s)
  zeros = and_(rows(zero, together), columns(zero, together))
  s_i, s_j = (cast(f(s, inner), inner) for f in (rows, columns))
  common_turn = elsewhere(together, safe_divide(common, sub(s_j, s_i)))
  other_turn = elsewhere(zeros, safe_divide(against, add(s_i, s_j)))
  half = number(inner, 2)
  common_part = div(where(off_diagonal(together), common), half)
  other_part = div(where(zeros, against), half)
  du, u_part = mm(thin, add(common_turn, other_turn)), mm(
      thin, add(common_part, other_part))
  dv, v_part = mm(v, sub(common_turn, other_turn)), mm(v, sub(common_part, other_part))
  if m > k:
    du, u_part = _beyond(du, u_part, _outside(thin, right), s, zero)
  if n > k:
    dv, v_part = _beyond(dv, v_part, _outside(v, mm(adjoint(dx), thin)), s, zero)
  if full_matrices:
    du, dv = _completed(u, du, k), _completed(adjoint(vh), dv, k)
    u_part, v_part = _widened(u_part, typeof(u).shape), _widened(
        v_part, typeof(dv).shape)
  touts = [real_part(diagonal(inner)), du, adjoint(dv)]
  return outs, touts, (u_part, adjoint(v_part))


def _beyond(
    moved: Any, part: Any, outside: Any, s: Any, zero: Any) -> tuple[Any, Any]:
  """Adds the motion of vectors out of the space of all of them."""
  zeros = columns(zero, outside)
  moved = add(moved, elsewhere(zeros, _divided(outside, s)))
  return moved, add(part, where(zeros, outside))


def _widened(x: Any, shape: tuple[int, ...]) -> Any:
  """Appends columns of zeros."""
  have = typeof(x).shape
  if have == shape:
    return x
  more = full((*have[:-1], shape[-1] - have[-1]), 0, typeof(x).dtype)
  return concatenate([x, more], len(shape) - 1)


def _parted(u: Any, s: Any, vh: Any, dx: Any, group: Any, zero: Any) -> Any:
  """A matrix whose singular vectors are those of `x + t dx` for a small t.

  Those of equal singular values make the Hermitian part of `u^H dx v` diagonal; those of
  zeros are the vectors of what `dx` is outside of the others. Steps between groups, of
  more than twice the norm, keep the order.
  """
  u, vh, dx = (stop_gradient(x) for x in (u, vh, dx))
  v = adjoint(vh)
  inner = mm(adjoint(u), mm(dx, v))
  k = typeof(inner).shape[-1]
  n = typeof(dx).ndim
  size = reduce_max(modulus(dx), (n - 2, n - 1))
  step = mul(size, number(size, 4 * max(typeof(dx).shape[-2:])))
  level = convert(sub(np.int32(k), group), typeof(step).dtype)
  level = elsewhere(zero, mul(level, rows(step, level)))
  others = elsewhere(and_(rows(zero, inner), columns(zero, inner)), where(
      equal(group), symmetrized(inner)))
  others = add(others, mul(eye(typeof(inner).shape, typeof(inner).dtype), cast(
      columns(level, inner), inner)))
  first_u, first_v = (elsewhere(columns(zero, x), x) for x in (u, v))
  rest = _outside(first_u, adjoint(_outside(first_v, adjoint(dx))))
  return add(mm(u, mm(others, vh)), rest)


def _replaced(stay: Any, old: Any, new: Any, axis: int) -> Any:
  """Takes new vectors except where old ones stay; those that complete a basis are new."""
  new = stop_gradient(new)
  shape = typeof(new).shape
  more = shape[axis] - typeof(stay).shape[-1]
  if more:
    have = typeof(stay).shape
    stay = concatenate([stay, full((*have[:-1], more), False, np.dtype(bool))], len(
        have) - 1)
  mask = columns(stay, new) if axis == -1 else rows(stay, new)
  return select_n(mask, new, old)


def _outside(basis: Any, x: Any) -> Any:
  """What of the columns of `x` the orthonormal columns do not span."""
  return sub(x, mm(basis, mm(adjoint(basis), x)))


def _divided(x: Any, s: Any) -> Any:
  return safe_divide(x, cast(columns(s, x), x))


def _completed(basis: Any, moved: Any, k: int) -> Any:
  """The motion of all columns of a square matrix, from that of the first k."""
  rest = right_columns(basis, k)
  if not typeof(rest).shape[-1]:
    return moved
  follow = neg(mm(left_columns(basis, k), mm(adjoint(moved), rest)))
  return concatenate([moved, follow], typeof(moved).ndim - 1)


batch_leading(svd_p)
