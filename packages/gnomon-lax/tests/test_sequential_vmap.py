"""`sequential_vmap`: mapping by a loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.custom_batching import sequential_vmap

XS = np.array([0.5, 1, 2], np.float32)


@sequential_vmap
def _f(x: Any, y: Any) -> Any:
  return {"z": lax.mul(lax.sin(x), y)}


@pytest.mark.parametrize(("axes", "y"), [((0, None), np.float32(2)), ((0, 0), XS)])
def test_a_loop_computes_what_vmap_does(axes: Any, y: Any) -> None:
  got = gnomon.vmap(_f, axes)(XS, y)["z"]
  np.testing.assert_allclose(got, np.sin(XS) * y, rtol=1e-6)
  assert "scan" in str(gnomon.make_jaxpr(gnomon.vmap(_f, axes))(XS, y))
  grid = np.stack([XS, 2 * XS])
  twice = gnomon.vmap(lambda x: gnomon.vmap(_f, axes)(x, y)["z"])(grid)
  np.testing.assert_allclose(twice, np.sin(grid) * y, rtol=1e-6)


def test_derivatives() -> None:
  def total(x: Any) -> Any:
    return lax.reduce_sum(gnomon.vmap(_f, (0, None))(x, np.float32(2))["z"], (0,))

  want = 2 * np.cos(XS)
  np.testing.assert_allclose(gnomon.grad(total)(XS), want, rtol=1e-6)
  each = gnomon.vmap(gnomon.grad(lambda x: _f(x, np.float32(2))["z"]))(XS)
  np.testing.assert_allclose(each, want, rtol=1e-6)
