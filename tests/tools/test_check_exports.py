"""`tools/check_exports.py` sees each public name that comes or goes."""

from __future__ import annotations

import pathlib

import check_exports
import pytest


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
  package = tmp_path / "packages" / "gnomon-lax"
  (package / "src" / "gnomon" / "lax").mkdir(parents=True)
  (package / "pyproject.toml").write_text("")
  write(tmp_path, "lax/__init__.py", '__all__ = ["sin", "cos"]\n')
  write(tmp_path, "lax/linalg.py", '__all__: list[str] = ["qr"]\n')
  write(tmp_path, "lax/_hidden.py", '__all__ = ["x"]\n')
  write(tmp_path, "lax/plain.py", "y = 1\n")
  return tmp_path


def write(root: pathlib.Path, path: str, text: str) -> None:
  (root / "packages" / "gnomon-lax" / "src" / "gnomon" / path).write_text(text)


def problems(root: pathlib.Path) -> list[str]:
  return list(check_exports.problems(root))


def test_update_pins_public_names(root: pathlib.Path) -> None:
  assert len(problems(root)) == 3
  check_exports.update(root)
  assert problems(root) == []
  pins = (root / "packages" / "gnomon-lax" / "exports.txt").read_text()
  assert pins == "gnomon.lax.cos\ngnomon.lax.linalg.qr\ngnomon.lax.sin\n"


def test_changes(root: pathlib.Path) -> None:
  check_exports.update(root)
  write(root, "lax/__init__.py", '__all__ = ["sin", "tan"]\n')
  assert problems(root) == [
      "gnomon-lax: gnomon.lax.tan is new", "gnomon-lax: gnomon.lax.cos is gone",
  ]


def test_computed_list(root: pathlib.Path) -> None:
  write(root, "lax/linalg.py", '__all__ = [*"ab"]\n')
  with pytest.raises(SystemExit, match=r"linalg\.py:1: __all__ is computed"):
    problems(root)
