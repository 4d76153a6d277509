"""Derivatives of functions that compute in 64 bits in a block of their own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gnomon
from gnomon import lax


def inside(x: Any) -> Any:
  with gnomon.enable_x64(True):
    return lax.sin(lax.convert_element_type(x, "float64"))


def test_gradients_have_the_dtype_of_the_argument() -> None:
  x = np.float32(0.5)
  assert inside(x).dtype == np.float64
  values = [math.cos(0.5), -math.sin(0.5), -math.cos(0.5)]
  f: Any = inside
  for expected in values:
    f = gnomon.grad(f)
    g = f(x)
    assert g.dtype == np.float32
    assert abs(float(g) - expected) < 1e-6
  out, tangent = gnomon.jvp(inside, (x,), (x,))
  assert (out.dtype, tangent.dtype) == (np.float64, np.float64)
  with gnomon.enable_x64(True):
    assert gnomon.grad(inside)(np.float64(0.5)).dtype == np.float64
