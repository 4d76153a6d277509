"""Taking pytrees apart into leaves and a structure, with and without key paths."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NoReturn, TypeAlias

from gnomon.runtime.jaxlib import pytrees
from gnomon.tree_util._types import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    PyTreeDef,
    SequenceKey,
    default_registry,
)

KeyEntry: TypeAlias = Hashable
KeyPath: TypeAlias = tuple[KeyEntry, ...]
IsLeaf: TypeAlias = Callable[..., bool] | None

# Bound once: looking the methods up costs a quarter of a call on a small tree.
_flatten = default_registry.flatten
_flatten_with_path = default_registry.flatten_with_path


def tree_flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], PyTreeDef]:
  """Takes a pytree apart into the list of its leaves and its structure.

  Lists, tuples, named tuples, dicts (in the order of their sorted keys), `OrderedDict`,
  `defaultdict`, `None` (a node without children) and all registered types are nodes;
  everything else is a leaf.

  Args:
    tree: any object.
    is_leaf: optional predicate; a subtree for which it is true is not opened.

  Returns:
    The leaves, and a `PyTreeDef` from which `tree_unflatten` rebuilds the tree.

  Raises:
    ValueError: a dict has keys that cannot be sorted.

  >>> leaves, treedef = tree_flatten({"b": 1, "a": (2, None)})
  >>> leaves, treedef
  ([2, 1], PyTreeDef({'a': (*, None), 'b': *}))
  """
  try:
    return _flatten(tree, is_leaf)
  except ValueError as error:
    explain_unsortable(error, tree, is_leaf)
    raise


def tree_leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
  """Returns the leaves of a pytree.

  >>> tree_leaves([1, (2, {"x": 3}), None])
  [1, 2, 3]
  """
  try:
    return _flatten(tree, is_leaf)[0]
  except ValueError as error:
    explain_unsortable(error, tree, is_leaf)
    raise


def tree_structure(tree: Any, is_leaf: IsLeaf = None) -> PyTreeDef:
  """Returns the structure of a pytree, without its leaves.

  >>> tree_structure([1, (2, 3)]) == tree_structure(["a", ("b", "c")])
  True
  """
  try:
    return _flatten(tree, is_leaf)[1]
  except ValueError as error:
    explain_unsortable(error, tree, is_leaf)
    raise


def tree_unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
  """Builds the pytree of structure `treedef` whose leaves are `leaves`, in order.

  The inverse of `tree_flatten`.

  Raises:
    ValueError: there are more or fewer leaves than the structure has places.

  >>> tree_unflatten(tree_structure({"a": 0, "b": 0}), [1, 2])
  {'a': 1, 'b': 2}
  """
  return treedef.unflatten(leaves)


def tree_flatten_with_path(
    tree: Any, is_leaf: IsLeaf = None, is_leaf_takes_path: bool = False
) -> tuple[list[tuple[KeyPath, Any]], PyTreeDef]:
  """Like `tree_flatten`, with the key path of each leaf.

  Args:
    tree: any object.
    is_leaf: optional predicate; a subtree for which it is true is not opened.
    is_leaf_takes_path: whether `is_leaf` is called with the key path and the subtree,
      instead of the subtree alone.

  Returns:
    A list of pairs (key path, leaf), and the structure. `keystr` prints a key path.

  >>> pairs, _ = tree_flatten_with_path({"w": [1, 2]})
  >>> [(keystr(path), leaf) for path, leaf in pairs]
  [("['w'][0]", 1), ("['w'][1]", 2)]
  """
  predicate = is_leaf
  if is_leaf is not None and not is_leaf_takes_path:
    wanted = is_leaf
    def predicate(_: KeyPath, subtree: Any) -> bool:
      return wanted(subtree)
  try:
    return _flatten_with_path(tree, predicate)
  except ValueError as error:
    explain_unsortable(error, tree, None if is_leaf_takes_path else is_leaf)
    raise


def tree_leaves_with_path(
    tree: Any, is_leaf: IsLeaf = None, is_leaf_takes_path: bool = False
) -> list[tuple[KeyPath, Any]]:
  """Returns the pairs (key path, leaf) of a pytree; see `tree_flatten_with_path`.

  >>> tree_leaves_with_path((7,))
  [((SequenceKey(idx=0),), 7)]
  """
  return tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def keystr(keys: KeyPath, *, simple: bool = False, separator: str = "") -> str:
  """Prints a key path as the Python expression that reaches the place from its tree.

  Args:
    keys: a key path, as `tree_flatten_with_path` gives it.
    simple: print the bare keys instead of the expression.
    separator: what to put between keys.

  >>> path = (GetAttrKey("layers"), SequenceKey(0), DictKey("w"))
  >>> keystr(path)
  ".layers[0]['w']"
  >>> keystr(path, simple=True, separator="/")
  'layers/0/w'
  """
  return separator.join(map(_bare_key if simple else str, keys))


def _bare_key(key: KeyEntry) -> str:
  if isinstance(key, SequenceKey):
    return str(key.idx)
  if isinstance(key, GetAttrKey):
    return key.name
  if isinstance(key, (DictKey, FlattenedIndexKey)):
    return str(key.key)
  return str(key)


def all_leaves(iterable: Iterable[Any], is_leaf: IsLeaf = None) -> bool:
  """Tells whether each element of an iterable is a leaf, none of them a node.

  >>> all_leaves([1, "x"]), all_leaves([1, (2,)]), all_leaves([None])
  (True, False, False)
  """
  if is_leaf is None:
    return pytrees.all_leaves(iterable)
  return all(is_leaf(x) or flatten_one_level_or_none(x) is None for x in iterable)


def flatten_one_level_or_none(tree: Any) -> tuple[Iterable[Any], Any] | None:
  """The children and metadata of a node, `None` for a leaf."""
  try:
    return default_registry.flatten_one_level(tree)
  except ValueError as error:
    explain_unsortable(error, tree, None)
    raise


def flatten_one_level(tree: Any) -> tuple[Iterable[Any], Any]:
  """Opens one node: its children, and its metadata.

  Raises:
    ValueError: `tree` is a leaf.

  >>> flatten_one_level({"a": [1], "b": 2})
  (([1], 2), ('a', 'b'))
  """
  opened = flatten_one_level_or_none(tree)
  if opened is None:
    _raise_leaf("flatten_one_level", tree)
  return opened


def flatten_one_level_with_keys(
    tree: Any) -> tuple[Iterable[tuple[KeyEntry, Any]], Any]:
  """Opens one node: pairs of key and child, and its metadata.

  Raises:
    ValueError: `tree` is a leaf.

  >>> flatten_one_level_with_keys([5])
  (((SequenceKey(idx=0), 5),), None)
  """
  try:
    opened = default_registry.flatten_one_level_with_keys(tree)
  except ValueError as error:
    explain_unsortable(error, tree, None)
    raise
  if opened is None:
    _raise_leaf("flatten_one_level_with_keys", tree)
  return opened


def _raise_leaf(function: str, tree: Any) -> NoReturn:
  raise ValueError(
      f"{function} opens nodes of a pytree, but its argument is a leaf of type "
      f"{type(tree).__qualname__}. Ask is_tree_node(type(x)) first, or register the "
      "type with register_pytree_node.")


def is_tree_node(typ: type) -> bool:
  """Tells whether objects of a type are nodes of pytrees.

  >>> is_tree_node(dict), is_tree_node(type(None)), is_tree_node(int)
  (True, True, False)
  """
  return default_registry.is_node(typ)


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
  """Returns the structures of the children of a structure's root.

  >>> treedef_children(tree_structure((1, [2, 3])))
  [PyTreeDef(*), PyTreeDef([*, *])]
  """
  return treedef.children()


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
  """Tells whether a structure is a single node: a leaf, or one without children.

  >>> treedef_is_leaf(tree_structure(1)), treedef_is_leaf(tree_structure([1]))
  (True, False)
  """
  return treedef.num_nodes == 1


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
  """Returns the structure of a tuple whose elements have the structures `treedefs`.

  >>> treedef_tuple([tree_structure(1), tree_structure([2])])
  PyTreeDef((*, [*]))
  """
  elements = tuple(treedefs)
  for i, element in enumerate(elements):
    if not isinstance(element, PyTreeDef):
      raise TypeError(
          f"treedef_tuple takes PyTreeDefs, but element {i} is of type "
          f"{type(element).__qualname__}; tree_structure(x) makes one of a tree.")
  out: PyTreeDef = pytrees.treedef_tuple(elements)
  return out


# --- dicts whose keys cannot be sorted ---------------------------------------------


def explain_unsortable(error: ValueError, tree: Any, is_leaf: IsLeaf) -> None:
  """Raises a better error if `error` comes from a dict with unsortable keys."""
  if "sorting pytree dictionary keys" not in str(error):
    return
  found = _find_unsortable(tree, is_leaf, ())
  if found is None:
    return
  path, keys = found
  where = f"the dict at key path {keystr(path)}" if path else "the dict"
  shown = ", ".join(f"{k!r} ({type(k).__name__})" for k in keys[:6])
  more = ", …" if len(keys) > 6 else ""
  raise ValueError(
      "the keys of a dict in a pytree are sorted, so that equal dicts have equal "
      f"structures, but {where} has keys that Python cannot compare: {shown}{more}. "
      "Use keys of one type that has an order, or an OrderedDict, which keeps its own "
      "order.") from error


def _find_unsortable(
    tree: Any, is_leaf: IsLeaf, path: KeyPath
) -> tuple[KeyPath, Sequence[Any]] | None:
  if is_leaf is not None and is_leaf(tree):
    return None
  if isinstance(tree, dict) and is_tree_node(type(tree)):
    keys = list(tree)
    try:
      sorted(keys)
    except Exception:  # noqa: BLE001 -- whatever a user's __lt__ raises
      return path, keys
  try:
    opened = default_registry.flatten_one_level_with_keys(tree)
  except ValueError:
    return None  # another defect, which the original error describes
  for key, child in () if opened is None else opened[0]:
    found = _find_unsortable(child, is_leaf, (*path, key))
    if found is not None:
      return found
  return None
