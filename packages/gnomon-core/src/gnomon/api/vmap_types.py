"""`vmap` of functions of values that are mapped in a way of their own.

Their arrays become mapped values inside of `to_elt`, and whole ones inside of `from_elt`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gnomon.core.trace import get_current
from gnomon.core.types import typeof
from gnomon.transform import vmappable
from gnomon.transform.vmap import Axis, BatchTrace, vmap_flat
from gnomon.tree_util import flatten_axes, tree_flatten


def call(
    fun: Callable[..., Any], args: Any, kwargs: Any, in_axes: Any, out_axes: Any,
    axis_size: int | None, name: Any, spmd_name: Any) -> Any:
  """Maps `fun` over arguments some of which are of registered types."""
  leaves, tree = _flatten((args, kwargs))
  dims = flatten_axes("vmap in_axes", tree, (in_axes, 0), kws=True)
  plain = [(x, d) for x, d in zip(leaves, dims) if not vmappable.is_own(x)]
  size = _size(leaves, dims) if axis_size is None else int(axis_size)
  out_tree: Any = None

  def inner(*xs: Any) -> list[Any]:
    nonlocal out_tree
    trace: Any = get_current()  # results are made whole while it runs
    it = iter(xs)
    own = [
        next(it) if not vmappable.is_own(x) else x if d is None
        else vmappable.element(x, d, trace.element) for x, d in zip(leaves, dims)]
    positional, named = tree.unflatten(own)
    outs, out_tree = _flatten(fun(*positional, **named))
    targets = flatten_axes("vmap out_axes", out_tree, out_axes)
    results.extend(
        vmappable.whole(o, size, t, trace.whole)
        if vmappable.is_own(o) and t is not None else trace.whole(o, t)
        for o, t in zip(outs, targets, strict=True))
    return []

  results: list[Any] = []
  vmap_flat(
      inner, Axis(size, name, spmd_name), [x for x, _ in plain],
      [None if d is None else d % typeof(x).ndim for x, d in plain])
  return out_tree.unflatten(results)


def _flatten(x: Any) -> tuple[list[Any], Any]:
  return tree_flatten(x, is_leaf=vmappable.is_own)


def _size(leaves: list[Any], dims: list[Any]) -> int:
  """The size of the mapped axes, told by the arguments."""
  sizes: set[int] = set()
  trial = BatchTrace(get_current(), Axis(0))

  def element(x: Any, d: int) -> Any:
    sizes.add(typeof(x).shape[d])
    return trial.element(x, d)

  for x, d in zip(leaves, dims):
    if d is not None and vmappable.is_own(x):
      vmappable.element(x, d, element)
    elif d is not None:
      sizes.add(typeof(x).shape[d])
  if len(sizes) != 1:
    raise ValueError(
        "vmap of values that are mapped in a way of their own needs one size of the "
        f"mapped axes, got {sorted(sizes) or 'none: give axis_size'}")
  return sizes.pop()
