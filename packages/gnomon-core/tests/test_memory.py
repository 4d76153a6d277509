"""What is remembered has bounds, and goes with what it belongs to."""

from __future__ import annotations

import functools
import gc
import sys
import weakref
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon.core import stage
from gnomon.runtime import execute


def test_the_tables_of_eager_operations_are_emptied_when_full(
    ops: Any, monkeypatch: pytest.MonkeyPatch) -> None:
  monkeypatch.setattr(execute, "_MAX_PROGRAMS", 5)
  monkeypatch.setattr(execute, "_programs", {})
  monkeypatch.setattr(execute, "_table", {})
  for n in [*range(1, 13), *range(1, 13)]:
    x = np.arange(n, dtype=np.float32)
    np.testing.assert_array_equal(np.asarray(ops.neg(x)), -x)
    assert len(execute._programs) <= 5
    assert len(execute._table) <= 5


def test_the_table_of_types_is_emptied_when_full(
    ops: Any, monkeypatch: pytest.MonkeyPatch) -> None:
  monkeypatch.setattr(stage, "_MAX_TYPED", 5)
  monkeypatch.setattr(stage, "_typed", {})
  for n in range(1, 20):
    out = gnomon.eval_shape(ops.neg, gnomon.ShapeDtypeStruct((n,), np.float32))
    assert out.shape == (n,)
    assert len(stage._typed) <= 5


def test_the_table_of_numbers_is_emptied_when_full(
    ops: Any, monkeypatch: pytest.MonkeyPatch) -> None:
  monkeypatch.setattr(execute, "_MAX_SCALARS", 5)
  monkeypatch.setattr(execute, "_scalars", {})
  for n in range(20):
    assert float(ops.neg(n + 0.25)) == -n - 0.25
    assert len(execute._scalars) <= 5


def test_programs_go_with_their_functions(ops: Any) -> None:
  def run() -> Any:
    f = gnomon.jit(lambda x: ops.mul(ops.sin(x), x))
    f(np.float32(1))
    gnomon.grad(f)(np.float32(1))
    gnomon.vmap(f)(np.ones(3, np.float32))
    return weakref.ref(f.trace(1.0).jaxpr)

  jaxpr = run()
  gc.collect()
  assert jaxpr() is None


def test_arrays_go_when_they_are_not_used(ops: Any) -> None:
  x = gnomon.device_put(np.ones(1000, np.float32))
  y = ops.neg(x)
  gnomon.grad(lambda v: ops.sum(ops.mul(v, v)))(x)
  gnomon.jit(ops.neg)(x)
  alive = [weakref.ref(x), weakref.ref(y)]
  del x, y
  gc.collect()
  assert [ref() for ref in alive] == [None, None]


def test_results_of_a_loop_do_not_pile_up(ops: Any) -> None:
  step = gnomon.jit(lambda x: ops.mul(ops.sin(x), x), donate_argnums=0)
  x = gnomon.device_put(np.ones(1000, np.float32))
  for _ in range(100):
    x = step(x)
  gc.collect()
  before = len(gc.get_objects())
  for _ in range(1000):
    x = step(x)
  gc.collect()
  assert len(gc.get_objects()) - before < 100


def test_tracing_leaves_the_collector_as_it_was(ops: Any) -> None:
  before = gc.get_threshold()
  gnomon.jit(gnomon.grad(gnomon.jit(ops.sin)))(1.0)
  with pytest.raises(ZeroDivisionError):
    gnomon.jit(lambda x: 1 / 0)(1.0)
  assert gc.get_threshold() == before


def test_deep_programs_do_not_exhaust_the_stack(ops: Any) -> None:
  def f(x: Any) -> Any:
    for _ in range(5 * sys.getrecursionlimit()):
      x = ops.mul(x, 1.0)
    return x

  jaxpr = gnomon.make_jaxpr(gnomon.grad(f))(1.0)
  assert len(jaxpr.eqns) >= 5 * sys.getrecursionlimit()
  del jaxpr


def test_nothing_keeps_a_function_alive(ops: Any) -> None:
  def custom(f: Any) -> Any:
    g = gnomon.custom_jvp(f)
    g.defjvp(lambda primals, tangents: (f(*primals), tangents[0]))
    return gnomon.jit(g)

  def own_reverse(f: Any) -> Any:
    g = gnomon.custom_vjp(f)
    g.defvjp(lambda x: (f(x), x), lambda x, ct: (ct,))
    return gnomon.jit(gnomon.grad(g))

  uses = {
      "jit": gnomon.jit, "donate": lambda f: gnomon.jit(f, donate_argnums=0),
      "static": lambda f: functools.partial(
          gnomon.jit(lambda g, x: g(x), static_argnums=0), f),
      "nested": lambda f: gnomon.jit(gnomon.jit(f)),
      "grad": gnomon.grad, "grad jit": lambda f: gnomon.grad(gnomon.jit(f)),
      "jit grad": lambda f: gnomon.jit(gnomon.grad(f)), "vmap": lambda f: lambda x:
      gnomon.vmap(gnomon.jit(f))(np.ones(2, np.float32)),
      "checkpoint": lambda f: gnomon.grad(gnomon.checkpoint(f)),
      "custom_jvp": custom, "custom_vjp": own_reverse,
      "make_jaxpr": gnomon.make_jaxpr}
  alive = {}
  for name, use in uses.items():
    def f(x: Any) -> Any:
      return ops.mul(ops.sin(x), 2.0)

    use(f)(1.0)
    alive[name] = weakref.ref(f)
    del f
  gc.collect()
  assert [name for name, ref in alive.items() if ref() is not None] == []


def test_ten_thousand_functions_leave_nothing_behind(ops: Any) -> None:
  from gnomon.api import jit as module

  def make() -> Any:
    return gnomon.jit(lambda x: ops.neg(ops.neg(x)))

  def trace(n: int) -> None:
    for _ in range(n):
      gnomon.eval_shape(make(), 1.0)

  trace(50)
  gc.collect()
  before = len(gc.get_objects())
  trace(10_000)
  gc.collect()
  assert len(gc.get_objects()) - before < 2_000
  assert module._trace_cached.cache_info().currsize <= 8192


def test_gradients_of_custom_rules_leave_nothing_behind(ops: Any) -> None:
  f = gnomon.custom_vjp(ops.sin)
  f.defvjp(lambda x: (ops.sin(x), x), lambda x, ct: (ops.mul(ct, x),))

  def run(n: int) -> int:
    for _ in range(n):
      gnomon.grad(f)(1.0)
    gc.collect()
    return len(gc.get_objects())

  run(10)
  before = run(1)
  assert run(200) - before < 50
