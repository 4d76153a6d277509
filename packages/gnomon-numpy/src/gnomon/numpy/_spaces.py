"""Numbers at equal distances, or at equal ratios."""

from __future__ import annotations

import math
from operator import index
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.structural import convert, select_n
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.numpy._conversion import made_here
from gnomon.numpy._creation import dtype_of, placed
from gnomon.numpy._power import power
from gnomon.numpy._promotion import check_arraylike, promote_args_inexact
from gnomon.numpy._values import array_of, spread

_REAL = frozenset((int, float))
_NUMBERS = (bool, int, float, complex)


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
  num = index(num)
  if num < 0:
    raise ValueError(
        f"linspace needs a number of samples that is not negative, got {num}")
  found = None
  if isinstance(start, _NUMBERS) and isinstance(stop, _NUMBERS):
    dtype, inexact = _space_dtypes(start, stop, dtype)
    value, step = _linspace_values(start, stop, num, endpoint)
    out = made_here(_rounded(value, dtype))
    if retstep:
      found = made_here(np.asarray(step).astype(inexact))
  else:
    out, *rest = _linspace(
        start, stop, num, bool(endpoint), dtype, index(axis), bool(retstep))
    found = rest[0] if rest else None
  if device is not None:
    out = placed(out, device)
  return (out, found) if retstep else out


def _rounded(value: Any, dtype: Any) -> Any:
  """Numbers computed in double precision, in the dtype of the result."""
  kind = dtype.kind
  if kind not in "cb" and value.dtype.kind == "c":
    value = value.real
  return (np.floor(value) if kind in "iu" else value).astype(dtype)


def _space_dtypes(start: Any, stop: Any, dtype: Any) -> tuple[Any, Any]:
  """The dtype of the numbers, and that in which they are computed."""
  if type(start) in _REAL and type(stop) in _REAL:
    inexact = dtypes.default_float_dtype()
  else:
    check_arraylike("linspace", start, stop)
    inexact = dtypes.to_inexact_dtype(
        dtypes.canonicalize_dtype(dtypes.result_type(start, stop)))
  return dtype_of(dtype, "linspace", inexact, stacklevel=6), inexact


def _linspace_values(start: Any, stop: Any, num: int, endpoint: bool) -> tuple[Any, Any]:
  """The numbers and their distance in double precision, as NumPy computes them."""
  start, stop = start * 1.0, stop * 1.0
  div = num - 1 if endpoint else num
  if div <= 0:
    return np.full((num,), start), math.nan
  step = (stop - start) / div
  if step:
    out = np.arange(num) * step
    out += start
  else:  # a distance too small for the dtype
    out = np.arange(num) / div * (stop - start) + start
  if endpoint:
    out[-1] = stop
  return out, step


@compiled(static=("num", "endpoint", "dtype", "axis", "retstep"))
def _linspace(start: Any, stop: Any, num: int, endpoint: bool, dtype: Any,
              axis: int, retstep: bool) -> Any:
  dtype, inexact = _space_dtypes(start, stop, dtype)
  start, stop = promote_args_inexact("linspace", start, stop)
  shape = lax.broadcast_shapes(np.shape(start), np.shape(stop))
  start, stop = [
      spread("linspace", convert(array_of(x), inexact), shape) for x in (start, stop)]
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
  out = lax.transpose(convert(out, dtype), order)
  return (out, step) if retstep else (out,)


def _checked(name: str, num: Any, dtype: Any, *args: Any) -> tuple[int, Any, Any]:
  """The number of samples, the dtype asked for, and that in which to compute."""
  num = index(num)
  if num < 0:
    raise ValueError(f"{name} needs a number of samples that is not negative, got {num}")
  if dtype is None and _REAL.issuperset(map(type, args)):
    inexact = dtypes.default_float_dtype()
    return num, inexact, inexact
  check_arraylike(name, *args)
  inexact = dtypes.to_inexact_dtype(dtypes.canonicalize_dtype(dtypes.result_type(*args)))
  return num, dtype_of(dtype, name, inexact, stacklevel=6), inexact


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0,
    dtype: Any = None, axis: int = 0) -> Any:
  """Powers of a base, with exponents at equal distances.

  Args:
    start: the first exponent, or an array of them.
    stop: the last exponent, or an array of them.
    num: how many.
    endpoint: whether the power of `stop` is among them.
    base: the base.
    dtype: the dtype; floating-point by default.
    axis: where the new dimension goes, if there are arrays.

  >>> import gnomon.numpy as gnp
  >>> gnp.logspace(0, 2, 3).tolist()
  [1.0, 10.0, 100.0]

  Raises:
    ValueError: `num` is negative, or `axis` is out of range.
  """
  num, dtype, inexact = _checked("logspace", num, dtype, start, stop, base)
  if type(start) in _NUMBERS and type(stop) in _NUMBERS and type(base) in _NUMBERS:
    exponents, _ = _linspace_values(start, stop, num, endpoint)
    with np.errstate(all="ignore"):
      return made_here(_rounded(np.power(base, exponents), dtype))
  return _logspace(start, stop, num, bool(endpoint), base, dtype, inexact, index(axis))


@compiled(static=("num", "endpoint", "dtype", "inexact", "axis"))
def _logspace(start: Any, stop: Any, num: int, endpoint: bool, base: Any, dtype: Any,
              inexact: Any, axis: int) -> Any:
  exponents = linspace(start, stop, num, endpoint, dtype=inexact, axis=axis)
  if np.ndim(base):
    shape = list(typeof(base).shape)
    place = axis % (len(shape) + 1)
    base = lax.reshape(base, [*shape[:place], 1, *shape[place:]])
  return convert(power(base, exponents), dtype)


def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None,
    axis: int = 0) -> Any:
  """Numbers from `start` to `stop` at equal ratios.

  Args:
    start: the first number, or an array of them.
    stop: the last number, or an array of them; of the same sign.
    num: how many.
    endpoint: whether `stop` is among them.
    dtype: the dtype; floating-point by default.
    axis: where the new dimension goes, if there are arrays.

  >>> import gnomon.numpy as gnp
  >>> gnp.geomspace(1, 1000, 4).tolist()
  [1.0, 10.0, 100.0, 1000.0]

  Raises:
    ValueError: `num` is negative, or `axis` is out of range.
  """
  num, dtype, inexact = _checked("geomspace", num, dtype, start, stop)
  known = type(start) in _NUMBERS and type(stop) in _NUMBERS and start and stop
  if known and (inexact.kind == "c" or (start > 0) == (stop > 0)):
    return made_here(
        _rounded(np.asarray(np.geomspace(start, stop, num, endpoint)), dtype))
  return _geomspace(start, stop, num, bool(endpoint), dtype, inexact, index(axis))


@compiled(static=("num", "endpoint", "dtype", "inexact", "axis"))
def _geomspace(start: Any, stop: Any, num: int, endpoint: bool, dtype: Any, inexact: Any,
               axis: int) -> Any:
  start, stop = promote_args_inexact("geomspace", start, stop)
  shape = lax.broadcast_shapes(typeof(start).shape, typeof(stop).shape)
  start, stop = [lax.broadcast_in_dim(
      convert(x, inexact), shape, tuple(range(len(shape) - typeof(x).ndim, len(shape))))
      for x in (start, stop)]
  factor = lax.log(lax.div(stop, start))
  zeros, ones = lax.full(shape, 0, inexact), lax.full(shape, 1, inexact)
  t = linspace(zeros, ones, num, endpoint, dtype=inexact)
  whole = (num, *shape)
  spread = [lax.broadcast_in_dim(x, whole, tuple(range(1, len(whole))))
            for x in (start, stop, factor)]
  out = lax.mul(spread[0], lax.exp(lax.mul(t, spread[2])))
  if endpoint and num > 1:  # the last one exactly
    rows = lax.broadcasted_iota(np.int32, whole, 0)
    out = select_n(lax.eq(rows, np.int32(num - 1)), out, spread[1])
  ndim = len(whole)
  if not -ndim <= axis < ndim:
    raise ValueError(
        f"geomspace: axis {axis} is out of bounds for a result of {ndim} dimensions")
  order = list(range(1, ndim))
  order.insert(axis % ndim, 0)
  return convert(lax.transpose(out, order), dtype)
