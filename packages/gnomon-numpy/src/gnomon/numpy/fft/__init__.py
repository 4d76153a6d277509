"""Discrete Fourier transforms of arrays: `numpy.fft`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
  from gnomon.numpy.fft._helpers import fftfreq as fftfreq
  from gnomon.numpy.fft._helpers import fftshift as fftshift
  from gnomon.numpy.fft._helpers import ifftshift as ifftshift
  from gnomon.numpy.fft._helpers import rfftfreq as rfftfreq
  from gnomon.numpy.fft._one import fft as fft
  from gnomon.numpy.fft._one import hfft as hfft
  from gnomon.numpy.fft._one import ifft as ifft
  from gnomon.numpy.fft._one import ihfft as ihfft
  from gnomon.numpy.fft._one import irfft as irfft
  from gnomon.numpy.fft._one import rfft as rfft
  from gnomon.numpy.fft._several import fft2 as fft2
  from gnomon.numpy.fft._several import fftn as fftn
  from gnomon.numpy.fft._several import ifft2 as ifft2
  from gnomon.numpy.fft._several import ifftn as ifftn
  from gnomon.numpy.fft._several import irfft2 as irfft2
  from gnomon.numpy.fft._several import irfftn as irfftn
  from gnomon.numpy.fft._several import rfft2 as rfft2
  from gnomon.numpy.fft._several import rfftn as rfftn
else:
  from gnomon._door import open_door as _open_door
  from gnomon.numpy.fft._names import NAMES as _NAMES

  __getattr__, __dir__, __all__ = _open_door(__name__, _NAMES)
