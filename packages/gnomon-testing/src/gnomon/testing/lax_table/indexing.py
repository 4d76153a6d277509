"""Slices at computed places, gathers and scatters."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon import lax
from gnomon.testing.op_table import REALS, Operand, OpRecord, Sample, op_table

_DTYPES = (*REALS, "int32")


def _index(low: int, high: int, shape: tuple[int, ...] = ()) -> Operand:
  return Operand(shape, low, high, dtype="int32", differentiable=False)


def _clamped(x: Any, starts: Any, sizes: Any) -> tuple[slice, ...]:
  first = [min(max(int(s), 0), n - size)
           for s, n, size in zip(starts, x.shape, sizes, strict=True)]
  return tuple(slice(a, a + size) for a, size in zip(first, sizes, strict=True))


def _updated(x: Any, update: Any, *starts: Any) -> Any:
  out = np.array(x)
  out[_clamped(x, starts, update.shape)] = update
  return out


op_table.add(
    OpRecord(
        "dynamic_slice",
        lambda x, i, j, *, sizes: lax.dynamic_slice(x, (i, j), sizes),
        lambda x, i, j, *, sizes: x[_clamped(x, (i, j), sizes)],
        (Sample((Operand((5, 4)), _index(0, 2), _index(0, 2)), {"sizes": (3, 2)}, "in"),
         Sample((Operand((5, 4)), _index(4, 9), _index(0, 2)), {"sizes": (3, 2)},
                "clamped")), _DTYPES),
    OpRecord(
        "dynamic_update_slice",
        lambda x, update, i, j: lax.dynamic_update_slice(x, update, (i, j)), _updated,
        (Sample((Operand((5, 4)), Operand((2, 3)), _index(0, 3), _index(0, 1)),
                label="in"),
         Sample((Operand((5, 4)), Operand((2, 3)), _index(6, 9), _index(3, 4)),
                label="clamped")), _DTYPES),
)


def _take(x: Any, rows: Any) -> Any:
  """Whole rows."""
  return lax.gather(
      x, lax.reshape(rows, (rows.shape[0], 1)),
      lax.GatherDimensionNumbers(
          offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,)),
      slice_sizes=(1, x.shape[1]))


_ROWS = lax.ScatterDimensionNumbers(
    update_window_dims=(1,), inserted_window_dims=(0,),
    scatter_dims_to_operand_dims=(0,))


def _scatter(op: Any, **options: Any) -> Any:
  def rows(x: Any, indices: Any, updates: Any) -> Any:
    return op(x, lax.reshape(indices, (indices.shape[0], 1)), updates, _ROWS, **options)
  return rows


def _at(ufunc: Any) -> Any:
  def rows(x: Any, indices: Any, updates: Any) -> Any:
    out = np.array(x)
    ufunc.at(out, indices, updates)
    return out
  return rows


def _replaced(x: Any, indices: Any, updates: Any) -> Any:
  out = np.array(x)
  out[indices] = updates
  return out


def _unique_rows(rng: Any, shape: Any, dtype: Any) -> Any:
  return rng.permutation(5)[:shape[0]].astype(dtype)


_REPEATED = (Operand((5, 2), distinct=True), _index(0, 4, (3,)),
             Operand((3, 2), 0.5, 3, distinct=True))
_UNIQUE = (Operand((5, 2)),
           Operand((3,), dtype="int32", values=_unique_rows, differentiable=False),
           Operand((3, 2)))

op_table.add(
    OpRecord("gather", _take, lambda x, rows: x[rows],
             (Sample((Operand((5, 2)), _index(0, 4, (3,)))),), _DTYPES),
    OpRecord("scatter", _scatter(lax.scatter), _replaced,
             (Sample(_UNIQUE, label="rows"),), _DTYPES),
    OpRecord("scatter_add", _scatter(lax.scatter_add), _at(np.add),
             (Sample(_REPEATED, label="rows"),), _DTYPES, primitives=("scatter-add",),
             tolerance={"float32": 1e-5}),
    OpRecord("scatter_sub", _scatter(lax.scatter_sub), _at(np.subtract),
             (Sample(_REPEATED, label="rows"),), _DTYPES, primitives=("scatter-sub",),
             tolerance={"float32": 1e-5}),
    OpRecord("scatter_mul", _scatter(lax.scatter_mul, unique_indices=True),
             _at(np.multiply),
             (Sample(_UNIQUE, label="rows"),), REALS, primitives=("scatter-mul",),
             tolerance={"float32": 1e-5}),
    OpRecord("scatter_min", _scatter(lax.scatter_min), _at(np.minimum),
             (Sample(_REPEATED, label="rows"),), REALS,
             primitives=("scatter-min",), order=0),
    OpRecord("scatter_max", _scatter(lax.scatter_max), _at(np.maximum),
             (Sample(_REPEATED, label="rows"),), REALS,
             primitives=("scatter-max",), order=0),
)
