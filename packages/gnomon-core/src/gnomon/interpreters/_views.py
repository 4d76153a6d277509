"""Dictionaries that show a rule table by JAX's conventions, and enter rules into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, Sequence
from typing import Any

from gnomon.core.primitive import Primitive
from gnomon.core.rule import Rule

Convert = Callable[[Primitive, Callable[..., Any]], Callable[..., Any]]


class View(MutableMapping[Primitive, Callable[..., Any]]):
  """A rule table as a dictionary from primitives to rules.

  `inward` makes a rule of the table from one of a library's, `outward` the reverse. What
  a library has entered it gets back as it was.
  """

  def __init__(
      self, name: str, tables: Sequence[Rule[Any]], inward: Convert,
      outward: Convert) -> None:
    self._name, self._tables = name, tables
    self._inward, self._outward = inward, outward

  def _find(self, primitive: Primitive) -> Any:
    for table in self._tables:
      rule = table.get(primitive)
      if rule is not None:
        return rule
    return None

  def __getitem__(self, primitive: Primitive) -> Callable[..., Any]:
    rule = self._find(primitive)
    if rule is None:
      raise KeyError(primitive)
    entered = getattr(rule, "entered", None)
    if entered is not None and entered[0] is self:
      return entered[1]  # type: ignore[no-any-return]
    return self._outward(primitive, rule)

  def __setitem__(self, primitive: Primitive, rule: Callable[..., Any]) -> None:
    if not isinstance(primitive, Primitive):
      raise TypeError(
          f"the keys of {self._name} are primitives, got {primitive!r} of type "
          f"{type(primitive)}")
    inner = self._inward(primitive, rule)
    inner.entered = (self, rule)  # type: ignore[attr-defined]
    for table in self._tables:
      table.replace(primitive, inner)

  def __delitem__(self, primitive: Primitive) -> None:
    if primitive not in self:
      raise KeyError(primitive)
    for table in self._tables:
      table.remove(primitive)

  def __contains__(self, primitive: object) -> bool:
    return any(primitive in table for table in self._tables)

  def __iter__(self) -> Iterator[Primitive]:
    return iter(dict.fromkeys(p for table in self._tables for p in table))

  def __len__(self) -> int:
    return sum(1 for _ in self)

  def __repr__(self) -> str:
    return f"<view {self._name}: the rules of {len(self)} primitives>"


def unpacked(primitive: Primitive, outs: Sequence[Any]) -> Any:
  """Results as other libraries expect them of `primitive`: a list, or the only one."""
  return list(outs) if primitive.multiple_results else outs[0]


def packed(primitive: Primitive, out: Any) -> Sequence[Any]:
  """A sequence of results from what other libraries' rules give for `primitive`."""
  return list(out) if primitive.multiple_results else [out]
