"""Distributions made of normal numbers: log-normal, Maxwell, Wald; vectors, matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.core import dtypes
from gnomon.core.structural import broadcast_to, convert, select_n
from gnomon.core.types import typeof
from gnomon.random._api import check_key, float_dtype, float_info, placed, shape_of
from gnomon.random._normal import _normal
from gnomon.random._parameters import filled, parts_of, result_shape, shape_with, where
from gnomon.random._program import program
from gnomon.random._signs import _rademacher
from gnomon.random._uniform import _uniform

Shape = tuple[int, ...]


def lognormal(
    key: Any, sigma: Any = 1.0, shape: Any = None, dtype: Any = None, *,
    out_sharding: Any = None) -> Any:
  """Exponentials of normal numbers of mean 0.

  Args:
    key: a key.
    sigma: standard deviation of the normal numbers.
    shape: the result's shape; None: that of `sigma`.
    dtype: a floating-point or complex dtype; None: float32 (float64 with 64-bit types
      on).
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> bool(random.lognormal(random.key(0), 2.0) > 0)
  True

  Raises:
    ValueError: `dtype` is neither floating-point nor complex, or `sigma` does not
      broadcast to `shape`.
  """
  typed, _ = check_key("lognormal", key)
  dtype = float_dtype("lognormal", dtype, complex_too=True)
  if dtypes.issubdtype(dtype, np.complexfloating):
    shape = shape_with("lognormal", shape, {"sigma": typeof(sigma).shape})
  else:
    shape = result_shape("lognormal", shape, sigma=sigma)
  out = _lognormal(typed, sigma, shape=shape, dtype=dtype)
  return placed(out, out_sharding)


@program("shape", "dtype")
def _lognormal(key: Any, sigma: Any, *, shape: Shape, dtype: Any) -> Any:
  sigma = filled(sigma, shape, dtype)
  return lax.exp(_normal(key, shape=shape, dtype=dtype) * sigma)


def maxwell(
    key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
  """Numbers of the Maxwell distribution: lengths of three-dimensional normal vectors.

  Args:
    key: a key.
    shape: the result's shape.
    dtype: a floating-point dtype; None: float32 (float64 with 64-bit types on).
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> bool(random.maxwell(random.key(0)) >= 0)
  True

  Raises:
    ValueError: `dtype` is not floating-point.
  """
  typed, _ = check_key("maxwell", key)
  dtype = float_dtype("maxwell", dtype)
  out = _maxwell(typed, shape=shape_of("maxwell", shape), dtype=dtype)
  return placed(out, out_sharding)


@program("shape", "dtype")
def _maxwell(key: Any, *, shape: Shape, dtype: Any) -> Any:
  x = _normal(key, shape=(*shape, 3), dtype=dtype)
  return lax.sqrt(gnp.sum(x * x, axis=-1))


def double_sided_maxwell(
    key: Any, loc: Any, scale: Any, shape: Any = (), dtype: Any = None) -> Any:
  """Numbers of the Maxwell distribution with random signs, scaled, then shifted.

  Args:
    key: a key.
    loc: what is added.
    scale: the factor.
    shape: how many samples to draw for each element of the parameters: the result has
      this shape, followed by that of the parameters together.
    dtype: a floating-point dtype; None: float32 (float64 with 64-bit types on).

  >>> from gnomon import random
  >>> random.double_sided_maxwell(random.key(0), 1.0, 2.0, (3,)).shape
  (3,)

  Raises:
    ValueError: `dtype` is not floating-point, or the parameters do not fit together.
  """
  name = "double_sided_maxwell"
  typed, _ = check_key(name, key)
  dtype = float_dtype(name, dtype)
  own = result_shape(name, None, loc=loc, scale=scale)
  return _double_sided_maxwell(
      typed, loc, scale, shape=(*shape_of(name, shape), *own), dtype=dtype)


@program("shape", "dtype")
def _double_sided_maxwell(
    key: Any, loc: Any, scale: Any, *, shape: Shape, dtype: Any) -> Any:
  key_x, key_sign = parts_of(key, 2)
  x = _maxwell(key_x, shape=shape, dtype=dtype)
  sign = _rademacher(key_sign, shape=shape, dtype=dtype)
  return sign * x * filled(scale, shape, dtype) + filled(loc, shape, dtype)


def wald(
    key: Any, mean: Any, shape: Any = None, dtype: Any = None, *,
    out_sharding: Any = None) -> Any:
  """Numbers of the Wald (inverse Gaussian) distribution of a mean and of scale 1.

  Their density is exp(-(x - mean)² / (2 mean² x)) / sqrt(2 π x³).

  Args:
    key: a key.
    mean: the mean, not negative (nan elsewhere); it may be infinite.
    shape: the result's shape; None: that of `mean`.
    dtype: a floating-point dtype; None: float32 (float64 with 64-bit types on).
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> bool(random.wald(random.key(0), 2.0) > 0)
  True

  Raises:
    ValueError: `dtype` is not floating-point, or `mean` does not broadcast to `shape`.
  """
  typed, _ = check_key("wald", key)
  dtype = float_dtype("wald", dtype)
  out = _wald(typed, mean, shape=result_shape("wald", shape, mean=mean), dtype=dtype)
  return placed(out, out_sharding)


@program("shape", "dtype")
def _wald(key: Any, mean: Any, *, shape: Shape, dtype: Any) -> Any:
  """Michael, Schucany, Haas, "Generating random variates" (1976).

  One of the two solutions of a quadratic equation, whose product is mean²: the smaller
  is computed without cancellation.
  """
  key_n, key_u = parts_of(key, 2)
  mean = filled(mean, shape, dtype)
  y = lax.square(_normal(key_n, shape=shape, dtype=dtype))
  u = _uniform(key_u, 0.0, 1.0, shape=shape, dtype=dtype)
  r, w = lax.div(2.0, mean), mean * y
  small = 2.0 / (r + y + lax.sqrt(y) * lax.sqrt(2.0 * r + y))
  ratio = 2.0 / (2.0 + w + lax.sqrt(w) * lax.sqrt(4.0 + w))  # small / mean
  out = select_n(u <= 1.0 / (1.0 + ratio), mean / ratio, small)
  return where(mean < 0.0, np.nan, out)


def multivariate_normal(
    key: Any, mean: Any, cov: Any, shape: Any = None, dtype: Any = None,
    method: str = "cholesky", *, out_sharding: Any = None) -> Any:
  """Normal vectors of a mean and a covariance.

  Args:
    key: a key.
    mean: the mean, along the last axis of an array.
    cov: the covariance, in the last two axes: symmetric, not indefinite.
    shape: the result's shape without its last axis; None: that of the parameters' other
      axes together.
    dtype: a floating-point dtype; None: that of the parameters.
    method: how a square root of the covariance is made: "cholesky" (the fastest; nan if
      it is not positive definite), "eigh" or "svd" (for singular ones, too).
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> import numpy as np
  >>> from gnomon import random
  >>> random.multivariate_normal(random.key(0), np.zeros(2), np.eye(2), (3,)).shape
  (3, 2)

  Raises:
    ValueError: `dtype` is not floating-point, `method` is unknown, or shapes do not fit.
  """
  name = "multivariate_normal"
  typed, _ = check_key(name, key)
  if method not in ("cholesky", "eigh", "svd"):
    raise ValueError(
        f"{name}: method must be 'cholesky', 'eigh' or 'svd', got {method!r}")
  dtype = float_dtype(name, _own_float(mean, cov) if dtype is None else dtype)
  own, square = typeof(mean).shape, typeof(cov).shape
  if not own:
    raise ValueError(f"{name}: mean needs an axis, got a scalar")
  if len(square) < 2 or square[-2:] != (own[-1], own[-1]):
    raise ValueError(
        f"{name}: cov must be of shape (..., {own[-1]}, {own[-1]}) for a mean of shape "
        f"{own}, got {square}")
  shape = shape_with(name, shape, {
      "the mean's other axes": own[:-1], "the covariance's other axes": square[:-2]})
  out = _multivariate_normal(typed, mean, cov, shape=shape, dtype=dtype, method=method)
  return placed(out, out_sharding)


def _own_float(*xs: Any) -> Any:
  dtype = gnp.result_type(*xs)
  return dtype if dtypes.issubdtype(dtype, np.inexact) else gnp.result_type(float)


@program("shape", "dtype", "method", rows=True)
def _multivariate_normal(
    key: Any, mean: Any, cov: Any, *, shape: Shape, dtype: Any, method: str) -> Any:
  wide = dtypes.promote_types(dtype, np.float32)  # factorisations need it
  mean, cov = convert(mean, dtype), convert(cov, wide)
  n = typeof(mean).shape[-1]
  z = _normal(key, shape=(*shape, n), dtype=dtype)
  if not n:
    return z
  moved = gnp.einsum("...ij,...j->...i", convert(_root(cov, method), dtype), z)
  return broadcast_to(mean, typeof(moved).shape) + moved


def _root(cov: Any, method: str) -> Any:
  """A matrix whose product with its transpose is the covariance."""
  if method == "cholesky":
    return gnp.linalg.cholesky(cov)
  if method == "svd":
    u, s, _ = gnp.linalg.svd(cov)
  else:
    s, u = gnp.linalg.eigh(cov)
    # What rounding has made of 0 is no sign of an indefinite matrix.
    aval = typeof(s)
    noise = aval.shape[-1] * float(float_info(aval.dtype).eps)
    bound = gnp.max(lax.abs(s), axis=-1, keepdims=True) * -noise
    s = where((s < 0.0) & (s >= bound), 0.0, s)
  return u * lax.sqrt(s)[..., None, :]


def orthogonal(
    key: Any, n: int, shape: Any = (), dtype: Any = None, m: int | None = None, *,
    out_sharding: Any = None) -> Any:
  """Orthogonal (or unitary) matrices, distributed uniformly.

  Args:
    key: a key.
    n: the number of rows.
    shape: the result's shape without its last two axes.
    dtype: a floating-point or complex dtype; None: float32 (float64 with 64-bit types
      on).
    m: the number of columns; None: `n`. If they differ, the rows or the columns, of which
      there are fewer, are orthonormal.
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> random.orthogonal(random.key(0), 3, (2,)).shape
  (2, 3, 3)

  Raises:
    ValueError: `dtype` is neither floating-point nor complex, or a size is negative.
  """
  typed, _ = check_key("orthogonal", key)
  dtype = float_dtype("orthogonal", dtype, complex_too=True)
  n, m = shape_of("orthogonal", (n, n if m is None else m))
  shape = shape_of("orthogonal", shape)
  out = _orthogonal(typed, shape=(*shape, n, m), dtype=dtype)
  return placed(out, out_sharding)


@program("shape", "dtype", rows=True)
def _orthogonal(key: Any, *, shape: Shape, dtype: Any) -> Any:
  """Mezzadri, "How to generate random matrices from the classical compact groups" (2007).

  The signs of R's diagonal make the factorisation, and so the distribution, unique.
  """
  *batch, n, m = shape
  z = _normal(key, shape=(*batch, max(n, m), min(n, m)), dtype=dtype)
  q, r = gnp.linalg.qr(z)
  signs = lax.sign(gnp.diagonal(r, axis1=-2, axis2=-1))
  q = q * signs[..., None, :]
  return gnp.matrix_transpose(q) if n < m else q
