"""Iterative solvers of linear equations: `scipy.sparse.linalg`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
  from gnomon.scipy.sparse.linalg._gmres import gmres as gmres
  from gnomon.scipy.sparse.linalg._gradients import bicgstab as bicgstab
  from gnomon.scipy.sparse.linalg._gradients import cg as cg
else:
  from gnomon._door import open_door as _open_door
  from gnomon.scipy.sparse.linalg._names import NAMES as _NAMES

  __getattr__, __dir__, __all__ = _open_door(__name__, _NAMES)
