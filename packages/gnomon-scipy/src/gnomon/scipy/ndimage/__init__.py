"""Images of any rank: `scipy.ndimage`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
  from gnomon.scipy.ndimage._map import map_coordinates as map_coordinates
else:
  from gnomon._door import open_door as _open_door
  from gnomon.scipy.ndimage._names import NAMES as _NAMES

  __getattr__, __dir__, __all__ = _open_door(__name__, _NAMES)
