"""Elementwise functions of NumPy: arithmetic."""

from __future__ import annotations

from typing import Any

from gnomon import lax
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_args


@compiled()
def multiply(x: Any, y: Any, /) -> Any:
  """Product of two arrays, elementwise; `*` on arrays.

  Args:
    x: array or number.
    y: array or number; shapes are broadcast, dtypes promoted.

  >>> import gnomon.numpy as gnp
  >>> gnp.multiply(2, 3.5).item()
  7.0

  Raises:
    TypeError: an argument is no array and no number.
    ValueError: the shapes cannot be broadcast.
  """
  x, y = promote_args("multiply", x, y)
  return lax.mul(x, y) if x.dtype != bool else lax.bitwise_and(x, y)
