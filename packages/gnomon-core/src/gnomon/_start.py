"""Joins the parts: the runtime learns of types and tracers, `Array` gets attributes."""

from __future__ import annotations

from gnomon.core import array_hook
from gnomon.core.trace import EVAL, Tracer
from gnomon.core.types import ShapedArray
from gnomon.runtime import execute
from gnomon.runtime.array import install_array_attributes
from gnomon.runtime.jaxlib import arrays, clients, mlir

Array = arrays.ArrayBase
Device = clients.Device

mlir.set_tracebacks_enabled(True)
arrays.set_aval_factory(ShapedArray)
arrays.set_tracer_class(Tracer)
EVAL.process = execute.dispatch
array_hook.install_forwarders()
install_array_attributes()
