"""`tools/check_changelog.py` wants a fragment for each change, in a fixed form."""

from __future__ import annotations

import pathlib
import subprocess

import check_changelog
import pytest


def git(root: pathlib.Path, *arguments: str) -> None:
  who = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false")
  subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
  """A repository with one package that is not released."""
  folder = tmp_path / "packages" / "gnomon-lax"
  (folder / "changelog.d").mkdir(parents=True)
  (folder / "src").mkdir()
  (folder / "src" / "a.py").write_text("a = 1\n")
  (folder / "pyproject.toml").write_text('[project]\nversion = "0.1.0"\n')
  (folder / "CHANGELOG.md").write_text("# Changelog\n")
  (folder / "changelog.d" / "+first.added.md").write_text("The first part.\n")
  git(tmp_path, "init", "--quiet")
  git(tmp_path, "add", ".")
  git(tmp_path, "commit", "--quiet", "-m", "all")
  return tmp_path


def fragment(root: pathlib.Path, name: str, text: str) -> None:
  (root / "packages" / "gnomon-lax" / "changelog.d" / name).write_text(text)


def release(root: pathlib.Path) -> None:
  """Moves the fragment into the changelog and tags."""
  folder = root / "packages" / "gnomon-lax"
  (folder / "changelog.d" / "+first.added.md").unlink()
  (folder / "CHANGELOG.md").write_text("# Changelog\n\n## 0.1.0 (2026-11-30)\n\nAll.\n")
  git(root, "add", "--all")
  git(root, "commit", "--quiet", "-m", "release")
  git(root, "tag", "gnomon-lax-v0.1.0")


def problems(root: pathlib.Path) -> str:
  return "\n".join(check_changelog.problems(root))


def test_sound(root: pathlib.Path) -> None:
  assert problems(root) == ""


@pytest.mark.parametrize(("name", "text", "message"), [
    ("first.added.md", "Text.\n", "is not of the form +slug.kind.md"),
    ("+First.added.md", "Text.\n", "is not of the form +slug.kind.md"),
    ("+x.new.md", "Text.\n", "the kind 'new' is none of added, changed"),
    ("+x.fixed.md", " \n", "is empty"),
    ("+x.fixed.md", "Text.", "does not end with a line break"),
    ("+x.fixed.md", "- Text.\n", "begins with '-'"),
])
def test_fragments(root: pathlib.Path, name: str, text: str, message: str) -> None:
  fragment(root, name, text)
  assert problems(root) == f"gnomon-lax: {name}: {problems(root).split(': ', 2)[2]}"
  assert message in problems(root)


def test_no_word_about_the_first_version(root: pathlib.Path) -> None:
  (root / "packages" / "gnomon-lax" / "changelog.d" / "+first.added.md").unlink()
  assert "CHANGELOG.md has no entry for 0.1.0" in problems(root)


def test_released(root: pathlib.Path) -> None:
  release(root)
  assert problems(root) == ""
  (root / "packages" / "gnomon-lax" / "src" / "a.py").write_text("a = 2\n")
  assert "src changed since gnomon-lax-v0.1.0" in problems(root)
  fragment(root, "+a.changed.md", "It is two.\n")
  assert problems(root) == ""


def test_released_without_an_entry(root: pathlib.Path) -> None:
  git(root, "tag", "gnomon-lax-v0.1.0")
  assert "is released, but CHANGELOG.md has no entry" in problems(root)


def test_no_changelog(root: pathlib.Path) -> None:
  (root / "packages" / "gnomon-lax" / "CHANGELOG.md").unlink()
  assert problems(root) == "gnomon-lax: has no CHANGELOG.md"
