"""How a sampler runs: as one named program; on words where keys are concrete."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from gnomon import jit, lax
from gnomon.core.trace import EVAL, get_current
from gnomon.core.types import typeof
from gnomon.lowering.module import is_narrow
from gnomon.random._keys import PRNGKeyArray
from gnomon.random._primitives import random_wrap_p
from gnomon.runtime.execute import is_watching

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def program(*static: str, rows: bool = False, inline: bool = False) -> Decorator:
  """Makes a function of a typed key, and further arrays, one program.

  `static` names its arguments that are no arrays. A concrete key is passed as its words,
  which the C++ call path knows. `rows` says that the last dimension of `shape` means
  something to the function: the elements of its result do not depend on the position
  alone. `inline` says that in other programs its operations stand by themselves.
  """
  def decorate(fun: Callable[..., Any]) -> Callable[..., Any]:
    in_rows = rows or "shape" not in static
    body = fun if in_rows else _in_one_dimension(fun, static)
    traced = body if inline else jit(body, static_argnames=static)

    def of_words(words: Any, *args: Any, impl: Any, **params: Any) -> Any:
      return body(random_wrap_p.apply(words, impl=impl)[0], *args, **params)

    of_words.__name__ = fun.__name__
    on_words = jit(of_words, static_argnames=("impl", *static))

    @functools.wraps(fun)
    def call(key: Any, *args: Any, **params: Any) -> Any:
      if type(key) is PRNGKeyArray and get_current() is EVAL and not is_watching():
        return on_words(key.physical, *args, impl=key._impl, **params)
      return traced(key, *args, **params)

    return call

  return decorate


def _in_one_dimension(
    fun: Callable[..., Any], static: tuple[str, ...]) -> Callable[..., Any]:
  """The same samples, drawn in one dimension where the last one is short.

  Compilers make vectors of the last dimension only.
  """
  flat = jit(fun, static_argnames=static)

  @functools.wraps(fun)
  def draw(key: Any, *args: Any, shape: tuple[int, ...], **params: Any) -> Any:
    if not is_narrow(shape) or any(typeof(x).shape for x in args):
      return fun(key, *args, shape=shape, **params)
    return lax.reshape(flat(key, *args, shape=(math.prod(shape),), **params), shape)

  return draw
