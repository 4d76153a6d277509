"""Spherical harmonics."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gnomon
import gnomon.numpy as gnp
from gnomon import lax
from gnomon.core.types import typeof
from gnomon.numpy._promotion import promote_args_inexact


def _normalised_legendre(n: Any, m: Any, theta: Any, last: int) -> Any:
  """The associated Legendre function with the factor of the harmonic.

  Up the degrees, where the recurrence is stable: along the order first, then at that
  order. Orders are not negative; a degree below its order gives 0.
  """
  c, s = gnp.cos(theta), gnp.sin(theta)
  s = gnp.where(s < 0, -s, s)  # (1 - c²)^½, also of angles outside of 0 to pi
  m = m.astype(typeof(c).dtype)
  first = gnp.full_like(c, math.sqrt(0.25 / math.pi))

  def step(carry: Any, index: Any) -> Any:
    now, before = carry
    degree = index.astype(typeof(c).dtype)
    along = -gnp.sqrt((2 * degree + 1) / (2 * degree)) * s * now
    above = degree > m
    square = gnp.where(above, degree * degree - m * m, 1)
    less = gnp.where(above, (degree - 1) ** 2 - m * m, 0)
    scale = gnp.sqrt((4 * degree * degree - 1) / square)
    inner = gnp.sqrt(gnp.maximum(less, 0) / (4 * (degree - 1) ** 2 - 1))
    up = scale * (c * now - gnp.where(above, inner, 0) * before)
    new = gnp.where(above, up, along)
    going = index <= n
    return (gnp.where(going, new, now), gnp.where(going, now, before)), None

  degrees = np.arange(1, last + 1)
  (value, _), _ = lax.scan(step, (first, gnp.zeros_like(first)), degrees)
  return gnp.where(m > n, 0, value)


def sph_harm_y(
    n: Any, m: Any, theta: Any, phi: Any, diff_n: int | None = None,
    n_max: int | None = None) -> Any:
  r"""Spherical harmonics :math:`Y_n^m(\theta, \phi)`, elementwise.

  .. math::

      \sqrt{\frac{2 n + 1}{4 \pi} \frac{(n - m)!}{(n + m)!}}
      P_n^m(\cos \theta) e^{i m \phi}

  with the phase of Condon and Shortley.

  Args:
    n: array or number: the degrees, integers of 0 or more.
    m: array or number: the orders; where one is beyond its degree, the result is 0.
    theta: array or number: the polar angle, from 0 to pi.
    phi: array or number: the azimuth.
    diff_n: derivatives are taken by `gnomon.grad`; must be None.
    n_max: the largest degree, which a larger one is cut to; by default that of `n`,
      which must not be traced then.

  Returns:
    A complex array of the common shape.

  >>> from gnomon.scipy import special
  >>> round(special.sph_harm_y(1, 0, 0.0, 0.0).real.item(), 5)
  0.4886

  Raises:
    NotImplementedError: `diff_n` is given.
    TypeError: an argument is no array and no number.
    ConcretizationTypeError: `n` is traced and `n_max` is not given.
  """
  if diff_n is not None:
    raise NotImplementedError(
        "sph_harm_y takes no diff_n: differentiate it with gnomon.grad or gnomon.jvp")
  if n_max is None:
    n_max = int(gnomon.core.concrete_or_error(
        np.max, n, "sph_harm_y needs n_max, the largest degree, where n is traced"))
  theta, phi = promote_args_inexact("sph_harm_y", theta, phi)
  n, m, theta, phi = gnp.broadcast_arrays(
      gnp.minimum(gnp.asarray(n), n_max), gnp.asarray(m), theta, phi)
  order = gnp.abs(m)
  size = _normalised_legendre(n, order, theta, n_max)
  size = gnp.where((m < 0) & (order % 2 == 1), -size, size)
  angle = m.astype(typeof(phi).dtype) * phi
  return lax.complex(size * gnp.cos(angle), size * gnp.sin(angle))
