"""Elementwise primitives: circular functions and their inverses."""

from __future__ import annotations

from typing import Any

from gnomon.lax._arithmetic import mul
from gnomon.lax._families import INEXACT, unary


def sin(x: Any, accuracy: Any = None) -> Any:
  r"""Sine, elementwise: :math:`\sin x` of an angle in radians.

  Args:
    x: floating-point or complex array.
    accuracy: how exact the result must be; None: the platform's default.

  >>> from gnomon import lax
  >>> float(lax.sin(0.0))
  0.0

  Raises:
    TypeError: `x` is neither floating-point nor complex.
  """
  return sin_p.bind(x, accuracy=accuracy)[0]


sin_p = unary("sin", INEXACT, "sine", lambda t, ans, x, accuracy: mul(t, cos(x)))
