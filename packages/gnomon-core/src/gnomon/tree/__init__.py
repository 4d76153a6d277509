"""Functions on pytrees under short names: `tree.map` is `tree_util.tree_map`."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from gnomon.tree_util import tree_all as all
from gnomon.tree_util import tree_broadcast as broadcast
from gnomon.tree_util import tree_flatten as flatten
from gnomon.tree_util import tree_flatten_with_path as flatten_with_path
from gnomon.tree_util import tree_leaves as leaves
from gnomon.tree_util import tree_leaves_with_path as leaves_with_path
from gnomon.tree_util import tree_map as map
from gnomon.tree_util import tree_map_with_path as map_with_path
from gnomon.tree_util import tree_reduce as reduce
from gnomon.tree_util import tree_reduce_associative as reduce_associative
from gnomon.tree_util import tree_structure as structure
from gnomon.tree_util import tree_transpose as transpose
from gnomon.tree_util import tree_unflatten as unflatten

__all__ = [
    "all", "broadcast", "flatten", "flatten_with_path", "leaves", "leaves_with_path",
    "map", "map_with_path", "reduce", "reduce_associative", "static", "structure",
    "transpose", "unflatten",
]


def static(**kwargs: Any) -> Any:
  """Declares a field of a dataclass that is part of the structure, not a child.

  Args:
    **kwargs: arguments of `dataclasses.field`.

  >>> import dataclasses
  >>> from gnomon import tree, tree_util
  >>> @tree_util.register_dataclass
  ... @dataclasses.dataclass
  ... class Dense:
  ...   weight: float
  ...   activation: str = tree.static(default="relu")
  >>> tree.leaves(Dense(2.0))
  [2.0]
  """
  metadata: Mapping[Any, Any] = kwargs.pop("metadata", None) or {}
  return dataclasses.field(metadata={"static": True, **metadata}, **kwargs)
