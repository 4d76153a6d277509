"""Chebyshev coefficients of special functions, made with mpmath.

`python tools/fit_special.py NAME...` prints the coefficients of the fits below, of those
whose names begin so, as Python, and the largest error of each series over a grid, as a
part of the largest value, in units of 2**-53. Coefficients that a double does not see are
left out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath

mpmath.mp.dps = 60


@dataclass(frozen=True)
class Fit:
  """A function on an interval, and the number of terms of its series.

  Attributes:
    function: takes and gives `mpmath` numbers.
    low, high: the interval.
    terms: the number of coefficients; the first stands for the constant term.
  """

  function: Callable[[Any], Any]
  low: float
  high: float
  terms: int


def log_scaled_erfc(t: Any) -> Any:
  """log(exp(x**2) erfc(x) / t) for t = 2 / (2 + x)."""
  if t == 0:
    return mpmath.log(1 / (2 * mpmath.sqrt(mpmath.pi)))  # the limit
  x = 2 / mpmath.mpf(t) - 2
  if x > 1000:
    series = mpmath.nsum(
        lambda k: (-1) ** int(k) * mpmath.fac2(2 * int(k) - 1) / (2 * x * x) ** int(k),
        [0, 6])
    return mpmath.log(series / (x * mpmath.sqrt(mpmath.pi)) / t)
  return mpmath.log(mpmath.exp(x * x) * mpmath.erfc(x) / t)


def dawson(x: Any) -> Any:
  """Dawson's integral."""
  return mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(-x * x) * mpmath.erfi(x)


def dawson_near(u: Any) -> Any:
  """(1 + 2 x**2) F(x) / x in u = x**2."""
  x = mpmath.sqrt(u)
  return (1 + 2 * u) * dawson(x) / x


def dawson_far(v: Any) -> Any:
  """x**2 (2 x F(x) - 1) in v = (5 / x)**2."""
  x = 5 / mpmath.sqrt(v)
  return x * x * (2 * x * dawson(x) - 1)


def bessel_modulus(order: int, part: int) -> Callable[[Any], Any]:
  """P (part 0) or x Q (part 1) in v = (8 / x)**2.

  The Bessel function is sqrt(2 / (pi x)) (P cos c - Q sin c) with c = x - (order / 2 +
  1 / 4) pi.
  """
  def f(v: Any) -> Any:
    x = 8 / mpmath.sqrt(v)
    c = x - (mpmath.mpf(order) / 2 + mpmath.mpf(1) / 4) * mpmath.pi
    j, y = mpmath.besselj(order, x), mpmath.bessely(order, x)
    scale = mpmath.sqrt(mpmath.pi * x / 2)
    if part == 0:
      return scale * (j * mpmath.cos(c) + y * mpmath.sin(c))
    return x * scale * (y * mpmath.cos(c) - j * mpmath.sin(c))

  return f


def trigonometric_rest(part: int) -> Callable[[Any], Any]:
  """X f (part 0) or x**2 g (part 1).

  The sine integral is pi / 2 - f cos x - g sin x, the cosine integral f sin x - g cos x.
  """
  def f(x: Any) -> Any:
    s, c = mpmath.si(x) - mpmath.pi / 2, mpmath.ci(x)
    if part == 0:
      return x * (c * mpmath.sin(x) - s * mpmath.cos(x))
    return -x * x * (s * mpmath.sin(x) + c * mpmath.cos(x))

  return f


def fresnel_rest(part: int) -> Callable[[Any], Any]:
  """Pi x f (part 0) or pi**2 x**3 g (part 1).

  The integrals are S = 1 / 2 - f cos a - g sin a and C = 1 / 2 + f sin a - g cos a, with
  a = pi x**2 / 2.
  """
  def f(x: Any) -> Any:
    a = mpmath.pi * x * x / 2
    s = mpmath.mpf(1) / 2 - mpmath.fresnels(x)
    c = mpmath.mpf(1) / 2 - mpmath.fresnelc(x)
    if part == 0:
      return mpmath.pi * x * (s * mpmath.cos(a) - c * mpmath.sin(a))
    return mpmath.pi**2 * x**3 * (s * mpmath.sin(a) + c * mpmath.cos(a))

  return f


EI_ZERO = mpmath.findroot(mpmath.ei, 0.3725)
CI_ZERO = mpmath.findroot(mpmath.ci, 0.6165)


def ei_quotient(x: Any) -> Any:
  """(Ei(x) - log(x / x0)) / (x - x0) for the zero x0."""
  return (mpmath.ei(x) - mpmath.log(x / EI_ZERO)) / (x - EI_ZERO)


def ci_quotient(u: Any) -> Any:
  """(Ci(x) - log(x / x0)) / (x**2 - x0**2) for the zero x0, in u = x**2."""
  x = mpmath.sqrt(u)
  return (mpmath.ci(x) - mpmath.log(x / CI_ZERO)) / (u - CI_ZERO**2)


def root_of(f: Callable[[Any], Any], degree: int) -> Callable[[Any], Any]:
  """A function in u = x**degree."""
  return lambda u: f(mpmath.root(u, degree))


def inverse_root_of(
    f: Callable[[Any], Any], start: int, degree: int) -> Callable[[Any], Any]:
  """A function of x from `start` on, in v = (start / x)**degree."""
  return lambda v: f(start / mpmath.root(v, degree))


FITS = {
    "erfcx": Fit(log_scaled_erfc, 0.0, 1.0, 32),
    "dawsn_near": Fit(dawson_near, 0.0, 4.0, 40),
    "dawsn_middle": Fit(lambda x: x * dawson(x), 2.0, 5.0, 50),
    "dawsn_far": Fit(dawson_far, 0.0, 1.0, 40),
    "j0_near": Fit(root_of(lambda x: mpmath.besselj(0, x), 2), 0.0, 64.0, 40),
    "j1_near": Fit(root_of(lambda x: mpmath.besselj(1, x) / x, 2), 0.0, 64.0, 40),
    "j0_p": Fit(bessel_modulus(0, 0), 0.0, 1.0, 40),
    "j0_q": Fit(bessel_modulus(0, 1), 0.0, 1.0, 40),
    "j1_p": Fit(bessel_modulus(1, 0), 0.0, 1.0, 40),
    "j1_q": Fit(bessel_modulus(1, 1), 0.0, 1.0, 40),
    # (E1(x) + log x + euler) / x; then x exp(x) E1(x), in x and in 3 / x
    "e1_near": Fit(
        lambda x: (mpmath.e1(x) + mpmath.log(x) + mpmath.euler) / x, 0.0, 0.75, 30),
    "e1_middle": Fit(lambda x: x * mpmath.exp(x) * mpmath.e1(x), 0.75, 3.0, 50),
    "e1_far": Fit(lambda v: 3 / v * mpmath.exp(3 / v) * mpmath.e1(3 / v), 0.0, 1.0, 50),
    "ei_near": Fit(ei_quotient, 0.0, 3.0, 40),
    "ei_middle": Fit(lambda x: x * mpmath.exp(-x) * mpmath.ei(x), 3.0, 9.0, 50),
    "ei_beyond": Fit(lambda x: x * mpmath.exp(-x) * mpmath.ei(x), 9.0, 24.0, 50),
    "ei_far": Fit(
        lambda v: 24 / v * mpmath.exp(-24 / v) * mpmath.ei(24 / v), 0.0, 1.0, 50),
    "si_near": Fit(root_of(lambda x: mpmath.si(x) / x, 2), 0.0, 16.0, 40),
    "ci_near": Fit(ci_quotient, 0.0, 16.0, 40),
    "si_f_middle": Fit(trigonometric_rest(0), 4.0, 9.0, 50),
    "si_g_middle": Fit(trigonometric_rest(1), 4.0, 9.0, 50),
    "si_f_far": Fit(inverse_root_of(trigonometric_rest(0), 9, 2), 0.0, 1.0, 50),
    "si_g_far": Fit(inverse_root_of(trigonometric_rest(1), 9, 2), 0.0, 1.0, 50),
    "fresnel_c": Fit(root_of(lambda x: mpmath.fresnelc(x) / x, 4), 0.0, 1.5**4, 30),
    "fresnel_s": Fit(root_of(lambda x: mpmath.fresnels(x) / x**3, 4), 0.0, 1.5**4, 30),
    "fresnel_f_middle": Fit(fresnel_rest(0), 1.5, 3.0, 50),
    "fresnel_g_middle": Fit(fresnel_rest(1), 1.5, 3.0, 50),
    "fresnel_f_far": Fit(inverse_root_of(fresnel_rest(0), 3, 4), 0.0, 1.0, 50),
    "fresnel_g_far": Fit(inverse_root_of(fresnel_rest(1), 3, 4), 0.0, 1.0, 50),
    # the dilogarithm of 1 - x over 1 - x
    "spence": Fit(lambda x: mpmath.polylog(2, 1 - x) / (1 - x), 0.5, 1.5, 40),
}


def coefficients(fit: Fit) -> list[Any]:
  """The coefficients of the interpolation at Chebyshev's points of a finer grid."""
  n = fit.terms + 14
  half, middle = mpmath.mpf(fit.high - fit.low) / 2, mpmath.mpf(fit.high + fit.low) / 2
  angles = [mpmath.pi * (k + mpmath.mpf(1) / 2) / n for k in range(n)]
  values = [fit.function(middle + half * mpmath.cos(a)) for a in angles]
  found = [
      2 * sum(v * mpmath.cos(j * a) for v, a in zip(values, angles, strict=True)) / n
      for j in range(fit.terms)]
  found[0] /= 2
  return found


def seen(series: list[Any]) -> list[Any]:
  """The coefficients up to the last that a double of the largest value sees."""
  least = max(abs(c) for c in series) * mpmath.mpf(2)**-57
  return series[:max(i for i, c in enumerate(series) if abs(c) > least) + 1]


def largest_error(fit: Fit, series: list[Any]) -> float:
  """The largest error of the series of doubles, relative to the largest value."""
  half = mpmath.mpf(fit.high - fit.low) / 2
  middle = mpmath.mpf(fit.high + fit.low) / 2
  rounded = [mpmath.mpf(float(c)) for c in series]
  off, most = mpmath.mpf(0), mpmath.mpf(0)
  for k in range(60):
    s = mpmath.cos(mpmath.pi * (k + mpmath.mpf(1) / 3) / 60)
    exact = fit.function(middle + half * s)
    value = sum(c * mpmath.chebyt(j, s) for j, c in enumerate(rounded))
    off, most = max(off, abs(value - exact)), max(most, abs(exact))
  return float(off / most * 2**53)


def main(names: Sequence[str]) -> None:
  """Prints fits."""
  for name, fit in FITS.items():
    if names and not name.startswith(tuple(names)):
      continue
    series = seen(coefficients(fit))
    print(f"# error {largest_error(fit, series):.2f} * 2**-53")
    line = f"{name.upper()} = ("
    for c in series:
      text = f"{float(c)!r},"
      if len(line) + len(text) + 1 > 90:
        print(line)
        line = "   "
      line += f" {text}" if line != f"{name.upper()} = (" else text
    print(line.removesuffix(",") + ")", flush=True)


if __name__ == "__main__":
  main(sys.argv[1:])
