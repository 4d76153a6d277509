"""Pytrees: nested containers of arrays, which transformations take and return."""

import warnings
from collections.abc import Callable
from typing import Any

from gnomon.tree_util._flatten import KeyEntry as KeyEntry
from gnomon.tree_util._flatten import KeyPath as KeyPath
from gnomon.tree_util._flatten import all_leaves as all_leaves
from gnomon.tree_util._flatten import flatten_one_level as flatten_one_level
from gnomon.tree_util._flatten import (
    flatten_one_level_with_keys as flatten_one_level_with_keys,
)
from gnomon.tree_util._flatten import is_tree_node as is_tree_node
from gnomon.tree_util._flatten import keystr as keystr
from gnomon.tree_util._flatten import tree_flatten as tree_flatten
from gnomon.tree_util._flatten import tree_flatten_with_path as tree_flatten_with_path
from gnomon.tree_util._flatten import tree_leaves as tree_leaves
from gnomon.tree_util._flatten import tree_leaves_with_path as tree_leaves_with_path
from gnomon.tree_util._flatten import tree_structure as tree_structure
from gnomon.tree_util._flatten import tree_unflatten as tree_unflatten
from gnomon.tree_util._flatten import treedef_children as treedef_children
from gnomon.tree_util._flatten import treedef_is_leaf as treedef_is_leaf
from gnomon.tree_util._flatten import treedef_tuple as treedef_tuple
from gnomon.tree_util._map import tree_all as tree_all
from gnomon.tree_util._map import tree_broadcast as tree_broadcast
from gnomon.tree_util._map import tree_map as tree_map
from gnomon.tree_util._map import tree_map_with_path as tree_map_with_path
from gnomon.tree_util._map import tree_reduce as tree_reduce
from gnomon.tree_util._map import tree_reduce_associative as tree_reduce_associative
from gnomon.tree_util._map import tree_transpose as tree_transpose
from gnomon.tree_util._prefix import broadcast_prefix as broadcast_prefix
from gnomon.tree_util._prefix import equality_errors as equality_errors
from gnomon.tree_util._prefix import (
    equality_errors_pytreedef as equality_errors_pytreedef,
)
from gnomon.tree_util._prefix import flatten_axes as flatten_axes
from gnomon.tree_util._prefix import prefix_errors as prefix_errors
from gnomon.tree_util._registration import Partial as Partial
from gnomon.tree_util._registration import register_dataclass as register_dataclass
from gnomon.tree_util._registration import register_pytree_node as register_pytree_node
from gnomon.tree_util._registration import (
    register_pytree_node_class as register_pytree_node_class,
)
from gnomon.tree_util._registration import (
    register_pytree_with_keys as register_pytree_with_keys,
)
from gnomon.tree_util._registration import (
    register_pytree_with_keys_class as register_pytree_with_keys_class,
)
from gnomon.tree_util._registration import register_static as register_static
from gnomon.tree_util._types import DictKey as DictKey
from gnomon.tree_util._types import FlattenedIndexKey as FlattenedIndexKey
from gnomon.tree_util._types import GetAttrKey as GetAttrKey
from gnomon.tree_util._types import PyTreeDef as PyTreeDef
from gnomon.tree_util._types import SequenceKey as SequenceKey
from gnomon.tree_util._types import default_registry as default_registry


def _build_tree(treedef: PyTreeDef, xs: Any) -> Any:
  """Builds a tree from nested iterables that have the shape of `treedef`."""
  return treedef.from_iterable_tree(xs)


def __getattr__(name: str) -> Callable[[PyTreeDef, Any], Any]:
  if name == "build_tree":  # the API of 2025 still had it
    warnings.warn(
        "gnomon.tree_util.build_tree is deprecated; use treedef.from_iterable_tree(xs)",
        DeprecationWarning, stacklevel=2)
    return _build_tree
  raise AttributeError(f"module 'gnomon.tree_util' has no attribute {name!r}")
