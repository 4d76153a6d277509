"""Making, copying, reading and re-labelling arrays."""

from __future__ import annotations

import gc
import itertools
import weakref
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gnomon.core.types import ShapedArray
from gnomon.runtime.jaxlib import arrays, clients
from gnomon.runtime.jaxlib.native import _jax


def aligned(count: int, offset: int = 0) -> np.ndarray[Any, Any]:
  """Uninitialised f32 whose memory starts `offset` bytes after a multiple of 64."""
  raw = np.empty(count * 4 + 128, np.uint8)
  start = -raw.ctypes.data % 64 + offset
  return raw[start:start + count * 4].view(np.float32)


# ---- put ---------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [0, 4, 16, 32])
def test_put_copies_by_default(runtime: Any, offset: int) -> None:
  host = aligned(1024, offset)
  host[:] = 1
  array = runtime.put(host)
  host[0] = 7
  assert arrays.host_view(array)[0] == 1


def test_put_without_copy_shares_aligned_memory(runtime: Any) -> None:
  host = aligned(1024)
  host[:] = 1
  array = runtime.put(host, copy=False)
  assert array.unsafe_buffer_pointer() == host.ctypes.data
  host[0] = 7
  assert arrays.host_view(array)[0] == 7


@pytest.mark.parametrize("offset", [4, 16, 32])
def test_put_without_copy_copies_unaligned_memory(runtime: Any, offset: int) -> None:
  host = aligned(1024, offset)
  host[:] = 1
  array = runtime.put(host, copy=False)
  host[0] = 7
  assert arrays.host_view(array)[0] == 1


def test_shared_memory_lives_as_long_as_the_array(runtime: Any) -> None:
  host = aligned(1024)
  owner = weakref.ref(host.base)
  array = runtime.put(host, copy=False)
  del host
  gc.collect()
  assert owner() is not None
  array.delete()
  gc.collect()
  _jax.collect_garbage()
  assert owner() is None


@pytest.mark.parametrize("make", [
    lambda a: a[::-1], lambda a: a.reshape(8, 8).T, lambda a: a.reshape(8, 8)[:, 1:3],
    lambda a: np.asfortranarray(a.reshape(4, 16))])
def test_put_of_other_strides(runtime: Any, make: Any) -> None:
  value = make(np.arange(64, dtype=np.float32))
  for copy in (True, False):
    np.testing.assert_array_equal(arrays.host_view(runtime.put(value, copy=copy)), value)


@pytest.mark.parametrize("dtype", [
    np.bool_, np.int8, np.uint16, np.int32, np.int64, np.uint64, np.float16, np.float32,
    np.float64, np.complex64, np.complex128, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e5m2, ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2])
def test_put_keeps_every_dtype(runtime: Any, dtype: Any) -> None:
  value = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)
  seen = arrays.host_view(runtime.put(value))
  assert seen.dtype == value.dtype
  assert not seen.flags.writeable
  np.testing.assert_array_equal(seen, value)


def test_put_of_python_scalars(runtime: Any) -> None:
  device = runtime.devices[0]
  for scalar, dtype in (
      (True, np.bool_), (3, np.int64), (2.5, np.float64), (1j, np.complex128)):
    array = arrays.put(
        ShapedArray((), dtype, weak_type=True), arrays.single_sharding(device), [scalar],
        [device])
    assert arrays.host_view(array) == scalar
    assert array.aval.weak_type


def test_put_wants_a_shard_for_each_device(runtime: Any) -> None:
  with pytest.raises(ValueError, match="got 1 shards for 2 devices"):
    arrays.put(
        ShapedArray((2,), np.float32), runtime.tiled(4), [np.ones(2)],
        runtime.devices[:2])


def test_put_committed(runtime: Any) -> None:
  assert runtime.put([1.0])._committed
  assert not runtime.put([1.0], committed=False)._committed


# ---- handlers and re-labelling -----------------------------------------------------


@pytest.mark.parametrize("committed", [True, False])
def test_handler_makes_the_result(runtime: Any, double: str, committed: bool) -> None:
  out = ShapedArray((4,), np.float32, weak_type=True)
  sharding = arrays.single_sharding(runtime.devices[0])
  handler = arrays.make_handler(out, sharding, committed)
  x = runtime.put(np.float32([1, 2, 3, 4]))
  program = runtime.compile(double)
  (y,) = program.execute_sharded([x]).consume_with_handlers([handler])
  assert type(y) is arrays.Array
  assert y.aval is out
  assert y._sharding is sharding
  assert y._committed is committed
  np.testing.assert_array_equal(arrays.host_view(y), [2, 4, 6, 8])


@pytest.mark.parametrize("committed", [True, False])
def test_rewrap_changes_the_type_only(runtime: Any, committed: bool) -> None:
  x = runtime.put(np.float32([1, 2]), committed=committed)
  weak = ShapedArray((2,), np.float32, weak_type=True)
  y = arrays.rewrap(x, weak)
  assert y.aval is weak
  assert not x.aval.weak_type
  assert y.unsafe_buffer_pointer() == x.unsafe_buffer_pointer()
  assert y._committed is committed
  assert y._sharding is x._sharding


def test_rewrap_of_a_divided_array(runtime: Any) -> None:
  x = runtime.split(np.arange(8, dtype=np.float32), runtime.tiled(4))
  y = arrays.rewrap(x, ShapedArray((8,), np.float32, weak_type=True))
  assert y.aval.weak_type
  assert [p.unsafe_buffer_pointer() for p in arrays.shards_of(x)] == [
      p.unsafe_buffer_pointer() for p in arrays.shards_of(y)]


# ---- several devices ---------------------------------------------------------------


def test_from_shards_does_not_copy(runtime: Any) -> None:
  parts = [runtime.put(np.float32([i, i]), device=i) for i in range(4)]
  whole = arrays.from_shards(ShapedArray((8,), np.float32), runtime.tiled(4), parts)
  for part, same in zip(parts, arrays.shards_of(whole), strict=True):
    assert part.unsafe_buffer_pointer() == same.unsafe_buffer_pointer()


def cover(shape: tuple[int, ...], indices: list[tuple[slice, ...]]) -> Any:
  """How often each element is in one of the parts."""
  count = np.zeros(shape, int)
  for index in indices:
    count[index] += 1
  return count


def test_shard_indices_follow_the_tiles(runtime: Any) -> None:
  indices = arrays.shard_indices(runtime.tiled(2, 2), (4, 6))
  assert indices == [
      (slice(0, 2), slice(0, 3)), (slice(0, 2), slice(3, 6)),
      (slice(2, 4), slice(0, 3)), (slice(2, 4), slice(3, 6))]


def test_shard_indices_of_a_dimension_that_is_not_divided(runtime: Any) -> None:
  indices = arrays.shard_indices(runtime.tiled(4, 1), (4, 6))
  assert indices[1] == (slice(1, 2), slice(None))


def test_shard_indices_with_repetition(runtime: Any) -> None:
  indices = arrays.shard_indices(runtime.tiled(2, 1, 2, repeat=True), (4, 6))
  assert indices[0] == indices[1] == (slice(0, 2), slice(None))
  assert indices[2] == indices[3] == (slice(2, 4), slice(None))


def test_shard_indices_replicated(runtime: Any) -> None:
  sharding = runtime.over_all(arrays.HloSharding.replicate())
  assert arrays.shard_indices(sharding, (3, 2)) == [(slice(None), slice(None))] * 4


@pytest.mark.parametrize("size", range(9))
def test_uneven_shards_cover_the_array_once(runtime: Any, size: int) -> None:
  indices = arrays.shard_indices(runtime.tiled(4), (size,))
  assert (cover((size,), indices) == 1).all()


def test_shards_may_share_memory(runtime: Any) -> None:
  part = np.ones((2, 6), np.float32)
  for sharding, shape in (
      (runtime.tiled(2, 1, 2, repeat=True), (4, 6)), (runtime.tiled(4, 1), (8, 6)),
      (runtime.over_all(arrays.HloSharding.replicate()), (2, 6))):
    for copy in (True, False):
      x = arrays.put(
          ShapedArray(shape, np.float32), sharding, [part] * 4, runtime.devices,
          copy=copy)
      for shard in arrays.shards_of(x):
        np.testing.assert_array_equal(arrays.host_view(shard), part)


def test_copy_to_moves_between_devices(runtime: Any) -> None:
  x = runtime.put(np.float32([1, 2]))
  target = arrays.single_sharding(runtime.devices[2])
  y = arrays.copy_to(x, runtime.devices[2], target)
  assert y._sharding is target
  np.testing.assert_array_equal(arrays.host_view(y), [1, 2])


def test_copy_to_the_same_device(runtime: Any) -> None:
  x = runtime.put(np.float32([1, 2]))
  same = arrays.copy_to(x, runtime.devices[0], x._sharding)
  fresh = arrays.copy_to(x, runtime.devices[0], x._sharding, copy=True)
  assert same.unsafe_buffer_pointer() == x.unsafe_buffer_pointer()
  assert fresh.unsafe_buffer_pointer() != x.unsafe_buffer_pointer()


def test_single_sharding_is_one_object_for_each_place(runtime: Any) -> None:
  first, second = runtime.devices[:2]
  assert arrays.single_sharding(first) is arrays.single_sharding(first)
  assert arrays.single_sharding(first) is not arrays.single_sharding(second)
  assert arrays.single_sharding(first).device_set == {first}
  assert arrays.single_sharding(first, "pinned_host").memory_kind == "pinned_host"


def test_block(runtime: Any) -> None:
  arrays.block([runtime.put(np.float32([1, 2]), device=i) for i in range(4)])


# ---- DLPack ------------------------------------------------------------------------


def test_dlpack_shares_memory_both_ways(runtime: Any) -> None:
  x = runtime.put(np.float32([1, 2]))
  back = arrays.from_dlpack(arrays.to_dlpack(x), runtime.devices[0])
  assert back.unsafe_buffer_pointer() == x.unsafe_buffer_pointer()
  host = aligned(16)
  host[:] = 3
  array = arrays.from_dlpack(host.__dlpack__(), runtime.devices[0])
  assert array.unsafe_buffer_pointer() == host.ctypes.data
  assert array.aval.shape == (16,)


def test_dlpack_copies_unaligned_memory(runtime: Any) -> None:
  host = aligned(16, 4)
  host[:] = 3
  array = arrays.from_dlpack(host.__dlpack__(), runtime.devices[0])
  assert array.unsafe_buffer_pointer() != host.ctypes.data
  np.testing.assert_array_equal(arrays.host_view(array), host)


def test_dlpack_copy_on_request(runtime: Any) -> None:
  host = aligned(16)
  array = arrays.from_dlpack(host.__dlpack__(), runtime.devices[0], copy=True)
  assert array.unsafe_buffer_pointer() != host.ctypes.data


def test_dlpack_refuses_a_copy_if_told(runtime: Any) -> None:
  with pytest.raises(BufferError, match="multiple of 64 bytes"):
    arrays.from_dlpack(aligned(16, 4).__dlpack__(), runtime.devices[0], copy=False)


# ---- clients -----------------------------------------------------------------------


def test_client_has_the_devices_asked_for(runtime: Any) -> None:
  assert [d.id for d in runtime.devices] == [0, 1, 2, 3]
  assert clients.DeviceList(tuple(runtime.devices)) == clients.DeviceList(
      tuple(runtime.devices))


def test_a_second_client_has_devices_of_its_own(runtime: Any) -> None:
  other = clients.make_cpu_client(1)
  assert clients.devices(other)[0] not in runtime.devices


def test_isinstance_asks_traced_values(runtime: Any) -> None:
  assert isinstance(runtime.put([1.0]), arrays.ArrayBase)
  assert not isinstance(np.ones(1), arrays.ArrayBase)


def test_install_reaches_class_and_base(runtime: Any) -> None:
  arrays.install("some_attribute", property(lambda self: self.aval.shape))
  try:
    assert runtime.put([1.0, 2.0]).some_attribute == (2,)
    assert "some_attribute" in vars(arrays.ArrayBase)
  finally:
    for cls in (arrays.Array, arrays.ArrayBase):
      del cls.some_attribute


def test_a_program_checks_only_size_and_device(runtime: Any, double: str) -> None:
  # The reason why every check on arguments is gnomon's own: a wrong dtype goes through.
  program = runtime.compile(double)
  out = ShapedArray((4,), np.float32)
  wrong = runtime.put(np.float32([1, 2, 3, 4]).view(np.int32))
  seen = arrays.host_view(runtime.run(program, out, wrong))
  np.testing.assert_array_equal(seen, [2, 4, 6, 8])
  for bad in (
      runtime.put(np.ones(3, np.float32)), runtime.put(np.ones(4, np.float32), device=1)):
    with pytest.raises(RuntimeError, match="INVALID_ARGUMENT"):
      runtime.run(program, out, bad)


def test_views_survive_the_array(runtime: Any) -> None:
  views = [arrays.host_view(runtime.put(np.full(1000, i, np.float32))) for i in range(8)]
  gc.collect()
  for i, view in zip(itertools.count(), views):
    assert (view == i).all()
