"""One device's part of an array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Shard:
  """The part of an array that is on one device.

  Attributes:
    device: the device that holds it.
    index: which part it is: a slice for each dimension of the whole array.
    replica_id: counts the devices that hold the same part, from 0.
    data: the part as an array on that device; `None` on a device of another process.
  """

  device: Any
  index: tuple[slice, ...]
  replica_id: int
  data: Any

  def __repr__(self) -> str:
    return (
        f"Shard(device={self.device!r}, index={self.index}, replica_id="
        f"{self.replica_id}, data={self.data})")
