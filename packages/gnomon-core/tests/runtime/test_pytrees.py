"""The two registries, and the containers registered in both."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, namedtuple
from typing import Any

import pytest

from gnomon.runtime.jaxlib import pytrees

BOTH = [pytrees.default_registry, pytrees.none_leaf_registry]


def leaves(registry: Any, tree: Any) -> list[Any]:
  return registry.flatten(tree)[0]


def paths(registry: Any, tree: Any) -> list[str]:
  return ["".join(map(str, path)) for path, _ in registry.flatten_with_path(tree)[0]]


def test_none_is_a_node_in_one_and_a_leaf_in_the_other() -> None:
  assert leaves(pytrees.default_registry, (1, None)) == [1]
  assert leaves(pytrees.none_leaf_registry, (1, None)) == [1, None]


@pytest.mark.parametrize("registry", BOTH)
def test_ordered_dict_keeps_its_order(registry: Any) -> None:
  tree = OrderedDict([("z", 1), ("a", (2, 3))])
  flat, treedef = registry.flatten(tree)
  assert flat == [1, 2, 3]
  again = treedef.unflatten([4, 5, 6])
  assert type(again) is OrderedDict
  assert list(again.items()) == [("z", 4), ("a", (5, 6))]
  assert paths(registry, tree) == ["['z']", "['a'][0]", "['a'][1]"]


@pytest.mark.parametrize("registry", BOTH)
def test_defaultdict_is_sorted_and_keeps_its_factory(registry: Any) -> None:
  tree = defaultdict(list, {"z": 1, "a": 2})
  flat, treedef = registry.flatten(tree)
  assert flat == [2, 1]
  again = treedef.unflatten([5, 6])
  assert type(again) is defaultdict
  assert again == {"a": 5, "z": 6}
  assert again["new"] == []
  assert paths(registry, tree) == ["['a']", "['z']"]
  assert treedef != registry.flatten(defaultdict(dict, {"z": 1, "a": 2}))[1]


class Pair:
  def __init__(self, a: Any, b: Any, tag: str = "t") -> None:
    self.a, self.b, self.tag = a, b, tag


def test_register_node_is_for_both_registries() -> None:
  pytrees.register_node(
      Pair, lambda p: ((p.a, p.b), p.tag), lambda tag, ab: Pair(*ab, tag),
      lambda p: (((pytrees.GetAttrKey("a"), p.a), (pytrees.GetAttrKey("b"), p.b)), p.tag))
  for registry in BOTH:
    flat, treedef = registry.flatten({"k": Pair(1, [2, 3])})
    assert flat == [1, 2, 3]
    assert treedef.unflatten(flat)["k"].tag == "t"
    assert paths(registry, {"k": Pair(1, [2, 3])}) == [
        "['k'].a", "['k'].b[0]", "['k'].b[1]"]
  with pytest.raises(ValueError, match="Duplicate"):
    pytrees.register_node(Pair, lambda p: ((), None), lambda aux, children: None)


def test_node_without_keys_has_numbers() -> None:
  class Plain:
    pass

  pytrees.register_node(Plain, lambda _: ((1, 2), None), lambda _, __: Plain())
  (path, _), _ = pytrees.default_registry.flatten_with_path(Plain())[0]
  assert path == (pytrees.FlattenedIndexKey(0),)


def test_dataclass_node() -> None:
  @dataclasses.dataclass
  class Layer:
    weight: int
    bias: int
    name: str

  pytrees.register_dataclass_node(Layer, ("weight", "bias"), ("name",))
  for registry in BOTH:
    flat, treedef = registry.flatten(Layer(1, 2, "n"))
    assert flat == [1, 2]
    assert treedef.unflatten([3, 4]) == Layer(3, 4, "n")


def test_namedtuples_are_nodes_and_subclasses_of_containers_are_not() -> None:
  point = namedtuple("point", "x y")  # noqa: PYI024

  class Numbers(list):  # type: ignore[type-arg]
    pass

  for registry in BOTH:
    assert leaves(registry, point(1, 2)) == [1, 2]
    assert leaves(registry, [Numbers([1])]) == [[1]]


def test_treedef_tuple_and_all_leaves() -> None:
  for registry in BOTH:
    one, two = registry.flatten((0, 0))[1], registry.flatten([0])[1]
    joined = pytrees.treedef_tuple([one, two], registry=registry)
    assert joined == registry.flatten(((0, 0), [0]))[1]
    assert pytrees.all_leaves([1, "a"], registry=registry)
    assert not pytrees.all_leaves([1, (2,)], registry=registry)
  assert not pytrees.all_leaves([1, None])
  assert pytrees.all_leaves([1, None], registry=pytrees.none_leaf_registry)


def test_keys() -> None:
  tree = ([0], {"a": 0})
  kinds = [type(key) for path, _ in pytrees.default_registry.flatten_with_path(tree)[0]
           for key in path]
  assert kinds == [
      pytrees.SequenceKey, pytrees.SequenceKey, pytrees.SequenceKey, pytrees.DictKey]
