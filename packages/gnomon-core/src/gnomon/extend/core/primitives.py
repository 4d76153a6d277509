"""The primitives of gnomon by the names that libraries know them by.

Those of a slice need its distribution, and load it on first use.
"""

from __future__ import annotations

import importlib
from typing import Any

from gnomon.core.primitive import Primitive, all_primitives
from gnomon.extend.core._call import call_p as call_p
from gnomon.extend.core._call import closed_call_p as closed_call_p

# Where a primitive may be: slices, and modules of them.
_PLACES = (
    "api.device", "transform.call", "transform.custom_derivatives", "transform.remat",
    "lax", "lax.linalg", "random", "ref")
_NAMES = {  # those whose names are not that of the variable
    "add_jaxvals_p": "add_any", "linear_solve_p": "custom_linear_solve",
    "remat_p": "remat2", "scatter_add_p": "scatter-add", "scatter_max_p": "scatter-max",
    "scatter_min_p": "scatter-min", "scatter_mul_p": "scatter-mul",
    "scatter_sub_p": "scatter-sub"}


def _find(name: str) -> Primitive | None:
  wanted = _NAMES.get(name, name.removesuffix("_p"))
  for place in _PLACES:
    try:
      module = importlib.import_module(f"gnomon.{place}")
    except ModuleNotFoundError as e:
      if not f"gnomon.{place}".startswith(str(e.name)):
        raise  # it is installed, but something that it needs is not
      continue
    found = getattr(module, name, None)
    if isinstance(found, Primitive):
      return found
    for p in all_primitives():
      if p.name == wanted and type(p) is Primitive:
        return p
  return None


def __getattr__(name: str) -> Any:
  if name.endswith("_p") and not name.startswith("_"):
    found = _find(name)
    if found is not None:
      globals()[name] = found  # asked once
      return found
  raise AttributeError(
      f"module 'gnomon.extend.core.primitives' has no primitive {name!r} among the "
      "distributions that are installed")
