"""Eigenvalues and eigenvectors of Hermitian matrices."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from gnomon.core.primitive import Primitive
from gnomon.core.rule import jvp_rule, linearize_rule, lower, typing_rule
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import Zero
from gnomon.lax._arithmetic import div, sub
from gnomon.lax._control.cond import cond
from gnomon.lax._creation import full_like
from gnomon.lax._shape import ints
from gnomon.lax._slicing import slice_in_dim
from gnomon.lax.linalg import _lapack
from gnomon.lax.linalg._equal import (
  elsewhere,
  equal,
  groups,
  off_diagonal,
  parting,
  repeated,
  where,
)
from gnomon.lax.linalg._matrix import (
  adjoint,
  batch_leading,
  cast,
  check_matrices,
  columns,
  diagonal,
  mm,
  number,
  real_dtype,
  real_part,
  rows,
  safe_divide,
  symmetrized,
)
from gnomon.lax.linalg._turns import Course, follow

Values = Sequence[Any]


class EighImplementation(enum.Enum):
  """The algorithm of `eigh`, where the hardware has a choice; CPUs have QR alone.

  >>> from gnomon import lax
  >>> lax.linalg.EighImplementation("qr").name
  'QR'
  """

  QR = "qr"
  """A tridiagonal matrix first, then LAPACK's divide and conquer."""
  JACOBI = "jacobi"
  """Jacobi's rotations."""
  QDWH = "qdwh"
  """Spectral divide and conquer by polar decompositions."""


def eigh(
    x: Any, *, lower: bool = True, symmetrize_input: bool = True,
    sort_eigenvalues: bool = True, subset_by_index: tuple[int, int] | None = None,
    implementation: EighImplementation | None = None) -> tuple[Any, Any]:
  """Eigenvectors and eigenvalues of Hermitian matrices: `x v = v diag(w)`.

  The derivative of eigenvectors is that of the vectors which turn least. Those of an
  eigenvalue that occurs several times have none; functions that do not depend on their
  choice, as `(v * f(w)) @ v.T`, have the right one also there, if the function that is
  differentiated writes them with products, sums and elementwise functions of eigenvalues.

  Args:
    x: an array of shape `(..., n, n)`.
    lower: reads the lower triangle, otherwise the upper one, if the input is not
      symmetrised.
    symmetrize_input: first takes the mean of `x` and its conjugate transpose.
    sort_eigenvalues: sorts them, from the least one; they are sorted in any case on CPUs.
    subset_by_index: the range `(first, end)` of eigenvalues to give, counted from the
      least one; None for all of them. CPUs compute all in any case.
    implementation: the algorithm; None for the best.

  Returns:
    `(v, w)`: the eigenvectors, columns of length 1, like `x`, and the eigenvalues, real,
    of shape `(..., n)`; nan where the algorithm fails.

  >>> from gnomon import lax
  >>> import numpy as np
  >>> v, w = lax.linalg.eigh(np.float32([[2, 1], [1, 2]]))
  >>> np.round(w, 5).tolist()
  [1.0, 3.0]

  Raises:
    TypeError: the dtype is none of float32, float64, complex64, complex128.
    ValueError: `x` has no square matrices, or not so many eigenvalues.
    NotImplementedError: an algorithm that CPUs have not.
  """
  check_matrices("eigh", typeof(x), square=True)
  if symmetrize_input:
    x = symmetrized(x)
  v, w = eigh_p.apply(
      x, lower=bool(lower), sort_eigenvalues=bool(sort_eigenvalues), subset_by_index=None,
      algorithm=implementation)
  if subset_by_index is not None:
    n = typeof(w).ndim - 1
    first, end = subset_range("eigh", subset_by_index, typeof(w).shape[-1])
    w = slice_in_dim(w, first, end, axis=n)
    v = slice_in_dim(v, first, end, axis=n + 1)
  return v, w


def subset_range(name: str, subset: tuple[int, int], n: int) -> tuple[int, int]:
  """A range of n values given by the user.

  Raises:
    ValueError: it is no range within them.
  """
  first, end = ints(subset)
  if not 0 <= first <= end <= n:
    raise ValueError(
        f"{name}: subset_by_index must be a range (first, end) of the {n} values, got "
        f"{subset}")
  return first, end


eigh_p = Primitive("eigh")


@typing_rule.define(eigh_p)
def _(x: ShapedArray, **_: Any) -> tuple[ShapedArray, ...]:
  check_matrices("eigh", x, square=True)
  return (
      ShapedArray(x.shape, x.dtype), ShapedArray(x.shape[:-1], real_dtype(x.dtype)))


@lower.define(eigh_p)
def _(ctx: Any, x: Any, *, lower: bool, algorithm: Any, **_: Any) -> Values:
  if algorithm not in (None, EighImplementation.QR):
    raise NotImplementedError(
        f"eigh: {algorithm} is not possible on CPUs; take EighImplementation.QR, or None")
  vectors, values = outs = ctx.avals_out
  if vectors.size == 0:
    return [x, ctx.b.full(values, 0)]
  batch = vectors.shape[:-2]
  v, w, status = _lapack.call(
      ctx, "syevd/heevd", (x,), ctx.avals_in, (*outs, _lapack.info(batch)), batch,
      {"mode": "V", "uplo": "L" if lower else "U"})
  return _lapack.or_nan(ctx, status, [v, w], outs, batch)


# Dw = diag(v^H dx v), dv = v (F ∘ v^H dx v) with F_ij = 1 / (w_j - w_i): M. B. Giles,
# "Collected matrix derivative results for forward and reverse mode algorithmic
# differentiation", 2008, section 3.1. F is 0 between equal eigenvalues. What is missing
# then is got in forward mode by the basis in which dx is diagonal there too: it is a
# basis of the same space, and that in which the eigenvectors leave each other. In reverse
# mode the direction is unknown; see `_turns`.


@jvp_rule.define(eigh_p)
def _(primals: Values, tangents: Values, **params: Any) -> tuple[Values, Values]:
  v, w = outs = eigh_p.apply(*primals, **params)
  if type(tangents[0]) is Zero:
    return outs, [Zero(typeof(v)), Zero(typeof(w))]
  group = groups(w)
  inner = mm(adjoint(v), mm(tangents[0], v))

  def part(v: Any, inner: Any) -> tuple[Any, Any]:
    basis = parting(inner, group, lambda x: eigh_p.apply(x, **params)[0])
    return mm(v, basis), mm(adjoint(basis), mm(inner, basis))

  if typeof(w).shape[-1] > 1:
    v, inner = cond(repeated(group), part, lambda *xs: xs, v, inner)
  dv = mm(v, _turning(inner, w, equal(group)))
  return (v, w), [dv, real_part(diagonal(inner))]


@linearize_rule.define(eigh_p)
def _(primals: Values, tangents: Values, **params: Any) -> tuple[Values, Values]:
  v, w = outs = eigh_p.apply(*primals, **params)
  if type(tangents[0]) is Zero:
    return outs, [Zero(typeof(v)), Zero(typeof(w))]
  together = equal(groups(w))
  inner = mm(adjoint(v), mm(tangents[0], v))
  dv, dw = mm(v, _turning(inner, w, together)), real_part(diagonal(inner))
  n = typeof(w).ndim
  turn = mm(v, div(where(off_diagonal(together), inner), number(inner, 2)))
  follow([
      (dv, Course((n,), turn=turn)), (dw, Course((n - 1,), slope=full_like(w, 1.0)))])
  return outs, [dv, dw]


def _turning(inner: Any, w: Any, together: Any) -> Any:
  """`F ∘ inner`: how eigenvectors turn among each other."""
  gaps = cast(sub(columns(w, inner), rows(w, inner)), inner)
  return elsewhere(together, safe_divide(inner, gaps))


batch_leading(eigh_p)
