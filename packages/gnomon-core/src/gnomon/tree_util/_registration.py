"""Making types nodes of pytrees, and `Partial`, a function that is one."""

from __future__ import annotations

import copyreg
import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self, TypeVar

from gnomon.runtime.jaxlib import pytrees
from gnomon.tree_util._flatten import KeyEntry, is_tree_node
from gnomon.tree_util._types import (
    PyTreeRegistry,
    default_registry,
    none_leaf_registry,
)

T = TypeVar("T")
Cls = TypeVar("Cls", bound=type)


def register_pytree_node(
    nodetype: type[T],
    flatten_func: Callable[[T], tuple[Iterable[Any], Any]],
    unflatten_func: Callable[[Any, Iterable[Any]], T],
    flatten_with_keys_func: (
        Callable[[T], tuple[Iterable[tuple[KeyEntry, Any]], Any]] | None) = None,
) -> None:
  """Makes a type a node of pytrees, for good.

  Args:
    nodetype: the type; its subclasses are not included.
    flatten_func: takes an object; returns its children and its metadata. Metadata are
      part of the structure: they need `==` and a hash, and may not hold arrays.
    unflatten_func: takes the metadata and the children; returns an object. Children can
      be any objects, so it should not check or convert them.
    flatten_with_keys_func: like `flatten_func`, with pairs (key, child) for children;
      without it, key paths number the children.

  Raises:
    TypeError: `nodetype` is no type, or a function is not callable.
    ValueError: the type is a node already.

  >>> class Pair:
  ...   def __init__(self, x, y):
  ...     self.x, self.y = x, y
  >>> register_pytree_node(
  ...     Pair, lambda p: ((p.x, p.y), None), lambda _, children: Pair(*children))
  >>> from gnomon.tree_util import tree_leaves
  >>> tree_leaves([Pair(1, 2), 3])
  [1, 2, 3]
  """
  name = "register_pytree_node"
  _check_new(name, nodetype)
  _check_callable(name, "flatten_func", flatten_func)
  _check_callable(name, "unflatten_func", unflatten_func)
  if flatten_with_keys_func is not None:
    _check_callable(name, "flatten_with_keys_func", flatten_with_keys_func)
  pytrees.register_node(
      nodetype, flatten_func, unflatten_func, flatten_with_keys_func)


def register_pytree_with_keys(
    nodetype: type[T],
    flatten_with_keys: Callable[[T], tuple[Iterable[tuple[KeyEntry, Any]], Any]],
    unflatten_func: Callable[[Any, Iterable[Any]], T],
    flatten_func: Callable[[T], tuple[Iterable[Any], Any]] | None = None,
) -> None:
  """Makes a type a node of pytrees whose children have keys.

  Args:
    nodetype: the type; its subclasses are not included.
    flatten_with_keys: takes an object; returns pairs (key, child), and the metadata.
      Keys are `GetAttrKey("x")`, `DictKey("x")`, `SequenceKey(0)` or any object that
      prints as it should stand in key paths.
    unflatten_func: takes the metadata and the children; returns an object.
    flatten_func: a faster way to get the children without keys.

  >>> from gnomon.tree_util import GetAttrKey, keystr, tree_leaves_with_path
  >>> class Box:
  ...   def __init__(self, content):
  ...     self.content = content
  >>> register_pytree_with_keys(
  ...     Box, lambda b: (((GetAttrKey("content"), b.content),), None),
  ...     lambda _, children: Box(*children))
  >>> [keystr(path) for path, _ in tree_leaves_with_path([Box(7)])]
  ['[0].content']
  """
  name = "register_pytree_with_keys"
  _check_new(name, nodetype)
  _check_callable(name, "flatten_with_keys", flatten_with_keys)
  _check_callable(name, "unflatten_func", unflatten_func)
  if flatten_func is None:
    def flatten_func(tree: T) -> tuple[Iterable[Any], Any]:
      pairs, metadata = flatten_with_keys(tree)
      return [child for _, child in pairs], metadata
  pytrees.register_node(nodetype, flatten_func, unflatten_func, flatten_with_keys)


def register_pytree_node_class(cls: Cls) -> Cls:
  """Makes a class with methods `tree_flatten` and `tree_unflatten` a node of pytrees.

  `tree_flatten(self)` returns the children and the metadata; the class method
  `tree_unflatten(cls, metadata, children)` returns an object.

  >>> @register_pytree_node_class
  ... class Interval:
  ...   def __init__(self, low, high):
  ...     self.low, self.high = low, high
  ...   def tree_flatten(self):
  ...     return (self.low, self.high), None
  ...   @classmethod
  ...   def tree_unflatten(cls, metadata, children):
  ...     return cls(*children)
  >>> from gnomon.tree_util import tree_map
  >>> tree_map(lambda x: 2 * x, Interval(1, 2)).high
  4
  """
  _check_methods("register_pytree_node_class", cls, "tree_flatten")
  register_pytree_node(cls, cls.tree_flatten, cls.tree_unflatten)  # type: ignore[attr-defined]
  return cls


def register_pytree_with_keys_class(cls: Cls) -> Cls:
  """Makes a class a node of pytrees whose children have keys.

  Like `register_pytree_node_class`, with `tree_flatten_with_keys`, which returns pairs
  (key, child) and the metadata. A method `tree_flatten` is used too where there is one.

  >>> from gnomon.tree_util import GetAttrKey, tree_structure
  >>> @register_pytree_with_keys_class
  ... class Slot:
  ...   def __init__(self, value):
  ...     self.value = value
  ...   def tree_flatten_with_keys(self):
  ...     return ((GetAttrKey("value"), self.value),), None
  ...   @classmethod
  ...   def tree_unflatten(cls, metadata, children):
  ...     return cls(*children)
  >>> tree_structure(Slot(1))
  PyTreeDef(CustomNode(Slot[None], [*]))
  """
  _check_methods("register_pytree_with_keys_class", cls, "tree_flatten_with_keys")
  register_pytree_with_keys(
      cls, cls.tree_flatten_with_keys,  # type: ignore[attr-defined]
      cls.tree_unflatten,  # type: ignore[attr-defined]
      getattr(cls, "tree_flatten", None))
  return cls


def register_static(cls: Cls) -> Cls:
  """Makes a class a node without children: its objects are part of the structure.

  Objects need `==` and a hash. A transformation sees them as constants, and `jit`
  compiles again for objects that are not equal.

  >>> @register_static
  ... class Mode(str): pass
  >>> from gnomon.tree_util import tree_leaves
  >>> tree_leaves([Mode("fast"), 1])
  [1]
  """
  _check_new("register_static", cls)
  pytrees.register_node(
      cls, lambda obj: ((), obj), lambda obj, _: obj, lambda obj: ((), obj))
  return cls


def register_dataclass(
    nodetype: type[T], data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None, drop_fields: Sequence[str] = (),
) -> type[T]:
  """Makes a dataclass a node of pytrees.

  Args:
    nodetype: a dataclass, or a class that can be built from keyword arguments that are
      also its attributes.
    data_fields: names of the fields that are children.
    meta_fields: names of the fields that are part of the structure; they need `==` and
      a hash. If neither is given, fields declared with
      `dataclasses.field(metadata={"static": True})` are these, and all others children.
    drop_fields: names of fields that are forgotten: they get their defaults back.

  Returns:
    `nodetype`, so that it can be used as a decorator.

  Raises:
    TypeError: one of `data_fields` and `meta_fields` is missing, or both are and
      `nodetype` is no dataclass.
    ValueError: the fields are not exactly those that the constructor takes.

  >>> @register_dataclass
  ... @dataclasses.dataclass
  ... class Layer:
  ...   weight: float
  ...   name: str = dataclasses.field(metadata={"static": True})
  >>> from gnomon.tree_util import tree_map
  >>> tree_map(lambda x: 10 * x, Layer(1.5, "dense"))
  Layer(weight=15.0, name='dense')
  """
  name = "register_dataclass"
  _check_new(name, nodetype)
  if (data_fields is None) != (meta_fields is None):
    given, absent = (("meta_fields", "data_fields") if data_fields is None
                     else ("data_fields", "meta_fields"))
    raise TypeError(
        f"{name} of {nodetype.__qualname__}: {given} was given without {absent}. Give "
        "both, or neither to take them from the dataclass.")
  dropped = _names("drop_fields", drop_fields)
  if data_fields is None or meta_fields is None:
    data, meta = _declared_fields(nodetype, dropped)
  else:
    data, meta = _names("data_fields", data_fields), _names("meta_fields", meta_fields)
  _check_fields(nodetype, data, meta, dropped)
  pytrees.register_dataclass_node(nodetype, data, meta)
  return nodetype


def _names(argument: str, names: Sequence[str]) -> list[str]:
  if isinstance(names, str) or not all(isinstance(n, str) for n in names):
    raise TypeError(
        f"register_dataclass: {argument} must be a sequence of names of fields, such as "
        f"['weight', 'bias'], but is {names!r}")
  return list(names)


def _declared_fields(cls: type, dropped: list[str]) -> tuple[list[str], list[str]]:
  if not dataclasses.is_dataclass(cls):
    raise TypeError(
        f"register_dataclass: {cls.__qualname__} is no dataclass, so data_fields and "
        "meta_fields must be given.")
  data: list[str] = []
  meta: list[str] = []
  for field in dataclasses.fields(cls):
    if field.name not in dropped:
      (meta if field.metadata.get("static", False) else data).append(field.name)
  return data, meta


def _check_fields(
    cls: type, data: list[str], meta: list[str], dropped: list[str]) -> None:
  where = f"register_dataclass of {cls.__qualname__}"
  both = sorted({n for n in data if n in meta})
  if both:
    raise ValueError(
        f"{where}: {both} are both in data_fields and in meta_fields; a field is either "
        "a child or part of the structure.")
  if not dataclasses.is_dataclass(cls):
    return
  wanted = {f.name for f in dataclasses.fields(cls) if f.init} - set(dropped)
  missing = sorted(wanted - {*data, *meta})
  if missing:
    raise ValueError(
        f"{where}: the fields {missing} are in neither data_fields nor meta_fields. Add "
        "them to one of these, or to drop_fields to give them up.")
  surplus = sorted({*data, *meta} - wanted)
  if surplus:
    raise ValueError(
        f"{where}: {surplus} cannot be children or metadata, because they are dropped, "
        "declared with init=False, or no fields of the class. Fields that the "
        "constructor does not take belong in drop_fields.")


def _check_new(function: str, nodetype: Any) -> None:
  if not isinstance(nodetype, type):
    raise TypeError(
        f"{function} takes a type, but was given {nodetype!r} of type "
        f"{type(nodetype).__qualname__}")
  if is_tree_node(nodetype):
    raise ValueError(
        f"{function}: {nodetype.__module__}.{nodetype.__qualname__} is already a node "
        "of pytrees (duplicate registration). A type is registered once, where it is "
        "defined, and cannot be registered anew.")


def _check_callable(function: str, argument: str, value: Any) -> None:
  if not callable(value):
    raise TypeError(f"{function}: {argument} must be callable, but is {value!r}")


def _check_methods(function: str, cls: Any, flatten: str) -> None:
  for method in (flatten, "tree_unflatten"):
    if not hasattr(cls, method):
      raise AttributeError(
          f"{function}: the class {getattr(cls, '__qualname__', cls)!r} needs methods "
          f"{flatten} and tree_unflatten, but has no {method}")


# --- Partial -----------------------------------------------------------------------


class _Whole:
  """Keeps `functools.partial` from merging a partial function into another one.

  Without it `Partial(Partial(f, x), y)` would become `Partial(f, x, y)`, whose leaves
  are x and y; as documented, all of the inner function belongs to the structure.
  """

  __slots__ = ("function",)

  def __init__(self, function: Callable[..., Any]) -> None:
    self.function = function

  def __call__(self, *args: Any, **kwargs: Any) -> Any:
    return self.function(*args, **kwargs)

  def __eq__(self, other: object) -> bool:
    return isinstance(other, _Whole) and self.function == other.function

  def __hash__(self) -> int:
    return hash(self.function)

  def __repr__(self) -> str:
    return repr(self.function)

  def __reduce__(self) -> tuple[type[_Whole], tuple[Callable[..., Any]]]:
    return _Whole, (self.function,)


class Partial(functools.partial[Any]):
  """A function with some arguments filled in, as a pytree.

  The filled-in arguments are children, so that they can be traced, mapped over and
  differentiated; the function is part of the structure and is compared with `==`.
  Partial functions with different arguments have thus one structure, and `jit` compiles
  a function that takes them only once.

  Args:
    func: a function with a hash. Another partial function counts as one function, with
      all that is filled in there.
    *args: the first positional arguments.
    **kw: keyword arguments.

  >>> from gnomon.tree_util import tree_map
  >>> power = Partial(pow, 3)
  >>> power(2), tree_map(lambda x: x + 1, power)(2)
  (9, 16)
  """

  def __new__(cls, func: Callable[..., Any], *args: Any, **kw: Any) -> Self:
    if isinstance(func, functools.partial):
      func = _Whole(func)
    return super().__new__(cls, func, *args, **kw)


def _make_partial(func: Callable[..., Any], children: Iterable[Any]) -> Partial:
  args, kw = children
  return Partial(func, *args, **kw)


register_pytree_node(
    Partial, lambda p: ((p.args, p.keywords), p.func), _make_partial)


# --- pickling ----------------------------------------------------------------------

# A pickled PyTreeDef refers to its registry. Registries are live objects of this process:
# by name is the only way to find the one of the other process.


def _registry_named(name: str) -> PyTreeRegistry:
  return {"default": default_registry, "none_leaf": none_leaf_registry}[name]


def _reduce_registry(registry: PyTreeRegistry) -> tuple[Any, tuple[str]]:
  for name in ("default", "none_leaf"):
    if _registry_named(name) is registry:
      return _registry_named, (name,)
  raise TypeError(
      "only PyTreeDefs of gnomon's own registries can be pickled, since another process "
      "can find no other registry")


copyreg.pickle(PyTreeRegistry, _reduce_registry)
