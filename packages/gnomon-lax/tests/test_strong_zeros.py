"""A branch that a selection did not take adds nothing to derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax

# The last is where the function is used; at the others it, its derivative or its second
# derivative is infinite or not a number, or simply not used.
XS = np.array([-1, 0, 1, np.nan, np.inf, -np.inf, 0.5], np.float32)
AT = np.float32(0.5)
FUNCTIONS: dict[str, Any] = {
    "sqrt": lax.sqrt, "log": lax.log, "rsqrt": lax.rsqrt, "cbrt": lax.cbrt,
    "log1p": lax.log1p, "asin": lax.asin, "acos": lax.acos, "atanh": lax.atanh,
    "acosh": lambda x: lax.acosh(lax.add(x, 1.0)), "erf_inv": lax.erf_inv,
    "lgamma": lax.lgamma, "digamma": lax.digamma, "tan": lax.tan, "sin": lax.sin,
    "tanh": lax.tanh, "exp": lambda x: lax.exp(lax.mul(x, x)), "sinh": lax.sinh,
    "square": lax.square, "reciprocal": lax.reciprocal,
    "cube": lambda x: lax.integer_pow(x, 3), "pow": lambda x: lax.pow(x, -0.5),
    "pow of both": lambda x: lax.pow(x, x), "pow of an integer": lambda x: lax.pow(x, -2),
    "div": lambda x: lax.div(lax.sin(x), x), "mul": lambda x: lax.mul(x, lax.log(x)),
    "composed": lambda x: lax.log(lax.sqrt(x)),
    "norm": lambda x: lax.sqrt(lax.add(lax.square(x), x)),
    "max": lambda x: lax.max(lax.log(x), lax.div(1.0, x)),
    "atan2": lambda x: lax.atan2(x, lax.sub(x, x)), "rem": lambda x: lax.rem(x, x),
    "jit": gnomon.jit(lambda x: lax.sqrt(lax.log(lax.add(x, 1.0)))),
    "checkpoint": gnomon.checkpoint(lambda x: lax.sqrt(lax.log(lax.add(x, 1.0)))),
    "cond": lambda x: lax.cond(True, lax.log, lax.sqrt, x),
    "scan": lambda x: lax.scan(lambda c, _: (lax.sqrt(c), None), x, None, length=2)[0],
}


def _used(f: Any) -> Any:
  """`f` at 0.5, zero elsewhere."""
  return lambda x: lax.select(lax.eq(x, 0.5), f(x), lax.full_like(x, 0))


def _first(f: Any, x: Any) -> list[Any]:
  one = np.float32(1)
  return [
      gnomon.vmap(gnomon.grad(f))(x), gnomon.jit(gnomon.vmap(gnomon.grad(f)))(x),
      gnomon.grad(lambda x: lax.reduce_sum(gnomon.vmap(f)(x), (0,)))(x),
      gnomon.vmap(lambda x: gnomon.jvp(f, (x,), (one,))[1])(x)]


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_what_was_not_selected(name: str) -> None:
  f = FUNCTIONS[name]
  at, steps = np.float32(0.5), len(XS) - 1
  slope = [0] * steps + [gnomon.grad(f)(at)]
  for got in _first(_used(f), XS):
    np.testing.assert_allclose(got, slope, rtol=1e-5)
  whole = gnomon.vmap(_used(f))
  np.testing.assert_allclose(  # zeros beside the diagonal, too
      gnomon.jacfwd(whole)(XS), np.diag(np.array(slope, np.float32)), rtol=1e-5)
  np.testing.assert_allclose(
      gnomon.jacrev(whole)(XS), np.diag(np.array(slope, np.float32)), rtol=1e-5)
  bend = [0] * steps + [gnomon.grad(gnomon.grad(f))(at)]
  for second in (gnomon.grad(gnomon.grad(_used(f))), gnomon.hessian(_used(f))):
    np.testing.assert_allclose(gnomon.vmap(second)(XS), bend, rtol=1e-4, atol=1e-6)


def test_the_data_that_a_mask_leaves_out() -> None:
  data = np.array([1, np.nan, 3, np.inf], np.float32)
  mask = np.array([True, False, True, False])

  def loss(w: Any) -> Any:
    error = lax.square(lax.sub(lax.mul(data, w), 1.0))
    return lax.reduce_sum(lax.select(mask, error, np.zeros(4, np.float32)), (0,))

  w = np.float32(2)
  want = sum(2 * (d * 2 - 1) * d for d in (1, 3))
  for f in (loss, gnomon.jit(loss), gnomon.checkpoint(loss)):
    assert float(gnomon.grad(f)(w)) == want
    assert float(gnomon.jit(gnomon.grad(f))(w)) == want


SELECTIONS: dict[str, Any] = {  # each leaves out the first of two elements
    "slice": lambda y: lax.slice_in_dim(y, 1, 2),
    "index": lambda y: lax.dynamic_index_in_dim(y, 1),
    "max": lambda y: lax.reduce_max(y, (0,)),
    "update": lambda y: lax.dynamic_update_slice(y, np.zeros(1, np.float32), (0,)),
    "maximum": lambda y: lax.max(y, np.float32(-1)),
    "clamp": lambda y: lax.clamp(np.float32(-1), y, np.float32(9)),
    "sort": lambda y: lax.slice_in_dim(lax.sort(y), 1, 2),
}


@pytest.mark.parametrize("name", list(SELECTIONS))
def test_other_selections(name: str) -> None:
  f = SELECTIONS[name]
  xs = np.array([0, 2], np.float32)
  total = lambda x: lax.reduce_sum(f(lax.log(x)), tuple(  # noqa: E731
      range(gnomon.typeof(f(lax.log(x))).ndim)))
  np.testing.assert_allclose(gnomon.grad(total)(xs), [0, 0.5])
  np.testing.assert_allclose(gnomon.jit(gnomon.grad(total))(xs), [0, 0.5])


def test_cotangents_of_zero_from_the_user() -> None:
  xs = np.array([0, 2], np.float32)
  _, pull = gnomon.vjp(lax.log, xs)
  np.testing.assert_allclose(pull(np.array([0, 3], np.float32))[0], [0, 1.5])
  np.testing.assert_allclose(
      gnomon.jvp(lax.log, (xs,), (np.array([0, 3], np.float32),))[1], [0, 1.5])


def test_only_zeros_are_strong() -> None:
  assert float(gnomon.grad(lax.sqrt)(0.0)) == np.inf
  assert np.isnan(float(gnomon.grad(lax.sin)(np.inf)))
  z = gnomon.vjp(lax.sqrt, np.complex64(0))[1]
  assert complex(z(np.complex64(0))[0]) == 0


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "complex64"])
def test_dtypes(dtype: str) -> None:
  x = lax.convert_element_type(np.array([0, 4]), dtype)
  ct = lax.convert_element_type(np.array([0, 2]), dtype)
  got = gnomon.vjp(lax.sqrt, x)[1](ct)[0]
  assert got.dtype == x.dtype
  np.testing.assert_array_equal(np.asarray(got).astype(np.complex64), [0, 0.5])


# ---- what it costs


def _smooth(x: Any) -> Any:
  y = lax.div(lax.exp(x), lax.sqrt(lax.add(lax.square(x), 1.0)))
  return lax.reduce_sum(lax.log(lax.mul(y, gnomon.jit(lax.sin)(x))), (0,))


@pytest.mark.parametrize("wrap", [lambda f: f, gnomon.jit, gnomon.checkpoint])
def test_a_gradient_without_selections_compares_nothing(wrap: Any) -> None:
  x = np.ones(3, np.float32)

  def text(f: Any) -> str:
    return gnomon.jit(gnomon.grad(f)).lower(x).as_text()

  assert "select" not in text(wrap(_smooth))
  masked = wrap(lambda x: _smooth(lax.select(lax.gt(x, 0.0), lax.log(x), x)))
  assert text(masked).count("stablehlo.select") > 1


def test_a_sum_with_what_is_used_compares_nothing() -> None:
  """A residual stream: its cotangent is that of a selection, and one that is used."""
  def f(x: Any) -> Any:
    y = lax.log(x)
    chosen = lax.select(lax.gt(x, 1.0), lax.mul(y, 3.0), lax.full_like(y, 0))
    return lax.reduce_sum(lax.add(y, chosen), (0,))

  def only(x: Any) -> Any:
    y = lax.log(x)
    return lax.reduce_sum(lax.select(lax.gt(x, 1.0), y, lax.full_like(y, 0)), (0,))

  x = np.array([0.5, 2.0], np.float32)
  # The predicate's own comparison, and one where the product may be of a strong zero.
  assert gnomon.jit(gnomon.grad(only)).lower(x).as_text().count("compare") == 2
  assert gnomon.jit(gnomon.grad(f)).lower(x).as_text().count("compare") == 1
  np.testing.assert_allclose(
      gnomon.grad(f)(x), [1 / x[0], 4 / x[1]], rtol=1e-6)
  zero = np.array([0.0, 2.0], np.float32)
  np.testing.assert_array_equal(gnomon.grad(only)(zero), [0.0, 0.5])
  assert np.isinf(np.asarray(gnomon.grad(f)(zero))[0])


def test_loops_without_selections_compare_nothing() -> None:
  w = np.eye(3, dtype=np.float32)

  def step(c: Any, x: Any) -> Any:
    return lax.tanh(lax.add(lax.dot(c, w), x)), lax.sin(c)

  xs = np.ones((4, 3), np.float32) / 4

  def of_rows(xs: Any) -> Any:
    c, ys = lax.scan(step, np.zeros(3, np.float32), xs)
    return lax.add(lax.reduce_sum(c, (0,)), lax.reduce_sum(ys, (0, 1)))

  text = gnomon.jit(gnomon.grad(of_rows)).lower(xs).as_text()
  assert text.count("stablehlo.select") == 0
  masked = gnomon.jit(gnomon.grad(lambda xs: lax.reduce_sum(
      lax.slice(lax.scan(step, np.zeros(3, np.float32), xs)[1], (0, 0), (2, 3)),
      (0, 1)))).lower(xs).as_text()
  assert masked.count("stablehlo.select") > 0


def test_a_carry_that_is_not_used_at_the_end() -> None:
  """The last step computes log(0), which nothing asks for."""
  def f(c: Any) -> Any:
    _, ys = lax.scan(lambda c, _: (lax.log(c), c), c, None, length=2)
    return lax.reduce_sum(ys, (0,))

  def in_jit(c: Any) -> Any:
    return gnomon.jit(f)(lax.sqrt(c))

  for g, slope in ((f, 2.0), (in_jit, 1.0)):
    np.testing.assert_allclose(gnomon.grad(g)(1.0), slope)
    np.testing.assert_allclose(gnomon.jit(gnomon.grad(g))(1.0), slope)


def test_the_option_switches_it_off() -> None:
  f = gnomon.grad(_used(lax.sqrt))
  g = gnomon.jit(f)
  assert float(g(np.float32(0))) == 0
  text = str(gnomon.make_jaxpr(f)(np.float32(0)))
  gnomon.config.update("gnomon_strong_zeros", False)
  try:
    assert np.isnan(float(g(np.float32(0))))
    assert np.isnan(float(f(np.float32(0))))
    assert np.isnan(float(gnomon.grad(f)(np.float32(0))))
    assert np.isnan(float(gnomon.jvp(lax.log, (0.0,), (0.0,))[1]))
    assert str(gnomon.make_jaxpr(f)(np.float32(0))) == text
  finally:
    gnomon.config.update("gnomon_strong_zeros", True)
  assert float(g(np.float32(0))) == 0


def test_a_predicate_that_is_known() -> None:
  for which, slope in ((False, np.cos(AT)), (True, -np.sin(AT))):
    def f(x: Any, which: bool = which) -> Any:
      return lax.select_n(np.bool_(which), lax.sin(x), lax.cos(x))

    for g in (gnomon.grad(f), lambda x, f=f: gnomon.jvp(f, (x,), (np.float32(1),))[1]):
      assert float(g(AT)) == pytest.approx(slope)
      assert str(gnomon.make_jaxpr(g)(AT)).count("select_n") == 1
