"""`pad` in all modes: NumPy's values; errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp

X = np.array([[1, 2, 5], [4, 9, 3]], np.float32)
Agree = Callable[..., Any]
WIDTHS = (0, (1, 2), ((1, 2), (3, 0)), ((0, 7), (9, 4)))


@pytest.mark.parametrize("mode", [
    "constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect",
    "symmetric", "wrap"])
def test_modes(mode: str, agree: Agree) -> None:
  for widths in WIDTHS:
    agree("pad", X, widths, mode)
  agree("pad", X.astype(np.int32), (2, 1), mode)
  if mode in ("reflect", "symmetric"):
    for widths in WIDTHS:
      agree("pad", X, widths, mode, reflect_type="odd")
    agree("pad", X[:, :1], 3, mode)
  if mode in ("maximum", "mean", "median", "minimum"):
    agree("pad", X, 2, mode, stat_length=2)
    agree("pad", X, 2, mode, stat_length=((1, 2), (2, 1)))
  if mode == "linear_ramp":
    agree("pad", X, 2, mode, end_values=3)
    agree("pad", X, 2, mode, end_values=((1, 2), (3, 4)))


def test_constants(agree: Agree) -> None:
  for values in (5, (1, 2), ((1, 2), (3, 4)), ((1,), (2,))):
    agree("pad", X, ((1, 2), (0, 3)), constant_values=values)
  agree("pad", X[:0], 1)
  np.testing.assert_array_equal(
      gnp.pad(X, {0: (1, 2)}), np.pad(X, ((1, 2), (0, 0))))
  np.testing.assert_array_equal(gnp.pad(X, {-1: 2}), np.pad(X, ((0, 0), (2, 2))))
  values = gnp.array([[1.0, 2.0], [3.0, 4.0]])
  np.testing.assert_array_equal(
      gnomon.jit(lambda v: gnp.pad(X, 1, constant_values=v))(values),
      np.pad(X, 1, constant_values=((1, 2), (3, 4))))
  assert gnp.pad(X, 1, "empty").shape == (4, 5)


def test_function() -> None:
  def fill(row: Any, widths: Any, axis: int, kwargs: dict[str, Any]) -> Any:
    return gnp.where(gnp.arange(row.shape[0]) < widths[0], kwargs["value"], row)

  got = gnp.pad(X, (2, 1), fill, value=7.0)
  assert got.shape == (5, 6)
  np.testing.assert_array_equal(got[:2], np.full((2, 6), 7.0))
  np.testing.assert_array_equal(got[2:4, 2:5], X)


def test_errors() -> None:
  for call, error, message in (
      (lambda: gnp.pad(X, 1, "foo"), NotImplementedError, "'foo'"),
      (lambda: gnp.pad(X, ((1, 1), (2, 2), (0, 0))), ValueError, r"\(3, 2\)"),
      (lambda: gnp.pad(X, -1), ValueError, "negative"),
      (lambda: gnp.pad(X, 1.0), TypeError, "integral"),
      (lambda: gnp.pad([1, 2], 1), TypeError, "list"),
      (lambda: gnp.pad(X, 1, foo=1), ValueError, "foo"),
      (lambda: gnp.pad(X[:0], 1, "edge"), ValueError, "empty"),
      (lambda: gnp.pad(X, 1, "mean", stat_length=0), ValueError, "positive"),
      (lambda: gnp.pad(X, 1, "reflect", reflect_type="x"), ValueError, "even")):
    with pytest.raises(error, match=message):
      call()
