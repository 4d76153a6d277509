"""How a NumPy function runs: inline under a trace, as one compiled program on arrays."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from gnomon import jit
from gnomon.core.trace import EVAL, get_current
from gnomon.numpy._replay import replaying
from gnomon.runtime.jaxlib import arrays

Array = arrays.Array

F = TypeVar("F", bound=Callable[..., Any])


def compiled(
    *, static: Sequence[str] = (), replay: bool | None = None) -> Callable[[F], F]:
  """Makes a function of arrays one program where its arguments are concrete.

  Under a transformation its operations go to the trace one by one, so that no call
  stands between them.

  Args:
    static: the arguments that are no arrays; hashable, or lists or arrays of integers.
    replay: whether to remember these operations, where the body takes longer than a look
      into a table; by default, where there are static arguments.
  """
  def decorate(fun: F) -> F:
    program = jit(fun, static_argnames=tuple(static), inline=True)
    again = replaying(fun) if (bool(static) if replay is None else replay) else None
    names = tuple(inspect.signature(fun).parameters) if static else ()
    positions = [i for i, name in enumerate(names) if name in static]
    kinds = [p.kind for p in inspect.signature(fun).parameters.values()]
    arity = len(kinds) if set(kinds) == {inspect.Parameter.POSITIONAL_ONLY} else 0
    if arity in _FIXED and again is None:
      fixed = functools.wraps(fun)(_FIXED[arity](fun, program))
      fixed.program = program  # type: ignore[attr-defined]
      return fixed  # type: ignore[return-value]

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
      trace = get_current()
      if trace is EVAL:
        try:
          return program(*args, **kwargs)
        except ValueError:
          # Looked at only now, so that hashable arguments do not pay for it.
          frozen = _frozen(positions, static, args, kwargs)
          if frozen is None:
            raise
        return program(*frozen[0], **frozen[1])
      return fun(*args, **kwargs) if again is None else again(trace, args, kwargs)

    call.program = program  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]

  return decorate


def _of_one(fun: Callable[[Any], Any], program: Any) -> Callable[[Any], Any]:
  def call(x: Any, /) -> Any:
    return program(x) if get_current() is EVAL else fun(x)

  return call


def _of_two(fun: Callable[[Any, Any], Any], program: Any) -> Callable[[Any, Any], Any]:
  def call(x: Any, y: Any, /) -> Any:
    return program(x, y) if get_current() is EVAL else fun(x, y)

  return call


# How functions of one or two arrays, without names, are called: there are many of them.
_FIXED: dict[int, Any] = {1: _of_one, 2: _of_two}


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
