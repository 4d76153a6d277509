"""What profiles hold, and the errors of sessions and servers."""

from __future__ import annotations

import gzip
import json
import os
import pathlib
import socket
import threading
import time
import urllib.request
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon import profiler
from gnomon.profiler import _traces


def profile_in(folder: pathlib.Path) -> Any:
  (found,) = folder.rglob("*.xplane.pb")
  return profiler.ProfileData.from_file(str(found))


def events_of(data: Any) -> dict[str, Any]:
  return {e.name: e for p in data.planes for line in p.lines for e in line.events}


def test_a_trace_holds_marks_and_programs(tmp_path: pathlib.Path) -> None:
  options = profiler.ProfileOptions()
  options.python_tracer_level = 0

  @profiler.annotate_function
  def marked() -> None:
    time.sleep(0.002)

  def own_name() -> int:
    return 3

  with profiler.trace(tmp_path, profiler_options=options):
    with profiler.TraceAnnotation("outer mark", number=7):
      marked()
    for i in range(2):
      with profiler.StepTraceAnnotation("train", step_num=i):
        gnomon.jit(lambda x: (x, x))(np.ones(3, np.float32))
    assert profiler.annotate_function(own_name, name="another name", k=1)() == 3
  data = profile_in(tmp_path)
  events = events_of(data)
  assert {"outer mark", "train", "another name"} <= events.keys()
  assert any(name.endswith("marked") for name in events)
  assert dict(events["outer mark"].stats)["number"] == 7
  assert events["outer mark"].duration_ns >= 2e6
  assert data.find_plane_with_name("/host:CPU") is not None


def test_python_is_recorded_by_default(tmp_path: pathlib.Path) -> None:
  with profiler.trace(str(tmp_path)):
    json.dumps([1])
  assert any("dumps" in name for name in events_of(profile_in(tmp_path)))


def test_functions_keep_what_they_are() -> None:
  @profiler.annotate_function
  def f(x: int) -> int:
    """Doubles."""
    return 2 * x

  assert (f.__name__, f.__doc__, f(4)) == ("f", "Doubles.", 8)


def test_one_trace_at_a_time(tmp_path: pathlib.Path) -> None:
  with pytest.raises(RuntimeError, match="No profile started"):
    profiler.stop_trace()
  profiler.start_trace(tmp_path)
  with pytest.raises(RuntimeError, match="Profile has already been started"):
    profiler.start_trace(tmp_path)
  profiler.stop_trace()
  with pytest.raises(ValueError, match="inside"), profiler.trace(tmp_path / "second"):
    raise ValueError("inside")
  assert profile_in(tmp_path / "second") is not None


def test_perfetto(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str]) -> None:
  monkeypatch.setattr(_traces, "_PORT", 0)  # any that is free
  profiler.start_trace(tmp_path, create_perfetto_link=True)
  with profiler.TraceAnnotation("here"):
    pass
  stop = threading.Thread(target=profiler.stop_trace)
  stop.start()
  text = ""
  for _ in range(500):
    text += capsys.readouterr().out
    if "url=" in text:
      break
    time.sleep(0.01)
  address = text.split("url=")[1].strip()
  with urllib.request.urlopen(address, timeout=10) as answer:
    assert answer.headers["Access-Control-Allow-Origin"] == "https://ui.perfetto.dev"
    found = json.loads(gzip.decompress(answer.read()))
  stop.join()
  assert "here" in {e.get("name") for e in found["traceEvents"]}
  (written,) = tmp_path.rglob("perfetto_trace.json.gz")
  assert json.loads(gzip.decompress(written.read_bytes())) == found


def test_servers() -> None:
  with pytest.raises(ValueError, match="No active profiler server"):
    profiler.stop_server()
  with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    port = s.getsockname()[1]
  profiler.start_server(port)
  with pytest.raises(ValueError, match="Only one profiler server"):
    profiler.start_server(port)
  profiler.stop_server()
  with pytest.raises(RuntimeError, match="same pid"):
    profiler.register_subprocess(os.getpid(), port)


def test_memory(tmp_path: pathlib.Path) -> None:
  kept = gnomon.device_put(np.ones(100_000, np.float32))
  target = tmp_path / "memory.prof"
  profiler.save_device_memory_profile(target)
  for data in (target.read_bytes(), profiler.device_memory_profile("cpu")):
    assert b"cpu:0" in gzip.decompress(data).lower()
  assert kept.size
  with pytest.raises(RuntimeError, match="abacus"):
    profiler.device_memory_profile("abacus")
