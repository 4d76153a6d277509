"""Checks that the packages of this repository agree with each other and with their code.

For every package: the folder bears its name; its pins admit the versions in this tree
and have an upper bound; what its sources and tests import is declared; it owns its
slice alone and marks it as typed. No resolver checks any of this inside a workspace.
"""

from __future__ import annotations

import ast
import pathlib
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORE, META = "gnomon-core", "gnomon"
SHARED = "experimental"  # core owns the package; others own modules in it
MODULES_OF = {  # distributions whose module has another name
    "absl-py": "absl", "pillow": "PIL", "scikit-learn": "sklearn"}


@dataclass(frozen=True)
class Package:
  """What one `pyproject.toml` says."""

  folder: pathlib.Path
  name: str
  version: str
  python: str
  dependencies: list[Requirement]
  extras: dict[str, list[Requirement]] = field(default_factory=dict)
  test: list[Requirement] = field(default_factory=list)

  @property
  def tests(self) -> pathlib.Path:
    """The folder of the package's tests."""
    return self.folder / "tests"

  @property
  def namespace(self) -> pathlib.Path:
    """The folder that becomes a part of `gnomon/`."""
    return self.folder / "src" / "gnomon"

  def requirements(self) -> list[Requirement]:
    """All that a user may install with the package."""
    return [*self.dependencies, *(r for extra in self.extras.values() for r in extra)]


def parse(lines: Iterable[str]) -> list[Requirement]:
  """Requirements of lines such as `numpy>=2.1`."""
  return [Requirement(line) for line in lines]


def load(root: pathlib.Path) -> dict[str, Package]:
  """The packages below `root`, by the name of their folder."""
  packages = {}
  for path in sorted(root.glob("packages/*/pyproject.toml")):
    table = tomllib.loads(path.read_text())
    project = table["project"]
    extras = project.get("optional-dependencies", {})
    packages[path.parent.name] = Package(
        folder=path.parent,
        name=project["name"],
        version=project["version"],
        python=project["requires-python"],
        dependencies=parse(project.get("dependencies", [])),
        extras={name: parse(lines) for name, lines in extras.items()},
        test=parse(table.get("dependency-groups", {}).get("test", [])),
    )
  return packages


# Imports


def is_type_checking(node: ast.AST) -> bool:
  """Whether `node` is an `if TYPE_CHECKING:`."""
  return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports(tree: ast.AST) -> Iterator[str]:
  """The dotted names that `tree` imports when it runs, at the top or in a function."""
  for node in ast.iter_child_nodes(tree):
    if is_type_checking(node):
      continue
    if isinstance(node, ast.Import):
      yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
      yield from (f"{node.module}.{alias.name}" for alias in node.names)
    yield from imports(node)


def imported(folder: pathlib.Path) -> set[str]:
  """The dotted names that the files below `folder` import."""
  return {
      name for path in folder.rglob("*.py")
      for name in imports(ast.parse(path.read_text(), str(path)))
  }


def slices(names: Iterable[str], owners: Mapping[str, str]) -> set[str]:
  """The packages that own the `gnomon.*` modules among `names`."""
  parts = (name.split(".") for name in names)
  return {
      owners.get(".".join(part[1:3]) if part[1] == SHARED else part[1], CORE)
      for part in parts if part[0] == "gnomon" and len(part) > 1
  }


def outside(names: Iterable[str]) -> set[str]:
  """The top-level modules among `names` that are not of Python or of gnomon."""
  tops = {name.split(".")[0] for name in names}
  return tops - set(sys.stdlib_module_names) - {"gnomon"}


def modules(requirements: Iterable[Requirement]) -> set[str]:
  """The top-level modules that `requirements` bring, by their usual names."""
  names = (canonicalize_name(r.name) for r in requirements)
  return {MODULES_OF.get(name, name.replace("-", "_")) for name in names}


# The checks


def parts_of(namespace: pathlib.Path) -> Iterator[tuple[str, pathlib.Path]]:
  """What a package adds to `gnomon`: the dotted names below it, and their paths."""
  for path in sorted(namespace.glob("*")):
    if path.name == SHARED and path.is_dir():
      yield from (
          (f"{SHARED}.{inner.stem}", inner) for inner in sorted(path.glob("*"))
          if inner.name != "__pycache__")
    else:
      yield path.stem, path


def owners_of(packages: Mapping[str, Package]) -> dict[str, str]:
  """The package behind each name below `gnomon`; core's need not be listed."""
  return {
      name: package.name
      for package in packages.values() if package.name != CORE
      for name, _ in parts_of(package.namespace)
  }


def closure(names: Iterable[str], packages: Mapping[str, Package]) -> set[str]:
  """`names` and all that they need of this repository."""
  found: set[str] = set()
  new = set(names) & packages.keys()
  while new:
    found |= new
    needed = {r.name for name in new for r in packages[name].dependencies}
    new = (needed & packages.keys()) - found
  return found


def pin_problems(package: Package, packages: Mapping[str, Package]) -> Iterator[str]:
  """Pins between packages that exclude this tree or admit everything to come."""
  for pin in [*package.requirements(), *package.test]:
    if pin.name == package.name:
      continue
    bounds = {specifier.operator for specifier in pin.specifier}
    if pin.name not in packages:
      if not bounds & {">=", "~=", "=="}:
        yield f"'{pin}' has no floor: say the oldest version that works, as in >=1.2"
      continue
    version = packages[pin.name].version
    if not pin.specifier.contains(version, prereleases=True):
      yield f"'{pin}' excludes {pin.name} {version}, the version in this tree"
    if not bounds & {"~=", "==", "<"}:
      yield f"'{pin}' has no upper bound: write it as ~=X.Y.Z"


def import_problems(package: Package, packages: Mapping[str, Package]) -> Iterator[str]:
  """Imports of the package's sources and tests that nothing declares."""
  owners = owners_of(packages)
  direct = {r.name for r in package.dependencies} | {package.name}
  names = imported(package.namespace)
  for owner in sorted(slices(names, owners) - direct):
    yield f"the sources import a module of {owner}, which is not among its dependencies"
  for module in sorted(outside(names) - modules(package.requirements())):
    yield f"the sources import {module}, which is not among its dependencies"
  names = imported(package.tests)
  present = closure({*direct, *(r.name for r in package.test)}, packages)
  declared = [*package.test, *(r for n in present for r in packages[n].dependencies)]
  for owner in sorted(slices(names, owners) - present):
    yield f"the tests import a module of {owner}, which the group `test` does not bring"
  local = {path.stem for path in package.tests.rglob("*.py")}
  for module in sorted(outside(names) - modules(declared) - local):
    yield f"the tests import {module}, which the group `test` does not bring"


def namespace_problems(package: Package, owned: Iterable[str]) -> Iterator[str]:
  """Files that break the sharing of `gnomon/` between distributions."""
  if package.name == META:
    if package.namespace.exists():
      yield "has modules, but is only a set of dependencies"
    return
  if package.name == CORE:
    if not (package.namespace / "py.typed").is_file():
      yield "lacks src/gnomon/py.typed"
    return
  for name, path in parts_of(package.namespace):
    place = path.relative_to(package.namespace.parent)
    if path.name in ("__init__.py", "py.typed"):
      yield f"has src/{place}, which belongs to {CORE}"
    elif path.is_dir() and path.name != "__pycache__":
      if name in owned:
        yield f"shares gnomon.{name} with another package"
      if not (path / "py.typed").is_file():
        yield f"lacks src/{place}/py.typed"


def meta_problems(meta: Package, packages: Mapping[str, Package]) -> Iterator[str]:
  """Packages that the meta-package does not offer."""
  offered = {r.name for r in meta.requirements()}
  for name in sorted(packages.keys() - offered - {META}):
    yield f"neither its dependencies nor its extras list {name}"


def file_problems(package: Package, licence: bytes) -> Iterator[str]:
  """Files that every package has, and that this one lacks."""
  for name in ("README.md", "CHANGELOG.md", "LICENSE"):
    if not (package.folder / name).is_file():
      yield f"lacks {name}"
  own = package.folder / "LICENSE"
  if own.is_file() and own.read_bytes() != licence:
    yield "its LICENSE differs from the repository's"
  if package.name != META and not any(package.tests.rglob("test_*.py")):
    yield "has no tests"


def problems(root: pathlib.Path) -> Iterator[str]:
  """Everything that is wrong with the packages below `root`, a line each."""
  packages = load(root)
  licence = (root / "LICENSE").read_bytes()
  pythons = {package.python for package in packages.values()}
  if len(pythons) > 1:
    yield f"requires-python differs between packages: {', '.join(sorted(pythons))}"
  for folder, package in packages.items():
    if package.name != folder:
      yield f"{folder}: the folder and the project's name {package.name!r} differ"
    owned = {
        name for other in packages.values() if other is not package
        for name, _ in parts_of(other.namespace)
    }
    found = [
        *pin_problems(package, packages),
        *import_problems(package, packages),
        *namespace_problems(package, owned),
        *(meta_problems(package, packages) if folder == META else ()),
    ]
    found += file_problems(package, licence)
    yield from (f"{folder}: {problem}" for problem in found)


def main() -> int:
  """Prints the problems; the exit status says whether there are any."""
  found = list(problems(ROOT))
  print("\n".join(found) or "packages: their pins, imports and files agree")
  return bool(found)


if __name__ == "__main__":
  sys.exit(main())
