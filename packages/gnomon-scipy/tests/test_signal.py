"""Signals against SciPy, with derivatives and batching."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.signal

import gnomon
from gnomon.scipy import signal
from gnomon.scipy.signal._windows import _KINDS, named
from gnomon.testing import check_grads, check_vmap

RNG = np.random.default_rng(1)


def normal(*shape: int, complex_: bool = False) -> Any:
  x = RNG.normal(size=shape).astype(np.float32)
  return x + 1j * RNG.normal(size=shape).astype(np.float32) if complex_ else x


def assert_near(ours: Any, theirs: Any, tol: float = 2e-5) -> None:
  theirs = np.asarray(theirs)
  atol = tol * max(1.0, float(np.abs(theirs).max(initial=0)))
  np.testing.assert_allclose(ours, theirs, rtol=tol, atol=atol)


@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize(
    "shapes", [((5,), (2,)), ((2, 2), (3, 3)), ((2, 3, 2), (2, 4, 1))])
def test_convolution(shapes: Any, complex_: bool) -> None:
  x, y = (normal(*s, complex_=complex_) for s in shapes)
  fits = len({np.sign(a - b) for a, b in zip(x.shape, y.shape)} - {0}) < 2
  for mode in ("full", "same", "valid") if fits else ("full", "same"):
    for name in ("convolve", "correlate"):
      expected = getattr(scipy.signal, name)(x, y, mode, "direct")
      for method in ("direct", "fft"):
        assert_near(getattr(signal, name)(x, y, mode, method), expected)


@pytest.mark.parametrize("name", ["convolve2d", "correlate2d"])
@pytest.mark.parametrize("shapes", [((4, 5), (2, 3)), ((2, 2), (3, 3))])
def test_planes(shapes: Any, name: str) -> None:
  x, y = (normal(*s, complex_=True) for s in shapes)
  ours, theirs = getattr(signal, name), getattr(scipy.signal, name)
  for mode in ("full", "same", "valid"):
    for more in (("fill", 0), ("fill", 2.0), ("wrap", 0), ("symm", 0)):
      assert_near(ours(x, y, mode, *more), theirs(x, y, mode, *more))


def test_fftconvolve() -> None:
  x, y = normal(3, 5), normal(3, 4)
  assert_near(signal.fftconvolve(x, y, "same", axes=1),
              scipy.signal.fftconvolve(x, y, "same", axes=1))
  infinite = np.array([1.0, np.inf, 3.0], np.float32)
  one = np.array([2.0], np.float32)
  np.testing.assert_array_equal(signal.fftconvolve(infinite, one), 2 * infinite)
  np.testing.assert_array_equal(
      signal.fftconvolve(np.stack([infinite, one.repeat(3)]), one[None], axes=(1, 0))[0],
      2 * infinite)
  half = signal.fftconvolve(np.arange(4, dtype=np.float16), np.ones(2, np.float16))
  assert half.dtype == np.float16
  assert_near(half, [0, 1, 3, 5, 3], 1e-2)
  assert signal.fftconvolve(x[:, :0], y, axes=1).shape == (3, 3)
  check_grads(signal.fftconvolve, (x, y), 2)
  check_grads(signal.correlate, (x, y), 2)
  check_vmap(lambda x, y: signal.convolve(x, y, "same"), (x, y), (0, 0))


def test_windows() -> None:
  more: dict[str, tuple[Any, ...]] = {
      "kaiser": (3.0,), "gaussian": (2.0,), "general_gaussian": (1.5, 2.0),
      "general_hamming": (0.6,), "general_cosine": ([0.5, 0.4, 0.1],)}
  for kind in _KINDS:
    for n in (1, 2, 7, 8):
      window: Any = (kind, *more[kind]) if kind in more else kind
      np.testing.assert_allclose(
          named("test", window, n), scipy.signal.get_window(window, n), atol=1e-9)
  for window in ("other", "kaiser"):
    with pytest.raises(ValueError, match="expected"):
      named("test", window, 4)


def test_detrend() -> None:
  axis = 1
  x = normal(3, 6, 4)
  for more in (("linear", 0), ("linear", [1, 2]), ("constant", 0)):
    assert_near(signal.detrend(x, axis, *more), scipy.signal.detrend(x, axis, *more))
  assert signal.detrend(x[:, :0], 1).shape == (3, 0, 4)
  check_grads(lambda x: signal.detrend(x, axis, bp=2), (x,), 1)


SEGMENTS = [
    {"nperseg": 7, "noverlap": 3, "nfft": 12},
    {"nperseg": 8, "noverlap": 0, "detrend": "linear"},
    {"nperseg": 8, "noverlap": 5, "return_onesided": False},
    {"nperseg": 6, "detrend": lambda x: 2 * x, "window": ("tukey", 0.3)},
]


@pytest.mark.parametrize("more", SEGMENTS)
def test_spectra(more: dict[str, Any]) -> None:
  x, y, keywords = normal(2, 30, 2), normal(2, 25, 2), {"fs": 3.0, "axis": 1, **more}
  for boundary, padded in (("even", True), ("odd", False), ("constant", True),
                           (None, False), ("zeros", True)):
    ends = {"boundary": boundary, "padded": padded}
    for ours, theirs in zip(signal.stft(x, **keywords, **ends),
                            scipy.signal.stft(x, **keywords, **ends), strict=True):
      assert_near(ours, theirs)
  for kind in ({}, {"scaling": "spectrum", "average": "median"}):
    for both in ((x, y), (x, None)):
      ours = signal.csd(*both, **keywords, **kind)
      theirs = scipy.signal.csd(x, x if both[1] is None else y, **keywords, **kind)
      assert_near(ours[0], theirs[0])
      assert_near(ours[1], theirs[1])
    assert_near(signal.welch(x, **keywords, **kind)[1],
                scipy.signal.welch(x, **keywords, **kind)[1])


@pytest.mark.parametrize("more", [
    {}, {"nperseg": 7, "noverlap": 5}, {"nperseg": 9}, {"nfft": 20, "noverlap": 0},
    {"time_axis": 0, "freq_axis": 1}, {"input_onesided": False, "boundary": False}])
def test_istft(more: dict[str, Any]) -> None:
  z = normal(5, 5, 5, complex_=True)
  with warnings.catch_warnings():  # some windows vanish: both say zero there
    warnings.simplefilter("ignore")
    expected = scipy.signal.istft(z, 2.0, **more)
  for ours, theirs in zip(signal.istft(z, 2.0, **more), expected, strict=True):
    assert_near(ours, theirs)


def test_spectra_transformed() -> None:
  x = normal(20)
  def there_and_back(x: Any) -> Any:
    return signal.istft(signal.stft(x, nperseg=8)[2], nperseg=8)[1][:20]

  assert_near(gnomon.jit(there_and_back)(x), x)
  assert_near(gnomon.jacrev(there_and_back)(x), np.eye(20))
  check_grads(lambda x: signal.welch(x, nperseg=8)[1], (x,), 2)
  check_vmap(lambda x: signal.csd(x, x, nperseg=8)[1], (normal(3, 20),), (0,))
  with pytest.warns(UserWarning, match="greater than"):
    assert signal.welch(x)[1].shape == (11,)
  with pytest.warns(UserWarning, match="complex"):
    assert signal.stft(1j * x, nperseg=4)[2].shape == (4, 11)
  assert signal.stft(x[:0])[2].shape == (0,)


def test_strict_promotion() -> None:
  x = normal(2, 20)
  with gnomon.numpy_rank_promotion("raise"), gnomon.numpy_dtype_promotion("strict"):
    z = signal.stft(x, nperseg=8)[2]
    assert_near(signal.istft(z, nperseg=8)[1][:, :20], x)
    whole = signal.stft(x + 0j, nperseg=8, return_onesided=False)[2]
    assert_near(signal.istft(whole, input_onesided=False)[1][:, :20], x)
    assert signal.csd(x, x, nperseg=8)[1].shape == (2, 5)
    assert signal.detrend(x).shape == (2, 20)


ERRORS = [
    lambda x: signal.convolve(x, x[None]), lambda x: signal.convolve(x, x, "other"),
    lambda x: signal.convolve(x, x, "full", "other"), lambda x: signal.convolve(x[:0], x),
    lambda x: signal.convolve(np.ones((2, 5)), np.ones((3, 4)), "valid"),
    lambda x: signal.convolve2d(x, x), lambda x: signal.fftconvolve(x, x, axes=3),
    lambda x: signal.correlate2d(x[None], x[None], boundary="other"),
    lambda x: signal.fftconvolve(np.ones((3, 4)), np.ones((2, 2)), axes=1),
    lambda x: signal.detrend(x, type="other"), lambda x: signal.detrend(x, bp=99),
    lambda x: signal.stft(x, nperseg=0), lambda x: signal.stft(x, nperseg=4, noverlap=4),
    lambda x: signal.stft(x, nperseg=4, nfft=3),
    lambda x: signal.stft(x, boundary="other"),
    lambda x: signal.stft(x, window=np.ones(4), nperseg=5),
    lambda x: signal.welch(x, nperseg=4, scaling="other"),
    lambda x: signal.welch(x, nperseg=4, average="other"),
    lambda x: signal.csd(x, np.ones((2, 6)), nperseg=4),
    signal.istft, lambda x: signal.istft(np.ones((3, 3)), time_axis=-2),
    lambda x: signal.istft(np.ones((3, 3)), nperseg=0),
    lambda x: signal.istft(np.ones((3, 3)), window=x),
]


@pytest.mark.parametrize("call", ERRORS)
def test_errors(call: Any) -> None:
  with pytest.raises(ValueError, match=r"must|got|expected|out of bounds"):
    call(np.ones(6, np.float32))
  with pytest.raises(TypeError, match="requires ndarray"):
    signal.convolve([1.0], [2.0])
