"""Slices: the parts of the `gnomon` namespace that other distributions install."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

SLICES: Mapping[str, str] = {  # submodule -> distribution that provides it
    "lax": "gnomon-lax",
    "numpy": "gnomon-numpy",
    "ops": "gnomon-numpy",
    "random": "gnomon-random",
    "flatten_util": "gnomon-lax",
    "nn": "gnomon-nn",
    "scipy": "gnomon-scipy",
    "spmd": "gnomon-sharding",
    "distributed": "gnomon-sharding",
    "image": "gnomon-image",
    "profiler": "gnomon-inspect",
    "testing": "gnomon-testing",
    "test_util": "gnomon-testing",
}
# Functions of `gnomon` that other distributions bring: their module.
FUNCTIONS: Mapping[str, str] = {
    "pmap": "spmd", "shard_map": "spmd", "smap": "spmd"}
# Core's own modules that `import gnomon` does not load, but on first use.
LAZY: frozenset[str] = frozenset({
    "ad", "ad_checkpoint", "api_util", "checkpoint_policies", "custom_batching",
    "custom_derivatives", "debug", "dlpack", "experimental", "extend", "interpreters",
    "lib", "memory", "monitoring", "ref", "sharding", "stages", "version"})
# Functions and classes of `gnomon` that live in such modules: name -> module in `gnomon`.
LAZY_NAMES: Mapping[str, str] = {
    "NamedSharding": "sharding", "P": "api.mesh", "make_mesh": "api.mesh",
    "make_array_from_callback": "api.assembly",
    "make_array_from_process_local_data": "api.assembly",
    "make_array_from_single_device_arrays": "api.assembly",
    "set_mesh": "sharding", "Shard": "runtime.shard", "reshard": "api.reshard",
    "__version__": "version", "__version_info__": "version",
    "checkpoint": "api.checkpoint", "remat": "api.checkpoint",
    "clear_caches": "api.environment", "closure_convert": "api.closure",
    "copy_to_host_async": "api.environment", "Ref": "ref", "empty_ref": "ref",
    "free_ref": "ref", "freeze": "ref", "new_ref": "ref",
    "custom_gradient": "api.closure", "fwd_and_bwd": "api.linear",
    "linear_transpose": "api.linear",
    "pure_callback": "api.callback", "effects_barrier": "runtime.callbacks",
    "ds": "core.slices", "host_count": "api.environment", "host_id": "api.environment",
    "host_ids": "api.environment", "live_arrays": "api.environment",
    "make_user_context": "api.environment",
    "print_environment_info": "api.environment",
}


def lazy_slices(
    names: Iterable[str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
  """A module's `__getattr__`, which imports a slice on first use, and `__dir__`."""

  def __getattr__(name: str) -> Any:
    if name in LAZY:
      return importlib.import_module(f"gnomon.{name}")
    if name in LAZY_NAMES:
      found = getattr(importlib.import_module(f"gnomon.{LAZY_NAMES[name]}"), name)
      setattr(sys.modules["gnomon"], name, found)  # asked once
      return found
    if name in FUNCTIONS:
      return getattr(__getattr__(FUNCTIONS[name]), name)
    if name not in SLICES:
      raise AttributeError(f"module 'gnomon' has no attribute {name!r}")
    try:
      return importlib.import_module(f"gnomon.{name}")
    except ModuleNotFoundError as e:
      if e.name != f"gnomon.{name}":
        raise  # the slice is installed, but something that it needs is not
      raise AttributeError(
          f"'gnomon.{name}' comes with the distribution {SLICES[name]!r}, which is not "
          f"installed: pip install {SLICES[name]}") from None

  def __dir__() -> list[str]:
    return sorted({*names, *SLICES, *LAZY, *LAZY_NAMES, *FUNCTIONS})

  return __getattr__, __dir__
