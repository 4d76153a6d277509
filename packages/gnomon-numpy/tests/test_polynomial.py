"""Polynomials: NumPy's values; roots by evaluating at them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp

Agree = Callable[..., Any]
RNG = np.random.default_rng(0)
P = RNG.normal(size=5).astype(np.float32)
Q = RNG.normal(size=3).astype(np.float32)
I = RNG.integers(-4, 5, 4)  # noqa: E741 -- integers


def test_values(agree: Agree) -> None:
  agree("polyval", P, RNG.normal(size=(2, 3)).astype(np.float32), atol=1e-4)
  agree("polyval", I, 3)
  agree("polyval", P[:0], Q)
  agree("polyval", P, Q + 1j, atol=1e-4)


def test_arithmetic(agree: Agree) -> None:
  for name in ("polyadd", "polysub", "polymul"):
    for a, b in ((P, Q), (Q, P), (P, I), (I, I)):
      agree(name, a, b, atol=1e-4)
  quotient, rest = gnp.polydiv(P, Q)
  want = np.polydiv(P, Q)
  np.testing.assert_allclose(quotient, want[0], rtol=1e-3, atol=1e-3)
  np.testing.assert_allclose(rest[-len(want[1]):], want[1], rtol=1e-3, atol=1e-3)
  _, rest = gnp.polydiv(np.array([1.0, 5, 7]), np.array([1.0, 2]),
      trim_leading_zeros=True)
  assert rest.tolist() == [1]
  _, rest = gnp.polydiv(np.array([0.0, np.nan, 2]), np.array([1.0, 2]),
      trim_leading_zeros=True)
  np.testing.assert_array_equal(rest, [np.nan, np.nan])  # only zeros are dropped
  assert gnp.polydiv(Q, P)[0].tolist() == [0]
  product = gnp.polymul(np.array([0.0, 1, 2]), np.array([0, 1.0]),
      trim_leading_zeros=True)
  assert product.tolist() == [1, 2]


def test_calculus(agree: Agree) -> None:
  for m in (1, 2, 5, 6):
    agree("polyder", P, m, atol=1e-4)
  for m in (0, 1, 3):
    agree("polyint", P, m, atol=1e-5)
  agree("polyint", P, 3, k=2.0, atol=1e-5)
  agree("polyint", P, 3, k=Q, atol=1e-5)
  agree("polyint", I)
  with pytest.raises(ValueError, match="positive"):
    gnp.polyder(P, -1)
  with pytest.raises(ValueError, match="constants"):
    gnp.polyint(P, 2, k=Q)


def test_roots(agree: Agree) -> None:
  for p in (P, I, np.array([0, 1.0, -3, 2, 0]), np.array([2.0]), np.zeros(3)):
    got = gnp.roots(p)
    assert got.shape == np.roots(p).shape
    np.testing.assert_allclose(np.abs(np.polyval(p, np.asarray(got))), 0, atol=1e-3)
  assert gnomon.jit(lambda p: gnp.roots(p, strip_zeros=False))(P).shape == (4,)
  with pytest.raises(gnomon.errors.ConcretizationTypeError, match="strip_zeros"):
    gnomon.jit(gnp.roots)(P)
  agree("poly", P, rtol=1e-3, atol=1e-3)
  agree("poly", I, rtol=1e-3, atol=1e-3)
  agree("poly", np.array([]))
  a = RNG.normal(size=(3, 3)).astype(np.float32)
  np.testing.assert_allclose(gnp.poly(a).real, np.poly(a), rtol=1e-3, atol=1e-3)
  with pytest.raises(ValueError, match="square"):
    gnp.poly(a[:2])


def test_fit(agree: Agree) -> None:
  x = np.arange(8.0)
  y, sets = RNG.normal(size=8), RNG.normal(size=(8, 2))
  agree("polyfit", x, y, 3, rtol=1e-3, atol=1e-3)
  agree("polyfit", x, sets, 2, rtol=1e-3, atol=1e-3)
  agree("polyfit", x, y, 2, w=x + 1, rtol=1e-3, atol=1e-3)
  for cov in (True, "unscaled"):
    got, want = gnp.polyfit(x, y, 2, cov=cov), np.polyfit(x, y, 2, cov=cov)
    np.testing.assert_allclose(got[1], want[1], rtol=1e-2, atol=1e-3)
  c, residuals, rank, s, rcond = gnp.polyfit(x, y, 2, full=True)
  want = np.polyfit(x, y, 2, full=True)
  np.testing.assert_allclose(residuals, want[1], rtol=1e-3)
  np.testing.assert_allclose(s, want[3], rtol=1e-3)
  assert (int(rank), c.shape) == (3, (3,))
  assert rcond > 0
  for args, error, message in (((x, y, -1), ValueError, "deg"),
                               ((x, y[:3], 1), TypeError, "same length"),
                               ((sets, y, 1), TypeError, "1D"),
                               ((x, sets[None], 1), TypeError, "2D")):
    with pytest.raises(error, match=message):
      gnp.polyfit(*args)
