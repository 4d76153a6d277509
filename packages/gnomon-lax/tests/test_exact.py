"""Elementary functions with programs of our own: their last places, edges, lowerings."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import mpmath
import numpy as np
import pytest

import gnomon
from gnomon import lax

inf, nan = math.inf, math.nan
RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _double() -> Iterator[None]:
  with gnomon.enable_x64(True):
    yield


def spread(low: float, high: float, *more: float) -> Any:
  return np.concatenate([RNG.uniform(low, high, 150), more])


TINY = (1e-30, -1e-30, 1e-9, 1e-4)
# The exact function, points, and the bounds of float64 and float32 in last places
CASES: dict[str, tuple[Any, Any, float, float]] = {
    "log1p": (mpmath.log1p, spread(
        -1, 3, *TINY, -0.4, 0.4, -0.29, 0.41, 0.4142, 1e10, 1e30), 2.5, 3),
    "atanh": (mpmath.atanh, spread(-1, 1, *TINY, 0.17, -0.17, 0.43, 0.999999), 3, 3),
    "sinh": (mpmath.sinh, spread(
        -20, 20, *TINY, 0.99999, 1, -1, 16, 60.1, 88.7, 89.3, -88.72), 3, 3),
    "cosh": (mpmath.cosh, spread(
        -20, 20, *TINY, 0.5, 16, 60.1, 88.7, 89.3, -88.72), 3, 3),
    "exp2": (lambda x: mpmath.mpf(2) ** x, spread(
        -126, 127.99, *TINY, 0.5, -0.5, -126, 127, 3), 1.5, 1.5),
    "asin": (mpmath.asin, spread(-1, 1, *TINY, 1.2e-38, 2e-38, 0.5, -1), 2, 2),
}
WIDE = {"sinh": [700.0, 710.4, -710.4], "cosh": [700.0, 710.4], "exp2": [1023.9, -1022.0],
        "log1p": [1e300], "atanh": [], "asin": [2.3e-308]}


@pytest.mark.parametrize("name", CASES)
def test_last_places(name: str) -> None:
  exact, points, *bounds = CASES[name]
  for dtype, bound in zip((np.float64, np.float32), bounds, strict=True):
    x = np.concatenate([points, WIDE[name]] if dtype is np.float64 else [points])
    x = x.astype(dtype)
    got = np.asarray(getattr(lax, name)(x))
    assert got.dtype == dtype
    with mpmath.workdps(50):
      want = [exact(mpmath.mpf(float(v))) for v in x]
      off = [
          float(abs(mpmath.mpf(float(g)) - w)) / float(np.spacing(dtype(abs(float(w)))))
          for g, w in zip(got, want, strict=True)]
    assert max(off) <= bound, (max(off), x[int(np.argmax(off))])


@pytest.mark.parametrize(("name", "rows"), [
    ("log1p", [(-1, -inf), (-2, nan), (inf, inf), (nan, nan), (-0.0, -0.0), (0.0, 0.0)]),
    ("atanh", [(1, inf), (-1, -inf), (2, nan), (inf, nan), (nan, nan), (-0.0, -0.0)]),
    ("sinh", [(inf, inf), (-inf, -inf), (nan, nan), (-0.0, -0.0), (1e4, inf)]),
    ("cosh", [(inf, inf), (-inf, inf), (nan, nan), (-0.0, 1), (-1e4, inf)]),
    ("exp2", [(inf, inf), (-inf, 0), (nan, nan), (3, 8), (-2, 0.25), (1e9, inf),
              (-1e9, 0), (0, 1), (-0.0, 1)]),
    ("asin", [(2, nan), (nan, nan), (-0.0, -0.0), (1, math.pi / 2)])])
def test_edges(name: str, rows: list[tuple[float, float]]) -> None:
  x, want = np.array(rows).T
  for dtype in (np.float64, np.float32):
    got = np.asarray(getattr(lax, name)(x.astype(dtype)))
    np.testing.assert_array_equal(got, want.astype(dtype))
    np.testing.assert_array_equal(np.signbit(got[want == 0]), np.signbit(want[want == 0]))


@pytest.mark.parametrize("name", CASES)
def test_only_the_lowering_for_cpus_differs(name: str) -> None:
  f, x = getattr(lax, name), np.float64([0.1, 0.2])
  assert len(gnomon.make_jaxpr(f)(x).eqns) == 1
  text = gnomon.jit(f).trace(x).lower(lowering_platforms=("tpu",)).as_text()
  assert "select" not in text
  assert "bitcast" not in text
  if name in ("exp2", "log1p"):
    exactly = gnomon.jit(lambda x: f(x, accuracy=lax.AccuracyMode.HIGHEST))
    assert "HIGHEST" in exactly.lower(x).as_text()
