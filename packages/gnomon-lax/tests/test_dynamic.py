"""Slices at computed places against NumPy's, with starts clipped by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.testing import assert_close, check_grads, check_vmap, check_vmap_axes

INTS = ["int8", "int16", "int32", "uint8", "uint16", "uint32"]


def _place(starts: Any, sizes: Any, shape: Any) -> Any:
  starts = [
      min(max(int(i), 0), n - m) for i, m, n in zip(starts, sizes, shape, strict=True)]
  return tuple(slice(i, i + m) for i, m in zip(starts, sizes, strict=True))


def _update(x: Any, u: Any, starts: Any) -> Any:
  out = np.array(x)
  out[_place(starts, u.shape, x.shape)] = u
  return out


STARTS = [(0, 0), (1, 2), (2, 1), (9, 9), (-7, 1), (100, -100)]


def test_values_clip() -> None:
  x = np.arange(20.0, dtype="float32").reshape(5, 4)
  u = -np.ones((3, 2), "float32")

  @gnomon.jit
  def f(x: Any, u: Any, i: Any, j: Any) -> Any:
    return (lax.dynamic_slice(x, (i, j), (3, 2), allow_negative_indices=False),
            lax.dynamic_update_slice(x, u, (i, j), allow_negative_indices=False))

  for i, j in STARTS:
    expected = x[_place((i, j), (3, 2), x.shape)], _update(x, u, (i, j))
    assert_close(f(x, u, np.int32(i), np.int32(j)), expected, check_dtypes=True)
    array = np.int32([i, j])
    assert_close(
        (lax.dynamic_slice(x, array, (3, 2), allow_negative_indices=False),
         lax.dynamic_update_slice(x, u, array, allow_negative_indices=False)),
        expected, check_dtypes=True)


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex64", "bfloat16"])
def test_dtypes_of_elements(dtype: Any) -> None:
  kind = gnomon.dtypes.bfloat16 if dtype == "bfloat16" else dtype
  x = np.arange(6).reshape(2, 3).astype(kind)
  got = (lax.dynamic_slice(x, (0, 1), (2, 1)), lax.dynamic_update_slice(x, x[:1], (1, 0)))
  assert_close(got, (x[:, 1:2], _update(x, x[:1], (1, 0))), check_dtypes=True)


@pytest.mark.parametrize("wide", [False, True])
def test_every_index_dtype_clips_exactly(wide: Any) -> None:
  """Also where the operand is longer than the index dtype can count."""
  x = np.arange(300, dtype="int32")
  with gnomon.enable_x64(wide):
    for dtype in INTS + ["int64", "uint64"] * wide:
      info = np.iinfo(dtype)
      values = sorted({info.min, 0, 1, info.max // 2, info.max - 1, info.max})
      indices = np.asarray(values, dtype)

      @gnomon.jit
      def f(i: Any) -> Any:
        return (lax.dynamic_slice(x, (i,), (4,), allow_negative_indices=False),
                lax.dynamic_update_slice(x, x[:4], (i,), allow_negative_indices=False))

      for i in indices:
        assert_close(f(i), (x[_place((i,), (4,), x.shape)], _update(x, x[:4], (i,))))
      got = gnomon.vmap(f)(indices)
      expected = [x[_place((i,), (4,), x.shape)] for i in values]
      assert_close(got[0], np.stack(expected), message=dtype)
      expected = [_update(x, x[:4], (i,)) for i in values]
      assert_close(got[1], np.stack(expected), message=dtype)


def test_negative_indices_count_from_the_end() -> None:
  x = np.arange(300, dtype="int32")

  @gnomon.jit
  def f(i: Any) -> Any:
    return lax.dynamic_slice_in_dim(x, i, 2), lax.dynamic_index_in_dim(x, i, 0, False)

  for i in (np.int8(-1), np.int8(-128), np.int32(-300), np.int16(-2), np.int8(5)):
    assert_close(f(i), (x[_place((int(i) % 300,), (2,), x.shape)], x[i]))
  # static indices become constants, wide enough whatever the dtype of their neighbours
  y = np.arange(1200, dtype="int32").reshape(300, 4)
  assert_close(lax.dynamic_slice(y, (-1, np.int8(-2)), (1, 1)), y[-1:, -2:-1])
  assert_close(lax.dynamic_slice(y, (290, np.uint8(1)), (1, 1)), y[290:291, 1:2])
  jaxpr = gnomon.make_jaxpr(lambda y, i: lax.dynamic_slice(y, (-1, i), (1, 1)))(y, 1)
  assert [e.primitive.name for e in jaxpr.eqns] == [
      "lt", "convert_element_type", "add", "select_n", "dynamic_slice"]
  each = gnomon.make_jaxpr(lambda y, i, j: lax.dynamic_slice(
      y, (i, j), (1, 1), allow_negative_indices=(False, True)))(
          y, np.int32(1), np.int32(1))
  assert [e.primitive.name for e in each.eqns] == [
      "lt", "add", "select_n", "dynamic_slice"]


def test_one_dimension() -> None:
  x = np.arange(24.0, dtype="float32").reshape(2, 3, 4)
  assert_close(lax.dynamic_slice_in_dim(x, np.int32(1), 2, -1), x[:, :, 1:3])
  assert_close(lax.dynamic_index_in_dim(x, np.int32(2), 1), x[:, 2:3])
  assert_close(lax.dynamic_index_in_dim(x, -1, 1, keepdims=False), x[:, -1])
  expected = np.array(x)
  expected[:, 1:3] = 7
  update = np.full((2, 2, 4), 7, "float32")
  assert_close(lax.dynamic_update_slice_in_dim(x, update, np.int32(1), -2), expected)
  expected = np.array(x)
  expected[:, :, 3] = 5
  for update in (np.full((2, 3), 5, "float32"), np.full((2, 3, 1), 5, "float32")):
    assert_close(lax.dynamic_update_index_in_dim(x, update, np.int32(-1), 2), expected)
  got = lax.dynamic_update_index_in_dim(x[0, 0], 9, 1, 0)
  assert_close(got, np.float32([0, 9, 2, 3]))


def test_empty_slices() -> None:
  x = np.arange(6, dtype="int32").reshape(2, 3)

  @gnomon.jit
  def f(i: Any) -> Any:
    empty = lax.dynamic_slice(x, (i, i), (2, 0))
    return empty, lax.dynamic_update_slice(x, empty, (i, i)), lax.dynamic_slice(
        x[:0], (i, i), (0, 2))

  expected = np.zeros((2, 0), "int32"), x, np.zeros((0, 2), "int32")
  assert_close(f(np.int32(1)), expected, check_dtypes=True)
  assert_close(gnomon.vmap(f)(np.int32([1, 5])),
               tuple(np.stack([e, e]) for e in expected), check_dtypes=True)
  assert_close(lax.dynamic_slice(np.float32(3), (), ()), np.float32(3))
  assert_close(lax.dynamic_update_slice(np.float32(3), 4, ()), np.float32(4))


def _both(x: Any, u: Any, i: Any, j: Any) -> Any:
  return (lax.dynamic_slice(x, (i, j), (3, 4), allow_negative_indices=False),
          lax.dynamic_update_slice(x, u, (i, j), allow_negative_indices=False))


def test_batching_over_every_combination() -> None:
  rng = np.random.default_rng(0)
  examples = [
      (np.float32(rng.normal(size=(5, 4))), np.float32(rng.normal(size=(2, 3))),
       np.int32(i), np.int32(j)) for i, j in ((0, 3), (2, -1), (9, 1))]
  check_vmap_axes(_both, examples, limit=12)
  # mapped twice
  xs, us, i, j = (np.stack([e[k] for e in examples]) for k in range(4))
  twice = gnomon.vmap(gnomon.vmap(_both, (0, None, 0, None)), (None, 0, None, 0))(
      xs, us, i, j)
  for a in range(3):
    for b in range(3):
      expected = list(_both(xs[b], us[a], i[b], j[a]))
      assert_close([np.asarray(t)[a, b] for t in twice], expected)


def test_batching_over_nothing() -> None:
  x = np.zeros((0, 5, 4), "float32")
  got = gnomon.vmap(_both)(x, np.zeros((0, 2, 3), "float32"), np.zeros(0, "int32"),
                           np.zeros(0, "int32"))
  assert [g.shape for g in got] == [(0, 3, 4), (0, 5, 4)]


def test_derivatives() -> None:
  rng = np.random.default_rng(0)
  x, u = rng.normal(size=(5, 4)), rng.normal(size=(2, 3))

  def f(x: Any, u: Any) -> Any:
    parts = [_both(x, u, i, j) for i, j in ((0, 1), (3, 0), (9, 9))]
    return [lax.mul(y, y) for pair in parts for y in pair]

  with gnomon.enable_x64(True):
    check_grads(gnomon.jit(f), (x, u), 2)
    gradient = gnomon.grad(lambda x, i: lax.reduce_sum(
        lax.square(_both(x, u, i, i)[0]), (0, 1)))
    check_vmap(gradient, (np.stack([x, 2 * x]), np.int32([0, 2])))
    # one of the two held fixed
    check_grads(lambda x: f(x, u), (x,), 1)
    check_grads(lambda u: f(x, u), (u,), 1)


X = np.zeros((5, 4), "float32")
slice_of, updated = lax.dynamic_slice, lax.dynamic_update_slice


@pytest.mark.parametrize(("call", "error", "match"), [
    (lambda: slice_of(X, (0,), (1, 1)), ValueError, "one start index a dimension"),
    (lambda: slice_of(X, (0, 0), (1,)), ValueError, "one entry of slice_sizes"),
    (lambda: slice_of(X, (0, 0), (6, 1)), TypeError, r"got \(6, 1\)"),
    (lambda: slice_of(X, (0, 0), (1, -1)), TypeError, r"got \(1, -1\)"),
    (lambda: slice_of(X, (0, 0.0), (1, 1)), TypeError, "integers of the same type"),
    (lambda: slice_of(X, (np.int8(0), np.int32(0)), (1, 1)), TypeError, "int8, int32"),
    (lambda: slice_of(X, (0, True), (1, 1)), TypeError, "integers of the same type"),
    (lambda: slice_of(X, (0, np.zeros(1, "int32")), (1, 1)), TypeError, "scalar"),
    (lambda: slice_of(X, np.zeros((1, 2), "int32"), (1, 1)), ValueError, "1-d array"),
    (lambda: slice_of(X, (0, -1), (1, 1), allow_negative_indices=False),
     ValueError, "index -1 is negative"),
    (lambda: slice_of(X, (0, 0), (1, 1), allow_negative_indices=(True,)),
     ValueError, "allow_negative_indices"),
    (lambda: updated(X, np.zeros((1, 1), "int32"), (0, 0)), TypeError, "dtype"),
    (lambda: updated(X, X[0], (0, 0)), TypeError, "rank"),
    (lambda: updated(X, np.zeros((1, 5), "float32"), (0, 0)), TypeError,
     "no larger"),
    (lambda: lax.dynamic_update_index_in_dim(X, np.float32(1), 0, 0), TypeError,
     "one dimension less"),
    (lambda: lax.dynamic_index_in_dim(X, 0, 2), ValueError, "axis 2"),
])
def test_errors(call: Any, error: Any, match: Any) -> None:
  with pytest.raises(error, match=match):
    call()
