"""Spectra of a signal's segments, and their means: `stft`, `csd`, `welch`."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.core import dtypes
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import (
  canonical_axis,
  check_arraylike,
  promote_dtypes_inexact,
)
from gnomon.numpy._values import array_of, is_kind
from gnomon.scipy.signal._detrend import detrend as without_trend
from gnomon.scipy.signal._windows import named


class Segments(NamedTuple):
  """How a signal is cut and transformed.

  Attributes:
    size: the length of a segment.
    step: from the beginning of a segment to that of the next.
    length: the length of the transforms: zeros follow a shorter segment.
    onesided: whether frequencies below zero are left out.
    trend: what is taken from each segment: `"constant"`, `"linear"`, a function, False.
    axis: the axis of time, counted from the front.
    seen: the axis of time in the segments that a function `trend` gets: as it was given.
  """

  size: int
  step: int
  length: int
  onesided: bool
  trend: Any
  axis: int
  seen: int

  def frequencies(self, fs: Any, dtype: Any) -> Any:
    """The frequencies of the transforms."""
    freq = np.fft.rfftfreq if self.onesided else np.fft.fftfreq
    return gnp.asarray(freq(self.length) * fs, dtype)

  def count(self, n: int) -> int:
    """How many segments a signal of a length has."""
    return max((n - self.size) // self.step + 1, 0)


def resolve_segments(
    name: str, n: int, window: Any, nperseg: Any, noverlap: Any) -> tuple[int, int, Any]:
  """The length of segments, that of their overlap, and the window."""
  is_name = isinstance(window, (str, tuple, int, float))
  if nperseg is not None and int(nperseg) < 1:
    raise ValueError(f"{name}: nperseg must be a positive integer, got {nperseg}")
  if is_name:
    size = 256 if nperseg is None else int(nperseg)
    if size > n:
      warnings.warn(
          f"{name}: nperseg={size} is greater than the signal's length {n}: segments "
          "have that length", stacklevel=3)
      size = n
    window = named(name, window, size)
  else:
    check_arraylike(name, window)
    shape = np.shape(window)
    if len(shape) != 1 or shape[0] > n:
      raise ValueError(
          f"{name}: window has the shape {shape}; expected a vector, not longer than the "
          f"signal, {n}")
    size = shape[0]
    if nperseg is not None and int(nperseg) != size:
      raise ValueError(
          f"{name}: value specified for nperseg is different from length of window: "
          f"got {nperseg} and {size}")
  overlap = size // 2 if noverlap is None else int(noverlap)
  if overlap >= size > 0:
    raise ValueError(
        f"{name}: noverlap must be less than nperseg, got {overlap} and {size}")
  return size, overlap, window


def transform_length(name: str, nfft: Any, size: int) -> int:
  """The length of transforms."""
  if nfft is not None and int(nfft) < size:
    raise ValueError(
        f"{name}: nfft must be greater than or equal to nperseg, got {nfft} and {size}")
  return size if nfft is None else int(nfft)


def _signals(name: str, *xs: Any) -> list[Any]:
  check_arraylike(name, *xs)
  return [array_of(x) for x in promote_dtypes_inexact(*xs)]


def _at_least_32_bits(x: Any) -> Any:
  small = x.dtype.itemsize < 4
  return lax.convert_element_type(x, np.float32) if small else x


def _plan(
    name: str, complex_: bool, n: int, window: Any, nperseg: Any, noverlap: Any,
    nfft: Any, detrend: Any, return_onesided: bool, axis: int,
    seen: int) -> tuple[Segments, Any]:
  size, overlap, window = resolve_segments(name, n, window, nperseg, noverlap)
  length = transform_length(name, nfft, size)
  if complex_ and return_onesided:
    warnings.warn(
        f"{name}: the signal is complex: return_onesided=False is used", stacklevel=3)
    return_onesided = False
  onesided = bool(return_onesided)
  return Segments(size, size - overlap, length, onesided, detrend, axis, seen), window


def _segments(x: Any, plan: Segments) -> Any:
  """The segments of the last axis: of shape `(..., count, size)`."""
  n, count = x.shape[-1], plan.count(x.shape[-1])
  if plan.size == plan.step:
    x = lax.slice_in_dim(x, 0, count * plan.size, axis=-1)
    return x.reshape(*x.shape[:-1], count, plan.size)
  places = np.arange(count)[:, None] * plan.step + np.arange(plan.size)
  return gnp.take(x, places, axis=-1, mode="clip") if n else x[..., None, :]


def _transforms(x: Any, window: Any, plan: Segments) -> Any:
  """The transforms of the windowed segments, of shape `(..., count, frequencies)`."""
  x = _segments(x, plan)
  if callable(plan.trend):
    x = gnp.moveaxis(plan.trend(gnp.moveaxis(x, -1, plan.seen)), plan.seen, -1)
  elif plan.trend:
    x = without_trend(x, axis=-1, type=plan.trend)
  x = x * along_last(window, x)
  if not plan.onesided:
    return gnp.fft.fft(x, plan.length)
  return gnp.fft.rfft(x.real if is_kind(x, np.complexfloating) else x, plan.length)


def along_last(v: Any, x: Any) -> Any:
  """A vector with the rank of an array, along its last axis; complex where that is."""
  v = gnp.asarray(v, np.result_type(v.dtype, x.dtype))
  return v.reshape((1,) * (x.ndim - 1) + (-1,))


def _scale(window: Any, fs: Any, scaling: str) -> Any:
  if scaling == "density":
    return 1 / (fs * gnp.sum(window * window))
  return 1 / gnp.sum(window) ** 2


_EDGES = ("even", "odd", "constant", "zeros", None)


@compiled(static=("plan", "boundary", "padded"))
def _stft(x: Any, window: Any, plan: Segments, boundary: str | None, padded: bool) -> Any:
  x = _extended(gnp.moveaxis(x, plan.axis, -1), plan.size // 2, boundary)
  if padded:
    rest = -(x.shape[-1] - plan.size) % plan.step % plan.size
    x = gnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, rest)])
  scale = gnp.sqrt(_scale(window, 1.0, "spectrum"))
  out = _transforms(x, window, plan)
  out = out * scale.astype(out.dtype)
  return gnp.moveaxis(gnp.swapaxes(out, -1, -2), -2, plan.axis)


def _extended(x: Any, width: int, boundary: str | None) -> Any:
  """A signal with more before and after it along the last axis."""
  if boundary is None or not width:
    return x
  widths = [(0, 0)] * (x.ndim - 1) + [(width, width)]
  if boundary == "zeros":
    return gnp.pad(x, widths)
  if boundary == "constant":
    return gnp.pad(x, widths, mode="edge")
  return gnp.pad(x, widths, mode="reflect", reflect_type=boundary)


def stft(
    x: Any, fs: Any = 1.0, window: Any = "hann", nperseg: int | None = 256,
    noverlap: int | None = None, nfft: int | None = None, detrend: Any = False,
    return_onesided: bool = True, boundary: str | None = "zeros", padded: bool = True,
    axis: int = -1) -> tuple[Any, Any, Any]:
  """The Fourier transforms of a signal's segments.

  Args:
    x: array; integers are converted to floats.
    fs: how many values there are in a unit of time.
    window: what segments are multiplied by: a vector, or a window's name, or a tuple of
      it and of its parameters.
    nperseg: the length of a segment.
    noverlap: how many values a segment shares with the next; half of them by default.
    nfft: the length of the transforms, `nperseg` by default; zeros fill them.
    detrend: `"constant"`, `"linear"` (see `detrend`), a function of the segments, or
      False.
    return_onesided: whether to leave out the frequencies below zero, for real signals.
    boundary: how the signal goes on by half a segment on both sides: `"even"` and
      `"odd"` mirror it, `"constant"` repeats the last value, also `"zeros"`, or None: it
      does not.
    padded: whether zeros follow the signal so that a whole number of segments fits.
    axis: the axis of time.

  Returns:
    The frequencies, the times of the middles of segments, and the transforms: with
    frequencies at `axis` and times along a new last axis.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import signal
  >>> f, t, z = signal.stft(gnp.ones(8), nperseg=4)
  >>> f.tolist(), t.tolist(), z.shape
  ([0.0, 0.25, 0.5], [0.0, 2.0, 4.0, 6.0, 8.0], (3, 5))

  Raises:
    TypeError: `x` or `window` is no array.
    ValueError: a length does not suit the others, or a name is unknown.
  """
  if boundary not in _EDGES:
    raise ValueError(
        f"stft: Unknown boundary option {boundary!r}, must be one of: {list(_EDGES)}")
  (x,) = map(_at_least_32_bits, _signals("stft", x))
  seen, axis = axis, canonical_axis(axis, x.ndim, "stft")
  real = dtypes.finfo(x.dtype).dtype
  if not x.size:
    none = gnp.zeros(x.shape, real)
    return none, none, gnp.zeros(x.shape, dtypes.to_complex_dtype(x.dtype))
  plan, window = _plan(
      "stft", is_kind(x, np.complexfloating), x.shape[axis], window, nperseg, noverlap,
      nfft, detrend, return_onesided, axis, seen)
  reach = plan.size // 2 if boundary is not None else 0
  if boundary in ("even", "odd") and reach >= x.shape[axis]:
    raise ValueError(
        f"stft: boundary {boundary!r} mirrors {reach} values; expected a signal longer "
        f"than that, got {x.shape[axis]}")
  out = _stft(x, _like(window, x), plan, boundary, bool(padded))
  middles = plan.step * np.arange(out.shape[-1])
  if boundary is None:
    middles = middles + plan.size / 2
  return plan.frequencies(fs, real), gnp.asarray(middles / fs, real), out


def _like(window: Any, x: Any) -> Any:
  """A window in the precision of the signal."""
  if is_kind(window, np.complexfloating):
    return gnp.asarray(window, dtypes.to_complex_dtype(x.dtype))
  return gnp.asarray(window, dtypes.finfo(x.dtype).dtype)


@compiled(static=("plan", "scaling", "average"))
def _power(
    x: Any, y: Any, window: Any, fs: Any, plan: Segments, scaling: str,
    average: str) -> Any:
  first = _transforms(gnp.moveaxis(x, plan.axis, -1), window, plan)
  if y is None:
    out = lax.square(first.real) + lax.square(first.imag)
  else:
    out = lax.conj(first) * _transforms(gnp.moveaxis(y, plan.axis, -1), window, plan)
  out = out * _scale(window, fs, scaling).astype(out.dtype)
  if plan.onesided:
    weights = np.full(out.shape[-1], 2.0)
    weights[0] = 1
    if plan.length % 2 == 0:
      weights[-1] = 1
    out = out * along_last(weights.astype(dtypes.finfo(out.dtype).dtype), out)
  out = _averaged(out, average)
  return gnp.moveaxis(out, -1, plan.axis)


def _averaged(x: Any, average: str) -> Any:
  """The mean over segments; or their median, over the bias that it has for noise.

  The bias for the median of n values with exponential distributions is the alternating
  harmonic sum of the first n, or n - 1, numbers: B. Allen et al., "FINDCHIRP", Phys. Rev.
  D 85, appendix B.
  """
  if average == "mean":
    return gnp.mean(x, -2)
  n = x.shape[-2]
  even = 2.0 * np.arange(1, (n - 1) // 2 + 1)
  bias = 1 + float(np.sum(1 / (even + 1) - 1 / even))
  if is_kind(x, np.complexfloating):
    return lax.complex(gnp.median(x.real, -2), gnp.median(x.imag, -2)) / bias
  return gnp.median(x, -2) / bias


def _check_names(name: str, scaling: str, average: str) -> None:
  if scaling not in ("density", "spectrum"):
    raise ValueError(
        f"{name}: Unknown scaling: {scaling!r}; expected 'density' or 'spectrum'")
  if average not in ("mean", "median"):
    raise ValueError(
        f'{name}: average must be "median" or "mean", got {average!r}')


def csd(
    x: Any, y: Any, fs: Any = 1.0, window: Any = "hann", nperseg: int | None = None,
    noverlap: int | None = None, nfft: int | None = None, detrend: Any = "constant",
    return_onesided: bool = True, scaling: str = "density", axis: int = -1,
    average: str = "mean") -> tuple[Any, Any]:
  """The cross power spectral density of two signals, by Welch's method.

  The product of the transforms of their segments, that of `x` conjugated, averaged.

  Args:
    x: array; integers are converted to floats.
    y: array of the same shape but for the axis of time, where zeros follow the shorter
      signal; None for `x`, and then the result is real.
    fs: how many values there are in a unit of time.
    window: as for `stft`.
    nperseg: the length of a segment, 256 by default.
    noverlap: how many values a segment shares with the next; half of them by default.
    nfft: the length of the transforms, `nperseg` by default; zeros fill them.
    detrend: as for `stft`.
    return_onesided: whether to leave out the frequencies below zero, for real signals,
      and double the others.
    scaling: `"density"` for power per frequency, `"spectrum"` for power.
    axis: the axis of time.
    average: `"mean"` or `"median"`.

  Returns:
    The frequencies, and the density, with frequencies at `axis`.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import signal
  >>> f, p = signal.csd(gnp.arange(8.0), gnp.arange(8.0), nperseg=4)
  >>> [round(v, 3) for v in p.real.tolist()]
  [0.667, 1.667, 0.0]

  Raises:
    TypeError: `x`, `y` or `window` is no array.
    ValueError: the shapes differ, a length does not suit the others, a name is unknown.
  """
  return _density(
      "csd", x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling,
      axis, average)


def _density(
    name: str, x: Any, y: Any, fs: Any, window: Any, nperseg: Any, noverlap: Any,
    nfft: Any, detrend: Any, return_onesided: bool, scaling: str, axis: int,
    average: str) -> tuple[Any, Any]:
  _check_names(name, scaling, average)
  both = [_at_least_32_bits(v) for v in _signals(name, x, *([] if y is None else [y]))]
  x, ndim = both[0], both[0].ndim
  if any(v.ndim != ndim for v in both):
    raise ValueError(
        f"{name}: x and y must have the same rank, got the shapes {x.shape} and "
        f"{both[1].shape}")
  seen, axis = axis, canonical_axis(axis, ndim, name)
  shapes = [v.shape[:axis] + v.shape[axis + 1:] for v in both]
  try:
    np.broadcast_shapes(*shapes)
  except ValueError:
    raise ValueError(
        f"{name}: x and y have the shapes {x.shape} and {both[1].shape}; expected the "
        f"same but for axis {axis}") from None
  real, n = dtypes.finfo(x.dtype).dtype, max(v.shape[axis] for v in both)
  if not all(v.size for v in both):
    shape = (*np.broadcast_shapes(*shapes), min(v.shape[axis] for v in both))
    none = gnp.moveaxis(gnp.zeros(shape, real), -1, axis)
    complex_ = y is not None or is_kind(x, np.complexfloating)
    return none, none.astype(dtypes.to_complex_dtype(x.dtype)) if complex_ else none
  plan, window = _plan(
      name, is_kind(x, np.complexfloating), n, window, nperseg, noverlap, nfft, detrend,
      return_onesided, axis, seen)
  both = [
      gnp.pad(v, [(0, n - v.shape[axis]) if i == axis else (0, 0) for i in range(ndim)])
      for v in both]
  out = _power(
      both[0], both[1] if len(both) > 1 else None, _like(window, x),
      gnp.asarray(fs, real), plan, scaling, average)
  return plan.frequencies(fs, real), out


def welch(
    x: Any, fs: Any = 1.0, window: Any = "hann", nperseg: int | None = None,
    noverlap: int | None = None, nfft: int | None = None, detrend: Any = "constant",
    return_onesided: bool = True, scaling: str = "density", axis: int = -1,
    average: str = "mean") -> tuple[Any, Any]:
  """The power spectral density of a signal, by Welch's method.

  The squared absolute values of the transforms of its segments, averaged: P. D. Welch,
  IEEE Trans. Audio Electroacoust. 15 (1967).

  Args:
    x: array; integers are converted to floats.
    fs: how many values there are in a unit of time.
    window: as for `stft`.
    nperseg: the length of a segment, 256 by default.
    noverlap: how many values a segment shares with the next; half of them by default.
    nfft: the length of the transforms, `nperseg` by default; zeros fill them.
    detrend: as for `stft`.
    return_onesided: as for `csd`.
    scaling: `"density"` for power per frequency, `"spectrum"` for power.
    axis: the axis of time.
    average: `"mean"` or `"median"`.

  Returns:
    The frequencies, and the density, real, with frequencies at `axis`.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import signal
  >>> f, p = signal.welch(gnp.array([1.0, -1.0] * 4), nperseg=4)
  >>> f.tolist(), [round(v, 3) for v in p.tolist()]
  ([0.0, 0.25, 0.5], [0.0, 1.333, 2.667])

  Raises:
    TypeError: `x` or `window` is no array.
    ValueError: a length does not suit the others, or a name is unknown.
  """
  frequencies, density = _density(
      "welch", x, None, fs, window, nperseg, noverlap, nfft, detrend, return_onesided,
      scaling, axis, average)
  return frequencies, density.real
