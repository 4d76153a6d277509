"""Distributions made of gamma variables: beta, chi-square, Dirichlet, F, t and others."""

from __future__ import annotations

from typing import Any

import numpy as np

import gnomon.numpy as gnp
from gnomon import lax
from gnomon.core.structural import select_n
from gnomon.core.types import typeof
from gnomon.random._api import check_key, float_dtype, placed, shape_of
from gnomon.random._gamma import _gamma, several_loggammas
from gnomon.random._inversion import _exponential
from gnomon.random._normal import _normal_real
from gnomon.random._parameters import check_fits, filled, parts_of, result_shape, where
from gnomon.random._program import program
from gnomon.random._signs import _rademacher

Shape = tuple[int, ...]


def beta(
    key: Any, a: Any, b: Any, shape: Any = None, dtype: Any = None, *,
    out_sharding: Any = None) -> Any:
  """Numbers of the beta distribution with density ∝ x^(a - 1) (1 - x)^(b - 1).

  They have derivatives with respect to `a` and `b`.

  Args:
    key: a key.
    a: first shape parameter, not negative (nan elsewhere).
    b: second shape parameter, likewise.
    shape: the result's shape; None: that of the parameters together.
    dtype: a floating-point dtype; None: float32 (float64 with 64-bit types on).
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> bool(random.beta(random.key(0), 1e-3, 1e-3) <= 1)
  True

  Raises:
    ValueError: `dtype` is not floating-point, or the shapes do not fit.
  """
  typed, _ = check_key("beta", key)
  dtype = float_dtype("beta", dtype)
  out = _beta(typed, a, b, shape=result_shape("beta", shape, a=a, b=b), dtype=dtype)
  return placed(out, out_sharding)


@program("shape", "dtype")
def _beta(key: Any, a: Any, b: Any, *, shape: Shape, dtype: Any) -> Any:
  x, y = several_loggammas(key, *(filled(v, shape, dtype) for v in (a, b)))
  first = x >= y
  ratio = lax.exp(select_n(first, x - y, y - x))  # at most 1: no overflow
  return lax.div(select_n(first, ratio, lax.full(shape, 1, dtype)), 1.0 + ratio)


def chisquare(
    key: Any, df: Any, shape: Any = None, dtype: Any = None, *,
    out_sharding: Any = None) -> Any:
  """Numbers of the chi-square distribution: sums of `df` squared normal numbers.

  Args:
    key: a key.
    df: degrees of freedom, not negative (nan elsewhere); they need not be whole.
    shape: the result's shape; None: that of `df`.
    dtype: a floating-point dtype; None: float32 (float64 with 64-bit types on).
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> bool(random.chisquare(random.key(0), 3.0) > 0)
  True

  Raises:
    ValueError: `dtype` is not floating-point, or `df` does not broadcast to `shape`.
  """
  typed, _ = check_key("chisquare", key)
  dtype = float_dtype("chisquare", dtype)
  out = _chisquare(typed, df, shape=result_shape("chisquare", shape, df=df), dtype=dtype)
  return placed(out, out_sharding)


@program("shape", "dtype")
def _chisquare(key: Any, df: Any, *, shape: Shape, dtype: Any) -> Any:
  half = filled(df, shape, dtype) / 2.0
  return _gamma(key, half, shape=shape, dtype=dtype, log_space=False) * 2.0


def dirichlet(
    key: Any, alpha: Any, shape: Any = None, dtype: Any = None, *,
    out_sharding: Any = None) -> Any:
  """Vectors of the Dirichlet distribution: not negative, of sum 1.

  They have a derivative with respect to `alpha`.

  Args:
    key: a key.
    alpha: concentrations along the last axis, not negative (nan elsewhere), not all 0.
    shape: the result's shape without its last axis; None: that of `alpha`.
    dtype: a floating-point dtype; None: float32 (float64 with 64-bit types on).
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> import numpy as np
  >>> from gnomon import random
  >>> random.dirichlet(random.key(0), np.ones(3), (2,)).shape
  (2, 3)

  Raises:
    ValueError: `dtype` is not floating-point, `alpha` has no axis, or its other axes do
      not broadcast to `shape`.
  """
  typed, _ = check_key("dirichlet", key)
  dtype = float_dtype("dirichlet", dtype)
  own = typeof(alpha).shape
  if not own:
    raise ValueError("dirichlet: alpha needs an axis of concentrations, got a scalar")
  full = result_shape("dirichlet", own, alpha=alpha)
  if shape is not None:
    shape = shape_of("dirichlet", shape)
    check_fits("dirichlet", "alpha without its last axis", own[:-1], shape)
    full = (*shape, own[-1])
  out = _dirichlet(typed, alpha, shape=full, dtype=dtype)
  return placed(out, out_sharding)


@program("shape", "dtype", rows=True)
def _dirichlet(key: Any, alpha: Any, *, shape: Shape, dtype: Any) -> Any:
  x = _gamma(key, filled(alpha, shape, dtype), shape=shape, dtype=dtype, log_space=True)
  if not shape[-1]:
    return x
  x = lax.exp(x - lax.stop_gradient(gnp.max(x, axis=-1, keepdims=True)))
  return x / gnp.sum(x, axis=-1, keepdims=True)


def f(
    key: Any, dfnum: Any, dfden: Any, shape: Any = None, dtype: Any = None, *,
    out_sharding: Any = None) -> Any:
  """Numbers of the F-distribution: ratios of mean squares of normal numbers.

  Args:
    key: a key.
    dfnum: degrees of freedom of the numerator, positive (nan where negative).
    dfden: degrees of freedom of the denominator, likewise.
    shape: the result's shape; None: that of the parameters together.
    dtype: a floating-point dtype; None: float32 (float64 with 64-bit types on).
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> bool(random.f(random.key(0), 3.0, 4.0) > 0)
  True

  Raises:
    ValueError: `dtype` is not floating-point, or the shapes do not fit.
  """
  typed, _ = check_key("f", key)
  dtype = float_dtype("f", dtype)
  shape = result_shape("f", shape, dfnum=dfnum, dfden=dfden)
  out = _f(typed, dfnum, dfden, shape=shape, dtype=dtype)
  return placed(out, out_sharding)


@program("shape", "dtype")
def _f(key: Any, dfnum: Any, dfden: Any, *, shape: Shape, dtype: Any) -> Any:
  halves = [filled(df, shape, dtype) / 2.0 for df in (dfden, dfnum)]
  # Logarithms: few degrees of freedom make both numbers underflow.
  den, num = (
      where(half == np.inf, 0.0, x - lax.log(half))
      for half, x in zip(halves, several_loggammas(key, *halves)))
  return lax.exp(num - den)


def t(
    key: Any, df: Any, shape: Any = None, dtype: Any = None, *,
    out_sharding: Any = None) -> Any:
  """Numbers of Student's t-distribution.

  Args:
    key: a key.
    df: degrees of freedom, positive (nan elsewhere); infinite ones give normal numbers.
    shape: the result's shape; None: that of `df`.
    dtype: a floating-point dtype; None: float32 (float64 with 64-bit types on).
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> random.t(random.key(0), 3.0, (2,)).shape
  (2,)

  Raises:
    ValueError: `dtype` is not floating-point, or `df` does not broadcast to `shape`.
  """
  typed, _ = check_key("t", key)
  dtype = float_dtype("t", dtype)
  out = _t(typed, df, shape=result_shape("t", shape, df=df), dtype=dtype)
  return placed(out, out_sharding)


@program("shape", "dtype")
def _t(key: Any, df: Any, *, shape: Shape, dtype: Any) -> Any:
  key_n, key_g = parts_of(key, 2)
  df = filled(df, shape, dtype)
  normal = _normal_real(key_n, shape=shape, dtype=dtype)
  log_gamma = _gamma(key_g, df / 2.0, shape=shape, dtype=dtype, log_space=True)
  log_mean_square = where(df == np.inf, 0.0, log_gamma - lax.log(df / 2.0))
  out = normal * lax.exp(-0.5 * log_mean_square)
  return where(df == 0.0, np.nan, out)


def generalized_normal(
    key: Any, p: Any, shape: Any = (), dtype: Any = None, *,
    out_sharding: Any = None) -> Any:
  """Numbers with density ∝ exp(-|x|^p).

  Args:
    key: a key.
    p: the exponent, positive (nan elsewhere), of a shape that broadcasts to `shape`; an
      infinite one gives uniform numbers between -1 and 1.
    shape: the result's shape.
    dtype: a floating-point dtype; None: float32 (float64 with 64-bit types on).
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> random.generalized_normal(random.key(0), 4.0, (2,)).shape
  (2,)

  Raises:
    ValueError: `dtype` is not floating-point, or `p` does not broadcast to `shape`.
  """
  typed, _ = check_key("generalized_normal", key)
  dtype = float_dtype("generalized_normal", dtype)
  shape = result_shape("generalized_normal", shape, p=p)
  out = _generalized_normal(typed, p, shape=shape, dtype=dtype)
  return placed(out, out_sharding)


@program("shape", "dtype")
def _generalized_normal(key: Any, p: Any, *, shape: Shape, dtype: Any) -> Any:
  p = _exponent(filled(p, shape, dtype))
  sign, log_power = _signed_power(key, p)
  return sign * lax.exp(lax.div(log_power, p))


def _exponent(p: Any) -> Any:
  """An exponent within what can be told apart from an infinite one; nan if invalid."""
  return where(p > 0.0, lax.min(p, np.asarray(2.0 ** 15, typeof(p).dtype)[()]), np.nan)


def _signed_power(key: Any, p: Any) -> tuple[Any, Any]:
  """For numbers x with density ∝ exp(-|x|^p): their signs, and log |x|^p."""
  aval = typeof(p)
  key_power, key_sign = parts_of(key, 2)
  log_power = _gamma(
      key_power, lax.div(1.0, p), shape=aval.shape, dtype=aval.dtype, log_space=True)
  return _rademacher(key_sign, shape=aval.shape, dtype=aval.dtype), log_power


def ball(
    key: Any, d: int, p: Any = 2, shape: Any = (), dtype: Any = None, *,
    out_sharding: Any = None) -> Any:
  """Vectors distributed uniformly within the ball of radius 1 in the norm of order p.

  Args:
    key: a key.
    d: how many elements the vectors have.
    p: the order of the norm, positive (nan elsewhere), possibly infinite; of a shape that
      broadcasts to `shape`.
    shape: the result's shape without its last axis, whose size is `d`.
    dtype: a floating-point dtype; None: float32 (float64 with 64-bit types on).
    out_sharding: how the result is laid out over devices; None: without a say.

  >>> from gnomon import random
  >>> random.ball(random.key(0), 3, shape=(2,)).shape
  (2, 3)

  Raises:
    ValueError: `dtype` is not floating-point, `d` is negative, or `p` does not broadcast
      to `shape`.
  """
  typed, _ = check_key("ball", key)
  dtype = float_dtype("ball", dtype)
  shape = result_shape("ball", shape, p=p)
  (d,) = shape_of("ball", d)
  out = _ball(typed, p, shape=(*shape, d), dtype=dtype)
  return placed(out, out_sharding)


@program("shape", "dtype", rows=True)
def _ball(key: Any, p: Any, *, shape: Shape, dtype: Any) -> Any:
  key_x, key_r = parts_of(key, 2)
  p = _exponent(filled(p, shape[:-1], dtype))
  wide = gnp.broadcast_to(p[..., None], shape)
  sign, log_power = _signed_power(key_x, wide)
  # Barthe, Guédon, Mendelson, Naor, "A probabilistic approach to the geometry of the
  # l_p^n-ball" (2005): x / (sum |x|^p + e)^(1/p) is uniform.
  total = gnp.sum(lax.exp(log_power), axis=-1) + _exponential(
      key_r, shape=shape[:-1], dtype=dtype)
  return sign * lax.exp(lax.div(log_power - lax.log(total)[..., None], wide))
