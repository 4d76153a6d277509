"""Functions with vectorisation rules of their own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from gnomon.api import tools
from gnomon.core.lax_hook import lax
from gnomon.transform.custom_batching import Flags, custom_vmap_call_p
from gnomon.transform.custom_derivatives import stage_function
from gnomon.tree_util import tree_leaves, tree_map

__all__ = ["custom_vmap", "sequential_vmap"]

flatten = tools.flatten


class custom_vmap:
  """A function whose behaviour under `vmap` is given by a rule.

  Derivatives of the function are those of its own body; where they are mapped, those of
  the rule. The rule may itself be mapped: by what it calls.

  >>> import gnomon
  >>> from gnomon import lax
  >>> @gnomon.custom_batching.custom_vmap
  ... def f(x):
  ...   return lax.sin(x)
  >>> @f.def_vmap
  ... def f_rule(axis_size, in_batched, xs):
  ...   return lax.cos(xs), in_batched[0]
  >>> float(f(0.0)), float(gnomon.vmap(f)(lax.full((2,), 0.0))[0])
  (0.0, 1.0)
  """

  __slots__ = ("__dict__", "__weakref__", "fun", "vmap_rule")

  def __init__(self, fun: Callable[..., Any]) -> None:
    tools.check_callable(fun, "custom_vmap")
    functools.update_wrapper(self, fun)
    self.fun = fun
    self.vmap_rule: Callable[..., Any] | None = None

  def def_vmap(self, vmap_rule: Callable[..., Any]) -> Callable[..., Any]:
    """Gives the rule.

    Args:
      vmap_rule: called as `vmap_rule(axis_size, in_batched, *args)`. Of the arguments,
        those leaves are mapped, along their first axis, for which `in_batched`, a list
        with a pytree of bools an argument, says so. It returns the result and a pytree of
        bools that says which of the result's leaves are mapped.

    Returns:
      The rule itself.
    """
    self.vmap_rule = vmap_rule
    return vmap_rule

  def __getattr__(self, name: str) -> Any:
    return tools.inner_rule(self, name)

  def __get__(self, instance: Any, owner: Any = None) -> Any:
    return self if instance is None else functools.partial(self, instance)

  @tools.filtered
  def __call__(self, *args: Any, **kwargs: Any) -> Any:
    if self.vmap_rule is None:
      raise AttributeError(
          f"No batching rule defined for custom_vmap function "
          f"{tools.function_name(self.fun)} using def_vmap.")
    args = tools.bound_arguments(self.fun, args, kwargs, "custom_vmap")
    leaves, tree = flatten(args)
    names = tools.leaf_names(self.fun, flatten((args, {}))[1])
    avals = tools.check_leaves(leaves, "custom_vmap", names)
    out_tree: Any = None

    def flat(*xs: Any) -> list[Any]:
      nonlocal out_tree
      outs, out_tree = tools.results_to_flat(
          self.fun(*tree.unflatten(xs)), "custom_vmap", self.fun)
      return outs

    call, outer = stage_function(flat, avals)
    rule = _Rule(self.vmap_rule, len(outer), tree, out_tree)
    outs = custom_vmap_call_p.apply(
        *outer, *leaves, call=call, rule=rule,
        in_tree=flatten(([0] * len(outer), tree.unflatten(range(len(leaves)))))[1],
        out_tree=out_tree)
    return out_tree.unflatten(outs)


class _Rule:
  """A user's rule on flat lists, the first of which are what the function closes over."""

  __slots__ = ("in_tree", "num_consts", "out_tree", "rule")

  def __init__(
      self, rule: Callable[..., Any], num_consts: int, in_tree: Any,
      out_tree: Any) -> None:
    self.rule, self.num_consts = rule, num_consts
    self.in_tree, self.out_tree = in_tree, out_tree

  def __call__(
      self, size: int, mapped: Flags, args: Sequence[Any]) -> tuple[list[Any], Flags]:
    n = self.num_consts
    if any(mapped[:n]):
      raise ValueError(
          f"the function with the custom vmap rule {self.rule!r} closes over a value "
          "that is mapped, of which its rule knows nothing: pass it as an argument "
          "(closure_convert finds such values)")
    in_batched = list(self.in_tree.unflatten(list(mapped[n:])))
    pair = self.rule(size, in_batched, *self.in_tree.unflatten(list(args[n:])))
    name = tools.function_name(self.rule)
    if not isinstance(pair, tuple) or len(pair) != 2:
      raise ValueError(
          f"the custom vmap rule ({name}) must return a pair: the result, and which of "
          f"its leaves are mapped; got {pair!r}")
    out, out_batched = pair
    outs, tree = flatten(out)
    flags, flag_tree = flatten(out_batched)
    if flag_tree != tree:
      raise ValueError(
          "structure of output value and output batching specification returned by "
          f"custom vmap rule ({name}) do not match.\nOutput values: {tree}\n"
          f"Batching spec: {flag_tree}")
    if tree != self.out_tree:
      raise ValueError(
          f"structure of output returned by custom vmap rule ({name}) does not match "
          "that of original custom-vmapped function.\n"
          f"Original output: {self.out_tree}\nRule output: {tree}")
    return outs, flags

  def __repr__(self) -> str:
    return repr(self.rule)


def sequential_vmap(f: Callable[..., Any]) -> custom_vmap:
  """A function that `vmap` maps by a loop, one element after the other (`lax.map`).

  For functions that call what cannot be vectorised, or take too much memory if they are.

  >>> import gnomon
  >>> from gnomon import lax
  >>> f = gnomon.custom_batching.sequential_vmap(lax.sin)
  >>> gnomon.vmap(f)(lax.full((3,), 0.0)).shape
  (3,)
  """
  function = custom_vmap(f)

  @function.def_vmap
  def rule(axis_size: int, in_batched: list[Any], *args: Any) -> tuple[Any, Any]:
    leaves, tree = flatten(args)
    mapped = tree_leaves(in_batched)

    def one(xs: Any) -> Any:
      it = iter(xs)
      return function(*tree.unflatten([
          next(it) if m else x for x, m in zip(leaves, mapped)]))

    out = lax().map(one, [x for x, m in zip(leaves, mapped) if m])
    return out, tree_map(lambda _: True, out)

  return function
