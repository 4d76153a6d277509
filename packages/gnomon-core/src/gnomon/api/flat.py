"""Functions of leaves, as derivatives take them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gnomon.api import tools
from gnomon.core.types import is_array_like
from gnomon.tree_util import keystr, tree_flatten_with_path

flatten = tools.flatten


class Flat:
  """A function of leaves; remembers the structure of what it returned, and its aux."""

  __slots__ = (
      "aux", "call", "fun", "has_aux", "held", "in_tree", "out_tree", "who")

  def __init__(
      self, fun: Any, in_tree: Any, who: str, has_aux: bool = False,
      call: Callable[..., Any] | None = None) -> None:
    """`call` stands in for `fun`, whose name messages give."""
    self.fun, self.in_tree, self.who, self.has_aux = fun, in_tree, who, has_aux
    self.call = fun if call is None else call
    self.out_tree: Any = None
    self.aux: Any = None
    self.held: dict[int, Any] = {}  # leaves of the aux that are no arrays, by place

  def __call__(self, *leaves: Any) -> list[Any]:
    out = self.call(*self.in_tree.unflatten(leaves))
    if self.has_aux:
      out, self.aux = split_aux(out, self.who, self.fun)
    outs, self.out_tree = tools.results_to_flat(out, self.who, self.fun)
    if not self.has_aux:
      return outs
    # What the aux holds passes through the trace like a result, without tangents.
    aux, tree = flatten(self.aux)
    self.aux = tree
    self.held = {i: x for i, x in enumerate(aux) if not is_array_like(x)}
    return [*outs, *(x for i, x in enumerate(aux) if i not in self.held)]

  def split(self, outs: list[Any]) -> tuple[list[Any], Any]:
    """The results proper, and the aux with its structure."""
    n = self.out_tree.num_leaves
    if not self.has_aux:
      return outs, None
    arrays = iter(outs[n:])
    return outs[:n], self.aux.unflatten([
        self.held[i] if i in self.held else next(arrays)
        for i in range(self.aux.num_leaves)])


def split_aux(out: Any, who: str, fun: Any) -> tuple[Any, Any]:
  """Takes `(result, aux)` apart.

  Raises:
    TypeError: the function returned something else.
  """
  if not isinstance(out, tuple) or len(out) != 2:
    got = f"a tuple of {len(out)}" if isinstance(out, tuple) else f"{type(out).__name__}"
    raise TypeError(
        f"with has_aux=True, {who} expects {tools.describe_function(fun)} to return a "
        f"two-element tuple (result, aux), got {got}")
  return out


def check_arrays(leaves: Sequence[Any], fun: Any, tree: Any, who: str) -> list[Any]:
  def paths() -> list[str]:
    args = tree.unflatten([object()] * tree.num_leaves)
    return [keystr(p) for p, _ in tree_flatten_with_path(args)[0]]

  return tools.check_leaves(leaves, f"{who} of {tools.function_name(fun)}", paths)
