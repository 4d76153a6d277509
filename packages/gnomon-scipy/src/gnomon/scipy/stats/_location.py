"""What families of distributions share: locations, scales, supports, logarithms."""

from __future__ import annotations

import math
from typing import Any

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.numpy._promotion import promote_args_inexact


def standardized(name: str, x: Any, loc: Any, scale: Any) -> tuple[Any, Any]:
  """`(x - loc) / scale`, and the scale, nan where that is not positive."""
  z, scale = located(name, x, loc, scale)
  return z, scale


def located(name: str, x: Any, loc: Any, scale: Any, *shapes: Any) -> tuple[Any, ...]:
  """`(x - loc) / scale`, the scale, and the parameters of the shape, of one dtype.

  The scale is nan where it is not positive.
  """
  x, loc, scale, *rest = promote_args_inexact(name, x, loc, scale, *shapes)
  scale = positive(scale)
  return ((x - loc) / scale, scale, *rest)


def discrete(name: str, k: Any, loc: Any, *shapes: Any) -> tuple[Any, ...]:
  """`k - loc`, and the parameters of the shape, of one dtype."""
  k, loc, *rest = promote_args_inexact(name, k, loc, *shapes)
  return (k - loc, *rest)


def positive(x: Any) -> Any:
  """`x`, nan where it is not positive."""
  return gnp.where(x > 0, x, gnp.nan)


def probability(x: Any) -> Any:
  """`x`, nan where it is not from 0 to 1."""
  return gnp.where((x >= 0) & (x <= 1), x, gnp.nan)


def inside(valid: Any, value: Any, unknown: Any) -> Any:
  """A logarithm in its support, -inf outside, nan where a parameter is.

  Args:
    valid: where the support is; `value` is to be computed of points in it only, for its
      derivatives not to be nan elsewhere.
    value: the logarithm.
    unknown: a sum of all arguments: nan where one is.
  """
  outside = gnp.where(gnp.isnan(unknown), gnp.nan, -gnp.inf)
  return gnp.where(valid, value, outside)


def log_of(p: Any) -> Any:
  """The logarithm of a probability; its derivative is 0, not nan, where that is 0."""
  return gnp.where(p == 0, -gnp.inf, gnp.log(gnp.where(p == 0, 1, p)))


def log1mexp(u: Any) -> Any:
  r""":math:`\log(1 - e^{-u})` of positive `u`, -inf at 0.

  Source: M. Maechler, Accurately computing log(1 - exp(-|a|)) (2012).
  """
  small = u < math.log(2)
  low = gnp.where(small & (u > 0), u, 0.5)
  high = gnp.where(small, 1, u)
  value = gnp.where(small, gnp.log(-gnp.expm1(-low)), gnp.log1p(-gnp.exp(-high)))
  return gnp.where(u <= 0, -gnp.inf, value)


def log1p_square(z: Any) -> Any:
  r""":math:`\log(1 + z^2)`, where the square may overflow."""
  size = lax.abs(z)
  large = size > 1
  low = gnp.where(large, 0, z)
  high = gnp.where(large, size, 1)
  return gnp.where(large, 2 * gnp.log(high) + gnp.log1p((1 / high) ** 2),
                   gnp.log1p(low * low))


def log1mexp_exp(z: Any) -> Any:
  r""":math:`\log(1 - \exp(-e^{-z}))`: about `-z` where that is large."""
  far = z > 40
  return gnp.where(far, -z, log1mexp(gnp.exp(-gnp.where(far, 0, z))))
