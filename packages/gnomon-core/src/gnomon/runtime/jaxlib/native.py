"""The extension module of jaxlib, which comes without types."""

from __future__ import annotations

import importlib
from typing import Any

_jax: Any = importlib.import_module("jaxlib._jax")
FILE: str = _jax.__file__
