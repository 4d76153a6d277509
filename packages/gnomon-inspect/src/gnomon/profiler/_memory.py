"""What the memory of devices holds."""

from __future__ import annotations

import gzip
import os
import pathlib

import gnomon
from gnomon.runtime.jaxlib import profiling


def device_memory_profile(backend: str | None = None) -> bytes:
  r"""What arrays and programs take memory, and where they were made.

  Args:
    backend: the platform; the default one if None.

  Returns:
    A profile in the format of pprof, compressed: `pprof --web FILE` shows it.

  >>> from gnomon import profiler
  >>> profiler.device_memory_profile()[:2]
  b'\x1f\x8b'

  Raises:
    RuntimeError: there is no such platform.
  """
  client = gnomon.devices(backend)[0].client
  return gzip.compress(profiling.memory_profile(client), mtime=0)


def save_device_memory_profile(
    filename: str | os.PathLike[str], backend: str | None = None) -> None:
  """Writes `device_memory_profile` to a file."""
  pathlib.Path(filename).write_bytes(device_memory_profile(backend))
