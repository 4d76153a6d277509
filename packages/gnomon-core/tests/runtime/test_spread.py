"""Programs over several devices; they need a process of their own, with eight of them."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAD = """
import numpy as np
import pytest
import gnomon
gnomon.config.update("jax_num_cpu_devices", 8)
from gnomon.api.constraint import with_sharding_constraint
from gnomon.core.primitive import Primitive
from gnomon.core.structural import add_tangents as add
from gnomon.runtime.shardings import IndivisibleError
from gnomon.sharding import Mesh, NamedSharding, PartitionSpec as P
from gnomon.sharding import SingleDeviceSharding
devices = gnomon.devices()
mesh = Mesh(np.array(devices).reshape(4, 2), ("x", "y"))
def on(*spec): return NamedSharding(mesh, P(*spec))
value = np.arange(16, dtype=np.float32).reshape(8, 2)
def check(x, expected, *spec):
  np.testing.assert_array_equal(np.asarray(x), expected)
  assert x.sharding == on(*spec), x.sharding
  for s in x.addressable_shards:
    np.testing.assert_array_equal(np.asarray(s.data), expected[s.index])
double = lambda x: add(x, x)
"""

CASES = {
    "arrays over devices": """
for spec in [("x",), ("y",), (None, "y"), ("x", "y"), (("y", "x"),), ()]:
  check(gnomon.device_put(value, on(*spec)), value, *spec)
x = gnomon.device_put(value, on("x"))
check(gnomon.device_put(x, on(None, "y")), value, None, "y")
one = gnomon.device_put(x, devices[3])
assert one.sharding == SingleDeviceSharding(devices[3])
np.testing.assert_array_equal(one, value)
check(gnomon.device_put(one, on("y")), value, "y")
with gnomon.set_mesh(mesh):
  check(gnomon.device_put(value, P("x")), value, "x")
""",
    "arrays made of parts": """
made = gnomon.make_array_from_callback((8, 2), on("x"), lambda i: value[i])
check(made, value, "x")
check(gnomon.make_array_from_process_local_data(on("y"), value), value, "y")
parts = [s.data for s in made.addressable_shards]
check(gnomon.make_array_from_single_device_arrays((8, 2), on("x"), parts), value, "x")
for f, message in [
    (lambda: gnomon.make_array_from_callback((8, 2), on("x"), lambda i: value),
     "Expected shard shape"),
    (lambda: gnomon.make_array_from_single_device_arrays((8, 2), on("x"), parts[:2]),
     "per-device arrays"),
    (lambda: gnomon.make_array_from_process_local_data(on(), value, (3,)), "whole")]:
  with pytest.raises(ValueError, match=message):
    f()
""",
    "the compiler finds the shardings of results": """
x, y = gnomon.device_put(value, on("x")), gnomon.device_put(value, on("x", "y"))
for _ in range(2):  # the second call is C++'s
  check(gnomon.jit(double)(x), 2 * value, "x")
f = gnomon.jit(add)
for _ in range(3):
  out = f(x, y)
  np.testing.assert_array_equal(out, 2 * value)
assert f._cache_size() == 1
check(double(y), 2 * value, "x", "y")
check(add(x, value), 2 * value, "x")
""",
    "shardings that are asked for": """
x = gnomon.device_put(value, on("x"))
for _ in range(2):
  check(gnomon.jit(double, out_shardings=on("y"))(x), 2 * value, "y")
  check(gnomon.jit(double, in_shardings=on("y"))(value), 2 * value, "y")
pair = lambda a, b: {"sum": add(a, b), "first": a}
f = gnomon.jit(
    pair, in_shardings=(on("x"), None),
    out_shardings={"sum": on(None, "y"), "first": None})
out = f(value, value)
check(out["sum"], 2 * value, None, "y")
check(out["first"], value, "x")
with gnomon.set_mesh(mesh):
  check(gnomon.jit(double, out_shardings=P("y"))(x), 2 * value, "y")
""",
    "constraints": """
x = gnomon.device_put(value, on("x"))
f = lambda a: double(with_sharding_constraint(a, on("y")))
check(gnomon.jit(f)(x), 2 * value, "y")
check(f(x), 2 * value, "y")
check(gnomon.jit(f)(value), 2 * value, "y")
check(gnomon.jit(lambda a: gnomon.jit(f)(a))(x), 2 * value, "y")
inner = gnomon.jit(double, out_shardings=on(None, "y"))
check(gnomon.jit(lambda a: inner(a))(x), 2 * value, None, "y")
check(gnomon.jit(lambda a: gnomon.device_put(a, on("y")))(x), value, "y")
primal, tangent = gnomon.jvp(gnomon.jit(f), (x,), (x,))
check(tangent, 2 * value, "y")
stack = np.stack([value] * 3)
out = gnomon.jit(gnomon.vmap(f))(stack)
np.testing.assert_array_equal(out, 2 * stack)
text = str(gnomon.make_jaxpr(gnomon.vmap(f, in_axes=1))(np.zeros((8, 3, 2))))
assert "P('y', UNCONSTRAINED, None)" in text, text
""",
    "donated arguments": """
x = gnomon.device_put(value, on("x"))
out = gnomon.jit(double, donate_argnums=0)(x)
check(out, 2 * value, "x")
assert x.is_deleted()
""",
    "errors": """
x = gnomon.device_put(value, on("x"))
def wrong(error, message, f, *args):
  with pytest.raises(error, match=message):
    f(*args)
wrong(ValueError, "does not match", gnomon.jit(double, in_shardings=on("y")), x)
wrong(RuntimeError, "without a mesh", gnomon.jit(double, in_shardings=P("y")), x)
wrong(ValueError, "tuple of 2", gnomon.jit(double, in_shardings=(on("y"), None)), x)
wrong(TypeError, "but got 3",
      gnomon.jit(double, in_shardings=(3,), out_shardings=on()), x)
wrong(IndivisibleError, "the dimension size is 7",
      gnomon.jit(double, in_shardings=on("x")), value[:7])
wrong(IndivisibleError, "the dimension size is 7", gnomon.device_put, value[:7], on("x"))
wrong(ValueError, "rank at least 2", gnomon.device_put, value[0], on("x", "y"))
wrong(ValueError, "incompatible devices", add, x, gnomon.device_put(value, devices[3]))
wrong(TypeError, "but got 3", with_sharding_constraint, x, 3)
other = Mesh(np.array(devices[::-1]), ("z",))
wrong(ValueError, "incompatible devices", add, x,
      gnomon.device_put(value, NamedSharding(other, P())))
""",
}


@pytest.mark.parametrize("name", CASES)
def test_over_eight_devices(name: str) -> None:
  done = subprocess.run(
      [sys.executable, "-c", HEAD + CASES[name] + "print('fine')"], capture_output=True,
      text=True, timeout=180, check=False)
  assert done.stdout == "fine\n", done.stderr
