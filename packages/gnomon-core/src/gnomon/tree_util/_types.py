"""The compiled types of pytrees, as type checkers should see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.runtime.jaxlib import pytrees

if TYPE_CHECKING:
  from collections.abc import Callable, Iterable
  from typing import Any

  # jaxlib's extension module comes without type information; these declarations say
  # what it has, so that `PyTreeDef` can be used in annotations.

  class PyTreeDef:
    """The structure of a pytree: hashable, comparable, without the leaves."""

    @property
    def num_leaves(self) -> int: ...
    @property
    def num_nodes(self) -> int: ...
    def unflatten(self, leaves: Iterable[Any], /) -> Any: ...
    def flatten_up_to(self, tree: Any) -> list[Any]: ...
    def compose(self, inner: PyTreeDef, /) -> PyTreeDef: ...
    def walk(
        self, f_node: Callable[[Any, Any], Any], f_leaf: Callable[[Any], Any] | None,
        leaves: Iterable[Any], /) -> Any: ...
    def from_iterable_tree(self, tree: Any, /) -> Any: ...
    def children(self) -> list[PyTreeDef]: ...
    def node_data(self) -> tuple[type, Any] | None: ...
    def serialize_using_proto(self) -> bytes: ...
    @staticmethod
    def from_node_data_and_children(
        registry: PyTreeRegistry, node_data: tuple[type, Any] | None,
        children: Iterable[PyTreeDef]) -> PyTreeDef: ...
    @staticmethod
    def deserialize_using_proto(
        registry: PyTreeRegistry, data: bytes) -> PyTreeDef: ...

  class PyTreeRegistry:
    """The types that are nodes, and how to open and build them."""

    def flatten(
        self, tree: Any, leaf_predicate: Callable[..., bool] | None = None
    ) -> tuple[list[Any], PyTreeDef]: ...
    def flatten_with_path(
        self, tree: Any, leaf_predicate: Callable[..., bool] | None = None
    ) -> tuple[list[tuple[tuple[Any, ...], Any]], PyTreeDef]: ...
    def flatten_one_level(self, tree: Any) -> tuple[Iterable[Any], Any] | None: ...
    def flatten_one_level_with_keys(
        self, tree: Any) -> tuple[Iterable[tuple[Any, Any]], Any] | None: ...
    def is_node(self, type: type) -> bool: ...

  class SequenceKey:
    """The key of an element of a list or tuple."""

    def __init__(self, idx: int) -> None: ...
    @property
    def idx(self) -> int: ...

  class DictKey:
    """The key of a value of a dict."""

    def __init__(self, key: Any) -> None: ...
    @property
    def key(self) -> Any: ...

  class GetAttrKey:
    """The key of an attribute."""

    def __init__(self, name: str) -> None: ...
    @property
    def name(self) -> str: ...

  class FlattenedIndexKey:
    """The key of a child of a node that gives no keys: its number."""

    def __init__(self, key: int) -> None: ...
    @property
    def key(self) -> int: ...

else:
  PyTreeDef = pytrees.PyTreeDef
  SequenceKey = pytrees.SequenceKey
  DictKey = pytrees.DictKey
  GetAttrKey = pytrees.GetAttrKey
  FlattenedIndexKey = pytrees.FlattenedIndexKey
  PyTreeRegistry = type(pytrees.default_registry)

default_registry: PyTreeRegistry = pytrees.default_registry
none_leaf_registry: PyTreeRegistry = pytrees.none_leaf_registry
