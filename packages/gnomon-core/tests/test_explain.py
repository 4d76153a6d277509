"""`explain_cache_misses`: one line says why a function is traced again."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

import gnomon

f32 = np.float32


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Any:
  """Calls a function with the option on, and gives the lines that were logged."""
  def call(fun: Any, *args: Any, **kwargs: Any) -> list[str]:
    caplog.clear()
    with gnomon.explain_cache_misses(True), caplog.at_level(logging.WARNING):
      fun(*args, **kwargs)
    return [r.getMessage() for r in caplog.records]

  return call


def function() -> Any:
  def f(x: Any, y: Any = 1.0, **rest: Any) -> Any:
    return x

  return f


ONES = np.ones(3, f32)
CASES: dict[str, tuple[Any, Any, str]] = {  # first call, second call, what is said
    "shape": ((ONES, ONES), (ONES, ONES[:2]),
              "different input types: at y, now f32[2] and before f32[3]"),
    "dtype": ((ONES, 1.0), (ONES.astype(np.int32), 1.0),
              "different input types: at x, now i32[3] and before f32[3]"),
    "weak type": ((ONES, f32(1)), (ONES, 1.0), (
        "different input types: at y, now f32[]{weak_type=True} and before "
        "f32[]{weak_type=False} (a Python number")),
    "structure": (({"a": 1.0}, 1.0), ({"b": 1.0}, 1.0), "different input pytree"),
}


@pytest.mark.parametrize("name", CASES)
def test_what_changed(told: Any, name: str) -> None:
  first, second, text = CASES[name]
  f = gnomon.jit(function())
  f(*first)
  (line,) = told(f, *second)
  assert text in line
  assert "\n" not in line
  assert line.startswith(f"TRACING CACHE MISS at {__file__}")
  assert f"f at {__file__}" in line
  assert told(f, *second) == []


def test_static_arguments(told: Any) -> None:
  f = gnomon.jit(function(), static_argnums=1, static_argnames="k")
  f(ONES, "foo", k=2)
  assert "different value of static args: now 'bar' and before 'foo'" in told(
      f, ONES, "bar", k=2)[0]
  assert "different value of static kwargs: now {k: 3} and before {k: 2}" in told(
      f, ONES, "foo", k=3)[0]


def test_settings(told: Any) -> None:
  f = gnomon.jit(function())
  f(ONES)
  with gnomon.default_matmul_precision("high"):
    (line,) = told(f, ONES)
  assert "tracing context: default_matmul_precision: now high and before" in line
  with gnomon.enable_x64(True):
    (line,) = told(f, ONES)
  assert "enable_x64: now True and before False" in line


def test_functions_not_seen_before(told: Any) -> None:
  def make() -> Any:
    return gnomon.jit(lambda x: x)

  first, second = make(), make()
  (line,) = told(first, ONES)
  assert "never seen function" in line
  assert "same line" not in line
  (line,) = told(second, ONES)
  assert "another function defined on the same line" in line


def test_the_closest_call_is_compared(told: Any) -> None:
  f = gnomon.jit(function())
  for x, y in ((ONES, ONES), (ONES[:2], ONES[:1])):
    f(x, y)
  assert told(f, ONES, ONES[:2])[0].endswith(
      ": different input types: at y, now f32[2] and before f32[3]")


def test_the_librarys_own_functions_are_not_told_of(told: Any, ops: Any) -> None:
  assert told(ops.sin, np.ones(11, f32)) == []
