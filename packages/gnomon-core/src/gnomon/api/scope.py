"""Names for parts of programs, types of values, and evaluation while tracing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gnomon.api import tools
from gnomon.core.source import name_stack, scoped, under_transformations
from gnomon.core.trace import EVAL, KnownTrace, get_current, tracing
from gnomon.core.types import typeof as _typeof


def typeof(x: Any) -> Any:
  """The type (shape, dtype, weakness) of an array, a tracer or a number.

  >>> import gnomon
  >>> gnomon.typeof(1.0).dtype
  dtype('float32')

  Raises:
    TypeError: `x` is no array.
  """
  return _typeof(x)


class named_scope:
  """A context manager that adds a name to the operations made within.

  The names show in compiled programs and profiles.

  >>> import gnomon
  >>> with gnomon.named_scope("layer1"):
  ...   pass
  """

  __slots__ = ("_tokens", "name")

  def __init__(self, name: str) -> None:
    if not isinstance(name, str):
      raise TypeError(f"named_scope expects a str, got {name!r} of type {type(name)}")
    self.name = name
    self._tokens: list[Any] = []

  def __enter__(self) -> None:
    trace = get_current()
    name = under_transformations(self.name, trace)
    self._tokens.append((
        scoped.set(trace), name_stack.set((*name_stack.get(), name))))

  def __exit__(self, *_: object) -> None:
    trace, names = self._tokens.pop()
    name_stack.reset(names)
    scoped.reset(trace)

  def __call__(self, fun: Callable[..., Any]) -> Callable[..., Any]:
    @tools.wraps(fun)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
      with named_scope(self.name):
        return fun(*args, **kwargs)

    return wrapped


def named_call(fun: Callable[..., Any], *, name: str | None = None) -> Callable[..., Any]:
  """A function whose operations carry its name.

  >>> import gnomon
  >>> gnomon.named_call(lambda x: x, name="identity")(3)
  3
  """
  tools.check_callable(fun, "named_call")
  return named_scope(name or tools.function_name(fun))(fun)


class ensure_compile_time_eval:
  """A context manager in which operations on known values are computed while tracing.

  Operations on traced values are traced, as outside.

  >>> import gnomon
  >>> from gnomon import lax
  >>> def f(x):
  ...   with gnomon.ensure_compile_time_eval():
  ...     n = int(lax.add(1, 2))
  ...   return lax.mul(x, float(n))
  >>> float(gnomon.jit(f)(2.0))
  6.0
  """

  def __init__(self) -> None:
    self._entered: list[tracing] = []

  def __enter__(self) -> None:
    trace = get_current()
    self._entered.append(tracing(trace if trace is EVAL else KnownTrace(trace)))
    self._entered[-1].__enter__()

  def __exit__(self, *error: object) -> None:
    self._entered.pop().__exit__(*error)
