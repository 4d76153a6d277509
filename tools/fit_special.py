"""Chebyshev coefficients of special functions, made with mpmath.

`python tools/fit_special.py NAME` prints the coefficients of a fit below as Python, and
the largest relative error of the series over a dense grid, in units of 2**-53.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
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


FITS = {"erfcx": Fit(log_scaled_erfc, 0.0, 1.0, 32)}


def coefficients(fit: Fit) -> list[Any]:
  """The coefficients of the interpolation at Chebyshev's points of a finer grid."""
  n = 4 * fit.terms
  half, middle = mpmath.mpf(fit.high - fit.low) / 2, mpmath.mpf(fit.high + fit.low) / 2
  angles = [mpmath.pi * (k + mpmath.mpf(1) / 2) / n for k in range(n)]
  values = [fit.function(middle + half * mpmath.cos(a)) for a in angles]
  found = [
      2 * sum(v * mpmath.cos(j * a) for v, a in zip(values, angles, strict=True)) / n
      for j in range(fit.terms)]
  found[0] /= 2
  return found


def largest_error(fit: Fit, series: list[Any]) -> float:
  """The largest error of the series of doubles, relative to 1, in units of 2**-53."""
  half, middle = (fit.high - fit.low) / 2, (fit.high + fit.low) / 2
  rounded = [mpmath.mpf(float(c)) for c in series]
  worst = mpmath.mpf(0)
  for k in range(1, 2000):
    t = fit.low + (fit.high - fit.low) * mpmath.mpf(k) / 2000
    s = (t - middle) / half
    value = sum(c * mpmath.chebyt(j, s) for j, c in enumerate(rounded))
    worst = max(worst, abs(value - fit.function(t)))
  return float(worst * 2**53)


def main(name: str) -> None:
  """Prints one fit."""
  fit = FITS[name]
  series = coefficients(fit)
  print(f"{name.upper()} = (")
  for c in series:
    print(f"    {float(c)!r},")
  print(f")  # error {largest_error(fit, series):.2f} * 2**-53")


if __name__ == "__main__":
  main(sys.argv[1])
