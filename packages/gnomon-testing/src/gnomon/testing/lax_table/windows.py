"""Ops over windows: reductions, convolutions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.signal

from gnomon import lax
from gnomon.testing.op_table import REALS, Operand, OpRecord, Sample, op_table

Op = Callable[..., Any]
_SLACK = {"float32": 2e-5, "float64": 1e-13}


def _windows(reduce: Op, start: float) -> Op:
  def reference(x: Any) -> Any:
    padded = np.pad(x, [(0, 0), (1, 1)], constant_values=start)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (2, 3))[::1, ::2]
    return reduce(windows, axis=(-2, -1))
  return reference


def _window_op(start: float, combine: Op) -> Op:
  def op(x: Any) -> Any:
    return lax.reduce_window(
        x, np.asarray(start, x.dtype), combine, (2, 3), (1, 2), [(0, 0), (1, 1)])
  return op


for name, combine, reduce, start in (
    ("reduce_window_sum", lax.add, np.sum, 0.0),
    ("reduce_window_max", lax.max, np.max, -np.inf),
    ("reduce_window_min", lax.min, np.min, np.inf)):
  op_table.add(OpRecord(
      name, _window_op(start, combine), _windows(reduce, start),
      (Sample((Operand((4, 7), distinct=True),)),), REALS,
      tolerance=_SLACK))


def _correlate(x: Any, kernel: Any, **params: Any) -> Any:
  """A batch of two-dimensional cross-correlations, one image and filter at a time."""
  stride = params["window_strides"]
  padding = params["padding"]
  if padding == "VALID":
    padding = [(0, 0), (0, 0)]
  x = np.pad(x, [(0, 0), (0, 0), *padding])
  return np.stack([
      np.stack([
          sum(scipy.signal.correlate2d(image, plane, "valid")
              for image, plane in zip(images, filters, strict=True))
          for filters in kernel])
      for images in x])[:, :, ::stride[0], ::stride[1]]


def _conv_sample(label: str, **params: Any) -> Sample:
  return Sample((Operand((2, 3, 5, 6), -1, 1), Operand((4, 3, 2, 3), -1, 1)), params,
                label)


op_table.add(OpRecord(
    "conv_general_dilated", lax.conv_general_dilated, _correlate, (
        _conv_sample("plain", window_strides=(1, 1), padding="VALID"),
        _conv_sample("strided", window_strides=(2, 1), padding=[(1, 0), (1, 2)]),
    ), REALS, tolerance=_SLACK))
