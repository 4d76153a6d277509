"""Arrays of other libraries, and for them, without a copy: the DLPack protocol."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.runtime import backends
from gnomon.runtime.compile import to_device
from gnomon.runtime.jaxlib import arrays
from gnomon.runtime.layout import Layout

__all__ = ["from_dlpack", "is_supported_dtype"]

_SUPPORTED = frozenset({
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128"})
_CPU = 1  # DLPack's numbers of kinds of devices


def is_supported_dtype(dtype: Any) -> bool:
  """Whether arrays of a dtype can be exchanged by DLPack.

  >>> from gnomon import dlpack
  >>> dlpack.is_supported_dtype('float32'), dlpack.is_supported_dtype('int4')
  (True, False)

  Raises:
    TypeError: `dtype` is None.
  """
  if dtype is None:
    raise TypeError("is_supported_dtype: expected a dtype, got None")
  if isinstance(dtype, dtypes.ExtendedDType):
    return False
  return dtypes.as_dtype(dtype).name in _SUPPORTED


def from_dlpack(external_array: Any, device: Any = None, copy: bool | None = None) -> Any:
  """An array that shares the memory of another library's array, where it can.

  The memory must not change afterwards: arrays here are immutable.

  Args:
    external_array: has the methods `__dlpack__` and `__dlpack_device__`.
    device: a device, or a sharding on one, for the result; None: where the memory is.
    copy: True copies always, False never (an error where that is impossible), None where
      it must: to move to another device, or because the memory is not aligned.

  >>> import numpy
  >>> from gnomon import dlpack
  >>> dlpack.from_dlpack(numpy.arange(3.0, dtype='float32')).shape
  (3,)

  Raises:
    TypeError: `external_array` has not the methods of the protocol.
    ValueError: `copy` is False, and a copy is needed.
    RuntimeError: the memory is on a device that this installation does not have.
  """
  if not (hasattr(external_array, "__dlpack__")
          and hasattr(external_array, "__dlpack_device__")):
    raise TypeError(
        "from_dlpack: The array passed to from_dlpack must have __dlpack__ and "
        f"__dlpack_device__ methods, got {type(external_array)}. For a raw capsule, pass "
        "the array that made it")
  kind, number = external_array.__dlpack_device__()
  if int(kind) != _CPU:
    raise RuntimeError(
        f"from_dlpack: the memory is on a device of DLPack's kind {int(kind)}; this "
        "installation has the processor only (kind 1). Copy the array to the host first")
  here = backends.local_devices()
  source = here[number] if number < len(here) else here[0]
  target = source if device is None else _device_of(device)
  if target is not source:
    _may_copy(copy, f"the memory is on {source}, and the array is asked for on {target}")
  if isinstance(external_array, np.ndarray):
    external_array = _exportable(external_array, copy)
  try:
    found = arrays.from_dlpack(
        external_array.__dlpack__(), source, copy=copy if target is source else None)
  except BufferError as e:
    if copy is not False:
      raise
    raise ValueError(f"from_dlpack: this requires a copy, but copy=False: {e}") from None
  dtype = dtypes.canonicalize_dtype(found.dtype)
  order = Layout.from_pjrt_layout(found._pjrt_layout).major_to_minor
  if order != tuple(range(found.ndim)):  # programs are compiled for row-major operands
    _may_copy(copy, f"its dimensions are stored in the order {order}")
    found = to_device(np.array(found, order="C"), source)
  if found.dtype != dtype:
    _may_copy(copy, f"{found.dtype} becomes {dtype} without the option jax_enable_x64")
    found = to_device(np.asarray(found).astype(dtype), source)
  found = to_device(found, target)
  return arrays.make_handler(found.aval, backends.sharding_of(target), True)(found)


def _may_copy(copy: bool | None, why: str) -> None:
  if copy is False:
    raise ValueError(
        f"from_dlpack: this requires a copy, but copy=False: {why}. Pass copy=None or "
        "copy=True")


def _exportable(x: np.ndarray[Any, Any], copy: bool | None) -> np.ndarray[Any, Any]:
  """NumPy's array, or a copy of one that is written apart, or that may not be written."""
  if x.flags.c_contiguous and x.flags.writeable:
    return x
  _may_copy(copy, "the NumPy array is read-only, or its elements lie apart in memory")
  return np.array(x)


def _device_of(place: Any) -> Any:
  devices = getattr(place, "device_set", None)
  if devices is None:
    return place
  if len(devices) != 1:
    raise ValueError(
        f"from_dlpack: device={place!r} is a sharding over {len(devices)} devices, but "
        "DLPack has one array on one device")
  return next(iter(devices))
