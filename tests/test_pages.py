"""The examples in the guides and READMEs run and give what they show."""

from __future__ import annotations

import doctest
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = sorted([
    ROOT / "README.md",
    *ROOT.glob("packages/*/README.md"),
    *ROOT.glob("docs/guides/*.md"),
    *ROOT.glob("examples/*.md"),
])
FENCED = re.compile(r"^```(?:python|pycon)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def session_of(text: str) -> str:
  """The fenced examples of a page, one after the other, on their lines of the page."""
  lines = [""] * (text.count("\n") + 1)
  for block in FENCED.finditer(text):
    first = text.count("\n", 0, block.start(1))
    body = block[1].splitlines()
    lines[first : first + len(body)] = body
  return "\n".join(lines)


def test_blocks_keep_their_lines() -> None:
  page = "a\n```python\n>>> 1\n1\n```\nb\n```text\n>>> no\n```\n```pycon\n>>> 2\n2\n```\n"
  assert session_of(page).splitlines()[2:4] == [">>> 1", "1"]
  assert "no" not in session_of(page)
  assert session_of(page).splitlines()[10:12] == [">>> 2", "2"]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_page(page: pathlib.Path) -> None:
  session = session_of(page.read_text())
  test = doctest.DocTestParser().get_doctest(session, {}, page.name, str(page), 0)
  report: list[str] = []
  doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=report.append)
  assert not report, "".join(report)
