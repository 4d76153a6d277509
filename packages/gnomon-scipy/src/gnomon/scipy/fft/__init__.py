"""Cosine transforms: `scipy.fft`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
  from gnomon.scipy.fft._cosine import dct as dct
  from gnomon.scipy.fft._cosine import dctn as dctn
  from gnomon.scipy.fft._cosine import idct as idct
  from gnomon.scipy.fft._cosine import idctn as idctn
else:
  from gnomon._door import open_door as _open_door
  from gnomon.scipy.fft._names import NAMES as _NAMES

  __getattr__, __dir__, __all__ = _open_door(__name__, _NAMES)
