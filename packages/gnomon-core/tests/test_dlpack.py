"""DLPack: memory shared with NumPy both ways, and copies where it cannot be."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gnomon
from gnomon.dlpack import from_dlpack, is_supported_dtype


def aligned(n: int, dtype: Any = np.float32) -> Any:
  """An array whose memory begins where the runtime can use it."""
  raw = np.zeros(n * np.dtype(dtype).itemsize + 64, np.uint8)
  start = -raw.ctypes.data % 64
  x = raw[start:start + n * np.dtype(dtype).itemsize].view(dtype)
  x[:] = np.arange(n).astype(dtype)
  return x


class Foreign:
  """An array of another library, which has nothing but the protocol."""

  def __init__(self, x: Any) -> None:
    self.x = x

  def __dlpack__(self, **_: Any) -> Any:
    return self.x.__dlpack__()

  def __dlpack_device__(self) -> Any:
    return self.x.__dlpack_device__()


@pytest.mark.parametrize("dtype", [
    np.float32, np.int32, np.uint8, np.complex64, np.float16, np.bool_])
@pytest.mark.parametrize("wrap", [Foreign, lambda x: x])
def test_memory_is_shared_both_ways(dtype: Any, wrap: Any) -> None:
  x = aligned(12, dtype).reshape(3, 4)
  y = from_dlpack(wrap(x), copy=False)
  assert (y.dtype, y.shape, y.committed) == (x.dtype, x.shape, True)
  assert y.unsafe_buffer_pointer() == x.ctypes.data
  np.testing.assert_array_equal(np.asarray(y), x)
  back = np.from_dlpack(y)
  assert back.ctypes.data == x.ctypes.data
  np.testing.assert_array_equal(back, x)


def test_a_copy_on_request_owns_its_memory() -> None:
  x = aligned(4)
  y = from_dlpack(x, copy=True)
  x[:] = 9
  np.testing.assert_array_equal(np.asarray(y), [0, 1, 2, 3])


CASES = {
    "64 bits": lambda: aligned(8, np.float64),
    "unaligned": lambda: aligned(8)[1:],
    "steps": lambda: aligned(8)[::2],
    "backwards": lambda: aligned(8)[::-1],
    "transposed": lambda: Foreign(aligned(8).reshape(2, 4).T),
    "read-only": lambda: np.broadcast_to(np.float32(2), (3,)),
}


@pytest.mark.parametrize("case", CASES)
def test_what_cannot_be_shared_is_copied(case: str) -> None:
  x = CASES[case]()
  values = x.x if isinstance(x, Foreign) else x
  y = from_dlpack(x)
  np.testing.assert_array_equal(np.asarray(y), values)
  doubled = gnomon.jit(lambda v: v)(y)  # programs see the same elements
  np.testing.assert_array_equal(np.asarray(doubled), values)
  with pytest.raises(ValueError, match="requires a copy, but copy=False"):
    from_dlpack(CASES[case](), copy=False)


def test_arrays_go_through_unchanged(ops: Any) -> None:
  x = ops.sin(np.ones((2, 3), np.float32))
  y = from_dlpack(x)
  assert y.unsafe_buffer_pointer() == x.unsafe_buffer_pointer()
  np.testing.assert_array_equal(np.asarray(y), np.asarray(x))
  here = gnomon.devices()[0]
  for place in (here, x.sharding):
    assert from_dlpack(x, device=place).devices() == {here}


def test_errors() -> None:
  for bad in (3, np.ones(2).__dlpack__()):
    with pytest.raises(TypeError, match="must have __dlpack__ and"):
      from_dlpack(bad)
  far = Foreign(aligned(2))
  far.__dlpack_device__ = lambda: (2, 0)  # type: ignore[method-assign]
  with pytest.raises(RuntimeError, match="kind 2"):
    from_dlpack(far)


def test_dtypes() -> None:
  assert all(map(is_supported_dtype, ("bool", "bfloat16", "complex128", np.float16)))
  assert not any(map(is_supported_dtype, (
      ml_dtypes.int4, ml_dtypes.float8_e4m3fn, gnomon.dtypes.float0)))
  with pytest.raises(TypeError, match="got None"):
    is_supported_dtype(None)
