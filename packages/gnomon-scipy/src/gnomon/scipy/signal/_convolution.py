"""Convolution and correlation of arrays of any rank, by sums or by Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.core.structural import convert
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import (
  canonical_axes,
  check_arraylike,
  promote_dtypes_inexact,
)
from gnomon.numpy._values import array_of

_MODES = ("full", "same", "valid")
Ranges = list[tuple[int, int]]


def _operands(name: str, mode: str, in1: Any, in2: Any) -> list[Any]:
  if mode not in _MODES:
    raise ValueError(f"{name}: mode must be one of {list(_MODES)}, got {mode!r}")
  check_arraylike(name, in1, in2)
  x, y = [array_of(v) for v in promote_dtypes_inexact(in1, in2)]
  if x.ndim != y.ndim:
    raise ValueError(
        f"{name}: in1 and in2 must have the same number of dimensions, got the shapes "
        f"{x.shape} and {y.shape}")
  return [x, y]


def _ranges(
    name: str, mode: str, shape: Sequence[int], kernel: Sequence[int],
    late: bool = False) -> Ranges:
  """The places, of all those where the arrays meet, that a mode gives.

  Of an even number of places around the middle, `late` begins with the second.
  """
  if mode == "full":
    return [(0, n + m - 1) for n, m in zip(shape, kernel)]
  if mode == "same":
    starts = [(m - 1 + late) // 2 for m in kernel]
    return [(s, s + n) for s, n in zip(starts, shape)]
  if not (all(n >= m for n, m in zip(shape, kernel))
          or all(n <= m for n, m in zip(shape, kernel))):
    raise ValueError(
        f"{name}: One input must be smaller than the other in every dimension for mode "
        f"'valid', got the shapes {tuple(shape)} and {tuple(kernel)}")
  return [(min(n, m) - 1, max(n, m)) for n, m in zip(shape, kernel)]


def _sums(name: str, x: Any, kernel: Any, ranges: Ranges, precision: Any) -> Any:
  """The sums of `x[i - j] kernel[j]` at ranges of `i`."""
  if not x.size or not kernel.size:
    raise ValueError(
        f"{name}: zero-size arrays are not supported, got shapes {x.shape} and "
        f"{kernel.shape}")
  if x.ndim == 0:
    return lax.mul(x, kernel)
  weak = typeof(x).weak_type
  if all(n <= m for n, m in zip(x.shape, kernel.shape)):  # the shorter one is the window
    x, kernel = kernel, x
  padding = [
      (m - 1 - start, stop - n)
      for (start, stop), n, m in zip(ranges, x.shape, kernel.shape)]
  long = [i for i, m in enumerate(kernel.shape) if m > 1]
  out = lax.conv_general_dilated(
      lax.expand_dims(x, (0, 1)), lax.expand_dims(lax.rev(kernel, long), (0, 1)),
      (1,) * x.ndim, padding, precision=precision)
  out = lax.squeeze(out, (0, 1))
  return convert(out, typeof(out).dtype, weak)


def _flipped(x: Any) -> Any:
  """An array conjugated and turned round along all axes: correlates by convolution."""
  x = lax.rev(x, [i for i, n in enumerate(x.shape) if n > 1])
  return lax.conj(x) if gnp.issubdtype(x.dtype, np.complexfloating) else x


def _by_method(
    name: str, x: Any, kernel: Any, mode: str, method: str, precision: Any) -> Any:
  if method not in ("auto", "direct", "fft"):
    raise ValueError(
        f"{name}: got method={method!r}; expected 'auto', 'fft', or 'direct'")
  if method == "fft":
    return _by_fft(name, x, kernel, mode, tuple(range(x.ndim)))
  return _sums(name, x, kernel, _ranges(name, mode, x.shape, kernel.shape), precision)


@compiled(static=("mode", "method", "precision"))
def convolve(
    in1: Any, in2: Any, mode: str = "full", method: str = "auto",
    precision: Any = None) -> Any:
  """The convolution of two arrays of one rank: sums of `in1[i - j] * in2[j]`.

  Args:
    in1: array; integers are converted to floats.
    in2: array with as many axes.
    mode: `"full"` for all sums, `"same"` for those in the middle, as many as `in1` has
      elements, `"valid"` for those in which one array lies within the other.
    method: `"direct"`, also `"auto"`, adds the products; `"fft"` is `fftconvolve`.
    precision: how exactly accelerators multiply; see `gnomon.lax.Precision`.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import signal
  >>> signal.convolve(gnp.array([1.0, 2.0, 3.0]), gnp.array([1.0, 1.0])).tolist()
  [1.0, 3.0, 5.0, 3.0]

  Raises:
    TypeError: an argument is no array.
    ValueError: the ranks differ, an array is empty, `mode` or `method` is unknown, or
      neither array fits into the other where `mode` is `"valid"`.
  """
  x, y = _operands("convolve", mode, in1, in2)
  return _by_method("convolve", x, y, mode, method, precision)


@compiled(static=("mode", "method", "precision"))
def correlate(
    in1: Any, in2: Any, mode: str = "full", method: str = "auto",
    precision: Any = None) -> Any:
  """The correlation of two arrays: sums of `in1[i + j] * conj(in2[j])`.

  Args:
    in1: array; integers are converted to floats.
    in2: array with as many axes.
    mode: as for `convolve`.
    method: as for `convolve`.
    precision: how exactly accelerators multiply; see `gnomon.lax.Precision`.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import signal
  >>> signal.correlate(gnp.array([1.0, 2.0, 3.0]), gnp.array([0.0, 1.0])).tolist()
  [1.0, 2.0, 3.0, 0.0]

  Raises:
    TypeError: an argument is no array.
    ValueError: as by `convolve`.
  """
  x, y = _operands("correlate", mode, in1, in2)
  return _by_method("correlate", x, _flipped(y), mode, method, precision)


# What `gnp.pad` calls the ways to go on behind the edges.
_BOUNDARIES = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}


def _plane(
    name: str, in1: Any, in2: Any, mode: str, boundary: str, fillvalue: Any,
    precision: Any, correlating: bool) -> Any:
  x, y = _operands(name, mode, in1, in2)
  if x.ndim != 2:
    raise ValueError(
        f"{name}() only supports 2-dimensional inputs, got the shapes {x.shape} and "
        f"{y.shape}")
  if boundary not in _BOUNDARIES:
    raise ValueError(
        f"{name}: boundary is {boundary!r}; expected 'fill', 'wrap' or 'symm'")
  if correlating:
    y = _flipped(y)
  ranges = _ranges(name, mode, x.shape, y.shape, late=correlating)
  zeros = boundary == "fill" and isinstance(fillvalue, (int, float)) and fillvalue == 0
  if mode == "valid" or zeros or not x.size or not y.size:
    out = _sums(name, x, y, ranges, precision)
    # SciPy exchanges such matrices, and conjugates the same one as before.
    exchanged = correlating and mode == "valid" and any(
        n < m for n, m in zip(x.shape, y.shape))
    return gnp.conj(out) if exchanged else out
  widths = [(m - 1, m - 1) for m in y.shape]
  fill = {"constant_values": fillvalue} if boundary == "fill" else {}
  x = gnp.pad(x, widths, mode=_BOUNDARIES[boundary], **fill)
  ranges = [(start + m - 1, stop + m - 1) for (start, stop), m in zip(ranges, y.shape)]
  return _sums(name, x, y, ranges, precision)


@compiled(static=("mode", "boundary", "fillvalue", "precision"))
def convolve2d(
    in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0,
    precision: Any = None) -> Any:
  """The convolution of two matrices.

  Args:
    in1: array of shape `(n, m)`; integers are converted to floats.
    in2: array of shape `(k, l)`.
    mode: as for `convolve`.
    boundary: how `in1` goes on behind its edges: `"fill"`, with `fillvalue`; `"wrap"`,
      periodically; `"symm"`, mirrored.
    fillvalue: a number.
    precision: how exactly accelerators multiply; see `gnomon.lax.Precision`.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import signal
  >>> x, y = gnp.array([[1.0, 2.0], [3.0, 4.0]]), gnp.array([[1.0, 1.0]])
  >>> signal.convolve2d(x, y).tolist()
  [[1.0, 3.0, 2.0], [3.0, 7.0, 4.0]]

  Raises:
    TypeError: an argument is no array.
    ValueError: an argument is no matrix, `boundary` is unknown, or as by `convolve`.
  """
  return _plane("convolve2d", in1, in2, mode, boundary, fillvalue, precision, False)


@compiled(static=("mode", "boundary", "fillvalue", "precision"))
def correlate2d(
    in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0,
    precision: Any = None) -> Any:
  """The correlation of two matrices; of `in2`, the conjugate.

  Args:
    in1: array of shape `(n, m)`; integers are converted to floats.
    in2: array of shape `(k, l)`.
    mode: as for `convolve`.
    boundary: as for `convolve2d`.
    fillvalue: a number.
    precision: how exactly accelerators multiply; see `gnomon.lax.Precision`.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import signal
  >>> x, y = gnp.array([[1.0, 2.0], [3.0, 4.0]]), gnp.array([[0.0, 1.0]])
  >>> signal.correlate2d(x, y).tolist()
  [[1.0, 2.0, 0.0], [3.0, 4.0, 0.0]]

  Raises:
    TypeError: an argument is no array.
    ValueError: as by `convolve2d`.
  """
  return _plane("correlate2d", in1, in2, mode, boundary, fillvalue, precision, True)


@compiled(static=("mode", "axes"))
def fftconvolve(
    in1: Any, in2: Any, mode: str = "full",
    axes: int | Sequence[int] | None = None) -> Any:
  """The convolution of two arrays as the product of their Fourier transforms.

  Faster than `convolve` for long arrays, and less exact: errors are relative to the
  largest sum. Along axes where an array has one element nothing is transformed.

  Args:
    in1: array; integers are converted to floats.
    in2: array with as many axes.
    mode: as for `convolve`.
    axes: the axes along which to convolve, by default all; along the others the arrays
      have the same sizes.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import signal
  >>> out = signal.fftconvolve(gnp.array([1.0, 2.0, 3.0]), gnp.array([1.0, 1.0]))
  >>> [round(v, 3) for v in out.tolist()]
  [1.0, 3.0, 5.0, 3.0]

  Raises:
    TypeError: an argument is no array.
    ValueError: the ranks differ, or sizes along other axes; `mode` is unknown, an axis is
      out of range, or neither array fits into the other where `mode` is `"valid"`.
  """
  x, y = _operands("fftconvolve", mode, in1, in2)
  places = canonical_axes(axes, x.ndim, "fftconvolve")
  if any(n != m for i, (n, m) in enumerate(zip(x.shape, y.shape)) if i not in places):
    raise ValueError(
        f"fftconvolve: mapped axes must have same shape; got in1.shape={x.shape} "
        f"in2.shape={y.shape} axes={places}")
  return _by_fft("fftconvolve", x, y, mode, places)


def _by_fft(name: str, x: Any, y: Any, mode: str, axes: Sequence[int]) -> Any:
  dtype = x.dtype
  if dtype.itemsize < 4:  # no transform has less than 32 bits
    x, y = (lax.convert_element_type(v, np.float32) for v in (x, y))
  ranges = _ranges(
      name, mode, [x.shape[i] for i in axes], [y.shape[i] for i in axes])
  cut = [slice(None)] * x.ndim
  for i, (start, stop) in zip(axes, ranges):
    cut[i] = slice(start, stop)
  empty = 0 in x.shape or 0 in y.shape
  if empty:
    shape = list(x.shape)
    for i in axes:
      shape[i] = max(x.shape[i] + y.shape[i] - 1, 0)
    out = gnp.zeros(shape, x.dtype)
  else:
    out = _product(x, y, [i for i in axes if x.shape[i] > 1 and y.shape[i] > 1])
  return convert(out[tuple(cut)], dtype, typeof(x).weak_type)


def _product(x: Any, y: Any, axes: Sequence[int]) -> Any:
  if not axes:
    return gnp.multiply(x, y)
  sizes = [x.shape[i] + y.shape[i] - 1 for i in axes]
  fast = [_fast_size(n) for n in sizes]
  real = not gnp.issubdtype(x.dtype, np.complexfloating)
  forward, back = (
      (gnp.fft.rfftn, gnp.fft.irfftn) if real else (gnp.fft.fftn, gnp.fft.ifftn))
  out = back(forward(x, fast, axes) * forward(y, fast, axes), fast, axes)
  for i, n in zip(axes, sizes):
    out = lax.slice_in_dim(out, 0, n, axis=i)
  return out


def _fast_size(n: int) -> int:
  """The least size, not below `n`, without prime factors above 7: transforms are fast."""
  while True:
    rest = n
    for p in (2, 3, 5, 7):
      while rest % p == 0:
        rest //= p
    if rest == 1:
      return n
    n += 1
