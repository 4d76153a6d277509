"""How a NumPy function runs: inline under a trace, as one compiled program on arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from gnomon import jit
from gnomon.core.trace import EVAL, get_current

F = TypeVar("F", bound=Callable[..., Any])


def compiled(*, static: Sequence[str] = ()) -> Callable[[F], F]:
  """Makes a function of arrays one program where its arguments are concrete.

  Under a transformation the body runs inline: its operations go to the trace one by one, so
  that no call stands between them. `static` names the arguments that are no arrays; they must
  be hashable.
  """
  def decorate(fun: F) -> F:
    program = jit(fun, static_argnames=tuple(static), inline=True)

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
      if get_current() is EVAL:
        return program(*args, **kwargs)
      return fun(*args, **kwargs)

    return call  # type: ignore[return-value]

  return decorate
