"""The checks of derivatives find what is wrong, and only that."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.test_util import check_grads, check_jvp, check_vjp


@gnomon.custom_jvp
def wrong_first(x: Any) -> Any:
  return lax.sin(x)


wrong_first.defjvp(lambda p, t: (lax.sin(*p), lax.mul(t[0], lax.sin(*p))))


@gnomon.custom_jvp
def wrong_second(x: Any) -> Any:
  return lax.sin(x)


@wrong_second.defjvp
def _(primals: Any, tangents: Any) -> Any:
  x, t = *primals, *tangents
  return lax.sin(x), lax.mul(t, wrong_cosine(x))


@gnomon.custom_jvp
def wrong_cosine(x: Any) -> Any:
  return lax.cos(x)


wrong_cosine.defjvp(lambda p, t: (lax.cos(*p), lax.mul(t[0], lax.sin(*p))))


def test_right_derivatives_pass() -> None:
  x = np.linspace(0.3, 1.2, 6, dtype="float32").reshape(2, 3)
  check_grads(lax.sin, (x,), order=3)
  check_grads(lambda t: {"s": lax.mul(t["a"], t["b"])}, ({"a": x, "b": x + 1},), order=2)
  check_grads(lax.exp, (0.5 + 0.2j,), order=2)
  with gnomon.enable_x64(True):
    check_grads(lax.log, (np.float64(0.4),), order=3, atol=1e-8, rtol=1e-8)


def test_what_stays_infinite_does_not_move() -> None:
  which, infinity = np.array([True, False]), np.full(2, -np.inf, "f")
  check_grads(lambda x: lax.select(which, infinity, x), (np.float32([1, 2]),), 1)


def test_nan_agrees_with_nan() -> None:
  check_grads(lax.sin, (np.float32(np.nan),), 1)


def test_integers_are_held_fixed() -> None:
  def f(x: Any, n: Any) -> Any:
    return lax.mul(x, lax.convert_element_type(n, "float32")), n

  check_grads(f, (2.0, np.int32(3)), order=2)
  check_jvp(f, functools.partial(gnomon.jvp, f), (2.0, np.int32(3)))
  check_vjp(f, functools.partial(gnomon.vjp, f), (2.0, np.int32(3)))


@pytest.mark.parametrize("mode", ["fwd", "rev"])
def test_a_wrong_derivative_is_found(mode: str) -> None:
  with pytest.raises(AssertionError, match=rf"order 1 \({mode}\)"):
    check_grads(wrong_first, (0.4,), order=1, modes=[mode])


@pytest.mark.parametrize("outer", ["fwd", "rev"])
def test_a_wrong_second_derivative_is_found(outer: str) -> None:
  check_grads(wrong_second, (0.4,), order=1)
  with pytest.raises(AssertionError, match=rf"order 2 \({outer} of {outer}\)"):
    check_grads(wrong_second, (0.4,), order=2, modes=[outer])


def test_a_wrong_value_and_a_wrong_type_are_found() -> None:
  with pytest.raises(AssertionError, match="value of the jvp"):
    check_jvp(lax.sin, functools.partial(gnomon.jvp, lax.cos), (0.4,))
  with pytest.raises(AssertionError, match="value of the vjp"):
    check_vjp(lax.sin, functools.partial(gnomon.vjp, lax.cos), (0.4,))

  def doubled(primals: Any, tangents: Any) -> Any:
    value, tangent = gnomon.jvp(lax.sin, primals, tangents)
    return value, np.asarray(tangent).astype("float64")

  with pytest.raises(AssertionError, match="dtype is float64"):
    check_jvp(lax.sin, doubled, (np.float32(0.4),))

  def shapeless(*primals: Any) -> Any:
    value, pull = gnomon.vjp(lax.sin, *primals)
    return value, lambda ct: (np.asarray(pull(ct)[0])[0],)

  with pytest.raises(AssertionError, match=r"shape is \(\), but"):
    check_vjp(lax.sin, shapeless, (np.ones(1, "float32"),))


def test_the_message_begins_the_error() -> None:
  with pytest.raises(AssertionError, match=r"^my op: tangent of the jvp"):
    check_jvp(lax.sin, functools.partial(gnomon.jvp, wrong_first), (0.4,),
              err_msg="my op")
  with pytest.raises(AssertionError, match=r"^my op: reverse mode"):
    check_vjp(lax.sin, functools.partial(gnomon.vjp, wrong_first), (0.4,),
              err_msg="my op")


def test_bad_arguments() -> None:
  with pytest.raises(TypeError, match="tuple of arguments"):
    check_grads(lax.sin, 1.0, order=1)  # type: ignore[arg-type]
  with pytest.raises(ValueError, match="modes are 'fwd' and 'rev'"):
    check_grads(lax.sin, (1.0,), order=1, modes=["forward"])
  with pytest.raises(ValueError, match="at least 1"):
    check_grads(lax.sin, (1.0,), order=0)
  with pytest.raises(ValueError, match="nothing to differentiate"):
    check_grads(lax.neg, (np.int32(1),), order=1)


def test_functions_that_bend_are_checked_with_a_finer_step() -> None:
  x = np.float32(0.01)
  check_grads(lambda x: lax.log(lax.expm1(x)), (x,), order=1)
  with pytest.raises(AssertionError, match="differ"):
    check_grads(lambda x: lax.log(lax.expm1(x)), (x,), order=1, eps=5e-3)
