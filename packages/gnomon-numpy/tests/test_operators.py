"""Operators of arrays: against NumPy's, on both sides, in and out of traces."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import gnomon
import gnomon.numpy as gnp

BINARY = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "**": operator.pow,
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge}
BITS = {
    "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift,
    ">>": operator.rshift}
FLOAT = np.float32([[0.5, 1.5, 2.0], [-1.0, 3.0, 0.25]])
INT = np.int32([[5, 3, 2], [7, 1, 6]])


@pytest.mark.parametrize("symbol", BINARY)
def test_binary(symbol: str) -> None:
  fun = BINARY[symbol]
  x = gnp.asarray(np.abs(FLOAT))
  for other in (2, 1.5, np.float32(2), np.float32([1, 2, 3]), gnp.array([1.0, 2.0, 3.0])):
    for got, want in (
        (fun(x, other), fun(np.abs(FLOAT), np.asarray(other))),
        (fun(other, x), fun(np.asarray(other), np.abs(FLOAT)))):
      assert isinstance(got, gnomon.Array)
      assert got.dtype == (bool if want.dtype == bool else np.float32)
      np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("symbol", BITS)
def test_bits(symbol: str) -> None:
  fun = BITS[symbol]
  x = gnp.asarray(INT)
  for other in (1, np.int32(2), np.int32([1, 2, 3]), gnp.array([1, 2, 3])):
    np.testing.assert_array_equal(fun(x, other), fun(INT, np.asarray(other)))
    np.testing.assert_array_equal(fun(other, x), fun(np.asarray(other), INT))
  if symbol in "&|^":
    np.testing.assert_array_equal(fun(x > 2, x < 6), fun(INT > 2, INT < 6))


def test_unary() -> None:
  x = gnp.asarray(FLOAT)
  np.testing.assert_array_equal(-x, -FLOAT)
  np.testing.assert_array_equal(+x, FLOAT)
  np.testing.assert_array_equal(abs(x), abs(FLOAT))
  np.testing.assert_array_equal(~gnp.asarray(INT), ~INT)
  np.testing.assert_array_equal(round(x, 1), np.round(FLOAT, 1))
  assert round(x).dtype == np.int32
  np.testing.assert_array_equal(round(x), np.round(FLOAT))
  for got, want in zip(divmod(x, 2), divmod(FLOAT, 2)):
    np.testing.assert_array_equal(got, want)
  for got, want in zip(divmod(2, x), divmod(2, FLOAT)):
    np.testing.assert_array_equal(got, want)


def test_matmul() -> None:
  x, y = gnp.asarray(FLOAT), gnp.asarray(FLOAT.T)
  np.testing.assert_allclose(x @ y, FLOAT @ FLOAT.T, rtol=1e-6)
  np.testing.assert_allclose(FLOAT @ y, FLOAT @ FLOAT.T, rtol=1e-6)


def test_in_traces() -> None:
  def every(x: Any, y: Any) -> list[Any]:
    return [
        f(a, b) for f in BINARY.values() for a, b in ((x, y), (x, 2), (2, x), (x, 1.5))]

  x, y = np.abs(FLOAT), np.float32([1, 2, 3])
  want = every(gnp.asarray(x), gnp.asarray(y))
  jaxpr = gnomon.make_jaxpr(every)(x, y)
  assert "pjit" not in str(jaxpr)
  assert len(gnomon.make_jaxpr(lambda x: x + 1)(x).eqns) == 1
  assert len(gnomon.make_jaxpr(lambda x: 2.5 * x)(x).eqns) == 1
  for got, w in zip(gnomon.jit(every)(x, y), want):
    np.testing.assert_allclose(got, w, rtol=1e-6)
  for got, w in zip(gnomon.vmap(every, (0, None))(x, y), want):
    np.testing.assert_allclose(got, w, rtol=1e-6)
  assert gnomon.grad(lambda x: 3 / x + x ** 2 - -x)(2.0) == 3 * -0.25 + 4 + 1


class Strange:
  """Knows what to do with arrays."""

  def __radd__(self, other: Any) -> str:
    return "strange"

  __rmul__ = __rlt__ = __gt__ = __radd__


class Wrapped:
  """Becomes an array."""

  def __jax_array__(self) -> Any:
    return gnp.array([1.0, 2.0])


def test_other_types() -> None:
  x = gnp.array([1.0, 2.0])
  assert x + Strange() == "strange"
  assert x * Strange() == "strange"
  assert (x < Strange()) == "strange"
  np.testing.assert_array_equal(x + Wrapped(), [2, 4])
  np.testing.assert_array_equal(gnp.add(Wrapped(), x), [2, 4])
  assert (x == None) is False  # noqa: E711
  assert (x != "text") is True
  for bad in ([1, 2], (1, 2)):
    with pytest.raises(TypeError, match=r"unsupported operand.*\+.*asarray"):
      _ = x + bad
    with pytest.raises(TypeError, match="asarray"):
      bad * x
    with pytest.raises(TypeError, match="asarray"):
      x == bad  # noqa: B015
  for bad in (None, "text", {}):
    with pytest.raises(TypeError, match="unsupported operand"):
      x - bad
  with pytest.raises(TypeError, match="booleans"):
    (x > 1) - (x > 1)
  with pytest.raises(TypeError, match="bool"):
    _ = -(x > 1)


def test_overflow_of_python_numbers() -> None:
  small = gnp.array([1], gnp.int8)
  assert (small + 300).tolist() == [45]
  assert (gnp.array([1], gnp.uint8) + -1).tolist() == [0]
  with pytest.raises(OverflowError, match="too large"):
    gnp.array([1]) + 2 ** 40


def test_known_values_in_traces_are_not_needed() -> None:
  @gnomon.jit
  def f(x: Any) -> Any:
    if x > 0:
      return x
    return -x

  with pytest.raises(gnomon.errors.TracerBoolConversionError):
    f(1.0)
