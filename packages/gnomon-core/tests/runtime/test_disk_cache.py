"""The folder of compiled programs."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon.runtime import disk_cache
from gnomon.runtime.jaxlib import programs


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
  place = tmp_path / "programs"
  settings = {
      "jax_compilation_cache_dir": str(place),
      "jax_persistent_cache_min_compile_time_secs": 0.0}
  before = {name: gnomon.config.read(name) for name in settings}
  for name, value in settings.items():
    gnomon.config.update(name, value)
  yield place
  for name, value in before.items():
    gnomon.config.update(name, value)
  gnomon.config.update("jax_compilation_cache_max_size", -1)


def compiled(ops: Any, times: int = 3) -> Any:
  """A new function, which is traced and compiled (or loaded) here; its value at 1."""
  def f(x: Any) -> Any:
    for _ in range(times):
      x = ops.mul(ops.sin(x), x)
    return x

  return float(gnomon.jit(f)(np.float32(1)))


def entries(folder: Path) -> list[Path]:
  return sorted(folder.glob("*.program"))


def test_a_program_is_kept_and_found(folder: Path, ops: Any) -> None:
  first = compiled(ops)
  [path] = entries(folder)
  written, content = path.stat().st_mtime_ns, path.read_bytes()
  assert compiled(ops) == first
  assert path.read_bytes() == content
  assert path.stat().st_mtime_ns > written  # it was used
  compiled(ops, times=4)
  assert len(entries(folder)) == 2


def test_the_value_is_that_of_the_file(
    folder: Path, ops: Any, monkeypatch: pytest.MonkeyPatch) -> None:
  first = compiled(ops)

  def fail(*_: Any) -> Any:
    raise AssertionError("compiled anew")

  monkeypatch.setattr(programs, "compile", fail)
  assert compiled(ops) == first


DAMAGES = {
    "cut short": lambda blob: blob[: len(blob) // 2],
    "empty": lambda blob: b"",
    "changed": lambda blob: blob[:-10] + b"X" + blob[-9:],
    "foreign": lambda blob: b"something else altogether",
    "of no use": lambda blob: disk_cache.wrap(b"no program"),
    "another program's end": lambda blob: disk_cache.wrap(
        disk_cache.unwrap(blob)[:-200]),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_cannot_be_used_is_compiled_anew(
    damage: str, folder: Path, ops: Any) -> None:
  first = compiled(ops)
  [path] = entries(folder)
  whole = path.read_bytes()
  path.write_bytes(DAMAGES[damage](whole))
  with pytest.warns(RuntimeWarning, match="cannot be used and is compiled anew"):
    assert compiled(ops) == first
  assert disk_cache.unwrap(path.read_bytes())  # a good one is in its place
  assert compiled(ops) == first


def test_errors_if_asked_for(folder: Path, ops: Any) -> None:
  compiled(ops)
  entries(folder)[0].write_bytes(b"")
  gnomon.config.update("jax_raise_persistent_cache_errors", True)
  try:
    with pytest.raises(RuntimeError, match="cannot be used"):
      compiled(ops)
  finally:
    gnomon.config.update("jax_raise_persistent_cache_errors", False)


def test_a_folder_that_may_only_be_read(
    folder: Path, ops: Any, monkeypatch: pytest.MonkeyPatch) -> None:
  def refuse(*_: Any, **__: Any) -> Any:
    raise PermissionError(13, "Permission denied")

  value = compiled(ops)
  monkeypatch.setattr(os, "utime", refuse)
  assert compiled(ops) == value
  monkeypatch.setattr(tempfile, "mkstemp", refuse)
  with pytest.warns(RuntimeWarning, match="cannot be kept in .*Permission denied"):
    compiled(ops, times=4)


def test_a_place_that_is_no_folder(folder: Path, ops: Any) -> None:
  folder.write_text("a file")
  with pytest.warns(RuntimeWarning, match="cannot be"):
    compiled(ops)


def test_what_is_not_worth_it_is_not_kept(folder: Path, ops: Any) -> None:
  gnomon.config.update("jax_persistent_cache_min_compile_time_secs", 100.0)
  compiled(ops)
  gnomon.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
  gnomon.config.update("jax_persistent_cache_min_entry_size_bytes", 10**9)
  try:
    compiled(ops)
  finally:
    gnomon.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
  with gnomon.enable_x64(False):
    gnomon.config.update("jax_enable_compilation_cache", False)
    try:
      compiled(ops)
    finally:
      gnomon.config.update("jax_enable_compilation_cache", True)
  assert entries(folder) == []


def test_size_has_a_bound(folder: Path, ops: Any) -> None:
  compiled(ops, 1)
  size = entries(folder)[0].stat().st_size
  gnomon.config.update("jax_compilation_cache_max_size", 3 * size + size // 2)
  for times in (2, 3):
    time.sleep(0.01)
    compiled(ops, times)
  oldest = entries(folder)
  compiled(ops, 1)  # used again: the others are older now
  for times in (4, 5, 6):
    time.sleep(0.01)
    compiled(ops, times)
  total = sum(path.stat().st_size for path in entries(folder))
  assert 0 < total <= 3 * size + size // 2
  assert set(entries(folder)) != set(oldest)


def test_shrink_removes_what_was_used_longest_ago(tmp_path: Path) -> None:
  for i in range(5):
    path = tmp_path / f"{i}.program"
    path.write_bytes(b"x" * 10)
    os.utime(path, ns=(i, i))
  disk_cache.shrink(tmp_path, 25)
  assert [path.name for path in entries(tmp_path)] == ["3.program", "4.program"]


def test_key(ops: Any, monkeypatch: pytest.MonkeyPatch) -> None:
  from gnomon.runtime.jaxlib import programs

  def key(times: int, flags: dict[str, Any]) -> str:
    def f(x: Any) -> Any:
      for _ in range(times):
        x = ops.sin(x)
      return x

    lowered = gnomon.jit(f).lower(np.float32(1))
    module = lowered.compiler_ir()
    return disk_cache.key_of(
        module, programs.compile_options(gnomon.devices()[:1], flags))

  keys = {key(1, {}), key(2, {}), key(1, {"xla_cpu_enable_fast_math": True})}
  assert len(keys) == 3
  assert key(1, {}) in keys
  monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=true")
  assert key(1, {}) not in keys
  monkeypatch.delenv("XLA_FLAGS")
  monkeypatch.setattr(disk_cache, "surroundings", lambda: (b"another processor",))
  assert key(1, {}) not in keys


WORKER = """
import sys
import numpy as np
import gnomon
from gnomon.api.jit import jit
from gnomon.core.structural import add_tangents
gnomon.config.update("jax_compilation_cache_dir", sys.argv[1])
gnomon.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
def f(n):
  def g(x):
    for _ in range(n):
      x = add_tangents(x, x)
    return x
  return g
for n in range(1, 13):
  got = float(jit(f(n))(np.float32(1)))
  assert got == 2.0 ** n, (n, got)
print("fine")
"""


def test_four_processes_write_at_once(tmp_path: Path) -> None:
  workers = [
      subprocess.Popen(
          [sys.executable, "-W", "error", "-c", WORKER, str(tmp_path)],
          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
      for _ in range(4)]
  for worker in workers:
    out, err = worker.communicate(timeout=180)
    assert out == "fine\n", err
  assert len(entries(tmp_path)) == 12
  assert not list(tmp_path.glob("*.part"))
  for path in entries(tmp_path):
    disk_cache.unwrap(path.read_bytes())


# ---- the user's own folder


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
  monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
  monkeypatch.setattr(sys, "platform", "linux")
  before = gnomon.config.read("keep_programs")
  gnomon.config.update("keep_programs", True)
  disk_cache.own_folder.cache_clear()
  yield tmp_path / "gnomon" / "programs"
  gnomon.config.update("keep_programs", before)
  disk_cache.own_folder.cache_clear()


def test_every_program_is_kept_in_the_own_folder(
    own: Path, ops: Any, monkeypatch: pytest.MonkeyPatch) -> None:
  first = compiled(ops)
  assert len(entries(own)) == 1
  assert own.stat().st_mode & 0o777 == 0o700
  with monkeypatch.context() as m:
    m.setattr(programs, "compile", None)
    assert compiled(ops) == first
  gnomon.config.update("keep_programs", False)
  compiled(ops, times=4)
  assert len(entries(own)) == 1
  gnomon.config.update("keep_programs", True)
  gnomon.config.update("jax_enable_compilation_cache", False)
  compiled(ops, times=5)
  gnomon.config.update("jax_enable_compilation_cache", True)
  assert len(entries(own)) == 1


def test_a_damaged_entry_of_the_own_folder(own: Path, ops: Any) -> None:
  first = compiled(ops)
  [path] = entries(own)
  path.write_bytes(path.read_bytes()[:-10])
  with pytest.warns(RuntimeWarning, match="checksum"):
    assert compiled(ops) == first
  assert disk_cache.unwrap(path.read_bytes())


def test_the_own_folder_is_bounded(
    own: Path, ops: Any, monkeypatch: pytest.MonkeyPatch) -> None:
  compiled(ops)
  size = entries(own)[0].stat().st_size
  monkeypatch.setattr(disk_cache, "_OWN_BOUND", 3 * size)
  monkeypatch.setattr(disk_cache, "_BETWEEN_LOOKS", 2)
  for n in range(4, 14):
    compiled(ops, times=n)
  assert 1 <= len(entries(own)) <= 5
  monkeypatch.setattr(disk_cache, "_OWN_LARGEST", 10)
  before = entries(own)
  compiled(ops, times=20)
  assert entries(own) == before


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720])
def test_a_folder_where_others_may_write_is_not_used(
    own: Path, ops: Any, mode: int) -> None:
  own.mkdir(parents=True)
  own.chmod(mode)
  with warnings.catch_warnings():
    warnings.simplefilter("error")
    compiled(ops)
  assert not entries(own)


def test_no_place_for_the_own_folder(
    own: Path, ops: Any, monkeypatch: pytest.MonkeyPatch) -> None:
  own.parent.write_text("a file")
  with warnings.catch_warnings():
    warnings.simplefilter("error")
    compiled(ops)
  monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
  disk_cache.own_folder.cache_clear()
  compiled(ops)
  assert disk_cache.own_folder() is None


def test_a_second_process_loads_what_the_first_compiled(
    own: Path, tmp_path: Path) -> None:
  script = (
      "import gnomon, numpy as np\n"
      "from gnomon.core.structural import broadcast_in_dim\n"
      "from gnomon.runtime.jaxlib import programs\n"
      "kept, n = programs.compile, []\n"
      "programs.compile = lambda *a: (n.append(1), kept(*a))[1]\n"
      "f = gnomon.jit(lambda x: broadcast_in_dim(x, (7, 3), ()))\n"
      "assert np.asarray(f(np.float32(2))).sum() == 42\n"
      "print(len(n))\n")
  counts = []
  for _ in range(2):
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path), "GNOMON_KEEP_PROGRAMS": "1"})
    counts.append(int(done.stdout.split()[-1]))
  assert counts[0] > 0
  assert counts[1] == 0
