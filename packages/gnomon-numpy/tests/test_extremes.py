"""Values and derivatives where formulas overflow, cancel or meet infinities.

The oracles are limits, taken by hand or by mpmath in fifty digits.
"""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp

INF, NAN = math.inf, math.nan
f32 = np.float32


def close(got: Any, want: Any, rtol: float = 3e-6) -> None:
  np.testing.assert_allclose(np.asarray(got, np.float64), want, rtol=rtol, atol=0)


def exact(f: Any, x: Any, order: int) -> float:
  """A derivative by mpmath, at the float32 (or narrower) number itself."""
  with mpmath.workdps(50):
    point = mpmath.mpf(float(x))
    return float(mpmath.diff(f, point, order, h=abs(point) * mpmath.mpf(10) ** -20))


SLOPES: dict[str, tuple[Any, tuple[float, ...]]] = {
    "arcsinh": (mpmath.asinh, (1e-30, 1.0, 1e20, -1e30, 5e37)),
    "arccosh": (mpmath.acosh, (1 + 1e-6, 2.0, 1e20, 5e37)),
    "arctanh": (mpmath.atanh, (1e-30, 0.5, 1 - 1e-6)),
    "arcsin": (mpmath.asin, (1e-30, 1 - 1e-6, -1 + 1e-6)),
    "arctan": (mpmath.atan, (1e-30, 1e15)),
    "log1p": (mpmath.log1p, (-1 + 1e-6, 1e-30, 1e30)),
    "expm1": (mpmath.expm1, (1e-30, -80.0)),
    "cbrt": (mpmath.cbrt, (1e-20, 1e30))}


@pytest.mark.parametrize(
    ("name", "x"), [(n, x) for n, (_, xs) in SLOPES.items() for x in xs])
def test_slopes_at_extremes(name: str, x: float) -> None:
  x = f32(x)
  want = exact(SLOPES[name][0], x, 1)
  close(gnomon.grad(getattr(gnp, name))(x), want, rtol=2e-5)
  close(gnomon.jit(gnomon.grad(getattr(gnp, name)))(x), want, rtol=2e-5)


def test_angles_of_far_and_near_points() -> None:
  slopes = gnomon.jit(gnomon.grad(gnp.arctan2, (0, 1)))
  for y, x in ((1e25, 1e25), (1e-25, 1e-25), (3.0, -4.0), (1e-10, 1e8), (-2e37, 3e37)):
    y, x = f32(y), f32(x)
    square = float(y) ** 2 + float(x) ** 2
    close(slopes(y, x), [float(x) / square, -float(y) / square])
  close(slopes(f32(INF), f32(1)), [0, 0])
  close(slopes(f32(0), f32(2)), [0.5, 0])
  (yy, yx), (_, xx) = gnomon.hessian(gnp.arctan2, (0, 1))(f32(3e-18), f32(4e-18))
  close([yy, yx, xx], [-24 / 625 * 1e36, -7 / 625 * 1e36, 24 / 625 * 1e36])


def test_lengths() -> None:
  slopes = gnomon.grad(gnp.hypot, (0, 1))
  close(slopes(f32(INF), f32(1)), [1, 0])
  close(slopes(f32(0), f32(0)), [0, 0])
  close(slopes(f32(3e38), f32(1e38)), [3 / math.sqrt(10), 1 / math.sqrt(10)])
  close(gnomon.hessian(gnp.hypot)(f32(3e-20), f32(4e-20)), 16 / 125 * 1e20)
  for z in (complex(INF, NAN), complex(NAN, -INF), complex(-INF, 1)):
    for modulus in (gnp.abs, gnomon.jit(gnp.abs)):
      assert float(modulus(np.complex64(z))) == INF
  assert math.isnan(gnp.abs(complex(NAN, 1)).item())
  close(gnp.abs(np.complex64(2e38 + 1e38j)), math.hypot(2e38, 1e38))
  close(gnomon.grad(lambda x: gnp.abs(gnp.asarray(x + 3e38j, "complex64")))(f32(1e38)),
        1 / math.sqrt(10))


def test_norms_neither_overflow_nor_vanish() -> None:
  norm = gnp.linalg.norm
  for scale in (1e-30, 1.0, 1e30):
    x = np.array([3, -4], f32) * f32(scale)
    close(norm(x), 5 * scale)
    close(gnomon.grad(norm)(x), [0.6, -0.8])
    close(norm(x, 3), (27 + 64) ** (1 / 3) * scale)
    close(norm(np.diag(x)), 5 * scale)
  assert norm(np.array([1, INF], f32)).item() == INF
  close(gnomon.grad(norm)(np.zeros(2, f32)), [0, 0])


def test_powers() -> None:
  got = gnp.power(np.array([1, -1, 2, -1, -2]), np.array([-1, -3, -1, -2, -1]))
  assert got.tolist() == [1, -1, 0, 1, 0]
  for n in (-2, -1, 0, 1, 2, 3):
    second = gnomon.grad(gnomon.grad(lambda x, n=n: x ** n))
    close(second(f32(2)), n * (n - 1) * 2.0 ** (n - 2))
    if n >= 0:
      close(second(f32(0)), 2 if n == 2 else 0)
  close(gnomon.hessian(gnp.power)(f32(0), f32(2)), 2)
  close(gnomon.grad(gnp.power, 0)(f32(0), f32(1)), 1)
  close(gnomon.grad(gnp.power, 1)(f32(0), f32(2)), 0)
  close(gnomon.grad(gnp.power, 0)(f32(-2), f32(3)), 12)
  mixed = gnomon.hessian(gnp.power, (0, 1))(f32(2), f32(3))[0][1]
  close(mixed, 4 + 12 * math.log(2))


def test_logarithms_of_sums() -> None:
  for f, base in ((gnp.logaddexp, math.e), (gnp.logaddexp2, 2)):
    close(f(f32(1000), f32(1000)), 1000 + math.log(2, base))
    close(f(f32(1e-10), f32(-200)), 1e-10)
    assert f(f32(-INF), f32(-INF)).item() == -INF
    slopes = gnomon.grad(f, (0, 1))
    for a, b, want in (
        (-INF, -INF, (0.5, 0.5)), (INF, INF, (0.5, 0.5)), (0, -INF, (1, 0)),
        (INF, 0, (1, 0)), (500, 500, (0.5, 0.5))):
      close(slopes(f32(a), f32(b)), want)
  assert gnomon.hessian(gnp.logaddexp)(f32(0), f32(-INF)).item() == 0


def test_sinc_has_all_derivatives_at_zero() -> None:
  f, wants = gnp.sinc, (1, 0, -math.pi ** 2 / 3, 0, math.pi ** 4 / 5)
  for want in wants:
    close(f(f32(0)), want)
    f = gnomon.grad(f)
  x = f32(1e-4)
  close(gnomon.grad(gnp.sinc)(x), -math.pi ** 2 / 3 * float(x), rtol=1e-5)


def test_replaced_values_have_no_slope() -> None:
  x = np.array([NAN, INF, -INF, 2], f32)
  assert gnomon.grad(lambda x: gnp.nan_to_num(x).sum())(x).tolist() == [0, 0, 0, 1]
  big = np.finfo(f32).max
  got = gnp.nan_to_num(np.array([complex(NAN, INF), complex(-INF, 1)], np.complex64))
  assert got.tolist() == [complex(0, big), complex(-big, 1)]


def test_quantiles_of_nothing_and_of_infinities() -> None:
  for f in (lambda x: gnp.quantile(x, 0.5), gnp.median, gnp.nanmedian):
    assert math.isnan(f(gnp.zeros((0,))).item())
    assert f(gnp.zeros((0, 2))).shape == ()
  assert gnp.quantile(gnp.zeros((0, 2)), 0.5, axis=1).shape == (0,)
  for x, q, want in (
      ([-INF, INF], 0.5, NAN), ([1, INF], 0.0, 1), ([INF, INF], 0.5, INF),
      ([-3e38, 3e38], 0.5, 0)):
    np.testing.assert_equal(gnp.quantile(np.array(x, f32), q).item(), want)


def test_halves_are_summed_and_differentiated_in_range() -> None:
  assert gnp.mean(gnp.full(100_000, 1, "float16")).item() == 1
  assert gnp.sum(gnp.full(3000, 1, "float16")).item() == 3000
  assert gnp.var(gnp.array([300, -300] * 50, "float16")).item() == INF  # over 65504
  assert gnp.std(gnp.array([300, -300] * 50, "float16")).item() == 300


HALVES: dict[str, tuple[tuple[float, ...], float]] = {
    "hypot": ((300, 400), 400 ** 2 / 500 ** 3),
    "arctan2": ((300, 300), -2 * 300 * 300 / (2 * 300 ** 2) ** 2),
    "arcsinh": ((300,), -300 / (1 + 300 ** 2) ** 1.5),
    "logaddexp": ((1, 2), math.exp(3) / (math.e + math.exp(2)) ** 2),
    "tanh": ((0.5,), -2 * math.tanh(0.5) / math.cosh(0.5) ** 2),
    "sinc": ((0,), -math.pi ** 2 / 3), "power": ((2, 3), 12),
    "log1p": ((1,), -0.25), "sqrt": ((2,), -0.25 * 2 ** -1.5)}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", HALVES)
def test_second_derivatives_of_halves(name: str, dtype: str) -> None:
  args, want = HALVES[name]
  got = gnomon.hessian(getattr(gnp, name))(*[gnp.asarray(a, dtype) for a in args])
  assert got.dtype == gnp.dtype(dtype)
  smallest = 6e-8 if dtype == "float16" else 0  # what float16 tells from 0
  rtol = 1e-2 if dtype == "float16" else 6e-2
  np.testing.assert_allclose(np.float64(got), want, rtol=rtol, atol=smallest)


def test_positions_are_narrow_where_they_fit() -> None:
  with gnomon.enable_x64(True):
    assert gnp.searchsorted(gnp.arange(3.0), 1.0).dtype == np.int32
    far = gnomon.eval_shape(gnp.searchsorted, gnomon.ShapeDtypeStruct(
        (2**31,), np.float32), gnomon.ShapeDtypeStruct((), np.float32))
  assert far.dtype == np.int64
  # Without 64 bits they would be wrong without a word.
  with pytest.warns(UserWarning, match="int64"), pytest.raises(
      OverflowError, match="2147483648 out of bounds for int32"):
    gnomon.eval_shape(gnp.searchsorted, gnomon.ShapeDtypeStruct(
        (2**31,), np.float32), gnomon.ShapeDtypeStruct((), np.float32))


def test_zeros_of_remainders_have_the_divisors_sign() -> None:
  x, y = np.array([[-0.0, 0, 4, -4], [2, -2, -2, 2]], f32)
  for got in (gnp.remainder(x, y), gnomon.jit(gnp.remainder)(x, y), gnp.divmod(x, y)[1]):
    np.testing.assert_array_equal(np.signbit(got), np.signbit(np.remainder(x, y)))
