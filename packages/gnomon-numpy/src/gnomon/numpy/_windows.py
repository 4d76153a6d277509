"""Window functions: weights that fall off towards both ends."""

from __future__ import annotations

import math
from operator import index
from typing import Any

from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.structural import convert
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.numpy._values import array_of, one_array, scalar


def _size(name: str, M: Any) -> int:
  """The number of samples; a float is rounded down."""
  try:
    n = int(M) if isinstance(M, float) else index(M)
  except TypeError as e:
    raise TypeError(f"{name}: M must be an integer known now, got {M!r}") from e
  return max(n, 0)


def _samples(n: int) -> Any:
  return lax.iota(dtypes.default_float_dtype(), n)


def _one() -> Any:
  return lax.full((1,), 1, dtypes.default_float_dtype())


def _cosines(n: int, *coefficients: float) -> Any:
  """A sum of cosines of multiples of the angle that runs once around."""
  if n == 1:
    return _one()
  places = _samples(n)
  dtype = typeof(places).dtype
  out = None
  for k, c in enumerate(coefficients[1:], 1):
    angle = lax.mul(scalar(2 * math.pi * k / max(n - 1, 1), dtype), places)
    term = lax.mul(scalar(c, dtype), lax.cos(angle))
    out = term if out is None else lax.add(out, term)
  return lax.add(scalar(coefficients[0], dtype), out)


def bartlett(M: int) -> Any:
  """The triangular window: rises and falls in straight lines, 0 at the ends.

  Args:
    M: the number of samples.

  >>> import gnomon.numpy as gnp
  >>> gnp.bartlett(5).tolist()
  [0.0, 0.5, 1.0, 0.5, 0.0]

  Raises:
    TypeError: `M` is no integer.
  """
  return _bartlett(_size("bartlett", M))


@compiled(static=("n",))
def _bartlett(n: int) -> Any:
  if n <= 1:
    return _one() if n else _samples(0)
  places = _samples(n)
  dtype = typeof(places).dtype
  off = lax.abs(lax.sub(lax.mul(scalar(2 / (n - 1), dtype), places), scalar(1, dtype)))
  return lax.sub(scalar(1, dtype), off)


@compiled(static=("n", "coefficients"))
def _cosine_window(n: int, coefficients: tuple[float, ...]) -> Any:
  return _cosines(n, *coefficients) if n else _samples(0)


def blackman(M: int) -> Any:
  """The Blackman window: three cosines, with little leakage.

  Args:
    M: the number of samples.

  >>> import gnomon.numpy as gnp
  >>> [round(x, 2) for x in gnp.blackman(5).tolist()[1:4]]
  [0.34, 1.0, 0.34]

  Raises:
    TypeError: `M` is no integer.
  """
  return _cosine_window(_size("blackman", M), (0.42, -0.5, 0.08))


def hamming(M: int) -> Any:
  """The Hamming window: a cosine that does not quite reach 0 at the ends.

  Args:
    M: the number of samples.

  >>> import gnomon.numpy as gnp
  >>> [round(x, 2) for x in gnp.hamming(3).tolist()]
  [0.08, 1.0, 0.08]

  Raises:
    TypeError: `M` is no integer.
  """
  return _cosine_window(_size("hamming", M), (0.54, -0.46))


def hanning(M: int) -> Any:
  """The Hann window: a cosine that reaches 0 at the ends.

  Args:
    M: the number of samples.

  >>> import gnomon.numpy as gnp
  >>> [round(x, 2) for x in gnp.hanning(3).tolist()]
  [0.0, 1.0, 0.0]

  Raises:
    TypeError: `M` is no integer.
  """
  return _cosine_window(_size("hanning", M), (0.5, -0.5))


def kaiser(M: int, beta: Any) -> Any:
  """The Kaiser window, of Bessel functions: `beta` trades width against leakage.

  Args:
    M: the number of samples.
    beta: the shape: 0 for a rectangle, about 14 for very little leakage.

  >>> import gnomon.numpy as gnp
  >>> [round(x, 3) for x in gnp.kaiser(3, 2.0).tolist()]
  [0.439, 1.0, 0.439]

  Raises:
    TypeError: `M` is no integer, or `beta` no number.
  """
  return _kaiser(_size("kaiser", M), beta)


@compiled(static=("n",))
def _kaiser(n: int, beta: Any) -> Any:
  beta = one_array("kaiser", beta)
  if typeof(beta).ndim:
    raise ValueError(f"kaiser: beta must be a scalar, got {typeof(beta)}")
  if n <= 1:
    return _one() if n else _samples(0)
  places = _samples(n)
  dtype = typeof(places).dtype
  beta = convert(array_of(beta), dtype)
  # i0(x) = exp(|x|) i0e(x): the exponents are subtracted, so that nothing overflows.
  off = lax.sub(lax.mul(scalar(2 / (n - 1), dtype), places), scalar(1, dtype))
  inside = lax.sqrt(lax.max(lax.sub(scalar(1, dtype), lax.square(off)), scalar(0, dtype)))
  x = lax.mul(beta, inside)
  grow = lax.exp(lax.sub(lax.abs(x), lax.abs(beta)))
  return lax.mul(grow, lax.div(lax.bessel_i0e(x), lax.bessel_i0e(beta)))
