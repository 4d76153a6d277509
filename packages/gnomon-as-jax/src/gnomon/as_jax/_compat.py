"""What stands for private functions of JAX that gnomon has no use for itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def api_boundary(fun: F, **_: Any) -> F:
  """The function as it is: frames to be left out of tracebacks are known by their files.

  >>> from gnomon.as_jax._compat import api_boundary
  >>> api_boundary(abs) is abs
  True
  """
  return fun
