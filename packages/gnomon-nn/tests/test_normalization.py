"""Softmax and its relatives, standardizing, one-hot vectors, against SciPy and NumPy."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
import scipy.special

import gnomon
import gnomon.numpy as gnp
from gnomon import nn
from gnomon.testing import assert_close, check_grads, check_vmap

INF = math.inf
RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 4, 5)).astype(np.float32)
MASK = RNG.uniform(size=(3, 4, 5)) < 0.6
MASK[0, 0, :2] = True
AXES = (-1, 0, (0, 2), None)


def masked(x, mask):
  return np.where(mask, x.astype(float), -INF)


@pytest.mark.parametrize("axis", AXES)
def test_softmax(axis):
  assert_close(nn.softmax(X, axis), scipy.special.softmax(X, axis))
  assert_close(nn.log_softmax(X, axis), scipy.special.log_softmax(X, axis), atol=1e-5)
  with np.errstate(invalid="ignore", divide="ignore"):
    p = np.nan_to_num(scipy.special.softmax(masked(X, MASK), axis))
    log = np.log(p)
  assert_close(nn.softmax(X, axis, where=MASK), p.astype(np.float32))
  assert_close(nn.log_softmax(X, axis, where=MASK), log.astype(np.float32), atol=1e-5)


@pytest.mark.parametrize("axis", AXES)
def test_logsumexp(axis):
  for keep in (False, True):
    want = scipy.special.logsumexp(X.astype(float), axis, keepdims=keep)
    assert_close(nn.logsumexp(X, axis, keepdims=keep), want.astype(np.float32))
    with np.errstate(divide="ignore"):
      total = np.sum(np.exp(X.astype(float)), axis, keepdims=keep, where=MASK)
      count = np.sum(MASK, axis, keepdims=keep)
      want = np.log(total / np.where(count, count, np.nan))
    got = nn.logmeanexp(X, axis, where=MASK, keepdims=keep)
    assert_close(got, want.astype(np.float32), atol=1e-5)
  b = RNG.normal(size=X.shape).astype(np.float32)
  want, sign = scipy.special.logsumexp(X.astype(float), axis, b, return_sign=True)
  got = nn.logsumexp(X, axis, b, return_sign=True)
  assert_close(got, (want.astype(np.float32), sign.astype(np.float32)), atol=1e-4)


def test_logsumexp_at_the_ends():
  def f(x, **kwargs):
    return nn.logsumexp(gnp.array(x), **kwargs).item()

  assert f([-INF, -INF]) == -INF
  assert f([INF, 1.0]) == INF
  assert math.isnan(f([INF, math.nan]))
  assert f([]) == -INF
  assert f([-1e38, 1e38]) == pytest.approx(1e38)
  assert f([INF, 2.0], b=gnp.array([0.0, 1.0])) == 2.0  # takes no part
  assert math.isnan(f([1.0, 3.0], b=gnp.array([1.0, -1.0])))
  assert f([1.0, 2.0], where=gnp.array([False, False])) == -INF
  assert f(3) == pytest.approx(3.0)
  assert nn.logsumexp(np.ones(3, np.float16)).dtype == np.float16
  z = np.array([1 + 2j, 3j, -1j], np.complex64)
  assert nn.logsumexp(z).item() == pytest.approx(np.log(np.exp(z).sum()), rel=1e-5)
  size, unit = nn.logsumexp(z, return_sign=True)
  total = np.exp(z).sum()
  assert size.item() == pytest.approx(np.log(abs(total)), rel=1e-5)
  assert unit.item() == pytest.approx(total / abs(total), rel=1e-5)


def test_large_arguments():
  x = np.array([1e30, -1e30, 1e30], np.float32)
  assert nn.softmax(x).tolist() == [0.5, 0, 0.5]
  assert nn.log_softmax(x)[1] == pytest.approx(-2e30)
  for f in (nn.softmax, nn.log_softmax):
    assert np.isnan(f(gnp.array([INF, 1.0]))).all()
    one = [0, 1] if f is nn.softmax else [-INF, 0]
    assert f(gnp.array([-INF, 1.0])).tolist() == one
    slope = gnomon.grad(lambda x, f=f: f(x, where=x < 1000)[0])(gnp.array([36.0, 1e4]))
    assert slope.tolist() == [0, 0]
    nothing = f(x, where=np.zeros(3, bool))
    assert nothing.tolist() == [0 if f is nn.softmax else -INF] * 3
    assert f(gnp.zeros((2, 0))).shape == (2, 0)
    assert_close(f(np.array([1, 250], np.uint8)), f(gnp.array([1.0, 250.0])))


@pytest.mark.parametrize("option", [False, True])
def test_softmax_derivatives(option):
  x, mask = X[0, :2], MASK[0, :2]
  with gnomon.softmax_custom_jvp(option):
    f = gnomon.jit(lambda x: nn.softmax(x, where=mask))
    check_grads(f, (x,), 2, ("fwd",), eps=1e-2, rtol=5e-3)
    _, pull_back = gnomon.vjp(nn.softmax, x)
    kept = sum(np.size(r) for r in gnomon.tree_util.tree_leaves(pull_back))
    assert kept == x.size if option else kept > x.size


def test_other_derivatives():
  x, b, mask = X[0, :2], X[1, :2], MASK[0, :2]
  check_grads(nn.log_softmax, (x,), 1, eps=1e-2)
  check_grads(lambda x: nn.logmeanexp(x, -1, mask), (x,), 1, eps=1e-2)
  check_grads(lambda x, b: nn.logsumexp(x, 0, b), (x, np.abs(b) + 0.1), 1, eps=1e-3)
  check_grads(
    lambda x, e: nn.standardize(x, epsilon=e, where=mask), (x, np.float32(0.4)), 2,
    ("fwd",), eps=3e-3, rtol=2e-2, atol=1e-2)
  check_grads(lambda x, m, v: nn.standardize(x, mean=m, variance=v),
              (x, x[:, :1], np.float32(2.0)), 1, eps=1e-2)


def standardized(x, axis, epsilon=1e-5, where=True):
  mean = np.mean(x, axis, keepdims=True, where=where)
  var = np.var(x, axis, keepdims=True, where=where)
  return (x - mean) / np.sqrt(var + epsilon)


@pytest.mark.parametrize("axis", AXES)
def test_standardize(axis):
  x = X.astype(float)
  some = np.array(MASK)
  some[:, :, 0] = some[0] = True
  assert_close(nn.standardize(X, axis), standardized(x, axis), atol=1e-5)
  got = nn.standardize(X, axis, epsilon=0.1, where=some)
  assert_close(got, standardized(x, axis, 0.1, some), atol=1e-5)


def test_standardize_far_from_zero():
  for algorithm in ("fast", "stable"):
    got = nn.standardize(gnp.array([1e6, 1e6 + 1, 1e6 + 2]), algorithm=algorithm)
    assert_close(got, np.array([-1.5**0.5, 0, 1.5**0.5]), atol=1e-4)
    same = nn.standardize(gnp.full(3, -11.0) + 3e-6, algorithm=algorithm)
    assert np.abs(same).max() < 1e-3
  got = nn.standardize(np.array([0, 100, 200], np.float16))  # squares are above 65504
  assert_close(got, np.array([-1.5**0.5, 0, 1.5**0.5], np.float16), atol=1e-3)


def test_standardize_with_given_moments():
  x = np.array([0.0, 1.0, 2.0], np.float32)
  assert_close(nn.standardize(x, mean=1.0, variance=4.0, epsilon=0.0), (x - 1) / 2)
  stable = nn.standardize(x, mean=0.5, epsilon=0.0, algorithm="stable")
  assert_close(stable, (x - 0.5) / np.sqrt(np.mean((x - 0.5) ** 2)))
  fast = nn.standardize(x, mean=0.5, epsilon=0.0)
  assert_close(fast, (x - 0.5) / np.sqrt(np.mean(x**2) - 0.25))
  assert_close(nn.standardize(x, variance=4.0, epsilon=0.0), (x - 1) / 2)


def test_standardize_keeps_little():
  x = gnp.array(X)
  _, pull_back = gnomon.vjp(nn.standardize, x)
  sizes = [np.size(r) for r in gnomon.tree_util.tree_leaves(pull_back)]
  assert sizes.count(X.size) == 1
  assert all(n in (X.size, X.size // 5, 1) for n in sizes)


def test_dtypes_and_maps():
  for f in (nn.softmax, nn.log_softmax, nn.standardize, nn.logsumexp, nn.logmeanexp):
    x = X[0].astype(ml_dtypes.bfloat16)
    got = f(x)
    assert got.dtype == x.dtype
    wide = np.asarray(f(x.astype(np.float32)))
    np.testing.assert_allclose(got.astype(np.float32), wide, 2e-2, 2e-2)
    assert f(np.array([1, 2, 5])).dtype == np.float32
  check_vmap(lambda x, m: nn.softmax(x, where=m), (X, MASK), 1, 1)
  check_vmap(nn.standardize, (X,), 2, 1)


@pytest.mark.parametrize(("call", "error", "message"), [
  (lambda: nn.softmax(X, 3), ValueError, "axis 3 is out of bounds"),
  (lambda: nn.softmax(X, (0, 0)), ValueError, "duplicate"),
  (lambda: nn.log_softmax(X, where=X), ValueError, "boolean"),
  (lambda: nn.logsumexp(X, 5), ValueError, "out of bounds"),
  (lambda: nn.logsumexp(X, b=X[:, :, :2]), ValueError, "shapes"),
  (lambda: nn.logsumexp([1.0]), TypeError, "list"),
  (lambda: nn.standardize(X + 1j), ValueError, "must be real"),
  (lambda: nn.standardize(X, algorithm="slow"), ValueError, "'fast' or 'stable'"),
  (lambda: nn.one_hot(gnp.arange(2), -1), ValueError, "must not be negative"),
  (lambda: nn.one_hot(gnp.arange(2), 2.0), TypeError, "integer"),
  (lambda: nn.one_hot(True, 2), TypeError, "booleans"),
  (lambda: nn.one_hot(gnp.arange(2), 2, axis=2), ValueError, "out of bounds"),
  (lambda: gnomon.jit(nn.one_hot)(3, 5), gnomon.errors.ConcretizationTypeError,
   "argument `num_classes`"),
])
def test_errors(call, error, message):
  with pytest.raises(error, match=message):
    call()


def test_one_hot():
  x = np.array([[1, 0, -1], [4, 3, 2]])
  want = (x[..., None] == np.arange(4)).astype(np.float32)
  for axis in (-1, 0, 1, -3):
    assert_close(nn.one_hot(x, 4, axis=axis), np.moveaxis(want, -1, axis))
  assert nn.one_hot([0, 1], 2, dtype=bool).tolist() == [[True, False], [False, True]]
  assert nn.one_hot(x, 0).shape == (2, 3, 0)
  narrow = nn.one_hot(np.array([0, 200], np.uint8), 300)
  assert narrow.argmax(-1).tolist() == [0, 200]
  assert narrow.sum() == 2
  with pytest.warns(DeprecationWarning, match="integer-typed"):
    assert nn.one_hot(gnp.array([1.0]), 2).tolist() == [[0, 1]]


def test_one_hot_over_a_named_axis():
  f = gnomon.vmap(lambda x: nn.one_hot(x, 3, axis="i"), axis_name="i")
  assert f(gnp.array([0, 2, 2])).tolist() == [1, 0, 1]
  with pytest.raises(ValueError, match="num_classes = 3"):
    f(gnp.arange(4))
