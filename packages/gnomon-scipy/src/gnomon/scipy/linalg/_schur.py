"""Similar matrices of a simpler form: Schur's, Hessenberg's, and polar factors."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import lax, vmap
from gnomon.core.types import typeof
from gnomon.lax.linalg import _matrix
from gnomon.numpy._compiled import compiled
from gnomon.scipy.linalg._arguments import matrices, one_matrix, stacked


@compiled(static=("output",))
def schur(a: Any, output: str = "real") -> Any:
  """Schur's decomposition of square matrices: `a = z t z^H`, `z` unitary.

  It has no derivative.

  Args:
    a: an array of shape `(..., n, n)`.
    output: 'real', for real factors of a real matrix, with blocks of 2 by 2 on the
      diagonal of `t` for pairs of complex eigenvalues; 'complex', for a triangular `t`.

  Returns:
    `[t, z]`, like `a`.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import linalg
  >>> t, z = linalg.schur(gnp.array([[1.0, 2.0], [0.0, 3.0]]))
  >>> t.tolist()
  [[1.0, 2.0], [0.0, 3.0]]

  Raises:
    TypeError: `a` is no array, or of half precision.
    ValueError: `a` has no square matrices, or the output is neither.
  """
  if output not in ("real", "complex"):
    raise ValueError(
        f"linalg.schur: expected 'output' to be 'real' or 'complex', got {output!r}")
  (x,) = matrices("schur", a=a)
  return lax.linalg.schur(_matrix.as_complex(x) if output == "complex" else x)


def complex_schur(a: Any) -> tuple[Any, Any]:
  """`(t, z)` with `a = z t z^H`, for a triangular t, of real matrices too."""
  t, z = lax.linalg.schur(_matrix.as_complex(a))
  return t, z


@compiled(static=("check_finite",))
def rsf2csf(T: Any, Z: Any, check_finite: bool = True) -> tuple[Any, Any]:
  """The complex form of a real Schur decomposition, by rotations.

  Args:
    T: an array of shape `(..., n, n)`: matrices with blocks on the diagonal.
    Z: an array of this shape; leading axes broadcast.
    check_finite: no effect.

  Returns:
    `(t, z)`, complex, with `z t z^H = Z T Z^H`, and `t` triangular.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import linalg
  >>> t, z = linalg.rsf2csf(gnp.array([[0.0, 1.0], [-1.0, 0.0]]), gnp.eye(2))
  >>> gnp.diagonal(t).round(4).tolist()
  [1j, -1j]

  Raises:
    TypeError: an argument is no array, or of half precision.
    ValueError: the shapes do not fit.
  """
  del check_finite
  t, z = matrices("rsf2csf", T=T, Z=Z)
  n = t.shape[-1]
  if z.shape[-1] != n:
    raise ValueError(
        "linalg.rsf2csf: T and Z must have matrices of one size, got the shapes "
        f"{t.shape} and {z.shape}")
  t, z = map(_matrix.as_complex, stacked(t, z))
  if n < 2 or not t.size:
    return t, z
  shape = (*t.shape[:-2], n, 1)
  down = lax.broadcasted_iota(np.int32, shape, len(shape) - 2)
  across = _matrix.flip(down)
  eps = np.finfo(t.dtype).eps

  def step(i: Any, state: Any) -> Any:
    t, z = state
    m = n - 1 - i
    pair = _part(_part(t, m - 1, -2), m - 1, -1)
    below = pair[..., 1, 0]
    sizes = gnp.abs(pair)
    small = sizes[..., 1, 0] <= eps * (sizes[..., 0, 0] + sizes[..., 1, 1])
    (values,) = lax.linalg.eig(
        pair, compute_left_eigenvectors=False, compute_right_eigenvectors=False)
    mu = gnp.where(small, 1, values[..., 0] - pair[..., 1, 1])
    below = gnp.where(small, 0, below)
    r = gnp.hypot(gnp.abs(mu), gnp.abs(below)).astype(t.dtype)
    c, s = mu / r, below / r
    turn = gnp.stack([
        gnp.stack([gnp.conj(c), s], -1), gnp.stack([-s, c], -1)], -2)
    rows = _part(t, m - 1, -2)
    rows = gnp.where(across >= m - 1, _matrix.mm(turn, rows), rows)
    t = _put(t, rows, m - 1, -2)
    columns = _part(t, m - 1, -1)
    back = _matrix.adjoint(turn)
    columns = gnp.where(down <= m, _matrix.mm(columns, back), columns)
    t = _put(t, columns, m - 1, -1)
    corner = (down == m) & (across == m - 1)
    z = _put(z, _matrix.mm(_part(z, m - 1, -1), back), m - 1, -1)
    return gnp.where(corner, 0, t), z

  out: tuple[Any, Any] = lax.fori_loop(0, n - 1, step, (t, z))
  return out


def _part(x: Any, start: Any, axis: int) -> Any:
  """Two rows or columns."""
  return lax.dynamic_slice_in_dim(x, start, 2, axis)


def _put(x: Any, part: Any, start: Any, axis: int) -> Any:
  return lax.dynamic_update_slice_in_dim(x, part, start, axis)


@compiled(static=("calc_q", "overwrite_a", "check_finite"))
def hessenberg(a: Any, *, calc_q: bool = False, overwrite_a: bool = False,
               check_finite: bool = True) -> Any:
  """Hessenberg's form of square matrices: `a = q h q^H`, `q` unitary.

  It has no derivative.

  Args:
    a: an array of shape `(..., n, n)`.
    calc_q: gives `q` too.
    overwrite_a: no effect.
    check_finite: no effect.

  Returns:
    `h` or `(h, q)`, like `a`: `h` is zero below its first lower diagonal.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import linalg
  >>> linalg.hessenberg(gnp.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
  [[1.0, 2.0], [3.0, 4.0]]

  Raises:
    TypeError: `a` is no array, or of half precision.
    ValueError: `a` has no square matrices.
  """
  del overwrite_a, check_finite
  (x,) = matrices("hessenberg", a=a)
  n = x.shape[-1]
  packed, taus = lax.linalg.hessenberg(x)
  h = gnp.triu(packed, -1)
  if not calc_q:
    return h
  if n < 2:
    return h, _matrix.eye(x.shape, x.dtype)
  rest = lax.linalg.householder_product(packed[..., 1:, :-1], taus)
  padding = [(0, 0)] * (x.ndim - 2) + [(1, 0), (1, 0)]
  return h, gnp.pad(rest, padding).at[..., 0, 0].set(1)


@compiled(static=("side", "method", "eps", "max_iterations"))
def polar(a: Any, side: str = "right", *, method: str = "qdwh", eps: float | None = None,
          max_iterations: int | None = None) -> tuple[Any, Any]:
  """The polar decomposition: `a = u p` or `a = p u`, `p` Hermitian, not negative.

  Args:
    a: an array of shape `(..., m, n)`.
    side: on which side `p` stands: 'right' or 'left'.
    method: 'qdwh', by `gnomon.lax.linalg.qdwh`, for matrices of full rank that are at
      least as high as wide, for the left side as wide as high; 'svd', for any.
    eps: when the iterations of 'qdwh' end; None for the precision of the dtype.
    max_iterations: how many there may be; None for 10.

  Returns:
    `(u, p)`: `u` of the shape of `a`, with orthonormal columns or rows; `p` of shape
    `(..., n, n)`, or `(..., m, m)` for the left side.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import linalg
  >>> u, p = linalg.polar(gnp.array([[0.0, -2.0], [3.0, 0.0]]))
  >>> p.round(4).tolist()
  [[3.0, 0.0], [0.0, 2.0]]

  Raises:
    NotImplementedError: 'qdwh' does not know matrices of this shape.
    TypeError: `a` is no array, or of half precision.
    ValueError: the side or the method does not exist.
  """
  if side not in ("right", "left"):
    raise ValueError(f"linalg.polar: side must be 'right' or 'left', got {side!r}")
  if method not in ("qdwh", "svd"):
    raise ValueError(f"linalg.polar: method must be 'qdwh' or 'svd', got {method!r}")
  x = one_matrix("polar", a)
  left = side == "left"
  if left:
    x = _matrix.adjoint(x)
  m, n = x.shape[-2:]
  if method == "svd":
    u, s, vh = lax.linalg.svd(x, full_matrices=False)
    unitary = _matrix.mm(u, vh)
    p = _matrix.mm(_matrix.adjoint(vh) * s[..., None, :].astype(x.dtype), vh)
  elif m < n:
    raise NotImplementedError(
        "linalg.polar: method='qdwh' needs at least as many rows as columns for "
        "side='right', and as many columns as rows for side='left', got the shape "
        f"{typeof(a).shape} and side={side!r}; use method='svd'")
  elif not x.size:
    unitary, p = x, gnp.zeros((*x.shape[:-2], n, n), x.dtype)
  else:
    most = None if max_iterations is None else index(max_iterations)

    def one(x: Any) -> Any:
      return lax.linalg.qdwh(x, eps=eps, max_iterations=most)[:2]

    for _ in x.shape[:-2]:
      one = vmap(one)
    unitary, p = one(x)
  return (_matrix.adjoint(unitary) if left else unitary), p
