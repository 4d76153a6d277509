"""Mapping over pytrees, reducing, transposing and broadcasting them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from gnomon.tree_util._flatten import (
    IsLeaf,
    KeyPath,
    keystr,
    tree_flatten,
    tree_flatten_with_path,
    tree_leaves,
    tree_leaves_with_path,
    tree_structure,
)
from gnomon.tree_util._prefix import broadcast_prefix, prefix_errors
from gnomon.tree_util._types import PyTreeDef


class _NotGiven:
  """The default of arguments for which None is a value."""

  def __repr__(self) -> str:
    return "<not given>"


_NOT_GIVEN = _NotGiven()


def tree_map(
    f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
  """Applies a function to each leaf, and returns the tree of the results.

  Args:
    f: takes one leaf of `tree` and, of each tree of `rest`, what stands at its place.
    tree: a pytree, whose structure the result has.
    *rest: trees that have the structure of `tree`, or go on where it has leaves.
    is_leaf: optional predicate; a subtree for which it is true is not opened.

  Raises:
    ValueError: a tree of `rest` differs in structure; the message names the place.

  >>> tree_map(lambda x, y: x + y, {"a": 1, "b": (2, 3)}, {"a": 10, "b": (20, 30)})
  {'a': 11, 'b': (22, 33)}
  """
  leaves, treedef = tree_flatten(tree, is_leaf)
  if not rest:
    return treedef.unflatten([f(leaf) for leaf in leaves])
  try:
    others = [treedef.flatten_up_to(other) for other in rest]
  except ValueError:
    _explain_mismatch("tree_map", tree, rest, is_leaf)
    raise
  # flatten_up_to gives as many as there are leaves, so the zip need not check that.
  return treedef.unflatten([f(*xs) for xs in zip(leaves, *others)])


def tree_map_with_path(
    f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None,
    is_leaf_takes_path: bool = False) -> Any:
  """Like `tree_map`, but `f` takes the key path of the leaf as its first argument.

  Args:
    f: takes a key path, one leaf of `tree` and what stands at its place in `rest`.
    tree: a pytree, whose structure the result has.
    *rest: trees that have the structure of `tree`, or go on where it has leaves.
    is_leaf: optional predicate; a subtree for which it is true is not opened.
    is_leaf_takes_path: whether `is_leaf` takes the key path and the subtree.

  Raises:
    ValueError: a tree of `rest` differs in structure; the message names the place.

  >>> tree_map_with_path(lambda path, x: f"{keystr(path)}={x}", {"a": 1, "b": [2]})
  {'a': "['a']=1", 'b': ["['b'][0]=2"]}
  """
  pairs, treedef = tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)
  paths, leaves = [path for path, _ in pairs], [leaf for _, leaf in pairs]
  try:
    others = [treedef.flatten_up_to(other) for other in rest]
  except ValueError:
    simple = None if is_leaf_takes_path else is_leaf
    _explain_mismatch("tree_map_with_path", tree, rest, simple)
    raise
  return treedef.unflatten(
      [f(*xs) for xs in zip(paths, leaves, *others, strict=True)])


def _explain_mismatch(
    function: str, tree: Any, rest: Iterable[Any], is_leaf: IsLeaf) -> None:
  """Raises an error that names the first place where a tree of `rest` differs."""
  for i, other in enumerate(rest):
    for explain in prefix_errors(tree, other, is_leaf, full_name=f"rest[{i}]"):
      raise explain(f"{function}: tree") from None


def tree_reduce(
    function: Callable[[Any, Any], Any], tree: Any, initializer: Any = _NOT_GIVEN,
    is_leaf: IsLeaf = None) -> Any:
  """Combines the leaves from left to right with a function of two arguments.

  Args:
    function: takes what is accumulated so far and the next leaf.
    tree: a pytree.
    initializer: where to start; without it, the first leaf.
    is_leaf: optional predicate; a subtree for which it is true is not opened.

  Raises:
    TypeError: there are no leaves and no initializer.

  >>> tree_reduce(lambda total, x: total + x, [1, (2, 3)])
  6
  """
  leaves = tree_leaves(tree, is_leaf)
  if initializer is not _NOT_GIVEN:
    return functools.reduce(function, leaves, initializer)
  if not leaves:
    raise TypeError(
        "tree_reduce has nothing to return: the tree has no leaves and no initializer "
        "was given. Pass initializer=….")
  return functools.reduce(function, leaves)


def tree_reduce_associative(
    operation: Callable[[Any, Any], Any], tree: Any, *, identity: Any = _NOT_GIVEN,
    is_leaf: IsLeaf = None) -> Any:
  """Combines the leaves in a balanced way: the depth is logarithmic in their number.

  Rounding errors of a sum grow more slowly than with `tree_reduce`, and the operations
  of one level can run in parallel.

  Args:
    operation: an associative function of two arguments.
    tree: a pytree.
    identity: what to return for a tree without leaves.
    is_leaf: optional predicate; a subtree for which it is true is not opened.

  Raises:
    TypeError: there are no leaves and no identity.

  >>> tree_reduce_associative(lambda a, b: f"({a}{b})", list("abcd"))
  '((ab)(cd))'
  """
  leaves = tree_leaves(tree, is_leaf)
  if leaves:
    return _reduce_balanced(operation, leaves)
  if identity is _NOT_GIVEN:
    raise TypeError(
        "tree_reduce_associative has nothing to return: the tree has no leaves and no "
        "identity was given. Pass identity=….")
  return identity


def _reduce_balanced(operation: Callable[[Any, Any], Any], leaves: list[Any]) -> Any:
  if len(leaves) == 1:
    return leaves[0]
  middle = len(leaves) // 2
  return operation(
      _reduce_balanced(operation, leaves[:middle]),
      _reduce_balanced(operation, leaves[middle:]))


def tree_all(tree: Any, *, is_leaf: IsLeaf = None) -> bool:
  """Tells whether all leaves are true; of a tree without leaves that is so.

  >>> tree_all({"a": True, "b": [1, 2]}), tree_all([True, 0])
  (True, False)
  """
  return all(tree_leaves(tree, is_leaf))


def tree_transpose(
    outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose: Any
) -> Any:
  """Turns a tree of trees inside out.

  Args:
    outer_treedef: the structure of the outer levels.
    inner_treedef: the structure that stands at each leaf of the outer levels; None to
      take it from the first of them.
    pytree_to_transpose: a tree of structure `outer_treedef.compose(inner_treedef)`.

  Returns:
    A tree of structure `inner_treedef.compose(outer_treedef)`.

  Raises:
    TypeError: the tree has not that structure.

  >>> outer, inner = tree_structure([0, 0]), tree_structure({"a": 0, "b": 0})
  >>> tree_transpose(outer, inner, [{"a": 1, "b": 2}, {"a": 3, "b": 4}])
  {'a': [1, 3], 'b': [2, 4]}
  """
  try:
    subtrees = outer_treedef.flatten_up_to(pytree_to_transpose)
  except ValueError as error:
    raise TypeError(
        "tree_transpose: the tree does not have the outer structure "
        f"{outer_treedef}; its structure is {tree_structure(pytree_to_transpose)}"
    ) from error
  if inner_treedef is None:
    if not subtrees:
      raise TypeError(
          f"tree_transpose: the outer structure {outer_treedef} has no leaves, so the "
          "inner structure cannot be taken from the first of them; pass inner_treedef.")
    inner_treedef = tree_structure(subtrees[0])
  columns = []
  for i, subtree in enumerate(subtrees):
    leaves, treedef = tree_flatten(subtree)
    if treedef != inner_treedef:
      place = keystr(_paths_of(subtrees, pytree_to_transpose)[i])
      raise TypeError(
          f"tree_transpose: at {place or 'the root'} the tree should have the inner "
          f"structure {inner_treedef}, but has {treedef}")
    columns.append(leaves)
  if not columns:
    return inner_treedef.unflatten(
        [outer_treedef.unflatten(()) for _ in range(inner_treedef.num_leaves)])
  return inner_treedef.unflatten(
      [outer_treedef.unflatten(row) for row in zip(*columns, strict=True)])


def _paths_of(subtrees: list[Any], tree: Any) -> list[KeyPath]:
  """The key paths of given subtrees, which are in the order of the walk."""
  pending = subtrees[::-1]

  def is_next(subtree: Any) -> bool:
    if pending and subtree is pending[-1]:
      pending.pop()
      return True
    return False

  return [path for path, _ in tree_leaves_with_path(tree, is_next)]


def tree_broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf = None) -> Any:
  """Repeats the leaves of a tree so that it gets the structure of a larger one.

  Args:
    prefix_tree: a tree prefix of `full_tree`: the same structure, cut off at leaves.
    full_tree: the tree whose structure the result has.
    is_leaf: optional predicate; a subtree of the prefix for which it is true counts as
      one leaf.

  Raises:
    ValueError: `prefix_tree` is no prefix; the message names the first place.

  >>> tree_broadcast({"a": 0, "b": 1}, {"a": (7, 8), "b": [9]})
  {'a': (0, 0), 'b': [1]}
  """
  leaves = broadcast_prefix(
      prefix_tree, full_tree, is_leaf, name="tree_broadcast: prefix_tree")
  return tree_structure(full_tree).unflatten(leaves)
