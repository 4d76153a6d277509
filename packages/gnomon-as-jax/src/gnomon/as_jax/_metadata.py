"""The distribution `jax`, as `importlib.metadata` sees it."""

from __future__ import annotations

import importlib.metadata
import os
from typing import Any

from gnomon.as_jax import _version

METADATA = f"""\
Metadata-Version: 2.1
Name: jax
Version: {_version.__version__}
Summary: The interface of JAX on gnomon (gnomon-as-jax)
"""


class Jax(importlib.metadata.Distribution):
  """A distribution without files: a name and a version."""

  def read_text(self, filename: str) -> str | None:
    """The text of a metadata file; there is one."""
    return METADATA if filename == "METADATA" else None

  def locate_file(self, path: str | os.PathLike[str]) -> Any:
    """It has no files.

    Raises:
      FileNotFoundError: always.
    """
    raise FileNotFoundError(f"{path}: 'jax' is gnomon here, which has files of its own")
