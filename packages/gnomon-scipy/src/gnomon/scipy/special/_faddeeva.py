"""Faddeeva's function: the error function of complex numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import promote_args_inexact
from gnomon.scipy.special._series import widened

# The integral over exp(-t**2) / (z - t) by the trapezoidal and the midpoint rule with
# N + 1 points each half axis, and the residue of the pole (M. Al Azah, S. N.
# Chandler-Wilde, 2021): 15 digits in the whole upper half plane.
_N = 11
_STEP = math.sqrt(math.pi / (_N + 1))
_MIDPOINTS = tuple((k + 0.5) * _STEP for k in range(_N + 1))
_NODES = tuple(k * _STEP for k in range(1, _N + 1))
_FAR = 1e4  # from here on two terms of the asymptotic series hold all digits


def _sum(x: Any, y: Any, nodes: tuple[float, ...]) -> tuple[Any, Any]:
  """The sum over the nodes, real and imaginary part; in the first nothing cancels."""
  real = imaginary = gnp.zeros_like(x)
  a, b = (x - y) * (x + y), 2 * x * y
  for t in nodes:
    d = a - t * t
    weight = math.exp(-t * t) / (d * d + b * b)
    real = real + weight * (x * x + y * y + t * t)
    imaginary = imaginary + weight * (x * x + y * y - t * t)
  scale = 2 * _STEP / math.pi
  return scale * y * real, scale * x * imaginary


def _residue(x: Any, y: Any, sign: int) -> tuple[Any, Any]:
  """2 exp(-z**2) / (1 + sign exp(-2 pi i z / h)), by what shrinks with y."""
  turns = x / _STEP
  angle = 2 * math.pi * (turns - gnp.floor(turns))
  shrunk = gnp.exp(-2 * math.pi / _STEP * y)
  dr, di = shrunk + sign * gnp.cos(angle), -sign * gnp.sin(angle)
  size = 2 * gnp.exp((y - x) * (y + x)) * shrunk / (dr * dr + di * di)
  phase = 2 * x * y
  c, s = gnp.cos(phase), gnp.sin(phase)
  return size * (c * dr - s * di), -size * (s * dr + c * di)


def _upper(x: Any, y: Any) -> tuple[Any, Any]:
  """The function where y is not negative."""
  size = gnp.maximum(gnp.abs(x), gnp.abs(y))
  far = size > _FAR
  nx, ny = gnp.where(far, 0, x), gnp.where(far, 1, y)
  turns = nx / _STEP
  part = turns - gnp.floor(turns)
  high = ny >= gnp.maximum(gnp.abs(nx), math.pi / _STEP)
  nodal = ~high & (part >= 0.25) & (part <= 0.75)  # away from the poles at the nodes
  midpoint = ~nodal
  # harmless numbers where a rule does not hold
  mr, mi = _sum(gnp.where(midpoint, nx, 0), gnp.where(midpoint, ny, 1), _MIDPOINTS)
  low = midpoint & ~high
  pr, pi = _residue(gnp.where(low, nx, 0), gnp.where(low, ny, 0), 1)
  mr, mi = gnp.where(low, mr + pr, mr), gnp.where(low, mi + pi, mi)
  tx, ty = gnp.where(nodal, nx, _STEP / 2), gnp.where(nodal, ny, 1)
  tr, ti = _sum(tx, ty, _NODES)
  pr, pi = _residue(tx, ty, -1)
  scale = _STEP / math.pi / (tx * tx + ty * ty)
  tr, ti = tr + pr + scale * ty, ti + pi + scale * tx
  # far out: i / (sqrt(pi) z) (1 + 1 / (2 z**2)), by parts that do not overflow
  big = gnp.where(far, size, 1)
  ux, uy = gnp.where(far, x, 1) / big, gnp.where(far, y, 1) / big
  square = ux * ux + uy * uy
  ir, ii = ux / square / big, -uy / square / big  # 1 / z
  sr, si = 1 + 0.5 * (ir * ir - ii * ii), ir * ii
  root = math.sqrt(math.pi)
  fr, fi = -(ir * si + ii * sr) / root, (ir * sr - ii * si) / root
  real = gnp.where(far, fr, gnp.where(nodal, tr, mr))
  imaginary = gnp.where(far, fi, gnp.where(nodal, ti, mi))
  infinite = size == gnp.inf
  return gnp.where(infinite, 0, real), gnp.where(infinite, 0, imaginary)


def _faddeeva(z: Any) -> Any:
  x, y = gnp.real(z), gnp.imag(z)
  below = y < 0
  sign = gnp.where(below, -1, 1).astype(typeof(x).dtype)
  real, imaginary = _upper(x * sign, y * sign)
  # below: 2 exp(-z**2) - w(-z)
  wx, wy = gnp.where(below, x, 0), gnp.where(below, y, 0)
  size, phase = 2 * gnp.exp((wy - wx) * (wy + wx)), 2 * wx * wy
  more = gnp.where(gnp.sin(phase) == 0, 0, -size * gnp.sin(phase))
  real = gnp.where(below, size * gnp.cos(phase) - real, real)
  imaginary = gnp.where(below, more - imaginary, imaginary)
  unknown = gnp.isnan(x) | gnp.isnan(y)
  return lax.complex(
      gnp.where(unknown, gnp.nan, real), gnp.where(unknown, gnp.nan, imaginary))


@compiled()
def wofz(z: Any) -> Any:
  r"""Faddeeva's function, :math:`e^{-z^2} \text{erfc}(-i z)`, elementwise.

  Args:
    z: array or number, real or complex.

  Returns:
    A complex array; it overflows far below the real axis.

  >>> from gnomon.scipy import special
  >>> round(special.wofz(1j).real.item(), 5)
  0.42758

  Raises:
    TypeError: `z` is no array and no number.
  """
  (z,) = promote_args_inexact("wofz", z)
  if typeof(z).dtype.kind != "c":
    z, _ = widened(z)
    z = lax.complex(z, gnp.zeros_like(z))
  return _faddeeva(z)


def scaled_complement(z: Any) -> Any:
  """The scaled complement of the error function of a complex number."""
  return _faddeeva(z * np.asarray(1j, typeof(z).dtype)[()])
