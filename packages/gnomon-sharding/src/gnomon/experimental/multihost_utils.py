"""Values shared by the processes of a program, and points where they wait."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gnomon.api.assembly import make_array_from_single_device_arrays
from gnomon.api.device import device_put
from gnomon.api.jit import jit
from gnomon.core.partition_spec import axes_of
from gnomon.core.types import WrappedArray
from gnomon.runtime import backends
from gnomon.runtime.jaxlib import arrays
from gnomon.runtime.processes import global_state
from gnomon.sharding import Mesh, NamedSharding, PartitionSpec
from gnomon.tree_util import flatten_axes, tree_flatten, tree_leaves, tree_map

__all__ = [
    "ProcessFailureError", "assert_equal", "broadcast_one_to_all",
    "global_array_to_host_local_array", "host_local_array_to_global_array",
    "live_devices", "process_allgather", "reached_preemption_sync_point",
    "sync_global_devices"]

Array = arrays.Array
P = PartitionSpec


def _mesh() -> Mesh:
  """All devices, by process."""
  devices = np.array(backends.devices(), object)
  return Mesh(
      devices.reshape(backends.process_count(), backends.local_device_count()),
      ("processes", "local_devices"))


def _gathered(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
  """The array of each process, stacked; all have the same shape and dtype."""
  # Whatever the dtype, its bytes arrive: there is nothing to truncate or to round.
  raw = np.frombuffer(np.ascontiguousarray(x).tobytes(), np.uint8)
  mesh = _mesh()
  here = [device_put(raw[None], d) for d in mesh.local_devices]
  whole = make_array_from_single_device_arrays(
      (backends.process_count(), raw.size), NamedSharding(mesh, P("processes")), here)
  same = jit(lambda y: y, out_shardings=NamedSharding(mesh, P()))(whole)
  found = np.asarray(same.addressable_data(0))
  return np.frombuffer(found.tobytes(), x.dtype).reshape(-1, *x.shape)


def process_allgather(in_tree: Any, tiled: bool = False) -> Any:
  """The values of all processes, in each of them.

  Args:
    in_tree: a pytree of arrays of the same shapes and dtypes in each process. An array
      over devices of several processes is read as a whole, and needs `tiled`.
    tiled: whether the values are concatenated along their first dimension; otherwise
      they are stacked along a new one.

  Returns:
    A pytree of NumPy arrays.

  >>> import gnomon
  >>> from gnomon.experimental import multihost_utils
  >>> multihost_utils.process_allgather(gnomon.numpy.arange(2)).tolist()
  [[0, 1]]

  Raises:
    ValueError: an array is over devices of several processes, and `tiled` is not true.
  """
  return tree_map(lambda x: _allgather(x, tiled), in_tree)


def _allgather(x: Any, tiled: bool) -> Any:
  if type(x) is Array and not x.is_fully_addressable:
    if not tiled:
      raise ValueError(
          "process_allgather: an array over devices of several processes has no value "
          f"for each process; give tiled=True to read it as a whole. It is {x.aval} with "
          f"{x.sharding}")
    mesh = Mesh(np.array(list(x.sharding._internal_device_list), object), ("x",))
    same = jit(lambda y: y, out_shardings=NamedSharding(mesh, P()))(x)
    return np.asarray(same.addressable_data(0))
  value = np.asarray(x)
  found = _gathered(value) if backends.process_count() > 1 else value[None]
  return np.concatenate(list(found)) if tiled and value.ndim else found


def broadcast_one_to_all(in_tree: Any, is_source: bool | None = None) -> Any:
  """The values of one process, in each of them.

  Args:
    in_tree: a pytree of arrays, of the same shapes and dtypes in each process.
    is_source: whether they are those of this process; by default of process 0.

  Returns:
    A pytree of NumPy arrays.

  >>> import gnomon
  >>> from gnomon.experimental import multihost_utils
  >>> multihost_utils.broadcast_one_to_all(gnomon.numpy.arange(2)).tolist()
  [0, 1]
  """
  if backends.process_count() == 1:
    return tree_map(np.asarray, in_tree)
  if is_source is None:
    is_source = backends.process_index() == 0
  source = int(np.argmax(_gathered(np.asarray(is_source))))
  return tree_map(lambda x: _gathered(np.asarray(x))[source], in_tree)


def assert_equal(in_tree: Any, fail_message: str = "") -> None:
  """Raises `AssertionError` unless all processes have the same values.

  Args:
    in_tree: a pytree of arrays.
    fail_message: begins the message.

  >>> from gnomon.experimental import multihost_utils
  >>> multihost_utils.assert_equal(3)
  """
  expected = broadcast_one_to_all(in_tree)
  pairs = zip(tree_leaves(expected), tree_leaves(in_tree), strict=True)
  if not all(np.array_equal(x, np.asarray(y)) for x, y in pairs):
    raise AssertionError(
        f"{fail_message} Process 0 has {expected}; process {backends.process_index()} "
        f"has {in_tree}.")


def sync_global_devices(name: str) -> None:
  """Waits until all processes have come to this point.

  Args:
    name: of the point, the same in each process.

  >>> from gnomon.experimental import multihost_utils
  >>> multihost_utils.sync_global_devices("before reading")

  Raises:
    AssertionError: a process waits at a point of another name.
  """
  if backends.process_count() > 1:
    assert_equal(
        np.uint32(zlib.crc32(name.encode())),
        f"sync_global_devices name mismatch ('{name}').")


def host_local_array_to_global_array(
    local_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
  """Arrays over the devices of all processes, made of what each process holds.

  Args:
    local_inputs: a pytree of arrays: along a dimension that axes of the mesh divide
      between processes, this process's part; otherwise the whole.
    global_mesh: the mesh, of devices of all processes.
    pspecs: `PartitionSpec`s, a prefix of the inputs.

  >>> import gnomon
  >>> from gnomon.experimental import multihost_utils
  >>> mesh = gnomon.make_mesh((1,), ("x",))
  >>> multihost_utils.host_local_array_to_global_array(
  ...   gnomon.numpy.ones(2), mesh, gnomon.P("x")).shape
  (2,)
  """
  local_mesh = global_mesh.local_mesh

  def to_global(x: Any, spec: PartitionSpec) -> Any:
    parts = device_put(x, NamedSharding(local_mesh, spec))
    shape = _scaled(parts.shape, spec, global_mesh, local_mesh)
    return _reassembled(parts, shape, NamedSharding(global_mesh, spec))

  return _each(to_global, local_inputs, pspecs)


def global_array_to_host_local_array(
    global_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
  """What this process holds of arrays over the devices of all processes.

  The reverse of `host_local_array_to_global_array`, with the same arguments.

  >>> import gnomon
  >>> from gnomon.experimental import multihost_utils
  >>> mesh = gnomon.make_mesh((1,), ("x",))
  >>> multihost_utils.global_array_to_host_local_array(
  ...   gnomon.numpy.ones(2), mesh, gnomon.P("x")).shape
  (2,)
  """
  local_mesh = global_mesh.local_mesh

  def to_local(x: Any, spec: PartitionSpec) -> Any:
    placed = device_put(x, NamedSharding(global_mesh, spec))
    shape = _scaled(placed.shape, spec, local_mesh, global_mesh)
    return _reassembled(placed, shape, NamedSharding(local_mesh, spec))

  return _each(to_local, global_inputs, pspecs)


def _each(f: Any, inputs: Any, pspecs: Any) -> Any:
  leaves, tree = tree_flatten(inputs)
  specs = flatten_axes("pspecs", tree, pspecs)
  outs = []
  for x, spec in zip(leaves, specs):
    spec = P() if spec is None else spec
    outs.append(
        x.with_physical(f(x.physical, spec)) if isinstance(x, WrappedArray)
        else f(x, spec))
  return tree.unflatten(outs)


def _scaled(shape: Any, spec: PartitionSpec, up: Mesh, down: Mesh) -> tuple[int, ...]:
  """A shape times the axes of one mesh that divide it, over those of another."""
  sizes = list(shape)
  for d, entry in enumerate(spec):
    for axis in axes_of(entry):
      sizes[d] = sizes[d] * up.shape[axis] // down.shape[axis]
  return tuple(sizes)


def _reassembled(x: Any, shape: tuple[int, ...], sharding: Any) -> Any:
  return make_array_from_single_device_arrays(
      shape, sharding, [s.data for s in x.addressable_shards], dtype=x.dtype)


def reached_preemption_sync_point(step_id: int) -> bool:
  """Whether a process was told that it will be stopped, and all agreed on this step.

  Args:
    step_id: counts the calls; the same in each process.

  Raises:
    RuntimeError: the service for it is not on: option `jax_enable_preemption_service`.
  """
  if global_state.client is None:
    return False
  manager = global_state.preemption_sync_manager
  if manager is None:
    raise RuntimeError(
        "Preemption sync manager has not been initialized: set the option "
        "jax_enable_preemption_service before gnomon.distributed.initialize")
  return bool(manager.reached_sync_point(step_id))


class ProcessFailureError(RuntimeError):
  """Raised by `live_devices` when a process has gone; `failed_devices` are its own."""

  def __init__(self, failed_devices: set[Any]) -> None:
    super().__init__(
        f"processes of the devices {sorted(d.id for d in failed_devices)} have failed")
    self.failed_devices = failed_devices


@contextmanager
def live_devices(devices: Any) -> Iterator[list[Any]]:
  """A context with those devices whose processes are alive, the same in each of them.

  Args:
    devices: the devices to look at.

  Raises:
    ProcessFailureError: a process has failed while the body ran.
  """
  if global_state.client is None:
    yield list(devices)
    return
  before = _alive(devices)
  yield before
  gone = set(before) - set(_alive(devices))
  if gone:
    raise ProcessFailureError(gone)


def _alive(devices: Any) -> list[Any]:
  numbers = sorted({d.process_index for d in devices})
  nodes = set(global_state.client.get_live_nodes(numbers))
  return [d for d in devices if d.process_index in nodes]
