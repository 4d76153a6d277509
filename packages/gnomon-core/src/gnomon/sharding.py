"""Where arrays live: meshes of devices, partition specs and shardings."""

from __future__ import annotations

from gnomon.api.mesh import get_abstract_mesh as get_abstract_mesh
from gnomon.api.mesh import get_mesh as get_mesh
from gnomon.api.mesh import make_single_device_sharding as make_single_device_sharding
from gnomon.api.reshard import auto_axes as auto_axes
from gnomon.api.reshard import explicit_axes as explicit_axes
from gnomon.api.reshard import reshard as reshard
from gnomon.core.mesh import AbstractDevice as AbstractDevice
from gnomon.core.mesh import AbstractMesh as AbstractMesh
from gnomon.core.mesh import AxisType as AxisType
from gnomon.core.mesh import Mesh as Mesh
from gnomon.core.mesh import set_mesh as set_mesh
from gnomon.core.mesh import use_abstract_mesh as use_abstract_mesh
from gnomon.core.partition_spec import PartitionSpec as PartitionSpec
from gnomon.core.spaces import ManualAxisType as ManualAxisType
from gnomon.runtime.shardings import NamedSharding as NamedSharding
from gnomon.runtime.shardings import Sharding as Sharding
from gnomon.runtime.shardings import SingleDeviceSharding as SingleDeviceSharding
