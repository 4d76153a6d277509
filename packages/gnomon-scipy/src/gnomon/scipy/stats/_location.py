"""What families of distributions with a location and a scale share."""

from __future__ import annotations

from typing import Any

import gnomon.numpy as gnp
from gnomon.numpy._promotion import promote_args_inexact


def standardized(name: str, x: Any, loc: Any, scale: Any) -> tuple[Any, Any]:
  """`(x - loc) / scale`, and the scale, nan where that is not positive."""
  x, loc, scale = promote_args_inexact(name, x, loc, scale)
  scale = gnp.where(scale > 0, scale, gnp.nan)
  return (x - loc) / scale, scale
