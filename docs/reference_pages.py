"""Pages of the manual, one for each public function and class, from the docstrings.

`conf.py` writes them when the manual is built; by hand: `python docs/reference_pages.py
DIR`. The examples on them are those that run as tests of the docstrings.
"""

from __future__ import annotations

import importlib
import inspect
import pathlib
import pkgutil
import re
import sys
import textwrap
from collections.abc import Iterator
from types import ModuleType
from typing import Any

# What is documented; modules below them are found.
PARTS = (
    "gnomon.numpy", "gnomon.lax", "gnomon.random", "gnomon.nn", "gnomon.image",
    "gnomon.scipy")
_SECTION = re.compile(r"^(Args|Returns|Raises|Attributes|Yields):\s*$")
_TITLES = {"Args": "Arguments", "Raises": "Errors"}
_ITEM = re.compile(r"^  ([\w*][^:]*): ?(.*)")


def modules() -> Iterator[ModuleType]:
  """The public modules of the parts, each with its `__all__`."""
  for part in PARTS:
    yield from _below(importlib.import_module(part))


def _below(module: ModuleType) -> Iterator[ModuleType]:
  yield module
  for found in pkgutil.iter_modules(getattr(module, "__path__", ())):
    if not found.name.startswith("_"):
      yield from _below(importlib.import_module(f"{module.__name__}.{found.name}"))


def documented(module: ModuleType) -> dict[str, Any]:
  """What gets a page: functions, classes, and objects whose class says what they do."""
  return {
      name: value for name in sorted(getattr(module, "__all__", ()))
      if not isinstance(value := getattr(module, name), (ModuleType, float))
      and value is not None and not name.endswith("_p")}


def summary(value: Any) -> str:
  """The first sentence of a docstring."""
  first = inspect.cleandoc(value.__doc__ or "").split("\n\n")[0].replace("\n", " ")
  return re.split(r"(?<=\.)\s", first)[0].replace("|", r"\|")


def page(module: str, name: str, value: Any) -> str:
  """The page of a function or a class, in Markdown."""
  call = textwrap.fill(
      f"{module}.{name}{_signature(value)}", 84, subsequent_indent="    ")
  lines = [f"# {name}", "", "```python", call, "```", ""]
  lines += _body(inspect.cleandoc(value.__doc__ or ""))
  if isinstance(value, type):
    lines += _members(value)
  return "\n".join(lines) + "\n"


def _signature(value: Any) -> str:
  if not callable(value):
    return ""
  try:
    found = inspect.signature(value)
  except (TypeError, ValueError):  # a class of C, which has none
    return ""
  bare = found.replace(
      return_annotation=found.empty,
      parameters=[p.replace(annotation=p.empty) for p in found.parameters.values()])
  # Defaults that are classes, enumerations or other objects have no text that is code.
  text = re.sub(r"<class '([\w.]*\.)?(\w+)'>", r"\2", str(bare))
  text = re.sub(r"<(\w+\.\w+): [^>]*>", r"\1", text)
  return re.sub(r"<[^<>]* at 0x\w+>", "...", text)


def _body(text: str) -> list[str]:
  """A docstring whose sections are headings, lists and fenced examples."""
  out: list[str] = []
  example: list[str] = []
  section = ""
  for line in [*text.splitlines(), ""]:
    if line.lstrip().startswith(">>>") or (example and line.strip()):
      if not example and section != "Example":
        section = "Example"
        out += ["## Example", ""]
      example.append(re.sub(r"\s*# doctest:.*", "", line))
      continue
    if example:
      code = inspect.cleandoc("\n".join(example)).replace("<BLANKLINE>", "")
      out += ["```python", code, "```"]
      example = []
    begins = _SECTION.match(line)
    if begins:
      section = begins[1]
      out += [f"## {_TITLES.get(section, section)}", ""]
    elif section in ("Args", "Raises", "Attributes") and (item := _ITEM.match(line)):
      out.append(f"- {_code(item[1])}: {item[2]}")
    elif section in ("", "Returns", "Example"):
      line = line if not section else line.strip()
      out.append(line[:-1] if line.endswith("::") else line)
    else:  # more of an item
      out.append(line.strip() and f"  {line.strip()}")
  return out


def _code(names: str) -> str:
  return ", ".join(f"`{name.strip()}`" for name in names.split(","))


def _members(cls: type) -> list[str]:
  """The public methods and attributes that a class itself documents."""
  found = [
      (name, member) for name, member in sorted(vars(cls).items())
      if not name.startswith("_") and getattr(member, "__doc__", None)
      and (callable(member) or isinstance(member, (property, classmethod, staticmethod)))]
  if not found:
    return []
  rows = [f"- `{name}`: {summary(member)}" for name, member in found]
  return ["", "## Members", "", *rows]


def index(module: ModuleType, values: dict[str, Any]) -> str:
  """The page of a module: its own docstring, and a line for each name."""
  lines = [f"# {module.__name__}", "", *_body(inspect.cleandoc(module.__doc__ or ""))]
  lines += ["", "| name | what it is |", "|---|---|"]
  lines += [f"| [{name}]({_file(name)}) | {summary(v)} |" for name, v in values.items()]
  others = sorted(set(getattr(module, "__all__", ())) - set(values))
  if others:
    lines += ["", "Further names: " + ", ".join(f"`{name}`" for name in others) + "."]
  files = "\n".join(_file(name) for name in values)
  return "\n".join(lines) + f"\n\n```{{toctree}}\n:hidden:\n\n{files}\n```\n"


def _file(name: str) -> str:
  """The file of a name: two names may differ in case only, file names may not."""
  return f"{name}.md" if name == name.lower() else f"{name}-{_capitals(name)}.md"


def _capitals(name: str) -> str:
  return "".join(str(i) for i, c in enumerate(name) if c.isupper())


def write(folder: pathlib.Path) -> None:
  """Writes the pages into a folder, one for each module in it."""
  entries = []
  for module in modules():
    values = documented(module)
    if not values:
      continue
    at = folder / module.__name__.removeprefix("gnomon.")
    at.mkdir(parents=True, exist_ok=True)
    (at / "index.md").write_text(index(module, values))
    for name, value in values.items():
      (at / _file(name)).write_text(page(module.__name__, name, value))
    entries.append(f"{at.name}/index")
  (folder / "index.md").write_text(
      "# Reference\n\nEach function and class, as its docstring has it.\n\n"
      "```{toctree}\n:maxdepth: 1\n\n" + "\n".join(entries) + "\n```\n")


if __name__ == "__main__":
  write(pathlib.Path(sys.argv[1]))
