"""The hook that gives arrays their operators, with and without a provider of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent.parent

ALONE = """
import builtins, importlib, sys
sys.path.insert(0, {path!r})
real = importlib.import_module

def no_numpy(name, *args):
  if name == "gnomon.numpy":
    raise ModuleNotFoundError("No module named 'gnomon.numpy'", name=name)
  return real(name, *args)

importlib.import_module = no_numpy
from importlib import metadata
metadata.entry_points = lambda **_: []
import numpy as np
import gnomon
from conftest import _ops as ops
"""

NOTHING = ALONE + """
def fails(f):
  try:
    f()
  except TypeError as e:
    assert "pip install gnomon-numpy" in str(e) and "gnomon.lax" in str(e), e
    return
  raise AssertionError("nothing was raised")

x = gnomon.device_put(np.ones(3))
for f in (lambda v: v + 1, lambda v: 1 - v, lambda v: v @ v, lambda v: -v, lambda v: v[0],
          lambda v: v == v, lambda v: abs(v), lambda v: v.sum(), lambda v: v.T,
          lambda v: list(v), lambda v: np.float32(2) * v):
  fails(lambda: f(x))
  fails(lambda: gnomon.jit(f)(x))
  fails(lambda: gnomon.vmap(f)(x))
assert not hasattr(x, "__no_such_attribute__") and not hasattr(x, "_private")
assert float(ops.sum(x)) == 3.0 and x.shape == (3,) and str(x) == "[1. 1. 1.]"
print("all well")
"""

PROVIDED = ALONE + """
from gnomon.core import array_hook

class Keys:
  def sum(self):
    return "own"

array_hook.adopt(Keys)
x = gnomon.device_put(np.ones(3, np.float32))
array_hook.provide({{
    "__add__": lambda self, other: ops.add(self, other),
    "__radd__": lambda self, other: ops.add(other, self),
    "__neg__": lambda self: ops.neg(self), "sum": lambda self: ops.sum(self),
    "twice": property(lambda self: ops.add(self, self))}})
for f in (lambda v: v + v, lambda v: v.twice):
  assert (np.asarray(f(x)) == 2).all()
  assert (np.asarray(gnomon.jit(f)(x)) == 2).all()
  assert (np.asarray(gnomon.vmap(f)(x)) == 2).all()
assert float((-x).sum()) == -3.0
assert Keys().sum() == "own" and hasattr(Keys, "twice")
for f in (lambda: x - x, lambda: x.mean, lambda: gnomon.jit(lambda v: v.mean)(x)):
  try:
    f()
  except (TypeError, AttributeError) as e:
    assert "pip install" not in str(e), e
  else:
    raise AssertionError("nothing was raised")
array_hook.load()  # there is a provider: nothing to do
print("all well")
"""

ENTRY_POINT = """
import sys
sys.path.insert(0, {path!r})
from importlib import metadata
import types
import numpy as np
import gnomon
from conftest import _ops as ops

def provider(**_):
  module = types.ModuleType("test_provider")
  sys.modules["test_provider"] = module
  from gnomon.core import array_hook
  array_hook.provide({{"__neg__": lambda self: ops.neg(self)}})
  return [metadata.EntryPoint("test", "test_provider", "gnomon.array_namespace")]

metadata.entry_points = provider
x = gnomon.device_put(np.ones(3, np.float32))
assert (np.asarray(-x) == -1).all()
assert (np.asarray(gnomon.jit(lambda v: -v)(x)) == -1).all()
assert "gnomon.numpy" not in sys.modules
print("all well")
"""


def _run(code: str) -> None:
  done = subprocess.run(
      [sys.executable, "-c", code.format(path=str(HERE))], capture_output=True, text=True,
      check=False, timeout=300)
  assert done.returncode == 0, done.stderr
  assert "all well" in done.stdout


def test_without_a_provider_the_error_says_what_to_install() -> None:
  _run(NOTHING)


def test_what_is_provided_works_on_arrays_and_tracers() -> None:
  _run(PROVIDED)


def test_the_first_operator_loads_the_provider() -> None:
  _run(ENTRY_POINT)
