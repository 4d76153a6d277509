"""Reductions, cumulative ops, windows and sorting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from gnomon import lax
from gnomon.testing.op_table import (
    BOOL,
    COMPLEX,
    FLOATS,
    REALS,
    Operand,
    OpRecord,
    Sample,
    op_table,
)

Op = Callable[..., Any]
_SLACK = {"float32": 1e-5, "float64": 1e-13, "float16": 1e-2, "bfloat16": 5e-2,
          "complex64": 1e-5}


def _reduction(
    name: str, op: Op, reference: Op, dtypes: tuple[str, ...], *,
    low: float = -2.0, distinct: bool = False, **fields: Any) -> None:
  samples = tuple(
      Sample((Operand(shape, low, distinct=distinct),), {"axes": axes},
             f"{len(shape)}d_axes{''.join(map(str, axes)) or 'none'}")
      for shape, axes in (((4,), (0,)), ((2, 3, 4), (1,)), ((2, 3, 4), (0, 2)),
                          ((2, 3), ())))
  op_table.add(OpRecord(
      name, op, lambda x, *, axes: reference(x, axis=axes), samples, dtypes,
      tolerance=_SLACK, **fields))


_reduction("reduce_sum", lax.reduce_sum, np.sum, FLOATS + COMPLEX + ("int32",))
_reduction("reduce_prod", lax.reduce_prod, np.prod, (*REALS, "int32"), low=0.5)
_reduction("reduce_max", lax.reduce_max, np.max, (*REALS, "int32"), distinct=True)
_reduction("reduce_min", lax.reduce_min, np.min, (*REALS, "int32"), distinct=True)
_reduction("reduce_and", lax.reduce_and, np.bitwise_and.reduce, BOOL, order=0)
_reduction("reduce_or", lax.reduce_or, np.bitwise_or.reduce, BOOL, order=0)
_reduction("reduce_xor", lax.reduce_xor, np.bitwise_xor.reduce, BOOL, order=0)


def _index_samples() -> tuple[Sample, ...]:
  return tuple(
      Sample((Operand((3, 4), distinct=True),),
             {"axis": axis, "index_dtype": np.dtype("int32")}, f"axis{axis}")
      for axis in (0, 1))


for name, op, reference in (
    ("argmax", lax.argmax, np.argmax), ("argmin", lax.argmin, np.argmin)):
  op_table.add(OpRecord(
      name, op,
      lambda x, *, axis, index_dtype, reference=reference: reference(x, axis),
      _index_samples(), (*REALS, "int32"), order=0, result_dtype="int32"))


def _cumulative(name: str, op: Op, reference: Op, **fields: Any) -> None:
  def flipped(x: Any, *, axis: int, reverse: bool) -> Any:
    if reverse:
      return np.flip(reference(np.flip(x, axis), axis=axis), axis)
    return reference(x, axis=axis)

  samples = tuple(
      Sample((Operand((4, 3), 0.5, 2, distinct=True),),
             {"axis": axis, "reverse": reverse}, f"axis{axis}_{reverse}")
      for axis in (0, 1) for reverse in (False, True))
  op_table.add(OpRecord(name, op, flipped, samples, tolerance=_SLACK, **fields))


def _log_cumulative_sum(x: Any, *, axis: int) -> Any:
  moved = np.moveaxis(x, axis, 0)
  parts = [scipy.special.logsumexp(moved[:i + 1], axis=0) for i in range(len(moved))]
  return np.moveaxis(np.stack(parts), 0, axis)


_cumulative("cumsum", lax.cumsum, np.cumsum, dtypes=(*REALS, *COMPLEX, "int32"))
_cumulative("cumprod", lax.cumprod, np.cumprod, dtypes=REALS)
_cumulative("cummax", lax.cummax, np.maximum.accumulate, dtypes=REALS)
_cumulative("cummin", lax.cummin, np.minimum.accumulate, dtypes=REALS)
_cumulative("cumlogsumexp", lax.cumlogsumexp, _log_cumulative_sum, dtypes=REALS)

op_table.add(
    OpRecord(
        "sort", lax.sort, lambda x, *, dimension: np.sort(x, dimension),
        tuple(Sample((Operand((3, 5), distinct=True),), {"dimension": d}, f"axis{d}")
              for d in (0, 1)), (*REALS, "bfloat16", "int32")),
    OpRecord(
        "top_k", lambda x, *, k: lax.top_k(x, k)[0],
        lambda x, *, k: -np.sort(-x, -1)[..., :k],
        (Sample((Operand((3, 5), distinct=True),), {"k": 2}, "k2"),),
        (*REALS, "int32")),
)

op_table.structured("packages/gnomon-lax/tests/test_reduction.py", "reduce")
op_table.structured("packages/gnomon-lax/tests/test_cumulative.py", "linear_recurrence")
