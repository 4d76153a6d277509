"""Clients of the runtime and the devices that they hold."""

from __future__ import annotations

import os
import warnings
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

_made_by: dict[Any, int] = {}  # the process that made each client


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
  if not _made_by and hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(before=_warn_of_fork)
  _made_by[client] = os.getpid()
  return client


def devices(client: Any) -> list[Any]:
  """All devices of a client, also those of other processes, sorted by number."""
  found: list[Any] = client.devices()
  return found


def _warn_of_fork() -> None:
  if os.getpid() in _made_by.values():
    warnings.warn(
        "this process forks after gnomon has started its threads, which the child will"
        " not have, so that it cannot compile. Use 'spawn' or 'forkserver' for processes"
        " that compute", RuntimeWarning, stacklevel=3)


def refuse_after_fork(client: Any) -> None:
  """Raises `RuntimeError` if the client is a parent's: compiling would wait for ever."""
  if _made_by.get(client, os.getpid()) != os.getpid():
    raise RuntimeError(
        "this process was forked after gnomon had started its runtime, whose threads are"
        " not in the child, so it cannot compile. Start processes with the 'spawn' or"
        " 'forkserver' method, or fork before the first use of gnomon's devices")
