"""Binding primitives that hold programs, whose operands may be mutable references."""

from __future__ import annotations

from typing import Any

from gnomon.core.primitive import Primitive
from gnomon.core.ref_type import AbstractRef
from gnomon.core.source import name_stack, under_transformations
from gnomon.core.trace import Tracer, get_current
from gnomon.core.types import typeof


def bind_call(p: Primitive, *operands: Any, **params: Any) -> tuple[Any, ...]:
  """`p.apply`, under the names of the transformations that the call is subject to.

  An operand may be a reference made under a transformation.
  """
  names = under_transformations("", get_current())
  token = name_stack.set((*name_stack.get(), names)) if names else None
  try:
    return _bind(p, operands, params)
  finally:
    if token is not None:
      name_stack.reset(token)


def _bind(
    p: Primitive, operands: tuple[Any, ...], params: dict[str, Any]) -> tuple[Any, ...]:
  for x in operands:
    if isinstance(x, Tracer) and x.is_box:
      from gnomon.core import discharge  # loaded when a program has references

      return tuple(discharge.bind(p, operands, params))
  return p.apply(*operands, **params)


def is_ref(x: Any) -> bool:
  """Whether a value is a mutable reference of whatever kind."""
  return type(getattr(x, "aval", None)) is AbstractRef


def check_aliases(
    who: str, fun: str, leaves: Any, consts: Any, names: Any) -> None:
  """Raises `ValueError` if a reference reaches a function in two ways.

  Args:
    who: the transformation.
    fun: the function, for the message.
    leaves: its flat arguments.
    consts: what it closes over, if it has been traced.
    names: gives the names of the arguments.
  """
  places: dict[int, int] = {}
  for i, x in enumerate(leaves):
    if not is_ref(x):
      continue
    first = places.setdefault(id(x), i)
    if first != i:
      raise ValueError(
          "only one reference to a mutable array may be passed as an argument to a "
          f"function, but when tracing {fun} for {who} the mutable array reference of "
          f"type {typeof(x)} appeared at both {names()[first]} and {names()[i]}. "
          "Pass it once")
  if places:
    for c in consts:
      if is_ref(c) and id(c) in places:
        raise ValueError(
            f"when tracing {fun} for {who}, a mutable array reference of type "
            f"{typeof(c)} was both closed over and passed as the argument "
            f"{names()[places[id(c)]]}. Do one or the other")
