"""Comparing the structures of pytrees: tree prefixes, and errors that name the place.

A tree is a *prefix* of another one when it has the same structure, except that it may
end in a leaf where the other one goes on. `in_axes=({"a": 0}, 1)` is an example.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from gnomon.tree_util._flatten import (
    IsLeaf,
    KeyEntry,
    KeyPath,
    keystr,
    tree_flatten,
    tree_structure,
)
from gnomon.tree_util._types import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    PyTreeDef,
    PyTreeRegistry,
    SequenceKey,
    default_registry,
    none_leaf_registry,
)


class _Node(NamedTuple):
  kind: type
  metadata: Any
  keys: Sequence[KeyEntry]
  children: Sequence[Any]


class _Mismatch(NamedTuple):
  path: KeyPath
  first: str
  second: str
  reason: str


_Open = Callable[[Any], _Node | None]


def broadcast_prefix(
    prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf = None, *,
    name: str = "prefix_tree") -> list[Any]:
  """Repeats each leaf of a prefix as often as there are leaves below it in the tree.

  Args:
    prefix_tree: a tree prefix of `full_tree`.
    full_tree: a pytree.
    is_leaf: optional predicate; a subtree of the prefix for which it is true counts as
      one leaf.
    name: what errors call the prefix.

  Returns:
    A flat list with an entry for each leaf of `full_tree`.

  Raises:
    ValueError: `prefix_tree` is no prefix; the message names the first place.

  >>> broadcast_prefix([0, 1], [("a", "b"), "c"])
  [0, 0, 1]
  """
  leaves, treedef = tree_flatten(prefix_tree, is_leaf)
  try:
    subtrees = treedef.flatten_up_to(full_tree)
  except ValueError:
    for explain in prefix_errors(prefix_tree, full_tree, is_leaf):
      raise explain(name) from None
    raise
  out: list[Any] = []
  for leaf, subtree in zip(leaves, subtrees, strict=True):
    out.extend([leaf] * tree_structure(subtree).num_leaves)
  return out


def flatten_axes(
    name: str, treedef: PyTreeDef, axis_tree: Any, *, kws: bool = False,
    tupled_args: bool = False) -> list[Any]:
  """Repeats the entries of a tree prefix for the leaves of a structure.

  `None` in `axis_tree` is an entry like any other: "not mapped".

  Args:
    name: what errors call the prefix, such as "vmap in_axes".
    treedef: the structure to cover.
    axis_tree: a tree prefix of it.
    kws: `treedef` and `axis_tree` are pairs (positional, keyword arguments), of which
      the user wrote only the first; key paths in errors start in it.
    tupled_args: `treedef` is a tuple of arguments, of which the user wrote only one
      entry for each; adds a hint to errors.

  Returns:
    A list with an entry for each leaf of `treedef`.

  Raises:
    ValueError: `axis_tree` is no prefix; the message names the first place.

  >>> flatten_axes("in_axes", tree_structure(({"a": 1, "b": 2}, 3)), (0, None))
  [0, 0, None]
  """
  out: list[Any] = []
  _, axes_def = none_leaf_registry.flatten(axis_tree)
  if _extend(out, axis_tree, axes_def, treedef):
    return out
  for mismatch in _compare(axis_tree, treedef, _open_axes, _open_treedef, prefix=True):
    path = mismatch.path[1:] if kws else mismatch.path
    hint = (" With a single argument write a tuple of one entry: (entry,)."
            if tupled_args and not path else "")
    raise ValueError(
        f"{_sentence(name, '', mismatch._replace(path=path))} {name} must be a tree "
        "prefix of the value that it describes: the same structure, cut off where one "
        f"entry serves for all that is below.{hint}")
  raise AssertionError((name, treedef, axis_tree))


def _extend(out: list[Any], axes: Any, axes_def: PyTreeDef, treedef: PyTreeDef) -> bool:
  """Appends the axes of `treedef`'s leaves to `out`; False where `axes` is no prefix.

  Works on structures, so that no object of a user's class is built from stand-ins.
  """
  node = axes_def.node_data()
  if node is None:
    out.extend([axes] * treedef.num_leaves)
    return True
  other = treedef.node_data()
  if other is None or node[0] is not other[0] or node[1] != other[1]:
    return False
  opened = none_leaf_registry.flatten_one_level(axes)
  assert opened is not None, axes
  parts, defs = axes_def.children(), treedef.children()
  return len(parts) == len(defs) and all(
      _extend(out, *triple) for triple in zip(opened[0], parts, defs, strict=True))


def prefix_errors(
    prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf = None, *, full_name: str = ""
) -> list[Callable[[str], ValueError]]:
  """Says why a tree is no prefix of another one.

  Args:
    prefix_tree: a pytree.
    full_tree: the tree of which it should be a prefix.
    is_leaf: optional predicate; a subtree of the prefix for which it is true counts as
      one leaf.
    full_name: what errors call `full_tree`.

  Returns:
    For each place where the two differ, a function that takes the name of the prefix,
    such as "vmap in_axes", and returns a ValueError. Empty for a prefix.

  >>> [explain] = prefix_errors({"a": [1, 2]}, {"a": (1, 2)})
  >>> print(explain("in_axes"))
  in_axes['a'] is a list of 2, but the full tree has a tuple of 2 there: the types differ.
  """
  def open_prefix(tree: Any) -> _Node | None:
    return None if is_leaf is not None and is_leaf(tree) else _open_tree(tree)

  def explain(mismatch: _Mismatch) -> Callable[[str], ValueError]:
    return lambda name: ValueError(_sentence(name, full_name, mismatch))

  return [explain(m) for m in _compare(
      prefix_tree, full_tree, open_prefix, _open_tree, prefix=True)]


def equality_errors(
    tree1: Any, tree2: Any, is_leaf: IsLeaf = None
) -> Iterator[tuple[KeyPath, str, str, str]]:
  """Says where the structures of two trees differ.

  Yields:
    For each such place its key path, what the first tree has there, what the second
    one has, and in which respect they differ. Leaves are not compared.

  >>> list(equality_errors((1, [2]), (1, [2, 3])))
  [((SequenceKey(idx=1),), 'a list of 1', 'a list of 2', 'the lengths differ')]
  """
  def open_tree(tree: Any) -> _Node | None:
    return None if is_leaf is not None and is_leaf(tree) else _open_tree(tree)

  yield from _plain(_compare(tree1, tree2, open_tree, open_tree, prefix=False))


def equality_errors_pytreedef(
    tree1: PyTreeDef, tree2: PyTreeDef) -> Iterator[tuple[KeyPath, str, str, str]]:
  """Says where two structures differ; see `equality_errors`.

  >>> one, other = tree_structure({"a": 1}), tree_structure({"b": 1})
  >>> [error] = equality_errors_pytreedef(one, other)
  >>> error[1:3]
  ("a dict with the keys 'a'", "a dict with the keys 'b'")
  """
  yield from _plain(_compare(tree1, tree2, _open_treedef, _open_treedef, prefix=False))


def _plain(
    mismatches: Iterator[_Mismatch]) -> Iterator[tuple[KeyPath, str, str, str]]:
  return ((m.path, m.first, m.second, m.reason) for m in mismatches)


def _sentence(name: str, full_name: str, mismatch: _Mismatch) -> str:
  path, first, second, reason = mismatch
  place = keystr(path)
  other = (f"{full_name}{place} is {second}" if full_name
           else f"the full tree has {second} there")
  return f"{name}{place} is {first}, but {other}: {reason}."


def _compare(
    first: Any, second: Any, open_first: _Open, open_second: _Open, *, prefix: bool,
    path: KeyPath = ()) -> Iterator[_Mismatch]:
  """Walks two trees, and yields the topmost places where their structures differ."""
  node, other = open_first(first), open_second(second)
  if node is None and (prefix or other is None):
    return
  reason = _difference(node, other)
  if reason is not None:
    yield _Mismatch(path, _describe(node, first), _describe(other, second), reason)
    return
  assert node is not None, second
  assert other is not None, first
  for key, child, counterpart in zip(
      node.keys, node.children, other.children, strict=True):
    yield from _compare(child, counterpart, open_first, open_second, prefix=prefix,
                        path=(*path, key))


def _difference(node: _Node | None, other: _Node | None) -> str | None:
  if node is None or other is None:
    return "one is a node, the other one a leaf"
  if node.kind is not other.kind:
    return "the types differ"
  if node.metadata != other.metadata:
    return _metadata_difference(node, other)
  if len(node.children) != len(other.children):
    return "the lengths differ"
  return None


def _metadata_difference(node: _Node, other: _Node) -> str:
  if node.kind not in (dict, OrderedDict):
    return "the metadata differ"
  missing = [k for k in node.metadata if k not in other.metadata]
  surplus = [k for k in other.metadata if k not in node.metadata]
  if not missing and not surplus:
    return "the orders of the keys differ"
  parts = []
  if missing:
    parts.append(f"only the first has {', '.join(map(repr, missing))}")
  if surplus:
    parts.append(f"only the second has {', '.join(map(repr, surplus))}")
  return "; ".join(parts)


def _describe(node: _Node | None, tree: Any) -> str:
  if node is None:
    return "a leaf" if isinstance(tree, PyTreeDef) else (
        f"a leaf of type {type(tree).__qualname__}")
  if node.kind is type(None):
    return "None"
  name = node.kind.__qualname__
  article = "an" if name[0] in "AEIOUaeiou" else "a"
  if node.kind in (dict, OrderedDict):
    keys = ", ".join(map(repr, node.metadata))
    return f"{article} {name} with the keys {keys}" if keys else f"an empty {name}"
  if node.kind in (list, tuple):
    return f"{article} {name} of {len(node.children)}"
  if node.metadata is None:
    return f"{article} {name} with {len(node.children)} children"
  return f"{article} {name} with the metadata {node.metadata!r}"


# --- one level of a tree, of a tree in which None is a leaf, of a structure -------------


def _open_tree(tree: Any, registry: PyTreeRegistry = default_registry) -> _Node | None:
  keyed = registry.flatten_one_level_with_keys(tree)
  if keyed is None:
    return None
  pairs, metadata = tuple(keyed[0]), keyed[1]
  kind = type(tree)
  return _Node(kind, _comparable(kind, metadata),
               [key for key, _ in pairs], [child for _, child in pairs])


def _open_axes(tree: Any) -> _Node | None:
  return _open_tree(tree, none_leaf_registry)


def _open_treedef(treedef: PyTreeDef) -> _Node | None:
  data = treedef.node_data()
  if data is None:
    return None
  kind, metadata = data
  children = treedef.children()
  comparable = _comparable(kind, metadata)
  return _Node(kind, comparable, _keys(kind, comparable, len(children)), children)


def _comparable(kind: type, metadata: Any) -> Any:
  """Metadata in the form that the registry's two views of a node have in common."""
  if kind is dict:
    return tuple(metadata)
  return None if issubclass(kind, tuple) and hasattr(kind, "_fields") else metadata


def _keys(kind: type, metadata: Any, count: int) -> Sequence[KeyEntry]:
  if kind in (dict, OrderedDict):
    return [DictKey(key) for key in metadata]
  if kind in (list, tuple):
    return [SequenceKey(i) for i in range(count)]
  if issubclass(kind, tuple) and hasattr(kind, "_fields"):
    return [GetAttrKey(field) for field in kind._fields]
  return [FlattenedIndexKey(i) for i in range(count)]
