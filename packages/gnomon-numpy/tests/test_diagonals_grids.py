"""Diagonals, triangles, grids, numbers of elements: NumPy's values; errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp


def same(got: Any, want: Any) -> None:
  assert isinstance(got, (tuple, list)) == isinstance(want, (tuple, list))
  if isinstance(want, (tuple, list)):
    assert len(got) == len(want)
    for g, w in zip(got, want):
      same(g, w)
    return
  want = np.asarray(want)
  assert got.shape == want.shape, (got.shape, want.shape)
  np.testing.assert_array_equal(np.asarray(got), want)


X = np.arange(24.0).reshape(2, 3, 4)


def test_diagonal_trace() -> None:
  for kwargs in ({}, {"offset": 1}, {"offset": -1}, {"offset": 9},
      {"axis1": 1, "axis2": 2},
                 {"offset": -1, "axis1": -1, "axis2": 0}, {"axis1": 2, "axis2": 1}):
    same(gnp.diagonal(X, **kwargs), np.diagonal(X, **kwargs))
    same(gnp.trace(X, **kwargs), np.trace(X, **kwargs))
    same(gnomon.jit(lambda x, k=kwargs: gnp.diagonal(x, **k))(X),
        np.diagonal(X, **kwargs))
  same(gnp.diagonal(np.zeros((0, 3))), np.zeros(0))
  same(gnomon.vmap(gnp.diagonal)(X), np.diagonal(X, 0, 1, 2))
  weights = np.array([1.0, 2])
  same(gnomon.grad(lambda x: (gnp.diagonal(x, 1) * weights).sum())(X[0, :2, :3]),
       np.array([[0.0, 1, 0], [0, 0, 2]]))
  assert gnp.trace(np.ones((3, 3), bool)).dtype == np.int32
  assert gnp.trace(np.ones((3, 3)), dtype=int).dtype == np.int32
  for args in ((np.ones(3),), (X, 0, 1, 1), (X, 0, 0, 3)):
    with pytest.raises(ValueError, match=r"diagonal|axis1"):
      gnp.diagonal(*args)


def test_diag_diagflat() -> None:
  v = np.array([1.5, -2, np.nan, np.inf])
  for k in (-5, -1, 0, 2):
    for x in (v, X[0], np.zeros(0), np.arange(3), np.ones((2, 2), bool)):
      same(gnp.diag(x, k), np.diag(x, k))
    same(gnp.diagflat(X[0, :2, :2], k), np.diagflat(X[0, :2, :2], k))
  same(gnp.diagflat(5), np.diagflat(5))
  same(gnomon.grad(lambda v: (gnp.diag(v) * X[0, :, :3]).sum())(np.ones(3)),
      np.diag(X[0]))
  for bad in (5, X):
    with pytest.raises(ValueError, match="diag input"):
      gnp.diag(bad)


@pytest.mark.parametrize("k", [-4, -1, 0, 1, 3])
def test_triangles(k: int) -> None:
  for x in (X, X[0], X > 3, np.full((3, 3), np.nan), np.zeros((2, 0))):
    same(gnp.tril(x, k), np.tril(x, k))
    same(gnp.triu(x, k), np.triu(x, k))
    same(gnomon.jit(gnp.triu)(x, k), np.triu(x, k))
  same(gnp.tri(3, k=k), np.tri(3, k=k))
  same(gnp.tri(2, 4, k, int), np.tri(2, 4, k, int))
  same(gnp.tril_indices(3, k, 4), np.tril_indices(3, k, 4))
  same(gnp.triu_indices(3, k), np.triu_indices(3, k))
  same(gnp.tril_indices_from(X[0], k), np.tril_indices_from(X[0], k))
  same(gnp.triu_indices_from(X[0], k), np.triu_indices_from(X[0], k))
  same(gnp.mask_indices(3, gnp.triu, k), np.mask_indices(3, np.triu, k))


def test_triangle_errors() -> None:
  for call, error in ((lambda: gnp.tril(np.ones(2)), ValueError),
                      (lambda: gnp.triu([[1]]), TypeError),
                      (lambda: gnp.tri(1.5), TypeError),
                      (lambda: gnp.tri(-1), ValueError),
                      (lambda: gnp.tril(X, 0.5), ValueError),
                      (lambda: gnp.tril_indices_from(X), ValueError),
                      (lambda: gnp.diag_indices(-1), ValueError),
                      (lambda: gnp.diag_indices_from(X), ValueError),
                      (lambda: gnp.diag_indices_from(X[0, 0]), ValueError)):
    with pytest.raises(error):
      call()
  same(gnp.diag_indices(3, 3), np.diag_indices(3, 3))
  same(gnp.diag_indices_from(np.ones((2, 2))), np.diag_indices(2))
  rows, columns = gnomon.jit(lambda: gnp.mask_indices(3, gnp.triu, size=8))()
  same(rows, np.array([0, 0, 0, 1, 1, 2, 0, 0]))
  same(columns, np.array([0, 1, 2, 1, 2, 2, 0, 0]))


def test_meshgrid_indices() -> None:
  a, b, c = np.arange(3), np.array([1.5, 2]), np.array([True, False])
  for args in ((a,), (a, b), (a, b, c), ()):
    for sparse in (False, True):
      for indexing in ("xy", "ij"):
        same(gnp.meshgrid(*args, sparse=sparse, indexing=indexing),
             list(np.meshgrid(*args, sparse=sparse, indexing=indexing)))
  for shape in ((2, 3), (3,), (), (2, 0, 2)):
    same(gnp.indices(shape), np.indices(shape))
    same(gnp.indices(shape, float, sparse=True), np.indices(shape, float, sparse=True))
  for args, kwargs in (((a, X), {}), ((1, a), {}), ((a,), {"copy": False}),
                       ((a,), {"indexing": "no"})):
    with pytest.raises(ValueError, match=r"meshgrid|indexing"):
      gnp.meshgrid(*args, **kwargs)


def test_fromfunction() -> None:
  same(gnp.fromfunction(lambda i, j: i * 10 + j, (2, 3)),
       np.fromfunction(lambda i, j: i * 10 + j, (2, 3)))
  got = gnp.fromfunction(lambda i, k=1: i * k, (3,), dtype=int, k=2)
  assert got.dtype == np.int32
  same(got, np.array([0, 2, 4]))
  same(gnp.fromfunction(lambda i: 1.0, (2,)), np.ones(2))


def test_slicers() -> None:
  a = np.array([1, 2])
  for key in ((slice(0, 2), slice(0, 3)), slice(0, 1, 3j), (slice(0, 2), slice(0, 1, 3j)),
              slice(1, 3, 0.5), (slice(3),)):
    same(gnp.mgrid[key], np.mgrid[key])
    got, want = gnp.ogrid[key], np.ogrid[key]
    same(list(got) if isinstance(want, tuple) else got,
         list(want) if isinstance(want, tuple) else want)
  for key in ((1, 2, slice(3, 5)), slice(0, 1, 3j), ("0,2", a, a),
              ("1,2,0", a, a), ("0,3", 1, 2), (1.5, a), ("-1", [[1, 2]], [[3, 4]]),
              slice(5, 0, -1), (a, 0, slice(1, 2, 2j)), 3, ("0,2,-1", a)):
    same(gnp.r_[key], np.asarray(np.r_[key]))
  same(gnp.r_["r", a], np.array([[1, 2]]))
  same(gnp.r_["c", a], np.array([[1], [2]]))
  for key in ((a, a), (1, 2), (slice(1, 3), a), (np.ones((1, 2)), np.ones((1, 2)))):
    same(gnp.c_[key], np.asarray(np.c_[key]))
  assert gnp.s_[1:2] == slice(1, 2)
  assert gnp.index_exp[1:2] == (slice(1, 2),)
  assert repr(gnp.mgrid) == "mgrid"
  with pytest.raises(ValueError, match="directive 'a'"):
    gnp.r_["a", 1]
  with pytest.raises(TypeError, match="slices"):
    gnp.mgrid[3]


def test_ix() -> None:
  for args in ((np.array([0, 2]), np.array([1, 3])),
               (np.array([True, False, True]), np.array([1]))):
    same(gnp.ix_(*args), np.ix_(*args))
    same(gnp.asarray(X[0])[gnp.ix_(*args)], X[0][np.ix_(*args)])
  with pytest.raises(ValueError, match="1-dimensional"):
    gnp.ix_(X)


def test_numbers_of_elements() -> None:
  shape = (3, 4, 2)
  at = np.array([[0, 5], [23, 11]])
  same(gnp.unravel_index(at, shape), np.unravel_index(at, shape))
  same(gnp.unravel_index(at.astype("uint8"), shape), np.unravel_index(at, shape))
  same(gnp.unravel_index(5, 7), (np.asarray(5),))
  same(gnomon.jit(lambda i: gnp.unravel_index(i, shape))(np.array([-1, 99, -99])),
       (np.array([2, 2, 0]), np.array([3, 3, 0]), np.array([1, 1, 0])))
  i = np.unravel_index(at, shape)
  for order in ("C", "F"):
    want = np.ravel_multi_index(i, shape, order=order)
    same(gnp.ravel_multi_index(i, shape, order=order), want)
    far = tuple([v * 5 - 3 for v in i])
    for mode in ("wrap", "clip", ("wrap", "clip", "wrap")):
      f = gnomon.jit(lambda i, m=mode, o=order: gnp.ravel_multi_index(i, shape, m, o))
      same(f(far), np.ravel_multi_index(far, shape, mode, order))
  assert gnp.ravel_multi_index((1, 2), (3, 4), dtype="int8").dtype == np.int8
  for args, kwargs in (((([5], [0]), (3, 4)), {}), (((1, 2), (3,)), {}),
                       (((1.0, 2), (3, 4)), {}), (((1, 2), (3, 4)), {"order": "X"}),
                       (((1, 2), (3, 4)), {"mode": "far"})):
    args = (tuple([np.asarray(v) for v in args[0]]), args[1])
    with pytest.raises(ValueError, match="ravel_multi_index"):
      gnp.ravel_multi_index(*args, **kwargs)
  with pytest.raises(TypeError, match="integers"):
    gnp.unravel_index(1.5, (3,))


def test_vander() -> None:
  for x in (np.array([2, 0, -3]), np.array([1.5, 0, -2]), np.array([1j, 2]), np.zeros(0)):
    for kwargs in ({}, {"N": 2}, {"N": 5, "increasing": True}, {"N": 0}):
      np.testing.assert_allclose(gnp.vander(x, **kwargs), np.vander(x, **kwargs),
          rtol=1e-5)
  grad = gnomon.grad(lambda x: (gnp.vander(x, 3) * np.array([1.0, 10, 100])).sum())(
      np.array([0.0, 2]))
  same(grad, np.array([10, 14]))
  for args in ((X,), (X[0, 0], -1)):
    with pytest.raises(ValueError, match="vander"):
      gnp.vander(*args)
