"""The process as a whole: what is alive, what is remembered, what it runs on."""

from __future__ import annotations

import itertools
import os
import platform as _platform
import sys
import warnings
from typing import Any

import numpy as np

from gnomon import _config, version
from gnomon.api import jit
from gnomon.core import stage
from gnomon.runtime import backends, execute
from gnomon.runtime.jaxlib.capabilities import capabilities
from gnomon.tree_util import tree_leaves


def live_arrays(platform: str | None = None) -> list[Any]:
  """All arrays of a platform that have not been deleted.

  >>> import gnomon, numpy
  >>> x = gnomon.device_put(numpy.ones(3))
  >>> any(x is y for y in gnomon.live_arrays())
  True

  Raises:
    RuntimeError: there is no such platform.
  """
  if platform is not None:
    backends.devices(platform)
  return list(backends.client().live_arrays())


def clear_caches() -> None:
  """Forgets all traced and compiled programs: the next calls trace and compile anew.

  >>> import gnomon
  >>> gnomon.clear_caches()
  """
  jit.clear()
  execute.clear()
  stage.clear()


def copy_to_host_async(x: Any) -> Any:
  """Starts the transfer of arrays (of a pytree) to the host; returns `x` at once.

  A later conversion to NumPy then need not wait. What is no array is left alone.

  >>> import gnomon, numpy
  >>> x = gnomon.copy_to_host_async(gnomon.device_put(numpy.ones(3)))
  """
  for leaf in tree_leaves(x):
    start = getattr(leaf, "copy_to_host_async", None)
    if start is not None:
      start()
  return x


def print_environment_info(return_string: bool = False) -> str | None:
  """Prints versions, devices and settings, for reports of errors.

  Args:
    return_string: returns the text in place of printing it.

  >>> import gnomon
  >>> "jaxlib:" in gnomon.print_environment_info(return_string=True)
  True
  """
  devices = backends.devices()
  kinds = ", ".join(sorted({d.device_kind for d in devices}))
  local = len(backends.local_devices())
  lines = [
      f"gnomon: {version.__version__}",
      f"jaxlib: {capabilities['jaxlib_version']}",
      f"numpy:  {np.__version__}",
      f"python: {sys.version}",
      f"device info: {kinds}-{len(devices)}, {local} local devices",
      f"process_count: {backends.process_count()}",
      f"platform: {_platform.uname()}"]
  for name in sorted(os.environ):
    if name.startswith(("GNOMON_", "JAX_")) or name == "XLA_FLAGS":
      lines.append(f"{name}={os.environ[name]}")
  text = "\n".join(lines)
  if return_string:
    return text
  sys.stdout.write(text + "\n")
  return None


def host_id(backend: str | None = None) -> int:
  """The older name of `process_index`."""
  _renamed("host_id", "process_index")
  return backends.process_index(backend)


def host_ids(backend: str | None = None) -> list[int]:
  """The older name of `process_indices`."""
  _renamed("host_ids", "process_indices")
  return backends.process_indices(backend)


def host_count(backend: str | None = None) -> int:
  """The older name of `process_count`."""
  _renamed("host_count", "process_count")
  return backends.process_count(backend)


def _renamed(old: str, new: str) -> None:
  warnings.warn(
      f"gnomon.{old} has been renamed to gnomon.{new}; use that",
      DeprecationWarning, stacklevel=3)


class UserContext:
  """A setting of the user's own that compiled functions depend on.

  Calling it with a value gives a context manager for the thread. Jitted functions are
  traced anew for each value, which must be hashable.
  """

  def __init__(self, default_value: Any = None) -> None:
    self._manager = _config.context_value(
        f"user_context_{next(_user_contexts)}", default_value)

  @property
  def value(self) -> Any:
    """The value in force in this thread."""
    return self._manager.value

  def __call__(self, value: Any) -> _config.Override:
    return self._manager(value)


_user_contexts = itertools.count()


def make_user_context(default_value: Any = None) -> UserContext:
  """A setting of your own that is part of what jitted functions depend on.

  >>> import gnomon
  >>> verbose = gnomon.make_user_context(False)
  >>> with verbose(True):
  ...   verbose.value
  True
  >>> verbose.value
  False
  """
  return UserContext(default_value)
