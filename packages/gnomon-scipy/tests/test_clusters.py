"""Vector quantisation and integrals against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.cluster.vq
import scipy.integrate

import gnomon
from gnomon.scipy import cluster, integrate

X = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)


def test_vq() -> None:
  for codes in (X[:4] + 0.1, X[:1]):
    code, dist = cluster.vq.vq(X, codes)
    want, far = scipy.cluster.vq.vq(X, codes)
    assert code.dtype == np.int32
    np.testing.assert_array_equal(code, want)
    np.testing.assert_allclose(dist, far, rtol=1e-5)
  code, _ = cluster.vq.vq(X[:, 0], X[:4, 0])
  np.testing.assert_array_equal(code, scipy.cluster.vq.vq(X[:, 0], X[:4, 0])[0])
  far = gnomon.grad(lambda x: cluster.vq.vq(x, X[:4])[1].sum())(X[5:])
  np.testing.assert_allclose(np.linalg.norm(far, axis=-1), 1, rtol=1e-5)
  for args in ((X, X[:, :2]), (X, X[0]), (X[None], X[None]), (X, X[:0])):
    with pytest.raises(ValueError, match="code_book"):
      cluster.vq.vq(*args)


def test_trapezoid() -> None:
  np.testing.assert_allclose(
      integrate.trapezoid(X, np.arange(20.0), axis=0),
      scipy.integrate.trapezoid(X, np.arange(20.0), axis=0), rtol=1e-5)
