"""Several processes that run one program: the service that joins them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxlib import xla_client

from gnomon.runtime.jaxlib.native import _jax

PreemptionSyncManager: Any = _jax.PreemptionSyncManager
create_preemption_sync_manager: Any = _jax.create_preemption_sync_manager


def start_service(
    address: str, num_processes: int, *, heartbeat_timeout: int,
    shutdown_timeout: int) -> Any:
  """The service by which processes find each other; one of them runs it."""
  return _jax.get_distributed_runtime_service(
      address, num_processes, heartbeat_timeout=heartbeat_timeout,
      shutdown_timeout=shutdown_timeout)


def connect(
    address: str, process_id: int, *, init_timeout: int, heartbeat_timeout: int,
    shutdown_timeout: int, missed_heartbeat: Callable[..., None] | None = None) -> Any:
  """A client of the service; returns when all processes have one."""
  options = {} if missed_heartbeat is None else {
      "missed_heartbeat_callback": missed_heartbeat}
  client = _jax.get_distributed_runtime_client(
      address, process_id, init_timeout=init_timeout,
      heartbeat_timeout=heartbeat_timeout, shutdown_timeout=shutdown_timeout,
      use_compression=True, **options)
  client.connect()
  return client


def gloo_collectives(client: Any) -> Any:
  """What lets processors of several processes exchange values."""
  return xla_client._xla.make_gloo_tcp_collectives(distributed_client=client)
