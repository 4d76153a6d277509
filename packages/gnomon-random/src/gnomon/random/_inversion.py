"""Samples by inversion of simple distribution functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon import lax
from gnomon.core.structural import select_n
from gnomon.random._api import check_key, float_dtype, float_info, placed, shape_of
from gnomon.random._parameters import filled, result_shape, where
from gnomon.random._program import program
from gnomon.random._uniform import _uniform, unit_interval

Shape = tuple[int, ...]


def exponential(
    key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
  """Numbers of the exponential distribution with density exp(-x).

  Args:
    key: a key.
    shape: the result's shape.
    dtype: a floating-point dtype; None: float32 (float64 with 64-bit types on).
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> bool(random.exponential(random.key(0)) >= 0)
  True

  Raises:
    ValueError: `dtype` is not floating-point.
  """
  return _standard(_exponential, "exponential", key, shape, dtype, out_sharding)


@program("shape", "dtype")
def _exponential(key: Any, *, shape: Shape, dtype: Any) -> Any:
  return -lax.log1p(-_uniform(key, 0.0, 1.0, shape=shape, dtype=dtype))


def laplace(
    key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
  """Numbers of the Laplace distribution with density exp(-|x|) / 2.

  Args:
    key: a key.
    shape: the result's shape.
    dtype: a floating-point dtype; None: float32 (float64 with 64-bit types on).
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> random.laplace(random.key(0), (2,)).shape
  (2,)

  Raises:
    ValueError: `dtype` is not floating-point.
  """
  return _standard(_laplace, "laplace", key, shape, dtype, out_sharding)


@program("shape", "dtype")
def _laplace(key: Any, *, shape: Shape, dtype: Any) -> Any:
  low = np.asarray(float(float_info(dtype).epsneg) - 1.0, dtype)[()]
  u = _uniform(key, low, np.asarray(1, dtype)[()], shape=shape, dtype=dtype)
  return lax.sign(u) * lax.log1p(-lax.abs(u))


def logistic(
    key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
  """Numbers of the logistic distribution: P(X ≤ x) = 1 / (1 + exp(-x)).

  Args:
    key: a key.
    shape: the result's shape.
    dtype: a floating-point dtype; None: float32 (float64 with 64-bit types on).
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> random.logistic(random.key(0), (2,)).shape
  (2,)

  Raises:
    ValueError: `dtype` is not floating-point.
  """
  return _standard(_logistic, "logistic", key, shape, dtype, out_sharding)


@program("shape", "dtype")
def _logistic(key: Any, *, shape: Shape, dtype: Any) -> Any:
  u = _above(key, shape, dtype, float(float_info(dtype).tiny))
  return lax.log(u) - lax.log1p(-u)


def cauchy(
    key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
  """Numbers of the Cauchy distribution with density 1 / (π (1 + x²)).

  Args:
    key: a key.
    shape: the result's shape.
    dtype: a floating-point dtype; None: float32 (float64 with 64-bit types on).
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> random.cauchy(random.key(0), (2,)).shape
  (2,)

  Raises:
    ValueError: `dtype` is not floating-point.
  """
  return _standard(_cauchy, "cauchy", key, shape, dtype, out_sharding)


@program("shape", "dtype")
def _cauchy(key: Any, *, shape: Shape, dtype: Any) -> Any:
  u = _above(key, shape, dtype, float(float_info(dtype).eps))
  return lax.tan(np.asarray(np.pi, dtype)[()] * (u - 0.5))


def _standard(
    sampler: Any, name: str, key: Any, shape: Any, dtype: Any, out_sharding: Any) -> Any:
  """Samples of a distribution without parameters."""
  typed, _ = check_key(name, key)
  dtype = float_dtype(name, dtype)
  out = sampler(typed, shape=shape_of(name, shape), dtype=dtype)
  return placed(out, out_sharding)


def _above(key: Any, shape: Shape, dtype: Any, low: float) -> Any:
  """Uniform numbers between a small one and 1."""
  first, last = (np.asarray(x, dtype)[()] for x in (low, 1))
  return _uniform(key, first, last, shape=shape, dtype=dtype)


def pareto(
    key: Any, b: Any, shape: Any = None, dtype: Any = None, *,
    out_sharding: Any = None) -> Any:
  """Numbers of the Pareto distribution with density b / x^(b + 1) above 1.

  Args:
    key: a key.
    b: the exponent, positive (nan where negative).
    shape: the result's shape; None: that of `b`.
    dtype: a floating-point dtype; None: float32 (float64 with 64-bit types on).
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> bool(random.pareto(random.key(0), 2.0) >= 1)
  True

  Raises:
    ValueError: `dtype` is not floating-point, or `b` does not broadcast to `shape`.
  """
  typed, _ = check_key("pareto", key)
  dtype = float_dtype("pareto", dtype)
  out = _pareto(typed, b, shape=result_shape("pareto", shape, b=b), dtype=dtype)
  return placed(out, out_sharding)


@program("shape", "dtype")
def _pareto(key: Any, b: Any, *, shape: Shape, dtype: Any) -> Any:
  b = filled(b, shape, dtype)
  out = lax.exp(lax.div(_exponential(key, shape=shape, dtype=dtype), b))
  return where(b < 0.0, np.nan, out)


def rayleigh(
    key: Any, scale: Any, shape: Any = None, dtype: Any = None, *,
    out_sharding: Any = None) -> Any:
  """Numbers of the Rayleigh distribution: lengths of two-dimensional normal vectors.

  Args:
    key: a key.
    scale: standard deviation of the vectors' elements, not negative (nan elsewhere).
    shape: the result's shape; None: that of `scale`.
    dtype: a floating-point dtype; None: float32 (float64 with 64-bit types on).
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> bool(random.rayleigh(random.key(0), 2.0) >= 0)
  True

  Raises:
    ValueError: `dtype` is not floating-point, or `scale` does not broadcast to `shape`.
  """
  typed, _ = check_key("rayleigh", key)
  dtype = float_dtype("rayleigh", dtype)
  shape = result_shape("rayleigh", shape, scale=scale)
  out = _rayleigh(typed, scale, shape=shape, dtype=dtype)
  return placed(out, out_sharding)


@program("shape", "dtype")
def _rayleigh(key: Any, scale: Any, *, shape: Shape, dtype: Any) -> Any:
  scale = filled(scale, shape, dtype)
  u = unit_interval(key, shape, dtype)
  # 0 stands for what lies below the next number: its middle has a finite logarithm.
  u = lax.max(u, np.asarray(2.0 ** -(float_info(dtype).nmant + 1), dtype)[()])
  return where(scale < 0.0, np.nan, scale * lax.sqrt(lax.log(u) * -2.0))


def weibull_min(
    key: Any, scale: Any, concentration: Any, shape: Any = (), dtype: Any = None) -> Any:
  """Numbers of the Weibull distribution: P(X > x) = exp(-(x / scale)^concentration).

  Args:
    key: a key.
    scale: the scale, not negative (nan elsewhere).
    concentration: the exponent, not negative (nan elsewhere).
    shape: the result's shape, with which the parameters are broadcast.
    dtype: a floating-point dtype; None: float32 (float64 with 64-bit types on).

  >>> from gnomon import random
  >>> bool(random.weibull_min(random.key(0), 2.0, 3.0) >= 0)
  True

  Raises:
    ValueError: `dtype` is not floating-point, or the shapes do not fit.
  """
  typed, _ = check_key("weibull_min", key)
  dtype = float_dtype("weibull_min", dtype)
  like = np.broadcast_to(np.float32(0), shape_of("weibull_min", shape))
  shape = result_shape(
      "weibull_min", None, shape=like, scale=scale, concentration=concentration)
  return _weibull_min(typed, scale, concentration, shape=shape, dtype=dtype)


@program("shape", "dtype")
def _weibull_min(
    key: Any, scale: Any, concentration: Any, *, shape: Shape, dtype: Any) -> Any:
  scale, power = (filled(x, shape, dtype) for x in (scale, concentration))
  e = _exponential(key, shape=shape, dtype=dtype)
  out = lax.pow(e, lax.div(1.0, power)) * scale
  return where((scale < 0.0) | (power < 0.0), np.nan, out)


def triangular(
    key: Any, left: Any, mode: Any, right: Any, shape: Any = None, dtype: Any = None, *,
    out_sharding: Any = None) -> Any:
  """Numbers whose density rises in a line from `left` to `mode` and falls to `right`.

  Args:
    key: a key.
    left: lower bound.
    mode: where the density is highest, between the bounds (else the result is nan).
    right: upper bound.
    shape: the result's shape; None: that of the parameters together.
    dtype: a floating-point dtype; None: float32 (float64 with 64-bit types on).
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> bool(random.triangular(random.key(0), 1.0, 1.5, 4.0) >= 1)
  True

  Raises:
    ValueError: `dtype` is not floating-point, or the shapes do not fit.
  """
  typed, _ = check_key("triangular", key)
  dtype = float_dtype("triangular", dtype)
  shape = result_shape("triangular", shape, left=left, mode=mode, right=right)
  out = _triangular(typed, left, mode, right, shape=shape, dtype=dtype)
  return placed(out, out_sharding)


@program("shape", "dtype")
def _triangular(
    key: Any, left: Any, mode: Any, right: Any, *, shape: Shape, dtype: Any) -> Any:
  left, mode, right = (filled(x, shape, dtype) for x in (left, mode, right))
  u = _uniform(key, 0.0, 1.0, shape=shape, dtype=dtype)
  width = right - left
  rising = left + lax.sqrt(u * width * (mode - left))
  falling = right - lax.sqrt((1.0 - u) * width * (right - mode))
  out = select_n(u < (mode - left) / width, falling, rising)
  return where((left <= mode) & (mode <= right), out, np.nan)
