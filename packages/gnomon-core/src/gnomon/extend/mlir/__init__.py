"""MLIR, and StableHLO in its portable form."""

from __future__ import annotations

import importlib
from typing import Any

from gnomon.runtime.jaxlib.dialects import (
  deserialize_portable_artifact as deserialize_portable_artifact,
)
from gnomon.runtime.jaxlib.dialects import hlo_to_stablehlo as hlo_to_stablehlo
from gnomon.runtime.jaxlib.dialects import (
  refine_polymorphic_shapes as refine_polymorphic_shapes,
)
from gnomon.runtime.jaxlib.dialects import (
  serialize_portable_artifact as serialize_portable_artifact,
)

__all__ = [
    "deserialize_portable_artifact", "hlo_to_stablehlo", "lower_with_sharding_in_types",
    "refine_polymorphic_shapes", "serialize_portable_artifact"]


def lower_with_sharding_in_types(ctx: Any, op: Any, aval: Any) -> Any:
  """A result with the sharding of its type, where that has one.

  Args:
    ctx: the context of the lowering rule.
    op: the value.
    aval: its type.
  """
  del ctx
  if getattr(aval, "sharding", None) is not None:
    raise NotImplementedError(
        f"the type {aval} has a sharding over a mesh, which this installation cannot "
        "lower")
  return op


def __getattr__(name: str) -> Any:
  if name in ("dialects", "ir", "passmanager"):
    return importlib.import_module(f"gnomon.extend.mlir.{name}")
  raise AttributeError(f"module 'gnomon.extend.mlir' has no attribute {name!r}")
