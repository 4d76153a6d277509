"""Integrals, Bessel, hypergeometric and other functions against SciPy and mpmath."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special as reference

import gnomon
import gnomon.numpy as gnp
from gnomon.scipy import special
from gnomon.test_util import check_grads

inf, nan = np.inf, np.nan
RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _double() -> Iterator[None]:
  with gnomon.enable_x64(True):
    yield


def close(got: Any, want: Any, rtol: float = 1e-13, atol: float = 0.0) -> None:
  np.testing.assert_allclose(np.asarray(got), want, rtol=rtol, atol=atol)


# Exact values with 50 digits, of which an error counts in units of the last place.
EXACT: dict[str, tuple[Any, Any, tuple[float, float]]] = {
    "dawsn": (
        lambda x: mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(-x * x) * mpmath.erfi(x),
        [-7.0, -1e-9, 0.3, 0.92, 1.999, 2.0, 3.3, 4.99, 5.0, 12.0, 40.0], (4, 4)),
    "exp1": (mpmath.e1, [1e-30, 1e-3, 0.3, 0.749, 0.75, 1.5, 3.0, 9.0, 50.0, 80.0],
             (4, 4)),
    "expi": (mpmath.ei, [-30.0, -2.0, 1e-20, 0.3, 0.3725, 0.374, 1.0, 2.99, 3.0, 8.9, 9.0,
                         23.9, 24.0, 60.0, 88.0], (5, 5)),
    "gamma": (mpmath.gamma, [10.0, 10.5, 17.3, 25.0, 33.9, 34.9], (6, 6)),
    "factorial": (mpmath.factorial, [9.0, 20.0, 33.0, 33.9], (6, 6)),
    "spence": (
        lambda x: mpmath.polylog(2, 1 - x).real,
        [0.0, 1e-10, 0.2, 0.4999, 0.6, 0.99999, 1.0001, 1.4, 1.6, 3.0, 1e5], (4, 4)),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", EXACT)
def test_last_places(name: str, dtype: Any) -> None:
  exact, points, bounds = EXACT[name]
  x = np.array(points, dtype)
  got = getattr(special, name)(x)
  assert got.dtype == dtype
  with mpmath.workdps(50):
    want = [exact(mpmath.mpf(float(v))) for v in x]
    off = [
        float(abs(mpmath.mpf(float(g)) - w)) / float(np.spacing(dtype(abs(float(w)))))
        for g, w in zip(np.asarray(got), want, strict=True)]
  assert max(off) <= bounds[dtype is np.float32], dict(zip(points, off, strict=True))


EDGES: dict[str, list[tuple[float, float]]] = {
    "dawsn": [(-0.0, -0.0), (inf, 0.0), (-inf, -0.0), (1e-300, 1e-300), (1e300, 5e-301)],
    "exp1": [(0.0, inf), (-1.0, nan), (inf, 0.0), (nan, nan)],
    "expi": [(0.0, -inf), (-inf, -0.0), (inf, inf), (nan, nan), (715.0, 4.64362567e307)],
    "gamma": [(172.0, inf), (1e9, inf), (inf, inf), (-3.0, nan), (-0.0, -inf),
              (171, 7.257415615307994e306), (nan, nan)],
    "factorial": [(170, 7.257415615307994e306), (-3, 0), (500, inf), (nan, nan)],
    "spence": [(0.0, np.pi ** 2 / 6), (1.0, 0.0), (-1.0, nan), (nan, nan), (inf, -inf)],
}


@pytest.mark.parametrize("name", EDGES)
def test_edges(name: str) -> None:
  x, want = np.array(EDGES[name]).T
  got = np.asarray(getattr(special, name)(x))
  close(got, want, 1e-7)
  assert list(np.signbit(got[want == 0])) == list(np.signbit(want[want == 0]))


@pytest.mark.parametrize(("name", "args"), [
    ("dawsn", (0.7,)), ("dawsn", (6.0,)), ("exp1", (0.4,)), ("exp1", (2.0,)),
    ("expi", (0.4,)), ("expi", (-2.0,)), ("spence", (0.3,)), ("spence", (1.0,)),
    ("owens_t", (0.7, 1.3)), ("sici", (0.7,)), ("sici", (6.0,)), ("fresnel", (0.7,)),
    ("fresnel", (2.2,))])
def test_derivatives(name: str, args: Any) -> None:
  check_grads(getattr(special, name), args, order=2, rtol=1e-4, atol=1e-4)


def test_slope_of_dawsn_does_not_cancel() -> None:
  x = np.array([5.0, 1e3, 1e9])
  close(gnomon.vmap(gnomon.grad(special.dawsn))(x)[1:], -0.5 / x[1:] ** 2, 1e-5)


def test_expn() -> None:
  n = RNG.integers(0, 30, 300).astype(float)
  x = 10 ** RNG.uniform(-6, 2.5, 300)
  close(special.expn(n, x), reference.expn(n, x), 1e-13)
  rows = np.array([  # n, x, value
      (0, 0, inf), (1, 0, inf), (2, 0, 1), (1, -1, nan), (2, inf, 0), (-1, 1, nan),
      (2.5, 1, nan), (3, nan, nan), (0, inf, 0)])
  np.testing.assert_array_equal(special.expn(*rows.T[:2]), rows.T[2])
  assert special.expn(2, np.float32(1)).dtype == np.float32
  close(gnomon.grad(special.expn, 1)(0.0, 0.5), -np.exp(-0.5) * 6)
  check_grads(lambda x: special.expn(3, x), (0.7,), order=2, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["sici", "fresnel"])
def test_pairs(name: str) -> None:
  x = np.concatenate([
      RNG.uniform(-12, 12, 200), RNG.uniform(-60, 60, 40),
      [0, -0.0, 1e-200, 4, 9, 1.5, 3]])
  got, want = getattr(special, name)(x), getattr(reference, name)(x)
  for g, w in zip(got, want, strict=True):
    close(g, w, 2e-14, 4e-16)
  narrow = getattr(special, name)(x.astype(np.float32))
  exact = getattr(reference, name)(x.astype(np.float32).astype(float))
  for g, w in zip(narrow, exact, strict=True):
    assert g.dtype == np.float32
    close(g, w, 4e-7, 2e-7)


def test_edges_of_pairs() -> None:
  np.testing.assert_allclose(special.sici(inf), (np.pi / 2, 0.0))
  np.testing.assert_allclose(special.sici(-0.0), (-0.0, -inf))
  np.testing.assert_allclose(special.fresnel(-inf), (-0.5, -0.5))
  assert np.isnan([special.sici(nan), special.fresnel(nan)]).all()
  with mpmath.workdps(40):  # where the square of the argument has no digits left
    x = 1e9 + 0.123
    want = [float(f(x) - 0.5) for f in (mpmath.fresnels, mpmath.fresnelc)]
    close([float(v) - 0.5 for v in special.fresnel(x)], want, 0, 1e-16)


def test_bessel_jn() -> None:
  z = np.concatenate([RNG.uniform(-60, 60, 150), [0, 1e-5, 30.0, 1e3, 8.0]])
  got = special.bessel_jn(z, v=30)
  assert got.shape == (31, len(z))
  close(got, reference.jv(np.arange(31)[:, None], z), 2e-12, 2e-15)
  close(special.bessel_jn(z[:5].astype(np.float32), v=2)[2],
        reference.jv(2, z[:5].astype(np.float32)), 1e-5, 1e-7)
  assert special.bessel_jn(np.ones((2, 3)), v=0).shape == (1, 2, 3)
  np.testing.assert_array_equal(special.bessel_jn(inf, v=2), 0)
  assert np.isnan(special.bessel_jn(nan, v=1)).all()
  for x in (0.0, 2.3, 20.0):
    check_grads(lambda z: special.bessel_jn(z, v=4), (x,), order=2, rtol=1e-5, atol=1e-5)


def test_owens_t() -> None:
  h = RNG.uniform(-9, 9, 200)
  a = RNG.normal(size=200) * 10 ** RNG.uniform(-3, 2, 200)
  close(special.owens_t(h, a), reference.owens_t(h, a), 5e-13)
  rows = np.array([
      (1, inf, reference.ndtr(-1) / 2), (0, inf, 0.25), (inf, 1, 0), (0, -1, -0.125),
      (nan, 1, nan), (1, nan, nan), (-2, 0, 0)])
  close(special.owens_t(*rows.T[:2]), rows.T[2], 1e-15)


def test_wofz() -> None:
  x, y = RNG.uniform(-9, 9, 60), RNG.uniform(0, 9, 60) * 10 ** RNG.uniform(-9, 0, 60)
  z = np.concatenate([x + 1j * y, x[:8] - 0.3j * y[:8], x[:4], [1e7 + 1j, 1e200j, 0]])
  got = np.asarray(special.wofz(z))
  with mpmath.workdps(40):
    want = [mpmath.exp(-mpmath.mpc(v) ** 2) * mpmath.erfc(-1j * mpmath.mpc(v))
            if abs(v) < 1e6 else 1j / (mpmath.sqrt(mpmath.pi) * mpmath.mpc(v)) for v in z]
    off = [float(abs(mpmath.mpc(g) - w) / abs(w)) for g, w in zip(got, want, strict=True)]
  assert max(off) < 2e-14  # of exp(-z**2) below the axis; else 2e-15
  narrow = np.asarray(special.wofz(z[:70].astype(np.complex64)))
  assert narrow.dtype == np.complex64
  np.testing.assert_allclose(
      narrow, reference.wofz(z[:70].astype(np.complex64).astype(complex)), rtol=3e-6)
  np.testing.assert_array_equal(special.wofz(np.array([inf, complex(0, inf)])), 0)
  assert np.isnan(special.wofz(nan))
  assert special.wofz(1).dtype == np.complex128
  assert special.wofz(gnp.float16(1)).dtype == np.complex64
  narrow = gnomon.jvp(special.wofz, (np.complex64([2 + 5.5j, 0.1 + 7j]),), (
      np.ones(2, np.complex64),))[1]
  assert np.isfinite(narrow).all()
  for v in (0.3 + 0.2j, 1 - 0.5j, 8 + 1j, 3e4 + 1j):
    slope = gnomon.grad(special.wofz, holomorphic=True)(v)
    with mpmath.workdps(40):
      w = mpmath.exp(-mpmath.mpc(v) ** 2) * mpmath.erfc(-1j * mpmath.mpc(v))
      exact = complex(-2 * mpmath.mpc(v) * w + 2j / mpmath.sqrt(mpmath.pi))
    close(slope, exact, 1e-12)


def test_complex_gamma() -> None:
  z = np.concatenate([
      RNG.uniform(-9, 9, 60) + 1j * RNG.uniform(-9, 9, 60),
      RNG.uniform(-20, 20, 20) + 1e-3j,
      [100 + 5j, -30.5 + 40j, 1e-9j, 1e8 + 1j, 2.5, -0.5]])
  close(special.loggamma(z), reference.loggamma(z), 1e-12, 1e-13)
  close(special.gamma(z[:60]), reference.gamma(z[:60]), 1e-12)
  mirrored = np.conj(reference.loggamma(z[:60]))
  close(special.loggamma(np.conj(z[:60])), mirrored, 1e-12, 1e-13)
  assert np.isnan(np.asarray(special.gamma(np.array([0j, -1 + 0j])))).all()
  with gnomon.numpy_dtype_promotion("strict"):
    assert special.loggamma(np.complex64(-2 + 1j)).dtype == np.complex64
  assert special.loggamma(z.astype(np.complex64)).dtype == np.complex64
  check = gnomon.grad(special.loggamma, holomorphic=True)(-2.3 + 0.4j)
  close(check, reference.digamma(-2.3 + 0.4j), 1e-12)


def test_complex_erfcx() -> None:
  z = RNG.uniform(-4, 4, 40) + 1j * RNG.uniform(-4, 4, 40)
  close(special.erfcx(z), reference.erfcx(z), 1e-12)


def test_bernoulli() -> None:
  np.testing.assert_array_equal(
      special.bernoulli(100), [float(mpmath.bernoulli(n)) if n != 1 else -0.5
                               for n in range(101)])
  assert special.bernoulli(0).shape == (1,)
  far = np.asarray(special.bernoulli(264))
  np.testing.assert_array_equal(far[-5:], [-inf, 0, inf, 0, -inf])
  with gnomon.enable_x64(False):
    assert special.bernoulli(3).dtype == np.float32


def test_sph_harm_y() -> None:
  n, m = RNG.integers(0, 20, 100), RNG.integers(-20, 21, 100)
  theta, phi = RNG.uniform(0, 3.1, 100), RNG.uniform(0, 6, 100)
  want = reference.sph_harm_y(n, m, theta, phi)
  close(special.sph_harm_y(n, m, theta, phi), want, 1e-12, 1e-15)
  close(gnomon.jit(lambda n: special.sph_harm_y(n, m, theta, phi, n_max=20))(n), want,
        1e-12, 1e-15)
  close(special.sph_harm_y(10, 2, 0.5, 0.7, n_max=6),
        reference.sph_harm_y(6, 2, 0.5, 0.7), 1e-13)
  narrow = special.sph_harm_y(3, 2, np.float32(0.5), np.float32(1))
  assert narrow.dtype == np.complex64

  def parts(theta: Any, phi: Any) -> Any:
    y = special.sph_harm_y(5, -3, theta, phi)
    return y.real, y.imag

  check_grads(parts, (0.6, 0.8), order=2, rtol=1e-5, atol=1e-5)


def test_hyp1f1() -> None:
  rows = [
      (1.0, 2.0, 3.0), (-1.5, 2.0, 10.0), (3.0, 0.5, -4.0), (2.0, 5.0, 300.0),
      (2.0, 5.0, -300.0), (1.0, 2.0, -1e5), (-3.0, 1.5, 7.0), (0.0, 2.0, 5.0),
      (12.0, 15.0, 40.0), (2.5, 2.5, 30.0), (1.0, 2.0, 0.0), (15.0, 30.0, -25.0)]
  args = np.array(rows).T
  close(special.hyp1f1(*args), [float(mpmath.hyp1f1(*r)) for r in rows], 1e-13)
  low = args[:, :3].astype(np.float32)
  assert special.hyp1f1(*low).dtype == np.float32
  close(special.hyp1f1(*low), [float(mpmath.hyp1f1(*r)) for r in rows[:3]], 3e-6)
  edges = np.array([
      (0, 0, 1, 1), (1, 0, 1, inf), (1, -1, 1, inf), (-1, -2, 1, 1.5), (nan, 1, 1, nan)])
  np.testing.assert_array_equal(special.hyp1f1(*edges.T[:3]), edges.T[3])
  for i in range(3):  # at a parameter that ends the series, and by the transformation
    for point in ((-1.0, 2.1, 3.0), (1.3, 2.1, -3.0)):
      exact = mpmath.diff(
          lambda t, i=i, p=point: mpmath.hyp1f1(*p[:i], t, *p[i + 1:]), point[i])
      close(gnomon.grad(special.hyp1f1, i)(*point), float(exact), 1e-10)


def test_hyp2f1() -> None:
  rows = [
      (1.0, 2.0, 3.0, 0.5), (1.0, 2.0, 3.0, -0.7), (1.0, 2.0, 3.0, -2e4),
      (0.5, 0.5, 1.0, 0.999999), (1.0, 1.0, 2.0, 0.99), (1.0, 2.0, 3.0, 0.9999),
      (0.3, 0.7, 1.1, 0.93), (-2.0, 3.0, 2.0, 5.0), (4.9, 7.8, 1.9, 1 - 1e-9),
      (-1.5, 2.0, 0.7, 0.95), (1.0, 2.0, 4.0, 1.0), (0.0, 3.0, 1.0, 0.4)]
  args = np.array(rows).T
  close(special.hyp2f1(*args), [float(mpmath.hyp2f1(*r)) for r in rows], 1e-12)
  low = np.array(rows[:6], np.float32)
  got = special.hyp2f1(*low.T)
  assert got.dtype == np.float32
  close(got, [float(mpmath.hyp2f1(*map(float, r))) for r in low], 1e-5)
  edges = np.array([
      (0, 0, 0, 0.5, 1), (1, 2, 0, 0.5, inf), (1, 2, 3, 1, inf), (1, 2, 3, 2, inf),
      (1, 2, -1, 0.5, inf), (1, 2, 3, nan, nan)])
  np.testing.assert_array_equal(special.hyp2f1(*edges.T[:4]), edges.T[4])
  point = 0.3, 0.7, 1.1, 0.93
  for i in range(4):
    exact = mpmath.diff(
        lambda t, i=i: mpmath.hyp2f1(*point[:i], t, *point[i + 1:]), point[i])
    close(gnomon.grad(special.hyp2f1, i)(*point), float(exact), 1e-10)


def test_transformed() -> None:
  x = np.linspace(0.1, 0.9, 5)
  for function in (
      special.spence, lambda x: special.expn(2, x), lambda x: special.hyp1f1(x, 1.5, 2.0),
      lambda x: special.bessel_jn(x, v=2).T):
    plain = np.asarray(function(x))
    close(gnomon.jit(function)(x), plain, 1e-14)
    close(gnomon.vmap(function)(x), plain, 1e-14)
  half = special.dawsn(x.astype(gnp.bfloat16))
  assert half.dtype == gnp.bfloat16
  assert special.sici(gnp.float16(1))[0].dtype == np.float16


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda: special.bernoulli(-1), ValueError, "0 or more, got -1"),
    (lambda: special.bernoulli(2.5), TypeError, "integer"),
    (lambda: special.bessel_jn(1.0, v=1.5), TypeError, "needs integers"),
    (lambda: special.bessel_jn(1.0, v=-1), ValueError, "0 or more"),
    (lambda: special.dawsn(1j), ValueError, "does not support complex"),
    (lambda: special.expn(2, 1j), ValueError, "does not support complex"),
    (lambda: special.sph_harm_y(1, 0, 0.5, 0.5, diff_n=1), NotImplementedError, "grad"),
    (lambda: gnomon.jit(special.sph_harm_y)(1, 0, 0.5, 0.5),
     gnomon.errors.ConcretizationTypeError, "n_max"),
    (lambda: special.exp1("text"), TypeError, "not a valid array type")])
def test_errors(call: Any, error: type[Exception], message: str) -> None:
  with pytest.raises(error, match=message):
    call()
