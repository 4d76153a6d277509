"""Arrays from buffers, strings and files, and to files."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.api.device import device_of, device_put
from gnomon.core import dtypes
from gnomon.core.types import typeof
from gnomon.numpy._conversion import array, asarray
from gnomon.runtime import backends
from gnomon.runtime.jaxlib import arrays

savez = np.savez


def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0) -> Any:
  """An array of the values that stand in a buffer, copied.

  Args:
    buffer: bytes, or another object with a buffer.
    dtype: how to read it.
    count: how many elements to read; -1 for all.
    offset: the byte at which to start.

  >>> import gnomon.numpy as gnp
  >>> gnp.frombuffer(b"ab", dtype=gnp.uint8).tolist()
  [97, 98]

  Raises:
    ValueError: the buffer's size does not fit.
  """
  return asarray(np.frombuffer(buffer, dtype, count, offset))


def fromstring(string: str, dtype: Any = float, count: int = -1, *, sep: str) -> Any:
  """An array of the numbers that stand in a text.

  Args:
    string: the text.
    dtype: the dtype.
    count: how many numbers to read; -1 for all.
    sep: what stands between numbers.

  >>> import gnomon.numpy as gnp
  >>> gnp.fromstring("1, 2", dtype=int, sep=",").tolist()
  [1, 2]

  Raises:
    ValueError: the text holds something else.
  """
  return asarray(np.fromstring(string, dtype, count, sep=sep))


def fromfile(*args: Any, **kwargs: Any) -> Any:
  """Not offered: what a file holds may change. Use `asarray(numpy.fromfile(…))`.

  >>> import tempfile
  >>> import numpy as np
  >>> import gnomon.numpy as gnp
  >>> with tempfile.NamedTemporaryFile() as file:
  ...   _ = file.write(bytes([1, 2])), file.flush()
  ...   gnp.asarray(np.fromfile(file.name, np.uint8)).tolist()
  [1, 2]

  Raises:
    NotImplementedError: always.
  """
  raise NotImplementedError(
      "fromfile is not implemented: what a file holds may change, and would not be read "
      "again under jit. Use gnomon.numpy.asarray(numpy.fromfile(...))")


def fromiter(*args: Any, **kwargs: Any) -> Any:
  """Not offered: an iterator is used up. Use `asarray(numpy.fromiter(…))`.

  >>> import numpy as np
  >>> import gnomon.numpy as gnp
  >>> gnp.asarray(np.fromiter((i * i for i in range(3)), np.int32)).tolist()
  [0, 1, 4]

  Raises:
    NotImplementedError: always.
  """
  raise NotImplementedError(
      "fromiter is not implemented: an iterator is used up by reading it, and would not "
      "be read again under jit. Use gnomon.numpy.asarray(numpy.fromiter(...))")


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
  """An array of another library's array, through DLPack; in its memory, if possible.

  Args:
    x: an object with `__dlpack__` and `__dlpack_device__`.
    device: where the result lives; by default where `x` does.
    copy: true for memory of its own, false to raise an error if a copy is needed.

  >>> import gnomon.numpy as gnp
  >>> import numpy as np
  >>> gnp.from_dlpack(np.arange(3, dtype="int32")).tolist()
  [0, 1, 2]

  Raises:
    TypeError: `x` does not offer DLPack.
    BufferError: `copy` is false, and a copy is needed.
  """
  if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
    raise TypeError(
        "from_dlpack needs an object with __dlpack__ and __dlpack_device__, got "
        f"{type(x)}")
  if type(x) is arrays.Array:
    x = array(x) if copy else x
    return x if device is None else device_put(x, device)
  target = device_of(device)
  here = backends.default_device() if target is None else target
  try:
    capsule = x.__dlpack__(copy=copy) if copy is not None else x.__dlpack__()
  except TypeError:  # before the array API standard 2023.12
    capsule = x.__dlpack__()
  return arrays.from_dlpack(capsule, here, copy=copy)


def save(file: Any, arr: Any, allow_pickle: bool = True) -> None:
  """Writes an array to a file in NumPy's format.

  Args:
    file: a path or an open file.
    arr: an array.
    allow_pickle: as of `numpy.save`.

  >>> import io
  >>> import gnomon.numpy as gnp
  >>> f = io.BytesIO()
  >>> gnp.save(f, gnp.arange(3))
  >>> _ = f.seek(0)
  >>> gnp.load(f).tolist()
  [0, 1, 2]

  Raises:
    TypeError: `arr` is no array.
  """
  typeof(arr)
  np.save(file, np.asarray(arr), allow_pickle)


def load(file: Any, *args: Any, **kwargs: Any) -> Any:
  """Reads an array, or several, from a file in NumPy's format.

  Args:
    file: a path or an open file.
    *args: as of `numpy.load`.
    **kwargs: as of `numpy.load`.

  Returns:
    An array; for an archive (`.npz`) what `numpy.load` returns.

  >>> import io
  >>> import gnomon.numpy as gnp
  >>> f = io.BytesIO()
  >>> gnp.save(f, gnp.ones(2))
  >>> _ = f.seek(0)
  >>> gnp.load(f).tolist()
  [1.0, 1.0]

  Raises:
    ValueError: the file holds something else.
  """
  found = np.load(file, *args, **kwargs)
  if not isinstance(found, np.ndarray):
    return found
  if found.dtype == np.dtype("V2"):  # NumPy forgets the name of bfloat16
    found = found.view(dtypes.bfloat16)
  return asarray(found)
