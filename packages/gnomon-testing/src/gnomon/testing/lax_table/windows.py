"""Operations over windows: convolutions, reductions, selections."""

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


def _windows(x: Any, filler: float) -> Any:
  """Windows of 2 by 3, with a step of 2 along the second axis, padded by one there."""
  padded = np.pad(x, [(0, 0), (1, 1)], constant_values=filler)
  return np.lib.stride_tricks.sliding_window_view(padded, (2, 3))[:, ::2]


def _reduced(init: float, combine: Any) -> Any:
  return lambda x: lax.reduce_window(
      x, init, combine, (2, 3), (1, 2), [(0, 0), (1, 1)])


def _reference(filler: float, reduce: Any) -> Any:
  return lambda x: reduce(_windows(x, filler), axis=(-2, -1))


_DISTINCT = (Sample((Operand((4, 7), distinct=True),)),)

op_table.add(
    OpRecord(
        "reduce_window_sum", _reduced(0.0, lax.add), _reference(0.0, np.sum), _DISTINCT,
        FLOATS + COMPLEX, tolerance=_SLACK),
    OpRecord(
        "reduce_window_max", _reduced(-np.inf, lax.max), _reference(-np.inf, np.max),
        _DISTINCT, FLOATS, tolerance=_SLACK),
    OpRecord(
        "reduce_window_min", _reduced(np.inf, lax.min), _reference(np.inf, np.min),
        _DISTINCT, FLOATS, tolerance=_SLACK),
    OpRecord(
        "reduce_window", _reduced(1.0, lax.mul), _reference(1.0, np.prod), _DISTINCT,
        REALS, tolerance=_SLACK),
)


def _chosen(x: Any) -> Any:
  """Where the maximum of each window of 2 by 3 with steps of 2 and 3 stands."""
  rows, columns = x.shape[0] // 2, x.shape[1] // 3
  flat = x.reshape(rows, 2, columns, 3).transpose(0, 2, 1, 3).reshape(rows, columns, 6)
  best = flat.argmax(-1)
  return (2 * np.arange(rows)[:, None] + best // 3, 3 * np.arange(columns) + best % 3)


def _scatter(source: Any, x: Any) -> Any:
  out = np.zeros(x.shape, source.dtype)
  out[_chosen(x)] = source
  return out


_STEPS: dict[str, Any] = {
    "window_dimensions": (2, 3), "window_strides": (2, 3), "padding": ((0, 0), (0, 0)),
    "select_prim": lax.ge_p}
_GAPS: dict[str, Any] = {"base_dilation": (1, 1), "window_dilation": (1, 1)}
_FIXED = Operand((4, 6), distinct=True, differentiable=False)

op_table.add(
    OpRecord(
        "select_and_gather_add",
        lambda t, x: lax.select_and_gather_add_p.apply(t, x, **_STEPS, **_GAPS)[0],
        lambda t, x: t[_chosen(x)], (Sample((Operand((4, 6)), _FIXED)),), REALS),
    OpRecord(
        "select_and_scatter_add",
        lambda source, x: lax.select_and_scatter_add_p.apply(source, x, **_STEPS)[0],
        _scatter, (Sample((Operand((2, 2)), _FIXED)),), REALS),
)
op_table.structured("packages/gnomon-lax/tests/test_windows.py", "select_and_scatter")
