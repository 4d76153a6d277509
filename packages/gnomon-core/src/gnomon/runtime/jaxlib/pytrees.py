"""The runtime's pytree registries, and the containers that they lack."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from gnomon.runtime.jaxlib.native import _jax

PyTreeDef: Any = _jax.pytree.PyTreeDef
SequenceKey: Any = _jax.pytree.SequenceKey
DictKey: Any = _jax.pytree.DictKey
GetAttrKey: Any = _jax.pytree.GetAttrKey
FlattenedIndexKey: Any = _jax.pytree.FlattenedIndexKey

default_registry: Any = _jax.pytree.default_registry()
"""The registry in which `None` is a node without children."""

none_leaf_registry: Any = _jax.pytree.PyTreeRegistry(
    enable_none=False, enable_tuple=True, enable_namedtuple=True, enable_list=True,
    enable_dict=True)
"""The registry in which `None` is a leaf."""

call_registry: Any = _jax.pytree.PyTreeRegistry(
    enable_none=True, enable_tuple=True, enable_namedtuple=True, enable_list=True,
    enable_dict=True)
"""The registry of the C++ call path: as the first, and arrays of keys are nodes, too."""
_REGISTRIES = (default_registry, none_leaf_registry, call_registry)


def container_registry() -> Any:
  """A new registry in which lists and tuples are nodes, and nothing else."""
  return _jax.pytree.PyTreeRegistry(
      enable_none=False, enable_tuple=True, enable_namedtuple=False, enable_list=True,
      enable_dict=False)


Flatten = Callable[[Any], tuple[Iterable[Any], Hashable]]
Unflatten = Callable[[Any, Any], Any]
FlattenWithKeys = Callable[[Any], tuple[Iterable[tuple[Any, Any]], Hashable]]


def register_node(
    node_type: type, flatten: Flatten, unflatten: Unflatten,
    flatten_with_keys: FlattenWithKeys | None = None,
) -> None:
  """Makes a type a node of all registries; `ValueError` if it is one already.

  `flatten(x)` gives `(children, aux)`, `unflatten(aux, children)` the node again, and
  `flatten_with_keys(x)` gives `((key, child), …), aux`.
  """
  for registry in _REGISTRIES:
    registry.register_node(node_type, flatten, unflatten, flatten_with_keys)


def register_dataclass_node(
    node_type: type, data_fields: Sequence[str], meta_fields: Sequence[str],
) -> None:
  """Makes a dataclass a node of all registries; its `meta_fields` are not children."""
  for registry in _REGISTRIES:
    registry.register_dataclass_node(node_type, list(data_fields), list(meta_fields))


def register_for_calls(node_type: type, flatten: Flatten, unflatten: Unflatten) -> None:
  """Makes a type that is a leaf elsewhere a node for the C++ call path."""
  call_registry.register_node(node_type, flatten, unflatten, None)


def treedef_tuple(treedefs: Iterable[Any], *, registry: Any = default_registry) -> Any:
  """The structure of a tuple whose elements have the given structures."""
  return _jax.pytree.treedef_tuple(registry, list(treedefs))


def all_leaves(values: Iterable[Any], *, registry: Any = default_registry) -> bool:
  """Whether none of the values is a node."""
  return bool(_jax.pytree.all_leaves(registry, values))


def _register_mappings() -> None:
  def ordered(x: OrderedDict[Any, Any]) -> tuple[Any, Any]:
    return tuple(x.values()), tuple(x)

  def ordered_with_keys(x: OrderedDict[Any, Any]) -> tuple[Any, Any]:
    return tuple((DictKey(key), value) for key, value in x.items()), tuple(x)

  def default(x: defaultdict[Any, Any]) -> tuple[Any, Any]:
    keys = tuple(sorted(x))
    return tuple(x[key] for key in keys), (x.default_factory, keys)

  def default_with_keys(x: defaultdict[Any, Any]) -> tuple[Any, Any]:
    children, aux = default(x)
    return tuple(zip(map(DictKey, aux[1]), children, strict=True)), aux

  register_node(
      OrderedDict, ordered,
      lambda keys, values: OrderedDict(zip(keys, values, strict=True)),
      ordered_with_keys)
  register_node(
      defaultdict, default,
      lambda aux, values: defaultdict(aux[0], zip(aux[1], values, strict=True)),
      default_with_keys)


_register_mappings()
