"""Grids of devices for meshes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.runtime import backends

__all__ = ["create_device_mesh", "create_hybrid_device_mesh"]


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


def create_hybrid_device_mesh(
    mesh_shape: Sequence[int], dcn_mesh_shape: Sequence[int],
    devices: Sequence[Any] | None = None, *, process_is_granule: bool = False,
    should_sort_granules_by_key: bool = True, allow_split_physical_axes: bool = False,
) -> np.ndarray[Any, Any]:
  """Devices in groups that are connected fast, among which connections are slow.

  Args:
    mesh_shape: the number of devices along each axis inside a group.
    dcn_mesh_shape: the number of groups along each axis, of the same length.
    devices: the devices, all by default.
    process_is_granule: whether a group is a process; otherwise it is a slice.
    should_sort_granules_by_key: whether groups come in the order of their numbers;
      otherwise in that of the devices.
    allow_split_physical_axes: as in `create_device_mesh`.

  Returns:
    An array whose shape is the product of both shapes, axis by axis.

  >>> import gnomon
  >>> from gnomon.experimental import mesh_utils
  >>> mesh_utils.create_hybrid_device_mesh(
  ...   (1, 1), (1, 1), gnomon.devices()[:1], process_is_granule=True).shape
  (1, 1)

  Raises:
    ValueError: the shapes differ in length; devices do not know their slice; or the
      numbers of groups, or of devices in one, are not those of the shapes.
  """
  if len(mesh_shape) != len(dcn_mesh_shape):
    raise ValueError(
        "create_hybrid_device_mesh needs as many axes in dcn_mesh_shape as mesh_shape: "
        f"got {tuple(dcn_mesh_shape)} and {tuple(mesh_shape)}")
  found = list(backends.devices() if devices is None else devices)
  key = "process_index" if process_is_granule else "slice_index"
  groups: dict[int, list[Any]] = {}
  for d in found:
    if not hasattr(d, key):
      raise ValueError(
          f"Device {d} does not have attribute {key}: it belongs to no slice. With "
          "process_is_granule=True the devices of a process are a group")
    groups.setdefault(getattr(d, key), []).append(d)
  if math.prod(dcn_mesh_shape) != len(groups):
    raise ValueError(
        f"Number of slices {len(groups)} must equal the product of dcn_mesh_shape "
        f"{tuple(dcn_mesh_shape)}")
  order = sorted(groups) if should_sort_granules_by_key else list(groups)
  inner = [
      create_device_mesh(
          mesh_shape, groups[g], allow_split_physical_axes=allow_split_physical_axes)
      for g in order]
  places = np.arange(len(order)).reshape(tuple(dcn_mesh_shape))
  return np.block(np.vectorize(lambda i: inner[i], otypes=[object])(places).tolist())
