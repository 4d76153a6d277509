"""Contexts, texts, bytecode and locations."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from gnomon.runtime.jaxlib import mlir


@pytest.mark.parametrize("text", [
    "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }",
    """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
         %y = chlo.erf %x : tensor<2xf32> -> tensor<2xf32>
         return %y : tensor<2xf32> }""",
    'sdy.mesh @m = <["x"=2]>',
])
def test_dialects_are_there(text: str) -> None:
  module = mlir.parse(text, mlir.new_context())
  assert module.operation.verify()


def test_an_error_has_a_message_and_a_place() -> None:
  text = """
  func.func @main(%x: tensor<2xf32>) -> tensor<3xf32> { return %x : tensor<2xf32> }"""
  with pytest.raises(mlir.ir.MLIRError) as info:
    mlir.parse(text, mlir.new_context())
  (diagnostic,) = info.value.error_diagnostics
  assert "type of return operand" in diagnostic.message


def test_bytecode_goes_back_and_forth(double: str) -> None:
  module = mlir.parse(double, mlir.new_context())
  code = mlir.bytecode(module)
  assert code.startswith(b"ML")
  again = mlir.parse(code, mlir.new_context())
  assert mlir.asm(again) == mlir.asm(module)


def test_contexts_are_independent_in_threads(double: str) -> None:
  texts: list[str] = []

  def work() -> None:
    texts.append(mlir.asm(mlir.parse(double, mlir.new_context())))

  threads = [threading.Thread(target=work) for _ in range(4)]
  for thread in threads:
    thread.start()
  for thread in threads:
    thread.join()
  assert len(texts) == 4
  assert len(set(texts)) == 1


@pytest.fixture
def tracebacks() -> Any:
  before = mlir.tracebacks_enabled()
  mlir.set_tracebacks_enabled(True)
  yield
  mlir.set_tracebacks_enabled(before)


def inner() -> Any:
  return mlir.traceback()


def outer() -> Any:
  return inner()


@pytest.mark.usefixtures("tracebacks")
def test_locations_name_the_frames_innermost_first() -> None:
  context = mlir.new_context()
  cache = mlir.LocationCache(context, lambda code: "some_file.py", 2)
  text = str(cache.get(outer()))
  assert text.index("inner") < text.index("outer")
  assert "some_file.py" in text
  assert "test_locations" not in text


@pytest.mark.usefixtures("tracebacks")
def test_frames_can_be_left_out() -> None:
  cache = mlir.LocationCache(
      mlir.new_context(),
      lambda code: None if code.co_name == "inner" else code.co_filename, 1)
  text = str(cache.get(outer()))
  assert "inner" not in text
  assert "outer" in text


@pytest.mark.usefixtures("tracebacks")
def test_debug_info_prints_locations() -> None:
  context = mlir.new_context()
  ir = mlir.ir
  where = mlir.LocationCache(context, lambda code: "some_file.py").get(outer())
  with context:
    module = ir.Module.create(loc=where)
  assert "some_file.py" in mlir.asm(module, debug_info=True)
  assert "some_file.py" not in mlir.asm(module)


def test_no_traceback_is_an_unknown_location() -> None:
  before = mlir.tracebacks_enabled()
  mlir.set_tracebacks_enabled(False)
  try:
    assert mlir.traceback() is None
  finally:
    mlir.set_tracebacks_enabled(before)
  assert str(mlir.LocationCache(mlir.new_context(), lambda code: "x").get(None)) == (
      "loc(unknown)")


def test_attribute_classes_work_without_the_generated_dialects() -> None:
  with mlir.new_context():
    numbers = mlir.hlo.DotDimensionNumbers.get([], [], [1], [0])
  assert list(numbers.lhs_contracting_dimensions) == [1]
