"""The stages of compilation: a function that is traced, lowered, compiled.

`jit(f).trace(*args)` gives a `Traced`, its `lower()` a `Lowered`, and the `compile()` of
that a `Compiled`, which is called like the function.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from gnomon.api.stages import ArgInfo as ArgInfo
from gnomon.api.stages import Compiled as Compiled
from gnomon.api.stages import Lowered as Lowered
from gnomon.api.stages import Traced as Traced

__all__ = [
    "ArgInfo", "Compiled", "CompilerOptions", "Lowered", "OutInfo", "Traced", "Wrapped"]

CompilerOptions = dict[str, str | bool | int | float]


@runtime_checkable
class OutInfo(Protocol):
  """What is known of a result: its shape, dtype and sharding."""

  @property
  def shape(self) -> tuple[int, ...]: ...

  @property
  def dtype(self) -> Any: ...

  @property
  def sharding(self) -> Any: ...


@runtime_checkable
class Wrapped(Protocol):
  """A function ready to be traced, lowered and compiled: what `jit` returns."""

  def __call__(self, *args: Any, **kwargs: Any) -> Any:
    """Runs the function, which is compiled when needed."""

  def trace(self, *args: Any, **kwargs: Any) -> Traced:
    """Traces the function for the types of the arguments."""

  def lower(self, *args: Any, **kwargs: Any) -> Lowered:
    """Traces and lowers the function for the types of the arguments."""
