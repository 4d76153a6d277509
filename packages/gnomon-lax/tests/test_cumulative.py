"""Cumulative operations: loops and unrolled ones, edges, derivatives, accuracy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.lax import _cumulative
from gnomon.lax._cumulative import linear_recurrence
from gnomon.testing import assert_close, check_grads, check_vmap_axes

R = np.random.default_rng(7)
OPS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sum": (lax.cumsum, np.cumsum), "prod": (lax.cumprod, np.cumprod),
    "max": (lax.cummax, np.maximum.accumulate),
    "min": (lax.cummin, np.minimum.accumulate),
    "log": (lax.cumlogsumexp, np.logaddexp.accumulate)}
SIZES = (1, 2, 7, 8, 9, 43)  # rolled from 9 on, 8 at once


def reference(f: Callable[..., Any], x: Any, axis: int, reverse: bool) -> Any:
  with np.errstate(all="ignore"):
    x = np.asarray(x, np.float64) if x.dtype.kind == "f" else x
    return np.flip(f(np.flip(x, axis), axis=axis), axis) if reverse else f(x, axis=axis)


@pytest.mark.parametrize("name", OPS)
def test_values(name: str) -> None:
  op, f = OPS[name]
  for n in SIZES:
    x = R.uniform(0.5, 1.5, (n, 3)).astype("f")
    y = np.ascontiguousarray(x.T)
    cases = [(x, 0, False), (x, 0, True), (y, 1, False), (y, 1, True),
             (x[:, 0], 0, False)]
    outs = gnomon.jit(lambda xs, cases=cases: [
        op(v, axis, reverse) for v, (_, axis, reverse) in zip(xs, cases)])(
            [c[0] for c in cases])
    for got, (v, axis, reverse) in zip(outs, cases, strict=True):
      assert_close(got, reference(f, v, axis, reverse).astype("f"), rtol=2e-6, atol=1e-6,
                   check_dtypes=True)


@pytest.mark.parametrize("name", OPS)
def test_loops_over_bfloat16_carry_wider_numbers(name: str) -> None:
  # XLA:CPU would convert all of a bfloat16 array at each step: quadratic time
  x = np.linspace(0.5, 1, 40).astype(gnomon.dtypes.bfloat16)
  f = gnomon.jit(OPS[name][0])
  steps = [
      line for line in f.lower(x).as_text().splitlines()
      if "dynamic_update_slice" in line or "dynamic_slice" in line]
  assert steps
  assert not any("bf16" in line for line in steps)
  expected = reference(OPS[name][1], x.astype("f"), 0, False)
  np.testing.assert_array_equal(f(x), expected.astype(x.dtype))


@pytest.mark.parametrize("n", [5, 20])
def test_special_values(n: int) -> None:
  nan, inf = np.nan, np.inf
  x = np.zeros((n, 6), np.float32)
  x[:5] = np.float32([
      [1, nan, -inf, inf, -0.0, -1e30], [3, 2, -inf, 1, -0.0, 1e30],
      [2, 1, -1000, inf, 0, 1],
      [4, 0, 2, -inf, 1, -inf], [0, 3, -inf, 0, -1, 1]])
  for op, f in OPS.values():
    for reverse in (False, True):
      got = np.asarray(op(x, 0, reverse))
      with np.errstate(over="ignore"):
        expected = reference(f, x, 0, reverse).astype("f")
      assert_close(got, expected, rtol=1e-6)
  assert np.signbit(np.asarray(lax.cumsum(np.float32([-0.0, -0.0])))).all()


def test_integers_and_empty_arrays() -> None:
  i = R.integers(-100, 100, 30).astype(np.int8)
  with np.errstate(over="ignore"):
    for op, f in ((lax.cumsum, np.add), (lax.cumprod, np.multiply),
                  (lax.cummax, np.maximum), (lax.cummin, np.minimum)):
      for x in (i, i.astype(np.uint32), i[:4]):
        assert_close(op(x), f.accumulate(x, dtype=x.dtype), check_dtypes=True)
  for op, _ in OPS.values():
    for shape in ((0, 3), (3, 0)):
      assert op(np.zeros(shape, np.float32)).shape == shape
  assert lax.cumsum(lax.full((2,), 1.0)).aval.weak_type


def test_complex_numbers() -> None:
  z = (R.standard_normal(20) + 1j * R.standard_normal(20)).astype(np.complex64)
  assert_close(lax.cumsum(z), np.cumsum(z), rtol=1e-5)
  assert_close(lax.cumprod(z), np.cumprod(z), rtol=1e-5)
  z /= 10
  assert_close(lax.cumlogsumexp(z), np.log(np.cumsum(np.exp(z))), rtol=1e-5)
  best = [max(z[:i + 1].tolist(), key=lambda c: (c.real, c.imag)) for i in range(20)]
  assert_close(lax.cummax(z), np.complex64(best))


def test_sums_of_many_numbers_are_accurate() -> None:
  x = R.uniform(0, 1, 200_000).astype("f")
  exact = np.cumsum(x.astype("f8"))
  assert_close(lax.cumsum(x), exact.astype("f"), rtol=1e-7)
  half = lax.convert_element_type(np.ones(1000, "f"), "bfloat16")
  assert np.asarray(lax.convert_element_type(lax.cumsum(half), "float32"))[-1] == 1000.0
  lse = lax.cumlogsumexp(x)
  assert_close(lse, np.log(np.cumsum(np.exp(x.astype("f8")))).astype("f"), rtol=1e-6)


# ---- derivatives


@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("n", [4, 10])
def test_derivatives(name: str, n: int) -> None:
  op, _ = OPS[name]
  with gnomon.enable_x64(True):
    x = R.permutation(np.linspace(0.5, 1.5, 2 * n)).reshape(n, 2)
    for axis, reverse in ((0, False), (0, True)):
      check_grads(lambda x: op(x, axis, reverse), (x,), 2)  # noqa: B023
    check_grads(lambda x: op(x, 1), (x,), 1)


@pytest.mark.parametrize("reverse", [False, True])
def test_derivatives_of_products_with_zeros(reverse: bool) -> None:
  with gnomon.enable_x64(True):
    x = np.array([2.0, 0.0, 3.0, 0.0, 5.0, 7.0])
    j = np.asarray(gnomon.jacrev(lambda x: lax.cumprod(x, 0, reverse))(x))
    expected = np.zeros((6, 6))
    for i in range(6):
      part = slice(i, None) if reverse else slice(0, i + 1)
      for k in range(6)[part]:
        rest = x.copy()
        rest[k] = 1
        expected[i, k] = rest[part].prod()
    assert_close(j, expected)
    assert_close(
        np.asarray(gnomon.jacfwd(lambda x: lax.cumprod(x, 0, reverse))(x)), expected)


def test_derivatives_beside_infinities() -> None:
  x = np.float32([-np.inf, -np.inf, 1.0, -np.inf, 2.0])
  j = np.asarray(gnomon.jacrev(lax.cumlogsumexp)(x))
  p = 1 / (1 + np.exp(1.0))
  expected = np.zeros((5, 5))
  expected[2:4, 2] = 1
  expected[4, 2], expected[4, 4] = p, 1 - p
  assert_close(j, expected.astype("f"), rtol=1e-6)


def test_ties_of_extrema_belong_to_the_first() -> None:
  x = np.float32([1, 3, 3, 2, 3])
  j = np.asarray(gnomon.jacrev(lax.cummax)(x))
  assert np.argmax(j, 1).tolist() == [0, 1, 1, 1, 1]
  back = np.asarray(gnomon.jacrev(lambda x: lax.cummax(x, 0, True))(x))
  assert np.argmax(back, 1).tolist() == [4, 4, 4, 4, 4]
  assert (j.sum(1) == 1).all()
  assert (back.sum(1) == 1).all()


def test_vmap() -> None:
  xs = [(R.uniform(0.5, 1.5, (3, 10)).astype("f"),) for _ in range(2)]
  for op, _ in OPS.values():
    check_vmap_axes(lambda x, op=op: op(x, 1, True), xs)


# ---- linear recurrences


def recurrence(a: Any, b: Any, reverse: bool) -> Any:
  out, y = np.zeros_like(b), np.zeros_like(b[0])
  for i in range(len(b))[::-1 if reverse else 1]:
    y = out[i] = a[i] * y + b[i]
  return out


@pytest.mark.parametrize("reverse", [False, True])
def test_linear_recurrence(reverse: bool) -> None:
  with gnomon.enable_x64(True):
    for n in (1, 5, 12):
      a, b = R.standard_normal((2, n, 3))
      assert_close(linear_recurrence(a, b, 0, reverse), recurrence(a, b, reverse))
    check_grads(lambda a, b: linear_recurrence(a, b, 0, reverse), (a, b), 2)
  check_vmap_axes(
      lambda a, b: linear_recurrence(a, b, 1, reverse),
      [tuple(R.standard_normal((2, 3, 10)).astype("f")) for _ in range(2)])
  with pytest.raises(TypeError, match="one type"):
    linear_recurrence(np.ones(3, "f"), np.ones(4, "f"), 0, False)


# ---- the lowering for accelerators: it runs on CPUs, too


def test_programs_for_accelerators(monkeypatch: pytest.MonkeyPatch) -> None:
  monkeypatch.setattr(_cumulative, "on_cpu", lambda ctx: False)
  x = R.uniform(0.5, 1.5, (3, 13)).astype("f")
  x[0, :3] = -np.inf
  for reverse in (False, True):
    outs = gnomon.jit(lambda x, r=reverse: [op(x, 1, r) for op, _ in OPS.values()])(x)
    for got, (_, f) in zip(outs, OPS.values(), strict=True):
      assert_close(got, reference(f, x, 1, reverse).astype("f"), rtol=1e-5)
    a, b = R.standard_normal((2, 13, 3)).astype("f")
    got = gnomon.jit(lambda a, b, r=reverse: linear_recurrence(a, b, 0, r))(a, b)
    assert_close(got, recurrence(a, b, reverse), rtol=1e-4, atol=1e-4)
  empty = gnomon.jit(lambda x: lax.cumsum(x, 1))(np.zeros((3, 0), np.float32))
  assert empty.shape == (3, 0)


ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: lax.cumsum(np.ones((2, 3), "f"), 2), ValueError, "axis 2 is out of bounds"),
    (lambda: lax.cumprod(np.ones((2, 3), "f"), -1), ValueError, "counted from 0"),
    (lambda: lax.cumsum(1.0), ValueError, "out of bounds"),
    (lambda: lax.cumsum(np.ones(2, bool)), TypeError, "dtype bool"),
    (lambda: lax.cummax(np.ones(2, bool)), TypeError, "dtype bool"),
    (lambda: lax.cumlogsumexp(np.ones(2, "i4")), TypeError, "dtype int32")]


@pytest.mark.parametrize(("call", "error", "words"), ERRORS)
def test_errors(call: Callable[[], Any], error: type[Exception], words: str) -> None:
  with pytest.raises(error, match=words):
    call()
