"""The runtime's clients and devices, and caches that go with them."""

from __future__ import annotations

import importlib
import weakref
from typing import Any

from gnomon.api import environment
from gnomon.runtime import backends as _backends
from gnomon.runtime import execute
from gnomon.runtime.jaxlib import programs

__all__ = [
    "backend_xla_version", "backends", "clear_backends",
    "clear_in_memory_compilation_cache", "get_backend", "get_compile_options",
    "get_default_device", "register_backend_cache", "register_backend_factory"]


def get_backend(platform: Any = None) -> Any:
  """The runtime's client for a platform, by default the one in use.

  >>> from gnomon.extend import backend
  >>> backend.get_backend().platform
  'cpu'

  Raises:
    RuntimeError: there is no such platform.
  """
  if platform is not None and not isinstance(platform, str):
    return platform  # a client
  return _backends.client_of(platform)


def backends() -> dict[str, Any]:
  """The clients by platform."""
  return {name: _backends.client_of(name) for name in _backends.platforms()}


def backend_xla_version(platform: str | None = None) -> int | None:
  """The version of the compiler that a client reports, or None if it reports none."""
  return getattr(get_backend(platform), "xla_version", None)


def get_default_device() -> Any:
  """The device where arrays go that are not placed explicitly."""
  return _backends.default_device()


def get_compile_options(
    num_replicas: int, num_partitions: int, device_assignment: Any = None,
    env_options_overrides: dict[str, str] | None = None,
    fdo_profile: bytes | None = None, detailed_logging: bool = True,
    backend: Any = None) -> Any:
  """Options for compiling a program.

  Args:
    num_replicas: how many replicas run.
    num_partitions: over how many devices each is partitioned.
    device_assignment: a nested list of devices or their numbers, replicas outermost; by
      default the first ones.
    env_options_overrides: options of XLA by name.
    fdo_profile: a profile that the compiler uses.
    detailed_logging: whether the compiler may log.
    backend: the client.
  """
  client = get_backend(backend)
  known = {d.id: d for d in client.devices()}
  n = num_replicas * num_partitions
  if device_assignment is None:
    chosen = list(known.values())[:n]
  else:
    chosen = [known[getattr(d, "id", d)] for d in _flat(device_assignment)]
  if len(chosen) != n:
    raise ValueError(
        f"get_compile_options: {num_replicas} replicas of {num_partitions} partitions "
        f"need {n} devices, got {len(chosen)}")
  options = programs.compile_options(
      chosen, dict(env_options_overrides or {}), num_partitions)
  if fdo_profile is not None:
    options.executable_build_options.fdo_profile = fdo_profile
  build = options.executable_build_options
  build.debug_options.xla_detailed_logging = detailed_logging
  return options


def _flat(x: Any) -> list[Any]:
  if hasattr(x, "flat"):
    return list(x.flat)
  return [z for y in x for z in _flat(y)] if isinstance(x, (list, tuple)) else [x]


_caches: weakref.WeakSet[Any] = weakref.WeakSet()


def register_backend_cache(cache: Any, for_what: str) -> None:
  """Has a cache cleared, by its `cache_clear()`, when clients are forgotten.

  Args:
    cache: the cache, held weakly.
    for_what: what it holds, for messages.

  Raises:
    TypeError: it has no such method.
  """
  if not hasattr(cache, "cache_clear"):
    raise TypeError(
        f"register_backend_cache: the cache for {for_what} has no method cache_clear; "
        f"got {cache!r}")
  _caches.add(cache)


def clear_in_memory_compilation_cache() -> None:
  """Forgets compiled programs."""
  environment.clear_caches()


def clear_backends(_crash: bool = False) -> None:
  """Forgets all clients, programs and registered caches; the next use makes new clients.

  Arrays made before belong to the old client and cannot be used with new ones.
  """
  del _crash
  for cache in list(_caches):
    cache.cache_clear()
  environment.clear_caches()
  execute.clear_scalars()
  _backends.forget()


def register_backend_factory(
    name: str, factory: Any, *, priority: int = 0, fail_quietly: bool = True,
    experimental: bool = False, make_topology: Any = None, c_api: Any = None) -> None:
  """Adds a platform: `factory()` makes its client when it is first used.

  Args:
    name: the name of the platform.
    factory: makes the client, or returns None if there is no such hardware.
    priority: the platform of the highest priority is the default; that of 'cpu' is 0.
    fail_quietly: whether a factory that raises counts as one that returns None, unless
      the platform is asked for by name.
    experimental: whether a warning says so when the platform is first used.
    make_topology: makes descriptions of hardware to compile for; kept with the factory.
    c_api: the plugin's interface; kept with the factory.
  """
  _backends.register_factory(
      name, factory, priority=priority, fail_quietly=fail_quietly,
      experimental=experimental, make_topology=make_topology, c_api=c_api)


def __getattr__(name: str) -> Any:
  if name == "ifrt_proxy":
    return importlib.import_module("gnomon.runtime.jaxlib.ifrt").proxy()
  raise AttributeError(f"module 'gnomon.extend.backend' has no attribute {name!r}")
