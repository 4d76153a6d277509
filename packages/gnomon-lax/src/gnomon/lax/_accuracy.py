"""How exact results must be: the values of `accuracy=`."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any


class AccuracyMode(enum.Enum):
  """How exact a result must be, in words.

  >>> from gnomon import lax
  >>> float(lax.exp(0.0, accuracy=lax.AccuracyMode.HIGHEST))
  1.0
  """

  HIGHEST = 1
  """The most exact implementation."""
  DEFAULT = 2
  """The platform's usual implementation."""


@dataclasses.dataclass(frozen=True)
class Tolerance:
  """How exact a result must be, in numbers: bounds of its error, of which one may hold.

  Args:
    atol: bound of the absolute error.
    rtol: bound of the relative error.
    ulps: bound of the error in units of the last place.

  >>> from gnomon import lax
  >>> float(lax.exp(0.0, accuracy=lax.Tolerance(rtol=1e-3)))
  1.0

  Raises:
    ValueError: a bound is negative.
  """

  atol: float = 0.0
  rtol: float = 0.0
  ulps: int = 0

  def __post_init__(self) -> None:
    if self.atol < 0 or self.rtol < 0 or self.ulps < 0:
      raise ValueError(
          "a Tolerance needs bounds that are not negative, got "
          f"atol={self.atol}, rtol={self.rtol}, ulps={self.ulps}")


def check_accuracy(name: str, accuracy: Any) -> None:
  """Raises `TypeError` unless `accuracy` is one of ours, or None."""
  if accuracy is not None and not isinstance(accuracy, (AccuracyMode, Tolerance)):
    raise TypeError(
        f"{name}: accuracy must be a lax.AccuracyMode, a lax.Tolerance or None, got "
        f"{accuracy!r}")


def accuracy_text(accuracy: AccuracyMode | Tolerance) -> str:
  """The attribute `result_accuracy` of StableHLO operations, as text."""
  if isinstance(accuracy, AccuracyMode):
    bounds, mode = Tolerance(), accuracy.name
  else:
    bounds, mode = accuracy, "TOLERANCE"
  return (
      f"#stablehlo.result_accuracy<atol = {float(bounds.atol)!r}, "
      f"rtol = {float(bounds.rtol)!r}, ulps = {bounds.ulps}, "
      f"mode = #stablehlo.result_accuracy_mode<{mode}>>")
