"""Checks the changelogs: each change since a release has a fragment, each one is sound.

A fragment is `packages/X/changelog.d/+slug.kind.md`: what a user notices, in a sentence
or a few. A release gathers the fragments under its version in `CHANGELOG.md`.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
KINDS = ("added", "changed", "deprecated", "removed", "fixed", "faster")
NAME = re.compile(r"\+(?P<slug>[a-z0-9]+(-[a-z0-9]+)*)\.(?P<kind>[a-z]+)\.md")


def git(root: pathlib.Path, *arguments: str) -> str:
  """What `git` prints in the repository at `root`."""
  return subprocess.run(
      ["git", *arguments], cwd=root, check=True, capture_output=True, text=True
  ).stdout


def fragment_problems(path: pathlib.Path) -> Iterator[str]:
  """What is wrong with one fragment."""
  match = NAME.fullmatch(path.name)
  if match is None:
    yield f"{path.name}: the name is not of the form +slug.kind.md"
  elif match["kind"] not in KINDS:
    yield f"{path.name}: the kind {match['kind']!r} is none of {', '.join(KINDS)}"
  text = path.read_text()
  if not text.strip():
    yield f"{path.name}: is empty; say what a user notices"
  elif not text.endswith("\n"):
    yield f"{path.name}: does not end with a line break"
  if text.startswith(("#", "-", "*")):
    yield f"{path.name}: begins with {text[0]!r}; the release adds headings and bullets"


def version_problems(folder: pathlib.Path, root: pathlib.Path) -> Iterator[str]:
  """Releases without an entry, and changes since the release without a fragment."""
  version = tomllib.loads((folder / "pyproject.toml").read_text())["project"]["version"]
  fragments = list(folder.glob("changelog.d/+*.md"))
  log = (folder / "CHANGELOG.md").read_text()
  tag = f"{folder.name}-v{version}"
  source = f"{folder.relative_to(root)}/src"
  if not git(root, "tag", "--list", tag):
    if f"\n## {version}" not in log and not fragments:
      yield f"CHANGELOG.md has no entry for {version}, and changelog.d no fragment"
    return
  if f"\n## {version}" not in log:
    yield f"{tag} is released, but CHANGELOG.md has no entry for it"
  if git(root, "diff", "--name-only", tag, "--", source) and not fragments:
    yield f"src changed since {tag}, but changelog.d has no fragment that says how"


def problems(root: pathlib.Path) -> Iterator[str]:
  """Everything that is wrong with the changelogs of the repository at `root`."""
  for project in sorted(root.glob("packages/*/pyproject.toml")):
    folder = project.parent
    if not (folder / "CHANGELOG.md").is_file():
      yield f"{folder.name}: has no CHANGELOG.md"
      continue
    for path in sorted(folder.glob("changelog.d/*")):
      if path.name != "README.md":
        yield from (f"{folder.name}: {problem}" for problem in fragment_problems(path))
    yield from (f"{folder.name}: {problem}" for problem in version_problems(folder, root))


def main() -> int:
  """Prints the problems; the exit status says whether there are any."""
  found = list(problems(ROOT))
  print("\n".join(found) or "changelogs: every fragment is sound, every change has one")
  return bool(found)


if __name__ == "__main__":
  sys.exit(main())
