"""What is wrong with the results of loop bodies and branches, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gnomon.api import tools
from gnomon.tree_util import KeyPath, keystr
from gnomon.tree_util._prefix import _open_treedef

Difference = tuple[KeyPath, str, str, str]


def differences(one: Any, other: Any, path: KeyPath = ()) -> Iterator[Difference]:
  """Where two structures differ: the path, what each has there, in which respect."""
  node, counterpart = _open_treedef(one), _open_treedef(other)
  if node is None and counterpart is None:
    return
  kinds = [None if n is None else n.kind for n in (node, counterpart)]
  if node is None or counterpart is None or kinds[0] is not kinds[1]:
    first, second = ("a pytree leaf" if k is None else f"a {k}" for k in kinds)
    yield path, first, second, "their Python types differ"
    return
  numbers = [len(n.children) for n in (node, counterpart)]
  if numbers[0] != numbers[1]:
    yield (path, *_of_lengths(node.kind, numbers), _respect(node, counterpart))
  elif node.metadata != counterpart.metadata:
    first, second = (
        f"a {n.kind} with pytree metadata {_shown(n.metadata)}"
        for n in (node, counterpart))
    yield path, first, second, "the pytree node metadata does not match"
  else:
    for key, x, y in zip(node.keys, node.children, counterpart.children):
      yield from differences(x, y, (*path, key))


def _of_lengths(kind: type, numbers: Sequence[int]) -> tuple[str, str]:
  if kind in (tuple, list):
    first, second = (f"a {kind.__name__} of length {n}" for n in numbers)
  else:
    first, second = (f"a {kind} with {n} child{'ren' * (n != 1)}" for n in numbers)
  return first, second


def _respect(node: Any, counterpart: Any) -> str:
  if node.kind in (tuple, list):
    return "the lengths do not match"
  keys = ""
  if node.kind is dict:
    unshared = set(node.metadata) ^ set(counterpart.metadata)
    keys = f", with the symmetric difference of key sets: {unshared}"
  return f"the numbers of children do not match{keys}"


def _shown(metadata: Any) -> Any:
  return tuple(metadata) if isinstance(metadata, (list, tuple)) else metadata


def listed(sentences: Sequence[str]) -> str:
  """One sentence, or a list of several."""
  if len(sentences) == 1:
    return f"{sentences[0][0].upper()}{sentences[0][1:]}."
  return ";\n".join(f"  * {s}" for s in sentences) + "."


def type_difference(a: Any, b: Any) -> str:
  """In what respect two types differ, as the end of a sentence."""
  parts = []
  if a.dtype != b.dtype:
    parts.append("the dtypes do not match")
  if a.shape != b.shape:
    parts.append("the shapes do not match")
  return f", so {', and '.join(parts)}" if parts else ""


def _type(aval: Any) -> str:
  """A type without its weakness, which is not what is wrong."""
  strip = getattr(aval, "strip_weak_type", None)
  return str(aval if strip is None else strip())


def carry_structure(
    who: str, fun: Any, in_tree: Any, out_tree: Any, name: str) -> TypeError:
  """The error for a carry that comes out in another structure."""
  found = [
      f"the input carry {'component ' * bool(path)}{name}{keystr(path)} is {one} but the "
      f"corresponding component of the carry output is {other}, so {reason}"
      for path, one, other, reason in differences(in_tree, out_tree)]
  return TypeError(
      f"{who} function carry input and carry output must have the same pytree "
      f"structure, but they differ:\n\n{listed(found)}\n\n"
      f"  input carry:  {in_tree}\n  output carry: {out_tree}\n"
      f"Change {tools.describe_function(fun)} or the initial value so that they agree.")


def carry_types(
    who: str, fun: Any, in_avals: Sequence[Any], out_avals: Sequence[Any],
    names: Sequence[str], wrong: Sequence[int]) -> TypeError:
  """The error for a carry that comes out with other types."""
  found = [
      f"the input carry {'component ' * (not names[i].isidentifier())}{names[i]} has "
      f"type {_type(in_avals[i])} but the corresponding output carry component has type "
      f"{_type(out_avals[i])}{type_difference(in_avals[i], out_avals[i])}"
      for i in wrong]
  return TypeError(
      f"{who} function carry input and carry output must have equal types, but they "
      f"differ:\n\n{listed(found)}\n\n"
      f"Change {tools.describe_function(fun)}, or convert the initial value, so that "
      "the carry keeps its type. (Python numbers are weakly typed and are promoted to "
      "the type that comes out; arrays are not.)")


def _functions(pairs: Sequence[tuple[Any, str]]) -> str:
  return "\n".join(
      f"  {name} is {tools.describe_function(fun)}" for fun, name in pairs)


def branch_structure(
    who: str, first: tuple[Any, str, Any], other: tuple[Any, str, Any]) -> TypeError:
  """The error for branches, given as (function, name, structure), that differ in it."""
  (f, name, tree), (g, other_name, other_tree) = first, other

  def place(path: KeyPath) -> str:
    return f" at path {keystr(path)}" if path else ""

  found = [
      f"{name} output{place(path)} is {one} but {other_name} output{place(path)} is "
      f"{two}, so {reason}" for path, one, two, reason in differences(tree, other_tree)]
  lines = listed(found) if len(found) > 1 else f"{found[0]}."
  return TypeError(
      f"{who} branch outputs must have the same pytree structure, but they differ:\n\n"
      f"{_functions([(f, name), (g, other_name)])}\n\n{lines}\n\n"
      f"  {name} returns {tree}\n  {other_name} returns {other_tree}\n"
      "Change one so that they agree.")


def branch_types(
    who: str, first: tuple[Any, str, Sequence[Any]],
    other: tuple[Any, str, Sequence[Any]],
    paths: Callable[[], Sequence[str]], wrong: Sequence[int]) -> TypeError:
  """The error for branches, given as (function, name, types), that differ in these."""
  (f, name, avals), (g, other_name, other_avals) = first, other
  places = paths()
  found = [
      f"the output of {name}{f' at path {places[i]}' if places[i] else ''} has type "
      f"{_type(avals[i])} but the corresponding output of {other_name} has type "
      f"{_type(other_avals[i])}{type_difference(avals[i], other_avals[i])}"
      for i in wrong]
  return TypeError(
      f"{who} branches must have equal output types but they differ:\n\n"
      f"{_functions([(f, name), (g, other_name)])}\n\n{listed(found)}\n\n"
      "Convert the results of one, so that they agree.")
