"""Arrays from nothing: constants, ranges, identities."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
from gnomon.numpy._conversion import constant, on_device
from gnomon.numpy._promotion import check_arraylike, promote_args_inexact

Shape = tuple[int, ...]
_REAL = frozenset((int, float))
_NUMBERS = (bool, int, float, complex)
_SMALL = 65536  # elements up to which NumPy makes constants: no program for each shape


def shape_of(shape: Any, name: str) -> Shape:
  """A shape given by the user: an integer or a sequence of integers.

  Raises:
    TypeError: it is neither, or a size is negative.
  """
  try:
    if hasattr(shape, "__index__") and not getattr(shape, "ndim", 0):
      out: Shape = (as_int(shape),)
    else:
      out = tuple([as_int(n) for n in (
          np.asarray(shape) if hasattr(shape, "dtype") else shape)])
  except TypeError as e:
    if any(isinstance(n, Tracer) for n in (shape, *(shape if isinstance(
        shape, (tuple, list)) else ()))):
      raise  # the tracer's own message says why it has no value
    raise TypeError(
        f"{name} needs an integer or a sequence of integers as shape, got {shape!r}"
    ) from e
  if any(n < 0 for n in out):
    raise TypeError(f"{name} needs sizes that are not negative, got the shape {out}")
  return out


def dtype_of(dtype: Any, default: Any = None) -> Any:
  """A dtype given by the user, made canonical; the default float dtype for None."""
  if dtype is None:
    return dtypes.default_float_dtype() if default is None else default
  return dtypes.canonicalize_dtype(dtype, allow_extended_dtype=True)


def _placed(x: Any, device: Any, sharding: Any = None) -> Any:
  place = device if device is not None else sharding
  return x if place is None else device_put(x, place)


@compiled(static=("shape", "dtype"))
def _fill(shape: Shape, value: Any, dtype: Any) -> Any:
  return lax.full(shape, value, dtype)


def _constant(shape: Shape, value: Any, dtype: Any) -> Any:
  """An array filled with a number."""
  if get_current() is EVAL and isinstance(dtype, np.dtype):
    if math.prod(shape) <= _SMALL:
      return on_device(np.full(shape, value, dtype))
    return _fill(shape, np.asarray(value, dtype)[()], dtype)
  if not shape and isinstance(dtype, np.dtype):
    return constant(np.asarray(value, dtype))
  return lax.full(shape, value, dtype)


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
  return _placed(
      _constant(shape_of(shape, "zeros"), 0, dtype_of(dtype)), device, out_sharding)


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
  return _placed(
      _constant(shape_of(shape, "ones"), 1, dtype_of(dtype)), device, out_sharding)


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
  return _placed(
      _constant(shape_of(shape, "empty"), 0, dtype_of(dtype)), device, out_sharding)


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
  return _placed(out, device, out_sharding)


def _filled(shape: Shape, value: Any, dtype: Any) -> Any:
  x = typeof(value)
  weak = dtype is None and x.weak_type
  dtype = dtype_of(dtype, x.dtype)
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
  return shape, dtype_of(a.dtype if dtype is None else dtype), bool(weak)


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
  return _placed(_constant_like("zeros_like", a, 0, dtype, shape), device, out_sharding)


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
  return _placed(_constant_like("ones_like", a, 1, dtype, shape), device, out_sharding)


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
  return _placed(_constant_like("empty_like", prototype, 0, dtype, shape), device)


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
  return _placed(out, device, out_sharding)


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
  given = {"start": start, "stop": stop, "step": step}
  values = {k: _range_number(k, v) for k, v in given.items() if v is not None}
  if "start" not in values:
    raise TypeError("arange needs a number as start, got None")
  if dtype is None:
    dtype = dtypes.result_type(*[v for v in given.values() if v is not None])
  dtype = dtype_of(dtype)
  if dtype == np.bool_:
    raise TypeError(
        "arange cannot make bools, got dtype=bool (or bool arguments): give an integer "
        "dtype")
  if stop is None and step is None:
    values = {"start": 0, "stop": values["start"]}
  elif stop is None:
    values = {"start": 0, "stop": values["start"], "step": values["step"]}
  first, last, by = values["start"], values["stop"], values.get("step", 1)
  if by == 0:
    raise ZeroDivisionError("arange needs a step other than 0")
  size = max(0, math.ceil((last - first) / by))
  return _placed(_range(first, by, size, dtype), device, out_sharding)


def _range_number(name: str, x: Any) -> Any:
  """A concrete Python number."""
  check_arraylike("arange", x)
  if np.ndim(x):
    raise ValueError(f"arange needs scalars, got {name}={x} of shape {np.shape(x)}")
  if isinstance(x, Tracer) and x.concrete() is None:
    raise errors.ConcretizationTypeError(
        x, f"it is the argument {name} of arange, which decides the size of the result")
  value = np.asarray(x).item() if not isinstance(x, (bool, int, float, complex)) else x
  if isinstance(value, complex):
    raise ValueError(  # noqa: TRY004 -- as in NumPy's world, complex numbers are no type
        f"arange needs real numbers, got {name}={x}")
  return value


def _range(first: Any, by: Any, size: int, dtype: Any) -> Any:
  """The numbers `first + i * by`, exactly as NumPy rounds them."""
  if get_current() is EVAL and size <= _SMALL:
    return on_device(_range_values(first, by, size, dtype))
  if first == 0 and by == 1:
    return _iota(size, dtype)
  if not (isinstance(first, int) and isinstance(by, int) and dtype.kind in "iu"):
    return on_device(_range_values(first, by, size, dtype))
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


def linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True,
             retstep: bool = False, dtype: Any = None, axis: int = 0, *,
             device: Any = None) -> Any:
  """Numbers from `start` to `stop` at equal distances.

  Args:
    start: the first number, or an array of them.
    stop: the last number, or an array of them.
    num: how many.
    endpoint: whether `stop` is among them.
    retstep: also return the distance.
    dtype: the dtype; floating-point by default. Integers are rounded down.
    axis: where the new dimension of size `num` goes, if `start` or `stop` are arrays.
    device: where the result lives.

  Returns:
    The numbers, or a pair of them and the distance.

  >>> import gnomon.numpy as gnp
  >>> gnp.linspace(0, 1, 5).tolist()
  [0.0, 0.25, 0.5, 0.75, 1.0]

  Raises:
    ValueError: `num` is negative, or `axis` is out of range.
    TypeError: `num` is no integer.
  """
  num = as_int(num)
  if num < 0:
    raise ValueError(
        f"linspace needs a number of samples that is not negative, got {num}")
  if type(start) in _REAL and type(stop) in _REAL:
    inexact, known = dtypes.default_float_dtype(), True
  else:
    check_arraylike("linspace", start, stop)
    inexact = dtypes.to_inexact_dtype(
        dtypes.canonicalize_dtype(dtypes.result_type(start, stop)))
    known = isinstance(start, _NUMBERS) and isinstance(stop, _NUMBERS)
  dtype = inexact if dtype is None else dtype_of(dtype)
  if known:
    value, step = _linspace_values(start, stop, num, endpoint)
    if dtype.kind in "iu":
      value = np.floor(value.real)
    elif dtype.kind not in "cb":
      value = value.real
    out = on_device(value.astype(dtype))
    found = on_device(np.asarray(step).astype(inexact)) if retstep else None
  else:
    out, found = _linspace(start, stop, num, bool(endpoint), dtype, inexact, as_int(axis))
  out = _placed(out, device)
  return (out, found) if retstep else out


def _linspace_values(start: Any, stop: Any, num: int, endpoint: bool) -> tuple[Any, Any]:
  """The numbers and their distance in double precision, as NumPy computes them."""
  start, stop = start * 1.0, stop * 1.0
  div = num - 1 if endpoint else num
  if div <= 0:
    return np.full((num,), start), math.nan
  step = (stop - start) / div
  if step:
    out = np.arange(num) * step + start
  else:  # a distance too small for the dtype
    out = np.arange(num) / div * (stop - start) + start
  if endpoint:
    out[-1] = stop
  return out, step


@compiled(static=("num", "endpoint", "dtype", "inexact", "axis"))
def _linspace(start: Any, stop: Any, num: int, endpoint: bool, dtype: Any, inexact: Any,
              axis: int) -> Any:
  start, stop = promote_args_inexact("linspace", start, stop)
  shape = lax.broadcast_shapes(np.shape(start), np.shape(stop))
  start, stop = [
      _spread(shape, convert(x, inexact), inexact, False) for x in (start, stop)]
  div = max(num - 1, 0) if endpoint else num
  width = lax.sub(stop, start)
  count = np.asarray(div, inexact)[()]
  step = lax.div(width, count) if div else lax.full(shape, math.nan, inexact)
  n = num - 1 if endpoint and num > 1 else num
  whole = (n, *shape)
  i = lax.broadcasted_iota(dtypes.finfo(inexact).dtype, whole, 0)
  i = convert(i, inexact)
  a, b = [
      lax.broadcast_in_dim(x, whole, tuple(range(1, len(whole)))) for x in (start, stop)]
  if div == 0:
    out = a
  elif dtypes.issubdtype(dtype, np.integer):  # exact where the numbers are integers
    out = lax.div(lax.add(lax.mul(a, lax.sub(count, i)), lax.mul(b, i)), count)
  else:
    t = lax.div(i, count)
    out = lax.add(lax.mul(a, lax.sub(np.ones((), inexact)[()], t)), lax.mul(b, t))
  if n < num:
    out = lax.concatenate([out, lax.expand_dims(stop, (0,))], 0)
  if dtypes.issubdtype(dtype, np.integer) and not dtypes.issubdtype(
      inexact, np.complexfloating):
    out = lax.floor(out)
  ndim = len(whole)
  if not -ndim <= axis < ndim:
    raise ValueError(
        f"linspace: axis {axis} is out of bounds for a result of {ndim} dimensions")
  order = list(range(1, ndim))
  order.insert(axis % ndim, 0)
  return lax.transpose(convert(out, dtype), order), step


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
  dtype = dtype_of(dtype)
  if get_current() is EVAL and math.prod(shape) <= _SMALL:
    return _placed(on_device(np.eye(shape[0], shape[1], as_int(k)).astype(dtype)), device)
  return _placed(_eye(shape, k, dtype), device)


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
        raise
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


def as_sequence(x: Any) -> Sequence[Any]:
  """A list or tuple as it is; anything else as the only element of one."""
  return x if isinstance(x, (list, tuple)) else (x,)
