"""Cosine transforms against SciPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.fft as reference

import gnomon
import gnomon.numpy as gnp
from gnomon.scipy import fft
from gnomon.test_util import check_grads

X = np.random.default_rng(0).normal(size=(3, 10))


@pytest.mark.parametrize("n", [1, 2, 7, 12])
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_one_axis(kind: int, n: int) -> None:
  if (kind, n) == (1, 1):
    with pytest.raises(ValueError, match="at least 2 numbers"):
      fft.dct(X, 1, 1)
    return
  for norm in (None, "ortho", "forward"):
    for name in ("dct", "idct"):
      want = getattr(reference, name)(X, kind, n, norm=norm)
      with gnomon.enable_x64(True):
        got = getattr(fft, name)(X, kind, n, norm=norm)
      np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", ["dctn", "idctn"])
@pytest.mark.parametrize(("s", "axes"), [
    (None, None), ((5,), None), ((12, 7), (-2, -1)), (None, (0,)), ((4, 3), (1, 0)),
    (None, ())])
def test_several_axes(name: str, s: Any, axes: Any) -> None:
  want = getattr(reference, name)(X, s=s, axes=axes, norm="ortho")
  got = getattr(fft, name)(X.astype(np.float32), s=s, axes=axes, norm="ortho")
  assert got.dtype == np.float32
  np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_dtypes_and_axes() -> None:
  for dtype in (np.int32, bool, np.float16, gnp.bfloat16):
    assert fft.dct(X.astype(dtype)).dtype == np.float32
  z = (X + 1j * X[::-1]).astype(np.complex64)
  np.testing.assert_allclose(fft.dct(z, axis=0), reference.dct(z, axis=0), rtol=1e-4,
                             atol=1e-5)
  np.testing.assert_allclose(
      gnomon.vmap(fft.idct, 1, 1)(X), reference.idct(X, axis=0), rtol=1e-4, atol=1e-5)
  assert fft.dct(np.zeros((0, 4))).shape == (0, 4)


def test_derivatives() -> None:
  with gnomon.enable_x64(True):
    for kind in (1, 2, 3, 4):
      check_grads(gnomon.jit(partial(fft.dct, type=kind)), (X[0, :5],), order=1)


@pytest.mark.parametrize(("call", "message"), [
    (lambda: fft.dct(X, 5), "type must be"),
    (lambda: fft.dct(X, norm="any"), "norm must be"),
    (lambda: fft.dct(X, axis=2), "axis 2"),
    (lambda: fft.dct(X, n=0), "at least 1 numbers"),
    (lambda: fft.dctn(X, s=(2, 3, 4)), r"s must have at most x.ndim \(2\) elements"),
    (lambda: fft.dctn(X, s=(2,), axes=(0, 1)), "same length"),
    (lambda: fft.dctn(X, axes=(0, 0)), "repeated axis")])
def test_errors(call: Any, message: str) -> None:
  with pytest.raises(ValueError, match=message):
    call()
