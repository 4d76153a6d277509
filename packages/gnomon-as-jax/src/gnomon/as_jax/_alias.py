"""How `jax` and `jax.X` become gnomon's modules: a finder at the head of the path."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from typing import Any

import gnomon
from gnomon.as_jax import _version
from gnomon.runtime.jaxlib import _load

# Modules that `jax` has and gnomon has elsewhere.
ELSEWHERE = {
    "jax.version": "gnomon.as_jax._version",
    "jax._src": "gnomon.as_jax._private",
}
_PRIVATE = "jax._src"


class Root(types.ModuleType):
  """The module `jax`: gnomon's names, and a version of its own."""

  __version__ = _version.__version__
  __version_info__ = _version.__version_info__
  __gnomon_alias__ = True

  def __getattr__(self, name: str) -> Any:
    try:
      value = getattr(gnomon, name)
    except AttributeError as e:
      text = str(e).replace("module 'gnomon' has", "module 'jax' (gnomon) has")
      raise AttributeError(text, name=name, obj=self) from None
    self.__dict__[name] = value
    return value

  def __setattr__(self, name: str, value: Any) -> None:
    super().__setattr__(name, value)
    if not name.startswith("__") and name not in ("version", "_src"):
      setattr(gnomon, name, value)  # who replaces a function replaces gnomon's

  def __delattr__(self, name: str) -> None:
    self.__dict__.pop(name, None)
    if name in vars(gnomon):
      delattr(gnomon, name)

  def __dir__(self) -> list[str]:
    return sorted({*dir(gnomon), *self.__dict__, "__version__", "version"})


class RootLoader:
  """Makes the module `jax`."""

  def create_module(self, spec: ModuleSpec) -> types.ModuleType:
    """The module, still without attributes of the import system."""
    root = Root(spec.name, gnomon.__doc__)
    root.__dict__["version"] = _version
    return root

  def exec_module(self, module: types.ModuleType) -> None:
    """Nothing to run."""


class AliasLoader:
  """Hands out a module of gnomon under a second name."""

  def __init__(self, module: types.ModuleType) -> None:
    self.module, self.spec = module, module.__spec__

  def create_module(self, spec: ModuleSpec) -> types.ModuleType:
    """The module as it is."""
    return self.module

  def exec_module(self, module: types.ModuleType) -> None:
    """Gives the module back the spec that it came with, which importing changed."""
    module.__spec__ = self.spec


class Finder:
  """Finds `jax`, what is below it, and the distribution of that name."""

  def find_spec(
      self, fullname: str, path: Sequence[str] | None = None,
      target: types.ModuleType | None = None,
  ) -> ModuleSpec | None:
    """The spec of a module of `jax`; None for every other name."""
    if fullname == "jax":
      return _spec(fullname, RootLoader(), package=True)
    if not fullname.startswith("jax."):
      return None
    if fullname.startswith(_PRIVATE + "."):
      private = importlib.import_module("gnomon.as_jax._private")
      return _spec(fullname, AliasLoader(private.module(fullname)))
    name = ELSEWHERE.get(fullname, "gnomon" + fullname[3:])
    try:
      module = importlib.import_module(name)
    except ModuleNotFoundError as e:
      if e.name is None or not name.startswith(e.name):
        raise  # the module is there, but something that it needs is not
      slice_error(name)
      return None
    return _spec(fullname, AliasLoader(module), package=hasattr(module, "__path__"))

  def find_distributions(self, context: Any = None) -> Iterator[Any]:
    """What `importlib.metadata` is told of the distribution `jax`."""
    if context is None or context.name in (None, "jax"):
      from gnomon.as_jax import _metadata  # whoever asks has loaded importlib.metadata
      yield _metadata.Jax()


def slice_error(name: str) -> None:
  """Raises what gnomon says of a slice that is not installed, if `name` is in one."""
  top, _, rest = name.removeprefix("gnomon.").partition(".")
  if top == "experimental" and rest:
    return
  try:
    getattr(gnomon, top)
  except AttributeError as e:
    if "is not installed" in str(e):
      raise ModuleNotFoundError(str(e), name=f"jax.{top}") from None


def _spec(fullname: str, loader: Any, *, package: bool = False) -> ModuleSpec:
  spec = ModuleSpec(fullname, loader, origin=gnomon.__file__, is_package=package)
  spec.__gnomon_alias__ = True  # type: ignore[attr-defined]
  return spec


FINDER = Finder()


def activate() -> None:
  """Puts the finder at the head of `sys.meta_path`.

  Raises:
    ImportError: the real `jax` is already loaded.
  """
  _load.refuse_other_frontend()
  if FINDER not in sys.meta_path:
    _load.allow_alias()
    sys.meta_path.insert(0, FINDER)
