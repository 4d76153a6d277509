"""Exponentials and logarithms of shares: the softmax, over all axes by default."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon import nn
from gnomon.core.types import typeof
from gnomon.numpy._promotion import promote_args_inexact


def _arguments(name: str, x: Any, axis: Any) -> tuple[Any, Any]:
  (x,) = promote_args_inexact(name, x)
  return x, tuple(range(typeof(x).ndim)) if axis is None else axis


def softmax(x: Any, /, *, axis: int | Sequence[int] | None = None) -> Any:
  r"""The shares of exponentials, :math:`e^{x_i} / \sum_j e^{x_j}`.

  Args:
    x: array or number.
    axis: along which they sum to 1; over all elements if None.

  >>> import numpy as np
  >>> from gnomon.scipy import special
  >>> special.softmax(np.zeros((2, 2))).tolist()
  [[0.25, 0.25], [0.25, 0.25]]

  Raises:
    TypeError: `x` is no array and no number.
    ValueError: `axis` is out of range.
  """
  x, axes = _arguments("softmax", x, axis)
  return nn.softmax(x, axes)


def log_softmax(x: Any, /, *, axis: int | Sequence[int] | None = None) -> Any:
  """The logarithm of `softmax`, which see.

  >>> import numpy as np
  >>> from gnomon.scipy import special
  >>> round(special.log_softmax(np.zeros(4))[0].item(), 4)
  -1.3863
  """
  x, axes = _arguments("log_softmax", x, axis)
  return nn.log_softmax(x, axes)
