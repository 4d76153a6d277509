"""Symbolic zeros: tangents and cotangents known to be zero without computing."""

from __future__ import annotations

from typing import Any

from gnomon.core.types import AbstractValue, typeof


class Zero:
  """A tangent or cotangent that is zero; `aval` is its type."""

  __slots__ = ("aval",)

  def __init__(self, aval: AbstractValue) -> None:
    self.aval = aval

  def __repr__(self) -> str:
    return f"Zero({self.aval})"

  def instantiate(self) -> Any:
    """The zeros as an array."""
    from gnomon.core.structural import zeros_like_aval  # arrays come after their types

    return zeros_like_aval(self.aval)

  @staticmethod
  def from_primal_value(x: Any) -> Zero:
    """The zero tangent of a primal value."""
    return Zero(typeof(x).to_tangent_aval())


class UndefinedPrimal:
  """Stands for an operand that a transposition is linear in; `aval` is its type."""

  __slots__ = ("aval",)

  def __init__(self, aval: AbstractValue) -> None:
    self.aval = aval

  def __repr__(self) -> str:
    return f"UndefinedPrimal({self.aval})"


def is_undefined_primal(x: Any) -> bool:
  """Whether `x` stands for a linear operand."""
  return type(x) is UndefinedPrimal
