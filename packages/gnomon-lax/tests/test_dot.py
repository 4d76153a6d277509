"""Contractions: every pair of axes, mixed dtypes, precisions, errors."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import dtypes, lax
from gnomon.testing import assert_close, check_grads, check_vmap_axes

R = np.random.default_rng(3)
X = np.arange(12, dtype=np.float32).reshape(3, 4)
C = (((1,), (0,)), ((), ()))


def einsum(x: Any, y: Any, numbers: Any) -> Any:
  """`dot_general` by the letters of its axes."""
  (cx, cy), (bx, by) = numbers
  letters = iter("abcdefghij")
  left = [next(letters) for _ in range(x.ndim)]
  right = [next(letters) for _ in range(y.ndim)]
  for i, j in zip((*cx, *bx), (*cy, *by), strict=True):
    right[j] = left[i]
  out = [left[i] for i in bx]
  out += [c for i, c in enumerate(left) if i not in (*cx, *bx)]
  out += [c for j, c in enumerate(right) if j not in (*cy, *by)]
  return np.einsum(f"{''.join(left)},{''.join(right)}->{''.join(out)}", x, y)


def layouts() -> list[tuple[Any, Any, Any]]:
  """Every choice of a contracted and a mapped axis in operands of two or three axes."""
  out = []
  for m, n in ((2, 3), (3, 3)):
    for cx, bx in itertools.permutations(range(m), 2):
      for cy, by in itertools.permutations(range(n), 2):
        x, y = [2] * m, [3] * n
        x[cx], y[cy] = 4, 4
        x[bx], y[by] = 5, 5
        out.append((tuple(x), tuple(y), (((cx,), (cy,)), ((bx,), (by,)))))
  return out


def test_every_pair_of_axes() -> None:
  cases = layouts()
  pairs = [(R.standard_normal(x), R.standard_normal(y)) for x, y, _ in cases]
  with gnomon.enable_x64(True):
    def all_of_them(pairs: Any) -> Any:
      return [lax.dot_general(x, y, n) for (x, y), (_, _, n) in zip(pairs, cases)]

    for got, (x, y), (_, _, n) in zip(gnomon.jit(all_of_them)(pairs), pairs, cases):
      assert_close(got, einsum(x, y, n), atol=1e-12, rtol=1e-12)


def test_derivatives_of_every_pair_of_axes() -> None:
  # The cotangent of each operand, against the sum it must be: <ct, d(x, y)> by einsum.
  cases = layouts()
  pairs = [(R.standard_normal(x), R.standard_normal(y)) for x, y, _ in cases]
  with gnomon.enable_x64(True):
    cts = [R.standard_normal(einsum(x, y, n).shape) for (x, y), (_, _, n)
           in zip(pairs, cases)]

    def pairing(pairs: Any) -> Any:
      total: Any = 0.0
      for (x, y), ct, (_, _, n) in zip(pairs, cts, cases):
        z = lax.mul(lax.dot_general(x, y, n), ct)
        total = lax.add(total, lax.reduce_sum(z, tuple(range(ct.ndim))))
      return total

    grads = gnomon.jit(gnomon.grad(pairing))(pairs)
    for (gx, gy), (x, y), ct, (_, _, n) in zip(grads, pairs, cts, cases):
      for _ in range(2):
        tx, ty = R.standard_normal(x.shape), R.standard_normal(y.shape)
        assert_close(
            (np.asarray(gx) * tx).sum(), (ct * einsum(tx, y, n)).sum(),
            rtol=1e-9, atol=1e-9)
        assert_close(
            (np.asarray(gy) * ty).sum(), (ct * einsum(x, ty, n)).sum(),
            rtol=1e-9, atol=1e-9)


def test_second_derivatives() -> None:
  with gnomon.enable_x64(True):
    x, y = R.standard_normal((2, 3, 2)), R.standard_normal((2, 2, 3))
    check_grads(
        lambda x, y: lax.sin(lax.dot_general(x, y, (((1,), (2,)), ((2,), (0,))))),
        (x, y), 2)


def test_vmap_over_every_axis() -> None:
  numbers = (((1,), (2,)), ((2,), (0,)))
  check_vmap_axes(
      lambda x, y: lax.dot_general(x, y, numbers),
      [tuple(R.standard_normal(s).astype("f") for s in ((2, 3, 4), (4, 2, 3)))
       for _ in range(3)])


def test_dot_and_batch_matmul() -> None:
  v = X[0]
  for x, y in ((v, v), (X, v), (X[:, 0], X), (X, X.T)):
    assert_close(lax.dot(x, y), np.dot(x, y))
  a, b = R.standard_normal((5, 2, 3)), R.standard_normal((5, 3, 4))
  assert_close(lax.batch_matmul(a, b), (a @ b).astype("f"), rtol=1e-5, atol=1e-5)
  assert lax.dot(np.zeros((2, 0), "f"), np.zeros((0, 3), "f")).tolist() == [[0.0] * 3] * 2
  three = lax.dot(a, b, dimension_numbers=(((2,), (1,)), ((0,), (0,))))
  assert three.shape == (5, 2, 4)


# What JAX 0.10.2 gives.
MIXED = [
    ("int8", "int32", "int32"), ("uint8", "int8", "int8"), ("int8", "uint32", "uint32"),
    ("int32", "uint32", "int32"), ("bool", "int8", "int8"), ("bool", "bool", "bool"),
    ("int32", "bfloat16", "bfloat16"), ("float16", "bfloat16", "bfloat16"),
    ("bfloat16", "float32", "float32"), ("float32", "complex64", "complex64"),
    ("float8_e4m3fn", "bfloat16", "bfloat16"),
    ("float8_e4m3fn", "int32", "float8_e4m3fn")]


def test_mixed_dtypes() -> None:
  small = np.arange(6).reshape(2, 3) % 2
  for left, right, dtype in MIXED:
    for a, b in ((left, right), (right, left)):
      got = lax.dot(
          lax.convert_element_type(small, a), lax.convert_element_type(small.T, b))
      assert str(got.dtype) == dtype
      expected = small @ small.T
      if dtype == "bool":
        expected = expected > 0
      assert_close(np.asarray(lax.convert_element_type(got, "int32")), expected)
  assert lax.dot(lax.full((2, 2), 1.0), lax.full((2, 2), 1.0)).aval.weak_type
  assert not lax.dot(lax.full((2, 2), 1.0), np.ones((2, 2), "f")).aval.weak_type


def test_derivatives_of_mixed_dtypes() -> None:
  half = lax.convert_element_type(X, "bfloat16")
  for preferred in (None, "float32", "bfloat16"):
    def f(x: Any, y: Any, preferred: Any = preferred) -> Any:
      z = lax.dot(x, y, preferred_element_type=preferred)
      return lax.reduce_sum(lax.convert_element_type(z, "float32"), (0, 1))
    gx, gy = gnomon.grad(f, (0, 1))(half, X.T)
    assert (gx.dtype, gy.dtype) == (dtypes.bfloat16, np.float32)
    assert_close(
        np.asarray(gx).astype("f"), np.broadcast_to(X.T.sum(1), (3, 4)), rtol=1e-2)
    assert_close(gy, np.broadcast_to(X.sum(0)[:, None], (4, 3)))
  # a real operand beside a complex one has a real cotangent
  z = (X + 1j * X[::-1]).T.astype(np.complex64)
  g = gnomon.grad(lambda x: lax.reduce_sum(lax.real(lax.dot(x, z)), (0, 1)))(X)
  assert_close(g, np.broadcast_to(z.real.sum(1), (3, 4)))


def test_preferred_element_type() -> None:
  i = np.full((2, 200), 1, np.int8)
  assert lax.dot(i, i.T, preferred_element_type="int32").tolist() == [[200] * 2] * 2
  half = lax.convert_element_type(X, "bfloat16")
  out = lax.dot(half, lax.transpose(half, (1, 0)), preferred_element_type="float32")
  assert_close(out, X @ X.T, check_dtypes=True)
  assert lax.dot(X, X.T, preferred_element_type="int32").dtype == np.int32


def test_precisions() -> None:
  both = (lax.Precision.HIGHEST, lax.Precision.HIGHEST)
  preset = lax.DotAlgorithmPreset.F32_F32_F32
  cases: list[tuple[Any, Any]] = [
      (None, None), ("highest", both), ("float32", both), (lax.Precision.HIGHEST, both),
      (("high", "default"), (lax.Precision.HIGH, lax.Precision.DEFAULT)),
      ("F32_F32_F32", preset), (preset, preset)]
  for given, held in cases:
    jaxpr = gnomon.make_jaxpr(partial(lax.dot, precision=given))(X, X.T)
    assert jaxpr.jaxpr.eqns[0].params["precision"] == held
    assert_close(lax.dot(X, X.T, precision=given), X @ X.T)
  with gnomon.default_matmul_precision("float32"):
    assert gnomon.make_jaxpr(lax.dot)(X, X.T).jaxpr.eqns[0].params["precision"] == both
  names = {"fastest": 0, "bfloat16": 0, None: 0, "tensorfloat32": 1, "highest": 2, 2: 2}
  for name, value in names.items():
    assert lax.Precision(name).value == value
  assert repr(lax.Precision.HIGH) == "Precision.HIGH"


def test_algorithms() -> None:
  assert_close(
      lax.dot(X, X.T, precision=lax.DotAlgorithm("float32", "float32", "float32")),
      X @ X.T)
  for name in (
      "DEFAULT", "F16_F16_F16", "BF16_BF16_F32", "BF16_BF16_F32_X3", "F64_F64_F64"):
    assert_close(lax.dot(X, X.T, precision=name), X @ X.T, check_dtypes=True)
  with pytest.raises(ValueError, match="not supported on CPUs"):
    lax.dot(X, X.T, precision="TF32_TF32_F32")
  presets = lax.DotAlgorithmPreset
  assert presets.BF16_BF16_F32.supported_lhs_types == (dtypes.bfloat16, np.float32)
  assert presets.F16_F16_F32.supported_rhs_types == (np.float16,)
  assert presets.F16_F16_F32.supported_output_types("float16", "float16") == (np.float32,)
  assert presets.DEFAULT.supported_output_types("float32", "float32") is None
  f8 = presets.ANY_F8_ANY_F8_F32.supported_output_types("float32", "float32")
  assert f8 is not None
  assert len(f8) == 8
  assert str(presets.DEFAULT) == "DEFAULT"
  assert repr(presets.DEFAULT) == "DotAlgorithmPreset.DEFAULT"


def test_printed_program() -> None:
  text = str(gnomon.make_jaxpr(lambda x: lax.dot_general(
      x, x, (((1,), (1,)), ((), ())), "highest", "float32"))(X))
  for part in (
      "dimension_numbers=(([1], [1]), ([], []))",
      "precision=(Precision.HIGHEST, Precision.HIGHEST)",
      "preferred_element_type=float32"):
    assert part in text, text


ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: lax.dot(X, X), ValueError, r"\(3, 4\) and \(3, 4\)"),
    (lambda: lax.dot(X, 1.0), ValueError, "vectors and matrices"),
    (lambda: lax.dot(X, np.ones((2, 4, 3), "f")), ValueError, "vectors and matrices"),
    (lambda: lax.dot_general(X, X, C), TypeError, "contracting dimensions"),
    (lambda: lax.dot_general(X, X, (((-1,), (1,)), ((), ()))), TypeError, "between 0"),
    (lambda: lax.dot_general(X, X, (((2,), (1,)), ((), ()))), TypeError, "between 0"),
    (lambda: lax.dot_general(X, X, (((1, 1), (1, 1)), ((), ()))), TypeError, "distinct"),
    (lambda: lax.dot_general(X, X, (((1,), (1,)), ((1,), (1,)))), TypeError, "distinct"),
    (lambda: lax.dot_general(X, X, (((1,), (1, 0)), ((), ()))), TypeError, "equal numb"),
    (lambda: lax.dot_general(X, X.T, (((), ()), ((0,), (0,)))), TypeError, "batch dim"),
    (lambda: lax.dot_general(X, X.T, ((1,), (0,))), ValueError, "unpack"),
    (lambda: lax.batch_matmul(X[0], X[0]), ValueError, "equal rank"),
    (lambda: lax.batch_matmul(X, X[None]), ValueError, "equal rank"),
    (lambda: lax.dot(X.astype("int32"), X.T.astype("int32"),
                     preferred_element_type="int8"), TypeError, "narrower"),
    (lambda: lax.dot(X, X.T, precision="best"), ValueError, "got 'best'"),
    (lambda: lax.dot(X, X.T, precision=("high",)), ValueError, "precision must be"),
    (lambda: lax.dot(X, X.T, precision=3), ValueError, "precision must be")]


@pytest.mark.parametrize(("call", "error", "words"), ERRORS)
def test_errors(call: Callable[[], Any], error: type[Exception], words: str) -> None:
  with pytest.raises(error, match=words):
    call()


def test_floats_of_eight_bits_keep_their_formats():
  """Neither of two formats holds the numbers of the other."""
  narrow, wide = np.dtype("float8_e4m3fn"), np.dtype("float8_e5m2")
  x, y = np.float32([[1.125, 3.25]]), np.float32([[57344.0], [0.25]])
  for left, right in ((narrow, wide), (wide, narrow)):
    a, b = x.astype(left), y.astype(right)
    got = lax.dot(a, b, preferred_element_type=np.float32)
    np.testing.assert_allclose(got, a.astype(np.float32) @ b.astype(np.float32))
