"""Where between the ordered elements a quantile lies, by all of NumPy's methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core.structural import select_n
from gnomon.core.types import typeof
from gnomon.numpy._values import array_of, scalar, spread

# Where between the ordered elements a quantile lies: Hyndman and Fan (1996), "Sample
# quantiles in statistical packages", number 4 to 9: alpha and beta such that the
# position, counted from 0, is n q + alpha + q (1 - alpha - beta) - 1.
_CONTINUOUS = {
    "interpolated_inverted_cdf": (0.0, 1.0), "hazen": (0.5, 0.5), "weibull": (0.0, 0.0),
    "linear": (1.0, 1.0), "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8)}
_NEAREST = ("lower", "higher", "midpoint", "nearest")
_STEPS = ("inverted_cdf", "averaged_inverted_cdf", "closest_observation")
METHODS = (*_CONTINUOUS, *_NEAREST, *_STEPS)


class Host:
  """What positions need of an array library: NumPy, in double precision."""

  floor, ceil, where = np.floor, np.ceil, np.where
  minimum, maximum = np.minimum, np.maximum


class Traced:
  """The same on traced arrays."""

  floor, ceil = lax.floor, lax.ceil

  @staticmethod
  def where(mask: Any, x: Any, y: Any) -> Any:
    shape = typeof(mask).shape
    return select_n(mask, _wide(y, x, shape), _wide(x, y, shape))

  @staticmethod
  def minimum(x: Any, y: Any) -> Any:
    return lax.min(x, y)

  @staticmethod
  def maximum(x: Any, y: Any) -> Any:
    return lax.max(x, y)


def _wide(x: Any, other: Any, shape: tuple[int, ...]) -> Any:
  dtype = typeof(other if isinstance(x, (int, float)) else x).dtype
  return spread("quantile",
      array_of(scalar(x, dtype) if isinstance(x, (int, float)) else x),
                shape)


def positions(q: Any, n: Any, method: str, xp: Any) -> tuple[Any, Any, Any]:
  """Two indices for each quantile, and the weight of the element at the second one.

  `n` is the number of elements, as a number or an array of floats.
  """
  if method in _CONTINUOUS:
    alpha, beta = _CONTINUOUS[method]
    at = q * n + (q * (1 - alpha - beta) + (alpha - 1))
    if method == "linear":
      at = q * (n - 1)
  elif method in _NEAREST:
    at = q * (n - 1)
  else:
    at = q * n - (1.5 if method == "closest_observation" else 1)
  low = xp.floor(at)
  weight = at - low
  if method == "lower":
    weight = weight * 0
  elif method == "higher":
    low, weight = xp.ceil(at), weight * 0
  elif method == "midpoint":
    weight = xp.where(weight > 0, 0.5, weight)
  elif method == "nearest":
    weight = _to_even(low, weight, xp)
  elif method == "inverted_cdf":
    weight = xp.where(weight > 0, 1.0, weight)
  elif method == "averaged_inverted_cdf":
    weight = xp.where(weight > 0, 1.0, weight + 0.5)
  elif method == "closest_observation":
    # It counts from 1: an index that is even there is odd here.
    weight = xp.where((weight == 0) & (low - 2 * xp.floor(low / 2) == 1), 0.0,
        weight * 0 + 1)
  last = n - 1
  first = xp.maximum(low, low * 0)
  return (
      xp.minimum(first, last), xp.minimum(xp.maximum(low + 1, low * 0), last),
      xp.where(low < 0, 0.0, weight))


def _to_even(low: Any, weight: Any, xp: Any) -> Any:
  """0 or 1, whichever is nearer; where both are, the one that leads to an even index."""
  odd = low - 2 * xp.floor(low / 2)
  return xp.where(weight == 0.5, odd, xp.where(weight > 0.5, 1.0, weight * 0))
