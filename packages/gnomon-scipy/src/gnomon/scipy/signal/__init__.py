"""Convolution and spectra of signals: `scipy.signal`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
  from gnomon.scipy.signal._convolution import convolve as convolve
  from gnomon.scipy.signal._convolution import convolve2d as convolve2d
  from gnomon.scipy.signal._convolution import correlate as correlate
  from gnomon.scipy.signal._convolution import correlate2d as correlate2d
  from gnomon.scipy.signal._convolution import fftconvolve as fftconvolve
  from gnomon.scipy.signal._detrend import detrend as detrend
  from gnomon.scipy.signal._inverse import istft as istft
  from gnomon.scipy.signal._spectra import csd as csd
  from gnomon.scipy.signal._spectra import stft as stft
  from gnomon.scipy.signal._spectra import welch as welch
else:
  from gnomon._door import open_door as _open_door
  from gnomon.scipy.signal._names import NAMES as _NAMES

  __getattr__, __dir__, __all__ = _open_door(__name__, _NAMES)
