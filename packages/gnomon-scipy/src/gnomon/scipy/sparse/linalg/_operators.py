"""Linear functions and vectors of arrays, as the iterative solvers see them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import gnomon.numpy as gnp
from gnomon import eval_shape, lax, linear_transpose
from gnomon.core.structural import convert
from gnomon.core.types import typeof
from gnomon.numpy._promotion import check_arraylike, promote_dtypes_inexact
from gnomon.numpy._values import array_of, is_kind
from gnomon.tree_util import tree_leaves, tree_map, tree_structure

Operator = Callable[[Any], Any]


def as_operator(name: str, argument: str, A: Any) -> Operator:
  """A matrix, an object that multiplies from the left, or a function, as a function.

  Raises:
    TypeError: it is nothing of this.
    ValueError: a matrix is not square.
  """
  if callable(A):
    return A  # type: ignore[no-any-return]
  is_array = isinstance(A, np.ndarray) or hasattr(A, "at")
  if is_array or hasattr(type(A), "__matmul__"):
    shape = getattr(A, "shape", None)
    if shape is not None and (len(shape) != 2 or shape[0] != shape[1]):
      raise ValueError(
          f"{name}: linear operator must be a square matrix, but {argument} has shape: "
          f"{tuple(shape)}")
    if is_array:
      return lambda x: gnp.matmul(A, x, precision=lax.Precision.HIGHEST)
    return lambda x: A @ x
  raise TypeError(
      f"{name}: linear operator must be either a function or ndarray: {argument} is {A}")


def transposed(operator: Operator, like: Any) -> Operator:
  """The transpose of a linear function of trees like a given one."""
  transpose = linear_transpose(operator, like)
  return lambda x: transpose(x)[0]


class System(NamedTuple):
  """The arguments of a solver, checked."""

  A: Operator
  b: Any
  x0: Any
  M: Operator | None
  real: bool
  size: int


def checked(name: str, A: Any, b: Any, x0: Any, M: Any) -> System:
  """The arguments of a solver.

  Raises:
    TypeError: `A` or `M` is neither a function nor a matrix, or a leaf no array.
    ValueError: `x0` and `b` differ in structure or shapes.
  """
  check_arraylike(name, *tree_leaves(b))
  b = tree_map(lambda x: array_of(promote_dtypes_inexact(x)[0]), b)
  if x0 is None:
    x0 = tree_map(gnp.zeros_like, b)
  elif tree_structure(x0) != tree_structure(b):
    raise ValueError(
        f"{name}: x0 and b must have matching tree structure: {tree_structure(x0)} vs "
        f"{tree_structure(b)}")
  shapes = [[np.shape(x) for x in tree_leaves(t)] for t in (x0, b)]
  if shapes[0] != shapes[1]:
    raise ValueError(
        f"{name}: x0 and b must have matching shape: {shapes[0]} vs {shapes[1]}")
  x0 = tree_map(_as, x0, b)
  operator = as_operator(name, "A", A)
  preconditioner = None if M is None else as_operator(name, "M", M)
  leaves = tree_leaves(b)
  real = not any(is_kind(x, np.complexfloating) for x in leaves)
  return System(operator, b, x0, preconditioner, real, sum(x.size for x in leaves))


def _as(x: Any, like: Any) -> Any:
  aval = typeof(like)
  return convert(lax.stop_gradient(gnp.asarray(x)), aval.dtype, aval.weak_type)


def dot(x: Any, y: Any) -> Any:
  """The inner product of two trees, the first one conjugated."""
  def of_leaves(a: Any, b: Any) -> Any:
    return gnp.vdot(a, b, precision=lax.Precision.HIGHEST)

  return sum(tree_leaves(tree_map(of_leaves, x, y)))


def square(x: Any) -> Any:
  """The squared norm of a tree."""
  return sum(
      gnp.sum(lax.square(v.real) + lax.square(v.imag))
      if is_kind(v, np.complexfloating) else gnp.sum(lax.square(v))
      for v in tree_leaves(x))


def add(x: Any, y: Any) -> Any:
  """The sum of two trees."""
  return tree_map(gnp.add, x, y)


def subtract(x: Any, y: Any) -> Any:
  """The difference of two trees."""
  return tree_map(gnp.subtract, x, y)


def scaled(factor: Any, x: Any) -> Any:
  """A tree times a number; real leaves take its real part, and all keep their dtypes."""
  def of_leaf(v: Any) -> Any:
    complex_ = is_kind(v, np.complexfloating)
    part = factor if complex_ or not is_kind(factor, np.complexfloating) else factor.real
    aval = typeof(v)
    product = gnp.asarray(part).astype(v.dtype) * v
    return convert(product, aval.dtype, aval.weak_type)

  return tree_map(of_leaf, x)


def kept(tree: Any, like: Any) -> Any:
  """A tree with the types of another one: what a loop carries must not change."""
  def of_leaf(x: Any, y: Any) -> Any:
    aval = typeof(y)
    return convert(gnp.asarray(x), aval.dtype, aval.weak_type)

  return tree_map(of_leaf, tree, like)


def solved(
    system: System, solve: Callable[[Operator, Any, Any, Operator | None], Any],
    hermitian: bool) -> Any:
  """The solution by a solver, with derivatives that are solutions by the same solver.

  Of the transposed equation the preconditioner is the transposed one. It begins at zero.
  """
  def forward(A: Operator, b: Any) -> Any:
    return solve(A, b, system.x0, system.M)

  def backward(A: Operator, b: Any) -> Any:
    M = None if system.M is None else transposed(system.M, b)
    return solve(A, b, tree_map(gnp.zeros_like, b), M)

  def matvec(x: Any) -> Any:
    return kept(system.A(x), x)

  _check_result(system)
  return lax.custom_linear_solve(
      matvec, system.b, solve=forward, transpose_solve=backward,
      symmetric=hermitian and system.real)


def _check_result(system: System) -> None:
  out = eval_shape(system.A, system.b)
  found = [x.shape for x in tree_leaves(out)]
  expected = [x.shape for x in tree_leaves(system.b)]
  if found != expected:
    raise ValueError(
        f"matvec() output shapes must match b, got {found} and {expected}")
