"""`tools/check_sizes.py` warns over 600 lines and fails over 800."""

from __future__ import annotations

import pathlib
import subprocess

import check_sizes
import pytest


@pytest.fixture
def repository(tmp_path: pathlib.Path) -> pathlib.Path:
  subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
  (tmp_path / ".gitignore").write_text("made/\n")
  return tmp_path


def write(path: pathlib.Path, lines: int) -> None:
  path.parent.mkdir(exist_ok=True)
  path.write_text("x = 1\n" * lines)


def test_short_files(repository: pathlib.Path) -> None:
  write(repository / "a.py", 600)
  assert check_sizes.report(repository) == ([], False)


def test_long_files(repository: pathlib.Path) -> None:
  write(repository / "a.py", 601)
  lines, bad = check_sizes.report(repository)
  assert lines == ["a.py: 601 lines (warning: over 600), split it by topic"]
  assert not bad


def test_too_long_files_come_first(repository: pathlib.Path) -> None:
  write(repository / "a.py", 700)
  write(repository / "sub" / "b.py", 801)
  lines, bad = check_sizes.report(repository)
  assert [line.split(":")[0] for line in lines] == ["sub/b.py", "a.py"]
  assert "error: over 800" in lines[0]
  assert bad


def test_made_files_do_not_count(repository: pathlib.Path) -> None:
  write(repository / "made" / "a.py", 900)
  (repository / "a.txt").write_text("x\n" * 900)
  assert check_sizes.report(repository) == ([], False)
