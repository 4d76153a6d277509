"""Functions with static arguments as compiled programs, with their types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from gnomon import jit

F = TypeVar("F", bound=Callable[..., Any])


def program(*static: str, inline: bool = False) -> Callable[[F], F]:
  """`jit` with the arguments named in `static` fixed.

  Args:
    static: names of arguments that are no arrays.
    inline: whether a surrounding program gets the operations rather than a call.
  """
  def decorate(fun: F) -> F:
    return cast("F", jit(fun, static_argnames=static, inline=inline))

  return decorate
