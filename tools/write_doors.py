"""Writes the tables of the packages that load their modules on first use.

Such an `__init__.py` imports its names under `if TYPE_CHECKING:`, each `as` itself, and
opens its door with the table `NAMES` of `_names.py` beside it (see `gnomon/_door.py`):

    python tools/write_doors.py           # write the tables
    python tools/write_doors.py --check   # say which are not up to date
"""

from __future__ import annotations

import ast
import pathlib
import sys
import textwrap
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEAD = '''"""Where each public name lives. Written by `tools/write_doors.py`."""

NAMES = {
'''


def type_checking(tree: ast.Module) -> Iterator[ast.stmt]:
  """The statements of a module that only type checkers run."""
  for node in tree.body:
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
      yield from node.body


def names(path: pathlib.Path, package: str) -> dict[str, list[str]]:
  """By module, the names that a package's `__init__.py` takes from it."""
  found: dict[str, list[str]] = {}
  for node in type_checking(ast.parse(path.read_text(), str(path))):
    if not isinstance(node, ast.ImportFrom) or node.module is None:
      continue
    below = node.module.removeprefix(package + ".")
    module = "" if node.module == package else below if below[0] == "_" else node.module
    for alias in node.names:
      if alias.asname is not None:
        found.setdefault(module, []).append(
            alias.name if alias.name == alias.asname
            else f"{alias.asname}={alias.name}")
  return found


def table(path: pathlib.Path, package: str) -> str:
  """The text of `_names.py` for the package of this `__init__.py`."""
  lines = []
  for module, given in sorted(names(path, package).items()):
    text = textwrap.wrap(" ".join(sorted(given)), 78)
    if len(text) == 1 and len(module) + len(text[0]) < 76:
      lines.append(f'    "{module}": "{text[0]}",\n')
    else:
      lines.append(f'    "{module}": (\n')
      lines += [f'        "{line} "\n' for line in text[:-1]]
      lines.append(f'        "{text[-1]}"),\n')
  return HEAD + "".join(lines) + "}\n"


def tables(root: pathlib.Path) -> Iterator[tuple[pathlib.Path, str]]:
  """Each door's `_names.py`, and what should stand in it."""
  for init in sorted(root.glob("packages/*/src/**/__init__.py")):
    if "_names import NAMES" in init.read_text():
      source = next(p for p in init.parents if p.name == "src")
      package = ".".join(init.parent.relative_to(source).parts)
      yield init.parent / "_names.py", table(init, package)


def old(root: pathlib.Path) -> Iterator[tuple[pathlib.Path, str]]:
  """The tables that are not up to date, and what should stand in them."""
  for path, text in tables(root):
    if not path.is_file() or path.read_text() != text:
      yield path, text


def write(root: pathlib.Path) -> None:
  """Writes the tables that are not up to date."""
  for path, text in old(root):
    path.write_text(text)
    print(f"wrote {path.relative_to(root)}")


def main() -> int:
  """Writes the tables, or prints which are not up to date."""
  if "--check" not in sys.argv[1:]:
    write(ROOT)
  found = list(old(ROOT))
  for path, _ in found:
    print(f"{path.relative_to(ROOT)} is old: python tools/write_doors.py")
  return bool(found)


if __name__ == "__main__":
  sys.exit(main())
