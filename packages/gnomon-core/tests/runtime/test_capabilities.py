"""The table of abilities agrees with what happens."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gnomon.core.types import ShapedArray
from gnomon.runtime.jaxlib import capabilities as module
from gnomon.runtime.jaxlib import clients, mlir, programs
from gnomon.runtime.jaxlib.capabilities import capabilities
from gnomon.runtime.jaxlib.errors import JaxRuntimeError


def works(attempt: Any, *errors: type[BaseException]) -> bool:
  try:
    attempt()
  except errors:
    return False
  return True


def test_every_probe_answers() -> None:
  answers = dict(capabilities)
  assert len(answers) == len(capabilities)
  assert all(answer is not None for answer in answers.values())


def test_a_probe_runs_once_and_only_when_asked() -> None:
  calls: list[str] = []
  table = module._Table({"one": lambda: calls.append("one") or 1, "two": lambda: 2})
  assert list(table) == ["one", "two"]
  assert calls == []
  assert table["one"] == table["one"] == 1
  assert calls == ["one"]
  with pytest.raises(KeyError):
    table["three"]


def test_aval_settable(runtime: Any) -> None:
  x = runtime.put([1.0])
  aval = ShapedArray((1,), np.float64)
  assert works(lambda: setattr(x, "aval", aval), AttributeError) is (
      capabilities["aval_settable"])


def test_compile_without_load(runtime: Any, double: str) -> None:
  devices = clients.DeviceList((runtime.devices[0],))
  options = programs.compile_options(runtime.devices[:1])
  parsed = mlir.parse(double, runtime.context)
  assert works(
      lambda: runtime.client.compile(parsed, devices, options), JaxRuntimeError,
      AttributeError) is capabilities["compile_without_load"]


def test_fusion_emitter_option(runtime: Any, double: str) -> None:
  flags = {"xla_cpu_use_fusion_emitters": False}
  assert works(lambda: runtime.compile(double, flags), JaxRuntimeError) is (
      capabilities["fusion_emitter_option"])


def test_packed_sub_byte(runtime: Any) -> None:
  import ml_dtypes
  x = runtime.put(np.ones(4, ml_dtypes.int4))
  assert (x.on_device_size_in_bytes() == 2) is capabilities["packed_sub_byte"]
