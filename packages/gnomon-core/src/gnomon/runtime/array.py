"""The attributes of `Array` that concern its storage, not its arithmetic."""

from __future__ import annotations

import operator
from enum import IntEnum
from typing import Any

import numpy as np

from gnomon.core import dtypes
from gnomon.core.types import ShapedArray
from gnomon.runtime import backends
from gnomon.runtime.jaxlib import arrays
from gnomon.runtime.layout import Format, Layout
from gnomon.runtime.shard import Shard

NumpyArray = np.ndarray[Any, Any]


# ---- reading values ----------------------------------------------------------------


def _check_alive(self: Any) -> None:
  if self.is_deleted():
    raise RuntimeError(
        f"Array has been deleted with shape={self.aval.str_short()}. It was donated to a"
        " compiled function, or its delete() was called; its values are gone")


def _value(self: Any) -> NumpyArray:
  """The values as a read-only NumPy array; kept if they had to be put together."""
  _check_alive(self)
  if len(self._sharding._internal_device_list) == 1:
    return arrays.host_view(self)
  if self._npy_value is None:
    self._npy_value = _gather(self)
    self._npy_value.flags.writeable = False
  value: NumpyArray = self._npy_value
  return value


def _gather(self: Any) -> NumpyArray:
  if _is_fully_replicated(self):
    return arrays.host_view(self._fully_replicated_shard()).copy()
  if not _is_fully_addressable(self):
    raise RuntimeError(
        f"the array of type {self.aval.str_short()} has parts on devices of other"
        " processes, and cannot be read here as a whole; read `addressable_shards`")
  whole = np.empty(self.aval.shape, self.aval.dtype)
  indices = arrays.shard_indices(self._sharding, self.aval.shape)
  for index, part in zip(indices, arrays.shards_of(self), strict=True):
    whole[index] = arrays.host_view(part)
  return whole


def _array(
    self: Any, dtype: Any = None, context: None = None, copy: bool | None = None,
) -> NumpyArray:
  """The values as a NumPy array, read-only unless `copy` is true."""
  del context  # of NumPy's protocol, in former times
  value = _value(self)
  if copy is None:
    return np.asarray(value, dtype=dtype)
  return np.array(value, dtype=dtype, copy=copy)


def _item(self: Any, *args: Any) -> Any:
  """An element as a Python scalar: the only one, or the one at a position.

  `item()` needs an array of size one, `item(i)` counts in row-major order, and
  `item(i, j, …)` or `item((i, j, …))` gives a position.

  Raises:
    ValueError: if there is no argument, and not exactly one element.
  """
  if not args and self.aval.size != 1:
    raise ValueError(
        "can only convert an array of size 1 to a Python scalar; this one has shape"
        f" {self.aval.shape}")
  return _value(self).item(*args)


def _tolist(self: Any) -> Any:
  """The values as nested lists of Python scalars; of a 0-d array, its scalar."""
  return _value(self).tolist()


def _tobytes(self: Any, order: Any = "C") -> bytes:
  """The values as bytes, in row-major order unless `order` says otherwise."""
  return _value(self).tobytes(order)


# ---- conversion to Python scalars --------------------------------------------------


def _scalar(self: Any) -> Any:
  if self.aval.ndim:
    raise TypeError(
        "Only scalar arrays can be converted to Python scalars; got shape"
        f" {self.aval.shape}. Take an element first, or use item() if there is only one")
  return _value(self).item()


def _bool(self: Any) -> bool:
  if self.aval.size != 1:
    if self.aval.size == 0:
      raise ValueError(
          "The truth value of an empty array is ambiguous. Use `array.size > 0` to ask"
          f" whether there are elements; the shape is {self.aval.shape}")
    raise ValueError(
        "The truth value of an array with more than one element is ambiguous. Use"
        f" a.any() or a.all(); the shape is {self.aval.shape}")
  return bool(_value(self))


def _int(self: Any) -> int:
  return int(_scalar(self))


def _float(self: Any) -> float:
  return float(_scalar(self))


def _complex(self: Any) -> complex:
  return complex(_scalar(self))


def _index(self: Any) -> int:
  aval = self.aval
  # NumPy does not count integers of fewer than 8 bits as integers; their names tell.
  if aval.ndim or "int" not in aval.dtype.name:
    raise TypeError(
        "Only integer scalar arrays can be converted to a scalar index; got"
        f" {aval.str_short()}")
  return int(_scalar(self))


def _len(self: Any) -> int:
  if not self.aval.ndim:
    raise TypeError("len() of unsized object: an array without dimensions has no length")
  length: int = self.aval.shape[0]
  return length


# ---- texts -------------------------------------------------------------------------


def _repr(self: Any) -> str:
  aval = self.aval
  tail = f"dtype={aval.dtype.name}{', weak_type=True' if aval.weak_type else ''})"
  if not (_is_fully_addressable(self) or _is_fully_replicated(self)):
    return f"Array(shape={aval.shape}, {tail}"
  if aval.size == 0:
    _check_alive(self)
    return f"Array([], shape={aval.shape}, {tail}"
  head = "Array("
  text = np.array2string(_value(self), prefix=head, suffix=",", separator=", ")
  last = len(text) - (text.rfind("\n") + 1)
  # These widths and the missing line break are what doctests written for JAX expect.
  fits = last + len(tail) + 3 <= np.get_printoptions()["linewidth"]
  return f"{head}{text},{' ' if fits else ' ' * len(head)}{tail}"


def _str(self: Any) -> str:
  if not (_is_fully_addressable(self) or _is_fully_replicated(self)):
    return _repr(self)
  return str(_value(self))


def _format(self: Any, format_spec: str) -> str:
  value = _value(self)
  return format(value[()] if value.ndim == 0 else value, format_spec)


# ---- copies and pickles ------------------------------------------------------------


def _restore(value: NumpyArray, weak_type: bool) -> Any:
  """The array that was pickled, on the default device."""
  device = backends.default_device()
  aval = ShapedArray(value.shape, dtypes.canonicalize_dtype(value.dtype), weak_type)
  value = value.astype(aval.dtype, copy=False)
  return arrays.put(
      aval, backends.sharding_of(device), [value], [device], committed=False)


def _reduce(self: Any) -> tuple[Any, ...]:
  """For pickle: the values and the type; not the devices."""
  return _restore, (np.array(_value(self)), self.aval.weak_type)


def _copy(self: Any) -> Any:
  """An array with memory of its own and the same values, type and sharding."""
  _check_alive(self)
  (copied,) = arrays.copy_all([self], [self._sharding], copy=True)
  return arrays.rewrap(copied, self.aval)


def _deepcopy(self: Any, memo: dict[int, Any]) -> Any:
  return _copy(self)


# ---- devices -----------------------------------------------------------------------


def _devices(self: Any) -> set[Any]:
  """The devices that hold a part of the array, those of other processes included."""
  _check_alive(self)
  return set(self._sharding._internal_device_list)


def _device(self: Any) -> Any:
  """The device of an array on one device, otherwise its sharding."""
  _check_alive(self)
  devices = self._sharding._internal_device_list
  return devices[0] if len(devices) == 1 else self._sharding


def _is_fully_addressable(self: Any) -> bool:
  """Whether all devices of the array belong to this process."""
  answer: bool = self._sharding._internal_device_list.is_fully_addressable
  return answer


def _is_fully_replicated(self: Any) -> bool:
  """Whether every device of the array holds all of it."""
  sharding = self._sharding
  if len(sharding._internal_device_list) == 1:
    return True
  answer: bool = sharding._to_xla_hlo_sharding(self.aval.ndim).is_replicated()
  return answer


def _addressable_data(self: Any, index: int) -> Any:
  """The part on one of this process's devices, as an array on that device.

  Raises:
    IndexError: if `index` is not the number of one of its devices.
  """
  _check_alive(self)
  parts = _parts(self)
  try:
    return parts[index]
  except IndexError:
    raise IndexError(
        f"addressable_data({index}): the array has parts on {len(parts)} devices of this"
        " process") from None


def _parts(self: Any) -> list[Any]:
  if len(self._sharding._internal_device_list) == 1:
    return [self]
  return arrays.shards_of(self)


def _shards(self: Any, everywhere: bool) -> list[Shard]:
  _check_alive(self)
  devices = list(self._sharding._internal_device_list)
  indices = arrays.shard_indices(self._sharding, self.aval.shape)
  local = iter(_parts(self))
  seen: dict[str, int] = {}
  shards = []
  for device, index in zip(devices, indices, strict=True):
    here = device.process_index == device.client.process_index()
    # Slices are not hashable before Python 3.12.
    replica = seen[str(index)] = seen.get(str(index), -1) + 1
    data = next(local) if here else None
    if here or everywhere:
      shards.append(Shard(device, index, replica, data))
  return shards


def _addressable_shards(self: Any) -> list[Shard]:
  """The parts on this process's devices, in the order of the sharding's devices."""
  return _shards(self, everywhere=False)


def _global_shards(self: Any) -> list[Shard]:
  """All parts; those of other processes come without data."""
  return _shards(self, everywhere=True)


# ---- waiting and other runtimes ----------------------------------------------------

_is_ready_in_runtime = arrays.Array.is_ready


def _is_ready(self: Any) -> bool:
  """Whether the values are there already; does not wait."""
  _check_alive(self)  # the runtime would read freed memory
  answer: bool = _is_ready_in_runtime(self)
  return answer


def _copy_to_host_async(self: Any) -> None:
  """Starts the transfer of the values to the host, for a later conversion to NumPy."""
  _check_alive(self)
  for part in _parts(self):
    part._copy_single_device_array_to_host_async()


class DLDeviceType(IntEnum):
  """Kinds of devices, as DLPack numbers them."""

  kDLCPU = 1
  kDLCUDA = 2
  kDLROCM = 10


_DLPACK_TYPES = {
    "cpu": DLDeviceType.kDLCPU, "cuda": DLDeviceType.kDLCUDA,
    "rocm": DLDeviceType.kDLROCM, "gpu": DLDeviceType.kDLCUDA,
}


def _dlpack_device(self: Any) -> tuple[DLDeviceType, int]:
  """The kind and the number of the array's device, as DLPack counts them."""
  _check_alive(self)
  devices = self._sharding._internal_device_list
  if len(devices) != 1:
    raise BufferError(
        f"DLPack holds an array on one device, but this one is on {len(devices)}; take"
        " one of its `addressable_shards`, or move it with device_put")
  (device,) = devices
  kind = _DLPACK_TYPES.get(device.platform)
  if kind is None:
    raise BufferError(f"DLPack has no number for devices of the kind {device.platform!r}")
  return kind, device.local_hardware_id


def _dlpack(
    self: Any, *, stream: int | None = None, max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None, copy: bool | None = None,
) -> Any:
  """A DLPack capsule that shares the array's memory, or of a copy if `copy` is true.

  Raises:
    BufferError: if the array is on several devices, or not on `dl_device`.
  """
  here = _dlpack_device(self)
  if dl_device is not None and tuple(dl_device) != here:
    raise BufferError(
        f"the array is on the device {tuple(map(int, here))}, not on"
        f" {tuple(map(int, dl_device))}; move it with device_put first")
  return arrays.to_dlpack(_copy(self) if copy else self, stream)


# ---- installation ------------------------------------------------------------------


def _typed(name: str, doc: str) -> property:
  return property(operator.attrgetter(f"aval.{name}"), doc=doc)


def _nbytes(self: Any) -> int:
  """The bytes that the elements take in NumPy's memory."""
  count: int = self.aval.size * self.aval.dtype.itemsize
  return count


def _committed(self: Any) -> bool:
  """Whether the array was put on its devices by request: operations then stay there."""
  answer: bool = self._committed
  return answer


def _sharding(self: Any) -> Any:
  """How the array is laid out over devices."""
  from gnomon.runtime import shardings  # noqa: F401 -- few programs ask for its answers

  return self._sharding


def _format_of(self: Any) -> Format:
  """How the array lies in memory, and where it lives."""
  _check_alive(self)
  layout = self._pjrt_layout
  return Format(
      None if layout is None else Layout.from_pjrt_layout(layout), self._sharding)


def _numpy_dtype(self: Any) -> Any:
  """The dtype, for `numpy.dtype(x)`, which gives a warning."""
  import warnings  # nearly nobody asks

  warnings.warn(
      "Implicit conversion of an array to a dtype is deprecated: write x.dtype in place "
      "of numpy.dtype(x), or of x where a dtype is expected", DeprecationWarning,
      stacklevel=2)
  return self.aval.dtype


def _gone(name: str, instead: str) -> property:
  def get(self: Any) -> Any:
    raise AttributeError(
        f"arr.{name} has been deprecated, and is gone. Use {instead}")

  return property(get, doc=f"Gone: use `{instead}`.")


_ATTRIBUTES: dict[str, object] = {
    "shape": _typed("shape", "The sizes of the dimensions, a tuple of integers."),
    "dtype": _typed("dtype", "The type of the elements, a `numpy.dtype`."),
    "ndim": _typed("ndim", "The number of dimensions."),
    "size": _typed("size", "The number of elements."),
    "weak_type": _typed("weak_type", "Whether the dtype gives way in promotion."),
    "itemsize": _typed("dtype.itemsize", "The bytes that an element takes in NumPy."),
    "nbytes": property(_nbytes),
    "sharding": property(_sharding),
    "device": property(_device),
    "committed": property(_committed),
    "format": property(_format_of),
    "device_buffer": _gone("device_buffer", "arr.addressable_data(0)"),
    "device_buffers": _gone(
        "device_buffers", "[x.data for x in arr.addressable_shards]"),
    "is_fully_addressable": property(_is_fully_addressable),
    "is_fully_replicated": property(_is_fully_replicated),
    "addressable_shards": property(_addressable_shards),
    "global_shards": property(_global_shards),
    "_value": property(_value),
    "_check_if_deleted": _check_alive,
    "devices": _devices,
    "addressable_data": _addressable_data,
    "item": _item,
    "tolist": _tolist,
    "tobytes": _tobytes,
    "is_ready": _is_ready,
    "copy_to_host_async": _copy_to_host_async,
    "__array__": _array,
    "__array_priority__": 100,
    "__numpy_dtype__": property(_numpy_dtype),
    "__bool__": _bool,
    "__int__": _int,
    "__float__": _float,
    "__complex__": _complex,
    "__index__": _index,
    "__len__": _len,
    "__hash__": None,
    "__repr__": _repr,
    "__str__": _str,
    "__format__": _format,
    "__reduce__": _reduce,
    "__copy__": _copy,
    "__deepcopy__": _deepcopy,
    "__dlpack__": _dlpack,
    "__dlpack_device__": _dlpack_device,
}


# Methods that the runtime's class has, for those who look at the public one.
_FROM_RUNTIME = (
    "aval", "block_until_ready", "clone", "delete", "is_deleted",
    "on_device_size_in_bytes", "platform", "traceback", "unsafe_buffer_pointer")


def install_array_attributes() -> None:
  """Puts these attributes on the class of arrays; doing it twice does no harm.

  Arrays that the runtime makes by itself have types of the core from here on.
  """
  arrays.set_aval_factory(ShapedArray)
  for name, value in _ATTRIBUTES.items():
    arrays.install(name, value)
  for name in _FROM_RUNTIME:
    setattr(arrays.ArrayBase, name, getattr(arrays.Array, name))
