"""Keys as arguments and results of jitted functions: answered without Python."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import lax, random

KEYS = {
    "typed": lambda: random.key(7), "rbg": lambda: random.key(7, impl="rbg"),
    "several": lambda: random.split(random.key(7), 3), "raw": lambda: random.PRNGKey(7)}


def calls_of(code: Any, run: Callable[[], Any]) -> int:
  """How often a function's code runs."""
  count = 0

  def profile(frame: Any, event: str, arg: Any) -> None:
    nonlocal count
    del arg
    count += event == "call" and frame.f_code is code

  sys.setprofile(profile)
  try:
    run()
  finally:
    sys.setprofile(None)
  return count


@pytest.mark.parametrize("name", KEYS)
def test_a_second_call_stays_out_of_python(name: str) -> None:
  f = gnomon.jit(lambda k, x: {"key": k, "x": lax.add(x, 1.0)})
  key = KEYS[name]()
  miss = f._jit_info.miss.__func__.__code__
  first = f(key, 1.0)
  f(first["key"], 1.0)
  assert calls_of(miss, lambda: f(key, 2.0)) == 0
  again = f(key, 2.0)
  assert type(again["key"]) is type(key)
  assert again["key"].dtype == key.dtype
  assert again["key"].shape == key.shape
  words = key if name == "raw" else random.key_data(key)
  got = again["key"] if name == "raw" else random.key_data(again["key"])
  np.testing.assert_array_equal(got, words)
  assert float(again["x"]) == 3.0


def test_generators_and_shapes_are_told_apart() -> None:
  f = gnomon.jit(random.bits)
  for _ in range(2):
    assert f(random.key(1)) == random.bits(random.key(1))
    assert f(random.key(1, impl="rbg")) == random.bits(random.key(1, impl="rbg"))
  g = gnomon.jit(lambda k: k)
  for _ in range(2):
    for shape in ((), (2,), (2, 1)):
      assert g(random.split(random.key(0), shape) if shape else random.key(0)).shape == (
          shape)


def test_the_checker_still_sees_calls() -> None:
  f = gnomon.jit(random.bits)
  key = random.key(3)
  f(key)
  with gnomon.debug_key_reuse(True):
    fresh = random.key(4)
    f(fresh)
    with pytest.raises(gnomon.errors.KeyReuseError):
      f(fresh)


def test_donated_keys() -> None:
  step = gnomon.jit(lambda k: random.fold_in(k, 1), donate_argnums=0)
  key = random.key(0)
  for _ in range(3):
    before, key = key, step(key)
    assert before.is_deleted()
    with pytest.raises(RuntimeError, match="deleted"):
      step(before)
  assert not key.is_deleted()


def test_keys_in_containers_and_placed_ones() -> None:
  f = gnomon.jit(lambda t: [t["k"], random.bits(t["k"])])
  k = random.key(5)
  placed = gnomon.device_put(k, gnomon.devices()[0])
  for key in (k, placed, k, placed):
    out = f({"k": key})
    assert out[1] == random.bits(k)
    assert out[0].committed is key.committed
