"""Compiled programs kept in a folder: what one process compiled, the next ones load.

An entry is a file named by a hash of all that the machine code depends on: the program,
the options, the devices, the kind of processor and the release of the runtime. It begins
with a checksum of the rest. Entries are written beside their place and moved there, so
that a reader finds a whole one or none, however many processes write. What cannot be
used (cut short, changed, made by another release) is told in a warning and compiled anew.

There is a folder of the user's own, which holds every program for the CPU that was ever
compiled, up to a bound; an option names another one, where programs are kept that took
long to compile.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import sys
import time
import warnings
from functools import cache
from pathlib import Path
from typing import Any

from gnomon import _config
from gnomon.runtime.jaxlib import mlir, native, programs
from gnomon.runtime.jaxlib.capabilities import capabilities

MAGIC = b"gnomon compiled program 1\n"
SUFFIX = ".program"
_CHECKSUM = hashlib.sha256().digest_size
_OWN_BOUND = 512 << 20  # bytes of all programs in the user's own folder
_OWN_LARGEST = 16 << 20  # bytes of one program there
_BETWEEN_LOOKS = 256  # programs written until the size of the own folder is looked at
_written = 0


class Entry:
  """The place in the cache of one program; `load` it, or `save` it when compiled."""

  __slots__ = ("folder", "own", "path")

  def __init__(self, folder: Path, key: str, *, own: bool = False) -> None:
    """`own`: the folder is the user's own one, of which nobody need know."""
    self.folder, self.path, self.own = folder, folder / (key + SUFFIX), own

  def load(self, client: Any, devices: Any, options: Any) -> Any:
    """The executable, or None if there is none that can be used."""
    try:
      blob = self.path.read_bytes()
    except FileNotFoundError:
      return None
    except OSError as e:
      _complain(f"{self.path} cannot be read: {e}")
      return None
    try:
      loaded = programs.load(client, unwrap(blob), devices, options)
    except Exception as e:  # noqa: BLE001 -- whatever is wrong with it, it is of no use
      _complain(f"{self.path} cannot be used and is compiled anew: {e}")
      self.path.unlink(missing_ok=True)
      return None
    now = time.time_ns()
    with contextlib.suppress(OSError):  # removed meanwhile, or it may only be read
      os.utime(self.path, ns=(now, now))  # the entry used last goes last
    return loaded

  def save(self, executable: Any, seconds: float) -> None:
    """Keeps a program that took so long to compile, if it is worth it."""
    if self.own:
      with contextlib.suppress(Exception):  # nobody asked for it, nobody misses it
        self._save_own(wrap(programs.serialize(executable)))
      return
    config = _config.config
    if seconds < config.read("jax_persistent_cache_min_compile_time_secs"):
      return
    try:
      blob = wrap(programs.serialize(executable))
    except Exception as e:  # noqa: BLE001 -- some programs cannot be written down
      _complain(f"a compiled program cannot be kept: {e}")
      return
    if len(blob) < config.read("jax_persistent_cache_min_entry_size_bytes"):
      return
    bound = config.read("jax_compilation_cache_max_size")
    if 0 <= bound < len(blob):
      return
    try:
      self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
      write_whole(self.path, blob)
      if bound >= 0:
        shrink(self.folder, bound)
    except OSError as e:
      _complain(f"a compiled program cannot be kept in {self.folder}: {e}")

  def _save_own(self, blob: bytes) -> None:
    global _written
    if len(blob) > _OWN_LARGEST:
      return
    write_whole(self.path, blob)
    if _written % _BETWEEN_LOOKS == 0:
      shrink(self.folder, _OWN_BOUND)
    _written += 1


def own_entry(module: Any, options: Any, lines: bool = False) -> Entry | None:
  """The entry of a program in the user's own folder, if there is one.

  `lines`: one that comes from the same lines of source.
  """
  folder = own_folder()
  if folder is None:
    return None
  return Entry(folder, key_of(module, options, lines), own=True)


@cache
def own_folder() -> Path | None:
  """The user's own folder, made if need be; None if nothing safe can be had.

  It is `gnomon/programs` in the folder for caches: $XDG_CACHE_HOME, or that of the
  system. What is loaded from it is run: nobody else may be able to write there.
  """
  home = os.environ.get("XDG_CACHE_HOME") or {
      "win32": os.environ.get("LOCALAPPDATA", ""), "darwin": "~/Library/Caches"}.get(
          sys.platform, "~/.cache")
  folder = Path(home).expanduser() / "gnomon" / "programs"
  if not home or not folder.is_absolute():
    return None
  try:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.stat()
  except OSError:
    return None
  if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o022):
    return None
  return folder if os.access(folder, os.W_OK | os.X_OK) else None


def entry(folder: str, module: Any, options: Any) -> Entry:
  """The entry of a program that is about to be compiled."""
  return Entry(Path(folder).expanduser(), key_of(module, options))


def key_of(module: Any, options: Any, lines: bool = False) -> str:
  """A hash of what the machine code of a program depends on.

  Where its operations come from is no part of that, unless `lines` or the option
  `jax_compilation_cache_include_metadata_in_key` says so.
  """
  metadata = lines or _config.config.read("jax_compilation_cache_include_metadata_in_key")
  parts = (
      mlir.asm(module, debug_info=metadata).encode(),
      options.SerializeAsString(),
      *surroundings(),
      os.environ.get("XLA_FLAGS", "").encode(),
  )
  digest = hashlib.sha256()
  for part in parts:
    digest.update(len(part).to_bytes(8, "little"))
    digest.update(part)
  return digest.hexdigest()


@cache
def surroundings() -> tuple[bytes, ...]:
  """What machine code depends on beside the program: the runtime, and the processor."""
  usable = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))
  said = (
      str(capabilities["jaxlib_version"]), str(Path(native.FILE).stat().st_size),
      platform.system(), platform.machine(), str(len(usable(0))), processor())
  return tuple(text.encode() for text in said)


def processor() -> str:
  """The model of the processor and the instructions that it knows."""
  try:
    lines = Path("/proc/cpuinfo").read_text().split("\n\n", 1)[0].splitlines()
  except OSError:
    return platform.processor()
  wanted = ("model name", "flags", "Features", "CPU part", "CPU implementer")
  return "\n".join(line for line in lines if line.startswith(wanted))


def wrap(payload: bytes) -> bytes:
  """A program's bytes as the content of a file."""
  return MAGIC + hashlib.sha256(payload).digest() + payload


def unwrap(blob: bytes) -> bytes:
  """The program's bytes in the content of a file.

  Raises:
    ValueError: this is no such file, or not all of it, or it was changed.
  """
  if not blob.startswith(MAGIC):
    raise ValueError("it is not a program that this release of gnomon wrote")
  head = len(MAGIC) + _CHECKSUM
  payload = blob[head:]
  if hashlib.sha256(payload).digest() != blob[len(MAGIC):head]:
    raise ValueError("its checksum is wrong: it was cut short or changed")
  return payload


def write_whole(path: Path, blob: bytes) -> None:
  """Writes a file such that readers see all of it or nothing."""
  import tempfile  # reading entries does not need it

  handle, name = tempfile.mkstemp(prefix=path.stem[:16], suffix=".part", dir=path.parent)
  try:
    with os.fdopen(handle, "wb") as file:
      file.write(blob)
    Path(name).replace(path)
  except BaseException:
    Path(name).unlink(missing_ok=True)
    raise


def shrink(folder: Path, bound: int) -> None:
  """Removes the entries used longest ago until at most `bound` bytes are left.

  Other processes may do the same meanwhile: a file that is gone is as good as removed.
  """
  entries = []
  for path in folder.glob("*" + SUFFIX):
    try:
      stat = path.stat()
    except FileNotFoundError:
      continue
    entries.append((stat.st_mtime_ns, stat.st_size, path))
  total = sum(size for _, size, _ in entries)
  for _, size, path in sorted(entries):
    if total <= bound:
      return
    path.unlink(missing_ok=True)
    total -= size


def _complain(text: str) -> None:
  """Tells of an entry that is of no use; raises if the options ask for that."""
  if _config.config.read("jax_raise_persistent_cache_errors"):
    raise RuntimeError(f"the cache of compiled programs: {text}")
  warnings.warn(f"the cache of compiled programs: {text}", RuntimeWarning, stacklevel=3)
