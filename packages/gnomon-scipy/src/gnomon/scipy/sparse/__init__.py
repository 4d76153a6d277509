"""Linear equations with matrices that are given as functions: `scipy.sparse`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
  from gnomon.scipy.sparse import linalg as linalg
else:
  from gnomon._door import open_door as _open_door
  from gnomon.scipy.sparse._names import NAMES as _NAMES

  __getattr__, __dir__, __all__ = _open_door(__name__, _NAMES)
