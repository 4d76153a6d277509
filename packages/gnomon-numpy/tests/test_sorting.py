"""Orders, partitions, places of extremes: NumPy's values; nan, ties, zeros."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon.numpy as gnp

Agree = Callable[..., Any]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(4, 5, 3)).astype(np.float32)
N = X.copy()
N[0, 1, 2] = N[1, 0, 1] = np.nan
I = RNG.integers(0, 9, (4, 5))  # noqa: E741 -- integers
C = (X + 1j * X[::-1]).astype(np.complex64)
SAMPLES = [X, N, I, I > 4, I.astype(np.uint8), C, X.astype(np.float16)]


@pytest.mark.parametrize("x", SAMPLES, ids=lambda x: str(x.dtype))
def test_orders(x: Any, agree: Agree) -> None:
  for axis in (None, 0, -1):
    agree("sort", x, axis=axis)
    agree("argsort", x, axis=axis, stable=True)
    agree("argmax", x, axis=axis, keepdims=axis == 0)
    agree("argmin", x, axis=axis, keepdims=axis == 0)
  agree("sort_complex", x)
  k = x.shape[-1] // 2
  part = np.asarray(gnp.partition(x, k))
  np.testing.assert_array_equal(part[..., k], np.sort(x)[..., k])
  at = np.asarray(gnp.argpartition(x, k))
  np.testing.assert_array_equal(
      np.take_along_axis(x, at, -1)[..., k], np.sort(x)[..., k])


def test_details(agree: Agree) -> None:
  np.testing.assert_array_equal(gnp.sort(I, descending=True), -np.sort(-I))
  np.testing.assert_array_equal(
      gnp.argsort(I, descending=True), np.argsort(-I, kind="stable"))
  assert gnp.argsort(X, dtype="int8").dtype == np.int8
  got = gnp.sort(np.array([1.0, np.nan, -0.0, 0.0, -np.inf]), descending=True)
  np.testing.assert_array_equal(got, [np.nan, 1, 0, 0, -np.inf])
  part = np.asarray(gnp.partition(np.array([6, 255, 0, 4, 3, 1, 0, 7], np.uint8), 3))
  assert sorted(part[:3]) == [0, 0, 1]
  agree("lexsort", (I, I[::-1]))
  agree("lexsort", I, axis=0)
  agree("lexsort", I)
  agree("lexsort", np.zeros((20, 3)))
  some = np.where(np.isnan(N).all(0), 0, N)
  for name in ("nanargmax", "nanargmin"):
    for axis in (None, 0, 1):
      agree(name, some, axis=axis)
    agree(name, I)
    assert getattr(gnp, name)(np.array([np.nan, np.nan])) == -1
  assert gnp.argmax(np.zeros((0, 3)), axis=1).shape == (0,)


def test_errors() -> None:
  for call, error, message in (
      (lambda: gnp.sort(3), ValueError, "out of bounds"),
      (lambda: gnp.sort(X, kind="quicksort"), TypeError, "stable"),
      (lambda: gnp.argsort(X, order="f"), TypeError, "order"),
      (lambda: gnp.argmax(np.zeros((0, 3)), axis=0), ValueError, "empty"),
      (lambda: gnp.argmax(X, out=X), NotImplementedError, "out"),
      (lambda: gnp.lexsort([]), TypeError, "at least one key"),
      (lambda: gnp.lexsort(3), TypeError, "0-d"),
      (lambda: gnp.lexsort((I, I[0])), ValueError, "one shape"),
      (lambda: gnp.partition(X, 5), ValueError, "kth")):
    with pytest.raises(error, match=message):
      call()
