"""Functions of dense arrays, applied to sparse ones: `sparsify`.

The function is traced with the types of the dense arrays. Of the program, each equation
that meets a sparse array is done by the rule of its primitive, the others as they are.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import gnomon.numpy as gnp
from gnomon import make_jaxpr
from gnomon.core.jaxpr import Literal
from gnomon.core.types import ShapedArray
from gnomon.experimental.sparse import _arithmetic as arithmetic
from gnomon.experimental.sparse import _shapes as shapes
from gnomon.experimental.sparse._base import JAXSparse
from gnomon.experimental.sparse._bcoo import BCOO
from gnomon.experimental.sparse._layout import bcoo_sum_duplicates
from gnomon.numpy._promotion import promote_dtypes
from gnomon.tree_util import tree_flatten, tree_unflatten

SparseRule = Callable[..., Any]


def is_sparse(x: Any) -> bool:
  """Whether a value is a sparse array."""
  return isinstance(x, JAXSparse)


def _linear(primitive: Any, *args: Any, **params: Any) -> Any:
  """An operation on each element that does not ask whether it is all of its place."""
  (x,) = args
  return x.like(primitive.apply(x.data, **params)[0])


def _zero_at_zero(primitive: Any, *args: Any, **params: Any) -> Any:
  """An operation that keeps zeros: on elements that are all of their places."""
  (x,) = args
  if not x.unique_indices:
    x = bcoo_sum_duplicates(x, nse=x.nse)
  return x.like(primitive.apply(x.data, **params)[0])


def add(x: Any, y: Any) -> Any:
  """The sum of two sparse arrays: the elements of both."""
  if not (is_sparse(x) and is_sparse(y)):
    raise NotImplementedError(
        "the sum of a sparse and a dense array is dense: use todense() before")
  if x.shape != y.shape or (x.n_batch, x.n_dense) != (y.n_batch, y.n_dense):
    raise NotImplementedError(
        f"the sum of {x} and {y}: expected equal shapes and numbers of batch and dense "
        "axes; use bcoo_update_layout or bcoo_broadcast_in_dim")
  x, y = x.whole(), y.whole()
  data = promote_dtypes(x.data, y.data)
  return BCOO(
      (gnp.concatenate(data, x.n_batch),
       gnp.concatenate([x.indices, y.indices], x.n_batch)), shape=x.shape)


def multiply(x: Any, y: Any) -> Any:
  """The product of arrays, element by element, of which at least one is sparse."""
  if is_sparse(x) and is_sparse(y):
    return arithmetic.bcoo_multiply_sparse(x, y)
  if not is_sparse(x):
    x, y = y, x
  shape = gnp.shape(y)
  if shape and any(m == 1 != n for m, n in zip(x.shape[::-1], shape[::-1])):
    n = max(x.ndim, len(shape))
    target = gnp.broadcast_shapes(x.shape, shape)
    x = shapes.bcoo_broadcast_in_dim(
        x, shape=target, broadcast_dimensions=range(n - x.ndim, n))
  elif len(shape) > x.ndim:
    x = shapes.bcoo_broadcast_in_dim(
        x, shape=shape, broadcast_dimensions=range(len(shape) - x.ndim, len(shape)))
  return arithmetic.bcoo_multiply_dense(x, y)


def negative(x: Any) -> Any:
  """The sparse array with all signs changed."""
  return x.like(-x.data)


def _divide(x: Any, y: Any) -> Any:
  if is_sparse(y):
    raise NotImplementedError(
        "division by a sparse array gives nan or infinity: use todense() before")
  return multiply(x, 1 / gnp.asarray(y))


def _function(f: Callable[..., Any], **fixed: Any) -> SparseRule:
  """A rule that does not look at the parameters."""
  def rule(primitive: Any, *args: Any, **params: Any) -> Any:
    del primitive, params
    return f(*args, **fixed)

  return rule


def _dot(primitive: Any, x: Any, y: Any, **params: Any) -> Any:
  del primitive
  return arithmetic.bcoo_dot_general(
      x, y, dimension_numbers=params["dimension_numbers"],
      preferred_element_type=params.get("preferred_element_type"))


def _power(primitive: Any, x: Any, *, y: int) -> Any:
  if y <= 0:
    raise NotImplementedError(f"the power {y} of a sparse array is not zero at zeros")
  return _zero_at_zero(primitive, x, y=y)


def _select(primitive: Any, *args: Any, **params: Any) -> Any:
  del params
  raise NotImplementedError(
      f"sparsify: {primitive} of sparse arrays: use todense() before")


def _reduce_sum(primitive: Any, x: Any, *, axes: Any, **params: Any) -> Any:
  del primitive, params
  return arithmetic.bcoo_reduce_sum(x, axes=axes)


def _broadcast(primitive: Any, x: Any, *args: Any, **params: Any) -> Any:
  del primitive, args
  return shapes.bcoo_broadcast_in_dim(
      x, shape=params["shape"], broadcast_dimensions=params["broadcast_dimensions"])


def _concatenate(primitive: Any, *args: Any, dimension: int) -> Any:
  if not all(map(is_sparse, args)):
    return _select(primitive)
  return shapes.bcoo_concatenate(args, dimension=dimension)


def _slice(primitive: Any, x: Any, **params: Any) -> Any:
  del primitive
  return shapes.bcoo_slice(
      x, start_indices=params["start_indices"], limit_indices=params["limit_indices"],
      strides=params.get("strides"))


def _dynamic_slice(primitive: Any, x: Any, *starts: Any, **params: Any) -> Any:
  del primitive
  return shapes.bcoo_dynamic_slice(x, starts, params["slice_sizes"])


def _call(primitive: Any, *args: Any, **params: Any) -> Any:
  del primitive
  closed = params["jaxpr"] if "jaxpr" in params else params["call_jaxpr"]
  return _evaluate(closed.jaxpr, closed.consts, args)


_RULES: dict[str, SparseRule] = {
    **dict.fromkeys(
        ["neg", "convert_element_type", "copy", "copy_p", "real", "imag", "conj",
         "reduce_precision"], _linear),
    **dict.fromkeys(
        ["abs", "sign", "sin", "sinh", "tan", "tanh", "asin", "asinh", "atan", "atanh",
         "expm1", "log1p", "sqrt", "cbrt", "square", "floor", "ceil", "round", "erf"],
        _zero_at_zero),
    "add": _function(add), "add_any": _function(add),
    "sub": _function(lambda x, y: add(x, negative(y)) if is_sparse(y) else add(x, y)),
    "mul": _function(multiply), "div": _function(_divide),
    "dot_general": _dot, "integer_pow": _power, "reduce_sum": _reduce_sum,
    "transpose": lambda primitive, x, *, permutation: shapes.bcoo_transpose(
        x, permutation=permutation),
    "reshape": lambda primitive, x, *args, **params: shapes.bcoo_reshape(
        x, new_sizes=params["new_sizes"], dimensions=params.get("dimensions")),
    "squeeze": lambda primitive, x, *, dimensions: shapes.bcoo_squeeze(
        x, dimensions=dimensions),
    "rev": lambda primitive, x, *, dimensions: shapes.bcoo_rev(x, dimensions),
    "broadcast_in_dim": _broadcast, "concatenate": _concatenate, "slice": _slice,
    "dynamic_slice": _dynamic_slice, "jit": _call, "pjit": _call,
    "closed_call": _call, "custom_jvp_call": _call, "custom_vjp_call": _call,
}


def _evaluate(jaxpr: Any, consts: Any, args: Any) -> list[Any]:
  values: dict[Any, Any] = {}

  def read(atom: Any) -> Any:
    return atom.val if isinstance(atom, Literal) else values[atom]

  values.update(zip(jaxpr.constvars, consts))
  values.update(zip(jaxpr.invars, args))
  for eqn in jaxpr.eqns:
    operands = [read(x) for x in eqn.invars]
    if not any(map(is_sparse, operands)):
      outs: Any = eqn.primitive.apply(*operands, **eqn.params)
    elif eqn.primitive.name in _RULES:
      found = _RULES[eqn.primitive.name](eqn.primitive, *operands, **eqn.params)
      outs = found if isinstance(found, list) else [found]
    else:
      raise NotImplementedError(
          f"sparse rule for {eqn.primitive.name} is not implemented: use todense() "
          "before it")
    values.update(zip(eqn.outvars, outs))
  return [read(x) for x in jaxpr.outvars]


def sparsify(f: Callable[..., Any], use_tracer: bool = False) -> Callable[..., Any]:
  """Makes a function of dense arrays one that takes and returns sparse ones too.

  Args:
    f: the function. It sees dense arrays; what it does to them must have a rule: sums and
      products, contractions, movements, functions that are zero at zero.
    use_tracer: no difference.

  Returns:
    The function. Results that depend on sparse arrays are sparse where the rules say so.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.experimental import sparse
  >>> f = sparse.sparsify(lambda x, v: gnp.sin(x) @ v)
  >>> [round(v, 4) for v in f(sparse.eye(2), gnp.array([0.0, 1.0])).tolist()]
  [0.0, 0.8415]

  Raises:
    NotImplementedError: an operation has no rule.
  """
  del use_tracer

  @functools.wraps(f)
  def call(*args: Any, **kwargs: Any) -> Any:
    leaves, tree = tree_flatten((args, kwargs), is_leaf=is_sparse)
    others = [x for x in leaves if is_sparse(x)]

    def dense(*values: Any) -> Any:
      given = iter(values)
      filled = [next(given) if is_sparse(x) else x for x in leaves]
      again, more = tree_unflatten(tree, filled)
      return f(*again, **more)

    closed, out = make_jaxpr(dense, return_shape=True)(
        *(ShapedArray(x.shape, x.dtype) for x in others))
    results = _evaluate(closed.jaxpr, closed.consts, others)
    return tree_unflatten(tree_flatten(out)[1], results)

  return call
