"""The attributes of `Array` that concern its storage."""

from __future__ import annotations

import copy
import operator
import pickle
import subprocess
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gnomon.core.types import ShapedArray
from gnomon.runtime import array, backends
from gnomon.runtime.jaxlib import arrays

array.install_array_attributes()


@pytest.fixture
def put(runtime: Any) -> Any:
  """A NumPy value as an uncommitted array."""
  return lambda value, **kwargs: runtime.put(value, committed=False, **kwargs)


# ---- types -------------------------------------------------------------------------


def test_type_attributes(put: Any) -> None:
  x = put(np.ones((2, 3), np.float32), weak_type=True)
  assert (x.shape, x.dtype, x.ndim, x.size) == ((2, 3), np.float32, 2, 6)
  assert (x.itemsize, x.nbytes, x.weak_type) == (4, 24, True)
  assert len(x) == 2


def test_sub_byte_elements_count_as_bytes(put: Any) -> None:
  x = put(np.ones(3, ml_dtypes.int4))
  assert (x.itemsize, x.nbytes) == (1, 3)


def test_class(put: Any) -> None:
  x = put([1.0])
  assert isinstance(x, arrays.ArrayBase)
  assert type(x).__array_priority__ == 100


# ---- values ------------------------------------------------------------------------


def test_numpy_gets_a_view_or_a_copy(put: Any) -> None:
  x = put(np.float32([1, 2, 3]))
  view, fresh = np.asarray(x), np.array(x)
  assert not view.flags.writeable
  assert view.ctypes.data == x.unsafe_buffer_pointer()
  assert fresh.flags.writeable
  assert fresh.ctypes.data != x.unsafe_buffer_pointer()
  fresh[0] = 9
  assert x.tolist() == [1, 2, 3]


def test_numpy_conversion_with_dtype(put: Any) -> None:
  x = put(np.float32([1, 2.5]))
  assert np.asarray(x, dtype=np.int32).tolist() == [1, 2]
  assert np.asarray(x, dtype=np.float64).dtype == np.float64
  with pytest.raises(ValueError, match="avoid copy"):
    np.asarray(x, dtype=np.float64, copy=False)


def test_item(put: Any) -> None:
  x = put(np.arange(6, dtype=np.int32).reshape(2, 3))
  assert x.item(4) == x.item(1, 1) == x.item((1, 1)) == 4
  assert type(x.item(4)) is int
  assert put([[7.5]]).item() == 7.5
  with pytest.raises(ValueError, match=r"array of size 1 .* shape \(2, 3\)"):
    x.item()


def test_tolist_and_tobytes(put: Any) -> None:
  value = np.arange(6, dtype=np.int16).reshape(2, 3)
  assert put(value).tolist() == value.tolist()
  assert put(value).tobytes() == value.tobytes()
  assert put(value).tobytes("F") == value.tobytes("F")
  assert put(np.ones(2, ml_dtypes.bfloat16)).tolist() == [1, 1]
  assert put(2.5).tolist() == 2.5


# ---- Python scalars ----------------------------------------------------------------


def test_conversions_of_scalars(put: Any) -> None:
  assert int(put(np.float32(2.5))) == 2
  assert float(put(np.int32(7))) == 7.0
  assert complex(put(np.complex64(1 + 2j))) == 1 + 2j
  assert bool(put(np.bool_(True))) is True
  assert bool(put([[0.0]])) is False
  assert float(put(ml_dtypes.bfloat16(1.5))) == 1.5


@pytest.mark.parametrize("convert", [int, float, complex])
@pytest.mark.parametrize("shape", [(1,), (1, 1), (3,), (0,)])
def test_only_0d_arrays_become_scalars(put: Any, convert: Any, shape: Any) -> None:
  with pytest.raises(TypeError, match="Only scalar arrays can be converted") as info:
    convert(put(np.zeros(shape, np.float32)))
  assert str(shape) in str(info.value)


def test_a_complex_number_is_no_float(put: Any) -> None:
  with pytest.raises(TypeError, match="complex"):
    float(put(np.complex64(1)))


def test_truth(put: Any) -> None:
  with pytest.raises(ValueError, match=r"more than one element is .* a\.any\(\)"):
    bool(put(np.ones(2)))
  with pytest.raises(ValueError, match="empty array is ambiguous"):
    bool(put(np.ones((0, 3))))


@pytest.mark.parametrize("dtype", [
    np.int8, np.uint16, np.int32, np.int64, ml_dtypes.int4, ml_dtypes.uint4])
def test_integers_are_indices(put: Any, dtype: Any) -> None:
  x = put(np.array(3).astype(dtype))
  assert operator.index(x) == 3
  assert "abcd"[x] == "d"
  assert hex(x) == "0x3"


@pytest.mark.parametrize("value", [
    np.float32(1), np.bool_(True), np.ones((1,), np.int32), np.complex64(1)])
def test_other_arrays_are_no_indices(put: Any, value: Any) -> None:
  with pytest.raises(TypeError, match="Only integer scalar arrays"):
    operator.index(put(value))


def test_len_of_a_scalar(put: Any) -> None:
  with pytest.raises(TypeError, match="unsized"):
    len(put(1.0))


def test_arrays_are_not_hashable(put: Any) -> None:
  with pytest.raises(TypeError, match="unhashable"):
    hash(put(1.0))


# ---- texts -------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "text"), [
    (np.float32([1, 2]), "Array([1., 2.], dtype=float32)"),
    (np.float32(2.5), "Array(2.5, dtype=float32)"),
    (np.bool_([True]), "Array([ True], dtype=bool)"),
    (np.zeros((0, 3), np.int32), "Array([], shape=(0, 3), dtype=int32)"),
    (np.ones((2, 2), np.float32),
     "Array([[1., 1.],\n       [1., 1.]], dtype=float32)"),
    (np.ones(3, ml_dtypes.bfloat16), "Array([1, 1, 1], dtype=bfloat16)"),
    (np.arange(2000, dtype=np.int32),
     "Array([   0,    1,    2, ..., 1997, 1998, 1999], dtype=int32)"),
    (np.arange(15, dtype=np.int64) + 15,
     "Array([15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29], dtype=int64)"),
    (np.arange(15, dtype=np.float16) + 10,
     ("Array([10., 11., 12., 13., 14., 15., 16., 17., 18., 19., 20., 21., 22.,\n"
      "       23., 24.], dtype=float16)")),
    (np.arange(30, dtype=np.int32).reshape(2, 15),
     ("Array([[ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14],\n"
      "       [15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29]],      "
      "dtype=int32)")),
])
def test_repr(put: Any, value: Any, text: str) -> None:
  assert repr(put(value)) == text


def test_repr_of_a_weak_type(put: Any) -> None:
  assert repr(put(np.float32(1), weak_type=True)) == (
      "Array(1., dtype=float32, weak_type=True)")


def test_str_and_format(put: Any) -> None:
  assert str(put(np.float32([0, 1]))) == "[0. 1.]"
  assert f"{put(np.float32(2.5)):.2f}" == "2.50"
  assert f"{put(np.int32(7)):03d}" == "007"
  assert f"{put(np.float32([0, 1]))}" == "[0. 1.]"
  with pytest.raises(TypeError, match="unsupported format string"):
    f"{put(np.float32([0, 1])):.2f}"


# ---- copies and pickles ------------------------------------------------------------


def test_copies_have_memory_of_their_own(put: Any) -> None:
  x = put(np.float32([1, 2]), weak_type=True)
  for y in (copy.copy(x), copy.deepcopy([x])[0]):
    assert y.unsafe_buffer_pointer() != x.unsafe_buffer_pointer()
    assert y.tolist() == [1, 2]
    assert (y.weak_type, y.committed) == (True, False)
    assert y.sharding is x.sharding


def test_copy_of_a_divided_array(runtime: Any) -> None:
  x = runtime.split(np.arange(8, dtype=np.float32), runtime.tiled(4))
  y = copy.copy(x)
  assert y.tolist() == list(range(8))
  assert y.sharding == x.sharding


@pytest.mark.parametrize("value", [
    np.float32([[1, 2]]), np.int32(3), np.ones(3, ml_dtypes.bfloat16),
    np.ones(3, ml_dtypes.int4), np.zeros((0, 2), np.complex64)])
def test_pickle_keeps_value_and_type(put: Any, value: Any) -> None:
  for weak in (False, True):
    y = pickle.loads(pickle.dumps(put(value, weak_type=weak)))
    assert type(y) is arrays.Array
    assert y.aval == ShapedArray(value.shape, value.dtype, weak)
    np.testing.assert_array_equal(np.asarray(y), value)
    assert not y.committed
    assert y.device == backends.default_device()


def test_pickle_opens_in_a_fresh_process(put: Any) -> None:
  blob = pickle.dumps(put(np.float32([1, 2])))
  code = f"import gnomon, pickle; print(pickle.loads({blob!r}).shape)"
  done = subprocess.run(
      [sys.executable, "-c", code], capture_output=True, text=True, check=False,
      timeout=60)
  assert done.stdout == "(2,)\n", done.stderr


# ---- devices -----------------------------------------------------------------------


def test_placement_of_an_array_on_one_device(runtime: Any) -> None:
  x = runtime.put(np.float32([1, 2]), device=1)
  assert x.devices() == {runtime.devices[1]}
  assert x.device is runtime.devices[1]
  assert x.sharding is arrays.single_sharding(runtime.devices[1])
  assert x.committed
  assert x.is_fully_addressable
  assert x.is_fully_replicated
  (shard,) = x.addressable_shards
  assert (shard.device, shard.index, shard.replica_id) == (
      runtime.devices[1], (slice(None),), 0)
  assert shard.data.tolist() == [1, 2]
  assert repr(shard) == (
      "Shard(device=CpuDevice(id=1), index=(slice(None, None, None),), replica_id=0,"
      " data=[1. 2.])")
  assert x.addressable_data(0).tolist() == [1, 2]


def test_placement_of_a_divided_array(runtime: Any) -> None:
  value = np.arange(8, dtype=np.float32)
  x = runtime.split(value, runtime.tiled(4))
  assert x.devices() == set(runtime.devices)
  assert x.device is x.sharding
  assert not x.is_fully_replicated
  assert [s.index for s in x.addressable_shards] == [
      (slice(2 * i, 2 * i + 2),) for i in range(4)]
  assert [s.data.tolist() for s in x.global_shards] == [[0, 1], [2, 3], [4, 5], [6, 7]]
  assert x.addressable_data(2).tolist() == [4, 5]
  with pytest.raises(IndexError, match=r"addressable_data\(9\): .* 4 devices"):
    x.addressable_data(9)
  np.testing.assert_array_equal(np.asarray(x), value)
  assert np.asarray(x) is np.asarray(x)
  assert repr(x) == "Array([0., 1., 2., 3., 4., 5., 6., 7.], dtype=float32)"


def test_replicated_array(runtime: Any) -> None:
  x = runtime.split(
      np.float32([1, 2]), runtime.over_all(arrays.HloSharding.replicate()))
  assert x.is_fully_replicated
  assert [s.replica_id for s in x.addressable_shards] == [0, 1, 2, 3]
  np.testing.assert_array_equal(np.asarray(x), [1, 2])


def test_partly_repeated_array_in_two_dimensions(runtime: Any) -> None:
  value = np.arange(24, dtype=np.int32).reshape(4, 6)
  for sharding in (runtime.tiled(2, 2), runtime.tiled(2, 1, 2, repeat=True)):
    x = runtime.split(value, sharding)
    np.testing.assert_array_equal(np.asarray(x), value)
  assert [s.replica_id for s in x.addressable_shards] == [0, 1, 0, 1]


# ---- the end of an array -----------------------------------------------------------


def test_deleted_array_says_so(put: Any) -> None:
  x = put(np.ones((2, 3), np.float32))
  x.delete()
  assert x.is_deleted()
  assert (x.shape, len(x), x.nbytes, x.committed) == ((2, 3), 2, 24, False)
  for use in (
      repr, str, np.asarray, copy.copy, copy.deepcopy, pickle.dumps, format,
      lambda x: x.tolist(), lambda x: x.item(0), lambda x: x.devices(),
      lambda x: x.device, lambda x: x.addressable_shards, lambda x: x.addressable_data(0),
      lambda x: x.__dlpack__(), lambda x: x.is_ready(), lambda x: x.copy_to_host_async()):
    with pytest.raises(
        RuntimeError, match=r"Array has been deleted with shape=float32\[2,3\]"):
      use(x)
  x.delete()


def test_waiting(put: Any) -> None:
  x = put(np.float32([1, 2]))
  assert x.block_until_ready() is x
  assert x.is_ready()
  assert x.copy_to_host_async() is None
  assert x.on_device_size_in_bytes() == 8
  assert isinstance(x.unsafe_buffer_pointer(), int)


# ---- DLPack ------------------------------------------------------------------------


def test_dlpack(put: Any) -> None:
  x = put(np.float32([1, 2]))
  assert x.__dlpack_device__() == (1, 0)
  seen = np.from_dlpack(x)
  assert seen.ctypes.data == x.unsafe_buffer_pointer()
  assert seen.tolist() == [1, 2]


def test_dlpack_copy(put: Any) -> None:
  x = put(np.float32([1, 2]))
  assert np.from_dlpack(x, copy=True).ctypes.data != x.unsafe_buffer_pointer()


def test_dlpack_refuses_what_it_cannot_hold(runtime: Any) -> None:
  x = runtime.split(np.arange(8, dtype=np.float32), runtime.tiled(4))
  for use in (x.__dlpack__, x.__dlpack_device__):
    with pytest.raises(BufferError, match="this one is on 4"):
      use()
  with pytest.raises(BufferError, match=r"not on \(2, 0\)"):
    runtime.put([1.0]).__dlpack__(dl_device=(2, 0))


def test_buffer_protocol(put: Any) -> None:
  assert bytes(put(np.uint8([1, 2]))) == b"\x01\x02"
  assert memoryview(put(np.float32([1, 2]))).readonly
