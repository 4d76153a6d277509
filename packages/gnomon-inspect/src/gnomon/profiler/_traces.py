"""Recording profiles: sessions of this process, and servers that others ask."""

from __future__ import annotations

import functools
import gzip
import http.server
import json
import os
import pathlib
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gnomon.runtime import backends
from gnomon.runtime.jaxlib import profiling


class _State:
  """What is being recorded: one profile in a process at a time."""

  def __init__(self) -> None:
    self.lock = threading.Lock()
    self.server: Any = None
    self.clear()

  def clear(self) -> None:
    self.session: Any = None
    self.folder = ""
    self.link = self.perfetto = False


_state = _State()


def start_trace(
    log_dir: os.PathLike[str] | str, create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False, profiler_options: Any = None) -> None:
  """Begins to record a profile, until `stop_trace`.

  Args:
    log_dir: the folder; the profile goes to `plugins/profile/` below it, which XProf and
      TensorBoard show.
    create_perfetto_link: `stop_trace` prints a link to ui.perfetto.dev, and serves the
      profile on this machine until it has been opened.
    create_perfetto_trace: write `perfetto_trace.json.gz`, too, for ui.perfetto.dev.
    profiler_options: a `ProfileOptions`: what is recorded.

  Raises:
    RuntimeError: a profile is being recorded already.
  """
  with _state.lock:
    if _state.session is not None:
      raise RuntimeError(
          "Profile has already been started. Only one profile may be run at a time. "
          "End it with stop_trace")
    backends.client()  # what devices do is recorded only if they are there
    _state.session = (
        profiling.ProfilerSession() if profiler_options is None
        else profiling.ProfilerSession(profiler_options))
    _state.folder = os.fspath(log_dir)
    _state.link = create_perfetto_link
    _state.perfetto = create_perfetto_trace or create_perfetto_link


def stop_trace() -> None:
  """Ends the recording that `start_trace` began, and writes the profile.

  Raises:
    RuntimeError: no profile is being recorded.
  """
  with _state.lock:
    if _state.session is None:
      raise RuntimeError("No profile started: begin one with start_trace")
    session, folder = _state.session, _state.folder
    link, perfetto = _state.link, _state.perfetto
    _state.clear()
    session.stop_and_export(folder)
  if perfetto:
    written = _write_perfetto(folder)
    if link:
      _serve(written)


@contextmanager
def trace(
    log_dir: os.PathLike[str] | str, create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False, profiler_options: Any = None) -> Iterator[None]:
  """A context manager that records a profile; arguments as for `start_trace`.

  >>> import pathlib, tempfile
  >>> from gnomon import profiler
  >>> folder = tempfile.mkdtemp()
  >>> with profiler.trace(folder):
  ...   with profiler.TraceAnnotation("my step"):
  ...     pass
  >>> found, = pathlib.Path(folder).rglob("*.xplane.pb")
  >>> data = profiler.ProfileData.from_file(str(found))
  >>> "my step" in {e.name for p in data.planes for l in p.lines for e in l.events}
  True
  """
  start_trace(
      log_dir, create_perfetto_link, create_perfetto_trace, profiler_options)
  try:
    yield
  finally:
    stop_trace()


def _write_perfetto(folder: str) -> pathlib.Path:
  """Writes the newest profile below a folder as Perfetto reads it."""
  written = (pathlib.Path(folder) / "plugins" / "profile").glob("*/*.trace.json.gz")
  newest = max(written, key=lambda p: p.stat().st_mtime)
  with gzip.open(newest, "rt") as f:
    events = json.load(f)
  target = newest.parent / "perfetto_trace.json.gz"
  with gzip.open(target, "wt") as f:
    json.dump(events, f)
  return target


_PORT = 9001  # the one from which ui.perfetto.dev may load


def _serve(file: pathlib.Path) -> None:
  """Prints a link to a profile, and serves it until it has been loaded."""
  loaded = threading.Event()

  class Handler(http.server.SimpleHTTPRequestHandler):
    def end_headers(self) -> None:
      self.send_header("Access-Control-Allow-Origin", "https://ui.perfetto.dev")
      super().end_headers()

    def do_GET(self) -> None:
      super().do_GET()
      loaded.set()

    def log_message(self, *_: Any) -> None:
      pass

  handler = functools.partial(Handler, directory=str(file.parent))
  with http.server.HTTPServer(("127.0.0.1", _PORT), handler) as server:
    sys.stdout.write(
        "Open URL in browser: https://ui.perfetto.dev/#!/?url=http://127.0.0.1:"
        f"{server.server_port}/{file.name}\n")
    sys.stdout.flush()
    while not loaded.is_set():
      server.handle_request()


def start_server(port: int, requires_backend: bool = True) -> Any:
  """Serves profiles of this process: XProf and TensorBoard ask for one by the port.

  Args:
    port: where to listen.
    requires_backend: start the runtime first, so that devices are recorded.

  Raises:
    ValueError: a server is running already.
  """
  with _state.lock:
    if _state.server is not None:
      raise ValueError("Only one profiler server can be active at a time.")
    if requires_backend:
      backends.client()
    _state.server = profiling.start_server(port)
    return _state.server


def stop_server() -> None:
  """Ends the server that `start_server` began.

  Raises:
    ValueError: no server is running.
  """
  with _state.lock:
    if _state.server is None:
      raise ValueError("No active profiler server.")
    _state.server = None


def register_subprocess(pid: int, port: int) -> Callable[[], None]:
  """Has profiles of this process ask another one, which must run a server, too.

  It takes the option `profile_subprocesses` among the `advanced_configuration` of
  `ProfileOptions`.

  Args:
    pid: the other process.
    port: that of its server.

  Returns:
    A function that takes it back.
  """
  take_back: Callable[[], None] = profiling.register_subprocess(pid, port)
  return take_back
