"""`device_put` and company: places, commitment, donation, guards; several devices."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon.runtime import backends


def _device() -> Any:
  return gnomon.devices()[0]


# ---- what is put


@pytest.mark.parametrize("value", [
    1.5, 2, True, 1j, np.float64(3), np.arange(3), np.zeros((0, 2), np.int8),
    np.ones((2, 2), np.float16)])
def test_numbers_and_numpy_arrays(value: Any) -> None:
  for place in (None, _device(), backends.sharding_of(_device())):
    x = gnomon.device_put(value, place)
    assert isinstance(x, gnomon.Array)
    assert gnomon.typeof(x) is gnomon.typeof(value)
    np.testing.assert_array_equal(np.asarray(x), np.asarray(value))
    assert x.committed is (place is not None)
    assert x.devices() == {_device()}


def test_the_array_has_memory_of_its_own() -> None:
  value = np.arange(100, dtype=np.float32)
  x = gnomon.device_put(value)
  value[:] = 0
  np.testing.assert_array_equal(np.asarray(x), np.arange(100))


def test_arrays_stay_or_become_committed() -> None:
  x = gnomon.device_put(np.arange(3))
  assert gnomon.device_put(x) is x
  y = gnomon.device_put(x, _device())
  assert (x.committed, y.committed) == (False, True)
  assert gnomon.device_put(y).committed
  np.testing.assert_array_equal(np.asarray(y), [0, 1, 2])


def test_pytrees_of_values_and_places() -> None:
  tree = {"a": np.ones(2), "b": [3.0, None]}
  out = gnomon.device_put(tree)
  assert gnomon.tree.structure(out) == gnomon.tree.structure(tree)
  out = gnomon.device_put(tree, {"a": _device(), "b": None})
  assert (out["a"].committed, out["b"][0].committed) == (True, False)
  with pytest.raises(ValueError, match="device_put device"):
    gnomon.device_put(tree, {"a": _device()})


def test_donation_deletes_what_was_moved() -> None:
  x = gnomon.device_put(np.ones(1000, np.float32))
  y = gnomon.device_put(x, _device(), donate=True)
  np.testing.assert_array_equal(np.asarray(y), np.ones(1000))
  z = gnomon.device_put(y, donate=True)
  np.testing.assert_array_equal(np.asarray(z), np.ones(1000))


def test_what_is_no_array_or_no_place() -> None:
  with pytest.raises(TypeError, match=r"device_put.*'text'"):
    gnomon.device_put("text")
  with pytest.raises(TypeError, match="not a valid array type"):
    gnomon.device_put(np.array(["a"]))
  with pytest.raises(ValueError, match=r"expects a device .* or a sharding, got 'cpu'"):
    gnomon.device_put(1.0, "cpu")
  with pytest.raises(ValueError, match="got 0"):
    gnomon.device_put({"a": 1.0}, {"a": 0})


def test_under_transformations(ops: Any) -> None:
  f = lambda x: ops.mul(gnomon.device_put(x, _device()), x)  # noqa: E731
  assert float(gnomon.jit(f)(3.0)) == 9.0
  assert float(gnomon.grad(f)(3.0)) == 6.0
  assert float(gnomon.jit(gnomon.grad(f))(3.0)) == 6.0
  xs = np.arange(3, dtype=np.float32)
  np.testing.assert_array_equal(np.asarray(gnomon.vmap(f)(xs)), xs * xs)
  np.testing.assert_array_equal(np.asarray(gnomon.vmap(gnomon.grad(f))(xs)), 2 * xs)


# ---- back, and waiting


def test_device_get(ops: Any) -> None:
  tree = {"a": gnomon.device_put(np.ones(2)), "b": 3.0, "c": np.arange(2), "d": None}
  out = gnomon.device_get(tree)
  assert type(out["a"]) is np.ndarray
  assert (out["b"], out["d"]) == (3.0, None)
  with pytest.raises(gnomon.errors.TracerArrayConversionError):
    gnomon.jit(gnomon.device_get)(1.0)


def test_block_until_ready(ops: Any) -> None:
  tree = {"a": ops.neg(np.ones(2, np.float32)), "b": 3.0, "c": "text", "d": None}
  assert gnomon.block_until_ready(tree) is tree
  gnomon.jit(gnomon.block_until_ready)(1.0)


# ---- guards


def test_transfers_that_are_asked_for_are_let_through(ops: Any) -> None:
  x = np.ones(3, np.float32)
  gnomon.jit(ops.neg)(x)
  with gnomon.transfer_guard("disallow"):
    y = gnomon.device_put(x)
    z = gnomon.device_put({"a": 1.5}, _device())
    gnomon.device_get(y)
    ops.neg(y)
    for implicit in (lambda: ops.neg(x), lambda: gnomon.jit(ops.neg)(x)):
      with pytest.raises(gnomon.errors.JaxRuntimeError, match="Disallowed host-to-dev"):
        implicit()
  np.testing.assert_array_equal(np.asarray(ops.neg(z["a"])), -1.5)
  with (gnomon.transfer_guard("disallow_explicit"),
        pytest.raises(gnomon.errors.JaxRuntimeError, match="Disallowed")):
    gnomon.device_put(x)


# ---- questions about devices


def test_counts_and_names() -> None:
  assert gnomon.default_backend() == "cpu"
  assert gnomon.device_count() == gnomon.local_device_count() == len(gnomon.devices())
  assert gnomon.local_devices() == gnomon.devices("cpu")
  assert (gnomon.process_index(), gnomon.process_count()) == (0, 1)
  assert gnomon.process_indices() == [0]
  assert isinstance(gnomon.devices()[0], gnomon.Device)
  with pytest.raises(RuntimeError, match=r"Unknown backend tpu.*gnomon-plugins"):
    gnomon.devices("tpu")


# ---- several devices

SEVERAL = """
import sys
sys.path.insert(0, {path!r})
import numpy as np
import gnomon
from conftest import _ops as ops

def raises(match, f):
  try:
    f()
  except ValueError as e:
    assert match in str(e), e
    return
  raise AssertionError("nothing was raised")

a, b, c, d = gnomon.devices()
x = np.arange(3, dtype=np.float32)
on_a, on_b = gnomon.device_put(x, a), gnomon.device_put(x, b)
free = gnomon.device_put(x)
assert free.devices() == {{a}} and on_b.devices() == {{b}}

# An operation runs where its committed operands are, and its result stays there.
for f in (ops.mul, gnomon.jit(ops.mul)):
  for _ in range(3):
    for args in ((on_b, free), (free, on_b), (on_b, x), (x, on_b), (on_b, on_b)):
      y = f(*args)
      assert y.devices() == {{b}} and y.committed, args
      assert (np.asarray(y) == x * x).all()
    assert f(free, free).devices() == {{a}} and not f(free, free).committed
    assert f(on_a, free).devices() == {{a}} and f(on_a, free).committed

# Mixed ones are an error, that says which.
raises("committed to different devices", lambda: ops.mul(on_a, on_b))
raises("committed to different devices", lambda: gnomon.jit(ops.mul)(on_a, on_b))

# Moving.
moved = gnomon.device_put(on_a, c)
assert moved.devices() == {{c}} and moved.committed and (np.asarray(moved) == x).all()
gone = gnomon.device_put(moved, d, donate=True)
assert moved.is_deleted() and (np.asarray(gone) == x).all()
assert gnomon.device_put({{"p": x, "q": x}}, {{"p": b, "q": c}})["q"].devices() == {{c}}

# Where a function runs, and the default.
assert gnomon.jit(ops.neg, device=d)(x).devices() == {{d}}
with gnomon.default_device(b):
  assert ops.neg(x).devices() == {{b}}
  assert ops.neg(2.5).devices() == {{b}}
  assert gnomon.jit(ops.neg)(x).devices() == {{b}}
  assert gnomon.device_put(x).devices() == {{b}}
  assert ops.neg(on_a).devices() == {{a}}
assert ops.neg(x).devices() == {{a}}
assert ops.neg(2.5).devices() == {{a}}
assert gnomon.jit(ops.neg)(x).devices() == {{a}}

# Derivatives and constants follow.
g = gnomon.jit(gnomon.grad(lambda v: ops.sum(ops.mul(v, v))))
assert g(on_b).devices() == {{b}} and (np.asarray(g(on_b)) == 2 * x).all()
table = np.arange(1000, dtype=np.float32)
h = gnomon.jit(lambda s: ops.mul(s, table))
for device in (a, b, a):
  y = h(gnomon.device_put(np.float32(2), device))
  assert y.devices() == {{device}} and (np.asarray(y) == 2 * table).all()

# Donation on another device.
k = gnomon.jit(ops.neg, donate_argnums=0)
mine = gnomon.device_put(table, b)
assert (np.asarray(k(mine)) == -table).all() and mine.is_deleted()

compiled = gnomon.jit(ops.neg).lower(x).compile()
assert (np.asarray(compiled(x)) == -x).all()
print("all well")
"""


def test_several_devices() -> None:
  code = SEVERAL.format(path=str(Path(__file__).parent))
  env = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
  done = subprocess.run(
      [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=env,
      timeout=300)
  assert done.returncode == 0, done.stderr
  assert "all well" in done.stdout
