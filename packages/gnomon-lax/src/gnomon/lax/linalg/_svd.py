"""Decomposition of matrices into singular values and vectors."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.core.primitive import Primitive
from gnomon.core.rule import jvp_rule, lower, typing_rule
from gnomon.core.structural import full
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import Zero
from gnomon.lax._arithmetic import add, mul, neg, sub
from gnomon.lax._complex import complex, imag
from gnomon.lax._shape import concatenate
from gnomon.lax._slicing import slice_in_dim
from gnomon.lax.linalg import _lapack
from gnomon.lax.linalg._eigh import subset_range
from gnomon.lax.linalg._matrix import (
  adjoint,
  batch_leading,
  cast,
  check_matrices,
  columns,
  diagonal,
  eye_mask,
  is_complex,
  masked,
  mm,
  number,
  real_dtype,
  real_part,
  rows,
  safe_divide,
)
from gnomon.lax.linalg._parts import left_columns, right_columns, top_rows

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

  The derivative of singular vectors is that of the vectors which turn least; for a
  singular value that occurs several times (or is 0) their turning among each other has no
  derivative, and counts as 0.

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


@jvp_rule.define(svd_p)
def _(primals: Values, tangents: Values, *, full_matrices: bool, compute_uv: bool,
      subset_by_index: Any, algorithm: Any) -> tuple[Values, Values]:
  """With P = u^H dx v: ds = diag(P); u and v turn by what is left of P.

  J. Townsend, "Differentiating the singular value decomposition", 2016; for complex
  numbers the phases that are free are shared by u and v. Columns that complete a square u
  or v turn as little as they must.
  """
  fixed = {"subset_by_index": subset_by_index, "algorithm": algorithm}
  s, u, vh = svd_p.apply(
      *primals, full_matrices=full_matrices and compute_uv, compute_uv=True, **fixed)
  outs = [s, u, vh] if compute_uv else [s]
  dx = tangents[0]
  if type(dx) is Zero:
    return outs, [Zero(typeof(o)) for o in outs]
  m, n = typeof(dx).shape[-2:]
  k = min(m, n)
  thin, v = left_columns(u, k), adjoint(top_rows(vh, k))
  right = mm(dx, v)
  inner = mm(adjoint(thin), right)
  ds = real_part(diagonal(inner))
  if not compute_uv:
    return outs, [ds]
  in_u, in_v = _turns(inner, s)
  du, dv = mm(thin, in_u), mm(v, in_v)
  if m > k:
    du = add(du, _divided(_outside(thin, right), s))
  if n > k:
    dv = add(dv, _divided(_outside(v, mm(adjoint(dx), thin)), s))
  if full_matrices:
    du = _completed(u, du, k)
    dv = _completed(adjoint(vh), dv, k)
  return outs, [ds, du, adjoint(dv)]


def _turns(inner: Any, s: Any) -> tuple[Any, Any]:
  """How the vectors turn among each other: the antihermitian u^H du and v^H dv."""
  s_i, s_j = (cast(f(s, inner), inner) for f in (rows, columns))
  gaps = mul(sub(s_j, s_i), add(s_j, s_i))
  turned = adjoint(inner)
  in_u = safe_divide(add(mul(inner, s_j), mul(s_i, turned)), gaps)
  in_v = safe_divide(add(mul(s_i, inner), mul(turned, s_j)), gaps)
  if not is_complex(inner):
    return in_u, in_v
  phase = imag(diagonal(inner))
  phase = safe_divide(phase, mul(s, number(s, 2)))
  phase = complex(full(typeof(phase).shape, 0, typeof(phase).dtype), phase)
  k = typeof(inner).shape[-1]
  share = masked(eye_mask(k, k), rows(phase, inner))
  return add(in_u, share), sub(in_v, share)


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
