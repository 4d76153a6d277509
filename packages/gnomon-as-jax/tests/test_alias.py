"""`jax` is gnomon after `import gnomon.as_jax`."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import gnomon
import gnomon.as_jax
import gnomon.numpy


def run(*args: str, code: int = 0) -> str:
  """What a process prints; standard error with it if it should fail."""
  done = subprocess.run(
      [sys.executable, *args], capture_output=True, text=True, timeout=120, check=False)
  assert done.returncode == code, done.stderr
  return done.stdout + (done.stderr if code else "")


def script(text: str, code: int = 0) -> str:
  return run("-c", textwrap.dedent(text), code=code)


def load(name: str) -> Any:
  return importlib.import_module(name)


@pytest.mark.parametrize("name", [
    "numpy", "numpy.linalg", "numpy.fft", "lax", "lax.linalg", "random", "tree_util",
    "tree", "dtypes", "errors", "sharding", "typing"])
def test_modules_are_the_same_objects(name: str) -> None:
  assert load(f"jax.{name}") is load(f"gnomon.{name}")
  assert load(f"gnomon.{name}").__spec__.name == f"gnomon.{name}"
  assert load(f"gnomon.{name}").__name__ == f"gnomon.{name}"


def test_forms_of_import() -> None:
  space: dict[str, Any] = {}
  exec(
      "import jax\nimport jax.numpy as jnp\nfrom jax import jit, lax, numpy as np2\n"
      "from jax.numpy import linalg, sin\nfrom jax.tree_util import tree_map", space)
  assert space["jnp"] is space["np2"] is space["jax"].numpy is gnomon.numpy
  assert space["jit"] is gnomon.jit
  assert space["sin"] is gnomon.numpy.sin
  assert space["jax"].tree_util.tree_map is space["tree_map"]


def test_version() -> None:
  jax = load("jax")
  assert jax.__version__ == jax.version.__version__ == gnomon.as_jax.JAX_VERSION
  assert load("jax.version").__version_info__ == (0, 10, 2)
  assert importlib.metadata.version("jax") == "0.10.2"
  assert importlib.metadata.version("jaxlib") != ""
  assert gnomon.__version__ != jax.__version__


def test_it_can_be_found() -> None:
  spec = importlib.util.find_spec("jax")
  assert spec is not None
  assert spec.name == "jax"
  assert importlib.util.find_spec("jax.numpy") is not None
  assert {"jit", "grad", "numpy", "__version__"} <= set(dir(load("jax")))


def test_what_is_set_on_jax_is_set_on_gnomon(monkeypatch: pytest.MonkeyPatch) -> None:
  jax = load("jax")
  monkeypatch.setattr(jax, "hessian", 3)
  assert (jax.hessian, gnomon.hessian) == (3, 3)
  monkeypatch.undo()
  assert jax.hessian is gnomon.hessian is not 3  # noqa: F632


def test_names_that_are_not_there() -> None:
  with pytest.raises(AttributeError, match=r"module 'jax' \(gnomon\) has no attribute"):
    _ = load("jax").no_such_name
  with pytest.raises(ModuleNotFoundError, match=r"jax\.no_such_module"):
    load("jax.no_such_module")


def test_a_slice_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
  from gnomon import _slices

  monkeypatch.setitem(_slices.SLICES, "quilts", "gnomon-quilts")  # type: ignore[arg-type]
  with pytest.raises(ModuleNotFoundError, match="pip install gnomon-quilts"):
    load("jax.quilts")
  with pytest.raises(AttributeError, match="pip install gnomon-quilts"):
    _ = load("jax").quilts


def test_private_names() -> None:
  util = load("jax._src.traceback_util")
  assert callable(util.register_exclusion)
  assert load("jax")._src.traceback_util is util
  with pytest.raises(AttributeError, match=r"private name of JAX.*open an issue"):
    _ = util.no_such_name
  with pytest.raises(ModuleNotFoundError, match="private name of JAX"):
    load("jax._src.no_such_module")


@pytest.mark.parametrize("name", [
    f"{module}.{name}"
    for module, names in load("gnomon.as_jax._private").NAMES.items() for name in names])
def test_each_private_name_is_there(name: str) -> None:
  module, _, attribute = name.rpartition(".")
  assert getattr(load(f"jax._src.{module}"), attribute) is not None


def test_who_replaces_a_private_function_replaces_gnomons(
    monkeypatch: pytest.MonkeyPatch) -> None:
  def forbid(client: Any, *_: Any, **__: Any) -> Any:
    raise RuntimeError(f"compiling for {client.platform} is forbidden")

  compiler = load("jax._src.compiler")
  monkeypatch.setattr(compiler, "backend_compile_and_load", forbid)
  with pytest.raises(RuntimeError, match="compiling for cpu is forbidden"):
    gnomon.jit(lambda x: x * 3.25)(1.0)
  monkeypatch.undo()
  assert float(gnomon.jit(lambda x: x * 3.25)(1.0)) == 3.25


def test_pickles_go_both_ways() -> None:
  jax = load("jax")
  tree = jax.tree_util.tree_structure({"a": (1, 2)})
  for value in (tree, jax.tree_util.Partial(jax.numpy.sin), jax.numpy.arange(3)):
    again = pickle.loads(pickle.dumps(value))
    assert type(again) is type(value)
  by_jax_name = b"cjax.numpy\nsin\n."  # what a pickle says that names a function of jax
  assert pickle.loads(by_jax_name) is gnomon.numpy.sin


def test_it_starts_no_backend_and_costs_little() -> None:
  said = script("""
      import time, gnomon
      began = time.process_time()
      import gnomon.as_jax, jax
      taken = time.process_time() - began
      from gnomon.runtime import backends
      print(backends._client, taken < 0.02)
      """)
  assert said == "None True\n"


def test_the_real_one_may_not_be_loaded() -> None:
  said = script("""
      import sys, types
      sys.modules["jax"] = types.ModuleType("jax")
      import gnomon.as_jax
      """, code=1)
  assert "ImportError: the package 'jax'" in said


PROGRAM = """\
import sys
import jax
print(jax.jit(lambda x: x + 1)(1), sys.argv[1:], __name__)
"""


def test_a_program_runs_unmodified(tmp_path: Path) -> None:
  path = tmp_path / "program.py"
  path.write_text(PROGRAM)
  assert run("-m", "gnomon.as_jax", str(path), "-x", "y") == "2 ['-x', 'y'] __main__\n"
  said = run("-m", "gnomon.as_jax", "-m", "timeit", "-n1", "-r1", "import jax")
  assert "loop" in said
  assert "usage:" in run("-m", "gnomon.as_jax", code=1)


def test_plugin_of_pytest(tmp_path: Path) -> None:
  (tmp_path / "test_it.py").write_text(
      "import jax\ndef test_it(): assert jax.numpy.__name__ == 'gnomon.numpy'\n")
  said = run(
      "-m", "pytest", "-p", "gnomon.as_jax.pytest", "-p", "no:cacheprovider",
      "-p", "no:xdist", str(tmp_path))
  assert "1 passed" in said
  assert "jax: gnomon" in said
