"""What is remembered has bounds, and goes with what it belongs to."""

from __future__ import annotations

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
