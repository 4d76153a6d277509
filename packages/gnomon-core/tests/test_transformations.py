"""Every nesting of the transformations, against finite differences and loops."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon.core.checking import check_jaxpr

F = Callable[[Any], Any]


@pytest.fixture(autouse=True)
def _double() -> Any:
  with gnomon.enable_x64(True):
    yield


def _functions(ops: Any) -> dict[str, F]:
  def plain(x: Any) -> Any:
    y = ops.mul(ops.sin(x), ops.cos(ops.mul(x, x)))
    return ops.add(ops.mul(y, y), ops.neg(x))

  def closing(x: Any) -> Any:  # an inner jit that closes over a tracer, called twice
    inner = gnomon.jit(lambda v: ops.mul(ops.sin(v), x))
    return ops.add(inner(x), inner(2.0))

  @gnomon.custom_jvp
  def own(x: Any) -> Any:
    return ops.mul(ops.sin(x), x)

  @own.defjvp
  def _(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return own(x), ops.mul(t, ops.add(ops.sin(x), ops.mul(x, ops.cos(x))))

  @gnomon.custom_vjp
  def own_reverse(x: Any) -> Any:
    return ops.mul(ops.sin(x), x)

  own_reverse.defvjp(
      lambda x: (ops.mul(ops.sin(x), x), x),
      lambda x, ct: (ops.mul(ct, ops.add(ops.sin(x), ops.mul(x, ops.cos(x)))),))

  def pytrees(x: Any) -> Any:
    f = gnomon.jit(lambda d: {"r": ops.mul(d["a"], d["b"][0]), "s": ops.sin(d["a"])})
    out = f({"a": x, "b": (ops.cos(x), 3.0)})
    return ops.add(out["r"], out["s"])

  return {
      "plain": plain, "closing": closing, "custom_jvp": own, "custom_vjp": own_reverse,
      "pytrees": pytrees, "checkpoint": gnomon.checkpoint(plain),
      "vmapped": lambda x: ops.sum(gnomon.vmap(lambda v: ops.mul(v, x))(
          np.array([1.0, 2.0, 3.0])))}


NAMES = (
    "plain", "closing", "custom_jvp", "custom_vjp", "pytrees", "checkpoint", "vmapped")


def _forward(f: F) -> F:
  return lambda x: gnomon.jvp(f, (x,), (1.0,))[1]


def _linear(f: F) -> F:
  return lambda x: gnomon.linearize(f, x)[1](1.0)


DERIVATIVES: dict[str, Callable[[F], F]] = {
    "grad": gnomon.grad, "jvp": _forward, "linearize": _linear,
    "jacfwd": gnomon.jacfwd, "jacrev": gnomon.jacrev,
    "jit grad": lambda f: gnomon.jit(gnomon.grad(f)),
    "grad jit": lambda f: gnomon.grad(gnomon.jit(f)),
    "grad checkpoint": lambda f: gnomon.grad(gnomon.checkpoint(f)),
    "jvp jit": lambda f: _forward(gnomon.jit(f))}


def _numeric(f: F, x: float, e: float = 1e-5) -> float:
  return (float(f(x + e)) - float(f(x - e))) / (2 * e)


def _skips(name: str, derivative: str) -> bool:
  """A function with a reverse rule alone has no forward derivative, by contract."""
  return name == "custom_vjp" and derivative in ("jvp", "linearize", "jacfwd", "jvp jit")


@pytest.mark.parametrize("name", NAMES)
def test_first_derivatives(ops: Any, name: str) -> None:
  f, x = _functions(ops)[name], 0.7
  want = _numeric(f, x)
  for d, derive in DERIVATIVES.items():
    if not _skips(name, d):
      np.testing.assert_allclose(float(derive(f)(x)), want, rtol=1e-7, err_msg=d)


@pytest.mark.parametrize("name", NAMES)
def test_second_derivatives(ops: Any, name: str) -> None:
  f, x = _functions(ops)[name], 0.7
  want = _numeric(gnomon.jit(gnomon.grad(f)), x)
  for (a, outer), (b, inner) in itertools.product(DERIVATIVES.items(), repeat=2):
    # Forward over a reverse rule is fine: the inner derivative runs its rules. A
    # checkpoint calls the function itself once more, for its value.
    if _skips(name, b) or (_skips(name, a) and b == "grad checkpoint"):
      continue
    np.testing.assert_allclose(
        float(outer(inner(f))(x)), want, rtol=1e-6, err_msg=f"{a} of {b}")


@pytest.mark.parametrize("name", NAMES)
def test_third_derivative_and_hessian(ops: Any, name: str) -> None:
  f, x = _functions(ops)[name], 0.7
  second = gnomon.jit(gnomon.grad(gnomon.grad(f)))
  third = gnomon.grad(gnomon.grad(gnomon.grad(f)))
  np.testing.assert_allclose(float(third(x)), _numeric(second, x), rtol=1e-6)
  np.testing.assert_allclose(float(gnomon.hessian(f)(x)), float(second(x)), rtol=1e-9)


MAPPED: dict[str, Callable[[F], F]] = {
    "f": lambda f: f, "grad": gnomon.grad,
    "grad grad": lambda f: gnomon.grad(gnomon.grad(f)),
    "jit": gnomon.jit, "jit grad": lambda f: gnomon.jit(gnomon.grad(f)),
    "grad jit": lambda f: gnomon.grad(gnomon.jit(f)), "jacrev": gnomon.jacrev}


@pytest.mark.parametrize("name", NAMES)
def test_vmap_is_a_loop(ops: Any, name: str) -> None:
  f = _functions(ops)[name]
  xs = np.random.default_rng(0).normal(size=4)
  for m, of in MAPPED.items():
    g = of(f)
    want = np.array([float(g(x)) for x in xs])
    for mapped in (
        gnomon.vmap(g), gnomon.jit(gnomon.vmap(g)), gnomon.vmap(gnomon.jit(g))):
      np.testing.assert_allclose(np.asarray(mapped(xs)), want, rtol=1e-12, err_msg=m)


@pytest.mark.parametrize("name", NAMES)
def test_gradient_through_vmap(ops: Any, name: str) -> None:
  f = _functions(ops)[name]
  xs = np.random.default_rng(1).normal(size=3)
  want = np.array([float(gnomon.grad(f)(x)) for x in xs])
  got = gnomon.grad(lambda v: ops.sum(gnomon.vmap(f)(v)))(xs)
  np.testing.assert_allclose(np.asarray(got), want, rtol=1e-12)
  got = gnomon.jit(gnomon.grad(lambda v: ops.sum(gnomon.vmap(gnomon.jit(f))(v))))(xs)
  np.testing.assert_allclose(np.asarray(got), want, rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_programs_are_well_formed(ops: Any, name: str) -> None:
  f = _functions(ops)[name]
  xs = np.ones(3)
  for g in (f, gnomon.grad(f), gnomon.grad(gnomon.jit(gnomon.grad(f)))):
    check_jaxpr(gnomon.make_jaxpr(g)(0.5))
    check_jaxpr(gnomon.make_jaxpr(gnomon.vmap(g))(xs))


def test_two_axes_of_vmap(ops: Any) -> None:
  x, y = np.arange(6.0).reshape(2, 3), np.arange(4.0)
  f = gnomon.vmap(
      gnomon.vmap(ops.mul, in_axes=(0, None)), in_axes=(1, None), out_axes=1)
  want = np.array([[[a * b for b in y] for a in col] for col in x.T])
  got = gnomon.vmap(
      gnomon.vmap(gnomon.vmap(ops.mul, in_axes=(None, 0)), in_axes=(0, None)),
      in_axes=(1, None))(x, y)
  np.testing.assert_allclose(np.asarray(got), want)
  np.testing.assert_allclose(np.asarray(f(x, np.float64(2.0))), 2 * x)
