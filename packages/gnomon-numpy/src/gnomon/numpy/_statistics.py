"""Counts, covariances, correlations."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.structural import broadcast_in_dim, convert, reduce_sum
from gnomon.core.types import typeof
from gnomon.numpy._compiled import compiled
from gnomon.numpy._promotion import check_arraylike, promote_dtypes_inexact
from gnomon.numpy._reductions import mean
from gnomon.numpy._shape import atleast_2d
from gnomon.numpy._values import (
  array_of,
  arrays_of,
  asked_dtype,
  choose,
  concrete,
  is_kind,
  one_array,
  scalar,
)

# ---- counts


def bincount(
    x: Any, weights: Any = None, minlength: int = 0, *, length: int | None = None,
    out_sharding: Any = None) -> Any:
  """How often each integer from 0 on occurs.

  Args:
    x: a vector of integers that are not negative; negative ones count as 0.
    weights: what each occurrence counts, instead of 1.
    minlength: the least size of the result.
    length: the size of the result; integers beyond it are not counted. It allows `x` to
      be traced.
    out_sharding: not supported.

  >>> import gnomon.numpy as gnp
  >>> gnp.bincount(gnp.array([1, 3, 1])).tolist()
  [0, 2, 0, 1]

  Raises:
    TypeError: `x` does not hold integers.
    ValueError: `x` is no vector, or `weights` have another shape.
    ConcretizationTypeError: `x` is traced, without `length`.
  """
  if out_sharding is not None:
    raise NotImplementedError("bincount does not support the argument 'out_sharding'")
  check_arraylike("bincount", x)
  aval = typeof(x)
  if not dtypes.issubdtype(aval.dtype, np.integer) and aval.dtype != np.bool_:
    raise TypeError(f"x argument to bincount must have an integer type; got {aval.dtype}")
  if aval.ndim != 1:
    raise ValueError(f"bincount: only 1-dimensional input supported, got {aval.shape}")
  if length is None:
    values = concrete(
        "bincount", "x", x, "Give length, the size of the result, to have it traced")
    # An integer that no occurrence reaches would be lost in the values' own dtype.
    length = max(index(minlength), int(values.max()) + 1 if values.size else 0, 0)
  return _bincount(x, weights, index(length))


@compiled(static=("length",))
def _bincount(x: Any, weights: Any, length: int) -> Any:
  x = one_array("bincount", x)
  if is_kind(x, np.bool_) or dtypes.itemsize_bits(typeof(x).dtype) < 32:
    x = convert(x, np.dtype(np.int32))
  if is_kind(x, np.signedinteger):
    x = lax.max(x, scalar(0, typeof(x).dtype))
  n = typeof(x).shape[0]
  if weights is None:
    amounts = lax.full((n,), 1, dtypes.default_int_dtype())
  else:
    amounts = one_array("bincount", weights)
    if typeof(amounts).shape != (n,):
      raise ValueError(
          f"bincount: shape of weights must match shape of x, {(n,)}; got "
          f"{typeof(amounts).shape}")
  zeros = lax.full((length,), 0, typeof(amounts).dtype)
  if not length:
    return zeros
  numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
  return lax.scatter_add(
      zeros, broadcast_in_dim(x, (n, 1), (0,)), convert(amounts, typeof(zeros).dtype),
      numbers, mode="drop")


# ---- covariances


@compiled(static=("rowvar", "bias", "ddof", "dtype"))
def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None,
    fweights: Any = None, aweights: Any = None, dtype: Any = None) -> Any:
  """Covariances of variables, estimated from observations.

  Args:
    m: a matrix with a variable in each row, or a vector of observations of one.
    y: more variables, in the same form.
    rowvar: False if variables lie in columns.
    bias: whether to divide by the number of observations, not by one less.
    ddof: what is taken off that number instead.
    fweights: how often each observation counts: integers.
    aweights: how much each observation counts.
    dtype: the dtype to compute in.

  >>> import gnomon.numpy as gnp
  >>> gnp.cov(gnp.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])).tolist()
  [[1.0, -1.0], [-1.0, 1.0]]

  Raises:
    ValueError: `m` or `y` has more than two dimensions.
    TypeError: `fweights` are no integers, or an argument is no array.
    RuntimeError: weights are no vectors of one entry an observation.
  """
  return _cov("cov", m, y, rowvar, bias, ddof, fweights, aweights, dtype)


def _cov(
    name: str, m: Any, y: Any, rowvar: bool, bias: bool, ddof: int | None, fweights: Any,
    aweights: Any, dtype: Any) -> Any:
  x = _variables(name, m, y, rowvar, asked_dtype(dtype, name))
  if ddof is None:
    ddof = 0 if bias else 1
  w = _weights(typeof(x).shape[1], fweights, aweights, typeof(x).dtype)
  if w is None:
    count: Any = scalar(typeof(x).shape[1], typeof(x).dtype)
    off = lax.sub(x, mean(x, axis=1, keepdims=True))
    # As in NumPy: where nothing is left to divide by, that is 0.
    divisor: Any = scalar(max(typeof(x).shape[1] - ddof, 0), typeof(x).dtype)
    weighted = off
  else:
    count = reduce_sum(w, (0,))
    rows = broadcast_in_dim(w, typeof(x).shape, (1,))
    center = lax.div(reduce_sum(lax.mul(x, rows), (1,)), count)
    off = lax.sub(x, broadcast_in_dim(center, typeof(x).shape, (0,)))
    weighted = lax.mul(off, rows)
    divisor = _divisor(w, count, ddof, aweights)
  other = lax.conj(weighted) if is_kind(x, np.complexfloating) else weighted
  products = lax.dot_general(off, other, (((1,), (1,)), ((), ())))
  out = lax.div(products, divisor)
  return lax.squeeze(out, [d for d, n in enumerate(typeof(out).shape) if n == 1])


def _variables(name: str, m: Any, y: Any, rowvar: bool, dtype: Any) -> Any:
  """Variables in rows, observations in columns."""
  parts = arrays_of(name, m) if y is None else arrays_of(name, m, y)
  for p in parts:
    if typeof(p).ndim > 2:
      raise ValueError(
          f"{name}: m has more than 2 dimensions, its shape is {typeof(p).shape}")
  if dtype is None:
    parts = [array_of(p) for p in promote_dtypes_inexact(*parts)]
  elif not dtypes.issubdtype(dtype, np.inexact):
    raise ValueError(
        f"{name}: dtype must be a subclass of float or complex, got {dtype}")
  else:
    parts = [convert(p, dtype) for p in parts]
  rows = [
      lax.transpose(z, (1, 0)) if not rowvar and typeof(p).ndim == 2 else z
      for p, z in zip(parts, map(atleast_2d, parts))]
  return rows[0] if len(rows) == 1 else lax.concatenate(rows, 0)


def _weights(n: int, fweights: Any, aweights: Any, dtype: Any) -> Any:
  """The weight of each observation, or None."""
  real = np.finfo(dtype).dtype if dtype.kind == "c" else dtype
  w = None
  for name, given in (("fweights", fweights), ("aweights", aweights)):
    if given is None:
      continue
    given = one_array("cov", given)
    aval = typeof(given)
    if aval.ndim > 1:
      raise RuntimeError(
          f"cov: cannot handle multidimensional {name}, of shape {aval.shape}")
    if aval.shape != (n,):
      raise RuntimeError(
          f"cov: incompatible numbers of samples and {name}: {n} and {aval.shape}")
    if name == "fweights" and not dtypes.issubdtype(aval.dtype, np.integer):
      raise TypeError(f"cov: fweights must be integer, got {aval.dtype}")
    given = lax.abs(convert(given, real)) if name == "aweights" else convert(given, real)
    w = given if w is None else lax.mul(w, given)
  return None if w is None else convert(w, dtype)


def _divisor(w: Any, count: Any, ddof: Any, aweights: Any) -> Any:
  dtype = typeof(w).dtype
  if not ddof:
    return count
  if aweights is None:
    return lax.sub(count, scalar(ddof, dtype))
  a = convert(one_array("cov", aweights), dtype)
  share = lax.div(reduce_sum(lax.mul(w, a), (0,)), count)
  return lax.sub(count, lax.mul(scalar(ddof, dtype), share))


@compiled(static=("rowvar", "dtype"))
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, dtype: Any = None) -> Any:
  """Correlations of variables: covariances over the product of standard deviations.

  Args:
    x: a matrix with a variable in each row, or a vector of observations of one.
    y: more variables, in the same form.
    rowvar: False if variables lie in columns.
    dtype: the dtype to compute in.

  >>> import gnomon.numpy as gnp
  >>> gnp.corrcoef(gnp.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])).tolist()
  [[1.0, -1.0], [-1.0, 1.0]]

  Raises:
    ValueError: `x` or `y` has more than two dimensions.
    TypeError: an argument is no array and no number.
  """
  c = _cov("corrcoef", x, y, rowvar, False, None, None, None, dtype)
  if not typeof(c).ndim:
    return lax.div(c, c)
  n = typeof(c).shape[0]
  on = lax.eq(
      lax.broadcasted_iota(np.int32, (n, n), 0), lax.broadcasted_iota(np.int32, (n, n),
          1))
  own = reduce_sum(choose(on, c, scalar(0, typeof(c).dtype)), (0,))
  complex_ = is_kind(c, np.complexfloating)
  size = lax.sqrt(lax.real(own) if complex_ else own)
  rows, columns = (broadcast_in_dim(convert(size, typeof(c).dtype), (n, n), (d,))
                   for d in (0, 1))
  out = lax.div(lax.div(c, rows), columns)
  # Rounding must not lead out of the range of correlations.
  if not complex_:
    return lax.clamp(scalar(-1, typeof(out).dtype), out, scalar(1, typeof(out).dtype))
  real, imag = (lax.clamp(scalar(-1, typeof(size).dtype), part,
      scalar(1, typeof(size).dtype))
                for part in (lax.real(out), lax.imag(out)))
  return lax.complex(real, imag)
