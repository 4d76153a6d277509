"""Sylvester's equation, and functions of matrices, by triangular forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import custom_jvp, jvp, lax
from gnomon.core.types import typeof
from gnomon.lax.linalg import _matrix, _solve
from gnomon.numpy._compiled import compiled
from gnomon.scipy.linalg._arguments import arrays, matrices, stacked
from gnomon.scipy.linalg._schur import complex_schur

# (t, z) for the matrix z t z^H; or, with eigenvalues t, for z diag(t) z^-1
Form = tuple[Any, Any]
Solver = Callable[[Form, Form, Any], Any]


@compiled(static=("method", "tol"))
def solve_sylvester(A: Any, B: Any, C: Any, *, method: str = "schur",
                    tol: float = 1e-8) -> Any:
  """Solves Sylvester's equation, `A x + x B = C`.

  R. H. Bartels, G. W. Stewart, "Solution of the matrix equation AX + XB = C", Comm. ACM
  15, 1972.

  Args:
    A: an array of shape `(..., m, m)`.
    B: an array of shape `(..., n, n)`.
    C: an array of shape `(..., m, n)`; leading axes broadcast.
    method: 'schur', by triangular forms of `A` and `B`; 'eigen', by their eigenvectors,
      less exact where these are nearly dependent.
    tol: the sums of an eigenvalue of `A` and one of `B` are to be larger than this in
      modulus; if one is not, no solution counts as exact, and the result is nan.

  Returns:
    An array of shape `(..., m, n)`.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import linalg
  >>> one = gnp.eye(2)
  >>> linalg.solve_sylvester(one, one, gnp.ones((2, 2))).tolist()
  [[0.5, 0.5], [0.5, 0.5]]

  Raises:
    TypeError: an argument is no array, or of half precision.
    ValueError: the shapes do not fit, or the method does not exist.
  """
  name = "solve_sylvester"
  if method not in ("schur", "eigen"):
    raise ValueError(
        f"linalg.{name}: method must be 'schur' or 'eigen', got {method!r}")
  a, b, c = arrays(name, A, B, C)
  _matrix.check_matrices(f"linalg.{name}", typeof(a), square=True, argument="A")
  _matrix.check_matrices(f"linalg.{name}", typeof(b), square=True, argument="B")
  _matrix.check_matrices(f"linalg.{name}", typeof(c), argument="C")
  if c.shape[-2:] != (a.shape[-1], b.shape[-1]):
    raise ValueError(
        f"linalg.{name}: Incompatible shapes for Sylvester equation: C must have the "
        f"shape (..., m, n) for A of (..., m, m) and B of (..., n, n): got A: {a.shape}, "
        f"B: {b.shape}, C: {c.shape}")
  a, b, c = stacked(a, b, c)
  if not c.size:
    return c
  fixed = [lax.stop_gradient(x) for x in (a, b)]
  if method == "schur":
    left, right = map(complex_schur, fixed)
    out = _sylvester(a, b, c, left, right, _by_triangles)
    values = _matrix.diagonal(left[0]), _matrix.diagonal(right[0])
  else:
    left, right = (
        tuple(lax.linalg.eig(x, compute_left_eigenvectors=False)) for x in fixed)
    out = _sylvester(a, b, c, left, right, _by_eigenvectors)
    values = left[0], right[0]
  least = gnp.abs(values[0][..., :, None] + values[1][..., None, :]).min((-2, -1))
  return gnp.where((least > tol)[..., None, None], out, gnp.nan)


def _sylvester(
    a: Any, b: Any, c: Any, left: Form, right: Form, solver: Solver) -> Any:
  """Solves `a x + x b = c`, for the forms of a and b, which are not differentiated."""
  def solve(left: Form, right: Form, c: Any) -> Any:
    out = solver(left, right, _matrix.as_complex(c))
    return out if _matrix.is_complex(c) else gnp.real(out)

  # The transposed equation is that of the transposed x with a and b exchanged.
  return lax.custom_linear_solve(
      lambda x: _matrix.mm(a, x) + _matrix.mm(x, b), c,
      lambda _, y: solve(left, right, y),
      lambda _, y: _matrix.flip(solve(right, left, _matrix.flip(y))))


def _by_triangles(left: Form, right: Form, c: Any) -> Any:
  (r, u), (s, v) = left, right
  c = _matrix.mm(_matrix.adjoint(u), _matrix.mm(c, v))

  def column(j: Any, x: Any) -> Any:
    of_s = _column(s, j)
    shift = lax.dynamic_index_in_dim(of_s, j, -2)
    out = lax.linalg.triangular_solve(
        _with_shift(r, shift), _column(c, j) - _matrix.mm(x, of_s), left_side=True)
    return lax.dynamic_update_slice_in_dim(x, out, j, -1)

  x = lax.fori_loop(0, c.shape[-1], column, gnp.zeros_like(c))
  return _matrix.mm(u, _matrix.mm(x, _matrix.adjoint(v)))


def _by_eigenvectors(left: Form, right: Form, c: Any) -> Any:
  (p, u), (q, v) = left, right
  c = _solve.solve(u, _matrix.mm(c, v)) / (p[..., :, None] + q[..., None, :])
  return _matrix.flip(_solve.solve(_matrix.flip(v), _matrix.flip(_matrix.mm(u, c))))


def _column(x: Any, j: Any) -> Any:
  return lax.dynamic_slice_in_dim(x, j, 1, -1)


def _row_numbers(x: Any) -> Any:
  """Columns of the numbers of rows."""
  shape = (*x.shape[:-1], 1)
  return lax.broadcasted_iota(np.int32, shape, len(shape) - 2)


def _with_shift(x: Any, shift: Any) -> Any:
  """Square matrices with a number added to the diagonal."""
  return x + shift * _matrix.eye(x.shape, x.dtype)


def _divided(triangle: Any, c: Any) -> tuple[Any, Any]:
  """Solves with a triangle, whose zeros on the diagonal count as ones; where they are."""
  missing = _matrix.diagonal(triangle) == 0
  one = _matrix.eye(triangle.shape, triangle.dtype)
  triangle = triangle + one * missing[..., None, :].astype(triangle.dtype)
  out = lax.linalg.triangular_solve(triangle, c, left_side=True)
  return out, missing[..., None]


# ---- the square root


@compiled(static=("blocksize",))
def sqrtm(A: Any, blocksize: int = 1) -> Any:
  """The principal square root of square matrices: its eigenvalues are not left of 0.

  By Schur's form. Its derivative solves an equation of Sylvester.

  N. J. Higham, "Computing real square roots of a real matrix", Linear Algebra Appl. 88,
  1987.

  Args:
    A: an array of shape `(..., n, n)`.
    blocksize: 1; there are no blocks.

  Returns:
    A complex array of the shape of `A`; nan where a singular matrix has no root.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import linalg
  >>> linalg.sqrtm(gnp.array([[4.0, 0.0], [0.0, -1.0]])).tolist()
  [[(2+0j), 0j], [0j, 1j]]

  Raises:
    NotImplementedError: `blocksize` is not 1.
    TypeError: `A` is no array, or of half precision.
    ValueError: `A` has no square matrices.
  """
  if blocksize != 1:
    raise NotImplementedError(
        f"linalg.sqrtm: there are no blocks; blocksize must be 1, got {blocksize!r}")
  (a,) = matrices("sqrtm", A=A)
  return _sqrtm(_matrix.as_complex(a))


def _rooted(a: Any) -> tuple[Any, Form]:
  """The root, and its Schur form."""
  if not a.size:
    return a, (a, a)
  t, z = complex_schur(a)
  roots = gnp.sqrt(_matrix.diagonal(t))
  above = _row_numbers(a)

  def column(j: Any, r: Any) -> Any:
    root = lax.dynamic_index_in_dim(roots, j, -1)[..., None]
    c = gnp.where(above < j, _column(t, j), 0)
    out, missing = _divided(_with_shift(r, root), c)
    out = gnp.where(missing & (out != 0), gnp.nan, out)
    return lax.dynamic_update_slice_in_dim(r, _column(r, j) + out, j, -1)

  r = lax.fori_loop(
      0, a.shape[-1], column, _matrix.with_diagonal(gnp.zeros_like(a), roots))
  return _matrix.mm(z, _matrix.mm(r, _matrix.adjoint(z))), (r, z)


@custom_jvp
def _sqrtm(a: Any) -> Any:
  return _rooted(a)[0]


@_sqrtm.defjvp
def _(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
  """From x x = a: x dx + dx x = da."""
  form = _rooted(lax.stop_gradient(primals[0]))[1]
  x = _sqrtm(*primals)
  return x, _sylvester(x, x, *tangents, form, form, _by_triangles)


# ---- functions of a matrix


@compiled(static=("func", "disp"))
def funm(A: Any, func: Callable[[Any], Any], disp: bool = True) -> Any:
  """A function of square matrices, given as one of numbers, by Parlett's recurrence.

  It loses accuracy where eigenvalues are close to each other, as SciPy's does. The
  derivative is that of a matrix with independent eigenvectors.

  Args:
    A: an array of shape `(..., n, n)`.
    func: a function of a complex array, elementwise.
    disp: gives the result alone.

  Returns:
    A complex array of the shape of `A`; with `disp=False`, `(F, err)`, with an estimate
    of the relative error for each matrix.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import linalg
  >>> linalg.funm(gnp.array([[1.0, 2.0], [0.0, 3.0]]), lambda x: x * x).real.tolist()
  [[1.0, 8.0], [0.0, 9.0]]

  Raises:
    TypeError: `A` is no array, or of half precision.
    ValueError: `A` has no square matrices.
  """
  (a,) = matrices("funm", A=A)
  out, error = _funm(func, _matrix.as_complex(a))
  return out if disp else (out, error)


def _parlett(func: Callable[[Any], Any], a: Any) -> tuple[Any, Any]:
  """The recurrence, and SciPy's estimate of its error."""
  eps = np.finfo(a.dtype).eps
  if not a.size:
    return a, gnp.zeros(a.shape[:-2], _matrix.real_dtype(a.dtype))
  t, z = complex_schur(a)
  values = _matrix.diagonal(t)
  above = _row_numbers(a)

  def column(j: Any, f: Any) -> Any:
    of_t, of_f = _column(t, j), _column(f, j)
    value, image = (lax.dynamic_index_in_dim(x, j, -2) for x in (of_t, of_f))
    c = gnp.where(above < j, _matrix.mm(f, of_t) - of_t * image, 0)
    out, _ = _divided(_with_shift(t, -value), c)
    return lax.dynamic_update_slice_in_dim(f, of_f + out, j, -1)

  start = _matrix.with_diagonal(gnp.zeros_like(a), func(values).astype(a.dtype))
  f = lax.fori_loop(1, a.shape[-1], column, start)
  f = _matrix.mm(z, _matrix.mm(f, _matrix.adjoint(z)))
  gaps = gnp.abs(values[..., :, None] - values[..., None, :])
  gap = gnp.where(_matrix.eye(a.shape, bool), gnp.inf, gaps).min((-2, -1))
  gap = gnp.where(gap == 0, eps, gap)
  norm = gnp.abs(gnp.triu(t, 1)).sum(-2).max(-1)
  error = gnp.minimum(1, gnp.maximum(eps, eps / gap * norm))
  lost = ~gnp.isfinite(f).any((-2, -1))
  return f, gnp.where(lost, gnp.inf, error)


def _funm(func: Callable[[Any], Any], a: Any) -> tuple[Any, Any]:
  @custom_jvp
  def value(a: Any) -> tuple[Any, Any]:
    return _parlett(func, a)

  @value.defjvp
  def _(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
    f, error = out = value(*primals)
    return out, (_turned(func, f, *primals, *tangents), gnp.zeros_like(error))

  out: tuple[Any, Any] = value(a)
  return out


def _turned(func: Callable[[Any], Any], f: Any, a: Any, da: Any) -> Any:
  """With a = v diag(w) v^-1: v (k v^-1 da v) v^-1, where k are divided differences of f.

  Y. L. Daleckii, S. G. Krein, 1951.
  """
  w, v = lax.linalg.eig(a, compute_left_eigenvectors=False)
  left, right = w[..., :, None], w[..., None, :]
  gaps = left - right
  size = gnp.maximum(gnp.abs(left), gnp.abs(right))
  close = gnp.abs(gaps) <= np.finfo(w.dtype).eps ** (1 / 3) * size
  middle = (left + right) / 2
  slope = jvp(func, (middle,), (gnp.ones_like(middle),))[1]
  k = gnp.where(
      close, slope, (func(left) - func(right)) / gnp.where(close, 1, gaps))
  inner = k * _solve.solve(v, _matrix.mm(da, v))
  return _matrix.flip(_solve.solve(
      _matrix.flip(v), _matrix.flip(_matrix.mm(v, inner)))).astype(f.dtype)
