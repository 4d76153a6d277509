"""The one hook through which the NumPy slice supplies the operators of arrays.

Core knows no arithmetic. A provider hands over methods, properties and operators, which
go onto `Array` and `Tracer`. Until then the first use of one loads the provider that is
named by the entry point group `gnomon.array_namespace`.

A public name that no class has counts as a use too: `hasattr(x, "name")` loads the
provider, which alone can tell.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from gnomon.core.trace import Tracer
from gnomon.core.types import attribute_of_type
from gnomon.runtime.jaxlib import arrays

GROUP = "gnomon.array_namespace"
_provided = False
_attributes: dict[str, Any] = {}
_adopted: list[type] = []
_BINARY = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "matmul",
    "lshift", "rshift", "and", "or", "xor")
_OPERATORS = (
    *(f"__{n}__" for n in _BINARY), *(f"__r{n}__" for n in _BINARY),
    "__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__", "__neg__", "__pos__",
    "__abs__", "__invert__", "__round__", "__getitem__", "__iter__", "__contains__")


def provide(attributes: Mapping[str, Any]) -> None:
  """Sets methods, properties and operators on the classes of arrays and of tracers.

  An attribute that a class has of its own (a value's conversion to Python, say) stays.
  """
  global _provided
  _provided = True
  _attributes.update(attributes)
  for name, value in attributes.items():
    arrays.install(name, value)
    setattr(Tracer, name, value)
    for cls in _adopted:
      if name not in cls.__dict__:
        setattr(cls, name, value)


def adopt(cls: type) -> None:
  """Gives another class of arrays the methods and operators, now or when they come."""
  _adopted.append(cls)
  for name, value in _attributes.items():
    if name not in cls.__dict__:
      setattr(cls, name, value)


def load() -> None:
  """Loads the provider.

  Raises:
    TypeError: no installed distribution provides the operators of arrays.
  """
  if _provided:
    return
  from importlib import metadata  # takes ten milliseconds to import

  for entry in metadata.entry_points(group=GROUP):
    importlib.import_module(entry.value)
    if _provided:
      return
  try:
    importlib.import_module("gnomon.numpy")  # a source tree that is not installed
  except ModuleNotFoundError as e:
    if e.name != "gnomon.numpy":
      raise
  if not _provided:
    raise TypeError(
        "operators and methods of arrays come with the distribution gnomon-numpy, which "
        "is not installed: pip install gnomon-numpy. Without it, use the functions of "
        "gnomon.lax")


def _forward(name: str) -> Any:
  def operator(self: Any, *args: Any) -> Any:
    if _provided:
      return NotImplemented
    load()
    return getattr(self, name)(*args)

  operator.__name__ = name
  return operator


def _attribute(self: Any, name: str) -> Any:
  if name == "sharding" and isinstance(self, Tracer):
    raise AttributeError(
        f"The 'sharding' attribute is not available on a traced array of type "
        f"{self.aval}: where it will be is not known. gnomon.typeof(x).sharding says "
        "what its type tells of explicit axes")
  if not name.startswith("_") and not _provided:
    load()
    return getattr(self, name)
  if isinstance(self, Tracer):
    found = attribute_of_type(self, name)
    if found is not None:
      return found
  raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def install_forwarders() -> None:
  """Puts operators that load the provider onto the classes."""
  for name in _OPERATORS:
    forward = _forward(name)
    arrays.install(name, forward)
    setattr(Tracer, name, forward)
  attribute = "__getattr__"
  setattr(Tracer, attribute, _attribute)
  arrays.install(attribute, _attribute)
