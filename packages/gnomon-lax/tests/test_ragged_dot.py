"""`ragged_dot_general` against loops over groups; `scaled_dot` against its definition."""

from __future__ import annotations

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.test_util import check_grads

rng = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _x64():
  with gnomon.enable_x64(True):
    yield


def floats(*shape):
  return rng.uniform(-1, 1, shape)


def numbers(contract, batch, ragged, group):
  return lax.RaggedDotDimensionNumbers((contract, batch), [ragged], group)


SIZES = np.array([2, 0, 3], np.int32)
SPILLS = np.array([2, 1, 9], np.int32)  # more rows than there are
EACH = np.array([[1, 2, 2], [3, 0, 1]], np.int32)  # for two batches


def by_rows(x, y, sizes):
  out = np.zeros((x.shape[0], y.shape[-1]))
  begin = 0
  for matrix, size in zip(y, sizes):
    out[begin:begin + size] = x[begin:begin + size] @ matrix
    begin += size
  return out


def by_sums(x, y, sizes):
  ends = np.cumsum(sizes)
  return np.stack([
      x[end - size:end].T @ y[end - size:end] for end, size in zip(ends, sizes)])


def stacked(f):
  return lambda x, y, sizes: np.stack([
      f(a, b, sizes if sizes.ndim == 1 else s)
      for a, b, s in zip(x, y, sizes if sizes.ndim == 2 else [None] * len(x))])


# name: dimension numbers, shapes of the operands, group sizes, reference
CASES = {
    "rows": (
        numbers(((1,), (1,)), ((), ()), 0, [0]), (5, 2), (3, 2, 4), SIZES, by_rows),
    "rows spilling": (
        numbers(((1,), (1,)), ((), ()), 0, [0]), (5, 2), (3, 2, 4), SPILLS, by_rows),
    "columns": (
        numbers(((0,), (2,)), ((), ()), 1, [1]), (2, 5), (4, 3, 2), SIZES,
        lambda x, y, s: by_rows(x.T, y.transpose(1, 2, 0), s)),
    "batches": (
        numbers(((2,), (2,)), ((0,), (1,)), 1, [0]), (2, 5, 2), (3, 2, 2, 4), SIZES,
        lambda x, y, s: stacked(by_rows)(x, y.swapaxes(0, 1), s)),
    "batches each": (
        numbers(((2,), (2,)), ((0,), (1,)), 1, [0]), (2, 5, 2), (3, 2, 2, 4), EACH,
        lambda x, y, s: stacked(by_rows)(x, y.swapaxes(0, 1), s)),
    "outer rows": (
        numbers(((2,), (1,)), ((), ()), 1, [0]), (2, 5, 2), (3, 2, 4), EACH,
        lambda x, y, s: stacked(by_rows)(x, np.stack([y, y]), s)),
    "sums": (
        numbers(((0,), (0,)), ((), ()), 0, []), (5, 2), (5, 4), SIZES, by_sums),
    "sums in batches": (
        numbers(((1,), (1,)), ((0,), (0,)), 1, []), (2, 5, 2), (2, 5, 4), EACH,
        lambda x, y, s: stacked(by_sums)(x, y, s).swapaxes(0, 1)),
    "sums over two": (
        numbers(((0, 1), (0, 1)), ((), ()), 1, []), (2, 5, 2), (2, 5, 4), EACH,
        lambda x, y, s: stacked(by_sums)(x, y, s).sum(0)),
    "pairs": (
        numbers(((2,), (1,)), ((0,), (0,)), 0, []), (5, 2, 3), (5, 3, 4), SIZES,
        lambda x, y, s: x @ y),
}


@pytest.mark.parametrize("name", CASES)
def test_ragged_dot_general(name):
  dims, x_shape, y_shape, sizes, reference = CASES[name]
  x, y = floats(*x_shape), floats(*y_shape)

  def f(x, y, sizes=sizes):
    return lax.ragged_dot_general(x, y, sizes, dims)

  np.testing.assert_allclose(np.asarray(f(x, y)), reference(x, y, sizes), rtol=1e-12,
                             atol=1e-14)
  order = 2 if name in ("rows", "sums") else 1
  check_grads(gnomon.jit(f), (x, y), order=order, modes=("fwd", "rev"))
  many = floats(*x_shape, 3), floats(*y_shape, 3)
  other = np.stack([sizes, np.roll(sizes, 1, -1), np.zeros_like(sizes)])
  for axes, args in (
      ((-1, -1, 0), (*many, other)), ((-1, None, None), (many[0], y, sizes)),
      ((None, -1, None), (x, many[1], sizes)), ((None, None, 0), (x, y, other))):
    expected = np.stack([
        reference(*(v if a is None else np.take(v, i, a) for v, a in zip(args, axes)))
        for i in range(3)])
    got = gnomon.jit(gnomon.vmap(f, axes))(*args)
    np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-12, atol=1e-14)
  twice = gnomon.jit(gnomon.vmap(gnomon.vmap(f, (None, -1, 0)), (-1, None, None)))
  np.testing.assert_allclose(
      np.asarray(twice(many[0], many[1], other)),
      [[reference(many[0][..., i], many[1][..., j], other[j]) for j in range(3)]
       for i in range(3)], rtol=1e-12, atol=1e-14)


def test_ragged_dot():
  x, y = floats(5, 2), floats(3, 2, 4)
  out = lax.ragged_dot(x, y, SIZES)
  np.testing.assert_allclose(np.asarray(out), by_rows(x, y, SIZES))
  half = lax.ragged_dot(
      x.astype(gnomon.dtypes.bfloat16), y.astype(gnomon.dtypes.bfloat16), SIZES,
      preferred_element_type=np.float32)
  assert half.dtype == np.float32
  assert lax.ragged_dot(np.int8([[2]]), np.int8([[[3]]]), np.int32([1])).dtype == np.int8
  text = str(gnomon.make_jaxpr(lax.ragged_dot)(x, y, SIZES))
  assert "lhs_ragged_dimensions=(0,), rhs_group_dimensions=(0,))" in text
  grads = gnomon.make_jaxpr(gnomon.grad(
      lambda x, y: lax.reduce_sum(lax.ragged_dot(x, y, SIZES), (0, 1)), (0, 1)))(x, y)
  assert [e.primitive.name for e in grads.eqns].count("ragged_dot_general") == 3


def test_dimension_numbers_compare_by_value():
  one, other = (numbers(((1,), (1,)), ((), ()), 0, [g]) for g in (0, 2))
  assert one == numbers(([1], [1]), ([], []), 0, [0])
  assert hash(one) == hash(numbers(([1], [1]), ([], []), 0, [0]))
  assert one != other
  assert repr(one) == (
      "RaggedDotDimensionNumbers(dot_dimension_numbers=(((1,), (1,)), ((), ())), "
      "lhs_ragged_dimensions=(0,), rhs_group_dimensions=(0,))")


X, Y = np.ones((5, 2)), np.ones((3, 2, 4))
WIDE = np.ones((2, 8))
PLAIN = (((1,), (1,)), ((), ()))
ERRORS = {
    "rank": (lambda: lax.ragged_dot(X, Y[0], SIZES), TypeError, "group dimension"),
    "float": (
        lambda: lax.ragged_dot(X, Y, np.ones(3)), TypeError, "subtype of np.integer"),
    "groups": (
        lambda: lax.ragged_dot(X, Y, np.ones(2, int)), TypeError,
        "group dimension size to be 2, got 3"),
    "sizes": (
        lambda: lax.ragged_dot(X, Y, np.ones((2, 3), int)), TypeError,
        r"expected group_sizes to have shape \(3,\), got \(2, 3\)"),
    "ragged": (
        lambda: lax.ragged_dot_general(
            X, Y, SIZES, lax.RaggedDotDimensionNumbers(PLAIN, [9], [0])), TypeError,
        "got 9 for lhs of rank 2"),
    "two": (
        lambda: lax.ragged_dot_general(
            X, Y, SIZES, lax.RaggedDotDimensionNumbers(PLAIN, [0, 1], [0])), TypeError,
        "exactly one lhs ragged"),
    "none": (
        lambda: lax.ragged_dot_general(
            X, Y, SIZES, lax.RaggedDotDimensionNumbers(PLAIN, [0], [])), TypeError,
        "exactly one rhs group"),
    "zero": (
        lambda: lax.ragged_dot_general(
            X, Y, SIZES, lax.RaggedDotDimensionNumbers(PLAIN, [1], [0])), TypeError,
        "zero group dimensions"),
    "offset": (
        lambda: lax.ragged_dot(X, Y, SIZES, group_offset=np.zeros(1, int)),
        NotImplementedError, "group_offset"),
    "scaled rank": (lambda: lax.scaled_dot(X[0], X[0]), TypeError, "0-rank and 1-rank"),
    "scale": (
        lambda: lax.scaled_dot(WIDE, WIDE.T, lhs_scale=np.ones((2, 3))),
        TypeError, "LHS contracting dim 1 of size 8 must be divisible"),
    "ratio": (
        lambda: lax.scaled_dot(WIDE, WIDE.T, rhs_scale=np.ones((8, 2))),
        TypeError, "ratio of RHS contracting dim 0"),
    "free": (
        lambda: lax.scaled_dot(WIDE, WIDE.T, rhs_scale=np.ones((4, 1))),
        TypeError, "RHS non-contracting dim 1"),
}


@pytest.mark.parametrize("case", ERRORS.values(), ids=ERRORS)
def test_errors(case):
  f, error, message = case
  with pytest.raises(error, match=message):
    f()


@pytest.mark.parametrize("batch", [(), (3,)])
def test_scaled_dot(batch):
  x, y = floats(*batch, 2, 8), floats(*batch, 8, 5)
  sx, sy = floats(*batch, 2, 4), floats(*batch, 2, 5)
  expected = (x * np.repeat(sx, 2, -1)) @ (y * np.repeat(sy, 4, -2))

  def f(x, y, sx, sy):
    return lax.scaled_dot(
        x, y, lhs_scale=sx, rhs_scale=sy, preferred_element_type=np.float64)

  np.testing.assert_allclose(np.asarray(f(x, y, sx, sy)), expected, rtol=1e-12)
  check_grads(gnomon.jit(f), (x, y, sx, sy), order=1, modes=("fwd", "rev"))
  xs = floats(3, *x.shape)
  np.testing.assert_allclose(
      np.asarray(gnomon.vmap(f, (0, None, None, None))(xs, y, sx, sy)),
      [np.asarray(f(v, y, sx, sy)) for v in xs], rtol=1e-12)
  unscaled = lax.scaled_dot(x, y)
  assert unscaled.dtype == gnomon.dtypes.bfloat16
  np.testing.assert_allclose(np.asarray(unscaled, float), x @ y, rtol=0.1, atol=0.1)
  text = gnomon.jit(f).lower(x, y, sx, sy).as_text()
  assert 'stablehlo.composite "xla.scaled_dot"' in text


@pytest.mark.parametrize("sizes", [
    [100, 0, 7, 300, 93], [0, 0, 0, 0, 500], [1, 1, 1, 1, 1], [0, 900, 3, 4, 5],
    [0, 0, 0, 0, 0]], ids=str)
def test_rows_in_tiles(sizes):
  """Large products go tile by tile; rows that belong to no group may hold anything."""
  sizes = np.array(sizes, np.int32)
  x, y = floats(500, 60), floats(5, 60, 40)
  x[min(500, sizes.sum()):] = np.nan
  f = gnomon.jit(lax.ragged_dot)
  assert "stablehlo.while" in f.lower(x, y, sizes).as_text()
  np.testing.assert_allclose(
      np.asarray(f(x, y, sizes)), by_rows(x, y, sizes), rtol=1e-12, atol=1e-13)
  ct = floats(500, 40)
  back = gnomon.jit(lambda x, y: gnomon.vjp(
      lambda x, y: lax.ragged_dot(x, y, sizes), x, y)[1](ct))
  dx, dy = back(x, y)
  used = np.arange(500)[:, None] < sizes.sum()
  np.testing.assert_allclose(
      np.asarray(dx), by_rows(ct, y.transpose(0, 2, 1), sizes), rtol=1e-12, atol=1e-13)
  expected = by_sums(np.where(used, x, 0), np.where(used, ct, 0), np.minimum(
      sizes, np.maximum(0, 500 - np.cumsum(sizes) + sizes)))
  np.testing.assert_allclose(np.asarray(dy), expected, rtol=1e-12, atol=1e-13)
