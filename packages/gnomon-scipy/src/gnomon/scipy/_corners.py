"""Linear interpolation: the sum over the corners of a cell."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.numpy._promotion import promote_args
from gnomon.numpy._values import is_kind

Corner = tuple[Any, Any]  # whatever names a neighbour along an axis, and its weight


def sum_of_corners(
    axes: Sequence[Sequence[Corner]], value: Callable[[tuple[Any, ...]], Any]) -> Any:
  """The sum of the values at all combinations of neighbours, by their weights.

  A neighbour of weight zero does not count, even if its value is infinite or nan; but
  the derivative by its weight is its value, if that is finite.

  Args:
    axes: for each axis the neighbours with their weights; None for a weight of one.
    value: the value at a combination of neighbours, which weights multiply from the left.
  """
  total = None
  for corners in itertools.product(*axes):
    weight = None
    for _, factor in corners:
      if factor is not None:
        weight = factor if weight is None else weight * factor
    term = value(tuple(where for where, _ in corners))
    if weight is not None:
      weight = weight.reshape(weight.shape + (1,) * (term.ndim - weight.ndim))
      if is_kind(term, np.inexact):
        unknown = gnp.logical_and(weight == 0, gnp.logical_not(gnp.isfinite(term)))
        term = gnp.where(unknown, gnp.zeros((), term.dtype), term)
      term = lax.mul(*promote_args("sum_of_corners", weight, term))
    total = term if total is None else lax.add(total, term)
  return total
