"""Listeners of events: registered, told, taken back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import monitoring

KINDS = {
    "event": (
        monitoring.register_event_listener, monitoring.unregister_event_listener,
        monitoring.record_event, ("a",)),
    "duration": (
        monitoring.register_event_duration_secs_listener,
        monitoring.unregister_event_duration_listener,
        monitoring.record_event_duration_secs, ("a", 1.5)),
    "scalar": (
        monitoring.register_scalar_listener, monitoring.unregister_scalar_listener,
        monitoring.record_scalar, ("a", 2)),
    "span": (
        monitoring.register_event_time_span_listener,
        monitoring.unregister_event_time_span_listener,
        monitoring.record_event_time_span, ("a", 1.0, 2.0))}


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
  yield
  monitoring.clear_event_listeners()


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_by_itself(kind: str) -> None:
  heard: dict[str, list[Any]] = {k: [] for k in KINDS}
  for k, (register, *_) in KINDS.items():
    register(lambda *args, k=k, **kwargs: heard[k].append((args, kwargs)))
  _, _, record, args = KINDS[kind]
  record(*args, tag="t")
  assert heard == {k: [(args, {"tag": "t"})] if k == kind else [] for k in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_taking_back(kind: str) -> None:
  register, unregister, record, args = KINDS[kind]
  heard: list[Any] = []

  def first(*_: Any) -> None:
    heard.append(1)

  def second(*_: Any) -> None:
    heard.append(2)

  register(first)
  register(second)
  record(*args)
  unregister(first)
  record(*args)
  assert heard == [1, 2, 2]
  with pytest.raises(AssertionError, match="no registered listener"):
    unregister(first)
  monitoring.clear_event_listeners()
  record(*args)
  assert heard == [1, 2, 2]
  with pytest.raises(TypeError, match="should be callable, got 3"):
    register(3)


def test_stages_are_told() -> None:
  heard: list[Any] = []
  monitoring.register_event_time_span_listener(
      lambda event, start, end, fun_name: heard.append((event, end - start, fun_name)))

  @gnomon.jit
  def doubled(x: Any) -> Any:
    return (x, x)

  doubled(np.ones(3, np.float32))
  doubled(np.ones(3, np.float32))
  names = [(event.split("/")[-1], name) for event, _, name in heard]
  expected = [
      ("jaxpr_trace_duration", "doubled"),
      ("jaxpr_to_mlir_module_duration", "jit(doubled)"),
      ("backend_compile_duration", "jit(doubled)")]
  assert names == expected
  assert all(0 <= took < 60 for _, took, _ in heard)
  heard.clear()
  doubled.lower(np.ones(4, np.float32)).compile()
  assert [(event.split("/")[-1], name) for event, _, name in heard] == expected
