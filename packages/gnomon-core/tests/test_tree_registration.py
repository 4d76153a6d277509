"""Registered node types, `Partial`, and pickled structures."""

from __future__ import annotations

import dataclasses
import functools
import pickle
import subprocess
import sys
from typing import Any

import pytest

from gnomon import tree, tree_util
from gnomon.tree_util import GetAttrKey, Partial, keystr


@tree_util.register_pytree_node_class
class Interval:
  def __init__(self, low: Any, high: Any) -> None:
    self.low, self.high = low, high

  def tree_flatten(self) -> tuple[tuple[Any, Any], None]:
    return (self.low, self.high), None

  @classmethod
  def tree_unflatten(cls, metadata: None, children: Any) -> Interval:
    assert metadata is None
    return cls(*children)


@tree_util.register_dataclass
@dataclasses.dataclass
class Layer:
  weight: Any
  bias: Any
  name: str = tree.static(default="dense")


def paths(x: Any) -> list[str]:
  return [keystr(path) for path, _ in tree.leaves_with_path(x)]


def test_node_class() -> None:
  x = tree.map(lambda a: a + 1, [Interval(1, (2, 3))])
  assert tree.leaves(x) == [2, 3, 4]
  assert isinstance(x[0], Interval)
  assert paths(x) == ["[0][<flat index 0>]", "[0][<flat index 1>][0]",
                      "[0][<flat index 1>][1]"]


def test_with_keys_and_without_a_flatten_function() -> None:
  class Box:
    def __init__(self, content: Any) -> None:
      self.content = content

  tree_util.register_pytree_with_keys(
      Box, lambda b: (((GetAttrKey("content"), b.content), ("own", 2)), "meta"),
      lambda _, children: Box(*children))
  assert tree.leaves(Box(1)) == [1, 2]
  assert paths(Box([1])) == [".content[0]", "own"]
  assert tree.structure(Box(1)).node_data() == (Box, "meta")


def test_with_keys_and_a_flatten_function() -> None:
  calls: list[str] = []

  @tree_util.register_pytree_with_keys_class
  class Box:
    def __init__(self, content: Any) -> None:
      self.content = content

    def tree_flatten(self) -> tuple[tuple[Any], None]:
      calls.append("fast")
      return (self.content,), None

    def tree_flatten_with_keys(self) -> tuple[tuple[tuple[GetAttrKey, Any]], None]:
      calls.append("keys")
      return ((GetAttrKey("content"), self.content),), None

    @classmethod
    def tree_unflatten(cls, _: None, children: Any) -> Box:
      return cls(*children)

  assert tree.leaves(Box(1)) == [1]
  assert paths(Box(1)) == [".content"]
  assert calls == ["fast", "keys"]


def test_registration_function_with_keys() -> None:
  class Pair:
    def __init__(self, x: Any, y: Any) -> None:
      self.x, self.y = x, y

  tree_util.register_pytree_node(
      Pair, lambda p: ((p.x, p.y), None), lambda _, children: Pair(*children),
      lambda p: (((GetAttrKey("x"), p.x), (GetAttrKey("y"), p.y)), None))
  assert paths(Pair(1, 2)) == [".x", ".y"]


def test_static_objects_are_structure() -> None:
  @tree_util.register_static
  @dataclasses.dataclass(frozen=True)
  class Mode:
    name: str

  assert tree.leaves([Mode("a"), 1]) == [1]
  assert tree.structure(Mode("a")) == tree.structure(Mode("a"))
  assert tree.structure(Mode("a")) != tree.structure(Mode("b"))
  assert tree.map(str, Mode("a")) == Mode("a")
  assert paths(Mode("a")) == []


def test_dataclass_fields_from_their_declarations() -> None:
  layer = Layer(1, (2, 3), "first")
  assert tree.leaves(layer) == [1, 2, 3]
  assert paths(layer) == [".weight", ".bias[0]", ".bias[1]"]
  assert tree.map(lambda a: 2 * a, layer) == Layer(2, (4, 6), "first")
  assert tree.structure(layer) != tree.structure(Layer(1, (2, 3), "second"))


def test_static_field_keeps_the_metadata_given() -> None:
  field = tree.static(default=1, metadata={"unit": "m"})
  assert dict(field.metadata) == {"static": True, "unit": "m"}


def test_dataclass_with_dropped_fields() -> None:
  @functools.partial(
      tree_util.register_dataclass, data_fields=["x"], meta_fields=[],
      drop_fields=["cache"])
  @dataclasses.dataclass
  class Record:
    x: int
    cache: int = 0
    derived: int = dataclasses.field(init=False, default=5)

  assert tree.map(lambda a: a + 1, Record(1, cache=9)) == Record(2, cache=0)

  @functools.partial(tree_util.register_dataclass, drop_fields=["derived"])
  @dataclasses.dataclass
  class Inferred:
    x: int
    derived: int = dataclasses.field(init=False, default=5)

  assert tree.leaves(Inferred(3)) == [3]


def test_plain_class_with_named_fields() -> None:
  class Plain:
    def __init__(self, x: Any, tag: str) -> None:
      self.x, self.tag = x, tag

  assert tree_util.register_dataclass(Plain, ["x"], ["tag"]) is Plain
  assert tree.map(str, Plain(1, "t")).x == "1"


def test_dataclass_errors() -> None:
  @dataclasses.dataclass
  class Record:
    x: int
    y: int
    z: int = dataclasses.field(init=False, default=0)

  register = tree_util.register_dataclass
  with pytest.raises(TypeError, match="data_fields was given without meta_fields"):
    register(Record, ["x"])
  with pytest.raises(ValueError, match=r"\['x'\] are both in"):
    register(Record, ["x"], ["x", "y"])
  with pytest.raises(ValueError, match=r"\['y'\] are in neither"):
    register(Record, ["x"], [])
  with pytest.raises(ValueError, match=r"\['q'\] cannot be children"):
    register(Record, ["x", "q"], ["y"])
  with pytest.raises(ValueError, match=r"\['z'\] cannot be children"):
    register(Record)
  with pytest.raises(ValueError, match=r"\['y'\] cannot be children"):
    register(Record, ["x"], ["y"], drop_fields=["y"])
  with pytest.raises(TypeError, match="sequence of names"):
    register(Record, "xy", [])
  with pytest.raises(TypeError, match="no dataclass"):
    register(type("Plain", (), {}))
  with pytest.raises(TypeError, match="takes a type"):
    register(3, [], [])  # type: ignore[arg-type]


def test_registration_errors() -> None:
  def flatten(x: Any) -> Any:
    return (), None

  with pytest.raises(ValueError, match="Interval is already a node"):
    tree_util.register_pytree_node(Interval, flatten, flatten)
  with pytest.raises(ValueError, match="duplicate registration"):
    tree_util.register_static(dict)
  with pytest.raises(TypeError, match="takes a type"):
    tree_util.register_pytree_node(3, flatten, flatten)  # type: ignore[arg-type]
  new = type("New", (), {})
  with pytest.raises(TypeError, match="unflatten_func must be callable"):
    tree_util.register_pytree_node(new, flatten, None)  # type: ignore[arg-type]
  with pytest.raises(TypeError, match="flatten_with_keys must be callable"):
    tree_util.register_pytree_with_keys(new, 1, flatten)  # type: ignore[arg-type]
  with pytest.raises(AttributeError, match="has no tree_flatten"):
    tree_util.register_pytree_node_class(new)
  assert tree.leaves(new) == [new]  # nothing was registered


def add(*args: Any, **kwargs: Any) -> Any:
  return sum(args) + sum(kwargs.values())


def test_partial_is_a_function_and_a_tree() -> None:
  p = Partial(add, 1, x=2)
  assert isinstance(p, functools.partial)
  assert p(3, y=4) == 10
  assert tree.leaves(p) == [1, 2]
  doubled = tree.map(lambda a: 2 * a, p)
  assert isinstance(doubled, Partial)
  assert doubled(3) == 9
  assert tree.structure(p) == tree.structure(doubled)
  assert tree.structure(p) != tree.structure(Partial(max, 1, x=2))


@pytest.mark.parametrize("kind", [Partial, functools.partial])
def test_an_inner_partial_is_one_function(kind: Any) -> None:
  inner = kind(add, 1, x=2)
  outer = Partial(inner, 3, y=4)
  assert outer() == 10
  assert tree.leaves(outer) == [3, 4]
  assert tree.map(lambda a: 2 * a, outer)() == 17
  assert tree.structure(outer) == tree.structure(Partial(inner, 5, y=6))
  assert tree.structure(outer) != tree.structure(Partial(kind(add, 1), 3, y=4))
  again = tree.unflatten(tree.structure(outer), [3, 4])
  assert tree.structure(again) == tree.structure(outer)


def test_pickling() -> None:
  x = {"a": (1, None), "b": Layer(2, Interval(3, 4)), "c": Partial(add, 5)}
  treedef = tree.structure(x)
  assert pickle.loads(pickle.dumps(treedef)) == treedef
  assert pickle.loads(pickle.dumps(Partial(Partial(add, 1), 2)))(3) == 6
  keys = tree.leaves_with_path(x)[0][0]
  assert pickle.loads(pickle.dumps(keys)) == keys


def test_a_pickled_structure_can_be_read_by_another_process() -> None:
  data = pickle.dumps(tree.structure({"a": (1, None), "b": [2]}))
  code = (f"import pickle; treedef = pickle.loads({data!r}); "
          "print(treedef.unflatten([7, 8]))")
  out = subprocess.run(
      [sys.executable, "-c", code], capture_output=True, text=True, check=True)
  assert out.stdout.strip() == "{'a': (7, None), 'b': [8]}"
