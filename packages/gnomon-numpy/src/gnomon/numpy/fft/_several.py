"""Discrete Fourier transforms along several axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.lax import FftType
from gnomon.numpy._compiled import compiled
from gnomon.numpy.fft._core import Norm, transform, two_axes


@compiled(static=("s", "axes", "norm"))
def fftn(
    a: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = None,
    norm: Norm = None) -> Any:
  """Discrete Fourier transform along several axes.

  Args:
    a: an array.
    s: the sizes of the axes: what is beyond is cut off, what is missing are zeros.
    axes: the axes; None for the last ones, as many as `s` has sizes, or all.
    norm: 'backward' (also None) divides the inverse transform by the number of elements,
      'forward' the other one; 'ortho' divides both by its square root.

  Returns:
    A complex array.

  >>> import gnomon.numpy as gnp
  >>> gnp.fft.fftn(gnp.array([[1.0, 0.0], [0.0, 0.0]])).tolist()
  [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]

  Raises:
    ValueError: an axis is out of range or repeated, a size is not positive, the norm does
      not exist.
    TypeError: `a` is no array.
  """
  return transform("fftn", a, FftType.FFT, s, axes, norm)


@compiled(static=("s", "axes", "norm"))
def ifftn(
    a: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = None,
    norm: Norm = None) -> Any:
  """Inverse discrete Fourier transform along several axes.

  Args:
    a: an array.
    s: the sizes of the axes: what is beyond is cut off, what is missing are zeros.
    axes: the axes; None for the last ones, as many as `s` has sizes, or all.
    norm: 'backward' (also None) divides the inverse transform by the number of elements,
      'forward' the other one; 'ortho' divides both by its square root.

  Returns:
    A complex array: `fftn` of it is `a`.

  >>> import gnomon.numpy as gnp
  >>> gnp.fft.ifftn(gnp.array([[4.0, 0.0], [0.0, 0.0]])).tolist()
  [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]

  Raises:
    ValueError: an axis is out of range or repeated, a size is not positive, the norm does
      not exist.
    TypeError: `a` is no array.
  """
  return transform("ifftn", a, FftType.IFFT, s, axes, norm)


@compiled(static=("s", "axes", "norm"))
def rfftn(
    a: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = None,
    norm: Norm = None) -> Any:
  """Discrete Fourier transform of real numbers along several axes: half of the spectrum.

  Args:
    a: an array of real numbers.
    s: the sizes of the axes: what is beyond is cut off, what is missing are zeros.
    axes: the axes; None for the last ones, as many as `s` has sizes, or all.
    norm: 'backward' (also None) divides the inverse transform by the number of elements,
      'forward' the other one; 'ortho' divides both by its square root.

  Returns:
    A complex array: the last of the axes has size `n // 2 + 1`, where n was its size.

  >>> import gnomon.numpy as gnp
  >>> gnp.fft.rfftn(gnp.array([[1.0, 0.0], [0.0, 0.0]])).tolist()
  [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]

  Raises:
    ValueError: an axis is out of range or repeated, a size is not positive, the norm does
      not exist, or `a` is complex.
    TypeError: `a` is no array.
  """
  return transform("rfftn", a, FftType.RFFT, s, axes, norm)


@compiled(static=("s", "axes", "norm"))
def irfftn(
    a: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = None,
    norm: Norm = None) -> Any:
  """Inverse of `rfftn`: real numbers from half of a spectrum.

  Args:
    a: an array: half of a spectrum along the last of the axes.
    s: the sizes of the axes in the result; None for those of `a`, of the last axis
      `2 * (m - 1)`.
    axes: the axes; None for the last ones, as many as `s` has sizes, or all.
    norm: 'backward' (also None) divides the inverse transform by the number of elements,
      'forward' the other one; 'ortho' divides both by its square root.

  Returns:
    An array of real numbers.

  >>> import gnomon.numpy as gnp
  >>> gnp.fft.irfftn(gnp.ones((2, 2))).tolist()
  [[1.0, 0.0], [0.0, 0.0]]

  Raises:
    ValueError: an axis is out of range or repeated, a size is not positive, the norm does
      not exist.
    TypeError: `a` is no array.
  """
  return transform("irfftn", a, FftType.IRFFT, s, axes, norm)


@compiled(static=("s", "axes", "norm"))
def fft2(
    a: Any, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1),
    norm: Norm = None) -> Any:
  """Discrete Fourier transform along two axes.

  Args:
    a: an array.
    s: the sizes of the axes: what is beyond is cut off, what is missing are zeros.
    axes: the two axes.
    norm: 'backward' (also None) divides the inverse transform by the number of elements,
      'forward' the other one; 'ortho' divides both by its square root.

  Returns:
    A complex array.

  >>> import gnomon.numpy as gnp
  >>> gnp.fft.fft2(gnp.array([[1.0, 0.0], [0.0, 0.0]])).tolist()
  [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]

  Raises:
    ValueError: an axis is out of range or repeated, a size is not positive, the norm does
      not exist.
    TypeError: `a` is no array.
  """
  return two_axes("fft2", a, FftType.FFT, s, axes, norm)


@compiled(static=("s", "axes", "norm"))
def ifft2(
    a: Any, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1),
    norm: Norm = None) -> Any:
  """Inverse discrete Fourier transform along two axes.

  Args:
    a: an array.
    s: the sizes of the axes: what is beyond is cut off, what is missing are zeros.
    axes: the two axes.
    norm: 'backward' (also None) divides the inverse transform by the number of elements,
      'forward' the other one; 'ortho' divides both by its square root.

  Returns:
    A complex array: `fft2` of it is `a`.

  >>> import gnomon.numpy as gnp
  >>> gnp.fft.ifft2(gnp.array([[4.0, 0.0], [0.0, 0.0]])).tolist()
  [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]

  Raises:
    ValueError: an axis is out of range or repeated, a size is not positive, the norm does
      not exist.
    TypeError: `a` is no array.
  """
  return two_axes("ifft2", a, FftType.IFFT, s, axes, norm)


@compiled(static=("s", "axes", "norm"))
def rfft2(
    a: Any, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1),
    norm: Norm = None) -> Any:
  """Discrete Fourier transform of real numbers along two axes: half of the spectrum.

  Args:
    a: an array of real numbers.
    s: the sizes of the axes: what is beyond is cut off, what is missing are zeros.
    axes: the two axes.
    norm: 'backward' (also None) divides the inverse transform by the number of elements,
      'forward' the other one; 'ortho' divides both by its square root.

  Returns:
    A complex array: the last of the axes has size `n // 2 + 1`, where n was its size.

  >>> import gnomon.numpy as gnp
  >>> gnp.fft.rfft2(gnp.array([[1.0, 0.0], [0.0, 0.0]])).tolist()
  [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]

  Raises:
    ValueError: an axis is out of range or repeated, a size is not positive, the norm does
      not exist, or `a` is complex.
    TypeError: `a` is no array.
  """
  return two_axes("rfft2", a, FftType.RFFT, s, axes, norm)


@compiled(static=("s", "axes", "norm"))
def irfft2(
    a: Any, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1),
    norm: Norm = None) -> Any:
  """Inverse of `rfft2`: real numbers from half of a spectrum.

  Args:
    a: an array: half of a spectrum along the last of the axes.
    s: the sizes of the axes in the result; None for those of `a`, of the last axis
      `2 * (m - 1)`.
    axes: the two axes.
    norm: 'backward' (also None) divides the inverse transform by the number of elements,
      'forward' the other one; 'ortho' divides both by its square root.

  Returns:
    An array of real numbers.

  >>> import gnomon.numpy as gnp
  >>> gnp.fft.irfft2(gnp.ones((2, 2))).tolist()
  [[1.0, 0.0], [0.0, 0.0]]

  Raises:
    ValueError: an axis is out of range or repeated, a size is not positive, the norm does
      not exist.
    TypeError: `a` is no array.
  """
  return two_axes("irfft2", a, FftType.IRFFT, s, axes, norm)
