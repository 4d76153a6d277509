"""Reductions: edges, ties, zeros, any associative function, places of extrema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import dtypes, lax
from gnomon.testing import assert_close, check_grads, check_vmap_axes

R = np.random.default_rng(5)
X = np.arange(12, dtype=np.float32).reshape(3, 4)


# ---- edges


def test_reductions_of_nothing() -> None:
  for dtype, most, least in (
      ("float32", np.inf, -np.inf), ("int8", 127, -128), ("uint8", 255, 0),
      ("bool", True, False), ("bfloat16", np.inf, -np.inf)):
    x = lax.empty((0, 2), dtype)
    assert lax.reduce_max(x, (0,)).tolist() == [least] * 2
    assert lax.reduce_min(x, (0,)).tolist() == [most] * 2
  assert lax.reduce_prod(lax.empty((0, 2), "int32"), (0,)).tolist() == [1, 1]
  for op, value in ((lax.reduce_and, -1), (lax.reduce_or, 0), (lax.reduce_xor, 0)):
    assert op(lax.empty((0,), "int32"), (0,)).tolist() == value
  assert lax.reduce_and(lax.empty((0,), "uint8"), (0,)).tolist() == 255
  assert_close(lax.reduce_max(X, ()), X)
  assert lax.reduce_max(1.0, ()).aval.weak_type


def test_extrema_beside_nan_and_infinities() -> None:
  x = np.float32([[1, np.nan, -np.inf, 0.0], [2, 3, np.inf, -0.0]])
  for axes in ((0,), (1,), (0, 1)):
    assert_close(lax.reduce_max(x, axes), np.max(x, axes))
    assert_close(lax.reduce_min(x, axes), np.min(x, axes))


def test_extrema_of_complex_numbers_and_bools() -> None:
  z = R.integers(-2, 3, (5, 4)) + 1j * R.integers(-2, 3, (5, 4))
  z = z.astype(np.complex64)
  pairs = sorted(z[:, 1].tolist(), key=lambda c: (c.real, c.imag))
  assert complex(np.asarray(lax.reduce_max(z, (0,)))[1]) == pairs[-1]
  assert complex(np.asarray(lax.reduce_min(z, (0,)))[1]) == pairs[0]
  b = np.array([[True, False], [True, True]])
  assert lax.reduce_max(b, (0,)).tolist() == [True, True]
  assert lax.reduce_min(b, (0,)).tolist() == [True, False]


def test_bits() -> None:
  i = R.integers(-100, 100, (5, 3)).astype(np.int32)
  for op, ufunc in ((lax.reduce_and, np.bitwise_and), (lax.reduce_or, np.bitwise_or),
                    (lax.reduce_xor, np.bitwise_xor)):
    for x in (i, i.astype(np.uint8), i > 0):
      assert_close(op(x, (0,)), ufunc.reduce(x, 0), check_dtypes=True)
    check_vmap_axes(lambda x, op=op: op(x, (1,)), [(i * k,) for k in range(3)])


# ---- derivatives


def test_ties_share_the_derivative() -> None:
  x = np.float32([3, 1, 3, 2])
  assert gnomon.grad(lambda x: lax.reduce_max(x, (0,)))(x).tolist() == [0.5, 0, 0.5, 0]
  assert gnomon.grad(lambda x: lax.reduce_min(x, (0,)))(-x).tolist() == [0.5, 0, 0.5, 0]
  t = np.float32([1, np.inf, 2, 5])  # tangents of the others do not matter
  assert float(gnomon.jvp(lambda x: lax.reduce_max(x, (0,)), (x,), (t,))[1]) == 1.5


@pytest.mark.parametrize("zeros", [(), (1,), (1, 3), (0, 1, 2)])
def test_derivatives_of_products_with_zeros(zeros: tuple[int, ...]) -> None:
  with gnomon.enable_x64(True):
    x = R.uniform(0.5, 2, 5)
    x[list(zeros)] = 0
    others = np.array([np.prod(np.delete(x, i)) for i in range(5)])
    second = np.array([
        [0 if i == j else np.prod(np.delete(x, [i, j])) for i in range(5)]
        for j in range(5)])
    def f(x: Any) -> Any:
      return lax.reduce_prod(x, (0,))
    assert_close(gnomon.grad(f)(x), others)
    assert_close(gnomon.hessian(f)(x), second)


def test_derivatives_of_products_over_several_axes() -> None:
  with gnomon.enable_x64(True):
    x = R.uniform(0.5, 2, (2, 3, 2))
    check_grads(lambda x: lax.reduce_prod(x, (2, 0)), (x,), 2)
    check_grads(lambda x: lax.reduce_prod(x, ()), (x,), 1)
    z = x + 1j * R.uniform(0.5, 2, (2, 3, 2))
    check_grads(lambda x: lax.reduce_prod(x, (0, 1)), (z,), 1)


# ---- places


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int8",
                                   "uint32", "bool", "float8_e4m3fn"])
def test_argmax_and_argmin(dtype: str) -> None:
  with gnomon.enable_x64(dtype == "float64"):
    values = R.integers(0, 7, (5, 40))  # many ties
    x = lax.convert_element_type(values, dtype)
    plain = np.asarray(lax.convert_element_type(x, "float32"))
    for axis in (0, 1):
      for op, expected in ((lax.argmax, np.argmax), (lax.argmin, np.argmin)):
        got = op(x, axis, "int32")
        assert_close(got, expected(plain, axis).astype("int32"), check_dtypes=True)


def test_places_beside_nan_and_zeros_of_both_signs() -> None:
  nan, inf = np.nan, np.inf
  rows = np.float32([
      [1, nan, 3, nan], [-0.0, 0, -0.0, 0], [0, -0.0, 0, 0], [-inf, -inf, -inf, -inf],
      [inf, nan, inf, -inf], [-1e-40, 0, 1e-40, 0], [np.copysign(nan, -1), 1, nan, 2]])
  for dtype in ("float32", "float16", "bfloat16"):
    x = lax.convert_element_type(rows, dtype)
    plain = np.asarray(lax.convert_element_type(x, "float32"))
    assert_close(lax.argmax(x, 1, "int32"), np.argmax(plain, 1).astype("int32"))
    assert_close(lax.argmin(x, 1, "int32"), np.argmin(plain, 1).astype("int32"))


def test_index_dtypes() -> None:
  for dtype in ("int8", "uint8", "int32", "uint32"):
    assert lax.argmax(X, 1, dtype).dtype == dtype
  assert lax.argmax(lax.empty((0, 4), "float32"), 1, "int32").shape == (0,)
  check_vmap_axes(
      lambda x: lax.argmax(x, 1, "int32"),
      [(R.standard_normal((2, 3)).astype("f"),) for _ in range(3)])


# ---- reduce


def test_known_reductions_are_recognised() -> None:
  i = X.astype(np.int32)
  cases: list[tuple[Any, Any, Any, str]] = [
      (X, 0.0, lax.add, "reduce_sum"), (X, 0, lambda a, b: lax.add(b, a), "reduce_sum"),
      (X, 1.0, lax.mul, "reduce_prod"), (X, -np.inf, lax.max, "reduce_max"),
      (X, np.float32(np.inf), lax.min, "reduce_min"), (i, 0, lax.bitwise_or, "reduce_or"),
      (i, -1, lax.bitwise_and, "reduce_and"), (i, 0, lax.bitwise_xor, "reduce_xor"),
      (i, np.iinfo("int32").min, lax.max, "reduce_max"),
      (i > 3, True, lax.min, "reduce_min"),
      (X, 1.0, lax.add, "reduce"), (X, 0.0, lax.sub, "reduce"), (i, 0, lax.min, "reduce"),
      (X, 0.0, lambda a, b: lax.add(a, a), "reduce")]
  for x, init, f, name in cases:
    jaxpr = gnomon.make_jaxpr(lambda x, init=init, f=f: lax.reduce(x, init, f, (0,)))(x)
    assert [e.primitive.name for e in jaxpr.jaxpr.eqns] == [name], (init, name)
  traced = gnomon.make_jaxpr(lambda x, v: lax.reduce(x, v, lax.add, (0,)))(X, 0.0)
  assert traced.jaxpr.eqns[0].primitive.name == "reduce"


def test_values_of_reduce() -> None:
  assert_close(lax.reduce(X, 1.0, lax.add, (0,)), X.sum(0) + 1)
  assert_close(lax.reduce(X, 5.0, lax.max, (1,)), np.maximum(X.max(1), 5))
  assert_close(lax.reduce(X, 1.0, lax.add, ()), X)
  assert_close(lax.reduce(X[:0], 3.0, lax.add, (0,)), np.full(4, 3, np.float32))
  tree = lax.reduce(
      {"s": X, "p": X}, {"s": 0.0, "p": 1.0},
      lambda a, b: {"s": lax.add(a["s"], b["s"]), "p": lax.mul(a["p"], b["p"])}, (0, 1))
  assert_close(tree, {"s": X.sum(), "p": X.prod()})
  table = np.float32([2.0, 3.0])  # a constant of the computation
  assert_close(
      lax.reduce(X, 1.0, lambda a, b: lax.mul(a, lax.add(b, lax.mul(
          0.0, lax.reduce_sum(table, (0,))))), (0,)), X.prod(0))


def _best(a: Any, b: Any) -> Any:
  """The greater of two, with its place: an associative function of pairs."""
  first = lax.ge(a[0], b[0])
  return (lax.select_n(first, b[0], a[0]), lax.select_n(first, b[1], a[1]))


def _maximum(x: Any, start: Any) -> Any:
  places = lax.broadcasted_iota("int32", x.shape, 1)
  return lax.reduce((x, places), (start, np.int32(-1)), _best, (1,))


def test_reduce_of_pairs_under_transformations() -> None:
  x = R.standard_normal((3, 5)).astype("f")
  value, place = _maximum(x, -np.inf)
  assert_close(value, x.max(1))
  assert_close(place, x.argmax(1).astype("int32"))
  check_vmap_axes(  # the initial value may be mapped, too
      _maximum, [(R.standard_normal((2, 5)).astype("f"), np.float32(v))
                 for v in (-9, 0.5, 9)])
  g = gnomon.grad(lambda x: lax.reduce_sum(_maximum(x, -np.inf)[0], (0,)))(x)
  assert_close(g, (x == x.max(1, keepdims=True)).astype("f"))


def _product(a: Any, b: Any) -> Any:
  """Composition of affine maps: associative, and not commutative."""
  return lax.mul(a[0], b[0]), lax.add(lax.mul(a[1], b[0]), b[1])


def test_derivatives_of_reduce() -> None:
  with gnomon.enable_x64(True):
    x, v = R.uniform(0.5, 1.5, (2, 5)), np.float64(0.7)
    check_grads(lambda x, v: lax.reduce(x, v, lax.mul, (1,)), (x, v), 2)
    check_grads(lambda x, v: lax.reduce(x, v, lax.mul, (0, 1)), (x, v), 1)
    check_grads(lambda x: lax.reduce(x, 1.0, lax.mul, ()), (x,), 1)
    check_grads(
        lambda x, y: lax.reduce((x, y), (1.0, 0.0), _product, (0,)), (x[0], x[1]), 1)
    assert_close(gnomon.grad(lambda v: lax.reduce(x[:, :0], v, lax.mul, (0, 1)))(v), 1.0)


# ---- errors

ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: lax.reduce_max(X, (2,)), ValueError, "between 0 and 1"),
    (lambda: lax.reduce_prod(X, (-1,)), ValueError, "between 0 and 1"),
    (lambda: lax.reduce_min(X, (0, 0)), ValueError, "duplicate value"),
    (lambda: lax.reduce_prod(X > 0, (0,)), TypeError, "dtype bool"),
    (lambda: lax.reduce_and(X, (0,)), TypeError, "dtype float32"),
    (lambda: lax.argmax(X, 2, "int32"), ValueError, "Invalid axis 2"),
    (lambda: lax.argmax(X, 0, "float32"), TypeError, "must be an integer type"),
    (lambda: lax.argmin(X, 0, bool), TypeError, "must be an integer type"),
    (lambda: lax.argmax(X[:0], 0, "int32"), ValueError, "non-empty reduced"),
    (lambda: lax.argmax(X + 1j, 0, "int32"), TypeError, "dtype complex64"),
    (lambda: lax.reduce(X, X, lax.add, (0,)), ValueError, "non-scalar"),
    (lambda: lax.reduce(X, np.int32(0), lax.add, (0,)), TypeError, "dtypes of the oper"),
    (lambda: lax.reduce({"a": X}, {"b": 0.0}, lax.add, (0,)), ValueError, "same tree"),
    (lambda: lax.reduce((), (), lax.add, (0,)), ValueError, "at least one"),
    (lambda: lax.reduce(X, 0.0, lambda a, b: (a, b), (0,)), ValueError, "same tree"),
    (lambda: lax.reduce(X, 0.0, lax.gt, (0,)), TypeError, r"bool\[\]"),
    (lambda: lax.reduce((X, X.T), (0.0, 0.0), lambda a, b: a, (0,)), TypeError, "one sh"),
    (lambda: lax.reduce(X, 2.0, lax.add, (-1,)), ValueError, "between 0 and 1"),
    (lambda: gnomon.jit(lambda v: lax.reduce(
        X, 0.0, lambda a, b: lax.add(lax.mul(a, v), b), (0,)))(2.0),
     NotImplementedError, "closes over a traced value")]


@pytest.mark.parametrize(("call", "error", "words"), ERRORS)
def test_errors(call: Callable[[], Any], error: type[Exception], words: str) -> None:
  with pytest.raises(error, match=words):
    call()


def test_printed_programs() -> None:
  text = str(gnomon.make_jaxpr(lambda x: (
      lax.reduce_max(x, (0,)), lax.argmax(x, 1, "int32"), lax.reduce(
          x, 1.0, lax.add, (0,))))(X))
  for part in ("reduce_max[axes=(0,)]", "argmax[axes=(1,) index_dtype=int32]",
               "dimensions=(0,)", "= add c d in"):
    assert part in text.replace("e:f32[] f:f32[]", "c:f32[] d:f32[]").replace(
        "add e f", "add c d"), text
  assert dtypes.float0 == lax.reduce_or(X > 0, (0,)).aval.to_tangent_aval().dtype
