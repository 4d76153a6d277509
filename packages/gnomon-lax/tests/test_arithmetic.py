"""Arithmetic, comparisons and powers: edge values, derivatives there, shapes, errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax

inf, nan = math.inf, math.nan


@pytest.fixture(autouse=True)
def _double() -> Iterator[None]:
  with gnomon.enable_x64(True):
    yield


def _grads(f: Callable[..., Any], *xs: float) -> list[float]:
  points = [np.float64(x) for x in xs]
  return [float(g) for g in gnomon.grad(f, argnums=tuple(range(len(xs))))(*points)]


def _same(actual: Any, expected: Any) -> None:
  np.testing.assert_allclose(np.asarray(actual), expected, rtol=1e-14)


# ---- values at the edges


def test_integer_division_truncates_and_survives_zero() -> None:
  x = np.array([7, -7, 7, -7, 5, 0, -(2 ** 31)], np.int32)
  y = np.array([2, 2, -2, -2, 0, 0, -1], np.int32)
  _same(lax.div(x, y), [3, -3, -3, 3, -1, -1, -(2 ** 31)])
  _same(lax.rem(x, y), [1, -1, 1, -1, 5, 0, 0])


def test_remainder_of_floats_has_the_sign_of_the_dividend() -> None:
  x = np.array([7.5, -7.5, 7.5, -7.5, 1.0, 1.0, inf])
  y = np.array([2.0, 2.0, -2.0, -2.0, inf, 0.0, 1.0])
  _same(lax.rem(x, y), [1.5, -1.5, 1.5, -1.5, 1.0, nan, nan])


def test_extrema_propagate_nan_and_order_bools_and_complex_numbers() -> None:
  x, y = np.array([nan, 1.0, -0.0, 2.0]), np.array([1.0, nan, 0.0, 3.0])
  _same(lax.max(x, y), [nan, nan, 0.0, 3.0])
  _same(lax.min(x, y), [nan, nan, -0.0, 2.0])
  p, q = np.array([True, True, False]), np.array([True, False, False])
  _same(lax.max(p, q), [True, True, False])
  _same(lax.min(p, q), [True, False, False])
  z, w = np.array([1 + 2j, 1 + 3j, -5 + 9j]), np.array([1 + 3j, 0 + 9j, -5 - 9j])
  _same(lax.max(z, w), [1 + 3j, 1 + 3j, -5 + 9j])
  _same(lax.min(z, w), [1 + 2j, 0 + 9j, -5 - 9j])


def test_clamp() -> None:
  x = np.array([-2.0, 0.0, 0.5, 1.0, 3.0, nan])
  _same(lax.clamp(0.0, x, 1.0), [0.0, 0.0, 0.5, 1.0, 1.0, nan])
  _same(lax.clamp(x[:5], np.zeros(5), 1.0), [0.0, 0.0, 0.5, 1.0, 1.0])
  _same(lax.clamp(np.int8(-3), np.array([-9, 9], np.int8), np.int8(4)), [-3, 4])
  _same(lax.clamp(2.0, np.float64(5.0), 1.0), 1.0)


def test_integer_pow_multiplies() -> None:
  x = np.array([-2.0, 0.5, 3.0, inf, 0.0, nan])
  for n in (-3, -1, 0, 1, 2, 7, 10):
    with np.errstate(all="ignore"):
      _same(lax.integer_pow(x, n), x ** np.float64(n))
  _same(lax.integer_pow(np.array([0, 3, -2], np.int32), 5), [0, 243, -32])
  _same(lax.integer_pow(np.array([0, 7], np.int32), 0), [1, 1])


def test_pow_with_integer_and_float_exponents() -> None:
  x = np.array([2.0, -2.0, 0.0, 0.0, inf, 9.0])
  y = np.array([3, 3, 0, 2, -1, -1], np.int32)
  _same(lax.pow(x, y), [8.0, -8.0, 1.0, 0.0, 0.0, 1 / 9])
  _same(lax.pow(x, 2), x ** 2)
  assert lax.pow(np.float32(2), np.int64(3)).dtype == np.float32
  _same(lax.pow(np.array([1 + 1j]), np.array([2 + 0j])), [2j])


def test_comparisons_beside_nan_and_of_all_kinds() -> None:
  x, y = np.array([1.0, nan, 2.0, 0.0]), np.array([1.0, nan, 1.0, -0.0])
  expected = {
      lax.eq: np.equal, lax.ne: np.not_equal, lax.lt: np.less, lax.le: np.less_equal,
      lax.gt: np.greater, lax.ge: np.greater_equal}
  for op, reference in expected.items():
    for a, b in ((x, y), (np.arange(3, dtype=np.uint8), np.uint8(1)),
                 (np.array([True, False]), np.array([True, True]))):
      out = op(a, b)
      assert out.dtype == bool
      np.testing.assert_array_equal(out, reference(a, b))
  np.testing.assert_array_equal(lax.eq(np.array([1j, 1 + 1j]), 1j), [True, False])


def test_total_orders() -> None:
  ordered = np.array([-nan, -inf, -1.0, -0.0, 0.0, 1.0, inf, nan])
  ordered[0] = np.copysign(nan, -1.0)
  i = np.arange(8)
  x, y = np.repeat(ordered, 8), np.tile(ordered, 8)
  for p, reference in (
      (lax.lt_to_p, np.less), (lax.le_to_p, np.less_equal), (lax.eq_to_p, np.equal)):
    np.testing.assert_array_equal(
        p.apply(x, y)[0], reference(np.repeat(i, 8), np.tile(i, 8)))


# ---- derivatives at the edges


@pytest.mark.parametrize(("f", "point", "expected"), [
    (lax.max, (1.0, 1.0), [0.5, 0.5]),
    (lax.min, (1.0, 1.0), [0.5, 0.5]),
    (lax.max, (inf, inf), [0.5, 0.5]),
    (lax.max, (nan, 1.0), [0.0, 0.0]),
    (lax.max, (2.0, 1.0), [1.0, 0.0]),
    (lax.rem, (7.0, -2.0), [1.0, 3.0]),
    (lax.rem, (-7.5, 2.0), [1.0, 3.0]),
    (lax.rem, (1.0, inf), [1.0, 0.0]),
    (lax.clamp, (0.0, 0.0, 1.0), [0.0, 0.0, 0.0]),
    (lax.clamp, (0.0, 1.0, 1.0), [0.0, 0.0, 0.0]),
    (lax.clamp, (0.0, 2.0, 1.0), [0.0, 0.0, 1.0]),
    (lax.clamp, (0.0, -2.0, 1.0), [1.0, 0.0, 0.0]),
    (lax.clamp, (0.0, 0.5, 1.0), [0.0, 1.0, 0.0]),
    (lax.pow, (0.0, 0.0), [0.0, 0.0]),
    (lax.pow, (0.0, 1.0), [1.0, 0.0]),
    (lax.pow, (0.0, 2.0), [0.0, 0.0]),
    (lax.pow, (0.0, 0.5), [inf, 0.0]),
    (lax.pow, (-2.0, 2.0), [-4.0, nan]),
    (lax.pow, (inf, 0.0), [0.0, inf]),
    (lambda x: lax.pow(x, 0), (0.0,), [0.0]),
    (lambda x: lax.pow(x, 2), (0.0,), [0.0]),
    (lambda x: lax.integer_pow(x, 0), (0.0,), [0.0]),
    (lambda x: lax.integer_pow(x, 1), (0.0,), [1.0]),
    (lambda x: lax.integer_pow(x, 2), (0.0,), [0.0]),
    (lax.sqrt, (0.0,), [inf]), (lax.sqrt, (inf,), [0.0]),
    (lax.rsqrt, (0.0,), [-inf]), (lax.rsqrt, (inf,), [0.0]),
    (lax.cbrt, (0.0,), [inf]), (lax.cbrt, (-8.0,), [1 / 12]),
    (lax.reciprocal, (0.0,), [-inf]),
])
def test_derivatives_at_edges(f: Any, point: Any, expected: list[float]) -> None:
  np.testing.assert_allclose(_grads(f, *point), expected, rtol=1e-14)


@pytest.mark.parametrize(("point", "expected"), [
    ((2.0, 0.0), [[0.0, 0.5], [0.5, math.log(2.0) ** 2]]),
    ((0.0, 1.0), [[0.0, 1.0], [0.0, 0.0]]),
    ((0.0, 2.0), [[2.0, 0.0], [0.0, 0.0]]),
    ((0.0, 3.0), [[0.0, 0.0], [0.0, 0.0]]),
    ((3.0, 1.0), [[0.0, 1 + math.log(3.0)], [1 + math.log(3.0), 3 * math.log(3.0) ** 2]]),
])
def test_second_derivatives_of_pow(point: Any, expected: Any) -> None:
  # Row i is the gradient of the derivative with respect to operand i.
  rows = [
      _grads(lambda x, y, i=i: gnomon.grad(lax.pow, argnums=i)(x, y), *point)
      for i in range(2)]
  np.testing.assert_allclose(rows, expected, rtol=1e-13, atol=1e-15)


# ---- shapes and dtypes


_BINARY = (
    lax.add, lax.sub, lax.mul, lax.div, lax.rem, lax.max, lax.min, lax.pow, lax.atan2)


@pytest.mark.parametrize("f", _BINARY, ids=lambda f: f.__name__)
def test_scalars_among_arrays(f: Any) -> None:
  """A scalar operand, in values, tangents, cotangents and batches."""
  x = np.array([[1.3, 2.4, 3.7], [0.6, 1.9, 2.2]])
  s = np.float64(1.7)

  for g, args in ((f, (x, s)), (f, (s, x))):
    full = [np.broadcast_to(a, x.shape) for a in args]
    _same(g(*args), g(*full))
    _, tangent = gnomon.jvp(g, args, tuple(np.ones_like(a) for a in args))
    _, expected = gnomon.jvp(g, tuple(full), (np.ones_like(x),) * 2)
    _same(tangent, expected)
    cts = gnomon.vjp(g, *args)[1](np.ones_like(x))
    for ct, a, e in zip(cts, args, gnomon.vjp(g, *full)[1](np.ones_like(x)), strict=True):
      assert ct.shape == a.shape
      np.testing.assert_allclose(ct, e if a.shape else np.asarray(e).sum(), rtol=1e-12)
    many = [np.stack([a, a + 0.1]) for a in args]
    _same(gnomon.vmap(g)(*many), np.stack([g(*p) for p in zip(*many, strict=True)]))


def test_python_numbers_take_the_dtype_of_arrays() -> None:
  x = np.ones(2, np.float32)
  assert lax.add(x, 1.0).dtype == lax.mul(2, x).dtype == np.float32
  assert lax.add(lax.convert_element_type(x, "bfloat16"), 1.0).dtype.name == "bfloat16"
  assert lax.add(np.ones(2, np.complex64), 1.0).dtype == np.complex64
  assert gnomon.typeof(lax.add(1.0, 2.0)).weak_type


def test_dimensions_of_size_one_are_broadcast() -> None:
  x, y = np.arange(6.0).reshape(2, 3), np.arange(3.0).reshape(1, 3)
  _same(lax.add(x, y), x + y)
  _same(lax.add(x[:, :1], y), x[:, :1] + y)
  ct, = gnomon.vjp(lambda y: lax.add(x, y), y)[1](np.ones_like(x))
  assert ct.tolist() == [[2.0, 2.0, 2.0]]
  for op in (lax.add, lax.sub, lax.mul, lax.div, lax.max):  # one operand moves
    left, right = (lambda z, op=op: op(z, x[:, :1])), (lambda z, op=op: op(y, z))
    for f, z in ((left, y), (right, x[:, :1])):
      out, tangent = gnomon.jvp(f, (z + 1,), (np.ones_like(z),))
      assert tangent.shape == out.shape == x.shape
      assert gnomon.vjp(f, z + 1)[1](out)[0].shape == z.shape


def test_mul_in_another_dtype() -> None:
  x = np.array([200, 100], np.uint8)
  out = lax.mul(x, x, out_dtype=np.int32)
  assert out.dtype == np.int32
  _same(out, [40000, 10000])
  h = np.array([1.5, 2.5], np.float16)

  def f(a: Any, b: Any) -> Any:
    return lax.mul(a, b, out_dtype="float32")

  out, tangent = gnomon.jvp(f, (h, h), (h, h))
  assert out.dtype == tangent.dtype == np.float32
  a, b = gnomon.vjp(f, h, np.float16(2))[1](np.ones(2, np.float32))
  assert a.dtype == b.dtype == np.float16
  _same(a, [2, 2])
  _same(b, 4)


@pytest.mark.parametrize(("call", "error", "match"), [
    (lambda: lax.add(np.ones(2, np.int32), np.ones(2)), TypeError, "the same dtypes"),
    (lambda: lax.add(np.ones(2), np.ones(3)), TypeError, "incompatible shapes"),
    (lambda: lax.add(np.ones((3, 1)), np.ones(3)), TypeError, "incompatible shapes"),
    (lambda: lax.add(True, True), TypeError, "does not accept dtype bool"),
    (lambda: lax.add(None, 1.0), TypeError, "not a valid array type"),
    (lambda: lax.add([1.0], 1.0), TypeError, "not a valid array type"),
    (lambda: lax.neg(np.ones(2, bool)), TypeError, "does not accept dtype bool"),
    (lambda: lax.rem(1j, 1j), TypeError, "does not accept dtype complex"),
    (lambda: lax.lt(1j, 1j), TypeError, "does not accept dtype complex"),
    (lambda: lax.integer_pow(np.int32(2), -1), TypeError, "negative power"),
    (lambda: lax.integer_pow(2.0, 0.5), TypeError, "integer"),
    (lambda: lax.pow(np.int32(2), np.int32(2)), TypeError, "does not accept dtype int32"),
    (lambda: lax.pow(np.float32(2), np.float64(2)), TypeError, "the same dtypes"),
    (lambda: lax.clamp(np.zeros(3), np.float64(1), 2.0), TypeError, "min has the shape"),
    (lambda: lax.clamp(0.0, np.ones((2, 3)), np.ones((1, 3))), TypeError, "max has"),
    (lambda: lax.mul(1.0, 1.0, out_dtype=bool), TypeError, "out_dtype"),
])
def test_errors(call: Any, error: Any, match: str) -> None:
  with pytest.raises(error, match=match):
    call()


def test_integers_have_no_derivative() -> None:
  x = np.array([1, 2], np.int32)
  out, tangent = gnomon.jvp(
      lax.mul, (x, x), (np.zeros(2, gnomon.dtypes.float0),) * 2)
  assert out.tolist() == [1, 4]
  assert tangent.dtype == gnomon.dtypes.float0
