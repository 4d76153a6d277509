"""Options that look at executions: bad numbers, nothing executed, nothing traced."""

from __future__ import annotations

import inspect
import threading
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon.runtime import execute

BIG = np.float32(3e38)


def _overflow(ops: Any) -> Any:
  def overflow(x: Any) -> Any:
    y = ops.neg(x)
    y = ops.mul(y, BIG)  # the line that is looked for
    return ops.add(y, 1.0)

  return overflow


def test_infinities_are_found_where_they_are_made(ops: Any) -> None:
  f = _overflow(ops)
  g, h = gnomon.jit(f), gnomon.jit(gnomon.jit(f))
  g(BIG)
  h(BIG)
  lines, start = inspect.getsourcelines(f)
  line = start + next(i for i, text in enumerate(lines) if "looked for" in text)
  with gnomon.debug_infs(True):
    for _ in range(2):
      assert float(g(np.float32(1))) < 0
      for call in (g, h):
        with pytest.raises(FloatingPointError, match=(
            rf"\(inf\) encountered in test_mul at .*test_watch.py:{line} .*, in the "
            r"jitted function overflow")):
          call(BIG)
      with pytest.raises(FloatingPointError, match=r"\(inf\) encountered in test_mul"):
        f(BIG)
      with pytest.raises(FloatingPointError, match="test_mul"):
        gnomon.vmap(f)(np.full(2, BIG))
      with pytest.raises(FloatingPointError, match="compiled function overflow"):
        g.lower(BIG).compile()(BIG)
  assert np.isinf(float(g(BIG)))
  assert np.isinf(float(f(BIG)))


def test_nans_are_found(ops: Any) -> None:
  inf = np.float32(np.inf)
  f = gnomon.jit(lambda x: ops.mul(x, 0.0))
  with gnomon.debug_nans(True):
    assert float(f(BIG)) == 0.0
    with pytest.raises(FloatingPointError, match=r"\(nan\) encountered in test_mul"):
      f(inf)
    with pytest.raises(FloatingPointError, match=r"\(nan\) encountered in test_mul"):
      ops.mul(inf, np.float32(0))
    with pytest.raises(FloatingPointError, match="nan"):
      gnomon.grad(lambda x: ops.mul(ops.mul(x, inf), np.float32(0)))(np.float32(1))
    assert np.isinf(float(ops.neg(inf)))  # no NaN
    np.testing.assert_array_equal(np.asarray(ops.neg(np.arange(3))), [0, -1, -2])
  assert np.isnan(float(f(inf)))


def test_donated_arguments_cannot_be_looked_at_again(ops: Any) -> None:
  f = gnomon.jit(lambda x: ops.mul(x, 0.0), donate_argnums=0)
  with (gnomon.debug_nans(True),
        pytest.raises(FloatingPointError, match="the jitted function <lambda>")):
    f(gnomon.device_put(np.full(3, np.inf, np.float32)))


def test_the_short_path_is_taken_again_afterwards(ops: Any) -> None:
  ops.neg(np.float32(1))
  for option in (gnomon.debug_nans, gnomon.debug_infs, gnomon.no_execution):
    with option(True):
      assert execute._careful
    assert not execute._careful
  gnomon.config.update("jax_debug_nans", True)
  try:
    assert execute._careful
    with gnomon.debug_nans(False):
      assert execute._careful  # in other threads it is on
      ops.mul(np.float32(np.inf), np.float32(0))
  finally:
    gnomon.config.update("jax_debug_nans", False)
  assert not execute._careful


def test_another_thread_is_not_watched(ops: Any) -> None:
  found: list[float] = []
  with gnomon.debug_nans(True):
    t = threading.Thread(target=lambda: found.append(
        float(ops.mul(np.float32(np.inf), np.float32(0)))))
    t.start()
    t.join()
  assert np.isnan(found[0])


def test_no_execution(ops: Any) -> None:
  f = gnomon.jit(ops.neg)
  f(1.0)
  with gnomon.no_execution(True):
    for call in (lambda: f(1.0), lambda: gnomon.jit(ops.neg)(1.0),
                 lambda: f.lower(1.0).compile()(1.0)):
      with pytest.raises(RuntimeError, match=r"function function.*no_execution"):
        call()
    with pytest.raises(RuntimeError, match=r"the operation test_neg.*no_execution"):
      ops.neg(1.0)
    assert len(gnomon.make_jaxpr(f)(1.0).eqns) == 1
  assert float(f(1.0)) == -1.0


def test_no_tracing(ops: Any) -> None:
  f = gnomon.jit(_overflow(ops))
  f(1.0)
  with gnomon.no_tracing(True):
    f(2.0)
    with pytest.raises(RuntimeError, match=r"overflow at .* for jit.*no_tracing"):
      f(np.ones(3, np.float32))
  assert f(np.ones(3, np.float32)).shape == (3,)


def test_compilations_are_logged(ops: Any, caplog: pytest.LogCaptureFixture) -> None:
  def half(x: Any) -> Any:
    return ops.mul(x, 0.5)

  f = gnomon.jit(half)
  f(1.0)
  assert caplog.messages == []
  with gnomon.log_compiles(True):
    f(1.0)
    f(np.ones(7, np.float32))
  traced, begun, lowered, compiled = caplog.messages
  assert traced.startswith("Finished tracing half for jit in ")
  assert begun.startswith("Compiling jit(half) with global shapes and types (float32[7])")
  assert lowered.startswith("Finished jaxpr to MLIR module conversion jit(half) in ")
  assert compiled.startswith("Finished XLA compilation of jit(half) in ")


def test_other_loggers_and_options(
    ops: Any, caplog: pytest.LogCaptureFixture, capfd: Any) -> None:
  def fresh() -> Any:
    return gnomon.jit(lambda x: ops.mul(x, 2.0))

  for name, seen in (
      ("jax", 4), ("gnomon", 4), ("jax._src.dispatch", 3), ("gnomon.compiling", 1)):
    gnomon.config.update("jax_debug_log_modules", name)
    fresh()(1.0)
    gnomon.config.update("jax_debug_log_modules", "")
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == seen
    assert all(line.startswith("DEBUG:") for line in lines)
  gnomon.config.update("jax_logging_level", "DEBUG")
  fresh()(1.0)
  assert len(capfd.readouterr().err.splitlines()) == 4
  gnomon.config.update("jax_logging_level", None)
  fresh()(1.0)
  assert capfd.readouterr().err == ""
  with caplog.at_level("DEBUG", logger="jax._src.interpreters.pxla"):
    caplog.clear()
    fresh()(1.0)
  (record,) = caplog.records
  assert record.name == "gnomon.compiling"


def test_tracebacks_show_the_users_frames(ops: Any) -> None:
  def bad(x: Any) -> Any:
    raise KeyError("mine")

  one = np.ones(1, np.float32)

  def library(error: BaseException) -> int:
    count, tb = 0, error.__traceback__
    while tb is not None:
      count += "/gnomon/" in tb.tb_frame.f_code.co_filename
      tb = tb.tb_next
    return count

  for f in (gnomon.jit(bad), gnomon.grad(bad), gnomon.vmap(bad), gnomon.jacfwd(bad),
            gnomon.checkpoint(bad), gnomon.make_jaxpr(bad),
            lambda x: gnomon.jvp(bad, (x,), (x,)), lambda x: gnomon.vjp(bad, x)):
    with pytest.raises(KeyError) as e:
      f(one)
    assert library(e.value) <= 3
    gnomon.config.update("jax_traceback_filtering", "off")
    try:
      with pytest.raises(KeyError) as e:
        f(one)
    finally:
      gnomon.config.update("jax_traceback_filtering", "auto")
    assert library(e.value) > 3
