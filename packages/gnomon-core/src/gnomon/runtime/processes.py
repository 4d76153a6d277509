"""The processes that run this program together, if there are several."""

from __future__ import annotations

from typing import Any

from gnomon import _config


class State:
  """What this process knows of the others; `client` is None where there are none."""

  __slots__ = (
      "client", "coordinator_address", "num_processes", "partition_index",
      "preemption_sync_manager", "process_id", "service")

  def __init__(self) -> None:
    self.clear()

  def clear(self) -> None:
    """As in the beginning: one process."""
    self.client: Any = None
    self.service: Any = None
    self.preemption_sync_manager: Any = None
    self.process_id, self.num_processes = 0, 1
    self.coordinator_address: str | None = None
    self.partition_index: int | None = None


global_state = State()


def cpu_options() -> dict[str, Any]:
  """What a client for processors needs in order to see those of other processes."""
  state = global_state
  if state.client is None:
    return {}
  how = _config.config.read("jax_cpu_collectives_implementation")
  options = {
      "distributed_client": state.client, "node_id": state.process_id,
      "num_nodes": state.num_processes}
  if how == "none" or state.num_processes == 1:
    return options
  if how not in (None, "gloo"):
    raise ValueError(
        f"jax_cpu_collectives_implementation is {how!r}; processors of several processes "
        "exchange values by 'gloo', or not at all ('none')")
  from gnomon.runtime.jaxlib import processes  # one process does without

  return {**options, "collectives": processes.gloo_collectives(state.client)}
