"""`tools/check_packages.py` finds each kind of disagreement, and nothing in this tree."""

from __future__ import annotations

import ast
import pathlib
from collections.abc import Iterable

import check_packages
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Tree:
  """A small repository to break: core, and a slice that needs it."""

  def __init__(self, root: pathlib.Path) -> None:
    self.root = root
    (root / "LICENSE").write_text("free\n")
    self.package("gnomon-core", ["numpy>=2"], {"__init__.py": "", "py.typed": ""})
    self.package("gnomon-lax", ["gnomon-core~=0.1.0"], {
        "lax/py.typed": "", "lax/__init__.py": "from gnomon.core import trace\n",
    })
    self.package("gnomon", ["gnomon-core~=0.1.0", "gnomon-lax~=0.1.0"], {})

  def package(
      self, folder: str, dependencies: Iterable[str], files: dict[str, str],
      *, name: str = "", python: str = ">=3.11", test: Iterable[str] = (),
  ) -> None:
    """Writes one package."""
    place = self.root / "packages" / folder
    place.mkdir(parents=True, exist_ok=True)
    (place / "pyproject.toml").write_text(
        f'[project]\nname = "{name or folder}"\nversion = "0.1.0"\n'
        f'requires-python = "{python}"\ndependencies = {list(dependencies)}\n'
        f"[dependency-groups]\ntest = {list(test)}\n")
    for page in ("README.md", "CHANGELOG.md"):
      (place / page).write_text("text\n")
    (place / "LICENSE").write_text("free\n")
    if folder != "gnomon":
      self.write(f"packages/{folder}/tests/test_it.py", "")
    for path, text in files.items():
      self.write(f"packages/{folder}/src/gnomon/{path}", text)

  def write(self, path: str, text: str) -> None:
    """Writes a file."""
    target = self.root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)

  def problems(self) -> str:
    """What the tool says of the tree."""
    return "\n".join(check_packages.problems(self.root))


@pytest.fixture
def tree(tmp_path: pathlib.Path) -> Tree:
  return Tree(tmp_path)


def test_this_repository() -> None:
  assert list(check_packages.problems(ROOT)) == []


def test_sound(tree: Tree) -> None:
  assert tree.problems() == ""


def test_name_of_the_folder(tree: Tree) -> None:
  tree.package("gnomon-core", ["numpy>=2"], {}, name="core")
  assert "gnomon-core: the folder and the project's name 'core' differ" in tree.problems()


@pytest.mark.parametrize(("pin", "message"), [
    ("gnomon-core~=0.2.0", "excludes gnomon-core 0.1.0"),
    ("gnomon-core>=0.1", "has no upper bound"),
    ("numpy", "has no floor"),
    ("numpy<3", "has no floor"),
])
def test_pins(tree: Tree, pin: str, message: str) -> None:
  tree.package("gnomon-lax", [pin, "gnomon-core~=0.1.0"], {})
  assert f"gnomon-lax: '{pin}' {message}" in tree.problems()


def test_pins_of_the_test_group(tree: Tree) -> None:
  tree.package("gnomon-lax", ["gnomon-core~=0.1.0"], {}, test=["pytest"])
  assert "gnomon-lax: 'pytest' has no floor" in tree.problems()


@pytest.mark.parametrize("line", [
    "import gnomon.lax", "from gnomon import lax", "from gnomon.lax import sin",
    "def f():\n  from gnomon.lax import sin",
])
def test_undeclared_slice(tree: Tree, line: str) -> None:
  tree.write("packages/gnomon-core/src/gnomon/core.py", line + "\n")
  assert "gnomon-core: the sources import a module of gnomon-lax" in tree.problems()


def test_undeclared_module(tree: Tree) -> None:
  tree.write("packages/gnomon-lax/src/gnomon/lax/a.py", "import scipy.special, os\n")
  assert "gnomon-lax: the sources import scipy, which" in tree.problems()


def test_type_checking_imports_are_free(tree: Tree) -> None:
  text = "if TYPE_CHECKING:\n  import gnomon.lax\n  import torch\n"
  tree.write("packages/gnomon-core/src/gnomon/core.py", text)
  assert tree.problems() == ""


def test_imports_of_tests(tree: Tree) -> None:
  path = "packages/gnomon-core/tests/test_a.py"
  tree.write(path, "import pytest\nimport numpy\nfrom gnomon import lax\n")
  found = tree.problems()
  assert "the tests import a module of gnomon-lax, which the group `test`" in found
  assert "the tests import pytest, which the group `test`" in found
  assert "import numpy" not in found
  tree.package("gnomon-core", ["numpy>=2"], {}, test=["pytest>=8", "gnomon-lax~=0.1.0"])
  assert tree.problems() == ""


def test_imports_between_test_files(tree: Tree) -> None:
  tree.write("packages/gnomon-core/tests/test_a.py", "from helpers import f\n")
  tree.write("packages/gnomon-core/tests/helpers.py", "f = 1\n")
  assert tree.problems() == ""


def test_core_owns_the_root(tree: Tree) -> None:
  tree.write("packages/gnomon-lax/src/gnomon/__init__.py", "")
  assert "gnomon-lax: has src/gnomon/__init__.py, which belongs" in tree.problems()


def test_typed(tree: Tree) -> None:
  (tree.root / "packages/gnomon-lax/src/gnomon/lax/py.typed").unlink()
  (tree.root / "packages/gnomon-core/src/gnomon/py.typed").unlink()
  found = tree.problems()
  assert "gnomon-lax: lacks src/gnomon/lax/py.typed" in found
  assert "gnomon-core: lacks src/gnomon/py.typed" in found


def test_one_owner(tree: Tree) -> None:
  tree.write("packages/gnomon-core/src/gnomon/lax/a.py", "")
  assert "gnomon-lax: shares gnomon.lax with another package" in tree.problems()


def test_a_shared_part(tree: Tree) -> None:
  where = "packages/gnomon-lax/src/gnomon/experimental"
  tree.write("packages/gnomon-core/src/gnomon/experimental/__init__.py", "")
  tree.write(f"{where}/odd.py", "")
  tree.write("packages/gnomon-core/src/gnomon/experimental/even.py", "")
  assert tree.problems() == ""
  core = "packages/gnomon-core/src/gnomon/a.py"
  tree.write(core, "from gnomon.experimental import even\n")
  assert tree.problems() == ""
  tree.write(core, "from gnomon.experimental import odd\n")
  assert "gnomon-core: the sources import a module of gnomon-lax" in tree.problems()
  tree.write(core, "")
  tree.write(f"{where}/__init__.py", "")
  assert "gnomon-lax: has src/gnomon/experimental/__init__.py" in tree.problems()
  (tree.root / where / "__init__.py").unlink()
  tree.write(f"{where}/even/a.py", "")
  found = tree.problems()
  assert "gnomon-lax: shares gnomon.experimental.even with another package" in found
  assert "gnomon-lax: lacks src/gnomon/experimental/even/py.typed" in found


def test_meta_package(tree: Tree) -> None:
  tree.package("gnomon", ["gnomon-core~=0.1.0"], {"a.py": ""})
  found = tree.problems()
  assert "gnomon: has modules, but is only a set of dependencies" in found
  assert "gnomon: neither its dependencies nor its extras list gnomon-lax" in found


def test_one_range_of_pythons(tree: Tree) -> None:
  tree.package("gnomon-lax", ["gnomon-core~=0.1.0"], {}, python=">=3.12")
  assert "requires-python differs between packages: >=3.11, >=3.12" in tree.problems()


def test_no_tests(tree: Tree) -> None:
  (tree.root / "packages/gnomon-lax/tests/test_it.py").unlink()
  assert tree.problems() == "gnomon-lax: has no tests"


def test_pages(tree: Tree) -> None:
  (tree.root / "packages/gnomon-lax/README.md").unlink()
  tree.write("packages/gnomon-core/LICENSE", "other\n")
  found = tree.problems()
  assert "gnomon-lax: lacks README.md" in found
  assert "gnomon-core: its LICENSE differs from the repository's" in found


def test_relative_imports_stay_inside() -> None:
  tree = ast.parse("from . import a\nfrom .b import c")
  assert list(check_packages.imports(tree)) == []
