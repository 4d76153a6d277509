"""Checks the length of the Python files: over 600 lines is listed, over 800 an error."""

from __future__ import annotations

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOAL, LIMIT = 600, 800


def files(root: pathlib.Path) -> list[pathlib.Path]:
  """The Python files that belong to the repository at `root`, committed or not yet."""
  listed = subprocess.run(
      ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"],
      cwd=root, check=True, capture_output=True, text=True,
  ).stdout.splitlines()
  return [path for path in sorted(root / line for line in listed) if path.is_file()]


def lengths(paths: list[pathlib.Path]) -> dict[pathlib.Path, int]:
  """The number of lines of each of `paths`."""
  return {path: len(path.read_text().splitlines()) for path in paths}


def report(root: pathlib.Path) -> tuple[list[str], bool]:
  """Lines about the long files, longest first, and whether one is over the limit."""
  long = {p: n for p, n in lengths(files(root)).items() if n > GOAL}
  lines = []
  for path, count in sorted(long.items(), key=lambda item: -item[1]):
    verdict = f"error: over {LIMIT}" if count > LIMIT else f"warning: over {GOAL}"
    name = path.relative_to(root)
    lines.append(f"{name}: {count} lines ({verdict}), split it by topic")
  return lines, any(count > LIMIT for count in long.values())


def main() -> int:
  """Prints the long files; the exit status says whether one is too long."""
  lines, bad = report(ROOT)
  print("\n".join(lines) or f"sizes: every file has at most {GOAL} lines")
  return bad


if __name__ == "__main__":
  sys.exit(main())
