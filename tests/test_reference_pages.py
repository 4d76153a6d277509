"""Each public function has a page of the manual, with an example that runs as a test."""

from __future__ import annotations

import pathlib
import sys

import gnomon.numpy as gnp
from gnomon import lax

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "docs"))

import reference_pages as pages

# Types of arguments; and what only programs over several devices can call.
NO_EXAMPLE = {"lax.DotDimensionNumbers", "lax.precv", "lax.psend"}


def test_every_function_has_a_page(tmp_path: pathlib.Path) -> None:
  pages.write(tmp_path)
  without = []
  for module in pages.modules():
    folder = tmp_path / module.__name__.removeprefix("gnomon.")
    values = pages.documented(module)
    assert not values or len(list(folder.iterdir())) == len(values) + 1, folder
    for name, value in values.items():
      text = (folder / pages._file(name)).read_text()
      assert text.startswith(f"# {name}\n"), name
      assert text.count("```") % 2 == 0, name
      assert " at 0x" not in text, name
      if callable(value) and not isinstance(value, type) and ">>>" not in text:
        without.append(f"{folder.name}.{name}")
  assert set(without) == NO_EXAMPLE
  assert (tmp_path / "numpy.linalg" / "norm.md").exists()
  assert len(list((tmp_path / "numpy").iterdir())) > 400


def test_page() -> None:
  text = pages.page("gnomon.numpy", "add", gnp.add)
  assert text.startswith("# add\n\n```python\ngnomon.numpy.add(x, y, /)\n```\n\nSum, ")
  for part in ("\n## Arguments\n\n- `x`: array or number.\n- `y`: ",
               "\n## Example\n\n```python\n>>> import gnomon.numpy as gnp\n>>> gnp.add(",
               "\n5.5\n```\n", "\n## Errors\n\n- `TypeError`: an argument is"):
    assert part in text
  # Defaults are written as code is: neither <class 'int'> nor <function f at 0x7f12>.
  text = pages.page("gnomon.lax", "rng_bit_generator", lax.rng_bit_generator)
  assert "dtype=uint32" in text
  assert "algorithm=RandomAlgorithm.RNG_DEFAULT" in text
  assert "operand=..." in pages.page("gnomon.lax", "cond", lax.cond)
  # Members of a class have a line each.
  assert "- `outer`: " in pages.page("gnomon.numpy", "ufunc", gnp.ufunc)
  assert pages.summary(gnp.quantile) == (
      "The number below which a share `q` of elements lies, along axes.")
