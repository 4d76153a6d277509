"""Gradients of functions of sparse arrays, by their elements."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import gnomon
from gnomon.experimental.sparse._sparsify import is_sparse
from gnomon.tree_util import tree_flatten, tree_unflatten

Argnums = int | Sequence[int]


def value_and_grad(
    fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False,
    **kwargs: Any) -> Callable[..., Any]:
  """Like `gnomon.value_and_grad`, with sparse gradients by sparse arguments.

  The gradient by a sparse array is one with the same indices: the derivatives by its
  elements. By what is not there is no derivative.

  Args:
    fun: the function.
    argnums: by which arguments.
    has_aux: whether it returns a pair of the value and of what has no derivative.
    kwargs: more arguments of `gnomon.value_and_grad`.

  >>> from gnomon.experimental import sparse
  >>> f = sparse.value_and_grad(lambda x: (x * x).todense().sum())
  >>> value, grad = f(sparse.eye(2))
  >>> value.item(), grad.data.tolist()
  (2.0, [2.0, 2.0])

  Raises:
    TypeError: as by `gnomon.value_and_grad`.
  """
  numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)

  @functools.wraps(fun)
  def call(*args: Any, **more: Any) -> Any:
    chosen = tuple(args[i] for i in numbers)
    leaves, tree = tree_flatten(chosen, is_leaf=is_sparse)

    def of_elements(elements: list[Any]) -> Any:
      again = [x.like(e) if is_sparse(x) else e for x, e in zip(leaves, elements)]
      given = list(args)
      for i, x in zip(numbers, tree_unflatten(tree, again)):
        given[i] = x
      return fun(*given, **more)

    elements = [x.data if is_sparse(x) else x for x in leaves]
    value, found = gnomon.value_and_grad(of_elements, has_aux=has_aux, **kwargs)(elements)
    found = [x.like(g) if is_sparse(x) else g for x, g in zip(leaves, found)]
    grads = tree_unflatten(tree, found)
    return value, grads[0] if isinstance(argnums, int) else grads

  return call


def grad(
    fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False,
    **kwargs: Any) -> Callable[..., Any]:
  """Like `gnomon.grad`, with sparse gradients by sparse arguments: see `value_and_grad`.

  Args:
    fun: the function.
    argnums: by which arguments.
    has_aux: whether it returns a pair of the value and of what has no derivative.
    kwargs: more arguments of `gnomon.grad`.

  >>> from gnomon.experimental import sparse
  >>> sparse.grad(lambda x: x.todense().sum())(sparse.eye(2)).data.tolist()
  [1.0, 1.0]

  Raises:
    TypeError: as by `gnomon.grad`.
  """
  both = value_and_grad(fun, argnums, has_aux, **kwargs)

  @functools.wraps(fun)
  def call(*args: Any, **more: Any) -> Any:
    value, found = both(*args, **more)
    return (found, value[1]) if has_aux else found

  return call
