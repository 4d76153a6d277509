"""Types for annotations: what functions accept as arrays."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

ArrayLike: TypeAlias = Any
"""An array, a NumPy array or scalar, or a Python number."""

DTypeLike: TypeAlias = str | type[Any] | np.dtype[Any] | Any
"""Whatever names a dtype: a string, a scalar type, a dtype."""

__all__ = ["ArrayLike", "DTypeLike"]
