"""Arrays from nothing: constants, ranges, identities."""

from __future__ import annotations

import math
from operator import index as as_int
from typing import Any

import numpy as np

from gnomon import errors, lax
from gnomon.api.device import device_put
from gnomon.core import dtypes
from gnomon.core.structural import convert
from gnomon.core.trace import EVAL, Tracer, get_current
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.numpy._conversion import constant, made_here, on_device, user_dtype
from gnomon.numpy._promotion import check_arraylike
from gnomon.numpy._values import not_a_shape, sizes_of
from gnomon.runtime.jaxlib import arrays

Array = arrays.Array
Shape = tuple[int, ...]
_NUMBERS = (bool, int, float, complex)
SMALL = 65536  # elements up to which NumPy makes constants: no program for each shape


def shape_of(shape: Any, name: str) -> Shape:
  """A shape given by the user: an integer or a sequence of integers.

  Raises:
    TypeError: it is neither, or a size is negative.
  """
  out = sizes_of(name, shape)
  if any(n < 0 for n in out):
    raise TypeError(f"{name} needs sizes that are not negative, got the shape {out}")
  return out


def dtype_of(dtype: Any, name: str, default: Any = None, *, stacklevel: int = 5) -> Any:
  """A dtype given by the user, made canonical; the default float dtype for None."""
  if dtype is None:
    return dtypes.default_float_dtype() if default is None else default
  return user_dtype(dtype, name, stacklevel)


def placed(x: Any, device: Any, sharding: Any = None, like: Any = None) -> Any:
  """An array where the user wants it; else where an array like it is committed to be."""
  place = device if device is not None else sharding
  if place is None and type(like) is Array is type(x) and like._committed and (
      like.shape == x.shape):
    place = like.sharding
  return x if place is None else device_put(x, place)


@compiled(static=("shape", "dtype"))
def _fill(shape: Shape, value: Any, dtype: Any) -> Any:
  return lax.full(shape, value, dtype)


def _constant(shape: Shape, value: Any, dtype: Any) -> Any:
  """An array filled with a number."""
  if dtype == dtypes.float0:  # no device has arrays of it
    return np.zeros(shape, dtypes.float0)
  if get_current() is EVAL and isinstance(dtype, np.dtype):
    if math.prod(shape) <= SMALL:
      return on_device(np.full(shape, value, dtype))
    return _fill(shape, np.asarray(value, dtype)[()], dtype)
  if not shape and isinstance(dtype, np.dtype):
    return constant(np.asarray(value, dtype))
  return lax.full(shape, value, dtype)


def _shape_dtype(
    name: str, shape: Any, dtype: Any, value: Any) -> tuple[Shape, Any, Any]:
  """What `_constant` takes; says so where sizes are given as several arguments."""
  try:
    return shape_of(shape, name), value, dtype_of(dtype, name, stacklevel=6)
  except TypeError as e:
    if not (type(shape) is int and type(dtype) is int):
      raise
    call = f"jax.numpy.{name}"
    raise TypeError(
        f"{e}. Did you accidentally write `{call}({shape}, {dtype})` when you meant "
        f"`{call}(({shape}, {dtype}))`, with one tuple as the shape?") from None


def zeros(
    shape: Any, dtype: Any = None, *, device: Any = None,
    out_sharding: Any = None) -> Any:
  """An array of zeros.

  Args:
    shape: an integer or a sequence of integers.
    dtype: the dtype; floating-point by default.
    device: where the result lives.
    out_sharding: how the result is laid out over devices.

  >>> import gnomon.numpy as gnp
  >>> gnp.zeros((2, 2)).tolist()
  [[0.0, 0.0], [0.0, 0.0]]

  Raises:
    TypeError: a size is no integer, or negative.
  """
  return placed(_constant(*_shape_dtype("zeros", shape, dtype, 0)), device, out_sharding)


def ones(
    shape: Any, dtype: Any = None, *, device: Any = None,
    out_sharding: Any = None) -> Any:
  """An array of ones.

  Args:
    shape: an integer or a sequence of integers.
    dtype: the dtype; floating-point by default.
    device: where the result lives.
    out_sharding: how the result is laid out over devices.

  >>> import gnomon.numpy as gnp
  >>> gnp.ones(3, int).tolist()
  [1, 1, 1]

  Raises:
    TypeError: a size is no integer, or negative.
  """
  return placed(_constant(*_shape_dtype("ones", shape, dtype, 1)), device, out_sharding)


def empty(
    shape: Any, dtype: Any = None, *, device: Any = None,
    out_sharding: Any = None) -> Any:
  """An array to be overwritten; its elements are zeros.

  Args:
    shape: an integer or a sequence of integers.
    dtype: the dtype; floating-point by default.
    device: where the result lives.
    out_sharding: how the result is laid out over devices.

  >>> import gnomon.numpy as gnp
  >>> gnp.empty((2, 3)).shape
  (2, 3)

  Raises:
    TypeError: a size is no integer, or negative.
  """
  return placed(_constant(*_shape_dtype("empty", shape, dtype, 0)), device, out_sharding)


def full(shape: Any, fill_value: Any, dtype: Any = None, *, device: Any = None,
         out_sharding: Any = None) -> Any:
  """An array filled with a value.

  Args:
    shape: an integer or a sequence of integers.
    fill_value: a number or an array, broadcast to `shape`.
    dtype: the dtype; that of `fill_value` by default.
    device: where the result lives.
    out_sharding: how the result is laid out over devices.

  >>> import gnomon.numpy as gnp
  >>> gnp.full(3, 7).tolist()
  [7, 7, 7]
  >>> gnp.full((2, 2), gnp.arange(2)).tolist()
  [[0, 1], [0, 1]]

  Raises:
    TypeError: a size is no integer, or negative; `fill_value` is no array.
    ValueError: `fill_value` cannot be broadcast to `shape`.
  """
  check_arraylike("full", fill_value)
  out = _filled(shape_of(shape, "full"), fill_value, dtype)
  return placed(out, device, out_sharding)


def _filled(shape: Shape, value: Any, dtype: Any) -> Any:
  if dtype is not None and isinstance(value, (bool, int, float, complex)):
    # A number may fit it that does not fit the usual dtype.
    dtype = dtype_of(dtype, "full", stacklevel=6)
    return _constant(shape, _python(value, dtype), dtype)
  x = typeof(value)
  weak = dtype is None and x.weak_type
  dtype = dtype_of(dtype, "full", x.dtype, stacklevel=6)
  if not weak and isinstance(value, (bool, int, float, complex, np.generic)):
    return _constant(shape, _python(value, dtype), dtype)
  return _spread(shape, value, dtype, weak)


def _python(value: Any, dtype: Any) -> Any:
  """A number that NumPy converts to a dtype as the compiled program would."""
  if isinstance(value, (complex, np.complexfloating)) and dtype.kind in "iufV":
    return value.real
  return value


@compiled(static=("shape", "dtype", "weak"))
def _spread(shape: Shape, value: Any, dtype: Any, weak: bool) -> Any:
  x = typeof(value)
  n = len(shape) - x.ndim
  if n < 0 or any(a not in (1, b) for a, b in zip(x.shape, shape[max(n, 0):])):
    raise ValueError(f"cannot broadcast an array of shape {x.shape} to the shape {shape}")
  value = convert(value, dtype, weak)
  return lax.broadcast_in_dim(value, shape, tuple(range(n, len(shape))))


# ---- like another array


def _like(name: str, a: Any, dtype: Any, shape: Any) -> tuple[Shape, Any, bool]:
  """Shape, dtype and weakness of a result that is like `a`."""
  if not (hasattr(a, "dtype") and hasattr(a, "shape")):
    check_arraylike(name, a)
    a = typeof(a)
  weak = dtype is None and getattr(a, "weak_type", False)
  shape = tuple(a.shape) if shape is None else shape_of(shape, name)
  dtype = (dtypes.canonicalize_dtype(a.dtype, allow_extended_dtype=True)
           if dtype is None else dtype_of(dtype, name, stacklevel=7))
  return shape, dtype, bool(weak)


def _constant_like(name: str, a: Any, value: Any, dtype: Any, shape: Any) -> Any:
  shape, dtype, weak = _like(name, a, dtype, shape)
  if weak:
    return _spread(shape, np.asarray(value, dtype)[()], dtype, True)
  return _constant(shape, value, dtype)


def zeros_like(a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None,
               out_sharding: Any = None) -> Any:
  """Zeros of the shape and dtype of another array.

  Args:
    a: an array, a number, or anything with `shape` and `dtype`.
    dtype: another dtype.
    shape: another shape.
    device: where the result lives.
    out_sharding: how the result is laid out over devices.

  >>> import gnomon.numpy as gnp
  >>> gnp.zeros_like(gnp.arange(2)).tolist()
  [0, 0]

  Raises:
    TypeError: `a` is no array; a size is no integer.
  """
  return placed(
      _constant_like("zeros_like", a, 0, dtype, shape), device, out_sharding, a)


def ones_like(a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None,
              out_sharding: Any = None) -> Any:
  """Ones of the shape and dtype of another array.

  Args:
    a: an array, a number, or anything with `shape` and `dtype`.
    dtype: another dtype.
    shape: another shape.
    device: where the result lives.
    out_sharding: how the result is laid out over devices.

  >>> import gnomon.numpy as gnp
  >>> gnp.ones_like(gnp.arange(2), float).tolist()
  [1.0, 1.0]

  Raises:
    TypeError: `a` is no array; a size is no integer.
  """
  return placed(
      _constant_like("ones_like", a, 1, dtype, shape), device, out_sharding, a)


def empty_like(prototype: Any, dtype: Any = None, shape: Any = None, *,
               device: Any = None) -> Any:
  """An array like another, to be overwritten; its elements are zeros.

  Args:
    prototype: an array, a number, or anything with `shape` and `dtype`.
    dtype: another dtype.
    shape: another shape.
    device: where the result lives.

  >>> import gnomon.numpy as gnp
  >>> gnp.empty_like(gnp.arange(2)).shape
  (2,)

  Raises:
    TypeError: `prototype` is no array; a size is no integer.
  """
  return placed(
      _constant_like("empty_like", prototype, 0, dtype, shape), device, None, prototype)


def full_like(a: Any, fill_value: Any, dtype: Any = None, shape: Any = None, *,
              device: Any = None, out_sharding: Any = None) -> Any:
  """A value repeated in the shape and dtype of another array.

  Args:
    a: an array, a number, or anything with `shape` and `dtype`.
    fill_value: a number or an array, broadcast to the shape.
    dtype: another dtype.
    shape: another shape.
    device: where the result lives.
    out_sharding: how the result is laid out over devices.

  >>> import gnomon.numpy as gnp
  >>> gnp.full_like(gnp.arange(2), 7.5).tolist()
  [7, 7]

  Raises:
    TypeError: `a` or `fill_value` is no array; a size is no integer.
    ValueError: `fill_value` cannot be broadcast to the shape.
  """
  if not (hasattr(a, "dtype") and hasattr(a, "shape")):
    check_arraylike("full_like", a)
  check_arraylike("full_like", 0, fill_value)
  shape, dtype, weak = _like("full_like", a, dtype, shape)
  out = (_spread(shape, fill_value, dtype, True) if weak
         else _filled(shape, fill_value, dtype))
  return placed(out, device, out_sharding, a)


# ---- ranges


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None, *,
           device: Any = None, out_sharding: Any = None) -> Any:
  """The numbers from `start` below `stop`, `step` apart.

  Args:
    start: the first number; the end, if it is the only argument.
    stop: the end, not included.
    step: the distance, 1 by default.
    dtype: the dtype; by default that of the arguments.
    device: where the result lives.
    out_sharding: how the result is laid out over devices.

  >>> import gnomon.numpy as gnp
  >>> gnp.arange(2, 8, 3).tolist()
  [2, 5]
  >>> gnp.arange(3.0).tolist()
  [0.0, 1.0, 2.0]

  Raises:
    TypeError: an argument is no number, or traced; the dtype is bool.
    ValueError: an argument is no scalar, or complex.
    ZeroDivisionError: `step` is 0.
  """
  if type(start) is int and stop is None and step is None and dtype is None:  # mostly
    return placed(
        _range(0, 1, max(0, start), dtypes.default_int_dtype()), device, out_sharding)
  if start is None:
    raise TypeError("arange needs a number as start, got None")
  if stop is None:
    start, stop = None, start
  given = {"start": start, "stop": stop, "step": step}
  values = {k: _range_number(k, v) for k, v in given.items() if v is not None}
  if dtype is None:
    dtype = dtypes.result_type(*[v for v in given.values() if v is not None])
  dtype = dtype_of(dtype, "arange")
  if dtype == np.bool_:
    raise TypeError(
        "arange cannot make bools, got dtype=bool (or bool arguments): give an integer "
        "dtype")
  first, last, by = values.get("start", 0), values["stop"], values.get("step", 1)
  if by == 0:
    raise ZeroDivisionError("arange needs a step other than 0")
  size = max(0, math.ceil((last - first) / by))
  return placed(_range(first, by, size, dtype), device, out_sharding)


def _range_number(name: str, x: Any) -> Any:
  """A concrete Python number."""
  check_arraylike("arange", x)
  if np.ndim(x):
    raise ValueError(f"arange needs scalars, got {name}={x} of shape {np.shape(x)}")
  if isinstance(x, Tracer) and x.concrete() is None:
    raise errors.ConcretizationTypeError(
        x, f"It arose in the jnp.arange argument '{name}', which decides the size of "
        "the result")
  value = np.asarray(x).item() if not isinstance(x, (bool, int, float, complex)) else x
  if isinstance(value, complex):
    raise ValueError(  # noqa: TRY004 -- as in NumPy's world, complex numbers are no type
        "Passing complex start/stop/step to jnp.arange is no longer supported: real "
        f"numbers are expected, got {name}={x}")
  return value


def _range(first: Any, by: Any, size: int, dtype: Any) -> Any:
  """The numbers `first + i * by`, exactly as NumPy rounds them."""
  if get_current() is EVAL and size <= SMALL:
    return made_here(_range_values(first, by, size, dtype))
  if first == 0 and by == 1:
    return _iota(size, dtype)
  if not (isinstance(first, int) and isinstance(by, int) and dtype.kind in "iu"):
    return made_here(_range_values(first, by, size, dtype))
  first, by = [np.asarray(n).astype(dtype)[()] for n in (first, by)]
  return _steps(size, first, by, dtype)


def _range_values(first: Any, by: Any, size: int, dtype: Any) -> Any:
  if isinstance(first, int) and isinstance(by, int):
    return (first + by * np.arange(size)).astype(dtype)
  return (first + by * np.arange(size, dtype=np.float64)).astype(dtype)


@compiled(static=("size", "dtype"))
def _iota(size: int, dtype: Any) -> Any:
  return lax.iota(dtype, size)


@compiled(static=("size", "dtype"))
def _steps(size: int, first: Any, by: Any, dtype: Any) -> Any:
  out = lax.iota(dtype, size)
  if not (isinstance(by, np.generic) and by == 1):
    out = lax.mul(out, by)
  return lax.add(out, first)


# ---- identities


def eye(N: int, M: int | None = None, k: Any = 0, dtype: Any = None, *,
        device: Any = None) -> Any:
  """A matrix with ones on a diagonal and zeros elsewhere.

  Args:
    N: the number of rows.
    M: the number of columns; as many as rows by default.
    k: which diagonal: 0 the main one, above it if positive.
    dtype: the dtype; floating-point by default.
    device: where the result lives.

  >>> import gnomon.numpy as gnp
  >>> gnp.eye(2).tolist()
  [[1.0, 0.0], [0.0, 1.0]]

  Raises:
    TypeError: a size is no integer.
    ValueError: a size is negative, or `k` is no scalar integer.
  """
  shape = matrix_shape("eye", N, M)
  check_diagonal("eye", k)
  dtype = dtype_of(dtype, "eye")
  if get_current() is EVAL and math.prod(shape) <= SMALL:
    return placed(made_here(np.eye(shape[0], shape[1], as_int(k)).astype(dtype)), device)
  return placed(_eye(shape, k, dtype), device)


@compiled(static=("shape", "dtype"))
def _eye(shape: Shape, k: Any, dtype: Any) -> Any:
  rows = lax.broadcasted_iota(np.int32, shape, 0)
  columns = lax.broadcasted_iota(np.int32, shape, 1)
  if not (isinstance(k, int) and k == 0):
    rows = lax.add(rows, lax.full(shape, k, np.int32))
  return convert(lax.eq(rows, columns), dtype)


def matrix_shape(name: str, n: Any, m: Any) -> tuple[int, int]:
  """The shape of a matrix, of as many columns as rows by default.

  Raises:
    TypeError: a size is no integer.
    ValueError: a size is negative.
  """
  sizes = []
  for letter, size in (("N", n), ("M", n if m is None else m)):
    try:
      sizes.append(as_int(size))
    except TypeError as e:
      if isinstance(size, Tracer):
        raise not_a_shape(name, size) from None
      raise TypeError(f"{name} needs an integer as {letter}, got {size!r}") from e
  if min(sizes) < 0:
    raise ValueError(f"{name} needs sizes that are not negative, got {n} and {m}")
  return sizes[0], sizes[1]


def check_diagonal(name: str, k: Any) -> None:
  """Raises `ValueError` unless the number of a diagonal is a scalar integer."""
  check_arraylike(name, k)
  if np.ndim(k) or not dtypes.issubdtype(typeof(k).dtype, np.integer):
    raise ValueError(f"{name} needs a scalar integer as k, got {k!r}")


def identity(n: int, dtype: Any = None) -> Any:
  """A square matrix with ones on the main diagonal and zeros elsewhere.

  Args:
    n: the number of rows and columns.
    dtype: the dtype; floating-point by default.

  >>> import gnomon.numpy as gnp
  >>> gnp.identity(2, int).tolist()
  [[1, 0], [0, 1]]

  Raises:
    TypeError: `n` is no integer.
    ValueError: `n` is negative.
  """
  return eye(n, dtype=dtype)
