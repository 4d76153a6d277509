"""Clients of the runtime and the devices that they hold."""

from __future__ import annotations

from typing import Any

from jaxlib import xla_client

from gnomon.runtime.jaxlib import _load
from gnomon.runtime.jaxlib import arrays as arrays  # the factory of abstract values
from gnomon.runtime.jaxlib.native import _jax

Client: Any = _jax.Client
Device: Any = _jax.Device
Memory: Any = _jax.Memory
DeviceList: Any = _jax.DeviceList
"""A tuple of devices that the runtime knows; hashes and compares by content."""


def make_cpu_client(
    num_devices: int | None = None, asynchronous: bool = True, **distributed: Any,
) -> Any:
  """A client for the processor.

  `num_devices` virtual devices are made (`None`: what `XLA_FLAGS` says, else one). An
  `asynchronous` client hands larger programs to a thread; a synchronous one runs all on
  the caller's, which is faster for small ones. `distributed` is for several processes.
  """
  client: Any = xla_client.make_cpu_client(
      asynchronous=asynchronous, num_devices=num_devices, **distributed)
  _load.pin_aval_factory(client.local_devices()[0])
  return client


def devices(client: Any) -> list[Any]:
  """All devices of a client, also those of other processes, sorted by number."""
  found: list[Any] = client.devices()
  return found
