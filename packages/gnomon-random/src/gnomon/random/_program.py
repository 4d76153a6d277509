"""How a sampler runs: as one named program; on words where keys are concrete."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from gnomon import jit
from gnomon.core.trace import EVAL, get_current
from gnomon.random._keys import PRNGKeyArray
from gnomon.random._primitives import random_wrap_p


def program(*static: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
  """Makes a function of a typed key, and further arrays, one program.

  `static` names its arguments that are no arrays. A concrete key is passed as its words,
  which the C++ call path knows.
  """
  def decorate(fun: Callable[..., Any]) -> Callable[..., Any]:
    traced = jit(fun, static_argnames=static)

    def of_words(words: Any, *args: Any, impl: Any, **params: Any) -> Any:
      return fun(random_wrap_p.bind(words, impl=impl)[0], *args, **params)

    of_words.__name__ = fun.__name__
    on_words = jit(of_words, static_argnames=("impl", *static))

    @functools.wraps(fun)
    def call(key: Any, *args: Any, **params: Any) -> Any:
      if type(key) is PRNGKeyArray and get_current() is EVAL:
        return on_words(key.physical, *args, impl=key._impl, **params)
      return traced(key, *args, **params)

    return call

  return decorate
