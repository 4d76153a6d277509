"""Signals without their means or lines fitted to them: `detrend`."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import (
  canonical_axis,
  check_arraylike,
  promote_dtypes_inexact,
)
from gnomon.numpy._values import array_of


@compiled(static=("axis", "type", "bp", "overwrite_data"))
def detrend(
    data: Any, axis: int = -1, type: str = "linear", bp: Any = 0,
    overwrite_data: None = None) -> Any:
  """A signal without its trend: minus the line that fits it best, or minus its mean.

  Args:
    data: array; integers are converted to floats.
    axis: the axis of time.
    type: `"linear"` or `"constant"`.
    bp: where one line ends and another begins: an integer or a sequence of them, for
      `"linear"`.
    overwrite_data: arrays do not change: must be None.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import signal
  >>> [round(v, 3) for v in signal.detrend(gnp.array([1.0, 3.0, 2.0])).tolist()]
  [-0.5, 1.0, -0.5]

  Raises:
    NotImplementedError: `overwrite_data` is given.
    TypeError: `data` is no array.
    ValueError: `axis` or a breakpoint is out of range, or `type` is unknown.
  """
  if overwrite_data is not None:
    raise NotImplementedError("detrend: overwrite_data argument not implemented.")
  if type not in ("constant", "linear"):
    raise ValueError(
        f"detrend: Trend type must be 'linear' or 'constant', got type={type!r}")
  check_arraylike("detrend", data)
  (data,) = map(array_of, promote_dtypes_inexact(data))
  axis = canonical_axis(axis, data.ndim, "detrend")
  n = data.shape[axis]
  if type == "constant":
    return data - gnp.mean(data, axis, keepdims=True) if data.size else data
  breaks = np.unique(np.r_[0, np.asarray(bp), n])
  if breaks[0] < 0 or breaks[-1] > n:
    raise ValueError(
        "detrend: Breakpoints must be non-negative and less than length of data along "
        f"given axis, got bp={bp} for length {n}")
  pieces = [
      _without_line(lax.slice_in_dim(data, int(start), int(stop), axis=axis), axis)
      for start, stop in itertools.pairwise(breaks)]
  return pieces[0] if len(pieces) == 1 else lax.concatenate(pieces or [data], axis)


def _without_line(x: Any, axis: int) -> Any:
  """Minus the mean and minus the slope: the solution of the normal equations."""
  n = x.shape[axis]
  if not x.size:
    return x
  x = x - gnp.mean(x, axis, keepdims=True)
  if n == 1:
    return x
  times = np.arange(n) - (n - 1) / 2
  shape = [n if i == axis else 1 for i in range(x.ndim)]
  line = (times / np.sqrt(np.sum(times ** 2))).reshape(shape).astype(x.dtype)
  return x - gnp.sum(x * line, axis, keepdims=True) * line
