"""Configuration cells shared with the C++ fast path; made once for the process."""

from __future__ import annotations

from typing import Any

from gnomon.runtime.jaxlib.native import _jax

Cell = _jax.config.Config
"""A setting with a global and a thread-local value; `unset` clears the local one."""

unset: Any = _jax.config.unset

# A cell cannot be taken back, so nothing else in gnomon makes one. What is in the jit key
# separates entries of the C++ cache; what is in the trace context those of Python caches.
x64: Any = Cell(
    "gnomon_x64", False, include_in_jit_key=True, include_in_trace_context=True)
disable_jit: Any = Cell("gnomon_disable_jit", False)
post_hook: Any = Cell("gnomon_post_hook", None)
in_trace: Any = Cell("gnomon_in_trace", False, include_in_jit_key=True)
trace_key: Any = Cell(
    "gnomon_trace_key", None, include_in_jit_key=True, include_in_trace_context=True)

_jax.jax_jit.set_enable_x64_state(x64)
_jax.jax_jit.set_disable_jit_state(disable_jit)
_jax.jax_jit.set_post_hook_state(post_hook)


def trace_context() -> tuple[object, ...]:
  """The values of all cells that a cache of traces depends on."""
  values: tuple[object, ...] = _jax.config.trace_context()
  return values
