"""Functions that return their derivative rule, and closures made explicit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gnomon.api import tools
from gnomon.api.custom import custom_vjp
from gnomon.core import dtypes
from gnomon.core.jaxpr import Jaxpr, eval_jaxpr
from gnomon.core.stage import trace_to_jaxpr
from gnomon.core.trace import Tracer
from gnomon.core.types import typeof
from gnomon.tree_util import register_pytree_node

flatten = tools.flatten


@tools.filtered
def closure_convert(
    fun: Callable[..., Any], *example_args: Any) -> tuple[Callable[..., Any], list[Any]]:
  """A function that takes the values it closes over as arguments, and those values.

  For functions that take functions and have a custom derivative: what `fun` closes over
  can then be passed to the rule as arguments, and so be differentiated.

  Args:
    fun: the function.
    *example_args: arguments of the shapes and dtypes that it will be called with.

  Returns:
    A function that takes the arguments of `fun`, then the values; and the values: those
    that are being differentiated, mapped or traced, and are floats.

  >>> import gnomon
  >>> from gnomon import lax
  >>> def outer(y):
  ...   f, consts = gnomon.closure_convert(lambda x: lax.mul(x, y), 1.0)
  ...   return f(2.0, *consts)
  >>> float(gnomon.grad(outer)(3.0))
  2.0

  Raises:
    TypeError: when called: the arguments have another structure than the examples.
  """
  tools.check_callable(fun, "closure_convert")
  leaves, tree = flatten(example_args)
  call_tree = flatten((example_args, {}))[1]
  avals = tools.check_leaves(
      leaves, "closure_convert", tools.leaf_names(fun, call_tree))
  out_tree: Any = None

  def flat(*xs: Any) -> list[Any]:
    nonlocal out_tree
    outs, out_tree = tools.results_to_flat(
        fun(*tree.unflatten(xs)), "closure_convert", fun)
    return outs

  jaxpr, consts = trace_to_jaxpr(
      flat, avals, tools.debug_info("closure_convert", fun, call_tree))
  hoisted = [
      isinstance(c, Tracer) and dtypes.issubdtype(c.dtype, np.inexact) for c in consts]
  values = [c for c, h in zip(consts, hoisted) if h]
  fixed = [None if h else c for c, h in zip(consts, hoisted)]

  @tools.wraps(fun)
  def converted(*args: Any) -> Any:
    n = len(args) - len(values)
    leaves, got = flatten(args[:n])
    if n < 0 or got != tree:
      raise TypeError(
          "The inputs to the closure produced by closure_convert must have the same "
          "Pytree structure as the example arguments passed when closure_convert was "
          f"called. Expected {tree}, but got {got}")
    given = iter(args[n:])
    consts = [next(given) if h else c for c, h in zip(fixed, hoisted)]
    return out_tree.unflatten(eval_jaxpr(jaxpr, consts, *leaves))

  return converted, values


class _Rule:
  """A traced rule as the residual of a forward pass: what it closes over are leaves."""

  __slots__ = ("consts", "in_tree", "jaxpr", "out_tree")

  def __init__(
      self, jaxpr: Jaxpr, consts: list[Any], in_tree: Any, out_tree: Any) -> None:
    self.jaxpr, self.consts = jaxpr, consts
    self.in_tree, self.out_tree = in_tree, out_tree


register_pytree_node(
    _Rule, lambda r: (r.consts, (r.jaxpr, r.in_tree, r.out_tree)),
    lambda aux, consts: _Rule(aux[0], list(consts), *aux[1:]))


def custom_gradient(fun: Callable[..., Any]) -> Callable[..., Any]:
  """A function whose body also gives its reverse derivative.

  `fun` returns a pair: the result, and a function from the result's cotangent to a tuple
  with the cotangent of each argument (of one argument: its cotangent itself will do).
  Only reverse mode can use it; `custom_vjp` gives more control.

  >>> import gnomon
  >>> from gnomon import lax
  >>> @gnomon.custom_gradient
  ... def f(x):
  ...   return lax.mul(x, x), lambda ct: lax.mul(ct, 10.0)
  >>> float(f(3.0)), float(gnomon.grad(f)(3.0))
  (9.0, 10.0)

  Raises:
    TypeError: when called: `fun` does not return a pair; when differentiated: its rule
      returns other than one cotangent an argument.
  """
  tools.check_callable(fun, "custom_gradient")

  def call(args: tuple[Any, ...]) -> tuple[Any, Any]:
    pair = fun(*args)
    if not isinstance(pair, tuple) or len(pair) != 2 or not callable(pair[1]):
      raise TypeError(
          f"custom_gradient expects {tools.describe_function(fun)} to return a pair: the "
          f"result and a function from its cotangent to the arguments'; got {pair!r}")
    return pair

  @tools.wraps(fun)
  def value(*args: Any) -> Any:
    return call(args)[0]

  def fwd(*args: Any) -> tuple[Any, _Rule]:
    out, rule = call(args)
    outs, in_tree = flatten(out)
    out_tree: Any = None

    def flat(*cts: Any) -> list[Any]:
      nonlocal out_tree
      found: list[Any]
      found, out_tree = flatten(rule(in_tree.unflatten(cts)))
      return found

    jaxpr, consts = trace_to_jaxpr(flat, [typeof(x).to_tangent_aval() for x in outs])
    return out, _Rule(jaxpr, consts, in_tree, out_tree)

  def bwd(rule: _Rule, ct: Any) -> Any:
    cts = flatten(ct)[0]
    found = rule.out_tree.unflatten(eval_jaxpr(rule.jaxpr, rule.consts, *cts))
    return found if isinstance(found, tuple) else (found,)

  wrapped = custom_vjp(value)
  wrapped.defvjp(fwd, bwd)

  @tools.wraps(fun)
  def with_gradient(*args: Any, **kwargs: Any) -> Any:
    return wrapped(*args, **kwargs)

  return with_gradient
