"""What stands for private functions of JAX that gnomon has no use for itself."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np

from gnomon import dtypes
from gnomon.core import source
from gnomon.core.types import ShapedArray
from gnomon.runtime import backends
from gnomon.runtime.compile import make_handler
from gnomon.tree_util import is_tree_node

F = TypeVar("F", bound=Callable[..., Any])


def api_boundary(fun: F, **_: Any) -> F:
  """The function as it is: frames to be left out of tracebacks are known by their files.

  >>> from gnomon.as_jax._compat import api_boundary
  >>> api_boundary(abs) is abs
  True
  """
  return fun


def include_frame(frame: types.FrameType) -> bool:
  """Whether a frame is one of the user's: of no file that is left out of tracebacks.

  >>> import sys
  >>> from gnomon.as_jax._compat import include_frame
  >>> include_frame(sys._getframe())
  True
  """
  return source.is_user_file(frame.f_code.co_filename)


class Nodes:
  """The types that are nodes of pytrees, as a collection to ask: `type(x) in NODES`."""

  def __contains__(self, cls: Any) -> bool:
    return cls is type(None) or bool(is_tree_node(cls))


NODES = Nodes()


class Backends(Mapping[str, Any]):
  """The clients that have been started, by platform."""

  def _started(self) -> dict[str, Any]:
    client = backends._client
    return {} if client is None else {client.platform: client}

  def __getitem__(self, platform: str) -> Any:
    return self._started()[platform]

  def __iter__(self) -> Iterator[str]:
    return iter(self._started())

  def __len__(self) -> int:
    return len(self._started())


BACKENDS = Backends()


def supports_inf(dtype: Any) -> bool:
  """Whether a floating-point dtype has infinities.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.as_jax._compat import supports_inf
  >>> supports_inf(gnp.float32), supports_inf(gnp.float8_e4m3fn)
  (True, False)
  """
  dtype = np.dtype(dtype)
  if not dtypes.issubdtype(dtype, np.floating):
    return False
  return bool(np.isinf(np.asarray(np.inf, dtype).astype(np.float32)))


class EArray:
  """An array whose dtype is a library's own, over the array that holds it."""

  def __init__(self, aval: Any, data: Any) -> None:
    self.aval, self._data = aval, data
    self.shape, self.dtype, self.ndim = aval.shape, aval.dtype, len(aval.shape)

  def __repr__(self) -> str:
    return f"EArray({self.aval}, {self._data!r})"


# By kind of abstract value: `(aval, sharding, committed)` to what makes results arrays.
global_result_handlers: dict[type, Callable[..., Any]] = {ShapedArray: make_handler}
