"""Modules of the runtime's own that libraries reach into."""

from __future__ import annotations

import importlib
from typing import Any

from gnomon.runtime.jaxlib.native import _jax

programs: Any = _jax.ifrt_programs


def proxy() -> Any:
  """The module that connects to a runtime in another process."""
  return importlib.import_module("jaxlib._ifrt_proxy")
