"""Backends and devices. The client is made on first use, not at import."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from gnomon import _config
from gnomon.runtime import processes
from gnomon.runtime.jaxlib import arrays, clients

_lock = threading.Lock()
_client: Any = None  # the one by default
_usual: tuple[Any, Any] = (None, None)  # that client, and its first device
_clients: dict[str, Any] = {}
_pid = 0


class Factory(NamedTuple):
  """How the client of a platform is made, and how it ranks among platforms."""

  make: Callable[[], Any]
  priority: int = 0
  fail_quietly: bool = True
  experimental: bool = False
  make_topology: Any = None
  c_api: Any = None


def _make_cpu() -> Any:
  n = _config.config.read("jax_num_cpu_devices")
  return clients.make_cpu_client(
      n if n and n > 0 else None, _config.config.read("jax_cpu_enable_async_dispatch"),
      **processes.cpu_options())


_factories: dict[str, Factory] = {"cpu": Factory(_make_cpu, fail_quietly=False)}


def register_factory(name: str, make: Callable[[], Any], **options: Any) -> None:
  """Adds a platform, whose client `make()` gives when it is first used."""
  if name in _clients:
    raise RuntimeError(
        f"the platform {name!r} is in use: a factory for it must be registered before")
  _factories[name] = Factory(make, **options)


def client() -> Any:
  """The runtime's client by default, made on first use: the processor's, most often."""
  global _client, _pid
  if _client is None:
    with _lock:
      if _client is None:
        _client = _choose()
        _pid = os.getpid()
  return _client


def _choose() -> Any:
  asked = _config.config.read("jax_platforms")
  if asked:
    names = asked.split(",")
    for name in names:
      if name in _factories:
        found = _made(name, quietly=len(names) > 1)
        if found is not None:
          return found
    raise RuntimeError(
        f"no backend for the platforms {asked!r}: this installation has "
        f"{', '.join(map(repr, _factories))}; other platforms come with gnomon-plugins")
  for name in sorted(_factories, key=lambda n: -_factories[n].priority):
    found = _made(name, quietly=_factories[name].fail_quietly)
    if found is not None:
      return found
  raise RuntimeError("no platform has a client")


def _made(name: str, *, quietly: bool) -> Any:
  """The client of a platform, or None if it has none."""
  if name in _clients:
    return _clients[name]
  factory = _factories[name]
  try:
    found = factory.make()
  except Exception as e:
    if quietly:
      return None
    raise RuntimeError(f"the platform {name!r} cannot be used: {e}") from e
  if found is not None:
    if factory.experimental:
      warnings.warn(f"the platform {name!r} is experimental", stacklevel=3)
    _clients[name] = found
  return found


def has_client() -> bool:
  """Whether a device has been used."""
  return bool(_clients)


def client_of(platform: str | None) -> Any:
  """The client of a platform.

  Raises:
    RuntimeError: this installation has no such platform.
  """
  if platform is None:
    return client()
  default = client()
  if platform == default.platform:
    return default
  found = _made(platform, quietly=False) if platform in _factories else None
  if found is None:
    raise RuntimeError(
        f"Unknown backend {platform}: this installation has "
        f"{', '.join(map(repr, _factories))}; other platforms come with gnomon-plugins")
  return found


def topology(platform: str, name: str, options: dict[str, Any]) -> Any:
  """What a platform knows of devices that need not be there.

  Raises:
    NotImplementedError: it knows nothing of such.
    RuntimeError: this installation has no such platform.
  """
  factory = _factories.get(platform)
  if factory is None:
    raise RuntimeError(
        f"Unknown backend {platform}: this installation has "
        f"{', '.join(map(repr, _factories))}; other platforms come with gnomon-plugins")
  if factory.make_topology is None:
    raise NotImplementedError(
        f"topology not implemented for {platform}: it is a platform whose devices are "
        "there or not")
  return factory.make_topology(name, **options)


def registered() -> list[str]:
  """The platforms that may have clients."""
  return list(_factories)


def platforms() -> list[str]:
  """The platforms that have clients."""
  client()
  return list(_clients)


def forget() -> None:
  """Forgets all clients; the next use makes new ones."""
  global _client, _usual
  with _lock:
    _client, _usual = None, (None, None)
    _clients.clear()
    _single.clear()
    arrays.single_sharding.cache_clear()


def forked() -> bool:
  """Whether this process is a fork of the one that made the client."""
  return _client is not None and os.getpid() != _pid


def devices(backend: str | None = None) -> list[Any]:
  """All devices of a backend.

  >>> import gnomon
  >>> gnomon.devices()[0].platform
  'cpu'
  """
  return list(client_of(backend).devices())


def local_devices(
    process_index: int | None = None, backend: str | None = None,
    host_id: int | None = None) -> list[Any]:
  """The devices that this process can address."""
  del host_id
  found = client_of(backend)
  if process_index is None:
    return list(found.local_devices())
  return [d for d in found.devices() if d.process_index == process_index]


def device_count(backend: str | None = None) -> int:
  """The number of devices."""
  return int(client_of(backend).device_count())


def local_device_count(backend: str | None = None) -> int:
  """The number of devices that this process can address."""
  return int(client_of(backend).local_device_count())


def process_index(backend: str | None = None) -> int:
  """The number of this process among those of the program."""
  return int(client_of(backend).process_index())


def process_count(backend: str | None = None) -> int:
  """How many processes run the program."""
  return len({d.process_index for d in client_of(backend).devices()})


def process_indices(backend: str | None = None) -> list[int]:
  """The numbers of all processes of the program."""
  return list(range(process_count(backend)))


def default_backend() -> str:
  """The name of the platform used by default."""
  return str(client().platform)


def default_device() -> Any:
  """Where arrays and results go that are not placed explicitly."""
  global _usual
  chosen = _config.current().default_device
  if chosen is None:
    found, device = _usual
    if found is not _client or found is None:
      device = client().local_devices()[0]
      _usual = _client, device
    return device
  if isinstance(chosen, str):
    return devices(chosen)[0]
  return chosen


_single: dict[Any, Any] = {}


def sharding_of(device: Any) -> Any:
  """The sharding that puts a whole array on one device."""
  found = _single.get(device)
  if found is None:
    found = _single[device] = arrays.single_sharding(device)
  return found
