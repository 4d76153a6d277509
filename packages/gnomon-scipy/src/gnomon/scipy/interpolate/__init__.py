"""Interpolation between given values: `scipy.interpolate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
  from gnomon.scipy.interpolate._grid import (
    RegularGridInterpolator as RegularGridInterpolator,
  )
else:
  from gnomon._door import open_door as _open_door
  from gnomon.scipy.interpolate._names import NAMES as _NAMES

  __getattr__, __dir__, __all__ = _open_door(__name__, _NAMES)
