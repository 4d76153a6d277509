"""Configuration cells: local over global, and what is in the keys of caches."""

from __future__ import annotations

import threading

from gnomon.runtime.jaxlib import cells


def test_defaults() -> None:
  assert cells.disable_jit.value is False
  assert cells.in_trace.value is False
  assert cells.post_hook.value is None


def test_local_value_is_for_one_thread() -> None:
  seen = []
  cells.in_trace.set_local(True)
  try:
    thread = threading.Thread(target=lambda: seen.append(cells.in_trace.value))
    thread.start()
    thread.join()
    assert cells.in_trace.value is True
  finally:
    cells.in_trace.set_local(cells.unset)
  assert seen == [False]
  assert cells.in_trace.value is False


def test_trace_context_changes_with_its_cells() -> None:
  before = cells.trace_context()
  for cell, value in ((cells.trace_key, "other"), (cells.x64, not cells.x64.value)):
    cell.set_local(value)
    try:
      assert cells.trace_context() != before
    finally:
      cell.set_local(cells.unset)
    assert cells.trace_context() == before


def test_in_trace_does_not_change_the_trace_context() -> None:
  before = cells.trace_context()
  cells.in_trace.set_local(True)
  try:
    assert cells.trace_context() == before
  finally:
    cells.in_trace.set_local(cells.unset)
