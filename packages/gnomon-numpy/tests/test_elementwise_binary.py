"""Elementwise functions of two arguments: values, dtypes, derivatives, errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp
from gnomon import dtypes

BF16 = np.dtype(dtypes.bfloat16)
F32, F16, C64 = map(np.dtype, ("float32", "float16", "complex64"))
FLOATS = (F32, F16, BF16)
INTS = tuple(map(np.dtype, ("int8", "uint8", "int32", "uint32")))
BOOL = np.dtype(bool)
INF, NAN = np.inf, np.nan
TOLERANCE = {F16: 2e-3, BF16: 2e-2, F32: 4e-6, C64: 4e-6}

VALUES = np.array([-INF, -7.5, -3, -1, -0.5, -0.0, 0.0, 0.5, 1, 2, 3.25, 9, INF, NAN])
COUNTS = np.array([-128, -7, -3, -1, 0, 1, 2, 5, 7, 64, 127])
COMPLEX = np.array([0.5 + 0.25j, -0.75 + 1j, 1 - 2j, -0.25 - 0.5j, 2, 1j])

# By name: NumPy's function, the kinds of the arguments, the kind of the result.
CASES: dict[str, tuple[Callable[..., Any], str, str]] = {
    "add": (np.add, "bifc", "same"), "subtract": (np.subtract, "ifc", "same"),
    "multiply": (np.multiply, "bifc", "same"),
    "true_divide": (np.true_divide, "bifc", "inexact"),
    "floor_divide": (np.floor_divide, "if", "same"),
    "remainder": (np.remainder, "if", "same"), "fmod": (np.fmod, "if", "same"),
    "power": (np.power, "fc", "same"), "float_power": (np.power, "fc", "same"),
    "logaddexp": (np.logaddexp, "bif", "inexact"),
    "logaddexp2": (np.logaddexp2, "bif", "inexact"),
    "arctan2": (np.arctan2, "bif", "inexact"), "hypot": (np.hypot, "bif", "inexact"),
    "maximum": (np.maximum, "bifc", "same"), "minimum": (np.minimum, "bifc", "same"),
    "fmax": (np.fmax, "bifc", "same"), "fmin": (np.fmin, "bifc", "same"),
    "equal": (np.equal, "bifc", "bool"), "not_equal": (np.not_equal, "bifc", "bool"),
    "less": (np.less, "bifc", "bool"), "less_equal": (np.less_equal, "bifc", "bool"),
    "greater": (np.greater, "bifc", "bool"),
    "greater_equal": (np.greater_equal, "bifc", "bool"),
    "logical_and": (np.logical_and, "bifc", "bool"),
    "logical_or": (np.logical_or, "bifc", "bool"),
    "logical_xor": (np.logical_xor, "bifc", "bool"),
    "bitwise_and": (np.bitwise_and, "bi", "same"),
    "bitwise_or": (np.bitwise_or, "bi", "same"),
    "bitwise_xor": (np.bitwise_xor, "bi", "same"),
    "copysign": (np.copysign, "bif", "inexact"),
    "heaviside": (np.heaviside, "bif", "inexact"),
    "gcd": (np.gcd, "i", "same"), "lcm": (np.lcm, "i", "same")}


def grid(dtype: np.dtype[Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
  """All pairs of sample values, as a column and a row."""
  if dtype in FLOATS:
    x = VALUES.astype(dtype)
  elif dtype == BOOL:
    x = np.array([False, True])
  elif dtype.kind == "c":
    x = COMPLEX.astype(dtype)
  else:
    x = COUNTS[(0 if dtype.kind == "u" else -128) <= COUNTS].astype(dtype)
  return x[:, None], x


def kind_of(dtype: np.dtype[Any]) -> str:
  return "f" if dtype in FLOATS else "i" if dtype.kind == "u" else dtype.kind


def expected(name: str, dtype: np.dtype[Any], x: Any, y: Any) -> tuple[Any, Any]:
  reference, _, result = CASES[name]
  out = {"bool": BOOL, "same": dtype}.get(result, dtype if dtype.kind in "cfV" else F32)
  wide = {"f": np.float64, "c": np.complex128}.get(kind_of(dtype))
  if wide is None and result == "inexact":
    wide = np.float64
  if wide is not None:
    x, y = x.astype(wide), y.astype(wide)
  with np.errstate(all="ignore"):
    return reference(x, y), out


@pytest.mark.parametrize("name", CASES)
def test_values_and_dtypes(name: str) -> None:
  fun = getattr(gnp, name)
  for dtype in (*FLOATS, *INTS, BOOL, C64):
    x, y = grid(dtype)
    kind = kind_of(dtype)
    if kind not in CASES[name][1]:
      refused = kind == "c" and name not in ("arctan2", "logaddexp", "logaddexp2")
      if refused or name in ("subtract", "gcd", "lcm"):
        with pytest.raises((TypeError, ValueError), match=r"complex|integer|boolean"):
          fun(x, y)
      continue
    want, out = expected(name, dtype, x, y)
    got = fun(x, y)
    assert got.dtype == out, (dtype, got.dtype)
    got = np.asarray(got)
    with np.errstate(all="ignore"):
      want = want.astype(out)
    if out.kind in "biu":
      np.testing.assert_array_equal(got, want, err_msg=str(dtype))
      continue
    tolerance = 0 if name in EXACT else TOLERANCE[out]
    check_inexact(got, want, tolerance, str(dtype), zeros=name not in NO_ZEROS)


EXACT = {
    "add", "subtract", "multiply", "maximum", "minimum", "fmax", "fmin", "copysign",
    "heaviside", "fmod", "remainder", "floor_divide"}
NO_ZEROS = {"maximum", "minimum", "fmax", "fmin"}  # either zero is the larger one


def check_inexact(got: Any, want: Any, tolerance: float, text: str, zeros: bool) -> None:
  if got.dtype.kind == "c":
    np.testing.assert_allclose(got, want, rtol=max(tolerance, 1e-6), atol=1e-6)
    return
  got, want = got.astype(np.float64), want.astype(np.float64)
  np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance, err_msg=text)
  if zeros:
    zero = (want == 0) & (got == 0)
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(want[zero]), text)


def test_divmod_agrees_with_its_parts() -> None:
  for dtype in (F32, np.dtype("int8"), np.dtype("uint8")):
    x, y = grid(dtype)
    quotient, rest = gnp.divmod(x, y)
    np.testing.assert_array_equal(quotient, gnp.floor_divide(x, y))
    np.testing.assert_array_equal(rest, gnp.remainder(x, y))


def test_large_quotients_are_whole() -> None:
  rng = np.random.default_rng(0)
  x = np.float32(rng.normal(size=1000) * 10.0 ** rng.integers(-3, 8, 1000))
  y = np.float32(rng.normal(size=1000))
  quotient, rest = (np.asarray(a) for a in gnp.divmod(x, y))
  np.testing.assert_array_equal(quotient, np.floor(quotient))
  np.testing.assert_array_equal(rest, np.remainder(x, y))
  np.testing.assert_allclose(quotient, np.floor_divide(x, y), rtol=1e-6)


# ---- powers


def test_integer_powers() -> None:
  for dtype in INTS:
    info = np.iinfo(dtype)
    base = np.array([0, 1, 2, 3, 7, info.max, info.min, -1, -3]).astype(dtype)[:, None]
    exponent = np.array([0, 1, 2, 5, 31, 64, 65, 100, 127], dtype)
    bits = info.bits
    want = [[pow(int(b), int(e), 1 << bits) for e in exponent] for b in base[:, 0]]
    np.testing.assert_array_equal(
        gnp.power(base, exponent), np.array(want, np.uint64).astype(dtype))
    for e in (0, 1, 5, 64):
      np.testing.assert_array_equal(
          gnp.power(base[:, 0], e), np.array(want, np.uint64).astype(dtype)[
              :, list(exponent).index(e)])
  np.testing.assert_array_equal(
      gnp.power(np.int32([1, -1, -1, 2, -5, 0]), np.int32([-3, -3, -4, -1, -2, -1])),
      [1, -1, 1, 0, 0, 0])
  with pytest.raises(TypeError, match="negative"):
    gnp.power(np.int32([2]), -1)


def test_powers_with_constant_exponents() -> None:
  x = gnp.array([0.0, -2.0, 3.0])
  names = [e.primitive.name for e in gnomon.make_jaxpr(lambda x: x ** 3)(x).eqns]
  assert names == ["integer_pow"]
  names = [e.primitive.name for e in gnomon.make_jaxpr(lambda x: x ** 0.5)(x).eqns]
  assert names == ["pow"]
  for n in (0, 1, 2, 3, np.int32(4), np.uint8(2), True):
    np.testing.assert_allclose(x ** n, np.asarray(x) ** int(n))
    derivative = gnomon.vmap(gnomon.grad(lambda x, n=n: x ** n))(x)
    m = int(n)
    np.testing.assert_allclose(
        derivative, m * np.asarray(x) ** (m - 1) if m else np.zeros(3))
  np.testing.assert_allclose(gnp.power(x, np.int32([2, 3, 0])), [0, -8, 1])
  known = gnp.array(2)
  jaxpr = gnomon.make_jaxpr(lambda x: gnp.power(x, known))(x)
  assert [e.primitive.name for e in jaxpr.eqns] == ["integer_pow"]
  second = gnomon.grad(gnomon.grad(lambda x: gnp.power(x, known)))
  assert second(0.0) == 2
  for args, dtype, weak in (
      ((2, 3), "int32", True), ((2.0, 3), "float32", True),
      ((np.int8(2), np.int32(3)), "int8", False), ((True, 2), "int32", False),
      ((2, np.int8([2])), "int8", False), ((2.0, np.int8([2])), "float32", False),
      ((np.float16([2]), np.int32([2])), "float16", False)):
    got = gnp.power(*args)
    assert (got.dtype, got.weak_type) == (dtype, weak), args


# ---- shifts, next numbers


def test_shifts() -> None:
  for dtype in INTS:
    bits = np.iinfo(dtype).bits
    x = np.array([1, 3, 100, -5, -128]).astype(dtype)[:, None]
    n = np.array([0, 1, 3, bits - 1], dtype)
    np.testing.assert_array_equal(gnp.left_shift(x, n), np.left_shift(x, n))
    np.testing.assert_array_equal(gnp.right_shift(x, n), np.right_shift(x, n))
  assert gnp.left_shift(True, True).item() == 2
  with pytest.raises(TypeError, match="shift_left"):
    gnp.left_shift(1.0, 2)


def test_clip() -> None:
  x = np.float32([-INF, -2, 0.5, 3, NAN])
  np.testing.assert_array_equal(gnp.clip(x, -1, 1), np.clip(x, -1, 1))
  np.testing.assert_array_equal(gnp.clip(x, max=1), np.clip(x, None, 1))
  np.testing.assert_array_equal(gnp.clip(x, min=0), np.clip(x, 0, None))
  np.testing.assert_array_equal(
      gnp.clip(x[:4], np.float32([[0], [1]]), 2), np.clip(x[:4], [[0], [1]], 2))
  np.testing.assert_array_equal(gnp.clip(np.arange(3.0), 5, 1), [1, 1, 1])
  assert gnp.clip(np.int8([3]), 1, 2).dtype == np.int8
  assert gnp.clip(np.int8([3]), max=1.5).dtype == np.float32
  with pytest.raises(ValueError, match="complex"):
    gnp.clip(1j, 0, 1)
  with pytest.raises(ValueError, match="array"):
    gnp.clip()


# ---- edges


def test_hypot_of_infinities_and_extremes() -> None:
  assert gnp.hypot(INF, NAN).item() == INF
  assert gnp.hypot(NAN, -INF).item() == INF
  assert math.isnan(gnp.hypot(NAN, 1).item())
  big, small = np.float32(3e38), np.float32(2e-38)
  assert gnp.hypot(big, np.float32(1e38)).item() == pytest.approx(math.hypot(3e38, 1e38))
  assert gnp.hypot(small, small).item() == pytest.approx(math.hypot(2e-38, 2e-38))
  slope = gnomon.jit(gnomon.grad(gnp.hypot, (0, 1)))
  for args, want in (
      ((3.0, 4.0), (0.6, 0.8)), ((0.0, 0.0), (0, 0)), ((INF, 1.0), (1, 0)),
      ((1.0, -INF), (0, -1)), ((3e30, 4e30), (0.6, 0.8)),
      ((2.0, 2.0), (0.5 ** 0.5, 0.5 ** 0.5))):
    np.testing.assert_allclose(slope(*args), want, rtol=1e-6)


def test_logaddexp_derivatives_at_extremes() -> None:
  for fun in (gnp.logaddexp, gnp.logaddexp2):
    slope = gnomon.jit(gnomon.grad(fun, (0, 1)))
    for args, want in (
        ((0.0, 0.0), (0.5, 0.5)), ((-INF, -INF), (0.5, 0.5)), ((INF, 0.0), (1, 0)),
        ((-INF, 2.0), (0, 1)), ((1000.0, -1000.0), (1, 0)), ((INF, INF), (0.5, 0.5))):
      np.testing.assert_allclose(slope(*args), want)
    assert np.isnan(fun(-INF, NAN).item())
  x, y = np.complex64([1 + 2j, -3 + 1j]), np.complex64([0.5 - 1j, 2 + 3j])
  want = np.log(np.exp(x.astype(complex)) + np.exp(y.astype(complex)))
  np.testing.assert_allclose(gnp.logaddexp(x, y), want, rtol=1e-5)
  np.testing.assert_allclose(
      gnp.exp2(gnp.logaddexp2(x, y)), np.exp2(x) + np.exp2(y), rtol=1e-5)


def test_gcd_of_the_least_integer_ends() -> None:
  low = np.int32(-2 ** 31)
  x, y = np.int32([low, low, 0]), np.int32([6, low, low])
  with np.errstate(over="ignore"):
    np.testing.assert_array_equal(gnp.gcd(x, y), np.gcd(x, y))


SMOOTH = [
    "add", "subtract", "multiply", "true_divide", "remainder", "fmod", "power",
    "float_power", "logaddexp", "logaddexp2", "arctan2", "hypot", "maximum", "minimum",
    "fmax", "fmin", "copysign"]


def test_derivatives_against_differences() -> None:
  with gnomon.enable_x64(True):
    x, y = np.array([0.7, 2.3, 5.1]), np.array([1.3, 0.9, 2.2])
    h = 1e-5

    def every(x: Any, y: Any) -> Any:
      return gnp.stack([getattr(gnp, n)(x, y) for n in SMOOTH])

    value = gnomon.jit(every)
    one, zero = np.ones(3), np.zeros(3)
    push = gnomon.jit(lambda x, y, a, b: gnomon.jvp(every, (x, y), (a, b))[1])
    pull = gnomon.jit(gnomon.vmap(gnomon.jacrev(every, (0, 1)), 0, 1))
    backward = pull(x, y)
    for i, (a, b) in enumerate(((one, zero), (zero, one))):
      slope = (np.asarray(value(x + h * a, y + h * b)) - value(x - h * a, y - h * b)) / (
          2 * h)
      forward = push(x, y, a, b)
      for j, name in enumerate(SMOOTH):
        np.testing.assert_allclose(
            forward[j], slope[j], rtol=1e-6, atol=1e-8, err_msg=name)
        np.testing.assert_allclose(backward[i][j], forward[j], rtol=1e-12, err_msg=name)
      bend = (np.asarray(push(x + h * a, y + h * b, a, b))
              - push(x - h * a, y - h * b, a, b)) / (2 * h)
      twice = gnomon.jit(lambda x, y, a, b: gnomon.jvp(
          lambda x, y: push(x, y, a, b), (x, y), (a, b))[1])(x, y, a, b)
      np.testing.assert_allclose(twice, bend, rtol=1e-5, atol=1e-8)


# ---- shapes, transformations, errors


def test_broadcasting_and_scalars() -> None:
  for a, b in (((), ()), ((3,), ()), ((0,), (1,)), ((2, 1, 3), (4, 1)), ((1,), (2, 0))):
    x = np.linspace(0.5, 2, int(np.prod(a)), dtype=np.float32).reshape(a)
    y = np.linspace(-1, 3, int(np.prod(b)), dtype=np.float32).reshape(b)
    for name in ("add", "remainder", "maximum", "less", "copysign", "fmax"):
      got, want = getattr(gnp, name)(x, y), getattr(np, name)(x, y)
      assert got.shape == want.shape
      np.testing.assert_allclose(got, want, rtol=1e-6)
  with pytest.raises(ValueError, match=r"incompatible shapes.*\(2,\).*\(3,\)"):
    gnp.add(np.ones(2), np.ones(3))


def test_under_transformations() -> None:
  x = np.linspace(0.5, 2.5, 6, dtype=np.float32).reshape(2, 3)
  y = np.float32([1.5, 0.75, 2])
  names = sorted(n for n in CASES if "f" in CASES[n][1])

  def every(x: Any, y: Any) -> list[Any]:
    return [getattr(gnp, n)(x, y) for n in names]

  eager = every(x, y)
  compiled = gnomon.jit(every)(x, y)
  mapped = gnomon.jit(gnomon.vmap(every, (0, None)))(x, y)
  for name, a, b, c in zip(names, eager, compiled, mapped):
    np.testing.assert_allclose(a, b, rtol=1e-6, err_msg=name)
    np.testing.assert_allclose(a, c, rtol=1e-6, err_msg=name)
  integers = gnomon.vmap(lambda x: (gnp.power(x, x), gnp.gcd(x, 6), x // 2, x % 3))
  for a, b in zip(integers(gnp.arange(5)), (
      [1, 1, 4, 27, 256], [6, 1, 2, 3, 2], [0, 0, 1, 1, 2], [0, 1, 2, 0, 1])):
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", [*CASES, "left_shift", "nextafter", "ldexp", "divmod"])
def test_arguments_that_are_no_arrays(name: str) -> None:
  fun = getattr(gnp, name)
  for bad in ([1.0], None):
    with pytest.raises(TypeError, match="requires ndarray"):
      fun(bad, 1)
    with pytest.raises(TypeError, match="requires ndarray"):
      fun(1, bad)


def test_promotion_of_all_pairs() -> None:
  """Weak numbers give way, the rest meets in the lattice: stated by kind and size."""
  floats = ["bfloat16", "float16", "float32"]
  ints = ["int8", "int16", "int32"]
  uints = ["uint8", "uint16", "uint32"]

  def common(a: str, b: str) -> str:
    if b in (a, "bool"):
      return a
    if a == "bool":
      return b
    if "complex64" in (a, b):
      return "complex64"
    if a in floats or b in floats:
      both = {a, b} & set(floats)
      return both.pop() if len(both) == 1 else "float32"
    if (a in ints) == (b in ints):
      group = ints if a in ints else uints
      return group[max(group.index(a), group.index(b))]
    i, u = (a, b) if a in ints else (b, a)
    return ints[min(max(ints.index(i), uints.index(u) + 1), 2)]

  everything = ["bool", *ints, *uints, *floats, "complex64"]
  for a in everything:
    for b in everything:
      got = gnomon.eval_shape(
          gnp.multiply, gnomon.ShapeDtypeStruct((2,), a), gnomon.ShapeDtypeStruct((), b))
      assert got.dtype == common(a, b), (a, b, got)
    for number, kinds in ((2, "iufVc"), (2.0, "fVc"), (2j, "c")):
      got = gnomon.eval_shape(lambda x, n=number: x * n, gnomon.ShapeDtypeStruct((2,), a))
      keeps = (np.dtype(getattr(dtypes, a, a)).kind in kinds) and a != "bool"
      assert got.dtype == (a if keeps else {int: "int32", float: "float32"}.get(
          type(number), "complex64")), (a, number)
      assert got.weak_type is (not keeps and (number != 2j or not a.startswith(
          ("float", "bfloat")))), (a, number)
