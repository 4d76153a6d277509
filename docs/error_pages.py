"""Pages of the manual, one for each class of error, from the docstrings.

`conf.py` writes them when the manual is built; by hand: `python docs/error_pages.py DIR`.
"""

from __future__ import annotations

import inspect
import pathlib
import re
import sys

from gnomon import errors

_PARTS = re.compile(r"^(Cause|Example|Fix): ?", re.MULTILINE)


def explained() -> list[type[BaseException]]:
  """The classes whose docstring tells of a cause, in order of definition."""
  return [
      cls for cls in vars(errors).values()
      if isinstance(cls, type) and issubclass(cls, BaseException)
      and cls.__module__ == errors.__name__ and "\nFix:" in inspect.cleandoc(
          cls.__doc__ or "")]


def page(cls: type[BaseException]) -> str:
  """The page of a class, in Markdown."""
  head, *parts = _PARTS.split(inspect.cleandoc(cls.__doc__ or ""))
  lines = [f"# {cls.__name__}", "", head.strip()]
  for title, text in zip(parts[::2], parts[1::2], strict=True):
    body = _examples(text.strip("\n"))
    lines += ["", f"## {title}", "", body[:1].upper() + body[1:]]
  return "\n".join(lines) + "\n"


def _examples(text: str) -> str:
  """A text whose indented examples are fenced."""
  out: list[str] = []
  for block in re.split(r"\n\s*\n", text):
    first = block.lstrip()
    if first.startswith(">>>"):
      code = re.sub(r"  # doctest:.*", "", inspect.cleandoc(block))
      out.append(f"```python\n{code}\n```")
    else:
      out.append(inspect.cleandoc(block))
  return "\n\n".join(out)


def write(folder: pathlib.Path) -> None:
  """Writes the pages into a folder."""
  folder.mkdir(exist_ok=True)
  for cls in explained():
    (folder / f"{cls.__name__}.md").write_text(page(cls))


if __name__ == "__main__":
  write(pathlib.Path(sys.argv[1]))
