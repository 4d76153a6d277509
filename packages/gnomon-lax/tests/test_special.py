"""Special functions: wide ranges against SciPy, derivatives against mpmath."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special

import gnomon
from gnomon import lax

inf, nan = math.inf, math.nan
_DTYPES = ("float64", "float32")


@pytest.fixture(autouse=True)
def _double() -> Iterator[None]:
  with gnomon.enable_x64(True):
    yield


def _close(
    f: Any, reference: Any, args: Any, dtype: str, double: float, single: float,
    least: float = 0.0) -> None:
  """Compares in double precision, at the operands as the dtype holds them."""
  low = [np.asarray(a, dtype) for a in args]
  with np.errstate(all="ignore"):
    expected = reference(*[a.astype(float) for a in low])
  kept = ~(np.abs(expected) < (least or (1e-300 if dtype == "float64" else 1e-35)))
  tolerance = double if dtype == "float64" else single
  out = f(*low)
  assert out.dtype == np.dtype(dtype)
  np.testing.assert_allclose(
      np.asarray(out, float)[kept], expected[kept], rtol=tolerance,
      atol=least * tolerance)


_WIDE = np.concatenate([np.linspace(-30, 30, 901) + 0.013, np.geomspace(1e-6, 1e4, 200)])
_POSITIVE = np.geomspace(1e-3, 1e5, 500)


@pytest.mark.parametrize("dtype", _DTYPES)
def test_of_one_operand(dtype: str) -> None:
  _close(lax.bessel_i0e, scipy.special.i0e, [_WIDE], dtype, 2e-15, 1e-6)
  _close(lax.bessel_i1e, scipy.special.i1e, [_WIDE], dtype, 5e-15, 3e-6)
  _close(lax.erf, scipy.special.erf, [_WIDE], dtype, 1e-14, 1e-6)
  _close(lax.erfc, scipy.special.erfc, [_WIDE[_WIDE < 9]], dtype, 1e-13, 1e-4)
  _close(lax.erf_inv, scipy.special.erfinv, [np.linspace(-0.999, 0.999, 401)], dtype,
         1e-13, 1e-5)
  _close(lax.lgamma, scipy.special.gammaln, [_POSITIVE], dtype, 1e-12, 1e-5, 0.1)
  _close(lax.digamma, scipy.special.digamma, [_POSITIVE], dtype, 1e-12, 1e-5, 1e-2)


@pytest.mark.parametrize("dtype", _DTYPES)
def test_polygamma_and_zeta(dtype: str) -> None:
  x = np.linspace(0.2, 20, 60)
  for m in (0, 1, 2, 5):
    _close(lambda x, m=m: lax.polygamma(float(m), x),
           lambda x, m=m: scipy.special.polygamma(m, x), [x], dtype, 1e-11, 1e-4, 1e-3)
  s, q = (a.ravel() for a in np.meshgrid([1.1, 2, 3.5, 9], np.linspace(0.3, 12, 40)))
  _close(lax.zeta, scipy.special.zeta, [s, q], dtype, 1e-12, 1e-4)


def _gamma_operands(n: int) -> tuple[Any, Any]:
  """From tiny parameters to large ones, around the mean and far from it."""
  rng = np.random.default_rng(0)
  a = np.exp(rng.uniform(-7, 9, n))
  return a, a * np.exp(rng.uniform(-2, 2, n) * np.minimum(1, 3 / np.sqrt(a)))


@pytest.mark.parametrize("dtype", _DTYPES)
def test_incomplete_gamma(dtype: str) -> None:
  args = _gamma_operands(2000)
  _close(lax.igamma, scipy.special.gammainc, args, dtype, 2e-12, 5e-5, 1e-30)
  _close(lax.igammac, scipy.special.gammaincc, args, dtype, 2e-12, 5e-4, 1e-30)


@pytest.mark.parametrize("dtype", _DTYPES)
def test_incomplete_beta(dtype: str) -> None:
  rng = np.random.default_rng(0)
  a, b = np.exp(rng.uniform(-5, 9, (2, 2000)))
  spread = np.minimum(3 * np.sqrt(1 / a + 1 / b), 4.5)
  x = 1 / (1 + b / a * np.exp(rng.normal(size=2000) * spread))
  kept = np.asarray(x, dtype) < 1
  _close(lax.betainc, scipy.special.betainc, [v[kept] for v in (a, b, x)], dtype, 5e-12,
         1e-3, 1e-30)


def test_derivatives_by_the_parameter() -> None:
  a, x = _gamma_operands(25)
  mpmath.mp.dps = 40

  def of(a: float, x: float) -> tuple[float, float]:
    p = mpmath.mpf(x)
    slope = mpmath.diff(
        lambda t: mpmath.gammainc(t, 0, p, regularized=True), mpmath.mpf(a), h=1e-12)
    log_density = (mpmath.mpf(a) - 1) * mpmath.log(p) - p - mpmath.loggamma(a)
    return float(slope), float(-slope / mpmath.exp(log_density))

  expected = np.array([of(*p) for p in zip(a[a < 500], x[a < 500], strict=True)])
  args = a[a < 500], x[a < 500]
  np.testing.assert_allclose(lax.igamma_grad_a(*args), expected[:, 0], rtol=1e-12)
  np.testing.assert_allclose(lax.random_gamma_grad(*args), expected[:, 1], rtol=1e-12)
  slope = gnomon.jvp(lambda a: lax.igamma(a, args[1]), args[:1], (np.ones(len(args[0])),))
  np.testing.assert_allclose(slope[1], expected[:, 0], rtol=1e-12)


def test_half_precision_is_computed_in_single() -> None:
  a, x = np.float32([0.5, 2, 5]), np.float32([1, 1.5, 5])
  for dtype in ("float16", "bfloat16"):
    low = [lax.convert_element_type(v, dtype) for v in (a, x)]
    eps = 2 ** -11 if dtype == "float16" else 2 ** -8
    out = lax.igamma(*low)
    assert out.dtype.name == dtype
    np.testing.assert_allclose(
        np.asarray(out, float), scipy.special.gammainc(a, x), rtol=2 * eps)
    np.testing.assert_allclose(
        np.asarray(lax.bessel_i0e(low[1]), float), scipy.special.i0e(x), rtol=2 * eps)


_GAMMA_EDGES = [  # a, x, P
    (0.0, 0.0, nan), (0.0, 1.0, 1.0), (1.0, 0.0, 0.0), (-1.0, 1.0, nan), (1.0, -1.0, nan),
    (2.0, inf, 1.0), (inf, 2.0, 0.0), (inf, inf, nan), (nan, 1.0, nan), (1.0, nan, nan)]
_BETA_EDGES = [  # a, b, x, I
    (1.0, 1.0, 0.0, 0.0), (1.0, 1.0, 1.0, 1.0), (0.0, 1.0, 0.5, 1.0),
    (1.0, 0.0, 0.5, 0.0), (0.0, 0.0, 0.5, nan), (0.0, 0.0, 0.0, nan),
    (inf, inf, 1.0, nan), (-1.0, 1.0, 0.5, nan),
    (1.0, 1.0, -0.1, nan), (1.0, 1.0, 2.0, nan), (inf, 1.0, 0.5, 0.0),
    (1.0, inf, 0.5, 1.0), (nan, 1.0, 0.5, nan), (1.0, 1.0, nan, nan)]


def test_edges_of_the_domains() -> None:
  a, x, p = np.array(_GAMMA_EDGES).T
  np.testing.assert_array_equal(lax.igamma(a, x), p)
  np.testing.assert_array_equal(lax.igammac(a, x), 1 - p)
  a, b, x, i = np.array(_BETA_EDGES).T
  np.testing.assert_array_equal(lax.betainc(a, b, x), i)
  assert float(lax.zeta(1.0, 1.0)) == inf
  assert math.isnan(lax.zeta(0.5, 1.0))
  assert math.isnan(lax.polygamma(0.5, 1.0))


@pytest.mark.parametrize(("f", "argnum", "args"), [
    (lax.polygamma, 0, (1.0, 2.0)), (lax.zeta, 0, (2.0, 1.0)),
    (lax.betainc, 0, (1.0, 2.0, 0.5)), (lax.betainc, 1, (1.0, 2.0, 0.5)),
    (lax.igamma_grad_a, 0, (1.0, 2.0)), (lax.igamma_grad_a, 1, (1.0, 2.0)),
    (lax.random_gamma_grad, 1, (1.0, 2.0)),
])
def test_missing_derivatives_say_so(f: Any, argnum: int, args: Any) -> None:
  with pytest.raises(ValueError, match="has no derivative with respect to"):
    gnomon.grad(f, argnums=argnum)(*args)


def test_batches_of_one_parameter() -> None:
  a, x = np.array([0.5, 2.0, 9.0]), np.linspace(0.5, 12, 4)
  np.testing.assert_allclose(
      gnomon.vmap(lambda a: lax.igamma(a, x))(a),
      scipy.special.gammainc(a[:, None], x), rtol=1e-13)
  np.testing.assert_allclose(
      gnomon.vmap(lax.igamma, (None, 0))(np.float64(2.0), x),
      scipy.special.gammainc(2.0, x), rtol=1e-13)
