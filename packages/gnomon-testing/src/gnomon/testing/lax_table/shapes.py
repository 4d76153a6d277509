"""Ops that move, repeat and convert elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core.derive import add_any_p
from gnomon.core.structural import copy_p
from gnomon.testing.op_table import ErrorCase, Operand, OpRecord, Sample, op_table

_DTYPES = ("float32", "float64", "bfloat16", "complex64", "int32", "bool")


def _samples(shape: tuple[int, ...], *params: dict[str, Any]) -> tuple[Sample, ...]:
  return tuple(
      Sample((Operand(shape),), p, "_".join(str(v).replace(" ", "") for v in p.values()))
      for p in params)


def _broadcast_in_dim(x: Any, *, shape: Any, broadcast_dimensions: Any) -> Any:
  expanded = [1] * len(shape)
  for size, dim in zip(x.shape, broadcast_dimensions, strict=True):
    expanded[dim] = size
  return np.broadcast_to(x.reshape(expanded), shape)


def _reference_slice(x: Any, *, start_indices: Any, limit_indices: Any,
                     strides: Any = None) -> Any:
  steps = strides or [1] * x.ndim
  return x[tuple(map(slice, start_indices, limit_indices, steps))]


def _reference_pad(x: Any, value: Any, *, padding_config: Any) -> Any:
  for axis, (low, high, interior) in enumerate(padding_config):
    x = np.moveaxis(x, axis, 0)
    spread = np.full((max((len(x) - 1) * (interior + 1) + 1, 0), *x.shape[1:]), value)
    spread[::interior + 1] = x
    padded = np.full((max(low, 0) + len(spread) + max(high, 0), *x.shape[1:]), value)
    padded[max(low, 0):max(low, 0) + len(spread)] = spread
    padded = padded[max(-low, 0):len(padded) - max(-high, 0)]
    x = np.moveaxis(padded, 0, axis)
  return x


op_table.add(
    OpRecord(
        "broadcast_in_dim", lax.broadcast_in_dim, _broadcast_in_dim,
        _samples((2, 3), {"shape": (4, 2, 3), "broadcast_dimensions": (1, 2)},
                 {"shape": (2, 5, 3), "broadcast_dimensions": (0, 2)})
        + _samples((1, 3), {"shape": (2, 3), "broadcast_dimensions": (0, 1)})
        + _samples((), {"shape": (2,), "broadcast_dimensions": ()}), _DTYPES,
        errors=(
            ErrorCase(lambda: (np.ones(3, "float32"), (2, 4), (1,)),
                      (TypeError, ValueError), "broadcast_in_dim|shape"),)),
    OpRecord(
        "reshape", lax.reshape, lambda x, *, new_sizes: x.reshape(new_sizes),
        _samples((2, 3, 4), {"new_sizes": (6, 4)}, {"new_sizes": (24,)},
                 {"new_sizes": (4, 1, 3, 2)}), _DTYPES,
        errors=(ErrorCase(lambda: (np.ones(6, "float32"), (4,)), TypeError,
                          "reshape|size"),)),
    OpRecord(
        "transpose", lax.transpose, lambda x, *, permutation: x.transpose(permutation),
        _samples((2, 3, 4), {"permutation": (2, 0, 1)}, {"permutation": (0, 2, 1)}),
        _DTYPES,
        errors=(ErrorCase(lambda: (np.ones((2, 3), "float32"), (0, 0)), TypeError,
                          "permutation|transpose"),)),
    OpRecord(
        "squeeze", lax.squeeze, lambda x, *, dimensions: x.squeeze(dimensions),
        _samples((1, 3, 1), {"dimensions": (0,)}, {"dimensions": (0, 2)}), _DTYPES),
    OpRecord(
        "expand_dims", lax.expand_dims,
        lambda x, *, dimensions: np.expand_dims(x, dimensions),
        _samples((2, 3), {"dimensions": (0,)}, {"dimensions": (1, 3)}), _DTYPES,
        primitives=("broadcast_in_dim",)),
    OpRecord(
        "rev", lax.rev, lambda x, *, dimensions: np.flip(x, dimensions),
        _samples((2, 3), {"dimensions": (0,)}, {"dimensions": (0, 1)}), _DTYPES),
    OpRecord(
        "slice", lax.slice, _reference_slice,
        _samples((5, 6), {"start_indices": (1, 0), "limit_indices": (4, 6)},
                 {"start_indices": (0, 1), "limit_indices": (5, 6),
                  "strides": (2, 3)}), _DTYPES,
        errors=(ErrorCase(lambda: (np.ones(3, "float32"), (1,), (5,)), TypeError,
                          "limit_indices|slice"),)),
    OpRecord(
        "pad", lax.pad, _reference_pad,
        tuple(Sample((Operand((2, 3)), Operand(())), {"padding_config": config}, name)
              for name, config in {
                  "edges": ((1, 2, 0), (0, 1, 0)), "interior": ((0, 0, 2), (1, 0, 1)),
                  "negative": ((-1, 1, 0), (1, -2, 1))}.items()),
        ("float32", "float64", "bfloat16", "complex64", "int32")),
    OpRecord(
        "concatenate", lambda *xs, dimension: lax.concatenate(xs, dimension),
        lambda *xs, dimension: np.concatenate(xs, dimension),
        (Sample((Operand((2, 3)), Operand((4, 3))), {"dimension": 0}),
         Sample((Operand((2, 1)), Operand((2, 3)), Operand((2, 2))), {"dimension": 1})),
        _DTYPES),
    OpRecord(
        "split", lambda x, *, sizes, axis: lax.split(x, sizes, axis),
        lambda x, *, sizes, axis: list(np.split(x, np.cumsum(sizes)[:-1], axis)),
        _samples((6, 2), {"sizes": (1, 2, 3), "axis": 0}), _DTYPES),
    OpRecord(
        "tile", lax.tile, lambda x, *, reps: np.tile(x, reps),
        _samples((2, 3), {"reps": (2, 1)}, {"reps": (1, 3)}), _DTYPES),
    OpRecord(
        "copy", lambda x: copy_p.apply(x)[0], np.copy, _samples((2, 3), {}), _DTYPES),
    OpRecord(
        "optimization_barrier", lax.optimization_barrier, np.copy,
        _samples((2, 3), {}), _DTYPES),
    OpRecord(
        "add_any", lambda x, y: add_any_p.apply(x, y)[0], np.add,
        (Sample((Operand((2, 3)), Operand((2, 3)))),), ("float32", "complex64")),
)

for source, target in (
    ("float32", "float64"), ("float64", "float32"), ("float32", "int32"),
    ("int32", "float32"), ("float32", "bfloat16"), ("float32", "complex64"),
    ("bool", "float32"), ("float32", "bool")):
  op_table.add(OpRecord(
      f"convert_{source}_to_{target}", lax.convert_element_type,
      # Values are converted from the operand's own precision.
      lambda x, *, new_dtype: x.astype("float64" if "float" in new_dtype else new_dtype),
      (Sample((Operand((2, 3), dtype=source),), {"new_dtype": target}, "2_3"),),
      # float64 needs 64 bits switched on, as a case of that dtype has it
      ("float64" if "float64" in (source, target) else source,),
      primitives=("convert_element_type",), result_dtype=target,
      order=2 if target in ("float64", "complex64") or source == "float64" else 0,
      tolerance={"float64": 1e-7, "float32": 1e-2, "int32": 0.0, "bool": 0.0},
      grad_tolerance={"float64": 1e-2, "float32": 1e-2}))

op_table.structured("packages/gnomon-lax/tests/test_shape.py", "empty", "empty2", "iota")
op_table.structured("packages/gnomon-lax/tests/test_stack.py", "stack", "unstack")
