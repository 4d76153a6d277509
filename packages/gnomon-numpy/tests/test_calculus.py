"""Closeness, differences, gradients, integrals, interpolation, convolution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp

Agree = Callable[..., Any]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 4, 5)).astype(np.float32)
I = RNG.integers(-9, 9, (3, 4))  # noqa: E741 -- integers
C = (X + 1j * X[::-1]).astype(np.complex64)
S = X.copy()
S[0, 0, :3] = [np.nan, np.inf, -np.inf]


def vector(n: int) -> Any:
  return RNG.normal(size=n).astype(np.float32)


def test_closeness(agree: Agree) -> None:
  for x in (X, I, I > 0, C, S):
    near = x if x.dtype == bool else x * (1 + np.float32(1e-6))
    for y in (near, ~x if x.dtype == bool else x * 2, x[0]):
      agree("isclose", x, y)
      agree("allclose", x, y, equal_nan=True)
      agree("array_equiv", x, y)
    agree("isclose", x, near, 1e-3, 0.1, equal_nan=True)
    agree("array_equal", x, x.copy())
    agree("array_equal", x, x, equal_nan=True)
  low, high = -2**31, 2**31 - 1
  agree("isclose", np.array([high, low], np.int32), np.array([low, high], np.int32))
  agree("isclose", np.array([255, 1], np.uint8), np.array([0, 2], np.uint8))
  agree("array_equal", [1, 2], [1, 2])
  agree("array_equal", X, "a")
  assert not gnp.isclose(np.inf, -np.inf)
  with pytest.raises(TypeError, match="list"):
    gnp.isclose([1.0], 1.0)


def test_diff(agree: Agree) -> None:
  for x in (X, I, I > 0, C):
    for n, axis in ((1, -1), (2, 0), (3, 1), (0, 0)):
      agree("diff", x, n, axis)
    agree("diff", x, prepend=x[..., :1], append=x[..., :2])
    agree("diff", x, prepend=x.ravel()[0])
  agree("ediff1d", X)
  agree("ediff1d", I, to_end=np.array([1, 2]), to_begin=-9)
  for call, message in ((lambda: gnp.diff(X, -1), "non-negative"),
                        (lambda: gnp.diff(3.0), "one dimensional"),
                        (lambda: gnp.diff(X, axis=3), "out of bounds")):
    with pytest.raises(ValueError, match=message):
      call()


def test_gradient(agree: Agree) -> None:
  places = np.cumsum(np.arange(1, 5.0) ** 1.5)
  for x in (X, I.astype(np.float32), C):
    agree("gradient", x, atol=1e-4)
    agree("gradient", x, 2.0, axis=(0, 1), atol=1e-4)
    agree("gradient", x, places, axis=1, atol=1e-4)
    agree("gradient", x, edge_order=2, atol=1e-4)
    agree("gradient", x, places, axis=1, edge_order=2, atol=1e-4)
    agree("gradient", x, 1.5, places[:4], axis=(0, 1), atol=1e-4)
  agree("gradient", X[0, 0])
  for call, error, message in (
      (lambda: gnp.gradient(X[:1]), ValueError, "too small"),
      (lambda: gnp.gradient(X, 1.0, 2.0), TypeError, "spacing"),
      (lambda: gnp.gradient(X, np.ones(9), axis=0), ValueError, "same length"),
      (lambda: gnp.gradient(X, edge_order=3), ValueError, "edge_order")):
    with pytest.raises(error, match=message):
      call()


def test_trapezoid(agree: Agree) -> None:
  for x in (X, C):
    agree("trapezoid", x)
    agree("trapezoid", x, dx=3, axis=0)
    agree("trapezoid", x, x=x, atol=1e-4)
    agree("trapezoid", x, np.arange(4) ** 2.0, axis=1, atol=1e-4)
    agree("trapezoid", x, x=x[0], atol=1e-4)
  agree("trapezoid", I)


def test_unwrap(agree: Agree) -> None:
  phases = np.cumsum(RNG.normal(size=(3, 20)) * 3, axis=1).astype(np.float32)
  wrapped = (phases + np.float32(np.pi)) % np.float32(2 * np.pi) - np.float32(np.pi)
  agree("unwrap", wrapped, atol=1e-4)
  agree("unwrap", wrapped, discont=4.0, atol=1e-4)
  agree("unwrap", wrapped, axis=0, atol=1e-4)
  agree("unwrap", I, period=7)
  agree("unwrap", I, period=4)
  with pytest.raises(TypeError, match="complex"):
    gnp.unwrap(C)


def test_interp(agree: Agree) -> None:
  xp, fp = np.sort(vector(8)), vector(8)
  x = np.concatenate([xp, np.linspace(-4, 4, 30), [np.nan, np.inf]]).astype(np.float32)
  agree("interp", x, xp, fp)
  agree("interp", x.reshape(8, 5), xp, fp, left=-9, right=7)
  agree("interp", 0.3, xp, fp)
  agree("interp", x[:38], xp[::-1], fp, period=2.0, atol=1e-4)
  agree("interp", x, xp, (fp + 1j * fp[::-1]).astype(np.complex64))
  agree("interp", np.array([1.0, 1.5, 2, 3]), np.array([1.0, 2, 2, 3]), fp[:4])
  agree("interp", x[:38], xp[:1], fp[:1])
  agree("interp", np.array([1.0, 2]), np.array([1.0, 2, 3]), np.array([np.inf, 5, 7]))
  line = gnp.interp(np.array([-1.0, 9.0]), xp, 2 * xp, "extrapolate", "extrapolate")
  np.testing.assert_allclose(line, [-2, 18], rtol=1e-4)
  grad = gnomon.grad(lambda f: gnp.interp(np.float32(0.3), xp, f))(fp)
  np.testing.assert_allclose(grad.sum(), 1, rtol=1e-6)
  for args, message in (((x, xp, fp[:3]), "equal size"),
      ((x, xp[:0], fp[:0]), "no points"),
                        ((x, xp, fp, "foo"), "extrapolate")):
    with pytest.raises(ValueError, match=message):
      gnp.interp(*args)


def test_convolution(agree: Agree) -> None:
  for n, m in ((5, 3), (3, 5), (1, 4), (6, 1)):
    for a, b in ((vector(n), vector(m)), (RNG.integers(-4, 5, n), RNG.integers(-4, 5, m)),
                 (vector(n) + 1j * vector(n), vector(m) - 1j * vector(m))):
      for mode in ("full", "same", "valid"):
        agree("convolve", a, b, mode, atol=1e-4)
        agree("correlate", a, b, mode, atol=1e-4)
  agree("convolve", vector(5000), vector(900), atol=1e-3)
  agree("correlate", vector(5000), vector(1000), "same", atol=1e-3)
  for call, message in ((lambda: gnp.convolve(vector(3), vector(2), "foo"), "'foo'"),
                        (lambda: gnp.convolve(vector(3), vector(0)), "empty"),
                        (lambda: gnp.correlate(X, vector(2)), "1-dimensional")):
    with pytest.raises(ValueError, match=message):
      call()
