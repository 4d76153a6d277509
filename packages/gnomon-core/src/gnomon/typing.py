"""Types for annotations: what functions accept as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np

from gnomon._start import Array

if TYPE_CHECKING:
  ArrayLike: TypeAlias = Any  # `Array` is jaxlib's class, of which checkers know nothing
else:
  # `Union`, because libraries ask whether `typing.get_origin(ArrayLike)` is that.
  ArrayLike = Union[  # noqa: UP007
      Array, np.ndarray, np.bool_, np.number, bool, int, float, complex]
"""An array, a NumPy array or scalar, or a Python number."""

DTypeLike: TypeAlias = str | type[Any] | np.dtype[Any] | Any
"""Whatever names a dtype: a string, a scalar type, a dtype."""

__all__ = ["ArrayLike", "DTypeLike"]
