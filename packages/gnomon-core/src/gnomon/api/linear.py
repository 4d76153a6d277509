"""`linear_transpose`, and forward and backward passes as two functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon.api import tools
from gnomon.api.evaluate import abstract_leaves
from gnomon.api.flat import Flat, check_arrays
from gnomon.api.grad import _picked
from gnomon.api.jit import jit
from gnomon.api.vjp import make_vjp
from gnomon.core import dtypes
from gnomon.core.jaxpr import Jaxpr
from gnomon.core.stage import trace_to_jaxpr
from gnomon.core.structural import instantiate
from gnomon.core.types import typeof
from gnomon.core.zero import UndefinedPrimal
from gnomon.transform.linearize import linearize_flat
from gnomon.transform.transpose import backward
from gnomon.tree_util import Partial

flatten = tools.flatten


@tools.filtered
def linear_transpose(
    fun: Callable[..., Any], *primals: Any, reduce_axes: Sequence[Any] = ()) -> Any:
  """The transpose of a function that is linear in its arguments.

  For a linear function it does what `vjp` does, without values of the arguments and
  without a forward pass.

  Args:
    fun: the function; it is not checked that it is linear, only that each operation in it
      can be transposed.
    *primals: arguments, or anything with a shape and a dtype for them.
    reduce_axes: must be empty.

  Returns:
    A function from a cotangent of the result to a tuple of cotangents of the arguments.

  >>> import gnomon
  >>> from gnomon import lax
  >>> scalar = gnomon.ShapeDtypeStruct((), 'float32')
  >>> f = gnomon.linear_transpose(
  ...     lambda x, y: lax.sub(x, lax.mul(y, 2.0)), scalar, scalar)
  >>> [float(ct) for ct in f(1.0)]
  [1.0, -2.0]

  Raises:
    TypeError: some arguments or results are floats and others integers; or, when called,
      the cotangent does not fit the result.
  """
  if reduce_axes:
    raise NotImplementedError(
        "reduce_axes of linear_transpose is deprecated and not supported")
  tools.check_callable(fun, "linear_transpose")
  leaves, tree = flatten(primals)
  avals = abstract_leaves(leaves, fun, flatten((primals, {}))[1], "linear_transpose")
  out_tree: Any = None

  def flat(*xs: Any) -> list[Any]:
    nonlocal out_tree
    outs, out_tree = tools.results_to_flat(
        fun(*tree.unflatten(xs)), "linear_transpose", fun)
    return outs

  info = tools.debug_info("linear_transpose", fun, flatten((primals, {}))[1])
  jaxpr, consts = trace_to_jaxpr(flat, avals, info)
  ins, outs = [a.dtype for a in avals], [a.dtype for a in jaxpr.out_avals]
  if not any(
      all(dtypes.issubdtype(d, kind) for d in ins + outs)
      for kind in (np.inexact, np.integer)):
    raise TypeError(
        "linear_transpose only supports [float or complex] -> [float or complex], and "
        f"integer -> integer functions, but got {ins} -> {outs}.")
  return Partial(_Transposed(jaxpr, tree, out_tree), consts)


class _Transposed:
  """The transpose of a linear program, without its constants."""

  __slots__ = ("in_tree", "jaxpr", "out_tree")

  def __init__(self, jaxpr: Jaxpr, in_tree: Any, out_tree: Any) -> None:
    self.jaxpr, self.in_tree, self.out_tree = jaxpr, in_tree, out_tree

  def __call__(self, consts: list[Any], cotangent: Any) -> Any:
    cts, tree = flatten(cotangent)
    if tree != self.out_tree:
      raise TypeError(
          f"cotangent tree does not match function output, expected {self.out_tree} but "
          f"got {tree}")
    for i, (ct, a) in enumerate(zip(cts, self.jaxpr.out_avals)):
      got = typeof(ct)
      if got.shape != a.shape or got.dtype != a.dtype:
        raise TypeError(
            "cotangent type does not match function output: for result leaf "
            f"{i} expected {a} but got {got}")
    args = [UndefinedPrimal(v.aval) for v in self.jaxpr.invars]
    found = backward(self.jaxpr, consts, args, cts)
    return self.in_tree.unflatten(map(instantiate, found))


def fwd_and_bwd(
    fun: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool = False,
    jitted: bool = True) -> tuple[Callable[..., Any], Callable[..., Any]]:
  """The forward and the backward pass of a function, as two functions.

  Args:
    fun: the function.
    argnums: which positional argument or arguments to differentiate in.
    has_aux: whether `fun` returns `(result, aux)`.
    jitted: whether to compile the two.

  Returns:
    `fwd`, which takes the arguments of `fun` and returns `(result, residuals)`, or
    `(result, residuals, aux)`; and `bwd`, which takes residuals and a cotangent of the
    result, and returns the gradient, or a tuple of them for a sequence of `argnums`.

  >>> import gnomon
  >>> from gnomon import lax
  >>> fwd, bwd = gnomon.fwd_and_bwd(lax.mul, argnums=(0, 1))
  >>> y, residuals = fwd(2.0, 3.0)
  >>> [float(g) for g in bwd(residuals, 1.0)]
  [3.0, 2.0]
  """
  tools.check_callable(fun, "fwd_and_bwd")

  def fwd(*args: Any, **kwargs: Any) -> Any:
    nums, rebuild = _picked("fwd_and_bwd", fun, argnums, args)
    picked = tuple([args[i] for i in nums])
    xs, tree = flatten(picked)
    check_arrays(xs, fun, tree, "fwd_and_bwd")
    flat = Flat(
        fun, tree, "fwd_and_bwd", has_aux, lambda *ys: fun(*rebuild(*ys), **kwargs))
    outs, lin = linearize_flat(flat, xs)
    outs, aux = flat.split(outs)
    pull = make_vjp(fun, xs, tree, outs, flat, lin)
    result = flat.out_tree.unflatten(outs), pull
    return (*result, aux) if has_aux else result

  def bwd(residuals: Any, cotangent: Any) -> Any:
    grads = residuals(cotangent)
    return grads[0] if isinstance(argnums, int) else grads

  return (jit(fwd), jit(bwd)) if jitted else (fwd, bwd)
