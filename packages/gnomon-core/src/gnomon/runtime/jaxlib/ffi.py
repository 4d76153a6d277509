"""Native functions that a program can call by name, LAPACK's among them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from jaxlib import xla_client

from gnomon.runtime.jaxlib.native import _jax


def register_target(
    name: str, handler: Any, platform: str = "cpu", api_version: int = 1,
) -> None:
  """Makes a native function callable as `stablehlo.custom_call @name`.

  `handler` is a capsule, or a mapping from stage (`"instantiate"`, `"prepare"`,
  `"initialize"`, `"execute"`) to capsule. The library that holds it must stay loaded.
  """
  xla_client.register_custom_call_target(
      name, dict(handler) if isinstance(handler, Mapping) else handler,
      platform=platform, api_version=api_version)


def targets(platform: str = "Host") -> Mapping[str, Any]:
  """The functions registered so far."""
  found: Mapping[str, Any] = _jax.custom_call_targets(platform)
  return found


@functools.cache
def lapack_registrations() -> tuple[str, ...]:
  """Registers LAPACK's and the sparse kernels, once; gives their names.

  The first call loads SciPy, whose LAPACK they use: 0.2 s. To be called before a program
  that names one of them is compiled.
  """
  from jaxlib import cpu_sparse, lapack

  names = []
  for module in (lapack, cpu_sparse):
    for platform, entries in module.registrations().items():
      for name, capsule, api_version in entries:
        register_target(name, capsule, platform, api_version)
        names.append(name)
  for name in lapack.batch_partitionable_targets():
    _jax.register_custom_call_as_batch_partitionable(name)
  lapack._lapack.initialize()
  return tuple(sorted(names))
