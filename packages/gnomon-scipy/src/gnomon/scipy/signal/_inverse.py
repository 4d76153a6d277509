"""A signal of the transforms of its segments: `istft`."""

from __future__ import annotations

from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.core import dtypes
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import canonical_axis, check_arraylike
from gnomon.numpy._values import array_of, is_kind
from gnomon.scipy.signal._spectra import along_last, transform_length
from gnomon.scipy.signal._windows import named


def _overlapped(pieces: Any, step: int) -> Any:
  """The sum of the rows of `(..., count, size)`, each `step` behind the one before it.

  Rows are cut to blocks of `step` values; the k-th blocks of all rows, laid one after
  the other, are a signal that begins k steps late.
  """
  *rest, count, size = pieces.shape
  blocks = -(-size // step)
  pieces = gnp.pad(pieces, [(0, 0)] * (len(rest) + 1) + [(0, blocks * step - size)])
  pieces = pieces.reshape(*rest, count, blocks, step)
  total = None
  for k in range(blocks):
    late = gnp.pad(
        pieces[..., k, :], [(0, 0)] * len(rest) + [(k, blocks - 1 - k), (0, 0)])
    total = late if total is None else lax.add(total, late)
  total = gnp.reshape(total, (*rest, (count + blocks - 1) * step))
  return total[..., :(count - 1) * step + size]


@compiled(static=("size", "step", "length", "onesided", "boundary"))
def _istft(
    z: Any, window: Any, size: int, step: int, length: int, onesided: bool,
    boundary: bool) -> Any:
  """The signal of transforms of shape `(..., count, frequencies)`."""
  segments = (gnp.fft.irfft if onesided else gnp.fft.ifft)(z, length)[..., :size]
  segments = segments * along_last(window * gnp.sum(window), segments)
  count = z.shape[-2]
  out = _overlapped(segments, step)
  weight = _overlapped(gnp.broadcast_to(window * window, (count, size)), step)
  if boundary:
    half = size // 2
    stop = out.shape[-1] - half
    out, weight = out[..., half:stop], weight[..., half:stop]
  # Where windows vanish nothing is known of the signal.
  weight = gnp.where(gnp.abs(weight) > 1e-10, weight, gnp.ones((), weight.dtype))
  out = out / along_last(weight, out)
  return out.real if onesided else out


def istft(
    Zxx: Any, fs: Any = 1.0, window: Any = "hann", nperseg: int | None = None,
    noverlap: int | None = None, nfft: int | None = None, input_onesided: bool = True,
    boundary: bool = True, time_axis: int = -1, freq_axis: int = -2) -> tuple[Any, Any]:
  """The signal whose segments have given Fourier transforms: the inverse of `stft`.

  Args:
    Zxx: array: the transforms.
    fs: how many values there are in a unit of time.
    window: the window of `stft`.
    nperseg: the length of a segment; by default what the number of frequencies says.
    noverlap: how many values a segment shares with the next; half of them by default.
    nfft: the length of the transforms, if it differs from `nperseg`.
    input_onesided: whether the frequencies below zero were left out.
    boundary: whether `stft` made the signal longer at its ends.
    time_axis: the axis of the segments.
    freq_axis: the axis of the frequencies.

  Returns:
    The times, for several signals as many as the first axis has elements, as in SciPy;
    and the signal, real if `input_onesided`.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy import signal
  >>> f, t, z = signal.stft(gnp.arange(8.0), nperseg=4)
  >>> [round(v, 3) for v in signal.istft(z)[1].tolist()]
  [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]

  Raises:
    TypeError: `Zxx` or `window` is no array.
    ValueError: an axis or a length does not suit the others.
  """
  check_arraylike("istft", Zxx)
  z = array_of(Zxx)
  z = z.astype(dtypes.to_complex_dtype(dtypes.to_inexact_dtype(z.dtype)))
  if z.ndim < 2:
    raise ValueError(
        f"istft: Input stft must be at least 2d, got the shape {z.shape}")
  time = canonical_axis(time_axis, z.ndim, "istft")
  freq = canonical_axis(freq_axis, z.ndim, "istft")
  if time == freq:
    raise ValueError(
        "istft: Must specify differing time and frequency axes!, got "
        f"time_axis={time_axis} and freq_axis={freq_axis}")
  own = 2 * (z.shape[freq] - 1) if input_onesided else z.shape[freq]
  size = own if nperseg is None else int(nperseg)
  if size < 1:
    raise ValueError(f"istft: nperseg must be a positive integer, got {size}")
  if nfft is None:
    nfft = size if input_onesided and size == own + 1 else own
  length = transform_length("istft", nfft, size)
  overlap = size // 2 if noverlap is None else int(noverlap)
  if not 0 <= overlap < size:
    raise ValueError(
        f"istft: noverlap must be less than nperseg, got {overlap} and {size}")
  window = _window(window, size, z.dtype)
  out = _istft(
      gnp.moveaxis(z, (time, freq), (-2, -1)), window, size, size - overlap, length,
      bool(input_onesided), bool(boundary))
  # Without the axis of frequencies, that of time may stand one place further in front.
  out = gnp.moveaxis(out, -1, time - (freq < time))
  return gnp.asarray(np.arange(out.shape[0]) / fs, dtypes.finfo(z.dtype).dtype), out


def _window(window: Any, size: int, dtype: Any) -> Any:
  if isinstance(window, (str, tuple, int, float)):
    window = named("istft", window, size)
  else:
    check_arraylike("istft", window)
    if np.shape(window) != (size,):
      raise ValueError(
          f"istft: window must have length of {size}, got the shape {np.shape(window)}")
  if is_kind(window, np.complexfloating):
    return gnp.asarray(window, dtype)
  return gnp.asarray(window, dtypes.finfo(dtype).dtype)
