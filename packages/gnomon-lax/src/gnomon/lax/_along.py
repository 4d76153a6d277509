"""Taking elements along one axis by index."""

from __future__ import annotations

from typing import Any

from gnomon.core.structural import reshape
from gnomon.core.types import typeof
from gnomon.lax._gather import gather
from gnomon.lax._indexing import GatherDimensionNumbers, GatherScatterMode


def take_along(x: Any, indices: Any, axis: int, *, unique: bool) -> Any:
  """The elements `x[..., indices[..., i, ...], ...]`, all dimensions but one in step.

  Indices are in bounds. `unique` says that none occurs twice.
  """
  shape = typeof(indices).shape
  others = tuple(d for d in range(len(shape)) if d != axis)
  numbers = GatherDimensionNumbers(
      offset_dims=(), collapsed_slice_dims=(axis,), start_index_map=(axis,),
      operand_batching_dims=others, start_indices_batching_dims=others)
  return gather(
      x, reshape(indices, (*shape, 1)), numbers, (1,) * len(shape), unique_indices=unique,
      mode=GatherScatterMode.PROMISE_IN_BOUNDS)
