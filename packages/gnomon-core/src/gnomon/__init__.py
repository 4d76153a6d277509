"""Composable transformations of array programs: differentiate, vectorise, compile."""

from __future__ import annotations

from pkgutil import extend_path
from typing import TYPE_CHECKING

__path__ = extend_path(__path__, __name__)  # the other distributions add their slices

from gnomon.api.jit import jit as jit
from gnomon.runtime.array import install_array_attributes as _install_array_attributes
from gnomon.runtime.jaxlib import mlir as _mlir

_install_array_attributes()
_mlir.set_tracebacks_enabled(True)
