"""SciPy's interface, on arrays that can be transformed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
  from gnomon.scipy import cluster as cluster
  from gnomon.scipy import fft as fft
  from gnomon.scipy import integrate as integrate
  from gnomon.scipy import interpolate as interpolate
  from gnomon.scipy import linalg as linalg
  from gnomon.scipy import ndimage as ndimage
  from gnomon.scipy import optimize as optimize
  from gnomon.scipy import signal as signal
  from gnomon.scipy import sparse as sparse
  from gnomon.scipy import spatial as spatial
  from gnomon.scipy import special as special
  from gnomon.scipy import stats as stats
else:
  from gnomon._door import open_door as _open_door
  from gnomon.scipy._names import NAMES as _NAMES

  __getattr__, __dir__, __all__ = _open_door(__name__, _NAMES)
