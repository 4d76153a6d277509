"""`numpy.fft`: values against NumPy, derivatives, vmap, errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp
from gnomon.testing import check_grads, check_vmap

F = gnp.fft
R = np.random.default_rng(4)
NORMS = (None, "backward", "ortho", "forward")
ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
SEVERAL = ("fftn", "ifftn", "rfftn", "irfftn")
TWO = ("fft2", "ifft2", "rfft2", "irfft2")


@pytest.fixture(autouse=True)
def _doubles() -> Iterator[None]:
  with gnomon.enable_x64(True):
    yield


def operand(name: str, *shape: int) -> Any:
  x = R.standard_normal(shape)
  real = name.startswith(("rfft", "ihfft"))
  return x if real else x + 1j * R.standard_normal(shape)


def agree(name: str, x: Any, *args: Any, **kwargs: Any) -> None:
  got = getattr(F, name)(x, *args, **kwargs)
  want = getattr(np.fft, name)(x, *args, **kwargs)
  assert got.dtype == want.dtype
  assert got.shape == want.shape
  np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ONE)
def test_one_axis(name: str) -> None:
  x = operand(name, 3, 4, 5)
  for axis in (0, 1, -1):
    for n in (None, 2, 7):
      agree(name, x, n, axis)
  for norm in NORMS:
    agree(name, x, norm=norm)
  agree(name, x[0, 0], 6)
  agree(name, np.arange(6).reshape(2, 3))
  check_grads(lambda y: getattr(F, name)(y, 6, 1, "ortho"), (x,), 1)
  check_vmap(getattr(F, name), (x,), 1)


@pytest.mark.parametrize("name", SEVERAL)
def test_several_axes(name: str) -> None:
  x = operand(name, 3, 4, 5)
  for axes in (None, (0,), (0, 2), (2, 0), (-2, -1), (1, 0, 2)):
    agree(name, x, axes=axes)
  agree(name, x, (2, 6), (0, 1))
  agree(name, x, (2, 6), (-1, 0))
  for norm in NORMS:
    agree(name, x, axes=(0, 1), norm=norm)
  many = operand(name, 2, 3, 2, 3, 2)
  agree(name, many)
  agree(name, many, axes=(4, 1, 3, 0))
  check_grads(lambda y: getattr(F, name)(y, (2, 6), (1, 0)), (x,), 1)
  check_vmap(getattr(F, name), (x,), 2)


@pytest.mark.parametrize("name", TWO)
def test_two_axes(name: str) -> None:
  x = operand(name, 3, 4, 5)
  agree(name, x)
  agree(name, x, (2, 6))
  agree(name, x, axes=(0, 1), norm="ortho")


@pytest.mark.parametrize("n", [1, 4, 5])
def test_helpers(n: int) -> None:
  for name in ("fftfreq", "rfftfreq"):
    agree(name, n)
    agree(name, n, 0.5)
    f = getattr(F, name)
    got = gnomon.jit(lambda d, f=f: f(n, d))(2.0)
    np.testing.assert_allclose(got, getattr(np.fft, name)(n, 2.0))
    assert getattr(F, name)(n, dtype="float32").dtype == "float32"
  x = R.standard_normal((n, 3, 4))
  for name in ("fftshift", "ifftshift"):
    for axes in (None, 0, -1, (0, 2)):
      agree(name, x, axes)
  np.testing.assert_array_equal(F.ifftshift(F.fftshift(x)), x)


def test_dtypes_and_empty() -> None:
  with gnomon.enable_x64(False):
    for given in ("bool", "int32", "float16", "float32"):
      x = gnp.ones(4, given)
      assert F.fft(x).dtype == F.rfft(x).dtype == "complex64"
      assert F.irfft(x).dtype == F.hfft(x).dtype == "float32"
    assert F.fftfreq(4).dtype == "float32"
  assert F.fft(np.zeros((0, 4))).shape == (0, 4)
  assert F.irfft(np.zeros((0, 3))).shape == (0, 4)
  assert F.fftn(np.float64(3)).item() == 3


X = np.ones((4, 5))
ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: F.fft(X, 0), ValueError, "positive"),
    (lambda: F.fft(X, axis=2), ValueError, "out of bounds"),
    (lambda: F.fft(X, axis=(0, 1)), ValueError, "multiple axes"),  # type: ignore[arg-type]
    (lambda: F.fft(X, norm="x"), ValueError, "norm 'x'"),
    (lambda: F.hfft(X, norm="x"), ValueError, "norm 'x'"),
    (lambda: F.fft([1.0]), TypeError, "list"),
    (lambda: F.rfft(X + 1j), ValueError, "real numbers"),
    (lambda: F.fftn(X, axes=(0, 0)), ValueError, "repeated axes"),
    (lambda: F.fftn(X, (2,), (0, 1)), ValueError, "different lengths"),
    (lambda: F.fftn(X, (1, 2, 3)), ValueError, "more sizes"),
    (lambda: F.fft2(X, axes=(0,)), ValueError, "2 axes"),
    (lambda: F.fftfreq([4]), ValueError, "only takes an int"),  # type: ignore[arg-type]
    (lambda: F.fftfreq(4, np.ones(2)), TypeError, "scalar"),
    (lambda: F.rfftfreq(4, [1, 2]), ValueError, "single value. Got d = .1, 2"),
    (lambda: F.fftshift(X, 2), ValueError, "out of bounds"),
]


@pytest.mark.parametrize("case", range(len(ERRORS)))
def test_errors(case: int) -> None:
  call, error, text = ERRORS[case]
  with pytest.raises(error, match=text):
    call()
