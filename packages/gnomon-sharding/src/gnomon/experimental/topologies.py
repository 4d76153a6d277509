"""Devices that need not be there: programs can be compiled for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.experimental.mesh_utils import create_device_mesh
from gnomon.runtime import backends
from gnomon.sharding import Mesh

__all__ = [
    "TopologyDescription", "get_attached_topology", "get_topology_desc", "make_mesh"]


class TopologyDescription:
  """Some devices.

  Attributes:
    devices: the devices.
  """

  def __init__(self, devices: list[Any]) -> None:
    self.devices = devices


def get_attached_topology(platform: str | None = None) -> TopologyDescription:
  """The devices of a platform that are there.

  Args:
    platform: `"cpu"`, `"gpu"`, …; by default the one in use.

  >>> from gnomon.experimental import topologies
  >>> len(topologies.get_attached_topology("cpu").devices) >= 1
  True
  """
  return TopologyDescription(backends.devices(platform))


def get_topology_desc(
    topology_name: str = "", platform: str | None = None, **kwargs: Any,
) -> TopologyDescription:
  """Devices of a platform by the name of how they are connected.

  Args:
    topology_name: a name that the platform knows, such as `"v5e:2x2"`.
    platform: the platform; by default the one in use.
    **kwargs: options of the platform.

  Raises:
    NotImplementedError: the platform cannot tell of devices that are not there.
    RuntimeError: there is no such platform.
  """
  name = backends.default_backend() if platform is None else platform
  found = backends.topology(name, topology_name, kwargs)
  return TopologyDescription(list(found._make_compile_only_devices()))


def make_mesh(
    topo: TopologyDescription, mesh_shape: Sequence[int], axis_names: tuple[str, ...], *,
    contiguous_submeshes: bool = False) -> Mesh:
  """A mesh of the devices of a topology.

  Args:
    topo: the topology.
    mesh_shape: the number of devices along each axis.
    axis_names: the names of the axes.
    contiguous_submeshes: for hardware with a topology of its own.

  >>> import gnomon
  >>> from gnomon.experimental import topologies
  >>> topo = topologies.TopologyDescription(gnomon.devices()[:1])
  >>> topologies.make_mesh(topo, (1,), ("x",)).shape["x"]
  1

  Raises:
    ValueError: the number of devices is not the product of the shape.
  """
  grid: np.ndarray[Any, Any] = create_device_mesh(
      mesh_shape, topo.devices, contiguous_submeshes=contiguous_submeshes)
  return Mesh(grid, axis_names)
