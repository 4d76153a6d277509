"""The hook through which core reaches operations that lax has: slices, loops, updates.

Rules that core writes for its own primitives bind a few of them. The distribution that
has them names its module under the entry point group `gnomon.lax`.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

GROUP = "gnomon.lax"


@functools.cache
def lax() -> Any:
  """The module `gnomon.lax`, loaded on first use.

  Raises:
    TypeError: no installed distribution provides it.
  """
  from importlib import metadata  # takes ten milliseconds to import

  for entry in metadata.entry_points(group=GROUP):
    return entry.load()
  try:  # a source tree that is not installed
    return importlib.import_module("gnomon.lax")
  except ModuleNotFoundError as e:
    if e.name != "gnomon.lax":
      raise
    raise TypeError(
        "slices and loops come with the distribution gnomon-lax, which is not installed: "
        "pip install gnomon-lax") from None
