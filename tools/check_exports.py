"""Checks the public names: each package pins what its modules export.

That is what `__all__` lists; in an `__init__.py` without one, what is imported
`as` itself, be it for type checkers only (see `write_doors.py`, which `--update` calls).

The pins are `packages/X/exports.txt`, a name a line. One that comes or goes is a change
for users, so that it must show in a diff: `python tools/check_exports.py --update`.
"""

from __future__ import annotations

import ast
import pathlib
import sys
from collections.abc import Iterator

import write_doors

ROOT = pathlib.Path(__file__).resolve().parent.parent


def listed(tree: ast.Module, path: pathlib.Path) -> list[str] | None:
  """The names in the `__all__` of a module, or None where it has none."""
  for node in tree.body:
    if isinstance(node, ast.Assign):
      targets, value = node.targets, node.value
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
      targets, value = [node.target], node.value
    else:
      continue
    if any(isinstance(t, ast.Name) and t.id == "__all__" for t in targets):
      try:
        return list(ast.literal_eval(value))
      except ValueError:
        raise SystemExit(
            f"{path}:{node.lineno}: __all__ is computed; write it as a list of strings, "
            "so that tools and readers see it"
        ) from None
  if path.name != "__init__.py":
    return None
  names = [
      alias.name
      for node in [*tree.body, *write_doors.type_checking(tree)]
      if isinstance(node, ast.ImportFrom)
      for alias in node.names if alias.asname == alias.name
  ]
  return names or None


def modules(source: pathlib.Path) -> Iterator[tuple[str, pathlib.Path]]:
  """The public modules below `source`, by their dotted names."""
  for path in sorted(source.rglob("*.py")):
    parts = path.relative_to(source).with_suffix("").parts
    if parts[-1] == "__init__":
      parts = parts[:-1]
    if not any(part.startswith("_") for part in parts):
      yield ".".join(parts), path


def exports(package: pathlib.Path) -> list[str]:
  """The public names of a package, dotted and sorted."""
  found = []
  for module, path in modules(package / "src"):
    names = listed(ast.parse(path.read_text(), str(path)), path)
    found += [f"{module}.{name}" for name in names or ()]
  return sorted(found)


def problems(root: pathlib.Path) -> Iterator[str]:
  """Names that are not pinned, and pinned names that are gone."""
  for project in sorted(root.glob("packages/*/pyproject.toml")):
    package = project.parent
    pins = package / "exports.txt"
    pinned = set(pins.read_text().split()) if pins.is_file() else set()
    now = set(exports(package))
    yield from (f"{package.name}: {name} is new" for name in sorted(now - pinned))
    yield from (f"{package.name}: {name} is gone" for name in sorted(pinned - now))


def update(root: pathlib.Path) -> None:
  """Pins the names as they are, and writes the tables of doors anew."""
  write_doors.write(root)
  for project in sorted(root.glob("packages/*/pyproject.toml")):
    names = exports(project.parent)
    if names:
      (project.parent / "exports.txt").write_text("\n".join(names) + "\n")


def main() -> int:
  """Prints what changed; the exit status says whether anything did."""
  if sys.argv[1:] == ["--update"]:
    update(ROOT)
  found = list(problems(ROOT))
  print("\n".join(found) or "exports: the public names are those that are pinned")
  if found:
    print("If that is intended: python tools/check_exports.py --update, and a fragment")
  return bool(found)


if __name__ == "__main__":
  sys.exit(main())
