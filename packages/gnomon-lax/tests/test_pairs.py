"""Every nesting of the transformations to depth 3, against what they mean."""

from __future__ import annotations

import functools
import itertools
import time
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import gnomon
from gnomon import lax
from gnomon.custom_batching import custom_vmap

F = Callable[[Any], Any]
AT = 0.4


@pytest.fixture(autouse=True)
def _double() -> Any:
  with gnomon.enable_x64(True):
    yield


def _base(x: Any) -> Any:
  return lax.mul(lax.sin(x), lax.add(x, 1.0))


def _mapped(f: F) -> F:
  def g(x: Any) -> Any:
    xs = lax.mul(lax.broadcast(x, (2,)), np.array([1.0, 2.0]))
    return lax.reduce_sum(gnomon.vmap(f)(xs), (0,))

  return g


def _scan(f: F) -> F:
  def g(x: Any) -> Any:
    return lax.scan(lambda c, s: (f(lax.mul(c, s)), None), x, np.array([1.0, 2.0]))[0]

  return g


def _own_jvp(f: F) -> F:
  g = gnomon.custom_jvp(f)
  g.defjvp(lambda p, t: (g(*p), lax.mul(t[0], gnomon.grad(f)(*p))))
  return g


def _own_vjp(f: F) -> F:
  g = gnomon.custom_vjp(f)
  g.defvjp(lambda x: (g(x), x), lambda x, ct: (lax.mul(ct, gnomon.grad(f)(x)),))
  return g


def _own_vmap(f: F) -> F:
  g = custom_vmap(f)
  g.def_vmap(lambda size, in_batched, xs: (gnomon.vmap(f)(xs), True))
  return g


def _cond(f: F) -> F:
  return lambda x: lax.cond(lax.gt(x, -9.0), f, lambda x: x, x)


def _while(f: F) -> F:
  def g(x: Any) -> Any:
    return lax.fori_loop(0, 2, lambda i, c: f(c), x)

  return g


POLICY = gnomon.checkpoint_policies.save_any_names_but_these()
TRANSFORMATIONS: dict[str, tuple[Callable[[F], F], str]] = {  # and what each means
    "grad": (gnomon.grad, "d"), "vmap": (_mapped, "sum"), "scan": (_scan, "scan"),
    "jit": (gnomon.jit, ""), "checkpoint": (gnomon.checkpoint, ""),
    "policy": (functools.partial(gnomon.checkpoint, policy=POLICY), ""),
    "custom_jvp": (_own_jvp, ""), "custom_vjp": (_own_vjp, ""),
    "custom_vmap": (_own_vmap, ""), "cond": (_cond, ""), "fori_loop": (_while, "twice")}
MEANINGS: dict[str, Callable[[F], F]] = {
    "d": lambda f: lambda x: mpmath.diff(f, x),
    "sum": lambda f: lambda x: f(x) + f(2 * x),
    "scan": lambda f: lambda x: f(2 * f(x)), "twice": lambda f: lambda x: f(f(x))}


@functools.cache
def _value(meanings: tuple[str, ...]) -> float:
  def f(x: Any) -> Any:
    return mpmath.sin(x) * (x + 1)

  with mpmath.workdps(60):
    for m in reversed(meanings):
      f = MEANINGS[m](f)
    return float(f(mpmath.mpf(str(AT))))


def _check(names: tuple[str, ...]) -> None:
  f, meanings = _base, []
  for name in reversed(names):
    f = TRANSFORMATIONS[name][0](f)
  meanings = [TRANSFORMATIONS[n][1] for n in names if TRANSFORMATIONS[n][1]]
  np.testing.assert_allclose(
      float(f(np.float64(AT))), _value(tuple(meanings)), rtol=1e-9,
      err_msg=" of ".join(names))


@pytest.mark.parametrize("outer", list(TRANSFORMATIONS))
def test_pairs(outer: str) -> None:
  for inner in TRANSFORMATIONS:
    _check((outer, inner))


@pytest.mark.parametrize("outer", list(TRANSFORMATIONS))
def test_three(outer: str) -> None:
  inner = [n for n in TRANSFORMATIONS if n not in ("jit", "cond", "fori_loop")]
  for middle, inmost in itertools.product(inner, repeat=2):
    _check((outer, middle, inmost))


@pytest.mark.parametrize("name", list(TRANSFORMATIONS))
def test_third_derivatives(name: str) -> None:
  _check(("grad", "grad", "grad", name))
  _check(("jit", "grad", name, "grad", "grad"))


def test_a_long_chain_is_traced_in_linear_time() -> None:
  def chain(n: int) -> F:
    def f(x: Any) -> Any:
      for _ in range(n // 2):
        x = lax.mul(lax.sin(x), 1.0001)
      return x

    return f

  def seconds(n: int) -> float:
    found = []
    for _ in range(3):
      began = time.process_time()
      program = gnomon.make_jaxpr(gnomon.grad(chain(n)))(AT)
      found.append(time.process_time() - began)
      assert len(program.eqns) == 5 * n // 2
    return min(found)

  short, long = seconds(1000), seconds(10_000)
  assert long < 25 * short  # 10 but for noise; 100 if each operation looked at all others


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_the_fourth_derivative(order: int) -> None:
  f = functools.reduce(lambda f, _: gnomon.grad(f), range(order), _base)
  for g in (f, gnomon.jit(f)):
    np.testing.assert_allclose(float(g(AT)), _value(("d",) * order), rtol=1e-9)
