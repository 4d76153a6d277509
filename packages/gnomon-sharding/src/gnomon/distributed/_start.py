"""Joining the processes of a program, and leaving them."""

from __future__ import annotations

import atexit
import os
from collections.abc import Sequence

from gnomon import _config
from gnomon.distributed import _clusters
from gnomon.runtime import backends
from gnomon.runtime.jaxlib import processes
from gnomon.runtime.processes import global_state as state


def initialize(
    coordinator_address: str | None = None, num_processes: int | None = None,
    process_id: int | None = None, local_device_ids: int | Sequence[int] | None = None,
    cluster_detection_method: str | None = None, initialization_timeout: int = 300,
    heartbeat_timeout_seconds: int = 100, shutdown_timeout_seconds: int = 300,
    coordinator_bind_address: str | None = None, slice_index: int | None = None,
    partition_index: int | None = None,
) -> None:
  """Joins the processes of a program; each calls this once, before it uses a device.

  From then on `gnomon.devices()` are the devices of all processes, and each of these
  runs the same computations in the same order.

  Args:
    coordinator_address: `"host:port"` of the process with number 0, which runs the
      service. By default the variable JAX_COORDINATOR_ADDRESS, or what the environment
      of a Slurm or Open MPI job tells.
    num_processes: how many there are. By default JAX_NUM_PROCESSES, or likewise.
    process_id: the number of this one. By default JAX_PROCESS_ID, or likewise.
    local_device_ids: which of the machine's accelerators are this process's.
    cluster_detection_method: `"slurm"`, `"ompi"`, or `"deactivate"`; None tries them.
    initialization_timeout: how many seconds to wait for the others.
    heartbeat_timeout_seconds: after how many silent seconds a process counts as gone.
    shutdown_timeout_seconds: how many seconds to wait for the others in the end.
    coordinator_bind_address: where the service listens; by default on all addresses.
    slice_index: an older name of `partition_index`.
    partition_index: which part of the machine this process belongs to.

  >>> import socket, subprocess, sys
  >>> with socket.socket() as s:
  ...   s.bind(("127.0.0.1", 0))
  ...   address = f"127.0.0.1:{s.getsockname()[1]}"
  >>> program = '''
  ... import sys, gnomon
  ... gnomon.distributed.initialize(sys.argv[1], 2, int(sys.argv[2]))
  ... print(gnomon.process_index(), gnomon.device_count())
  ... '''
  >>> both = [
  ...   subprocess.Popen([sys.executable, "-c", program, address, str(i)],
  ...                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
  ...   for i in range(2)]
  >>> [p.communicate()[0].splitlines()[-1] for p in both]
  ['0 2', '1 2']

  Raises:
    ValueError: the address, the number of processes or that of this one is not known.
    RuntimeError: it was called before, or a device has been used.
  """
  if backends.has_client():
    raise RuntimeError(
        "distributed.initialize must be called before anything that uses a device: any "
        "computation, gnomon.devices, gnomon.device_put, and the like")
  if is_initialized():
    raise RuntimeError("distributed.initialize should only be called once.")
  address = coordinator_address or os.environ.get("JAX_COORDINATOR_ADDRESS")
  count = _number(num_processes, "JAX_NUM_PROCESSES")
  process = _number(process_id, "JAX_PROCESS_ID")
  if None in (address, count, process) and cluster_detection_method != "deactivate":
    found = _clusters.find(cluster_detection_method)
    if found is not None:
      address = address or found.address
      count = found.total if count is None else count
      process = found.process if process is None else process
  if address is None:
    raise ValueError(
        "coordinator_address should be defined: the 'host:port' of process 0")
  if count is None:
    raise ValueError("Number of processes must be defined, by num_processes.")
  if process is None:
    raise ValueError(
        "The process id of the current process must be defined, by process_id.")
  if not 0 <= process < count:
    raise ValueError(f"process_id is {process}, but there are {count} processes")
  _choose_devices(local_device_ids)
  if process == 0:
    bind = coordinator_bind_address or f"[::]:{address.rsplit(':', 1)[1]}"
    state.service = processes.start_service(
        bind, count, heartbeat_timeout=heartbeat_timeout_seconds,
        shutdown_timeout=shutdown_timeout_seconds)
  client = processes.connect(
      address, process, init_timeout=initialization_timeout,
      heartbeat_timeout=heartbeat_timeout_seconds,
      shutdown_timeout=shutdown_timeout_seconds)
  state.client, state.coordinator_address = client, address
  state.num_processes, state.process_id = count, process
  state.partition_index = slice_index if partition_index is None else partition_index
  if _config.config.read("jax_enable_preemption_service"):
    manager = processes.create_preemption_sync_manager()
    manager.initialize(client)
    state.preemption_sync_manager = manager
  atexit.register(shutdown)


def _number(given: int | None, variable: str) -> int | None:
  if given is None and variable in os.environ:
    return int(os.environ[variable])
  return given


def _choose_devices(ids: int | Sequence[int] | None) -> None:
  if ids is None:
    return
  text = ",".join(map(str, [ids] if isinstance(ids, int) else ids))
  for name in ("jax_cuda_visible_devices", "jax_rocm_visible_devices"):
    _config.config.update(name, text)


def is_initialized() -> bool:
  """Whether this process has joined others.

  >>> import gnomon
  >>> gnomon.distributed.is_initialized()
  False
  """
  return state.client is not None


def shutdown() -> None:
  """Leaves the other processes, once all have come to this point; else does nothing.

  >>> import gnomon
  >>> gnomon.distributed.shutdown()
  """
  if state.client is None:
    return
  atexit.unregister(shutdown)
  client, service = state.client, state.service
  state.clear()
  client.shutdown()
  if service is not None:
    service.shutdown()
