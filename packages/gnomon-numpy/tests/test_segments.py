"""Reductions of segments, against a loop over the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp
from gnomon import ops

COMBINE: dict[str, Any] = {
    "segment_sum": np.add, "segment_prod": np.multiply, "segment_max": np.maximum,
    "segment_min": np.minimum}
NEUTRAL: dict[str, Any] = {
    "segment_sum": lambda t: 0, "segment_prod": lambda t: 1,
    "segment_max": lambda t: -np.inf if t.kind == "f" else np.iinfo(t).min,
    "segment_min": lambda t: np.inf if t.kind == "f" else np.iinfo(t).max}
IDS = np.array([2, 0, 0, 5, -1, 2, 7, 5])


def loop(name: str, data: Any, ids: Any, n: int) -> Any:
  out = np.full((n, *data.shape[1:]), NEUTRAL[name](data.dtype), data.dtype)
  for row, i in zip(data, ids):
    if 0 <= i < n:
      out[i] = COMBINE[name](out[i], row)
  return out


@pytest.mark.parametrize("name", COMBINE)
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8, np.int8])
@pytest.mark.parametrize("rest", [(), (3,), (0,)])
def test_a_segment_holds_its_rows(name: str, dtype: Any, rest: tuple[int, ...]) -> None:
  rng = np.random.default_rng(0)
  data = rng.integers(-3 if np.dtype(dtype).kind != "u" else 0, 9, (8, *rest))
  data = data.astype(dtype)
  fun = getattr(ops, name)
  want = loop(name, data, IDS, 6)
  for kwargs in ({}, {"bucket_size": 3}, {"bucket_size": 100}):
    got = fun(data, IDS, 6, **kwargs)
    assert got.dtype == data.dtype
    np.testing.assert_array_equal(got, want)
  jitted = gnomon.jit(fun, static_argnums=2)(data, IDS, 6)
  np.testing.assert_array_equal(jitted, want)
  batch = np.stack([data, data[::-1]])
  mapped = gnomon.vmap(lambda d, i: fun(d, i, 6), in_axes=(0, None))(batch, IDS)
  np.testing.assert_array_equal(mapped[1], loop(name, data[::-1], IDS, 6))
  ids = np.stack([IDS, IDS[::-1]])
  mapped = gnomon.vmap(lambda d, i: fun(d, i, 6), in_axes=(None, 0))(data, ids)
  np.testing.assert_array_equal(mapped[1], loop(name, data, IDS[::-1], 6))


def test_the_number_of_segments_is_one_more_than_the_largest() -> None:
  data = np.arange(4.0, dtype=np.float32)
  assert ops.segment_sum(data, np.array([0, 0, 3, -1])).tolist() == [1.0, 0.0, 0.0, 2.0]
  assert ops.segment_sum(data, np.array([0, 0, 3, -1]), 0).shape == (0,)


def test_numbers_out_of_range() -> None:
  data, ids = np.array([1, 2, 4]), np.array([0, 5, 5])
  assert ops.segment_sum(data, ids, 2).tolist() == [1, 0]
  assert ops.segment_sum(data, ids, 2, mode="clip").tolist() == [1, 6]


def test_booleans_have_a_largest_and_a_smallest() -> None:
  data, ids = np.array([True, False, False]), np.array([0, 0, 2])
  assert ops.segment_max(data, ids).tolist() == [True, False, False]
  assert ops.segment_min(data, ids).tolist() == [False, True, False]


def test_a_dtype_without_infinities_begins_at_its_ends() -> None:
  data = gnp.ones(1, gnp.float8_e4m3fn)
  got = ops.segment_max(data, np.array([1]))
  assert float(got[0]) == float(gnp.finfo(gnp.float8_e4m3fn).min)


@pytest.mark.parametrize("name", COMBINE)
def test_the_gradient_reaches_each_row(name: str) -> None:
  data = np.array([0.5, 2.0, -3.0, 1.5], np.float32)
  ids = np.array([1, 0, 1, 1])
  weights = np.array([3.0, 5.0], np.float32)
  def loss(d: Any) -> Any:
    return (getattr(ops, name)(d, ids, 2) * weights).sum()
  step, got = 1e-2, gnomon.grad(loss)(data)
  for i in range(4):
    e = np.eye(4, dtype=np.float32)[i] * step
    np.testing.assert_allclose(
        got[i], (loss(data + e) - loss(data - e)) / (2 * step), rtol=1e-3, atol=1e-3)


def test_what_is_recorded_is_one_scatter() -> None:
  jaxpr = gnomon.make_jaxpr(lambda d, i: ops.segment_sum(d, i, 5))(
      np.zeros(6, np.float32), np.zeros(6, np.int32))
  names = [eqn.primitive.name for eqn in jaxpr.eqns]
  assert names == ["broadcast_in_dim", "broadcast_in_dim", "scatter-add"]


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda d: ops.segment_sum(d, [0, 1]), TypeError, "position"),
    (lambda d: ops.segment_sum(d > 0, np.arange(2)), TypeError, "booleans"),
    (lambda d: ops.segment_prod(d > 0, np.arange(2)), TypeError, "booleans"),
    (lambda d: ops.segment_sum(d, d), TypeError, "segment_ids"),
    (lambda d: ops.segment_sum(d, np.arange(2), -1), ValueError, "num_segments"),
    (lambda d: ops.segment_sum(d, np.arange(3)), ValueError, "broadcast"),
    (lambda d: ops.segment_sum(d[:0], np.arange(0)), ValueError, "num_segments"),
    (lambda d: ops.segment_sum(d, np.arange(2), bucket_size=0), ValueError, "bucket"),
    (lambda d: gnomon.jit(ops.segment_sum)(d, np.arange(2)),
     gnomon.errors.ConcretizationTypeError, "num_segments")])
def test_arguments_that_are_wrong(call: Any, error: Any, text: str) -> None:
  with pytest.raises(error, match=text):
    call(gnp.ones(2))
