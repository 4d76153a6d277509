"""Interpolation on grids of boxes: `RegularGridInterpolator`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon.numpy._promotion import check_arraylike, promote_dtypes_inexact
from gnomon.numpy._values import array_of, is_kind
from gnomon.scipy._corners import Corner, sum_of_corners

_METHODS = ("linear", "nearest")


def _check_method(method: str) -> None:
  if method not in _METHODS:
    raise ValueError(
        f"RegularGridInterpolator: method {method!r} is not defined; expected 'linear' "
        "or 'nearest'")


class RegularGridInterpolator:
  """A function of points in n dimensions, interpolated between values on a grid.

  Args:
    points: n vectors, increasing or decreasing: the coordinates of the grid along
      each axis.
    values: array whose first n axes have the sizes of `points`.
    method: `"linear"` between all corners of a box, or the `"nearest"` of them.
    bounds_error: must be False: programs cannot raise errors because of values.
    fill_value: the value of points outside of the grid; None to go on as the outermost
      boxes do.

  >>> from gnomon import numpy as gnp
  >>> from gnomon.scipy.interpolate import RegularGridInterpolator
  >>> x, y = gnp.array([0.0, 1.0, 3.0]), gnp.array([0.0, 2.0])
  >>> f = RegularGridInterpolator((x, y), x[:, None] + 10 * y)
  >>> f(gnp.array([[2.0, 1.0], [0.5, 0.0]])).tolist()
  [12.0, 0.5]

  Raises:
    NotImplementedError: `bounds_error` is true.
    TypeError: an argument is no array.
    ValueError: the shapes do not suit each other, `method` is unknown, or `fill_value`
      is complex where `values` is real.
  """

  def __init__(
      self, points: Sequence[Any], values: Any, method: str = "linear",
      bounds_error: bool = False, fill_value: Any = np.nan) -> None:
    name = "RegularGridInterpolator"
    _check_method(method)
    if bounds_error:
      raise NotImplementedError(
          f"{name}: bounds_error=True is not available: programs cannot raise errors "
          "because of values; use fill_value")
    check_arraylike(name, values, *points)
    (values,) = map(array_of, promote_dtypes_inexact(values))
    if len(points) > values.ndim:
      raise ValueError(
          f"{name}: there are {len(points)} point arrays, but values has {values.ndim} "
          "dimensions")
    if fill_value is not None:
      check_arraylike(name, fill_value)
      fill_value = gnp.asarray(fill_value)
      if (is_kind(fill_value, np.complexfloating)
          and not is_kind(values, np.complexfloating)):
        raise ValueError(
            f"{name}: fill_value must be either 'None' or of a type compatible with "
            f"values, got {fill_value.dtype} for {values.dtype}")
    grid = []
    for i, p in enumerate(points):
      (p,) = map(array_of, promote_dtypes_inexact(p))
      if p.ndim != 1 or p.shape[0] != values.shape[i] or not p.shape[0]:
        raise ValueError(
            f"{name}: points[{i}] has the shape {p.shape}; expected "
            f"({values.shape[i]},), as axis {i} of values, and not empty")
      falling = p[0] > p[-1]
      grid.append(gnp.where(falling, p[::-1], p))
      values = gnp.where(falling, gnp.flip(values, i), values)
    self.method = method
    self.bounds_error = bounds_error
    self.fill_value = fill_value
    self.grid = tuple(grid)
    self.values = values

  def __call__(self, xi: Any, method: str | None = None) -> Any:
    """The interpolated values.

    Args:
      xi: array of shape `(..., n)`: the points; or a tuple of n arrays, their
        coordinates, that are broadcast.
      method: instead of that of the interpolator.

    Returns:
      Array of shape `(..., *values.shape[n:])`.

    Raises:
      TypeError: `xi` is no array and no tuple of arrays.
      ValueError: it has the wrong size, or `method` is unknown.
    """
    method = self.method if method is None else method
    _check_method(method)
    n = len(self.grid)
    if isinstance(xi, tuple):
      xi = gnp.stack(gnp.broadcast_arrays(*map(gnp.asarray, xi)), -1)
    check_arraylike("RegularGridInterpolator", xi)
    (xi,) = map(array_of, promote_dtypes_inexact(xi))
    if xi.ndim < 2:  # a vector is one point, or many on a line
      xi = xi.reshape(-1, 1) if n == 1 else xi.reshape(1, -1)
    if xi.shape[-1] != n:
      raise ValueError(
          "RegularGridInterpolator: the requested sample points xi have dimension "
          f"{xi.shape[-1]}, but this RegularGridInterpolator has dimension {n}")
    outside: Any = False
    axes = []
    for i, grid in enumerate(self.grid):
      x = xi[..., i]
      axes.append(_corners(grid, x, method))
      beyond = gnp.logical_or(x < grid[0], x > grid[-1])
      outside = gnp.logical_or(outside, beyond)
    out = sum_of_corners(
        axes, lambda at: self.values.at[at].get(mode="promise_in_bounds"))
    shape = xi.shape[:-1] + (1,) * (self.values.ndim - n)
    unknown = gnp.any(gnp.isnan(xi), -1).reshape(shape)
    if self.fill_value is not None:
      out = gnp.where(outside.reshape(shape), self.fill_value.astype(out.dtype), out)
    return gnp.where(unknown, gnp.asarray(np.nan, out.dtype), out)


def _corners(grid: Any, x: Any, method: str) -> list[Corner]:
  """The neighbours of points in a vector, with their weights."""
  last = grid.shape[0] - 1
  lower = gnp.clip(gnp.searchsorted(grid, x, side="right") - 1, 0, max(last - 1, 0))
  upper = gnp.minimum(lower + 1, last)
  width = grid[upper] - grid[lower]
  part = (x - grid[lower]) / gnp.where(width == 0, 1, width)
  if method == "nearest":
    return [(gnp.where(part <= 0.5, lower, upper), None)]
  return [(lower, 1 - part), (upper, part)]
