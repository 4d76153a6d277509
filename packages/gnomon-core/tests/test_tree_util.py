"""Pytrees: flattening, mapping, key paths, and the errors of each."""

from __future__ import annotations

import collections
import functools
import operator
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon import tree, tree_util
from gnomon.tree_util import DictKey, GetAttrKey, SequenceKey, keystr, tree_structure

Point = collections.namedtuple("Point", ["x", "y"])  # noqa: PYI024 -- the old kind counts


def trees(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
  keys = st.text("abcdef", max_size=3)
  return st.recursive(
      leaves | st.none(),
      lambda inner: (
          st.lists(inner, max_size=3)
          | st.lists(inner, max_size=3).map(tuple)
          | st.dictionaries(keys, inner, max_size=3)
          | st.dictionaries(keys, inner, max_size=3).map(collections.OrderedDict)
          | st.dictionaries(keys, inner, max_size=3).map(
              lambda d: collections.defaultdict(list, d))
          | st.builds(Point, inner, inner)),
      max_leaves=15)


def walk(node: Any, path: str = "") -> list[tuple[str, Any]]:
  """What flattening with paths should give, written in Python."""
  if node is None:
    return []
  if isinstance(node, Point):
    parts = [(f".{name}", getattr(node, name)) for name in node._fields]
  elif isinstance(node, collections.OrderedDict):
    parts = [(f"[{k!r}]", v) for k, v in node.items()]
  elif isinstance(node, dict):
    parts = [(f"[{k!r}]", node[k]) for k in sorted(node)]
  elif isinstance(node, (list, tuple)):
    parts = [(f"[{i}]", v) for i, v in enumerate(node)]
  else:
    return [(path, node)]
  return [pair for key, child in parts for pair in walk(child, path + key)]


@given(trees(st.integers()))
def test_flattening_agrees_with_a_walk(x: Any) -> None:
  expected = walk(x)
  leaves, treedef = tree_util.tree_flatten(x)
  pairs, same = tree_util.tree_flatten_with_path(x)
  assert leaves == tree_util.tree_leaves(x) == [leaf for _, leaf in expected]
  assert [(keystr(path), leaf) for path, leaf in pairs] == expected
  assert treedef == same == tree_structure(x)
  assert treedef.num_leaves == len(leaves)


@given(trees(st.integers()))
def test_unflatten_is_the_inverse(x: Any) -> None:
  leaves, treedef = tree_util.tree_flatten(x)
  again = tree_util.tree_unflatten(treedef, leaves)
  assert again == x
  assert tree_structure(again) == treedef
  assert hash(tree_structure(again)) == hash(treedef)


@given(trees(st.integers()))
def test_map_visits_each_leaf_once_and_keeps_the_structure(x: Any) -> None:
  doubled = tree_util.tree_map(lambda a: 2 * a, x)
  assert tree_structure(doubled) == tree_structure(x)
  assert tree_util.tree_leaves(doubled) == [2 * a for a in tree_util.tree_leaves(x)]
  assert tree_util.tree_map(operator.add, x, x) == doubled
  assert tree_util.tree_map_with_path(lambda _, a, b: a + b, x, x) == doubled


@given(trees(st.integers()), trees(st.integers()))
def test_transposing_twice_gives_the_tree_back(outer: Any, inner: Any) -> None:
  one, other = tree_structure(outer), tree_structure(inner)
  count = one.num_leaves * other.num_leaves
  nested = one.compose(other).unflatten(range(count))
  flipped = tree_util.tree_transpose(one, other, nested)
  assert tree_structure(flipped) == other.compose(one)
  assert tree_util.tree_transpose(other, one, flipped) == nested
  width = other.num_leaves
  assert tree_util.tree_leaves(flipped) == [
      n for i in range(width) for n in range(i, count, width)]


@given(trees(st.integers()), st.data())
def test_broadcasting_a_prefix(x: Any, data: st.DataObject) -> None:
  shape = tree_structure(x)
  subtrees = [data.draw(trees(st.integers())) for _ in range(shape.num_leaves)]
  full = shape.unflatten(subtrees)
  numbered = shape.unflatten(range(shape.num_leaves))
  sizes = [tree_structure(t).num_leaves for t in subtrees]
  flat = [i for i, size in enumerate(sizes) for _ in range(size)]
  assert tree_util.broadcast_prefix(numbered, full) == flat
  assert tree_util.flatten_axes("axes", tree_structure(full), numbered) == flat
  assert tree_util.tree_broadcast(numbered, full) == tree_structure(full).unflatten(flat)
  assert tree_util.prefix_errors(numbered, full) == []


def test_none_is_a_node_and_subclasses_are_leaves() -> None:
  class Stack(list):  # type: ignore[type-arg]
    pass

  stack = Stack([1])
  assert tree_util.tree_leaves([None, stack]) == [stack]
  assert not tree_util.is_tree_node(Stack)


def test_is_leaf_stops_the_walk() -> None:
  x = [(1, 2), {"a": (3,)}]
  def is_tuple(node: Any) -> bool:
    return isinstance(node, tuple)

  assert tree.leaves(x, is_leaf=is_tuple) == [(1, 2), (3,)]
  assert tree.map(len, x, is_leaf=is_tuple) == [2, {"a": 1}]
  assert tree.reduce(operator.add, x, is_leaf=is_tuple) == (1, 2, 3)
  assert [keystr(p) for p, _ in tree.leaves_with_path(x, is_leaf=is_tuple)] == [
      "[0]", "[1]['a']"]
  def at_a(path: tree_util.KeyPath, _: Any) -> bool:
    return path == (SequenceKey(1), DictKey("a"))

  pairs, _ = tree.flatten_with_path(x, is_leaf=at_a, is_leaf_takes_path=True)
  assert pairs[-1] == ((SequenceKey(1), DictKey("a")), (3,))
  assert tree.map_with_path(
      lambda _, leaf, other: other, x, x, is_leaf=at_a, is_leaf_takes_path=True) == x


def test_rest_may_go_on_below_the_leaves() -> None:
  assert tree.map(lambda a, b: (a, b), [1, 2], [(3,), None]) == [(1, (3,)), (2, None)]


def test_a_function_that_raises_stop_iteration_does_not_cut_the_map_short() -> None:
  def stop(_: int) -> int:
    raise StopIteration

  with pytest.raises(StopIteration):
    tree.map(stop, [1, 2])


@pytest.mark.parametrize(("other", "message"), [
    ({"a": [1, 2]}, r"tree['a'] is a tuple of 2, but rest[0]['a'] is a list of 2"),
    ({"b": (1, 2)}, "only the first has 'a'; only the second has 'b'"),
    ({"a": (1, 2, 3)}, "tree['a'] is a tuple of 2, but rest[0]['a'] is a tuple of 3"),
    ({"a": None}, "rest[0]['a'] is None"),
    ([], "tree is a dict with the keys 'a', but rest[0] is a list of 0"),
    (7, "rest[0] is a leaf of type int"),
])
def test_a_mismatch_is_named_with_its_place(other: Any, message: str) -> None:
  with pytest.raises(ValueError, match=re.escape(message)):
    tree.map(operator.add, {"a": (1, 2)}, other)
  with pytest.raises(ValueError, match=re.escape(message)):
    tree.map_with_path(lambda _, a, b: a + b, {"a": (1, 2)}, other)


def test_a_mismatch_in_a_later_tree_names_that_tree() -> None:
  with pytest.raises(ValueError, match=re.escape("rest[1] is a tuple of 1")):
    tree.map(lambda *xs: xs, [1], [2], (3,))


def test_unsortable_keys_are_named_with_the_way_out() -> None:
  bad = [0, {"layer": {1: "a", "two": "b"}}]
  functions = [
      tree.leaves, tree.flatten, tree.structure, tree.flatten_with_path,
      functools.partial(tree.map, str)]
  for function in functions:
    with pytest.raises(ValueError, match="cannot compare") as caught:
      function(bad)
    text = str(caught.value)
    assert "[1]['layer']" in text
    assert "1 (int)" in text
    assert "'two' (str)" in text
    assert "OrderedDict" in text
  for function in (
      tree_util.flatten_one_level, tree_util.flatten_one_level_with_keys):
    with pytest.raises(ValueError, match="OrderedDict"):
      function({1: 0, "a": 0})
  ordered = collections.OrderedDict([(1, "a"), ("two", "b")])
  assert tree.leaves(ordered) == ["a", "b"]


def test_an_error_of_the_predicate_comes_through() -> None:
  def fail(_: Any) -> bool:
    raise ValueError("mine")

  with pytest.raises(ValueError, match="mine"):
    tree.leaves([1], is_leaf=fail)


def test_wrong_number_of_leaves() -> None:
  treedef = tree.structure([0, 0])
  with pytest.raises(ValueError, match="expected 2"):
    tree.unflatten(treedef, [1])
  with pytest.raises(ValueError, match="expected 2"):
    tree.unflatten(treedef, [1, 2, 3])


def test_reduce() -> None:
  x = {"a": "p", "b": ["q", "r"]}
  assert tree.reduce(operator.add, x) == "pqr"
  assert tree.reduce(operator.add, x, "o") == "opqr"
  assert tree.reduce(lambda a, _: a, [], None) is None
  with pytest.raises(TypeError, match="initializer"):
    tree.reduce(operator.add, [])


def test_associative_reduction_is_balanced() -> None:
  def combine(a: str, b: str) -> str:
    return f"({a}{b})"

  assert tree.reduce_associative(combine, list("abcdefg")) == "((a(bc))((de)(fg)))"
  assert tree.reduce_associative(combine, ["a"], identity="e") == "a"
  assert tree.reduce_associative(combine, [], identity="e") == "e"
  with pytest.raises(TypeError, match="identity"):
    tree.reduce_associative(combine, [])


def test_all() -> None:
  assert tree.all([])
  assert tree.all([1, {"a": True}])
  assert not tree.all([1, {"a": 0}])
  assert not tree.all([None], is_leaf=lambda x: x is None)


def test_transpose() -> None:
  outer, inner = tree.structure([0, 0]), tree.structure({"a": 0, "b": (0, 0)})
  nested = [{"a": 1, "b": (2, 3)}, {"a": 4, "b": (5, 6)}]
  assert tree.transpose(outer, inner, nested) == {"a": [1, 4], "b": ([2, 5], [3, 6])}
  assert tree.transpose(outer, None, nested) == {"a": [1, 4], "b": ([2, 5], [3, 6])}
  same = {"a": 1, "b": (2, 3)}
  with pytest.raises(TypeError, match=r"at \[1\]"):
    tree.transpose(outer, inner, [same, {"a": same, "b": (same, 0)}])
  with pytest.raises(TypeError, match="outer structure"):
    tree.transpose(outer, inner, (1, 2))
  with pytest.raises(TypeError, match="inner_treedef"):
    tree.transpose(tree.structure([]), None, [])


def test_broadcast_errors_name_the_place() -> None:
  with pytest.raises(ValueError, match=re.escape("prefix_tree['a'] is a list of 1")):
    tree.broadcast({"a": [0]}, {"a": (1, 2)})
  with pytest.raises(ValueError, match="prefix_tree is None"):
    tree.broadcast(None, 1)


def test_broadcast_with_none_as_a_leaf() -> None:
  full = {"a": [None, 1], "b": 2}
  prefix = {"a": None, "b": 0}
  assert tree.broadcast(prefix, full, is_leaf=lambda x: x is None) == {
      "a": [None, None], "b": 0}


def test_keystr() -> None:
  path = (GetAttrKey("a"), DictKey(("x", 1)), SequenceKey(2),
          tree_util.FlattenedIndexKey(3), "rest")
  assert keystr(path) == ".a[('x', 1)][2][<flat index 3>]rest"
  assert keystr(path, simple=True, separator="/") == "a/('x', 1)/2/3/rest"
  assert keystr(()) == ""


def test_opening_one_level() -> None:
  assert tree_util.flatten_one_level([1, (2,)]) == ([1, (2,)], None)
  pairs, metadata = tree_util.flatten_one_level_with_keys({"b": 1, "a": [2]})
  assert list(pairs) == [(DictKey("a"), [2]), (DictKey("b"), 1)]
  assert metadata == ("a", "b")
  for function in (
      tree_util.flatten_one_level, tree_util.flatten_one_level_with_keys):
    with pytest.raises(ValueError, match="leaf of type int"):
      function(3)


def test_structures() -> None:
  leaf, pair = tree.structure(0), tree.structure((0, [0]))
  assert tree_util.treedef_children(pair) == [leaf, tree.structure([0])]
  assert tree_util.treedef_is_leaf(leaf)
  assert tree_util.treedef_is_leaf(tree.structure(None))
  assert not tree_util.treedef_is_leaf(pair)
  assert tree_util.treedef_tuple([leaf, pair]) == tree.structure((0, (0, [0])))
  with pytest.raises(TypeError, match="element 1 is of type int"):
    tree_util.treedef_tuple([leaf, 1])  # type: ignore[list-item]
  with pytest.warns(DeprecationWarning, match="from_iterable_tree"):
    build_tree = tree_util.build_tree
  assert build_tree(pair, [1, [2]]) == (1, [2])
  with pytest.raises(AttributeError, match="no_such_name"):
    _ = tree_util.no_such_name


def test_all_leaves() -> None:
  assert tree_util.all_leaves([1, "a"])
  assert not tree_util.all_leaves([1, None])
  assert tree_util.all_leaves([1, None], is_leaf=lambda x: x is None)
  assert not tree_util.all_leaves([1, [2]], is_leaf=lambda x: x is None)
