"""The runtime's guards: what transfers, and arrays in reference cycles, lead to."""

from __future__ import annotations

from typing import Any

from jaxlib import _jax

from gnomon.runtime.jaxlib.cells import unset

_lib = _jax.guard_lib


class Guard:
  """A guard of the runtime as a cell: a level for the process, another for a thread.

  A level is the name of a member of `levels` in lower case, or None for the default.
  """

  __slots__ = ("levels", "name")

  def __init__(self, name: str, levels: Any) -> None:
    self.name, self.levels = name, levels

  def set_global(self, level: str | None) -> None:
    """Sets the level for all threads that have none of their own."""
    setattr(_lib.global_state(), self.name, self._level(level))

  def set_local(self, level: Any) -> None:
    """Sets the level of this thread; `unset` takes it away."""
    value = None if level is unset else self._level(level)
    setattr(_lib.thread_local_state(), self.name, value)

  def _level(self, level: str | None) -> Any:
    return None if level is None else getattr(self.levels, level.upper())


class Explicit:
  """Makes the transfers of a `with` block count as asked for, in this thread.

  Blocks do not nest: nothing that runs in one asks for a transfer itself.
  """

  __slots__ = ("_name",)

  def __init__(self, name: str) -> None:
    self._name = name

  def __enter__(self) -> None:
    setattr(_lib.thread_local_state(), self._name, True)

  def __exit__(self, *_: object) -> None:
    setattr(_lib.thread_local_state(), self._name, False)


explicit_put = Explicit("explicit_device_put")
explicit_get = Explicit("explicit_device_get")

TRANSFERS = {
    name: Guard(name, _lib.TransferGuardLevel)
    for name in ("host_to_device", "device_to_device", "device_to_host")}
garbage_collection = Guard("garbage_collect_array", _lib.GarbageCollectionGuardLevel)
