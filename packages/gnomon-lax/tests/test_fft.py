"""Fourier transforms: values against NumPy, derivatives, vmap, errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.testing import check_grads, check_vmap

R = np.random.default_rng(3)
LENGTHS = (1, 2, 4, 5)


@pytest.fixture(autouse=True)
def _doubles() -> Iterator[None]:
  with gnomon.enable_x64(True):
    yield


def sizes(n: int) -> list[tuple[int, ...]]:
  return [(n,), (3, n), (2, 3, n)]


def numbers(*shape: int) -> Any:
  return R.standard_normal(shape) + 1j * R.standard_normal(shape)


@pytest.mark.parametrize("n", LENGTHS)
def test_values(n: int) -> None:
  z = numbers(2, 3, n)
  for lengths in sizes(n):
    axes = tuple(range(3 - len(lengths), 3))
    half = np.fft.rfftn(z.real, axes=axes)
    for kind, x, want in (
        ("fft", z, np.fft.fftn(z, axes=axes)), ("IFFT", z, np.fft.ifftn(z, axes=axes)),
        ("rfft", z.real, half), (lax.FftType.IRFFT, half, z.real)):
      got = lax.fft(x, kind, lengths)
      assert got.dtype == want.dtype
      np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n", LENGTHS)
def test_derivatives(n: int) -> None:
  for lengths in sizes(n):
    half = numbers(2, 3, n // 2 + 1)
    check_grads(lambda x, s=lengths: lax.fft(x, "fft", s), (numbers(2, 3, n),), 2)
    check_grads(lambda x, s=lengths: lax.fft(x, "ifft", s), (numbers(2, 3, n),), 1)
    check_grads(lambda x, s=lengths: lax.fft(x, "rfft", s), (numbers(2, 3, n).real,), 2)
    check_grads(lambda x, s=lengths: lax.fft(x, "irfft", s), (half,), 2)


def test_vmap() -> None:
  z = numbers(2, 4, 5)
  for axis in (0, 1, 2):
    check_vmap(lambda x: lax.fft(x, "fft", x.shape), (z,), axis, axis % 2)
    check_vmap(lambda x: lax.fft(x, "rfft", x.shape[-1:]), (z.real,), axis)
    check_vmap(lambda x: lax.fft(x, "irfft", (2 * x.shape[-1] - 1,)), (z,), axis)


def test_dtypes_and_empty() -> None:
  for given, kind, want in (
      ("float32", "rfft", "complex64"), ("complex64", "irfft", "float32"),
      ("float32", "fft", "complex64"), ("int32", "rfft", "complex128"),
      ("int32", "ifft", "complex128"), ("float16", "fft", "complex64"),
      ("float64", "fft", "complex128")):
    n = 6 if kind == "irfft" else 4
    assert lax.fft(np.ones(4, given), kind, (n,)).dtype == want
  assert lax.fft(np.zeros((0, 4)), "rfft", (4,)).shape == (0, 3)
  assert lax.fft(np.zeros((4, 0)), "fft", (0,)).shape == (4, 0)
  assert lax.fft(np.zeros((4, 0)), "rfft", (0,)).shape == (4, 0)


X = np.ones((4, 5), np.float32)
ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: lax.fft(X, "dft", (5,)), ValueError, "dft"),
    (lambda: lax.fft(X, 7, (5,)), TypeError, "7"),  # type: ignore[arg-type]
    (lambda: lax.fft(X, "fft", (4,)), ValueError, "minor dimensions"),
    (lambda: lax.fft(X, "irfft", (5,)), ValueError, "half of the spectrum"),
    (lambda: lax.fft(X, "fft", (3, 4, 5)), ValueError, "at least as many"),
    (lambda: lax.fft(X, "fft", ()), ValueError, "one to three"),
    (lambda: lax.fft(X + 1j, "rfft", (5,)), ValueError, "real valued"),
    (lambda: lax.fft(X.astype("f2"), "rfft", (5,)), ValueError, "float16"),
]


@pytest.mark.parametrize("case", range(len(ERRORS)))
def test_errors(case: int) -> None:
  call, error, text = ERRORS[case]
  with pytest.raises(error, match=text):
    call()
