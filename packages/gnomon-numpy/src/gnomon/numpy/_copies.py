"""Copies of arrays, of another dtype."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from gnomon.api.device import device_put
from gnomon.core import dtypes
from gnomon.core.structural import convert
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.numpy._conversion import array
from gnomon.numpy._promotion import check_arraylike
from gnomon.numpy._values import array_of
from gnomon.runtime.jaxlib import arrays


def copy(a: Any, order: str | None = None) -> Any:
  """An array with the same values and memory of its own.

  Args:
    a: an array or a number.
    order: only `"K"`: arrays have no memory layout to choose.

  >>> import gnomon.numpy as gnp
  >>> gnp.copy(gnp.arange(3)).tolist()
  [0, 1, 2]

  Raises:
    TypeError: `a` is no array.
    NotImplementedError: another `order`.
  """
  check_arraylike("copy", a)
  return array(a, copy=True, order=order)


def astype(x: Any, dtype: Any, /, *, copy: bool = False, device: Any = None) -> Any:
  """An array with its elements converted to a dtype.

  Floating-point numbers are cut off when they become integers; numbers other than 0
  become True.

  Args:
    x: an array or a number.
    dtype: the dtype; None for floating-point.
    copy: whether the result must have memory of its own.
    device: where the result lives.

  >>> import gnomon.numpy as gnp
  >>> gnp.astype(gnp.array([1.7, -1.7]), int).tolist()
  [1, -1]

  Raises:
    TypeError: `x` is no array.
  """
  if dtype is None:
    to = dtypes.default_float_dtype()
  else:
    to = dtypes.check_user_dtype_supported(dtype, "astype", stacklevel=4)
  if type(x) is not arrays.Array:
    check_arraylike("astype", x)
  own = typeof(x).dtype
  if _is_complex(own) and not _is_complex(to) and to != np.bool_:
    warnings.warn(
        "Casting from complex to real dtypes drops the imaginary part. Take it with "
        "real() or imag() first", DeprecationWarning, stacklevel=3)
  done = type(x) is arrays.Array and own == to and not x.weak_type
  out = x if done else _astype(x, to)
  if copy and out is x:
    out = array(out, copy=True)
  return out if device is None else device_put(out, device)


def _is_complex(dtype: Any) -> bool:
  return bool(dtypes.issubdtype(dtype, np.complexfloating))


@compiled(static=("dtype",))
def _astype(x: Any, dtype: Any) -> Any:
  return convert(array_of(x), dtype)
