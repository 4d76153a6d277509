"""Integrals: `scipy.integrate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
  from gnomon.numpy import trapezoid as trapezoid
else:
  from gnomon._door import open_door as _open_door
  from gnomon.scipy.integrate._names import NAMES as _NAMES

  __getattr__, __dir__, __all__ = _open_door(__name__, _NAMES)
