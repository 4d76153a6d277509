"""Effects and references in programs over several devices, in a process of their own."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import io, contextlib
import numpy as np
import gnomon
gnomon.config.update("jax_num_cpu_devices", 4)
import gnomon.numpy as jnp
from gnomon import debug
from gnomon.experimental import io_callback
from gnomon.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(gnomon.devices()).reshape(2, 2), ("x", "y"))
rows = NamedSharding(mesh, P("x"))
value = np.arange(8, dtype=np.int32).reshape(4, 2)
x = gnomon.device_put(value, rows)

def shown(f, *args):
  with contextlib.redirect_stdout(io.StringIO()) as out:
    f(*args)
  return out.getvalue().splitlines()

# one device calls, with the whole
assert shown(gnomon.jit(lambda a: debug.print("{}", jnp.sum(a))), x) == ["28"]
assert sorted(shown(gnomon.jit(
    lambda a: debug.print("{}", a.ravel(), partitioned=True)), x)) == sorted(
        ["[0 1 2 3]"] * 2 + ["[4 5 6 7]"] * 2)
try:
  gnomon.jit(lambda a: debug.print("{}", a, ordered=True))(x)
except ValueError as e:
  assert "not supported for more than 1 device" in str(e)
else:
  raise AssertionError("an ordered effect over several devices")

twice = lambda a: np.asarray(a) * 2
for call in (gnomon.pure_callback, io_callback):
  y = gnomon.jit(lambda a: call(twice, a, a) + 1)(x)
  np.testing.assert_array_equal(np.asarray(y), 2 * value + 1)
  assert y.dtype == value.dtype
seen = []
f = gnomon.jit(lambda a: [
    io_callback(lambda b: seen.append(int(b)), None, jnp.sum(a) + i, ordered=True)
    for i in range(3)])
f(x)
assert seen == [28, 29, 30], seen

def fails(a):
  raise KeyError("lost")
try:
  gnomon.jit(lambda a: gnomon.pure_callback(fails, a, a))(x)
except KeyError as e:
  assert e.args == ("lost",)
else:
  raise AssertionError("the exception was lost")

# references keep their places
ref = gnomon.new_ref(x)
assert ref.sharding == rows

@gnomon.jit
def step(r, a):
  r[1] += a[0]
  r[...] *= 2

expected = value.copy()
for _ in range(2):
  step(ref, x)
  expected[1] += value[0]
  expected *= 2
ref[3, 0] = 5
expected[3, 0] = 5
assert ref.sharding == rows, ref.sharding
np.testing.assert_array_equal(np.asarray(ref[...]), expected)
step.lower(ref, x).compile()(ref, x)
expected[1] += value[0]
np.testing.assert_array_equal(np.asarray(gnomon.freeze(ref)), expected * 2)
"""


def test_effects_and_references_over_several_devices() -> None:
  done = subprocess.run(
      [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
  assert done.returncode == 0, done.stderr
