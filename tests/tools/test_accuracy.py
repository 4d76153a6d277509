"""`tools/accuracy.py` counts last places, and a small sweep keeps the bounds."""

from __future__ import annotations

import accuracy
import accuracy_cases
import numpy as np
import pytest

# The largest errors of float32 and float64, with some room: see the page of the manual.
BOUNDS = {
    "lax.sin": (1, 1), "lax.cos": (1, 1), "lax.tan": (1.5, 1.5), "lax.asin": (2, 2),
    "lax.acos": (2, 1.5), "lax.atan": (1.5, 1.5), "lax.sinh": (3, 3), "lax.cosh": (3, 3),
    "lax.tanh": (4, 5), "lax.asinh": (3, 3), "lax.acosh": (3.5, 3), "lax.atanh": (3, 3),
    "lax.exp": (4, 2), "lax.exp2": (1.5, 1.5), "lax.expm1": (4, 3), "lax.log": (1.5, 1),
    "lax.log1p": (3, 3), "lax.logistic": (2.5, 2.5), "lax.sqrt": (0.5, 0.5),
    "lax.rsqrt": (1.5, 1.5), "lax.cbrt": (1.5, 4), "lax.erf": (4, 1.5),
    "lax.pow": (1, 1), "lax.atan2": (1.5, 1), "scipy.special.dawsn": (4, 4),
    "scipy.special.exp1": (5, 5), "scipy.special.spence": (5, 5)}


def test_small_sweep() -> None:
  cases = [
      c for c in (*accuracy_cases.LAX, *accuracy_cases.SPECIAL) if c.name in BOUNDS]
  assert len(cases) == len(BOUNDS)
  found = accuracy.measure(cases, {"gnomon": ""}, share=0.02)
  over = {
      key: worst for key, worst in found.items()
      if worst.error > BOUNDS[key[0]][key[1] == "float64"]}
  assert not over


@pytest.mark.parametrize(("got", "exactly", "off"), [
    (1.0, (1.0, 0.0), 0), (1 + 2**-23, (1.0, 0.0), 1), (1.0, (1.0, 2**-24), 0.5),
    (1 - 2**-24, (1.0, 0.0), 0.5), (np.inf, (1e39, 0.0), 0), (3e38, (1e39, 0.0), np.inf),
    (0.0, (1e-39, 0.0), 0), (0.0, (2e-38, 0.0), 2e-38 * 2.0**149),
    (np.nan, (1.0, 0.0), np.inf),
    (-np.inf, (1e39, 0.0), np.inf), (0.0, (0.0, 0.0), 0)])
def test_last_places(got: float, exactly: tuple[float, float], off: float) -> None:
  high, low = np.array([exactly[0]]), np.array([exactly[1]])
  (found,) = accuracy.ulps(np.float32([got]), (high, low), np.float32)
  assert found == pytest.approx(off, rel=0.05) if np.isfinite(off) else found > 1e6


def test_errors_beside_zeros_count_in_a_fixed_unit() -> None:
  exactly = np.array([1e-9]), np.array([0.0])
  (found,) = accuracy.ulps(np.float32([2e-9]), exactly, np.float32, 1.0)
  assert found == pytest.approx(1e-9 * 2**23)


def test_points_are_in_the_domain() -> None:
  (x,) = accuracy_cases.line(0, 1, 0.25)(np.float32, 1.0)
  assert x.dtype == np.float32
  assert x.min() >= np.finfo(np.float32).tiny
  assert x.max() == 1
  assert np.nextafter(np.float32(0.25), np.float32(1)) in x
  for case in (*accuracy_cases.LAX, *accuracy_cases.SPECIAL):
    for dtype in accuracy.DTYPES:
      args = case.points(dtype, 0.02)
      assert {a.shape for a in args} == {args[0].shape}
      assert all(a.dtype == dtype and np.isfinite(a).all() for a in args), case.name


def test_table() -> None:
  cases = [c for c in accuracy_cases.LAX if c.name in ("lax.sqrt", "lax.lgamma")]
  found = {
      (c.name, np.dtype(d).name, "gnomon"): accuracy.Worst(e, (0.5,))
      for c in cases for d, e in zip(accuracy.DTYPES, (0.5, np.inf), strict=True)}
  text = accuracy.table(cases, found, ["gnomon"])
  assert "| `lax.sqrt` | 0.5 | wrong | 0.5; 0.5 |" in text
  assert "`lax.lgamma` (below 1: absolute)" in text
