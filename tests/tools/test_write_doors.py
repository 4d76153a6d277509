"""`tools/write_doors.py` writes what an `__init__.py` says to type checkers."""

from __future__ import annotations

import pathlib

import pytest
import write_doors

INIT = """
from typing import TYPE_CHECKING

from gnomon.lax._own import loaded_at_once as loaded_at_once

if TYPE_CHECKING:
  from gnomon.core.derive import add_p as add_p
  from gnomon.lax import linalg as linalg
  from gnomon.lax._sines import cos as cos, sin as sin
  from gnomon.lax._sines import arctan as atan
else:
  from gnomon._door import open_door
  from gnomon.lax._names import NAMES
"""


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
  package = tmp_path / "packages" / "gnomon-lax" / "src" / "gnomon" / "lax"
  package.mkdir(parents=True)
  (package / "__init__.py").write_text(INIT)
  return tmp_path


def test_names_by_module(root: pathlib.Path) -> None:
  write_doors.write(root)
  [path] = root.rglob("_names.py")
  namespace: dict[str, object] = {}
  exec(path.read_text(), namespace)
  assert namespace["NAMES"] == {
      "": "linalg", "_sines": "atan=arctan cos sin", "gnomon.core.derive": "add_p"}


def test_old_table_is_seen(root: pathlib.Path) -> None:
  write_doors.write(root)
  assert not list(write_doors.old(root))
  init = root / "packages/gnomon-lax/src/gnomon/lax/__init__.py"
  init.write_text(INIT.replace("as atan", "as inverse_tangent"))
  assert [path.name for path, _ in write_doors.old(root)] == ["_names.py"]


def test_long_lists_are_wrapped(root: pathlib.Path) -> None:
  names = ", ".join(f"name_{i} as name_{i}" for i in range(40))
  init = root / "packages/gnomon-lax/src/gnomon/lax/__init__.py"
  init.write_text(INIT.replace("arctan as atan", names))
  [(_, text)] = write_doors.tables(root)
  namespace: dict[str, dict[str, str]] = {}
  exec(text, namespace)
  assert {f"name_{i}" for i in range(40)} < set(namespace["NAMES"]["_sines"].split())
  assert max(map(len, text.splitlines())) <= 90
