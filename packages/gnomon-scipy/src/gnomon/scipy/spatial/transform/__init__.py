"""Rotations: `scipy.spatial.transform`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
  from gnomon.scipy.spatial.transform._rotation import Rotation as Rotation
  from gnomon.scipy.spatial.transform._slerp import Slerp as Slerp
else:
  from gnomon._door import open_door as _open_door
  from gnomon.scipy.spatial.transform._names import NAMES as _NAMES

  __getattr__, __dir__, __all__ = _open_door(__name__, _NAMES)
