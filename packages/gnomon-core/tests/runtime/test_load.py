"""Which jaxlib is taken, and that the real jax stays out."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import textwrap
import types
from pathlib import Path

import pytest

from gnomon.runtime.jaxlib import _load


@pytest.mark.parametrize(
    "version", ["0.10.2", "0.11.0", "0.11.2", "0.12.0.1", "0.12.9rc1"])
def test_versions_in_the_range_are_taken(version: str) -> None:
  _load.check_version(version)


@pytest.mark.parametrize(
    "version", ["0.4.38", "0.10.1", "0.13.0", "0.13.0.dev2026", "1.0"])
def test_versions_outside_are_refused(version: str) -> None:
  with pytest.raises(ImportError, match=r"needs jaxlib>=0\.10\.2,<0\.13, but") as info:
    _load.check_version(version)
  assert version in str(info.value)
  assert "pip install" in str(info.value)


def test_known_bad_version_is_refused_with_its_reason() -> None:
  with pytest.raises(ImportError, match="40101"):
    _load.check_version("0.11.1")


def test_a_version_that_is_no_number_is_refused() -> None:
  with pytest.raises(ImportError, match="'unknown', which is not a version"):
    _load.check_version("unknown")


def test_installed_version_is_in_the_range() -> None:
  _load.check_version(_load.installed_version())


def test_find_spec_of_jax_does_not_raise() -> None:
  importlib.util.find_spec("jax")


def test_alias_is_recognised_by_attribute_or_spec() -> None:
  alias = types.ModuleType("jax")
  assert not _load.is_alias(alias)
  alias.__gnomon_alias__ = True  # type: ignore[attr-defined]
  assert _load.is_alias(alias)
  other = types.ModuleType("jax")
  other.__spec__ = importlib.machinery.ModuleSpec("jax", None)
  other.__spec__.__gnomon_alias__ = True  # type: ignore[attr-defined]
  assert _load.is_alias(other)


# ---- with a decoy `jax` on the path, in processes of their own -----------------------


@pytest.fixture
def decoy(tmp_path: Path) -> Path:
  """A package called jax that says when it is imported, like the real one in names."""
  files = {
      "jax/__init__.py": "print('DECOY IMPORTED')",
      "jax/core.py": "def ShapedArray(*args): return 'decoy'",
      "jax/_src/__init__.py": "",
      "jax/_src/named_sharding.py": "def check_pspec(mesh, spec): raise SystemExit(9)",
      "jax/_src/sharding_impls.py":
          "def make_single_device_sharding(*args, **kwargs): raise SystemExit(9)",
  }
  for name, text in files.items():
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
  return tmp_path


def run(decoy: Path, code: str) -> str:
  """What a fresh process prints, with the decoy before all else on its path."""
  head = f"import sys; sys.path.insert(0, {str(decoy)!r})\n"
  done = subprocess.run(
      [sys.executable, "-c", head + textwrap.dedent(code)], capture_output=True,
      text=True, check=False, timeout=120)
  assert done.returncode == 0, done.stderr
  return done.stdout


USE_EVERYTHING = """
import numpy as np
from gnomon.runtime.jaxlib import arrays, clients, mlir, programs
client = clients.make_cpu_client(2, False)
devices = clients.devices(client)
sharding = arrays.single_sharding(devices[0])
x = arrays.put(arrays.Aval((2,), np.float32), sharding, [np.ones(2, np.float32)],
               devices[:1])
module = mlir.parse(
    "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }",
    mlir.new_context())
program = programs.compile(
    client, module, clients.DeviceList((devices[0],)),
    programs.compile_options(devices[:1]))
made = program.execute_sharded([x]).disassemble_into_single_device_arrays()[0][0]
from gnomon.sharding import Mesh, NamedSharding, PartitionSpec
NamedSharding(Mesh(devices, "x"), PartitionSpec("x"))
"""


def test_the_runtime_never_imports_jax(decoy: Path) -> None:
  out = run(decoy, USE_EVERYTHING + """
loaded = sorted(name for name in sys.modules if name.split(".")[0] == "jax")
print(type(made.aval).__name__, loaded)
""")
  assert out == "ShapedArray ['jax._src.sharding_impls']\n"


def test_the_factory_of_avals_can_be_changed_after_it_was_pinned(decoy: Path) -> None:
  out = run(decoy, USE_EVERYTHING + """
arrays.set_aval_factory(lambda shape, dtype, weak: (shape, dtype.name, weak))
made = arrays.from_dlpack(np.zeros(3, np.int32).__dlpack__(), devices[0])
print(made.aval)
""")
  assert out == "((3,), 'int32', False)\n"


def test_import_of_jax_after_gnomon_is_refused(decoy: Path) -> None:
  out = run(decoy, """
import importlib.util
import gnomon.runtime.jaxlib.arrays
spec = importlib.util.find_spec("jax")
print(spec.name, spec.origin.endswith("__init__.py"), spec.loader.is_package("jax"))
for name in ("jax", "jax.core"):
  try:
    __import__(name)
  except ImportError as error:
    print(error.name, "process of its own" in str(error))
print("jax" in sys.modules)
""")
  assert out == "jax True True\njax True\njax True\nFalse\n"


def test_import_of_gnomon_after_jax_is_refused(decoy: Path) -> None:
  out = run(decoy, """
import jax
try:
  import gnomon.runtime.jaxlib.arrays
except ImportError as error:
  print("already loaded" in str(error), str(error).count("jax") > 1)
""")
  assert out == "DECOY IMPORTED\nTrue True\n"


def test_alias_before_gnomon_is_accepted_and_kept(decoy: Path) -> None:
  out = run(decoy, """
import types
alias = types.ModuleType("jax")
alias.__gnomon_alias__ = True
core = types.ModuleType("jax.core")
sys.modules.update({"jax": alias, "jax.core": core})
""" + USE_EVERYTHING + """
print(sys.modules["jax"] is alias, sys.modules["jax.core"] is core, type(made.aval))
""")
  assert out == "True True <class 'gnomon.core.types.ShapedArray'>\n"


def test_allow_alias_removes_the_guard(decoy: Path) -> None:
  out = run(decoy, """
from gnomon.runtime.jaxlib import _load
_load.allow_alias()
_load.allow_alias()
import jax
""")
  assert out == "DECOY IMPORTED\n"


def test_alias_found_by_its_spec_passes_the_guard(decoy: Path) -> None:
  out = run(decoy, """
import importlib.machinery, types
import gnomon.runtime.jaxlib
class Alias:
  def find_spec(self, name, path=None, target=None):
    if name == "jax":
      spec = importlib.machinery.ModuleSpec("jax", self)
      spec.__gnomon_alias__ = True
      return spec
  def create_module(self, spec): return None
  def exec_module(self, module): module.here = 1
sys.meta_path.insert(1, Alias())
import jax
print(jax.here)
""")
  assert out == "1\n"


def test_jaxlib_used_before_gnomon_is_named_as_the_cause(decoy: Path) -> None:
  out = run(decoy, """
import os, shutil
shutil.rmtree(os.path.join(sys.path[0], "jax"))
import numpy as np
from jaxlib import _jax, xla_client
client = xla_client.make_cpu_client(num_devices=1)
capsule = np.zeros(16, np.float32).__dlpack__()
_jax.dlpack_managed_tensor_to_buffer(capsule, client.devices()[0], None)
from gnomon.runtime.jaxlib import clients
try:
  clients.make_cpu_client(1)
except ImportError as error:
  print("import gnomon before anything else" in str(error))
""")
  assert out == "True\n"


def test_log_level_is_set_unless_the_user_did(decoy: Path) -> None:
  code = """
import os
if {given!r}: os.environ["TF_CPP_MIN_LOG_LEVEL"] = {given!r}
else: os.environ.pop("TF_CPP_MIN_LOG_LEVEL", None)
import gnomon.runtime.jaxlib
print(os.environ["TF_CPP_MIN_LOG_LEVEL"])
"""
  assert run(decoy, code.format(given="")) == "1\n"
  assert run(decoy, code.format(given="3")) == "3\n"


def test_import_loads_no_scipy_and_no_generated_dialects(decoy: Path) -> None:
  out = run(decoy, """
from gnomon.runtime.jaxlib import (
    arrays, capabilities, cells, clients, errors, fastpath, ffi, mlir, programs, pytrees)
heavy = "scipy", "jaxlib.lapack", "jaxlib.mlir.dialects."
# Newer releases import those of Shardy by themselves.
print([m for m in sys.modules if m.startswith(heavy)
       and not m.endswith(("sdy", "_ods_common", "_sdy_enums_gen", "_sdy_ops_gen"))])
""")
  assert out == "[]\n"
