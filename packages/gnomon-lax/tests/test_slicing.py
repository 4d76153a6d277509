"""Static slices against NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.testing import assert_close, check_grads, check_vmap_axes

# start, limit, strides for a (5, 4) operand
CASES = [
    ((0, 0), (5, 4), None),
    ((1, 2), (4, 3), None),
    ((2, 0), (2, 4), None),
    ((5, 4), (5, 4), None),
    ((0, 1), (5, 4), (2, 3)),
    ((1, 0), (4, 4), (7, 1)),
    ((0, 0), (0, 0), (3, 3)),
    ((1, 1), (4, 4), (2, 2)),
]
DTYPES = ["float32", "int8", "uint32", "bool", "complex64", "bfloat16", "float16"]


def _operand(dtype: str) -> Any:
  kind = gnomon.dtypes.bfloat16 if dtype == "bfloat16" else dtype
  return (np.arange(20).reshape(5, 4) % 7 - 2).astype(kind)


def _numpy(x: Any, start: Any, limit: Any, strides: Any) -> Any:
  steps = strides or (1,) * x.ndim
  return x[tuple(slice(a, b, c) for a, b, c in zip(start, limit, steps, strict=True))]


@pytest.mark.parametrize("dtype", DTYPES)
def test_values(dtype: Any) -> None:
  x = _operand(dtype)
  expected = [_numpy(x, *case) for case in CASES]

  def f(x: Any) -> Any:
    return [lax.slice(x, *case) for case in CASES]

  assert_close(f(x), expected, check_dtypes=True)
  assert_close(gnomon.jit(f)(x), expected, check_dtypes=True)


def test_derivatives_and_batching() -> None:
  x = np.random.default_rng(0).normal(size=(5, 4))

  def f(x: Any) -> Any:
    return [lax.mul(y, y) for y in (lax.slice(x, *case) for case in CASES)]

  with gnomon.enable_x64(True):
    check_grads(gnomon.jit(f), (x,), 2)
    check_vmap_axes(f, [(x + i,) for i in range(3)])


def test_gradient_counts_how_often_an_element_is_taken() -> None:
  x = np.ones((5, 4), "float32")
  for case in CASES:
    expected = np.zeros_like(x)
    _numpy(expected, *case)[...] = 1
    got = gnomon.vjp(lambda x, case=case: lax.slice(x, *case), x)[1](
        np.ones_like(_numpy(x, *case)))[0]
    assert_close(got, expected)


def test_one_dimension() -> None:
  x = np.arange(24.0, dtype="float32").reshape(2, 3, 4)
  cases = [(None, None, 1, 0), (1, None, 2, 2), (-3, -1, 1, -1), (None, -2, 1, 1),
           (0, 4, 3, -1)]
  for start, limit, stride, axis in cases:
    index = [slice(None)] * 3
    index[axis] = slice(start, limit, stride)
    assert_close(lax.slice_in_dim(x, start, limit, stride, axis), x[tuple(index)])
  for i, axis, keep in [(0, 0, True), (-1, 1, False), (2, -1, False), (-4, 2, True)]:
    expected = np.take(x, [i] if keep else i, axis)
    assert_close(lax.index_in_dim(x, i, axis, keep), expected)


@pytest.mark.parametrize(("args", "match"), [
    (((0,), (1,)), "one entry of start_indices"),
    (((0, 0), (5,)), "one entry of limit_indices"),
    (((0, 0), (5, 4), (1,)), "one entry of strides"),
    (((0, 0), (6, 4)), "limit 6 in dimension 0"),
    (((-1, 0), (2, 2)), "start -1"),
    (((3, 0), (2, 4)), "start 3 and limit 2"),
    (((0, 0), (5, 4), (1, 0)), "strides of at least 1"),
    (((0, 0), (5, 4), (1, -1)), "strides of at least 1"),
])
def test_errors(args: Any, match: Any) -> None:
  with pytest.raises(TypeError, match=match):
    lax.slice(np.zeros((5, 4)), *args)


def test_errors_in_one_dimension() -> None:
  x = np.zeros((5, 4))
  with pytest.raises(ValueError, match="axis 2 is out of range"):
    lax.slice_in_dim(x, 0, 1, axis=2)
  with pytest.raises(IndexError, match="index 4 is out of range for axis 1 of size 4"):
    lax.index_in_dim(x, 4, 1)
  with pytest.raises(IndexError, match="index -6"):
    lax.index_in_dim(x, -6)


def test_params_and_type() -> None:
  x = _operand("int8")
  jaxpr = gnomon.make_jaxpr(lambda x: lax.slice(x, [0, 1], (3, np.int64(4))))(x)
  (eqn,) = jaxpr.eqns
  assert eqn.params == {"start_indices": (0, 1), "limit_indices": (3, 4), "strides": None}
  assert str(jaxpr.out_avals[0]) == "int8[3,3]"
