"""Eigenvalues, eigenvectors and related forms of general square matrices."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon.core.primitive import Primitive
from gnomon.core.rule import jvp_rule, lower, typing_rule
from gnomon.core.structural import full, reduce_sum, select_n
from gnomon.core.types import ShapedArray, typeof
from gnomon.core.zero import Zero
from gnomon.lax._arithmetic import add, div, mul, neg, sub
from gnomon.lax._comparison import eq
from gnomon.lax._complex import abs as modulus
from gnomon.lax._complex import complex, imag, real
from gnomon.lax._creation import broadcasted_iota
from gnomon.lax._reduction import argmax
from gnomon.lax.linalg import _lapack
from gnomon.lax.linalg._matrix import (
  adjoint,
  as_complex,
  batch_leading,
  check_matrices,
  columns,
  complex_dtype,
  conj_if_complex,
  diagonal,
  mm,
  rows,
  safe_divide,
)
from gnomon.lax.linalg._solve import solve

Values = Sequence[Any]


# ---- eig


class EigImplementation(enum.Enum):
  """The library for `eig`, where the hardware has a choice; CPUs have LAPACK alone.

  >>> from gnomon import lax
  >>> lax.linalg.EigImplementation("lapack").name
  'LAPACK'
  """

  CUSOLVER = "cusolver"
  """NVIDIA's library."""
  MAGMA = "magma"
  """MAGMA, on a CPU and a GPU together."""
  LAPACK = "lapack"
  """LAPACK, on a CPU."""


def eig(
    x: Any, *, compute_left_eigenvectors: bool = True,
    compute_right_eigenvectors: bool = True, enable_eigvec_derivs: bool = False,
    implementation: EigImplementation | None = None,
    use_magma: bool | None = None) -> list[Any]:
  """Eigenvalues and eigenvectors of square matrices.

  Args:
    x: an array of shape `(..., n, n)`.
    compute_left_eigenvectors: gives `vl` with `vl^H x = diag(w) vl^H`.
    compute_right_eigenvectors: gives `vr` with `x vr = vr diag(w)`.
    enable_eigvec_derivs: whether eigenvectors have derivatives. These are right where no
      eigenvalue is repeated, and where each vector has one largest element, which is made
      real; no program can check that for you.
    implementation: the library; None for that of the hardware.
    use_magma: whether a GPU uses the library MAGMA; without meaning on CPUs.

  Returns:
    `[w]`, then `vl` and `vr` if asked for: complex, of shapes `(..., n)` and `(..., n,
    n)`; eigenvectors are columns of length 1. nan where the algorithm fails.

  >>> from gnomon import lax
  >>> import numpy as np
  >>> w, vl, vr = lax.linalg.eig(np.float32([[0, 1], [-1, 0]]))
  >>> w.tolist()
  [1j, -1j]

  Raises:
    TypeError: the dtype is none of float32, float64, complex64, complex128.
    ValueError: `x` has no square matrices; or the library is not for CPUs.
  """
  if implementation not in (None, EigImplementation.LAPACK):
    raise ValueError(
        f"eig: {implementation} is not possible on CPUs; take EigImplementation.LAPACK, "
        "or None")
  return list(eig_p.apply(
      x, compute_left_eigenvectors=bool(compute_left_eigenvectors),
      compute_right_eigenvectors=bool(compute_right_eigenvectors),
      enable_eigvec_derivs=bool(enable_eigvec_derivs), implementation=implementation))


eig_p = Primitive("eig")


@typing_rule.define(eig_p)
def _(x: ShapedArray, *, compute_left_eigenvectors: bool,
      compute_right_eigenvectors: bool, **_: Any) -> list[ShapedArray]:
  check_matrices("eig", x, square=True)
  dtype = complex_dtype(x.dtype)
  vectors = int(compute_left_eigenvectors) + int(compute_right_eigenvectors)
  return [ShapedArray(x.shape[:-1], dtype), *[ShapedArray(x.shape, dtype)] * vectors]


@lower.define(eig_p)
def _(ctx: Any, x: Any, *, compute_left_eigenvectors: bool,
      compute_right_eigenvectors: bool, **_: Any) -> Values:
  b, aval = ctx.b, ctx.avals_in[0]
  outs = ctx.avals_out
  if aval.size == 0:
    return [b.full(a, 0) for a in outs]
  w, batch = outs[0], aval.shape[:-2]
  vectors = ShapedArray(aval.shape, w.dtype)
  options = {
      "compute_left": "V" if compute_left_eigenvectors else "N",
      "compute_right": "V" if compute_right_eigenvectors else "N"}
  parts = [w] if aval.dtype.kind == "c" else [ShapedArray(w.shape, aval.dtype)] * 2
  *value, vl, vr, status = _lapack.call(
      ctx, "geev", (x,), (aval,), (*parts, vectors, vectors, _lapack.info(batch)), batch,
      options, reuse=(-1,))
  if len(value) == 2:
    value = [b.op1("stablehlo.complex", b.tensor(w), value)]
  values = [*value, *([vl] if compute_left_eigenvectors else []), *(
      [vr] if compute_right_eigenvectors else [])]
  return _lapack.or_nan(ctx, status, values, outs, batch)


@jvp_rule.define(eig_p)
def _(primals: Values, tangents: Values, *, compute_left_eigenvectors: bool,
      compute_right_eigenvectors: bool, enable_eigvec_derivs: bool,
      implementation: Any) -> tuple[Values, Values]:
  """Dw = diag(vr^-1 dx vr), and dvr = vr (F ∘ vr^-1 dx vr), with F_ij = 1 / (w_j - w_i).

  M. B. Giles, "Collected matrix derivative results for forward and reverse mode
  algorithmic differentiation", 2008, section 3.1; to each column a multiple of itself is
  added, so that it keeps its length and the phase that LAPACK gives it. Left eigenvectors
  are those of x^H.
  """
  fixed = {"enable_eigvec_derivs": True, "implementation": implementation}
  wanted = compute_left_eigenvectors, compute_right_eigenvectors
  if any(wanted) and not enable_eigvec_derivs:
    raise NotImplementedError(
        "eig: the derivatives of eigenvectors are only right under conditions that "
        "cannot be checked; if they hold (no repeated eigenvalues, among others), ask "
        "for them with lax.linalg.eig(..., enable_eigvec_derivs=True). Eigenvalues alone "
        "have derivatives in any case: compute them without eigenvectors")
  w, *vectors = eig_p.apply(
      *primals, compute_left_eigenvectors=wanted[0], compute_right_eigenvectors=True,
      **fixed)
  vr = vectors[-1]
  outs = [w, *(vectors if wanted[1] else vectors[:-1])]
  if type(tangents[0]) is Zero:
    return outs, [Zero(typeof(o)) for o in outs]
  dx = as_complex(tangents[0])
  inner = solve(vr, mm(dx, vr))
  touts = [diagonal(inner)]
  if wanted[0]:
    vl = vectors[0]
    turned = solve(vl, mm(adjoint(dx), vl))
    touts.append(_turn(vl, conj_if_complex(w), turned))
  if wanted[1]:
    touts.append(_turn(vr, w, inner))
  return outs, touts


def _turn(v: Any, w: Any, inner: Any) -> Any:
  """How eigenvectors move."""
  move = mm(v, safe_divide(inner, sub(columns(w, v), rows(w, v))))
  n = typeof(v).ndim
  along = neg(reduce_sum(real(mul(conj_if_complex(v), move)), (n - 2,)))
  largest = argmax(modulus(v), n - 2, "int32")
  places = broadcasted_iota(np.dtype(np.int32), typeof(v).shape, n - 2)
  chosen = eq(places, columns(largest, v))
  zero = full(typeof(v).shape, 0, typeof(v).dtype)
  at, by = (reduce_sum(select_n(chosen, zero, x), (n - 2,)) for x in (v, move))
  phase = neg(div(imag(by), real(at)))
  return add(move, mul(v, columns(complex(along, phase), v)))


batch_leading(eig_p)


# ---- schur


def schur(
    x: Any, *, compute_schur_vectors: bool = True, sort_eig_vals: bool = False,
    select_callable: Callable[..., Any] | None = None) -> list[Any]:
  """Schur's decomposition of square matrices: `x = v t v^H`, `v` unitary.

  Args:
    x: an array of shape `(..., n, n)`.
    compute_schur_vectors: gives `v` too.
    sort_eig_vals: not possible: the order of eigenvalues is LAPACK's.
    select_callable: not possible, as it says how to sort.

  Returns:
    `[t]` or `[t, v]`, like `x`: `t` is upper triangular; for real `x`, with blocks of 2
    by 2 for pairs of complex eigenvalues. nan where the algorithm fails.

  >>> from gnomon import lax
  >>> import numpy as np
  >>> t, v = lax.linalg.schur(np.float32([[1, 2], [0, 3]]))
  >>> t.tolist()
  [[1.0, 2.0], [0.0, 3.0]]

  Raises:
    TypeError: the dtype is none of float32, float64, complex64, complex128.
    ValueError: `x` has no square matrices.
    NotImplementedError: sorting is asked for.
  """
  if sort_eig_vals or select_callable is not None:
    raise NotImplementedError(
        f"schur: sorting is not possible: got sort_eig_vals={sort_eig_vals} and "
        f"select_callable={select_callable}")
  return list(schur_p.apply(
      x, compute_schur_vectors=bool(compute_schur_vectors), sort_eig_vals=False,
      select_callable=None))


schur_p = Primitive("schur")


@typing_rule.define(schur_p)
def _(x: ShapedArray, *, compute_schur_vectors: bool, **_: Any) -> list[ShapedArray]:
  check_matrices("schur", x, square=True)
  return [ShapedArray(x.shape, x.dtype)] * (2 if compute_schur_vectors else 1)


@lower.define(schur_p)
def _(ctx: Any, x: Any, *, compute_schur_vectors: bool, **_: Any) -> Values:
  aval, outs = ctx.avals_in[0], ctx.avals_out
  if aval.size == 0:
    return [x] * len(outs)
  batch = aval.shape[:-2]
  whole, status = outs[0], _lapack.info(batch)
  value = ShapedArray(aval.shape[:-1], aval.dtype)
  parts = [value] if aval.dtype.kind == "c" else [value, value]
  found = _lapack.call(
      ctx, "gees", (x,), (aval,), (whole, whole, *parts, status, status), batch,
      {"mode": "V" if compute_schur_vectors else "N", "sort": "N"})
  return _lapack.or_nan(ctx, found[-1], found[:len(outs)], outs, batch)


batch_leading(schur_p)


# ---- hessenberg


def hessenberg(a: Any) -> tuple[Any, Any]:
  """Reduces square matrices to Hessenberg's form, by reflections.

  Args:
    a: an array of shape `(..., n, n)`.

  Returns:
    `(h, taus)`: the matrix in Hessenberg's form stands on the first lower diagonal of `h`
    and above it, and below are the vectors of the reflections, with the factors `taus`,
    of shape `(..., n - 1)`: see `householder_product`. nan where the algorithm fails.

  >>> from gnomon import lax
  >>> import numpy as np
  >>> h, taus = lax.linalg.hessenberg(np.float32([[1, 2], [3, 4]]))
  >>> h.tolist()
  [[1.0, 2.0], [3.0, 4.0]]

  Raises:
    TypeError: the dtype is none of float32, float64, complex64, complex128.
    ValueError: `a` has no square matrices.
  """
  h, taus = hessenberg_p.apply(a)
  return h, taus


hessenberg_p = Primitive("hessenberg")


@typing_rule.define(hessenberg_p)
def _(a: ShapedArray) -> tuple[ShapedArray, ...]:
  check_matrices("hessenberg", a, square=True, argument="a")
  taus = (*a.shape[:-2], max(a.shape[-1] - 1, 0))
  return ShapedArray(a.shape, a.dtype), ShapedArray(taus, a.dtype)


@lower.define(hessenberg_p)
def _(ctx: Any, a: Any) -> Values:
  out, taus = outs = ctx.avals_out
  if taus.size == 0:
    return [a, ctx.b.full(taus, 0)]
  batch = out.shape[:-2]
  *values, status = _lapack.call(
      ctx, "gehrd", (a,), ctx.avals_in, (*outs, _lapack.info(batch)), batch,
      {"low": 1, "high": out.shape[-1]})
  return _lapack.or_nan(ctx, status, values, outs, batch)


batch_leading(hessenberg_p)
