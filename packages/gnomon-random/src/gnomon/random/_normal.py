"""Samples by inversion of a distribution function: normal, Gumbel and their like."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gnomon import config, lax
from gnomon.core import dtypes
from gnomon.core.types import typeof
from gnomon.random._api import check_key, float_dtype, float_info, placed, shape_of
from gnomon.random._primitives import split_keys
from gnomon.random._program import program
from gnomon.random._uniform import _uniform, two_uniforms

Shape = tuple[int, ...]


def normal(
    key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
  """Numbers of the standard normal distribution.

  Args:
    key: a key.
    shape: the result's shape.
    dtype: a floating-point or complex dtype; None: float32 (float64 with 64-bit types
      on). Complex numbers have variance 1, half of it in each part.
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> random.normal(random.key(0), (2,)).shape
  (2,)

  Raises:
    ValueError: `dtype` is neither floating-point nor complex.
  """
  typed, _ = check_key("normal", key)
  dtype = float_dtype("normal", dtype, complex_too=True)
  out = _normal(typed, shape=shape_of("normal", shape), dtype=dtype)
  return placed(out, out_sharding)


@program("shape", "dtype")
def _normal(key: Any, *, shape: Shape, dtype: Any) -> Any:
  if not dtypes.issubdtype(dtype, np.complexfloating):
    return _normal_real(key, shape=shape, dtype=dtype)
  part = np.finfo(dtype).dtype
  keys = split_keys(key, (2,))
  real, imag = (
      _normal_real(lax.index_in_dim(keys, i, 0, keepdims=False), shape=shape, dtype=part)
      for i in (0, 1))
  root = np.asarray(math.sqrt(2), dtype)[()]
  return lax.div(lax.complex(real, imag), root)


@program("shape", "dtype")
def _normal_real(key: Any, *, shape: Shape, dtype: Any) -> Any:
  one = np.asarray(1.0, dtype)[()]
  u = _uniform(key, _above_minus_one(dtype), one, shape=shape, dtype=dtype)
  return _by_inversion(u)


def _above_minus_one(dtype: Any) -> Any:
  return np.nextafter(np.asarray(-1.0, dtype), np.asarray(0.0, dtype), dtype=dtype)[()]


def _by_inversion(u: Any) -> Any:
  """Normal numbers from uniform ones in (-1, 1)."""
  return lax.mul(np.asarray(math.sqrt(2), typeof(u).dtype)[()], lax.erf_inv(u))


def normal_of(unit: Any) -> Any:
  """Normal numbers from uniform ones in [0, 1)."""
  dtype = typeof(unit).dtype
  low = _above_minus_one(dtype)
  width = np.asarray(1.0, dtype)[()] - low
  return _by_inversion(lax.max(low, lax.add(lax.mul(unit, width), low)))


def gumbel(
    key: Any, shape: Any = (), dtype: Any = None, mode: str | None = None, *,
    out_sharding: Any = None) -> Any:
  """Numbers of the standard Gumbel distribution: exp(-exp(-x)).

  Args:
    key: a key.
    shape: the result's shape.
    dtype: a floating-point dtype; None: float32 (float64 with 64-bit types on).
    mode: "low" draws one number a sample; "high" (or "highest", the same here) two, for
      exact tails. None: "low", unless the option `jax_high_dynamic_range_gumbel` is on.
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> random.gumbel(random.key(0), (2,)).shape
  (2,)

  Raises:
    ValueError: `dtype` is not floating-point, or `mode` is unknown.
  """
  typed, _ = check_key("gumbel", key)
  dtype = float_dtype("gumbel", dtype)
  out = _gumbel(
      typed, shape=shape_of("gumbel", shape), dtype=dtype, mode=gumbel_mode(mode))
  return placed(out, out_sharding)


def gumbel_mode(mode: str | None) -> str:
  """The mode of Gumbel sampling; without one, what `jax_high_dynamic_range_gumbel` says.

  Raises:
    ValueError: it is unknown.
  """
  if mode is None:
    return "high" if config.read("jax_high_dynamic_range_gumbel") else "low"
  if mode not in ("low", "high", "highest"):
    raise ValueError(f"the mode of Gumbel sampling must be 'low' or 'high', got {mode!r}")
  return "low" if mode == "low" else "high"


@program("shape", "dtype", "mode")
def _gumbel(key: Any, *, shape: Shape, dtype: Any, mode: str) -> Any:
  tiny = np.asarray(float_info(dtype).tiny, dtype)[()]
  if mode == "high":
    # Small numbers get a second draw as further digits; log1p is exact for them.
    high, low = two_uniforms(key, shape, dtype)
    fine = lax.mul(np.asarray(float_info(dtype).eps, dtype)[()], low)
    exact = lax.add(lax.add(high, fine), tiny)
    half = np.asarray(0.5, dtype)[()]
    u = lax.select_n(lax.ge(high, half), exact, high)
    return lax.neg(lax.log(lax.neg(lax.log1p(lax.neg(u)))))
  u = _uniform(key, tiny, np.asarray(1.0, dtype)[()], shape=shape, dtype=dtype)
  return lax.neg(lax.log(lax.neg(lax.log(u))))

