"""Primitives: operations by name. What they mean stands in transformations' tables."""

from __future__ import annotations

from typing import Any

from gnomon.core.trace import current

_all: list[Primitive] = []


class Primitive:
  """An operation's name.

  `bind` hands the operands to the current trace; the result is always a tuple.
  """

  __slots__ = ("__weakref__", "call", "name")

  def __init__(self, name: str, *, call: bool = False) -> None:
    self.name = name
    self.call = call  # holds jaxprs in its params
    _all.append(self)

  def __repr__(self) -> str:
    return self.name

  def bind(self, *args: Any, **params: Any) -> tuple[Any, ...]:
    """Applies the primitive under the current trace."""
    return current.get().process(self, args, params)


def all_primitives() -> tuple[Primitive, ...]:
  """Every primitive defined so far, in order of definition."""
  return tuple(_all)
