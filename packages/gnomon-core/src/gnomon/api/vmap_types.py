"""`vmap` of functions of values that are mapped in a way of their own.

Their arrays become arguments and results of a function that `vmap` maps as any other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gnomon.core.derive import move
from gnomon.core.types import typeof
from gnomon.transform import vmappable
from gnomon.tree_util import flatten_axes, tree_flatten

Vmap = Callable[..., Callable[..., Any]]


def has_own(leaves: Any) -> bool:
  """Whether there is a value of a registered type among the leaves."""
  return any(type(x) in vmappable.registered for x in leaves)


def call(
    vmap: Vmap, fun: Callable[..., Any], args: Any, kwargs: Any, in_axes: Any,
    out_axes: Any, axis_size: int | None, **options: Any) -> Any:
  """Maps `fun` over arguments some of which are of registered types."""
  leaves, tree = tree_flatten((args, kwargs))
  dims = flatten_axes("vmap in_axes", tree, (in_axes, 0), kws=True)
  flat: list[Any] = []
  flat_dims: list[Any] = []
  for x, d in zip(leaves, dims, strict=True):
    own = type(x) in vmappable.registered and d is not None
    parts = vmappable.arrays_in(x, d) if own else [(x, d)]
    flat += [p for p, _ in parts if own or not _constant(x, d)]
    flat_dims += [q for _, q in parts if own or not _constant(x, d)]
  size = axis_size
  if size is None:
    size = next(
        (typeof(x).shape[d] for x, d in zip(flat, flat_dims, strict=True)
         if d is not None), None)
  found: Any = None

  def inner(*xs: Any) -> list[Any]:
    nonlocal found
    it = iter(xs)
    own: list[Any] = []
    for x, d in zip(leaves, dims, strict=True):
      if _constant(x, d):
        own.append(x)
      elif type(x) in vmappable.registered:
        count = len(vmappable.arrays_in(x, d))
        own.append(vmappable.element(x, d, [next(it) for _ in range(count)]))
      else:
        own.append(next(it))
    positional, named = tree.unflatten(own)
    outs, out_tree = tree_flatten(fun(*positional, **named))
    targets = flatten_axes("vmap out_axes", out_tree, out_axes)
    found = outs, out_tree, targets
    results: list[Any] = []
    for o, t in zip(outs, targets, strict=True):
      if type(o) in vmappable.registered and t is not None:
        results += [p for p, _ in vmappable.arrays_out(o, size, t)]
      else:
        results.append(o)
    return results

  # Where the mapped axes of results go is known once `inner` has run: they come in front.
  mapped = vmap(
      inner, in_axes=tuple(flat_dims), out_axes=0, axis_size=size, **options)(*flat)
  return _results(found, mapped, size)


def _constant(x: Any, d: Any) -> bool:
  return type(x) in vmappable.registered and d is None


def _results(found: Any, mapped: list[Any], size: Any) -> Any:
  outs, out_tree, targets = found
  it = iter(mapped)
  results: list[Any] = []
  for o, t in zip(outs, targets, strict=True):
    if type(o) in vmappable.registered and t is not None:
      parts = vmappable.arrays_out(o, size, t)
      results.append(vmappable.whole(o, size, t, [_to(next(it), d) for _, d in parts]))
    else:
      results.append(_to(next(it), t))
  return out_tree.unflatten(results)


def _to(x: Any, d: int | None) -> Any:
  n = typeof(x).ndim
  if d is None:
    raise ValueError(
        "vmap: out_axes of a function of values that are mapped in a way of their own "
        "must say where each result is mapped, got None")
  return move(x, 0, d % n)
