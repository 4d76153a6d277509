"""Backends and devices. The client is made on first use, not at import."""

from __future__ import annotations

import os
import threading
from typing import Any

from gnomon import _config
from gnomon.runtime.jaxlib import arrays, clients

_lock = threading.Lock()
_client: Any = None
_pid = 0


def client() -> Any:
  """The runtime's client for the processor, made on first use.

  Raises:
    RuntimeError: the process was forked after the client was made: its threads are gone.
  """
  global _client, _pid
  if _client is None:
    with _lock:
      if _client is None:
        _client = _make()
        _pid = os.getpid()
  return _client


def _make() -> Any:
  platforms = _config.config.read("jax_platforms")
  if platforms and "cpu" not in platforms.split(","):
    raise RuntimeError(
        f"no backend for the platforms {platforms!r}: this installation has 'cpu' only; "
        "other platforms come with gnomon-plugins")
  n = _config.config.read("jax_num_cpu_devices")
  return clients.make_cpu_client(
      n if n and n > 0 else None, _config.config.read("jax_cpu_enable_async_dispatch"))


def forked() -> bool:
  """Whether this process is a fork of the one that made the client."""
  return _client is not None and os.getpid() != _pid


def _check(backend: str | None) -> None:
  if backend not in (None, "cpu"):
    raise RuntimeError(
        f"unknown backend {backend!r}: this installation has 'cpu'; other platforms come "
        "with gnomon-plugins")


def devices(backend: str | None = None) -> list[Any]:
  """All devices of a backend.

  >>> import gnomon
  >>> gnomon.devices()[0].platform
  'cpu'
  """
  _check(backend)
  return list(client().devices())


def local_devices(
    process_index: int | None = None, backend: str | None = None,
    host_id: int | None = None) -> list[Any]:
  """The devices that this process can address."""
  _check(backend)
  del host_id
  if process_index is None:
    return list(client().local_devices())
  return [d for d in client().devices() if d.process_index == process_index]


def device_count(backend: str | None = None) -> int:
  """The number of devices."""
  _check(backend)
  return int(client().device_count())


def local_device_count(backend: str | None = None) -> int:
  """The number of devices that this process can address."""
  _check(backend)
  return int(client().local_device_count())


def process_index(backend: str | None = None) -> int:
  """The number of this process among those of the program."""
  _check(backend)
  return int(client().process_index())


def process_count(backend: str | None = None) -> int:
  """How many processes run the program."""
  _check(backend)
  return len({d.process_index for d in client().devices()})


def process_indices(backend: str | None = None) -> list[int]:
  """The numbers of all processes of the program."""
  return list(range(process_count(backend)))


def default_backend() -> str:
  """The name of the platform used by default."""
  return str(client().platform)


def default_device() -> Any:
  """Where arrays and results go that are not placed explicitly."""
  chosen = _config.config.read("jax_default_device")
  if chosen is None:
    return client().local_devices()[0]
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
