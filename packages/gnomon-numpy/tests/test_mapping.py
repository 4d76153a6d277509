"""`vectorize` and its like against loops; windows; bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp

Agree = Callable[..., Any]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 3, 4)).astype(np.float32)
V = X[0, 0]


def affine(a: Any, b: Any, k: Any = 1) -> Any:
  return a + b * k


def test_vectorize() -> None:
  wrap = gnp.vectorize
  np.testing.assert_allclose(wrap(affine)(X, V), X + V)
  np.testing.assert_allclose(wrap(affine)(X, V, k=V), X + V * V, rtol=1e-6)
  np.testing.assert_allclose(wrap(affine)(X[:, :1], X[:1]), X[:, :1] + X[:1])
  assert wrap(affine, excluded={1})(X, V).shape == (2, 3, 4, 4)
  assert wrap(affine, excluded={"k"})(X, V, k=V).shape == (2, 3, 4, 4)
  product = wrap(gnp.dot, signature="(m,k),(k)->(m)")
  np.testing.assert_allclose(product(X, V), X @ V, rtol=1e-5, atol=1e-6)
  two = wrap(lambda a: (a, a.sum()), signature="(n)->(n),()")(X)
  np.testing.assert_allclose(two[1], X.sum(-1), rtol=1e-5, atol=1e-6)
  assert wrap(lambda a: a)(np.zeros((0, 3))).shape == (0, 3)
  assert wrap(lambda a, b: a, excluded=(1,))(X, None).shape == X.shape
  assert wrap(lambda a, b: a)(X, None).shape == X.shape
  assert wrap(lambda a: 3)(X).shape == X.shape
  assert wrap(affine)([1, 2], 3).tolist() == [4, 5]
  assert wrap(affine).__name__ == "affine"
  assert wrap(lambda a: {"q": a})(X)["q"].shape == X.shape
  jaxpr = gnomon.make_jaxpr(wrap(gnp.sum, signature="(n)->()"))(X)
  assert [e.primitive.name for e in jaxpr.eqns] == ["reduce_sum"]


def test_vectorize_errors() -> None:
  wrap = gnp.vectorize
  pair = wrap(affine, signature="(n),(n)->(n)")
  for call, error, message in (
      (lambda: wrap(affine, signature="foo"), ValueError, "foo"),
      (lambda: wrap(affine, excluded={1.5}), TypeError, "1.5"),
      (lambda: wrap(affine, excluded={-1}), ValueError, "negative"),
      (lambda: wrap(lambda a: a, signature="(n)->()")(X), ValueError, "core dimensions"),
      (lambda: wrap(lambda a: a, signature="(n)->(n),(n)")(X), TypeError, "tuple"),
      (lambda: wrap(lambda a: (a,), signature="(n)->(n),(n)")(X), TypeError,
          "expected 2"),
      (lambda: pair(X), TypeError, "expected 2, got 1"),
      (lambda: pair(X, V[:2]), ValueError, "inconsistent size"),
      (lambda: wrap(affine, signature="(n,m),(n)->(n)")(V, V), ValueError, "enough"),
      (lambda: wrap(affine)(X, V[:2]), ValueError, "incompatible")):
    with pytest.raises(error, match=message):
      call()


def test_along_axes() -> None:
  for axis in (0, 1, -1):
    for f, g in ((gnp.sum, np.sum), (lambda v: gnp.outer(v, v), lambda v: np.outer(v, v)),
                 (lambda v: v[::-1][:2], lambda v: v[::-1][:2])):
      np.testing.assert_allclose(
          gnp.apply_along_axis(f, axis, X), np.apply_along_axis(g, axis, X), rtol=1e-5,
          atol=1e-5)
  got = gnp.apply_along_axis(lambda v, k, s: v * k + s, 1, X, 2, s=1)
  np.testing.assert_allclose(got, X * 2 + 1)
  np.testing.assert_allclose(
      gnp.apply_over_axes(gnp.sum, X, [0, 2]), X.sum((0, 2), keepdims=True), rtol=1e-5)
  with pytest.raises(ValueError, match="out of bounds"):
    gnp.apply_along_axis(gnp.sum, 3, X)
  with pytest.raises(ValueError, match="number of dimensions"):
    gnp.apply_over_axes(lambda a, d: gnp.ravel(a), X, 0)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 12, -1])
def test_windows(n: int, agree: Agree) -> None:
  for name in ("bartlett", "blackman", "hamming", "hanning"):
    agree(name, n)
  for beta in (0.0, 14.0, 300.0):
    agree("kaiser", n, beta)
  with pytest.raises(TypeError, match="known now"):
    gnomon.jit(gnp.hanning)(3)


def test_bits(agree: Agree) -> None:
  u = RNG.integers(0, 256, (3, 5)).astype(np.uint8)
  for order in ("big", "little"):
    for axis in (None, 0, -1):
      agree("packbits", u > 100, axis=axis, bitorder=order)
      for count in (None, 5, -3, 100):
        agree("unpackbits", u, axis=axis, bitorder=order, count=count)
  agree("packbits", u.astype(np.int32))
  agree("packbits", u[:0])
  for call, error, message in (
      (lambda: gnp.packbits(X), TypeError, "float32"),
      (lambda: gnp.packbits(u, bitorder="foo"), ValueError, "'foo'"),
      (lambda: gnp.unpackbits(X), TypeError, "unsigned byte"),
      (lambda: gnp.unpackbits(u, count=-1000), ValueError, "-1000")):
    with pytest.raises(error, match=message):
      call()
