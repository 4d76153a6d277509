"""Discrete Fourier transforms along one axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon import lax
from gnomon.lax import FftType
from gnomon.numpy._compiled import compiled
from gnomon.numpy._values import is_kind, one_array
from gnomon.numpy.fft._core import Norm, one_axis, swapped


@compiled(static=("n", "axis", "norm"))
def fft(a: Any, n: int | None = None, axis: int = -1, norm: Norm = None) -> Any:
  """Discrete Fourier transform along an axis.

  Args:
    a: an array.
    n: the size of the axis: what is beyond is cut off, what is missing are zeros.
    axis: the axis.
    norm: 'backward' (also None) divides the inverse transform by the number of elements,
      'forward' the other one; 'ortho' divides both by its square root.

  Returns:
    A complex array; element k is the sum of `a[j] * exp(-2 pi i j k / n)` over j.

  >>> import gnomon.numpy as gnp
  >>> gnp.fft.fft(gnp.array([1.0, 0.0, 0.0, 0.0])).tolist()
  [(1+0j), (1+0j), (1+0j), (1+0j)]

  Raises:
    ValueError: an axis is out of range, a size is not positive, the norm does not
      exist.
    TypeError: `a` is no array.
  """
  return one_axis("fft", a, FftType.FFT, n, axis, norm)


@compiled(static=("n", "axis", "norm"))
def ifft(a: Any, n: int | None = None, axis: int = -1, norm: Norm = None) -> Any:
  """Inverse discrete Fourier transform along an axis.

  Args:
    a: an array.
    n: the size of the axis: what is beyond is cut off, what is missing are zeros.
    axis: the axis.
    norm: 'backward' (also None) divides the inverse transform by the number of elements,
      'forward' the other one; 'ortho' divides both by its square root.

  Returns:
    A complex array: `fft` of it is `a`.

  >>> import gnomon.numpy as gnp
  >>> gnp.fft.ifft(gnp.array([4.0, 0.0, 0.0, 0.0])).tolist()
  [(1+0j), (1+0j), (1+0j), (1+0j)]

  Raises:
    ValueError: an axis is out of range, a size is not positive, the norm does not
      exist.
    TypeError: `a` is no array.
  """
  return one_axis("ifft", a, FftType.IFFT, n, axis, norm)


@compiled(static=("n", "axis", "norm"))
def rfft(a: Any, n: int | None = None, axis: int = -1, norm: Norm = None) -> Any:
  """Discrete Fourier transform of real numbers along an axis: half of the spectrum.

  Args:
    a: an array of real numbers.
    n: the size of the axis: what is beyond is cut off, what is missing are zeros.
    axis: the axis.
    norm: 'backward' (also None) divides the inverse transform by the number of elements,
      'forward' the other one; 'ortho' divides both by its square root.

  Returns:
    A complex array: the first `n // 2 + 1` elements of `fft`; the others are their
    conjugates.

  >>> import gnomon.numpy as gnp
  >>> gnp.fft.rfft(gnp.array([1.0, 0.0, 0.0, 0.0])).tolist()
  [(1+0j), (1+0j), (1+0j)]

  Raises:
    ValueError: an axis is out of range, a size is not positive, the norm does not
      exist, or `a` is complex.
    TypeError: `a` is no array.
  """
  return one_axis("rfft", a, FftType.RFFT, n, axis, norm)


@compiled(static=("n", "axis", "norm"))
def irfft(a: Any, n: int | None = None, axis: int = -1, norm: Norm = None) -> Any:
  """Inverse of `rfft`: real numbers from half of a spectrum.

  Args:
    a: an array: the first half of a spectrum.
    n: the size of the axis in the result; None for `2 * (m - 1)`, where m is that of `a`.
    axis: the axis.
    norm: 'backward' (also None) divides the inverse transform by the number of elements,
      'forward' the other one; 'ortho' divides both by its square root.

  Returns:
    An array of real numbers.

  >>> import gnomon.numpy as gnp
  >>> gnp.fft.irfft(gnp.array([1.0, 1.0, 1.0])).tolist()
  [1.0, 0.0, 0.0, 0.0]

  Raises:
    ValueError: an axis is out of range, a size is not positive, the norm does not
      exist.
    TypeError: `a` is no array.
  """
  return one_axis("irfft", a, FftType.IRFFT, n, axis, norm)


@compiled(static=("n", "axis", "norm"))
def hfft(a: Any, n: int | None = None, axis: int = -1, norm: Norm = None) -> Any:
  """Discrete Fourier transform of a signal with conjugate symmetry: a real spectrum.

  Args:
    a: an array: the first half of the signal.
    n: the size of the axis in the result; None for `2 * (m - 1)`, where m is that of `a`.
    axis: the axis.
    norm: 'backward' (also None) divides the inverse transform by the number of elements,
      'forward' the other one; 'ortho' divides both by its square root.

  Returns:
    An array of real numbers.

  >>> import gnomon.numpy as gnp
  >>> gnp.fft.hfft(gnp.array([1.0, 0.0, 0.0])).tolist()
  [1.0, 1.0, 1.0, 1.0]

  Raises:
    ValueError: an axis is out of range, a size is not positive, the norm does not
      exist.
    TypeError: `a` is no array.
  """
  x = one_array("fft.hfft", a)
  if is_kind(x, np.complexfloating):
    x = lax.conj(x)
  return one_axis("hfft", x, FftType.IRFFT, n, axis, swapped("hfft", norm))


@compiled(static=("n", "axis", "norm"))
def ihfft(a: Any, n: int | None = None, axis: int = -1, norm: Norm = None) -> Any:
  """Inverse of `hfft`: half of the signal with a given real spectrum.

  Args:
    a: an array of real numbers.
    n: the size of the axis: what is beyond is cut off, what is missing are zeros.
    axis: the axis.
    norm: 'backward' (also None) divides the inverse transform by the number of elements,
      'forward' the other one; 'ortho' divides both by its square root.

  Returns:
    A complex array with `n // 2 + 1` elements along the axis.

  >>> import gnomon.numpy as gnp
  >>> gnp.fft.ihfft(gnp.array([4.0, 4.0, 4.0, 4.0])).real.tolist()
  [4.0, 0.0, 0.0]

  Raises:
    ValueError: an axis is out of range, a size is not positive, the norm does not
      exist, or `a` is complex.
    TypeError: `a` is no array.
  """
  return lax.conj(one_axis("ihfft", a, FftType.RFFT, n, axis, swapped("ihfft", norm)))
