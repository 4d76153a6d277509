"""Minima of functions: `scipy.optimize`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
  from gnomon.scipy.optimize._minimize import OptimizeResults as OptimizeResults
  from gnomon.scipy.optimize._minimize import minimize as minimize
else:
  from gnomon._door import open_door as _open_door
  from gnomon.scipy.optimize._names import NAMES as _NAMES

  __getattr__, __dir__, __all__ = _open_door(__name__, _NAMES)
