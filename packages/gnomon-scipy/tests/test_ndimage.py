"""Interpolated images and grids against SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.interpolate
import scipy.ndimage

import gnomon
from gnomon.scipy.interpolate import RegularGridInterpolator
from gnomon.scipy.ndimage import map_coordinates
from gnomon.testing import check_grads, check_vmap

RNG = np.random.default_rng(1)
MODES = {"constant": "grid-constant", "nearest": "nearest", "mirror": "mirror",
         "reflect": "reflect", "wrap": "grid-wrap"}


@pytest.mark.parametrize(("shape", "dtype"), [
    ((5,), np.int32), ((3, 4), np.complex64), ((1, 2, 3), np.float32)])
def test_map_coordinates(shape: Any, dtype: Any) -> None:
  image = (10 * RNG.normal(size=shape)).astype(dtype)
  at = [RNG.uniform(-1.5, 2.5, size=(5, 6)).astype(np.float32) * n for n in shape]
  for mode, theirs in MODES.items():
    for order in (0, 1):
      np.testing.assert_allclose(
          map_coordinates(image, at, order, mode, cval=2.0),
          scipy.ndimage.map_coordinates(image, at, order=order, mode=theirs, cval=2.0),
          rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("mode", MODES)
def test_map_coordinates_transformed(mode: str) -> None:
  image = RNG.normal(size=(3, 4)).astype(np.float32)
  # Not at pixels, where derivatives have two sides.
  at = (np.floor(RNG.uniform(-3, 6, size=(2, 5))) + RNG.uniform(0.3, 0.7, size=(2, 5)))
  at = at.astype(np.float32)

  def f(image: Any, at: Any) -> Any:
    return map_coordinates(image, at, 1, mode)

  check_grads(f, (image, at), 1)
  check_vmap(f, (np.stack([image, 2 * image]), np.stack([at, at + 1])), (0, 0))


def test_slopes_at_pixels() -> None:
  image = np.arange(5, dtype=np.float32) * 3
  slope = gnomon.vmap(gnomon.grad(lambda t: map_coordinates(image, [t], 1, "wrap")))
  np.testing.assert_array_equal(
      slope(np.arange(5, dtype=np.float32)), [3, 3, 3, 3, -12])


def test_values_that_do_not_count() -> None:
  image = np.array([1.0, 2.0, np.inf], np.float32)
  at = [np.array([0.0, 1.0, 2.0, 2.5, np.nan, 1e30], np.float32)]
  np.testing.assert_array_equal(
      map_coordinates(image, at, 1, cval=np.nan),
      [1, 2, np.inf, np.nan, np.nan, np.nan])
  np.testing.assert_array_equal(map_coordinates(image[:0], at, 1, cval=4.0), [4.0] * 6)
  np.testing.assert_array_equal(
      map_coordinates(np.arange(-3, 3), [np.array([0.5, 1.5, 3.5, 4.5])], 1),
      [-3, -2, 1, 2])


def test_map_coordinates_errors() -> None:
  x, c = np.arange(5.0), np.array([0.5])
  for more in ({"order": 2}, {"order": 1, "mode": "grid-wrap"}):
    with pytest.raises(NotImplementedError, match=r"requires order<=1|not yet support"):
      map_coordinates(x, [c], **more)
  with pytest.raises(ValueError, match="sequence of length"):
    map_coordinates(x, [c, c], 1)
  with pytest.raises(ValueError, match="without pixels"):
    map_coordinates(x[:0], [c], 1, "wrap")
  with pytest.raises(TypeError, match="must be real"):
    map_coordinates(x, [1j * c], 1)


POINTS = (np.array([0.0, 1.0, 1.5, 4.0]), np.array([4.0, 2.0, -1.0]))


@pytest.mark.parametrize("method", ["linear", "nearest"])
@pytest.mark.parametrize("fill", [np.nan, None, 3.0])
def test_grid(method: str, fill: Any) -> None:
  values, xi = RNG.normal(size=(4, 3, 2)), RNG.uniform(-2, 5, size=(6, 3, 2))
  keywords = {"method": method, "bounds_error": False, "fill_value": fill}
  np.testing.assert_allclose(
      RegularGridInterpolator(POINTS, values, **keywords)(xi),
      scipy.interpolate.RegularGridInterpolator(POINTS, values, **keywords)(xi),
      rtol=1e-4, atol=1e-4)


def test_grid_transformed() -> None:
  values = RNG.normal(size=(4, 3)).astype(np.float32)
  xi = np.array([[0.3, 1.0], [2.0, 3.5], [1.2, 0.4]], np.float32)
  check_grads(lambda v, x: RegularGridInterpolator(POINTS, v)(x), (values, xi), 1)
  f = RegularGridInterpolator(POINTS, values)
  np.testing.assert_allclose(gnomon.vmap(f)(xi)[:, 0], f(xi), rtol=1e-6)
  np.testing.assert_array_equal(f((xi[:, 0], xi[:, 1])), f(xi))
  line = RegularGridInterpolator(POINTS[:1], np.array([1.0, 2.0, np.inf, 5.0]))
  np.testing.assert_array_equal(
      line(np.array([0.5, 1.0, 1.5, np.nan])), [1.5, 2.0, np.inf, np.nan])


def test_grid_errors() -> None:
  values = np.ones((4, 3))
  with pytest.raises(NotImplementedError, match="fill_value"):
    RegularGridInterpolator(POINTS, values, bounds_error=True)
  for call in (lambda: RegularGridInterpolator(POINTS, values, "cubic"),
               lambda: RegularGridInterpolator(POINTS, values[:3]),
               lambda: RegularGridInterpolator(POINTS + POINTS, values),
               lambda: RegularGridInterpolator(POINTS, values, fill_value=1j),
               lambda: RegularGridInterpolator(POINTS, values)(np.ones((2, 3))),
               lambda: RegularGridInterpolator(POINTS, values)(np.ones(2), "cubic")):
    with pytest.raises(ValueError, match="RegularGridInterpolator"):
      call()
