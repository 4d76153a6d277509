"""GMRES: the best solution in spaces of vectors `b, A b, A A b, ...`.

Y. Saad and M. Schultz, SIAM J. Sci. Stat. Comput. 7 (1986). Vectors are made orthogonal
twice: L. Giraud et al., Numer. Math. 101 (2005).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.structural import convert
from gnomon.core.types import typeof
from gnomon.numpy._values import is_kind
from gnomon.scipy.sparse.linalg._operators import Operator, checked, solved
from gnomon.tree_util import tree_leaves, tree_structure

_EXACT = lax.Precision.HIGHEST


def _vectors(like: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
  """How trees like a given one become vectors, and back."""
  leaves, structure = tree_leaves(like), tree_structure(like)
  dtype = np.result_type(*[x.dtype for x in leaves]) if leaves else np.float32
  ends = np.cumsum([x.size for x in leaves])

  def down(tree: Any) -> Any:
    return gnp.concatenate([
        gnp.ravel(gnp.asarray(x)).astype(dtype) for x in tree_leaves(tree)])

  def up(vector: Any) -> Any:
    parts = []
    for x, end in zip(leaves, ends):
      part = vector[end - x.size:end].reshape(x.shape)
      aval = typeof(x)
      real = is_kind(part, np.complexfloating) and not is_kind(x, np.complexfloating)
      parts.append(convert(part.real if real else part, aval.dtype, aval.weak_type))
    return structure.unflatten(parts)

  return down, up


def _norm(x: Any) -> Any:
  return gnp.linalg.norm(x)


def _normalised(x: Any, least: Any) -> tuple[Any, Any]:
  """A vector over its norm, and the norm; both zero where that is below a bound."""
  norm = _norm(x)
  usable = norm > least
  return (
      gnp.where(usable, x / gnp.where(usable, norm, 1).astype(x.dtype), 0),
      gnp.where(usable, norm, 0))


def _next(operator: Operator, basis: Any, k: Any) -> tuple[Any, Any]:
  """The basis with one more vector, and the coefficients that made it: Arnoldi's step."""
  image = operator(basis[k])
  least = dtypes.finfo(image.dtype).eps * _norm(image)
  total = gnp.zeros(basis.shape[0], basis.dtype)
  for _ in range(2):
    parts = gnp.matmul(basis.conj(), image, precision=_EXACT)
    image = image - gnp.matmul(parts, basis, precision=_EXACT)
    total = total + parts
  vector, norm = _normalised(image, least)
  return basis.at[k + 1].set(vector), total.at[k + 1].set(norm.astype(total.dtype))


def _rotation(a: Any, b: Any) -> tuple[Any, Any]:
  """The cosine and sine that turn `(a, b)`, with `b` real, to `(r, 0)`."""
  norm = gnp.sqrt(lax.square(gnp.abs(a)) + lax.square(gnp.abs(b)))
  none = norm == 0
  safe = gnp.where(none, 1, norm).astype(a.dtype)
  return gnp.where(none, 1, a / safe), gnp.where(none, 0, b / safe)


def _by_rotations(
    operator: Operator, start: Any, size: Any, count: int, bound: Any) -> Any:
  """The step in the space, whose residual is known as the space grows.

  The coefficients become triangular by rotations; those of vectors that were not needed
  stay those of the identity, with zeros on the right.
  """
  n, dtype = start.shape[0], start.dtype
  basis = gnp.zeros((count + 1, n), dtype).at[0].set(start)
  triangle = gnp.eye(count, dtype=dtype)
  turns = gnp.zeros((count, 2), dtype).at[:, 0].set(1)
  right = gnp.zeros(count + 1, dtype).at[0].set(size.astype(dtype))

  def unfinished(state: Any) -> Any:
    k, last = state[0], state[-1]
    return gnp.logical_and(k < count, last > bound)

  def advance(state: Any) -> Any:
    k, basis, triangle, turns, right, _ = state
    basis, column = _next(operator, basis, k)

    def turned(i: Any, column: Any) -> Any:
      c, s = turns[i]
      a, b = column[i], column[i + 1]
      return column.at[i].set(c.conj() * a + s * b).at[i + 1].set(c * b - s * a)

    column = lax.fori_loop(0, k, turned, column)
    c, s = _rotation(column[k], column[k + 1])
    column = turned_once = column.at[k].set(c.conj() * column[k] + s * column[k + 1])
    exhausted = turned_once[k] == 0
    column = gnp.where(exhausted, gnp.eye(count + 1, dtype=dtype)[k], column)
    below = gnp.arange(count) > k
    triangle = triangle.at[:, k].set(gnp.where(below, 0, column[:-1]))
    value = right[k]
    right = right.at[k].set(gnp.where(exhausted, 0, c.conj() * value))
    right = right.at[k + 1].set(-s * value)
    last = gnp.where(exhausted, 0, gnp.abs(s * value)).astype(size.dtype)
    return k + 1, basis, triangle, turns.at[k].set(gnp.stack([c, s])), right, last

  state = lax.while_loop(
      unfinished, advance, (0, basis, triangle, turns, right, size))
  k, basis, triangle, _, right, _ = state
  right = gnp.where(gnp.arange(count) < k, right[:-1], 0)
  parts = lax.linalg.triangular_solve(
      triangle, right[:, None], left_side=True, lower=False)[:, 0]
  return gnp.matmul(parts, basis[:-1], precision=_EXACT)


def _at_once(operator: Operator, start: Any, size: Any, count: int, bound: Any) -> Any:
  """The step in the whole space: the solution of a problem of least squares."""
  del bound
  n, dtype = start.shape[0], start.dtype
  basis = gnp.zeros((count + 1, n), dtype).at[0].set(start)

  def advance(k: Any, state: Any) -> Any:
    basis, columns = state
    basis, column = _next(operator, basis, k)
    return basis, columns.at[:, k].set(column)

  basis, columns = lax.fori_loop(
      0, count, advance, (basis, gnp.zeros((count + 1, count), dtype)))
  right = gnp.zeros(count + 1, dtype).at[0].set(size.astype(dtype))
  parts = gnp.linalg.lstsq(columns, right)[0]
  return gnp.matmul(parts, basis[:-1], precision=_EXACT)


_METHODS = {"incremental": _by_rotations, "batched": _at_once}


def gmres(
    A: Any, b: Any, x0: Any = None, *, tol: Any = 1e-5, atol: Any = 0.0,
    restart: int = 20, maxiter: Any = None, M: Any = None,
    solve_method: str = "batched") -> tuple[Any, None]:
  """Solves a linear equation by GMRES, the method of generalised minimal residuals.

  Derivatives by `b` and by what `A` depends on are solutions by the same method, of the
  equation or its transpose.

  Args:
    A: the matrix: an array, an object with `@`, or a function from trees like `b` to such
      trees.
    b: the right-hand side: an array, or a tree of arrays, of any shapes.
    x0: as for `cg`.
    tol: as for `cg`.
    atol: as for `cg`.
    restart: how many vectors span the space of solutions, before it is left and another
      one begins with the solution so far.
    maxiter: the most spaces; by default ten for each element of `b`.
    M: a preconditioner: about the inverse of `A`, in the same forms.
    solve_method: `"incremental"` knows the residual after each vector and ends early;
      `"batched"` solves one problem of least squares when a space is complete.

  Returns:
    The solution, and None.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy.sparse.linalg import gmres
  >>> x, _ = gmres(gnp.array([[2.0, 1.0], [0.0, 3.0]]), gnp.array([3.0, 3.0]))
  >>> [round(v, 3) for v in x.tolist()]
  [1.0, 1.0]

  Raises:
    TypeError: as by `cg`.
    ValueError: as by `cg`; or `solve_method` is unknown, or `restart` not positive.
  """
  if solve_method not in _METHODS:
    raise ValueError(
        f"gmres: invalid solve_method {solve_method}, must be either 'incremental' or "
        "'batched'")
  if restart < 1:
    raise ValueError(f"gmres: restart is {restart}; expected at least 1")
  system = checked("gmres", A, b, x0, M)
  limit = 10 * system.size if maxiter is None else maxiter
  count = min(int(restart), system.size)
  if not count:
    return system.b, None
  down, up = _vectors(system.b)

  def solve(A: Operator, b: Any, x0: Any, M: Operator | None) -> Any:
    def residual(x: Any) -> Any:
      return target - down(A(up(x)))

    def conditioned(v: Any) -> Any:
      return v if M is None else down(M(up(v)))

    def operator(v: Any) -> Any:
      return conditioned(down(A(up(v))))

    def unfinished(state: Any) -> Any:
      k, _, r = state
      return gnp.logical_and(k < limit, _norm(r) > bound)

    def advance(state: Any) -> Any:
      k, x, r = state
      # What is minimised is the residual as the preconditioner sees it.
      seen, norm = conditioned(r), _norm(r)
      start, size = _normalised(seen, 0)
      ratio = gnp.where(norm == 0, 1, size / gnp.where(norm == 0, 1, norm))
      step = _METHODS[solve_method](operator, start, size, count, bound * ratio)
      x = x + step
      return k + 1, x, residual(x)

    target, x = down(b), down(x0)
    size = _norm(target)
    bound = gnp.maximum(
        gnp.asarray(tol, size.dtype) * size, gnp.asarray(atol, size.dtype))
    return up(lax.while_loop(unfinished, advance, (0, x, residual(x)))[1])

  return solved(system, solve, hermitian=False), None
