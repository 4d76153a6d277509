"""Elementwise functions of one argument: values, dtypes, derivatives, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import gnomon
import gnomon.numpy as gnp
from gnomon import dtypes

BF16 = np.dtype(dtypes.bfloat16)
FLOATS = (np.dtype("float32"), np.dtype("float16"), BF16)
INTS = tuple(map(np.dtype, ("int8", "uint8", "int32", "uint32")))
BOOL = np.dtype(bool)
C64 = np.dtype("complex64")
INF, NAN = np.inf, np.nan

EDGES = np.array(
    [-INF, -100.25, -3.5, -2.5, -1, -0.75, -0.5, -0.0, 0.0, 0.25, 0.5, 1, 1.5, 2.5, 3,
     7.75, 80, INF, NAN])
WHOLE = np.array([0, 1, 2, 3, 7, 100, 127])
SIGNED = np.array([-128, -100, -7, -1, 0, 1, 5, 127])
COMPLEX = np.array([0.5 + 0.25j, -0.75 + 1j, 1 - 2j, -0.25 - 0.5j, 2, 1j, 0])
TOLERANCE = {
    np.dtype("float16"): 2e-3, BF16: 2e-2, np.dtype("float32"): 2e-6, C64: 3e-6}

# Functions with floating-point results; whether they take complex numbers.
INEXACT: dict[str, tuple[Callable[..., Any], bool]] = {
    "sqrt": (np.sqrt, True), "cbrt": (np.cbrt, False), "exp": (np.exp, True),
    "exp2": (np.exp2, True), "expm1": (np.expm1, True), "log": (np.log, True),
    "log2": (np.log2, True), "log10": (np.log10, True), "log1p": (np.log1p, True),
    "sin": (np.sin, True), "cos": (np.cos, True), "tan": (np.tan, True),
    "sinh": (np.sinh, True), "cosh": (np.cosh, True), "tanh": (np.tanh, True),
    "arcsin": (np.arcsin, True), "arccos": (np.arccos, True),
    "arctan": (np.arctan, True), "arcsinh": (np.arcsinh, True),
    "arccosh": (np.arccosh, True), "arctanh": (np.arctanh, True),
    "deg2rad": (np.deg2rad, False), "rad2deg": (np.rad2deg, False),
    "sinc": (np.sinc, True), "rint": (np.rint, True), "fabs": (np.fabs, False),
    "reciprocal": (np.reciprocal, True), "i0": (scipy.special.i0, False)}
# Functions with results of the argument's dtype, or of another one.
EXACT: dict[str, tuple[Callable[..., Any], str]] = {
    "negative": (np.negative, "ifc"), "positive": (np.array, "bifc"),
    "absolute": (np.absolute, "bifc"), "sign": (np.sign, "if"),
    "square": (np.square, "ifc"), "floor": (np.floor, "bif"), "ceil": (np.ceil, "bif"),
    "trunc": (np.trunc, "bif"), "round": (np.round, "ifc"), "real": (np.real, "bifc"),
    "imag": (np.imag, "bifc"), "conj": (np.conj, "bifc"), "isnan": (np.isnan, "bifc"),
    "isinf": (np.isinf, "bifc"), "isfinite": (np.isfinite, "bifc"),
    "isposinf": (np.isposinf, "bif"), "isneginf": (np.isneginf, "bif"),
    "signbit": (np.signbit, "bif"), "iscomplex": (np.iscomplex, "bifc"),
    "isreal": (np.isreal, "bifc"), "logical_not": (np.logical_not, "bifc"),
    "invert": (np.invert, "bi"), "bitwise_count": (np.bitwise_count, "i"),
    "nan_to_num": (np.nan_to_num, "bifc")}


def samples(dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
  if dtype in FLOATS:
    return EDGES.astype(dtype)
  if dtype.kind == "c":
    return COMPLEX.astype(dtype)
  if dtype == BOOL:
    return np.array([False, True])
  return (WHOLE if dtype.kind == "u" else SIGNED).astype(dtype)


def wide(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
  """The same values in the dtype in which NumPy is to compute."""
  return x.astype(np.float64) if x.dtype in FLOATS else x.astype(
      np.complex128) if x.dtype == C64 else x


def check(got: Any, want: Any, dtype: Any, tolerance: float = 0) -> None:
  assert got.dtype == dtype
  got = np.asarray(got)
  with np.errstate(all="ignore"):
    want = np.asarray(want).astype(dtype)
  if got.dtype.kind == "c":
    got, want = (np.stack([x.real, x.imag]) for x in (got, want))
  if got.dtype.kind in "biu":
    np.testing.assert_array_equal(got, want)
  else:
    got, want = got.astype(np.float64), want.astype(np.float64)
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
    zero = (want == 0) & (got == 0)
    np.testing.assert_array_equal(
        np.signbit(got)[zero], np.signbit(want)[zero], err_msg=f"{dtype}")


@pytest.mark.parametrize("name", INEXACT)
def test_inexact_functions(name: str) -> None:
  reference, takes_complex = INEXACT[name]
  fun = getattr(gnp, name)
  for dtype in (*FLOATS, np.dtype("int8"), BOOL):
    x = samples(dtype)
    with np.errstate(all="ignore"):
      want = reference(wide(x) if dtype in FLOATS else x.astype(np.float64))
    out = dtype if dtype in FLOATS else np.dtype("float32")
    with np.errstate(all="ignore"):
      keep = np.abs(want.astype(out).astype(np.float64)) >= float(dtypes.finfo(out).tiny)
      keep |= (want == 0) | np.isnan(want)
    check(fun(x)[np.nonzero(keep)[0]], want[keep], out, 4 * TOLERANCE[out])
  x = samples(C64)
  if takes_complex:
    with np.errstate(all="ignore"):
      want = reference(wide(x))
    finite = np.isfinite(want)
    got = np.asarray(fun(x))
    assert got.dtype == C64
    np.testing.assert_allclose(got[finite], want[finite], rtol=5e-6, atol=5e-7)
  elif name not in ("deg2rad", "rad2deg"):
    with pytest.raises((TypeError, ValueError), match="complex64"):
      fun(x)


def _dtype_of(name: str, dtype: np.dtype[Any]) -> Any:
  if name.startswith("is") or name in ("signbit", "logical_not"):
    return BOOL
  if name == "bitwise_count":
    return np.dtype("uint8")
  if name in ("absolute", "real", "imag") and dtype.kind == "c":
    return np.dtype("float32")
  return dtype


@pytest.mark.parametrize("name", EXACT)
def test_functions_that_keep_the_dtype(name: str) -> None:
  reference, kinds = EXACT[name]
  fun = getattr(gnp, name)
  for dtype in (*FLOATS, *INTS, BOOL, C64):
    kind = "f" if dtype in FLOATS else "i" if dtype.kind == "u" else dtype.kind
    x = samples(dtype)
    if kind not in kinds:
      if (name, kind) not in {
          ("square", "b"), ("bitwise_count", "b"), ("sign", "c"), ("round", "b")}:
        with pytest.raises((TypeError, ValueError), match="accept"):
          fun(x)
      continue
    with np.errstate(all="ignore"):
      want = reference(wide(x))
    if name == "nan_to_num" and kind == "f":
      info = dtypes.finfo(dtype)
      want = np.nan_to_num(wide(x), posinf=float(info.max), neginf=float(info.min))
    if name == "sign":
      want = np.where(x == 0, x, want)  # keeps the sign of a zero
    check(fun(x), want, _dtype_of(name, dtype), 2e-7 if kind == "c" else 0)


def test_shapes_and_scalars() -> None:
  for shape in ((), (0,), (3, 0), (2, 1, 3)):
    x = np.linspace(-2, 2, int(np.prod(shape)), dtype=np.float32).reshape(shape)
    for name in ("sin", "negative", "isnan", "round"):
      got = getattr(gnp, name)(x)
      assert got.shape == shape
      np.testing.assert_allclose(got, getattr(np, name)(x), rtol=1e-6)
  assert gnp.sin(2).weak_type
  assert gnp.sin(2).dtype == np.float32
  assert not gnp.sin(np.float32(2)).weak_type


def test_under_transformations() -> None:
  x = np.linspace(0.1, 0.9, 6, dtype=np.float32).reshape(2, 3)
  names = sorted(n for n in {*INEXACT, *EXACT} if n not in ("invert", "bitwise_count"))

  def every(x: Any) -> list[Any]:
    return [getattr(gnp, n)(x) for n in names]

  eager = every(x)
  mapped = gnomon.jit(gnomon.vmap(every))(x)
  for name, a, b, c in zip(names, eager, gnomon.jit(every)(x), mapped):
    np.testing.assert_allclose(a, b, rtol=1e-6, err_msg=name)
    np.testing.assert_allclose(a, c, rtol=1e-6, err_msg=name)
  jaxpr = gnomon.make_jaxpr(every)(x)
  assert not {e.primitive.name for e in jaxpr.jaxpr.eqns} & {"jit", "pjit"}


SMOOTH = [
    "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin",
    "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "arcsinh",
    "arctanh", "deg2rad", "rad2deg", "sinc", "fabs", "reciprocal", "i0", "negative",
    "positive", "absolute", "square", "nan_to_num"]


def test_derivatives_against_differences() -> None:
  with gnomon.enable_x64(True):
    x = np.array([0.13, 0.41, 0.77])
    h = 1e-5

    def every(x: Any) -> list[Any]:
      return [getattr(gnp, n)(x) for n in SMOOTH]

    first = gnomon.jit(lambda x: gnomon.jvp(every, (x,), (gnp.ones_like(x),))[1])
    second = gnomon.jit(lambda x: gnomon.jvp(first, (x,), (gnp.ones_like(x),))[1])
    reverse = gnomon.jit(lambda x: [
        gnomon.grad(lambda x, i=i: every(x)[i].sum())(x) for i in range(len(SMOOTH))])
    values = gnomon.jit(every)
    up, down, up1, down1 = values(x + h), values(x - h), first(x + h), first(x - h)
    for i, name in enumerate(SMOOTH):
      slope = (np.asarray(up[i]) - np.asarray(down[i])) / (2 * h)
      np.testing.assert_allclose(first(x)[i], slope, rtol=1e-7, atol=1e-9, err_msg=name)
      np.testing.assert_allclose(reverse(x)[i], first(x)[i], rtol=1e-12, err_msg=name)
      bend = (np.asarray(up1[i]) - np.asarray(down1[i])) / (2 * h)
      np.testing.assert_allclose(second(x)[i], bend, rtol=1e-6, atol=1e-8, err_msg=name)


def test_sinc_near_zero() -> None:
  d1 = gnomon.jit(gnomon.vmap(gnomon.grad(gnp.sinc)))
  d2 = gnomon.jit(gnomon.vmap(gnomon.grad(gnomon.grad(gnp.sinc))))
  x = np.float32([0, 1e-30, 1e-3, -1e-3, 0.05, 0.3, 0.33, 2.5])
  z = np.pi * x.astype(np.float64)
  far = np.where(np.abs(z) < 0.2, 1, z)
  slope = np.where(
      np.abs(z) < 0.2, -z / 3 + z ** 3 / 30 - z ** 5 / 840,
      (np.cos(far) - np.sin(far) / far) / far)
  np.testing.assert_allclose(d1(x), np.pi * slope, rtol=4e-6)
  bend = np.where(
      np.abs(z) < 0.2, -1 / 3 + z ** 2 / 10 - z ** 4 / 168,
      -np.sin(far) / far - 2 * (np.cos(far) - np.sin(far) / far) / far ** 2)
  np.testing.assert_allclose(d2(x), np.pi ** 2 * bend, rtol=1e-5)
  assert gnomon.grad(gnomon.grad(gnp.sinc))(0.0) == pytest.approx(-np.pi ** 2 / 3)


def test_round() -> None:
  x = np.array([-12.5, -0.125, 0.375, 2.675, 1234.5, np.nan, np.inf], np.float32)
  for decimals in (-2, -1, 0, 1, 2):
    np.testing.assert_allclose(
        gnp.round(x, decimals), np.round(x, decimals), rtol=1e-6, err_msg=str(decimals))
  n = np.array([-125, -115, -55, -50, -45, 0, 5, 15, 50, 51, 127], np.int8)
  for decimals in (-3, -2, -1, 0, 2):
    want = np.round(n.astype(np.float64), decimals).astype(np.int64).astype(np.int8)
    np.testing.assert_array_equal(gnp.round(n, decimals), want, err_msg=str(decimals))
  half = np.float16([1.25e-3, 0.1234, 9.87])
  np.testing.assert_allclose(
      gnp.round(half, 5), np.round(half.astype(float), 5), rtol=1e-3)
  np.testing.assert_array_equal(gnp.round(x, 60), x)
  np.testing.assert_array_equal(gnp.round(x[:-2], -60), np.zeros(5))
  z = np.complex64([1.25 + 2.75j])
  np.testing.assert_allclose(gnp.round(z, 1), np.round(z, 1), rtol=1e-6)
  with pytest.raises(NotImplementedError, match="out"):
    gnp.round(x, 1, x)
  with pytest.raises(TypeError):
    gnp.round(x, 1.5)


def test_parts_of_floats() -> None:
  for dtype in (*FLOATS, np.dtype("float64")):
    with gnomon.enable_x64(dtype == np.float64):
      x = np.array([-INF, -6.5, -1, -0.0, 0, 0.1, 1, 3, 1000, INF, NAN]).astype(dtype)
      mantissa, exponent = gnp.frexp(x)
      m, e = np.frexp(x.astype(np.float64))
      check(mantissa, m, dtype)
      assert exponent.dtype == np.int32
      np.testing.assert_array_equal(exponent, np.where(np.isfinite(x), e, 0))
      check(gnp.ldexp(x, np.arange(-5, 6)), np.ldexp(
          x.astype(np.float64), np.arange(-5, 6)), dtype)
      part, whole = gnp.modf(x)
      p, w = np.modf(x.astype(np.float64))
      check(part, p, dtype)
      check(whole, w, dtype)
  x = np.float32([np.finfo(np.float32).tiny, 1, 1, -1, 3e38, 1])
  n = np.int32([252, 127, -126, -149, -250, 300])
  got = np.asarray(gnp.ldexp(x, n))
  with np.errstate(over="ignore"):
    want = np.ldexp(x, n)
  normal = np.abs(want) >= np.finfo(np.float32).tiny
  np.testing.assert_array_equal(got[normal], want[normal])
  assert gnomon.grad(lambda x: gnp.ldexp(x, 5))(1.0) == 32
  assert gnomon.grad(lambda x: gnp.frexp(x)[0])(6.0) == 0.125
  with pytest.raises(ValueError, match="integer exponent"):
    gnp.ldexp(1.0, 2.0)


def test_spacing_and_next() -> None:
  x = np.float32([INF, NAN, 0, -1, 1, 3e38, 1e-38, 1.5e-45, -2e-40, 1e10])
  got, want = np.asarray(gnp.spacing(x)), np.spacing(x)
  np.testing.assert_array_equal(got.view(np.int32)[2:], want.view(np.int32)[2:])
  assert np.isnan(got[:2]).all()
  for dtype in (np.dtype("float16"), np.dtype("float32")):
    y = np.array([0, 1, -1, 100, 0.1]).astype(dtype)
    check(gnp.nextafter(y, dtype.type(2)), np.nextafter(y, dtype.type(2)), dtype)
    away = np.where(y < 0, -np.inf, np.inf).astype(dtype)  # np.spacing errs for float16
    check(gnp.spacing(y), np.nextafter(y, away) - y, dtype)
  assert np.asarray(gnp.spacing(gnp.bfloat16(1))).astype(float) == 2.0 ** -7


def test_angle_and_complex_parts() -> None:
  z = np.complex64([1, -1, 1j, -1j, 1 + 1j, 0])
  np.testing.assert_allclose(gnp.angle(z), np.angle(z), rtol=1e-6)
  np.testing.assert_allclose(gnp.angle(z, deg=True), np.angle(z, deg=True), rtol=1e-6)
  np.testing.assert_allclose(gnp.angle(np.float32([-2, 3])), [np.pi, 0], rtol=1e-6)
  assert gnp.angle(np.int8([-2])).dtype == np.float32
  for x, yes in ((gnp.array([1j]), True), ([1j, 2], True), (None, False), ("t", False)):
    assert gnp.iscomplexobj(x) is yes
    assert gnp.isrealobj(x) is not yes
  for x, yes in (
      (2, True), ("a", True), (gnp.array(1), True), ([1], False), (None, False),
      (gnp.ones(1), False)):
    assert gnp.isscalar(x) is yes


def test_nan_to_num() -> None:
  x = gnp.array([NAN, INF, -INF, 2.0])
  np.testing.assert_array_equal(
      gnp.nan_to_num(x, nan=1, posinf=2, neginf=-3), [1, 2, -3, 2])
  np.testing.assert_array_equal(
      gnp.nan_to_num(x, nan=gnp.array([5.0, 6, 7, 8]))[0], 5)
  z = gnp.nan_to_num(gnp.array([complex(NAN, INF)]), posinf=9)
  np.testing.assert_array_equal(z, [9j])
  assert gnp.nan_to_num(np.int32([3]), nan=2.5).dtype == np.int32
  np.testing.assert_array_equal(
      gnomon.grad(lambda x: gnp.nan_to_num(x).sum())(x), [0, 0, 0, 1])


@pytest.mark.parametrize("name", [*INEXACT, *EXACT])
def test_arguments_that_are_no_arrays(name: str) -> None:
  for bad in ([1.0], None, {}):
    with pytest.raises(TypeError, match="requires ndarray"):
      getattr(gnp, name)(bad)
