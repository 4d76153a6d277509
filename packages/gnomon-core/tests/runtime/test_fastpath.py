"""The C++ call path: when Python is asked, and when not."""

from __future__ import annotations

import gc
import inspect
import weakref
from typing import Any

import numpy as np
import pytest

from gnomon.core.types import ShapedArray
from gnomon.runtime.jaxlib import arrays, cells, errors, fastpath, pytrees

SCALAR = ShapedArray((), np.float32)
TEXT = """
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %y = stablehlo.add %x, %x : tensor<f32>
  return %y : tensor<f32>
}
"""


class Doubler:
  """A function made by `jit_function`, with a log of its misses."""

  def __init__(self, runtime: Any, text: str = TEXT, **options: Any) -> None:
    self.runtime, self.misses, self.fallbacks = runtime, 0, 0
    self.fails = self.forgets = False
    self.fast = options.pop("fast", True)
    self.kept = options.pop("kept", [True])
    self.const_args = options.pop("const_args", [])
    self.program = runtime.compile(text)
    self.sharding = arrays.single_sharding(runtime.devices[0])
    self.handler = arrays.make_handler(SCALAR, self.sharding, False)
    self.function = fastpath.jit_function(
        "doubler", self.user, self.miss, options.pop("static_argnums", ()),
        options.pop("static_argnames", ()), options.pop("key", "key"),
        pytrees.default_registry, self.fallback, **options)

  def user(self, x: Any) -> Any:
    return ("plain", x)

  def fallback(self, x: Any, sharding: Any, layout: Any) -> Any:
    self.fallbacks += 1
    return self.runtime.put(np.float32(x))

  def miss(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
    self.misses += 1
    if self.fails:
      raise KeyError("it fails")
    leaves = [x for x in pytrees.default_registry.flatten((args, kwargs))[0]
              if not isinstance(x, str)]
    inputs = [
        x if type(x) is arrays.Array else self.runtime.put(np.float32(x)) for x in leaves]
    inputs = self.const_args + [
        x for x, keep in zip(inputs, self.kept, strict=True) if keep]
    (y,) = self.program.execute_sharded(inputs).consume_with_handlers([self.handler])
    n = len(inputs)
    data = fastpath.FastpathData(
        self.program, pytrees.default_registry.flatten(0)[1], [self.sharding] * n,
        [self.sharding], [SCALAR], [False], [True] * len(self.const_args) + self.kept,
        [None] * n, self.const_args)
    return y, data if self.fast else None, self.forgets

  def __call__(self, *args: Any, **kwargs: Any) -> float:
    return float(arrays.host_view(self.function(*args, **kwargs)))


def test_second_call_does_not_come_to_python(runtime: Any) -> None:
  double = Doubler(runtime)
  x = runtime.put(np.float32(3))
  assert double(x) == double(x) == double(x) == 6
  assert double.misses == 1


def test_what_is_in_the_key(runtime: Any) -> None:
  double = Doubler(runtime)
  for n, x in enumerate((
      runtime.put(np.float32(3)), runtime.put(np.float32(3), committed=False),
      runtime.put(np.float32(3), weak_type=True), 3.0, np.float32(3)), 1):
    assert double(x) == double(x) == 6
    assert double.misses == n


def test_jit_key_cells_are_in_the_key(runtime: Any) -> None:
  double = Doubler(runtime)
  x = runtime.put(np.float32(3))
  double(x)
  for cell, value in ((cells.x64, True), (cells.in_trace, True), (cells.trace_key, "k")):
    before = double.misses
    cell.set_local(value)
    try:
      assert double(x) == double(x) == 6
      assert double.misses == before + 1
    finally:
      cell.set_local(cells.unset)
    double(x)
    assert double.misses == before + 1


def test_without_data_every_call_comes_to_python(runtime: Any) -> None:
  double = Doubler(runtime, fast=False)
  x = runtime.put(np.float32(3))
  assert double(x) == double(x) == double(x) == 6
  assert double.misses == 3


def test_third_value_forgets_the_entry(runtime: Any) -> None:
  double = Doubler(runtime)
  double.forgets = True
  x = runtime.put(np.float32(3))
  double(x)
  double.forgets = False
  double(x)
  double(x)
  assert double.misses == 2


def test_a_failed_miss_is_tried_again_and_then_kept(runtime: Any) -> None:
  double = Doubler(runtime)
  x = runtime.put(np.float32(3))
  double.fails = True
  for _ in range(100):
    with pytest.raises(KeyError, match="it fails"):
      double(x)
  double.fails, double.misses = False, 0
  assert double(x) == double(x) == double(x) == 6
  assert double.misses == 1


def test_static_arguments(runtime: Any) -> None:
  double = Doubler(runtime, static_argnums=(1,), static_argnames=("mode",))
  x = runtime.put(np.float32(3))
  for n, (args, kwargs) in enumerate((
      ((x, "a"), {}), ((x, "b"), {}), ((x,), {"mode": "a"}), ((x,), {"mode": "b"})), 1):
    assert double(*args, **kwargs) == double(*args, **kwargs) == 6
    assert double.misses == n
  with pytest.raises(ValueError, match="hashable"):
    double(x, [])


def test_unused_arguments_and_hidden_constants(runtime: Any) -> None:
  double = Doubler(runtime, kept=[False, True])
  x, y = runtime.put(np.float32(3)), runtime.put(np.float32(5))
  assert double(x, y) == double(x, y) == 10
  text = """
  func.func @main(%c: tensor<f32>, %x: tensor<f32>) -> tensor<f32> {
    %y = stablehlo.subtract %c, %x : tensor<f32>
    return %y : tensor<f32>
  }
  """
  minus = Doubler(runtime, text, const_args=[runtime.put(np.float32(100))])
  assert minus(x) == minus(x) == 97
  assert minus.misses == 1


def test_donated_input_comes_back_deleted(runtime: Any) -> None:
  text = TEXT.replace(
      "%x: tensor<f32>)", "%x: tensor<f32> {tf.aliasing_output = 0 : i32})")
  double = Doubler(runtime, text)
  double(runtime.put(np.float32(1)))
  x = runtime.put(np.float32(3))
  assert double(x) == 6
  assert x.is_deleted()


def test_disable_jit_calls_the_function(runtime: Any) -> None:
  double = Doubler(runtime)
  cells.disable_jit.set_local(True)
  try:
    assert double.function(1) == ("plain", 1)
  finally:
    cells.disable_jit.set_local(cells.unset)


def test_post_hook_sees_fast_calls(runtime: Any) -> None:
  double = Doubler(runtime)
  x = runtime.put(np.float32(3))
  double(x)
  seen = []
  cells.post_hook.set_local(lambda *call: seen.append(call))
  try:
    double(x)
  finally:
    cells.post_hook.set_local(cells.unset)
  ((function, args, _, out),) = seen
  assert function is double.function
  assert args[0] is x
  assert type(out) is arrays.Array


def test_the_cache_key_must_not_be_none(runtime: Any) -> None:
  with pytest.raises(ValueError, match="cache_key must be"):
    Doubler(runtime, key=None)


def test_function_is_collected(runtime: Any) -> None:
  double = Doubler(runtime)
  double(runtime.put(np.float32(3)))
  alive = weakref.ref(double.function)
  del double
  gc.collect()
  assert alive() is None


def test_methods_bind(runtime: Any) -> None:
  holder = type("Holder", (), {"f": Doubler(runtime).function})
  assert inspect.ismethod(holder().f)


def test_deleted_input_comes_to_python(runtime: Any) -> None:
  double = Doubler(runtime)
  x = runtime.put(np.float32(3))
  double(x)
  x.delete()
  with pytest.raises(errors.JaxRuntimeError, match="INVALID_ARGUMENT"):
    double(x)
  assert double.misses == 2


def test_parse_arguments() -> None:
  parse = fastpath.parse_arguments
  one, leaves = parse((1, {"a": 2}), (3,), ("z",), [], [], pytrees.default_registry)
  two, _ = parse((5, {"a": 6}), (7,), ("z",), [], [], pytrees.default_registry)
  other, _ = parse((5, {"b": 6}), (7,), ("z",), [], [], pytrees.default_registry)
  assert leaves == [1, 2, 3]
  assert one == two
  assert hash(one) == hash(two)
  assert one != other


def test_weakref_lru_cache() -> None:
  class Key:
    pass

  calls = []
  cache = fastpath.weakref_lru_cache(
      cells.trace_context, lambda key, x: calls.append(x) or x + 1, 16)
  key = Key()
  assert cache(key, 1) == cache(key, 1) == 2
  assert calls == [1]
  cells.trace_key.set_local("other")
  try:
    cache(key, 1)
  finally:
    cells.trace_key.set_local(cells.unset)
  assert calls == [1, 1]
  del key
  gc.collect()
  assert cache.cache_info().currsize == 0
