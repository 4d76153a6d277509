"""The logarithm of the gamma function of complex numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.core.types import typeof

# Of Stirling's series: B_2k / (2 k (2 k - 1))
_STIRLING = (
    1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156,
    -3617 / 122400)
_SHIFT = 9


def _right(z: Any) -> Any:
  """For a real part of 1/2 or more: by Stirling's series, moved up where z is small.

  A sum of principal logarithms, not one of a product, is on the principal branch.
  """
  small = gnp.abs(z) < _SHIFT
  moved = gnp.where(small, z, 1)
  logs = gnp.log(moved)
  for k in range(1, _SHIFT):
    logs = logs + gnp.log(moved + k)
  large = gnp.where(small, z + _SHIFT, z)
  inverse = 1 / large
  square = inverse * inverse
  series = gnp.full_like(z, _STIRLING[-1])
  for c in _STIRLING[-2::-1]:
    series = series * square + c
  value = (large - 0.5) * gnp.log(large) - large + (
      0.5 * math.log(2 * math.pi) + series * inverse)
  return gnp.where(small, value - logs, value)


def log_gamma(z: Any) -> Any:
  """The principal branch, whose cut is the negative real axis."""
  lower = gnp.signbit(gnp.imag(z))
  z = gnp.where(lower, gnp.conj(z), z)
  left = gnp.real(z) < 0.5
  # Reflection: log(pi) - log(sin(pi z)) - log_gamma(1 - z), where the logarithm of the
  # sine is that of (i / 2) exp(-i pi z) (1 - exp(2 i pi z)), factor by factor.
  w = gnp.where(left, z, 0.5)
  x, y = gnp.real(w), gnp.imag(w)
  whole = gnp.rint(x)
  grown = -gnp.expm1(2j * math.pi * lax.complex(x - whole, y))
  sine = -1j * math.pi * w + gnp.log(grown) + (0.5j * math.pi - math.log(2))
  other = _right(gnp.where(left, 1 - w, z))
  value = gnp.where(left, math.log(math.pi) - sine - other, other)
  pole = left & (gnp.imag(z) == 0) & (gnp.real(z) == whole)
  infinite = lax.complex(gnp.full_like(gnp.real(z), gnp.inf), gnp.imag(z))
  value = gnp.where(pole, infinite, value)
  return gnp.where(lower, gnp.conj(value), value)


def complex_gamma(z: Any) -> Any:
  """The gamma function; nan at its poles."""
  x, y = gnp.real(z), gnp.imag(z)
  pole = (y == 0) & (x <= 0) & (x == gnp.rint(x))
  nothing = np.asarray(complex(gnp.nan, gnp.nan), typeof(z).dtype)[()]
  away = gnp.where(pole, gnp.ones_like(z), z)
  return gnp.where(pole, nothing, gnp.exp(log_gamma(away)))


def is_complex(z: Any) -> bool:
  """Whether an array has a complex type."""
  return bool(typeof(z).dtype.kind == "c")
