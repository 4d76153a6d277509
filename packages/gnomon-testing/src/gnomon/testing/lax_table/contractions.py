"""Products of matrices, Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon import lax
from gnomon.testing.op_table import (
    COMPLEX,
    FLOATS,
    REALS,
    ErrorCase,
    Operand,
    OpRecord,
    Sample,
    op_table,
)

_SLACK = {"float32": 2e-5, "float64": 1e-13, "float16": 2e-2, "bfloat16": 1e-1,
          "complex64": 2e-5, "complex128": 1e-13}


def _dot(lhs: Any, rhs: Any, *, dimension_numbers: Any) -> Any:
  """`dot_general` through einsum: letters for axes, in the order of its result."""
  (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = dimension_numbers
  letters = iter("abcdefghijklmnopqrstuvwxyz")
  left = [next(letters) for _ in range(lhs.ndim)]
  right = [next(letters) for _ in range(rhs.ndim)]
  for i, j in zip((*lhs_contract, *lhs_batch), (*rhs_contract, *rhs_batch), strict=True):
    right[j] = left[i]
  out = [left[i] for i in lhs_batch]
  out += [c for i, c in enumerate(left) if i not in (*lhs_contract, *lhs_batch)]
  out += [c for j, c in enumerate(right) if j not in (*rhs_contract, *rhs_batch)]
  return np.einsum(f"{''.join(left)},{''.join(right)}->{''.join(out)}", lhs, rhs)


def _dot_sample(label: str, lhs: Any, rhs: Any, contract: Any, batch: Any) -> Sample:
  return Sample((Operand(lhs, -1, 1), Operand(rhs, -1, 1)),
                {"dimension_numbers": (contract, batch)}, label)


op_table.add(OpRecord(
    "dot_general", lax.dot_general, _dot, (
        _dot_sample("vectors", (3,), (3,), ((0,), (0,)), ((), ())),
        _dot_sample("matrices", (2, 3), (3, 4), ((1,), (0,)), ((), ())),
        _dot_sample("batch", (2, 3, 4), (2, 4, 5), ((2,), (1,)), ((0,), (0,))),
        _dot_sample("mixed", (3, 2, 4, 5), (5, 2, 6, 3), ((3, 0), (0, 3)),
                    ((1,), (1,))),
        _dot_sample("outer", (2,), (3,), ((), ()), ((), ())),
    ), FLOATS + COMPLEX, tolerance=_SLACK,
    errors=(ErrorCase(
        lambda: (np.ones((2, 3), "float32"), np.ones((4, 5), "float32"),
                 (((1,), (0,)), ((), ()))), TypeError, "contract"),)))

op_table.add(
    OpRecord(
        "fft", lambda x, *, lengths: lax.fft(x, "fft", lengths),
        lambda x, *, lengths: np.fft.fftn(x, axes=range(x.ndim - len(lengths), x.ndim)),
        (Sample((Operand((3, 4)),), {"lengths": (4,)}, "one"),
         Sample((Operand((3, 4)),), {"lengths": (3, 4)}, "two")), COMPLEX,
        tolerance=_SLACK),
    OpRecord(
        "rfft", lambda x: lax.fft(x, "rfft", (x.shape[-1],)), np.fft.rfft,
        (Sample((Operand((2, 6)),)), Sample((Operand((2, 5)),))), REALS,
        primitives=("fft",), result_dtype="any", tolerance=_SLACK),
)
