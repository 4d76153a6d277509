"""Solvers with short recurrences: conjugate gradients and their stabilised kin.

M. Hestenes and E. Stiefel, J. Res. Nat. Bur. Standards 49 (1952); H. van der Vorst,
SIAM J. Sci. Stat. Comput. 13 (1992).
"""

from __future__ import annotations

from typing import Any

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.core import dtypes
from gnomon.scipy.sparse.linalg._operators import (
  Operator,
  add,
  checked,
  dot,
  kept,
  scaled,
  solved,
  square,
  subtract,
)
from gnomon.tree_util import tree_map


def _over(x: Any, y: Any) -> Any:
  """A quotient, zero where the divisor is: then the method has come to its end."""
  none = y == 0
  return gnp.where(none, 0, x / gnp.where(none, 1, y).astype(x.dtype))


def _bound(b: Any, tol: Any, atol: Any) -> Any:
  """Below which squared norm a residual is taken for zero."""
  size = square(b)
  return gnp.maximum(
      gnp.square(tol).astype(size.dtype) * size, gnp.square(atol).astype(size.dtype))


def cg(
    A: Any, b: Any, x0: Any = None, *, tol: Any = 1e-5, atol: Any = 0.0,
    maxiter: Any = None, M: Any = None) -> tuple[Any, None]:
  """Solves a linear equation with a positive definite matrix by conjugate gradients.

  Derivatives by `b` and by what `A` depends on are solutions of such equations too.

  Args:
    A: the matrix: hermitian and positive definite; an array, an object with `@`, or a
      function from trees like `b` to such trees.
    b: the right-hand side: an array, or a tree of arrays, of any shapes.
    x0: such a tree: where to begin; at zero by default.
    tol: the solver ends where the norm of the residual is at most `tol` times that of
      `b`,
    atol: or at most this.
    maxiter: the most steps; by default ten for each element of `b`.
    M: a preconditioner: about the inverse of `A`, in the same forms.

  Returns:
    The solution, and None.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy.sparse.linalg import cg
  >>> x, _ = cg(gnp.array([[2.0, 1.0], [1.0, 3.0]]), gnp.array([3.0, 4.0]))
  >>> [round(v, 3) for v in x.tolist()]
  [1.0, 1.0]

  Raises:
    TypeError: `A` or `M` is neither function nor matrix, or a leaf of `b` no array.
    ValueError: a matrix is not square, or `x0` or `A(b)` does not have the shapes of `b`.
  """
  system = checked("cg", A, b, x0, M)
  steps = 10 * system.size if maxiter is None else maxiter

  def solve(A: Operator, b: Any, x0: Any, M: Operator | None) -> Any:
    bound = _bound(b, tol, atol)

    def conditioned(r: Any) -> tuple[Any, Any]:
      z = r if M is None else kept(M(r), r)
      return z, square(r) if M is None else dot(r, z).real

    def unfinished(state: Any) -> Any:
      _, r, product, _, k = state
      size = product if M is None else square(r)
      return gnp.logical_and(size > bound, k < steps)

    def advance(state: Any) -> Any:
      x, r, product, p, k = state
      image = kept(A(p), p)
      step = _over(product, dot(p, image).real)
      x, r = add(x, scaled(step, p)), subtract(r, scaled(step, image))
      z, new = conditioned(r)
      return x, r, new, add(z, scaled(_over(new, product), p)), k + 1

    r = subtract(b, kept(A(x0), b))
    z, product = conditioned(r)
    return lax.while_loop(unfinished, advance, (x0, r, product, z, 0))[0]

  return solved(system, solve, hermitian=True), None


def bicgstab(
    A: Any, b: Any, x0: Any = None, *, tol: Any = 1e-5, atol: Any = 0.0,
    maxiter: Any = None, M: Any = None) -> tuple[Any, None]:
  """Solves a linear equation by stabilised bi-conjugate gradients.

  Derivatives by `b` and by what `A` depends on are solutions by the same method, of the
  equation or its transpose.

  Args:
    A: the matrix: an array, an object with `@`, or a function from trees like `b` to such
      trees.
    b: the right-hand side: an array, or a tree of arrays, of any shapes.
    x0: as for `cg`.
    tol: as for `cg`.
    atol: as for `cg`.
    maxiter: as for `cg`.
    M: as for `cg`.

  Returns:
    The solution, and None.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy.sparse.linalg import bicgstab
  >>> x, _ = bicgstab(gnp.array([[2.0, 1.0], [0.0, 3.0]]), gnp.array([3.0, 3.0]))
  >>> [round(v, 3) for v in x.tolist()]
  [1.0, 1.0]

  Raises:
    TypeError: as by `cg`.
    ValueError: as by `cg`.
  """
  system = checked("bicgstab", A, b, x0, M)
  steps = 10 * system.size if maxiter is None else maxiter

  def solve(A: Operator, b: Any, x0: Any, M: Operator | None) -> Any:
    bound = _bound(b, tol, atol)

    def conditioned(r: Any) -> Any:
      return r if M is None else kept(M(r), r)

    def unfinished(state: Any) -> Any:
      r, k, broken = state[1], state[-2], state[-1]
      going = gnp.logical_and(square(r) > bound, k < steps)
      return gnp.logical_and(going, gnp.logical_not(broken))

    def advance(state: Any) -> Any:
      x, r, p, q, alpha, omega, rho, k, _ = state
      new = dot(shadow, r)
      beta = _over(new, rho) * _over(alpha, omega)
      p = add(r, scaled(beta, subtract(p, scaled(omega, q))))
      direction = conditioned(p)
      q = kept(A(direction), p)
      alpha = _over(new, dot(shadow, q))
      half = subtract(r, scaled(alpha, q))
      x = add(x, scaled(alpha, direction))
      second = conditioned(half)
      image = kept(A(second), half)
      omega = _over(dot(image, half), square(image))
      # Nothing is to be gained where the first half of the step has ended the search.
      done = square(half) <= bound
      omega = gnp.where(done, 0, omega)
      x, r = add(x, scaled(omega, second)), subtract(half, scaled(omega, image))
      tiny = dtypes.finfo(new.dtype).tiny
      broken = gnp.logical_or(gnp.abs(new) <= tiny, omega == 0)
      return x, r, p, q, alpha, omega, new, k + 1, broken

    shadow = r = subtract(b, kept(A(x0), b))
    none = tree_map(gnp.zeros_like, b)
    one = gnp.ones_like(dot(r, r))
    state = (x0, r, none, none, one, one, one, 0, False)
    return lax.while_loop(unfinished, advance, state)[0]

  return solved(system, solve, hermitian=False), None
