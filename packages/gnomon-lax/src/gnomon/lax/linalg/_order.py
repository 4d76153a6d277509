"""Rows and columns of matrices in another order."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core.structural import full, reshape
from gnomon.core.types import typeof
from gnomon.lax._creation import broadcasted_iota
from gnomon.lax._gather import gather
from gnomon.lax._indexing import (
  GatherDimensionNumbers,
  GatherScatterMode,
  ScatterDimensionNumbers,
)
from gnomon.lax._scatter import scatter

_INT32 = np.dtype(np.int32)


def take_rows(x: Any, order: Any) -> Any:
  """Row i of each result is row `order[i]` of a matrix; `order` is a permutation."""
  shape = typeof(x).shape
  if 0 in shape:
    return x
  n = len(shape) - 2
  batch = tuple(range(n))
  numbers = GatherDimensionNumbers(
      offset_dims=(n + 1,), collapsed_slice_dims=(n,), start_index_map=(n,),
      operand_batching_dims=batch, start_indices_batching_dims=batch)
  return gather(
      x, _places(order), numbers, (*(1,) * (n + 1), shape[-1]), unique_indices=True,
      mode=GatherScatterMode.PROMISE_IN_BOUNDS)


def take_columns(x: Any, order: Any) -> Any:
  """The same for columns: column j of each result is column `order[j]`."""
  shape = typeof(x).shape
  if 0 in shape:
    return x
  n = len(shape) - 2
  batch = tuple(range(n))
  numbers = GatherDimensionNumbers(
      offset_dims=(n,), collapsed_slice_dims=(n + 1,), start_index_map=(n + 1,),
      operand_batching_dims=batch, start_indices_batching_dims=batch)
  return gather(
      x, _places(order), numbers, (*(1,) * n, shape[-2], 1), unique_indices=True,
      mode=GatherScatterMode.PROMISE_IN_BOUNDS)


def inverse_order(order: Any) -> Any:
  """The permutation that undoes another."""
  shape = typeof(order).shape
  if 0 in shape:
    return order
  n = len(shape) - 1
  batch = tuple(range(n))
  numbers = ScatterDimensionNumbers(
      update_window_dims=(), inserted_window_dims=(n,), scatter_dims_to_operand_dims=(n,),
      operand_batching_dims=batch, scatter_indices_batching_dims=batch)
  return scatter(
      full(shape, 0, _INT32), _places(order), broadcasted_iota(_INT32, shape, n), numbers,
      unique_indices=True, mode=GatherScatterMode.PROMISE_IN_BOUNDS)


def _places(order: Any) -> Any:
  return reshape(order, (*typeof(order).shape, 1))
