"""Checks jaxlib before its first import and keeps it from importing the package `jax`."""

from __future__ import annotations

import importlib.machinery
import os
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

# jaxlib's runtime has three names of the package `jax` compiled in:
#   jax.core.ShapedArray(shape, dtype, weak_type)   looked up once, kept for ever
#   jax._src.named_sharding.check_pspec(mesh, spec) looked up once, kept for ever
#   jax._src.sharding_impls                         looked up for each array, can fail
# Were `jax` installed beside us, the look-ups would import it, and it would overwrite the
# process-wide hooks that gnomon installs. So each look-up is answered here by a stub:
# `check_pspec` when this package is imported (no device is needed), `ShapedArray` with
# the first client (it needs a device), and the third for ever by an entry `None`, which
# makes the runtime use its own sharding, and spares it the search for each array.

SUPPORTED = ((0, 10, 2), (0, 13))
"""The releases that gnomon works with: from the first up to, but not with, the second."""

KNOWN_BAD: dict[tuple[int, ...], str] = {
    (0, 11, 1): (
        "writing a small slice into an array inside a loop rewrites the whole array at"
        " each step on the processor, so scans take quadratic time (jax-ml/jax#40101)"),
}
"""Releases inside the range that must not be used, each with the reason."""

_SHARDING_IMPLS = "jax._src.sharding_impls"
_NAMED_SHARDING = "jax._src.named_sharding"

_aval_factory: Callable[[tuple[int, ...], Any, bool], object] | None = None
_pinned = False
spec_check: Callable[[object, object], None] | None = None  # of meshes and specs


def check_version(version: str) -> None:
  """Raises `ImportError` unless this release of jaxlib is one that gnomon works with."""
  numbers = version_numbers(version)
  low, high = SUPPORTED
  wanted = f"jaxlib>={_dotted(low)},<{_dotted(high)}"
  if not low <= numbers < high:
    raise ImportError(
        f"gnomon needs {wanted}, but found jaxlib {version}; install a release in that"
        f" range: pip install '{wanted}'")
  reason = KNOWN_BAD.get(numbers[:3])
  if reason is not None:
    raise ImportError(
        f"jaxlib {version} cannot be used: {reason}. Install another release: pip install"
        f" '{wanted},!={version}'")


def version_numbers(version: str) -> tuple[int, ...]:
  """The numbers of a release: `(0, 12, 0)` for `0.12.0rc1`."""
  match = re.match(r"\d+(\.\d+)*", version)
  if match is None:
    raise ImportError(
        f"the installed jaxlib reports the version {version!r}, which is not a version"
        " number; reinstall it: pip install --force-reinstall jaxlib")
  return tuple(int(part) for part in match.group().split("."))


def _dotted(numbers: tuple[int, ...]) -> str:
  return ".".join(map(str, numbers))


def installed_version() -> str:
  """The version of the installed jaxlib; loads none of its libraries."""
  try:
    import jaxlib.version
  except ModuleNotFoundError as error:
    raise ImportError(
        "gnomon runs on jaxlib, which is not installed: pip install"
        f" 'jaxlib>={_dotted(SUPPORTED[0])},<{_dotted(SUPPORTED[1])}'") from error
  return str(jaxlib.version.__version__)


def prepare() -> None:
  """Makes jaxlib safe to import and to use; called once, before any import of it."""
  # Level 0 prints a line for each client; a user who wants those sets the variable.
  os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
  check_version(installed_version())
  refuse_other_frontend()
  install_guard()
  _pin_check_pspec()
  sys.modules[_SHARDING_IMPLS] = None  # type: ignore[assignment]  # "never import this"


def refuse_other_frontend() -> None:
  """Raises `ImportError` if the package `jax` is loaded (gnomon's own alias is fine)."""
  module = sys.modules.get("jax")
  if module is not None and not is_alias(module):
    where = getattr(module, "__file__", None) or "an unknown place"
    raise ImportError(
        f"the package 'jax' (from {where}) is already loaded in this process; gnomon and"
        " jax both configure jaxlib for the whole process and cannot share one. Use one"
        " of them in each process, or run the other in a subprocess")


def is_alias(module: types.ModuleType) -> bool:
  """Whether a module called `jax` is gnomon's own stand-in for it."""
  if getattr(module, "__gnomon_alias__", False):
    return True
  return bool(getattr(getattr(module, "__spec__", None), "__gnomon_alias__", False))


class _RefusingLoader:
  """Stands for the loader of the real `jax`: it can be asked, but not run."""

  def __init__(self, loader: object) -> None:
    self._loader = loader

  def __getattr__(self, name: str) -> object:
    return getattr(self._loader, name)

  def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
    raise ImportError(
        "gnomon is loaded in this process and 'jax' cannot be imported beside it: both"
        " configure jaxlib for the whole process. Import jax in a process of its own",
        name=spec.name, path=spec.origin)

  def exec_module(self, module: types.ModuleType) -> None:
    raise ImportError(
        f"{module.__name__!r} cannot be run in a process that has loaded gnomon")


class _Guard:
  """Finds the real `jax` where it is, and hands it out with a loader that refuses."""

  # Not a subclass of `importlib.abc.MetaPathFinder`: importing that takes as long as all
  # else here, and the import system asks for the methods only.

  def find_spec(
      self, fullname: str, path: Sequence[str] | None = None,
      target: types.ModuleType | None = None,
  ) -> importlib.machinery.ModuleSpec | None:
    """The spec of the real `jax`, made to refuse; `None` for every other name."""
    if fullname != "jax":
      return None
    for finder in sys.meta_path:
      if finder is self or not hasattr(finder, "find_spec"):
        continue
      spec = finder.find_spec(fullname, path, target)
      if spec is not None:
        # An alias says so in its spec; anything else under this name is refused.
        if not getattr(spec, "__gnomon_alias__", False):
          spec.loader = _RefusingLoader(spec.loader)  # type: ignore[assignment]
        return spec
    return None


_guard = _Guard()


def install_guard() -> None:
  """Makes a later `import jax` of the real package fail; finding it still works."""
  if _guard not in sys.meta_path:
    sys.meta_path.insert(0, _guard)


def allow_alias() -> None:
  """Removes the guard, for the module that provides gnomon under the name `jax`."""
  if _guard in sys.meta_path:
    sys.meta_path.remove(_guard)


@contextmanager
def _stubs(**attributes: Mapping[str, object]) -> Iterator[None]:
  """Puts stub modules under `jax`, and what was there before back again."""
  names = ["jax", *(f"jax.{name}" for name in attributes)]
  before = {name: sys.modules.get(name) for name in names}
  for name in names:
    stub = types.ModuleType(name)
    vars(stub).update(attributes.get(name.removeprefix("jax."), {}))
    sys.modules[name] = stub
  try:
    yield
  finally:
    for name, module in before.items():
      if module is None:
        sys.modules.pop(name, None)
      else:
        sys.modules[name] = module


def _check_pspec(mesh: object, spec: object) -> None:
  if spec_check is not None:
    spec_check(mesh, spec)


def _pin_check_pspec() -> None:
  from gnomon.runtime.jaxlib.native import _jax

  class AbstractMesh:
    """What the constructor of a sharding reads from a mesh without devices."""

    size = 1
    _internal_device_list = None

  # Meshes and specs are checked by `spec_check`, which `runtime.shardings` supplies.
  with _stubs(**{"_src.named_sharding": {"check_pspec": _check_pspec}}):
    _jax.NamedSharding(AbstractMesh(), ())


def pin_aval_factory(device: Any) -> None:
  """Has the runtime take up `make_aval`, for the abstract values that it makes itself."""
  global _pinned
  if _pinned:
    return
  import numpy as np

  from gnomon.runtime.jaxlib.native import _jax

  with _stubs(core={"ShapedArray": make_aval}):
    capsule = np.zeros(16, np.float32).__dlpack__()
    array = _jax.dlpack_managed_tensor_to_buffer(capsule, device, None)
  if array.aval is None:
    raise ImportError(
        "jaxlib has looked for 'jax.core' before gnomon made its first client, and found"
        " none; import gnomon before anything else in this process uses jaxlib")
  _pinned = True


def make_aval(shape: tuple[int, ...], dtype: Any, weak_type: bool = False) -> object:
  """The abstract value for an array made in C++, by the current factory."""
  if _aval_factory is None:
    raise RuntimeError(
        "jaxlib made an array before gnomon.runtime.jaxlib.arrays was imported")
  return _aval_factory(tuple(shape), dtype, bool(weak_type))


def set_aval_factory(factory: Callable[[tuple[int, ...], Any, bool], object]) -> None:
  """Chooses what makes abstract values for arrays made in C++.

  It may be called again, but C++ keeps the values that it has got, by shape and dtype:
  the core sets its own factory before there is a client.
  """
  global _aval_factory
  _aval_factory = factory
