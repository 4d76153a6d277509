"""Doors: packages whose public names load the modules that hold them on first use.

A program that takes the sine of an array has no need of the singular values of a matrix,
and should not wait for them. The `__init__.py` of such a package imports its names for
readers and type checkers only, under `if TYPE_CHECKING:`. `tools/write_doors.py` writes
from that a table, `_names.py`, by which the running program finds them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def open_door(
    package: str, names: Mapping[str, str],
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
  """The `__getattr__`, `__dir__` and `__all__` of a package.

  Args:
    package: its name.
    names: for each module, the names that it gives, separated by spaces; `name=other`
      where the module calls it `other`. A module that begins with an underscore is one
      of the package. The empty module stands for the package: these are its submodules.
  """
  places = {}
  for module, given in names.items():
    where = f"{package}.{module}" if module[:1] in ("", "_") else module
    for name in given.split():
      name, _, other = name.partition("=")
      places[name] = (where, other or name)

  def __getattr__(name: str) -> Any:
    place = places.get(name)
    if place is None:
      raise AttributeError(f"module {package!r} has no attribute {name!r}")
    module, other = place
    if module[-1] == ".":
      return import_module(module + other)
    value = getattr(import_module(module), other)
    setattr(sys.modules[package], name, value)  # the next use does not come here
    return value

  def __dir__() -> list[str]:
    return sorted({*vars(sys.modules[package]), *places})

  public = [name for name in places if name[0] != "_"]
  return __getattr__, __dir__, public
