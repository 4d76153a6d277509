"""Shardings of the compiler, and their serialised forms."""

from __future__ import annotations

from typing import Any

from gnomon.runtime.jaxlib.arrays import GSPMDSharding as GSPMDSharding
from gnomon.runtime.jaxlib.arrays import HloSharding, OpSharding

__all__ = [
    "GSPMDSharding", "get_hlo_sharding_from_serialized_proto",
    "get_op_sharding_from_serialized_proto",
    "get_serialized_proto_from_hlo_sharding"]


def get_op_sharding_from_serialized_proto(sharding: bytes) -> Any:
  """The message that `sharding` is the serialised form of."""
  proto = OpSharding()
  proto.ParseFromString(sharding)
  return proto


def get_hlo_sharding_from_serialized_proto(sharding: bytes) -> Any:
  """The sharding that `sharding` is the serialised form of."""
  return HloSharding.from_proto(get_op_sharding_from_serialized_proto(sharding))


def get_serialized_proto_from_hlo_sharding(sharding: Any) -> bytes:
  """A sharding in its serialised form.

  >>> from gnomon.extend import sharding
  >>> one = sharding.get_hlo_sharding_from_serialized_proto(b'')
  >>> sharding.get_serialized_proto_from_hlo_sharding(one)
  b''
  """
  return sharding.to_proto().SerializeToString()  # type: ignore[no-any-return]
