"""Tree prefixes: axes for the leaves of a structure, and why a tree is no prefix."""

from __future__ import annotations

import collections
import re
from typing import Any

import pytest

from gnomon.tree_util import (
  DictKey,
  SequenceKey,
  equality_errors,
  equality_errors_pytreedef,
  flatten_axes,
  prefix_errors,
  register_pytree_node,
  tree_structure,
)


class Picky:
  """A node that can be built of numbers only, as users write them."""

  def __init__(self, x: float) -> None:
    self.x = 1.0 * x


register_pytree_node(Picky, lambda p: ((p.x,), None), lambda _, c: Picky(*c))


@pytest.mark.parametrize(("value", "axes", "expected"), [
    ((1, 2), 0, [0, 0]),
    ((1, 2), None, [None, None]),
    ((1, {"a": 2, "b": [3, 4]}), (None, 1), [None, 1, 1, 1]),
    ((1, {"a": 2, "b": [3, 4]}), (None, {"a": 0, "b": None}), [None, 0, None, None]),
    ((None, 1), (0, 1), [1]),
    ((None, 1), (None, 1), [1]),
    ((Picky(1), 2), (3, None), [3, None]),
    ((Picky(1), 2), (Picky(3), None), [3, None]),
    ((), (), []),
])
def test_flatten_axes(value: Any, axes: Any, expected: list[Any]) -> None:
  assert flatten_axes("axes", tree_structure(value), axes) == expected


@pytest.mark.parametrize(("value", "axes", "message"), [
    ((1, 2), (0, 1, 2), "axes is a tuple of 3, but the full tree has a tuple of 2"),
    ((1, {"a": 2}), (0, {"b": 1}), "axes[1] is a dict with the keys 'b'"),
    ((1, [2]), (0, (1,)), "axes[1] is a tuple of 1, but the full tree has a list of 1"),
    ((1, 2), (0, [1]), "axes[1] is a list of 1, but the full tree has a leaf there"),
])
def test_axes_that_are_no_prefix(value: Any, axes: Any, message: str) -> None:
  with pytest.raises(ValueError, match=re.escape(message)):
    flatten_axes("axes", tree_structure(value), axes)


def test_with_keywords_paths_start_in_the_positional_arguments() -> None:
  treedef = tree_structure((({"a": 1},), {"k": 2}))
  assert flatten_axes("axes", treedef, ((None,), 0), kws=True) == [None, 0]
  with pytest.raises(ValueError, match=re.escape("axes[0] is a list of 1")):
    flatten_axes("axes", treedef, (([0],), 0), kws=True)
  with pytest.raises(ValueError, match=re.escape("write a tuple of one entry")):
    flatten_axes("axes", treedef, ([0], 0), kws=True, tupled_args=True)


def test_prefix_errors_are_all_reported() -> None:
  prefix = {"a": [0], "b": (1, 2), "c": 3}
  full = {"a": (0,), "b": (1, 2, 3), "c": [1]}
  one, other = prefix_errors(prefix, full)
  assert str(one("in_axes")).startswith("in_axes['a'] is a list of 1, but the full tree")
  assert "in_axes['b'] is a tuple of 2" in str(other("in_axes"))
  assert "given['b'] is a tuple of 3" in str(
      prefix_errors(prefix, full, full_name="given")[1]("in_axes"))


def test_is_leaf_applies_to_the_prefix() -> None:
  assert len(prefix_errors([None], [(1,)])) == 1
  assert prefix_errors([None], [(1,)], is_leaf=lambda x: x is None) == []


def test_metadata_that_differ() -> None:
  od = collections.OrderedDict
  [error] = prefix_errors(od(a=1, b=2), od(b=2, a=1))
  assert "the orders of the keys differ" in str(error("x"))
  dd = collections.defaultdict
  [error] = prefix_errors(dd(list, a=1), dd(int, a=1))
  assert "the metadata differ" in str(error("x"))


def test_equality_errors() -> None:
  one = (1, {"a": [1, 2], "b": None})
  other = (1, {"a": [1, 2, 3], "b": 5})
  at_a = (SequenceKey(1), DictKey("a"))
  at_b = (SequenceKey(1), DictKey("b"))
  assert list(equality_errors(one, other)) == [
      (at_a, "a list of 2", "a list of 3", "the lengths differ"),
      (at_b, "None", "a leaf of type int", "one is a node, the other one a leaf")]
  found = equality_errors_pytreedef(tree_structure(one), tree_structure(other))
  assert [e[0] for e in found] == [at_a, at_b]
  assert list(equality_errors(one, one)) == []


def test_equality_errors_know_the_keys_of_a_structure() -> None:
  point = collections.namedtuple("point", "x y")  # noqa: PYI024
  one, other = tree_structure(point(1, [2])), tree_structure(point(1, [2, 3]))
  [(path, *_)] = equality_errors_pytreedef(one, other)
  assert "".join(map(str, path)) == ".y"
