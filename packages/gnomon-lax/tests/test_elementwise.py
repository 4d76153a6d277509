"""What elementwise operations share: accepted dtypes, edge values, accuracy, sizes."""

from __future__ import annotations

import cmath
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.core.primitive import all_primitives

inf, nan = math.inf, math.nan

# ---- accepted dtypes

_ALL = (
    "bool", "int8", "uint8", "int32", "uint32", "bfloat16", "float16", "float32",
    "complex64")
_INTS = ("int8", "uint8", "int32", "uint32")
_FLOATS = ("bfloat16", "float16", "float32")
_INEXACT = (*_FLOATS, "complex64")
_NUMBERS = (*_INTS, *_INEXACT)

_ACCEPTS: dict[str, tuple[tuple[str, ...], int, str | None]] = {}


def _accept(
    names: str, dtypes: tuple[str, ...], arity: int, out: str | None = None) -> None:
  for name in names.split():
    _ACCEPTS[name] = dtypes, arity, out


_accept(
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1 log "
    "log1p logistic sqrt rsqrt reciprocal", _INEXACT, 1)
_accept(
    "cbrt erf erfc erf_inv lgamma digamma bessel_i0e bessel_i1e floor ceil round",
    _FLOATS, 1)
_accept("is_finite", _FLOATS, 1, "bool")
_accept("neg sign square", _NUMBERS, 1)
_accept("bitwise_not", ("bool", *_INTS), 1)
_accept("population_count clz", _INTS, 1)
_accept("real imag", ("complex64",), 1, "float32")
_accept("conj", ("float32", "complex64"), 1, "complex64")
_accept("abs", ("int8", "int32", *_FLOATS), 1)
_accept("add sub mul div", _NUMBERS, 2)
_accept("rem", (*_INTS, *_FLOATS), 2)
_accept("max min", _ALL, 2)
_accept("pow atan2", _INEXACT, 2)
_accept(
    "nextafter igamma igammac igamma_grad_a random_gamma_grad polygamma zeta", _FLOATS, 2)
_accept("eq ne", _ALL, 2, "bool")
_accept("lt le gt ge", ("bool", *_INTS, *_FLOATS), 2, "bool")
_accept("complex", ("float32",), 2, "complex64")
_accept("bitwise_and bitwise_or bitwise_xor", ("bool", *_INTS), 2)
_accept("shift_left shift_right_logical shift_right_arithmetic mulhi", _INTS, 2)
_accept("clamp", _ALL, 3)
_accept("betainc", _FLOATS, 3)


@pytest.mark.parametrize("name", _ACCEPTS)
def test_dtypes(name: str) -> None:
  accepted, arity, out = _ACCEPTS[name]
  f = getattr(lax, name)
  for dtype in _ALL:
    args = [gnomon.ShapeDtypeStruct((2,), dtype)] * arity
    if dtype in accepted:
      assert gnomon.eval_shape(f, *args).dtype.name == (out or dtype), dtype
    elif (name, dtype) == ("abs", "complex64"):
      assert gnomon.eval_shape(f, *args).dtype == np.float32
    else:
      with pytest.raises(TypeError, match=dtype):
        gnomon.eval_shape(f, *args)


def test_low_precision_values() -> None:
  """Half precision is computed by XLA: the nearest value of the type, or next to it."""
  x = np.linspace(0.2, 0.9, 16, dtype=np.float32)
  names = [n for n, (dtypes, arity, out) in _ACCEPTS.items()
           if "bfloat16" in dtypes and arity == 1 and out is None and n != "acosh"]
  for dtype, eps in (("bfloat16", 2 ** -8), ("float16", 2 ** -11)):
    low = lax.convert_element_type(x, dtype)
    wide = lax.convert_element_type(low, "float32")
    everything = gnomon.jit(lambda x: {n: getattr(lax, n)(x) for n in names})
    expected = everything(wide)
    for name, value in everything(low).items():
      assert value.dtype.name == dtype
      np.testing.assert_allclose(
          np.asarray(value, np.float32), expected[name], rtol=3 * eps, atol=3 * eps,
          err_msg=name)


# ---- values and derivatives at the edges

# By name: operand, value, derivative.
_EDGES: list[tuple[str, list[tuple[float, float, float]]]] = [
    ("abs", [(0.0, 0.0, 1.0), (-0.0, 0.0, 1.0), (-2.0, 2.0, -1.0), (inf, inf, 1.0)]),
    ("sign", [(0.0, 0.0, 0.0), (-inf, -1.0, 0.0), (nan, nan, 0.0)]),
    ("floor", [(-0.5, -1.0, 0.0), (inf, inf, 0.0), (nan, nan, 0.0)]),
    ("ceil", [(0.5, 1.0, 0.0), (-inf, -inf, 0.0)]),
    ("round", [(0.5, 1.0, 0.0), (-0.5, -1.0, 0.0), (2.5, 3.0, 0.0)]),
    ("log", [(0.0, -inf, inf), (inf, inf, 0.0), (-1.0, nan, -1.0)]),
    ("log1p", [(-1.0, -inf, inf), (0.0, 0.0, 1.0), (1e-20, 1e-20, 1.0)]),
    ("expm1", [(-inf, -1.0, 0.0), (1e-20, 1e-20, 1.0), (-40.0, -1.0, math.exp(-40))]),
    ("exp", [(-inf, 0.0, 0.0), (inf, inf, inf)]),
    ("exp2", [(3.0, 8.0, 8 * math.log(2)), (-inf, 0.0, 0.0)]),
    ("logistic", [(inf, 1.0, 0.0), (-inf, 0.0, 0.0), (0.0, 0.5, 0.25)]),
    ("tanh", [(inf, 1.0, 0.0), (-inf, -1.0, 0.0), (0.0, 0.0, 1.0)]),
    ("asin", [(1.0, math.pi / 2, inf), (-1.0, -math.pi / 2, inf), (2.0, nan, nan)]),
    ("acos", [(1.0, 0.0, -inf), (-1.0, math.pi, -inf), (2.0, nan, nan)]),
    ("atan", [(inf, math.pi / 2, 0.0), (-inf, -math.pi / 2, 0.0)]),
    ("atanh", [(1.0, inf, inf), (-1.0, -inf, inf), (0.0, 0.0, 1.0)]),
    ("acosh", [(1.0, 0.0, inf), (0.5, nan, nan)]),
    ("asinh", [(0.0, 0.0, 1.0), (inf, inf, 0.0)]),
    ("sqrt", [(4.0, 2.0, 0.25), (-1.0, nan, nan)]),
    ("erf", [(inf, 1.0, 0.0), (-inf, -1.0, 0.0)]),
    ("erfc", [(inf, 0.0, 0.0), (-inf, 2.0, 0.0)]),
    ("erf_inv", [(1.0, inf, inf), (-1.0, -inf, inf), (0.0, 0.0, math.sqrt(math.pi) / 2)]),
    ("lgamma", [(0.0, inf, nan), (-1.0, inf, nan), (inf, inf, inf)]),
    ("bessel_i0e", [(0.0, 1.0, 0.0), (inf, 0.0, 0.0)]),
    ("bessel_i1e", [(0.0, 0.0, 0.5)]),
    ("is_finite", [(1.0, 1.0, 0.0), (inf, 0.0, 0.0), (nan, 0.0, 0.0)]),
]


@pytest.fixture
def _double() -> Iterator[None]:
  with gnomon.enable_x64(True):
    yield


@pytest.mark.usefixtures("_double")
def test_edges() -> None:
  def both(points: Any) -> Any:
    out = {}
    for name, x in points.items():
      value, t = gnomon.jvp(getattr(lax, name), (x,), (np.ones(x.shape),))
      out[name] = value, t
    return out

  points = {name: np.array([row[0] for row in rows]) for name, rows in _EDGES}
  results = gnomon.jit(both)(points)
  for name, rows in _EDGES:
    value, t = results[name]
    np.testing.assert_allclose(
        np.asarray(value, float), [r[1] for r in rows], 1e-14, 1e-15, err_msg=name)
    if t.dtype != gnomon.dtypes.float0:
      np.testing.assert_allclose(
          t, [r[2] for r in rows], 1e-13, 1e-15, err_msg=f"derivative of {name}")


@pytest.mark.usefixtures("_double")
def test_rounding_methods_and_precision() -> None:
  x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 2.4, nan])
  np.testing.assert_array_equal(
      lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), np.round(x))
  np.testing.assert_array_equal(
      lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), [1, 2, 3, -1, -2, 2, nan])
  np.testing.assert_array_equal(lax.round(x, 1), np.round(x))
  half = np.array([1 + 2.0 ** -12, 1e30, 1e-30, 0.1, nan], np.float32)
  with np.errstate(over="ignore"):
    np.testing.assert_array_equal(
        lax.reduce_precision(half, 5, 10), half.astype(np.float16).astype(np.float32))
  f = lambda x: lax.reduce_precision(x, exponent_bits=5, mantissa_bits=2)  # noqa: E731
  assert tuple(map(float, gnomon.jvp(f, (1.3,), (1.3,)))) == (1.25, 1.25)
  assert float(gnomon.grad(f)(1.3)) == 1.0
  assert gnomon.vmap(f)(np.array([1.3, 1.4])).tolist() == [1.25, 1.5]
  with pytest.raises(ValueError, match="exponent_bits"):
    lax.reduce_precision(1.0, 0, 3)
  with pytest.raises(ValueError, match="5"):
    lax.round(1.0, 5)


def test_nextafter() -> None:
  for dtype in (np.float32, np.float16):
    x = np.array([0.0, 1.0, -1.0, inf, 1.0, -0.0, nan], dtype)
    y = np.array([1.0, 2.0, 0.0, 0.0, 1.0, -1.0, 1.0], dtype)
    np.testing.assert_array_equal(lax.nextafter(x, y), np.nextafter(x, y))


# ---- complex numbers

_COMPLEX = {
    "sin": cmath.sin, "cos": cmath.cos, "tan": cmath.tan, "asin": cmath.asin,
    "acos": cmath.acos, "atan": cmath.atan, "sinh": cmath.sinh, "cosh": cmath.cosh,
    "tanh": cmath.tanh, "asinh": cmath.asinh, "acosh": cmath.acosh, "atanh": cmath.atanh,
    "exp": cmath.exp, "exp2": lambda z: 2 ** z, "expm1": lambda z: cmath.exp(z) - 1,
    "log": cmath.log, "log1p": lambda z: cmath.log(1 + z), "sqrt": cmath.sqrt,
    "rsqrt": lambda z: 1 / cmath.sqrt(z), "logistic": lambda z: 1 / (1 + cmath.exp(-z)),
    "square": lambda z: z * z, "reciprocal": lambda z: 1 / z}


@pytest.mark.usefixtures("_double")
def test_complex_functions_in_all_quadrants() -> None:
  """Values on the right branch, and derivatives as limits of complex differences."""
  z = np.array([0.7 + 0.4j, -0.7 + 1.4j, -2.1 - 0.3j, 1.6 - 0.9j, -1.5 + 0.2j])
  h = 1e-5

  def all_of(z: Any, t: Any) -> Any:
    return {n: gnomon.jvp(getattr(lax, n), (z,), (t,)) for n in _COMPLEX}

  for direction in (1.0, 1j):
    results = gnomon.jit(all_of)(z, np.full(5, direction, complex))
    for name, reference in _COMPLEX.items():
      f = np.vectorize(reference, otypes=[complex])
      value, t = results[name]
      np.testing.assert_allclose(value, f(z), rtol=2e-14, atol=1e-14, err_msg=name)
      slope = (f(z + h * direction) - f(z - h * direction)) / (2 * h)
      np.testing.assert_allclose(t, slope, rtol=1e-8, atol=1e-8, err_msg=name)


# ---- accuracy

_WITH_ACCURACY = (
    "exp", "exp2", "expm1", "log", "log1p", "logistic", "sin", "cos", "tan", "tanh",
    "sqrt", "rsqrt", "cbrt")


def test_accuracy() -> None:
  modes = (
      None, lax.AccuracyMode.HIGHEST, lax.AccuracyMode.DEFAULT,
      lax.Tolerance(1e-3, 0.0, 2))
  x = np.float32(0.5)
  for name in _WITH_ACCURACY:
    f = getattr(lax, name)
    values = gnomon.jit(lambda x, f=f: [f(x, accuracy=a) for a in modes])(x)
    np.testing.assert_allclose(values, f(x), rtol=2e-3, err_msg=name)
    with pytest.raises(TypeError, match="accuracy"):
      f(x, accuracy=3)
  assert lax.Tolerance(1.0) == lax.Tolerance(1.0)
  with pytest.raises(ValueError, match="-1"):
    lax.Tolerance(rtol=-1.0)


# ---- how large derivatives are when traced

_MOST_EQUATIONS = {
    "sin": 3, "cos": 4, "tan": 4, "asin": 5, "acos": 6, "atan": 4, "sinh": 3, "cosh": 3,
    "tanh": 5, "asinh": 17, "acosh": 7, "atanh": 6, "exp": 2, "exp2": 4, "expm1": 3,
    "log": 2, "log1p": 3, "logistic": 4, "sqrt": 3, "rsqrt": 4, "cbrt": 4, "erf": 6,
    "erfc": 6, "erf_inv": 5, "lgamma": 3, "digamma": 3, "bessel_i0e": 6, "bessel_i1e": 14,
    "neg": 2, "abs": 4, "sign": 2, "square": 3, "reciprocal": 4, "add": 2, "sub": 2,
    "mul": 4, "div": 7, "rem": 10, "max": 22, "min": 22, "pow": 14, "atan2": 23,
    "clamp": 16}


def test_derivatives_are_small_programs() -> None:
  """As many equations as JAX has, or fewer.

  More where JAX is wrong: pow at 0 to the 0, asinh and acosh at extremes, and atan2 where
  the sum of squares leaves the range of floats.
  """
  for name, most in _MOST_EQUATIONS.items():
    x = np.ones(3, np.float32)
    f, arity = getattr(lax, name), _ACCEPTS[name][1]
    jaxpr = gnomon.make_jaxpr(lambda *xs, f=f: gnomon.jvp(f, xs, xs))(*[x] * arity)
    assert len(jaxpr.jaxpr.eqns) <= most, f"{name}: {jaxpr}"


def test_every_public_primitive_is_exported() -> None:
  elementwise = {
      "and", "or", "xor", "not", "eq_to", "lt_to", "le_to", "reduce_precision",
      "bitcast_convert_type", "integer_pow", "convert_element_type"}
  names = {p.name for p in all_primitives()}
  for name in elementwise | (set(_ACCEPTS) & names):
    assert hasattr(lax, f"{name}_p") or name == "random_gamma_grad", name
