"""How a NumPy function runs: inline under a trace, as one compiled program on arrays."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from gnomon import jit
from gnomon.core.trace import EVAL, get_current
from gnomon.runtime.jaxlib import arrays

Array = arrays.Array

F = TypeVar("F", bound=Callable[..., Any])


def compiled(*, static: Sequence[str] = ()) -> Callable[[F], F]:
  """Makes a function of arrays one program where its arguments are concrete.

  Under a transformation the body runs inline: its operations go to the trace one by one,
  so that no call stands between them. `static` names the arguments that are no arrays;
  they must be hashable, or lists or arrays of integers.
  """
  def decorate(fun: F) -> F:
    program = jit(fun, static_argnames=tuple(static), inline=True)
    names = tuple(inspect.signature(fun).parameters) if static else ()
    positions = [i for i, name in enumerate(names) if name in static]

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
      if get_current() is EVAL:
        try:
          return program(*args, **kwargs)
        except ValueError:
          # Looked at only now, so that hashable arguments do not pay for it.
          frozen = _frozen(positions, static, args, kwargs)
          if frozen is None:
            raise
        return program(*frozen[0], **frozen[1])
      return fun(*args, **kwargs)

    call.program = program  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]

  return decorate


def _frozen(
    positions: Sequence[int], names: Sequence[str], args: tuple[Any, ...],
    kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]] | None:
  """The arguments with static lists and arrays made tuples; None if there are none."""
  new_args = [freeze(x) if i in positions else x for i, x in enumerate(args)]
  new_kwargs = {k: freeze(x) if k in names else x for k, x in kwargs.items()}
  same = all(a is b for a, b in zip(args, new_args)) and all(
      kwargs[k] is x for k, x in new_kwargs.items())
  return None if same else (new_args, new_kwargs)


def freeze(x: Any) -> Any:
  """Lists and arrays, of any depth, as tuples; anything else as it is."""
  if isinstance(x, (list, tuple)):
    frozen = tuple(map(freeze, x))
    same = isinstance(x, tuple) and all(a is b for a, b in zip(x, frozen))
    return x if same else frozen
  if isinstance(x, (np.ndarray, Array)):
    return freeze(np.asarray(x).tolist())
  return x
