"""Operations over windows: convolutions, reductions."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon import lax
from gnomon.testing.op_table import (
    COMPLEX,
    FLOATS,
    ErrorCase,
    Operand,
    OpRecord,
    Sample,
    op_table,
)

_SLACK = {"float32": 2e-5, "float64": 1e-13, "float16": 1e-2, "bfloat16": 1e-1,
          "complex64": 2e-5, "complex128": 1e-13}


def _correlate(x: Any, kernel: Any, *, strides: Any, padding: Any) -> Any:
  """Cross-correlations in two dimensions, of all windows at once."""
  x = np.pad(x, [(0, 0), (0, 0), *padding])
  windows = np.lib.stride_tricks.sliding_window_view(x, kernel.shape[2:], (2, 3))
  windows = windows[:, :, ::strides[0], ::strides[1]]
  return np.einsum("nchwij,ocij->nohw", windows, kernel)


def _conv_sample(label: str, strides: Any, padding: Any) -> Sample:
  return Sample((Operand((2, 3, 5, 6), -1, 1), Operand((4, 3, 2, 3), -1, 1)),
                {"strides": strides, "padding": padding}, label)


op_table.add(OpRecord(
    "conv_general_dilated",
    lambda x, y, *, strides, padding: lax.conv_general_dilated(x, y, strides, padding),
    _correlate, (
        _conv_sample("plain", (1, 1), ((0, 0), (0, 0))),
        _conv_sample("strided", (2, 1), ((1, 0), (1, 2))),
    ), FLOATS + COMPLEX, tolerance=_SLACK,
    errors=(ErrorCase(
        lambda: (np.ones((1, 2, 3), "f"), np.ones((1, 3, 2), "f")), ValueError,
        "2 // 1 != 3", {"strides": (1,), "padding": "VALID"}),)))
