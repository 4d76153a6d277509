"""Arrays put together from parts: by a function, from arrays, from a process's data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnomon import errors
from gnomon.core import dtypes
from gnomon.core.trace import Tracer
from gnomon.core.types import ShapedArray
from gnomon.runtime import shardings
from gnomon.runtime.jaxlib import arrays as runtime_arrays
from gnomon.tree_util import flatten_axes, tree_flatten

Array = runtime_arrays.Array


def make_array_from_callback(
    shape: Sequence[int], sharding: Any, data_callback: Callable[[Any], Any],
    dtype: Any = None) -> Any:
  """An array whose parts a function makes, one for each device of this process.

  Args:
    shape: of the whole array.
    sharding: where its parts are; a PartitionSpec is over the mesh in force.
    data_callback: takes the place of a part, a slice a dimension; returns its values.
    dtype: that of the array; by default that of the parts.

  >>> import gnomon, numpy
  >>> x = numpy.arange(4.0)
  >>> place = gnomon.device_put(x).sharding
  >>> gnomon.make_array_from_callback((4,), place, lambda index: x[index])
  Array([0., 1., 2., 3.], dtype=float32)

  Raises:
    IndivisibleError: a dimension cannot be divided evenly.
    ValueError: a part has another shape than its place; or this process has none of the
      devices, and no dtype is given.
    UnexpectedTracerError: a part is a traced value.
  """
  sharding = shardings.resolve(sharding)
  shape = (int(shape),) if np.ndim(shape) == 0 else tuple(shape)  # type: ignore[call-overload]
  sharding.check_compatible_aval(shape)
  part = sharding.shard_shape(shape)
  here = sharding.addressable_devices_indices_map(shape)
  parts = []
  for index in here.values():
    x = data_callback(index)
    if isinstance(x, Tracer):
      raise errors.UnexpectedTracerError(
          "jax.make_array_from_callback cannot be called within a traced context: "
          f"data_callback gave a traced value of type {x.aval} for {index}")
    parts.append(np.asarray(x, dtype))
  for x in parts:
    if x.shape != part:
      raise ValueError(
          f"make_array_from_callback: Expected shard shape {part} doesn't match the "
          f"single device array shape {x.shape} that data_callback gave; the whole shape "
          f"is {shape}, divided by {sharding}")
  if not parts and dtype is None:
    raise ValueError(
        "make_array_from_callback needs dtype: this process has none of the devices of "
        f"{sharding}, so that no part tells it")
  kind = dtypes.canonicalize_dtype(parts[0].dtype if parts else dtype)
  return runtime_arrays.put(
      ShapedArray(shape, kind), sharding, [x.astype(kind, copy=False) for x in parts],
      list(here), committed=True)


def make_array_from_single_device_arrays(
    shape: Sequence[int], sharding: Any, arrays: Sequence[Any], *, dtype: Any = None,
) -> Any:
  """An array made of arrays on the devices of this process, without a copy.

  Args:
    shape: of the whole array.
    sharding: where its parts are.
    arrays: the parts, one on each of the sharding's devices that this process has, in
      any order.
    dtype: of the parts, needed where this process has none.

  >>> import gnomon
  >>> x = gnomon.numpy.ones(3)
  >>> gnomon.make_array_from_single_device_arrays((3,), x.sharding, [x])
  Array([1., 1., 1.], dtype=float32)

  Raises:
    TypeError: `arrays` is no list or tuple.
    ValueError: the parts are not arrays on one device each; their number, shapes, dtypes
      or devices are not those of the sharding's parts.
  """
  what = "jax.make_array_from_single_device_arrays"
  if not isinstance(arrays, (list, tuple)):
    raise TypeError(
        f"{what} `arrays` argument must be a list or tuple, but got {type(arrays)}")
  if not all(type(x) is Array for x in arrays):
    raise ValueError(
        f"{what} requires a list of concrete arrays as input, but got types "
        f"{ {type(x) for x in arrays} }")
  sharding = shardings.resolve(sharding)
  shape = tuple(shape)
  if not arrays and dtype is None:
    raise ValueError(
        "If the Array has no addressable shards, `dtype` must be provided via the "
        f"`dtype` argument to `{what}`. The sharding is {sharding}")
  part = sharding.shard_shape(shape)
  devices = [
      d for d in sharding._internal_device_list
      if d.process_index == d.client.process_index()]
  kind = np.dtype(dtype) if not arrays else arrays[0].dtype
  if dtype is not None and np.dtype(dtype) != kind:
    raise ValueError(
        f"If `dtype` is provided to `{what}`, it must match the dtype of the addressable "
        f"shards. Got dtype={np.dtype(dtype)} and shards of {kind}")
  of_device = _by_device(arrays, part, kind, sharding)
  if set(of_device) != set(devices):
    raise ValueError(
        f"Expected {len(devices)} per-device arrays, on the devices "
        f"{[d.id for d in devices]} of {sharding} that this process has, but got "
        f"{len(arrays)}, on {[d.id for d in of_device]}")
  aval = ShapedArray(shape, kind)
  if sharding.num_devices == 1:
    return runtime_arrays.make_handler(aval, sharding, True)(arrays[0])
  return runtime_arrays.from_shards(aval, sharding, [of_device[d] for d in devices])


def _by_device(
    arrays: Sequence[Any], part: tuple[int, ...], kind: Any, sharding: Any,
) -> dict[Any, Any]:
  found: dict[Any, Any] = {}
  for x in arrays:
    places = list(x._sharding._internal_device_list)
    if len(places) != 1:
      raise ValueError(
          "When making an array from single-device arrays the input arrays must have one "
          f"shard each. An argument array had {len(places)} shard(s).")
    if x.shape != part or x.dtype != kind:
      raise ValueError(
          f"Expected shard shape {part} doesn't match the single device array shape "
          f"{x.shape}, or the dtype {kind} its {x.dtype}; the sharding is {sharding}")
    found[places[0]] = x
  if len(found) < len(arrays):
    ids = [next(iter(x._sharding._internal_device_list)).id for x in arrays]
    raise ValueError(
        "When making an array from single-device arrays, the input arrays must be from "
        f"distinct devices, but got device IDs {ids}")
  return found


def make_array_from_process_local_data(
    sharding: Any, local_data: Any, global_shape: Any = None) -> Any:
  """An array (or a pytree of them) made of the data that each process holds.

  Args:
    sharding: where the parts are; or a pytree of shardings, a prefix of `local_data`.
    local_data: the data of this process's devices: along a dimension that is divided
      between processes, its part; otherwise, or if it has the whole size, all of it.
    global_shape: of the whole array (a pytree of shapes for a pytree of data). By
      default such that the parts of all processes make up the whole.

  >>> import gnomon, numpy
  >>> place = gnomon.device_put(1.0).sharding
  >>> gnomon.make_array_from_process_local_data(place, numpy.ones(2)).shape
  (2,)

  Raises:
    ValueError: the data is neither the whole nor this process's part.
  """
  leaves, tree = tree_flatten(local_data)
  if shardings.is_place(sharding):
    places = [sharding] * len(leaves)
  else:
    places = flatten_axes("make_array_from_process_local_data sharding", tree, sharding)
  shapes: Sequence[Any] = (
      [None] * len(leaves) if global_shape is None else tree.flatten_up_to(global_shape))
  return tree.unflatten([
      _from_local(shardings.resolve(s), x, shape)
      for s, x, shape in zip(places, leaves, shapes)])


def _from_local(sharding: Any, local: Any, shape: Any) -> Any:
  data = np.asarray(local)
  first, count, whole = _own_box(sharding, data.ndim)
  if shape is None:
    shape = tuple([n * w // c for n, c, w in zip(data.shape, count, whole)])
  shape = tuple(shape)
  if len(shape) != data.ndim:
    raise ValueError(
        "make_array_from_process_local_data: local_data and the whole have the same "
        f"dimensions, but it has the shape {data.shape} and global_shape is {shape}")
  starts = []
  for d, (n, size) in enumerate(zip(data.shape, shape)):
    own = size * count[d] // whole[d]
    if n not in (own, size):
      raise ValueError(
          f"make_array_from_process_local_data: along dimension {d} this process holds "
          f"{own} of {size} elements under {sharding}, but its data has {n} "
          f"(local_data has the shape {data.shape}, global_shape is {shape})")
    starts.append(0 if n == size else size * first[d] // whole[d])

  def part(index: tuple[slice, ...]) -> Any:
    return data[tuple([
        s if s == slice(None) else slice(s.start - k, s.stop - k)
        for s, k in zip(index, starts)])]

  return make_array_from_callback(shape, sharding, part, data.dtype)


def _own_box(
    sharding: Any, ndim: int) -> tuple[list[int], list[int], list[int]]:
  """By dimension, which parts this process holds: the first, how many, of how many."""
  unit = shardings.factors(sharding, ndim)
  indices = sharding.addressable_devices_indices_map(unit).values()
  first, count = [], []
  for d, n in enumerate(unit):
    starts = {i[d].start or 0 for i in indices}
    low, high = (min(starts), max(starts) + 1) if n > 1 else (0, 1)
    first.append(low)
    count.append(high - low)
  return first, count, list(unit)
