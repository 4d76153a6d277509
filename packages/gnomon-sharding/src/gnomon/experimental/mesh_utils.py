"""Grids of devices for meshes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.runtime import backends

__all__ = ["create_device_mesh"]


def create_device_mesh(
    mesh_shape: Sequence[int], devices: Sequence[Any] | None = None, *,
    contiguous_submeshes: bool = False, allow_split_physical_axes: bool = False,
) -> np.ndarray[Any, Any]:
  """An array of devices of a shape, for `Mesh`.

  Args:
    mesh_shape: the number of devices along each axis.
    devices: the devices, all by default; their number is the product of the shape.
    contiguous_submeshes: for hardware with a topology of its own; no effect elsewhere.
    allow_split_physical_axes: likewise.

  >>> from gnomon.experimental import mesh_utils
  >>> mesh_utils.create_device_mesh((1, 1)).shape
  (1, 1)

  Raises:
    ValueError: the number of devices is not the product of the shape.
  """
  del contiguous_submeshes, allow_split_physical_axes
  found = list(backends.devices() if devices is None else devices)
  if math.prod(mesh_shape) != len(found):
    raise ValueError(
        f"Number of devices {len(found)} must equal the product of mesh_shape "
        f"{tuple(mesh_shape)}, which is {math.prod(mesh_shape)}")
  grid = np.empty(len(found), object)
  grid[:] = found
  return grid.reshape(tuple(mesh_shape))
